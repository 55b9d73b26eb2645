"""Verdicts that are known already: found by everything a verdict rests on, never by the question alone."""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from stillme.contract import Verdict, VerifyRequest
from stillme.policy import Policy
from stillme.validators.registry import BUILT_IN

__all__ = ["Recall"]

# Ids tell requests apart for those who keep them; no policy and no validator of ours looks at them.
IDS: Final[dict[str, Any]] = {"request_id": True, "metadata": {"session_id"}}
WRITABLE: Final = (str, float, type(None), list, tuple)
MOST_BITS: Final = 4_096  # a longer integer is not written as JSON


class Recall:
    """Keeps the last `most` verdicts; safe to share between threads.

    Two requests have the same verdict when all that they say is the same, whether we look at it or not, but for the ids of the
    request and the session; under the same policy, judged by the same model. What could not be verified is not kept: it is tried again.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, Verdict] = OrderedDict()
        self._lock = threading.Lock()

    def key(self, request: VerifyRequest, as_of: datetime, policy: Policy, model_id: str) -> bytes | None:
        """What the verdict would be kept under, or None where a validator of others may see more than we do."""
        if not policy.validators.keys() <= set(BUILT_IN) or not _is_plain(request):
            return None
        parts = [request.model_dump(exclude=IDS), as_of, policy.hash, model_id]
        written = json.dumps(parts, ensure_ascii=False, sort_keys=True, default=datetime.isoformat)
        return hashlib.sha256(written.encode("utf-8", "surrogatepass")).digest()

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


def _is_plain(request: VerifyRequest) -> bool:
    """Whether whatever the contract does not describe is JSON: only then is what is written of it told apart from all else."""
    extras = [part.model_extra for part in (request.metadata, *request.retrieved_context, *request.conversation)]
    left: list[Any] = [extra for extra in extras if extra]
    while left:
        value = left.pop()
        if not _is_writable(value):
            return False
        left += _items(value)
    return True


def _is_writable(value: object) -> bool:
    """Whether JSON has a form for a value, whatever stands in it."""
    if isinstance(value, dict):
        return all(type(key) is str for key in value)
    if isinstance(value, int):
        return value.bit_length() <= MOST_BITS
    return isinstance(value, WRITABLE)


def _items(value: object) -> Iterable[object]:
    """The values that stand in a value."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()
