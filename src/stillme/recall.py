"""Verdicts that are known already: found by everything a verdict rests on, never by the question alone."""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
from collections import OrderedDict
from datetime import datetime

from stillme.contract import Verdict, VerifyRequest
from stillme.policy import Policy
from stillme.validators.registry import BUILT_IN

__all__ = ["Recall"]


class Recall:
    """Keeps the last `most` verdicts; safe to share between threads.

    Two requests have the same verdict when question, draft, passages, conversation, language, confidence and point in time are the
    same, under the same policy, judged by the same model. What could not be verified is not kept: it is tried again.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, Verdict] = OrderedDict()
        self._lock = threading.Lock()

    def key(self, request: VerifyRequest, as_of: datetime, policy: Policy, model_id: str) -> bytes | None:
        """What the verdict would be kept under, or None where a validator of others may see more than we do."""
        if not policy.validators.keys() <= set(BUILT_IN):
            return None
        content = request.model_dump(mode="json", exclude={"request_id", "metadata"})
        parts = [content, request.metadata.language, as_of.isoformat(), policy.hash, model_id]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")).digest()

    def find(self, key: bytes | None, request: VerifyRequest) -> Verdict | None:
        """The verdict kept under a key, with ids of its own."""
        with self._lock:
            kept = self._kept.get(key) if key is not None else None
            if kept is None or key is None:
                return None
            self._kept.move_to_end(key)
        ids = {
            "request_id": request.request_id or f"req-{uuid.uuid4()}",
            "validator_trace_id": f"trace-{uuid.uuid4()}",
        }
        return kept.model_copy(update=ids)

    def keep(self, key: bytes | None, verdict: Verdict) -> None:
        """Keep a verdict, if it was verified; the one that was not asked for longest makes room."""
        if key is None or not verdict.verified:
            return
        with self._lock:
            self._kept[key] = verdict
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
