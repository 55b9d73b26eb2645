"""What is kept of a verdict: what programs decided always; what people wrote whole, as salted hashes, or not at all.

The meta text holds every part of a verdict that is no text, the body the request and the texts of the verdict;
together they give the verdict back as it was. `request_id`, `session_id`, `domain` and `caller` are metadata: send
identifiers there, not names.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from stillme.audit.chain.record import Body, Entry, compact, from_word, instant, one_word, sha256, storable
from stillme.contract import Verdict, VerifyRequest
from stillme.guard import Occurrence, Opening
from stillme.policy import Policy
from stillme.policy.sections import Rollout
from stillme.validators.chain import attempt
from stillme.version import __version__

if TYPE_CHECKING:
    from stillme.redaction import Redactor

__all__ = ["HASHED", "entry_of", "hashed", "opening_of", "request_in", "verdict_in"]

HASHED: Final = "sha256:"
MOST_POLICIES: Final = 64
# What callers put into extra keys is kept as far as it can be read back: so many levels, numbers of so many bits.
MOST_DEPTH: Final = 64
TOO_DEEP: Final = "(nested too deeply to be kept)"
MOST_BITS: Final = 4096
LONG_NUMBER: Final = re.compile(r"(?<![0-9])[0-9]{1200}")
Path = tuple[str, ...]
# Strings of a body that are no texts: identifiers. All else may be anybody's words.
IDENTIFIERS: Final = frozenset(
    {
        ("request", "request_id"),
        ("request", "as_of"),
        ("request", "metadata", "language"),
        ("request", "metadata", "domain"),
        ("request", "metadata", "session_id"),
        ("request", "retrieved_context", "source_id"),
        ("claims", "source_ids"),
        ("citations", "source_id"),
        ("conflicts", "source_ids"),
        ("conflicts", "statements", "source_id"),
    }
)


def entry_of(occurrence: Occurrence) -> Entry:
    """The record of a verdict, as its policy wants it kept."""
    verdict, policy, metadata = occurrence.verdict, occurrence.policy, occurrence.request.metadata
    body, blanked = _body(policy, occurrence.request, _texts(verdict))
    digest, text = _policy_text(policy)
    column = _columns(policy)
    return Entry(
        kind="verdict",
        id=str(verdict.validator_trace_id),
        at=instant(occurrence.at),
        meta=_json(_meta(occurrence, blanked)),
        ref=occurrence.opening,
        decision=verdict.decision.value,
        action=verdict.action,
        mode=verdict.mode,
        band=verdict.confidence_band,
        verified=int(verdict.verified),
        language=verdict.language,
        domain=column(metadata.domain),
        session=column(metadata.session_id),
        caller=column(occurrence.caller),
        request_id=column(verdict.request_id),
        reasons=f" {' '.join(map(one_word, verdict.reasons))} " if verdict.reasons else None,
        policy=digest,
        model=storable(verdict.model_id),
        version=verdict.version,
        body_digest=body.digest if body else None,
        body=body,
        policy_text=text,
    )


def opening_of(opening: Opening) -> Entry:
    """The record that an answer began to go out: what was asked, and nothing verified yet."""
    policy, metadata = opening.policy, opening.request.metadata
    body, blanked = _body(policy, opening.request, {})
    digest, text = _policy_text(policy)
    column = _columns(policy)
    meta = {"content": policy.audit.content, "blanked": blanked, "policy_hash": policy.hash}
    return Entry(
        kind="opening",
        id=opening.id,
        at=instant(opening.at),
        meta=_json(meta),
        mode=policy.mode,
        verified=0,
        domain=column(metadata.domain),
        session=column(metadata.session_id),
        caller=column(opening.caller),
        request_id=column(opening.request.request_id),
        policy=digest,
        version=__version__,
        body_digest=body.digest if body else None,
        body=body,
        policy_text=text,
    )


def _meta(occurrence: Occurrence, blanked: int) -> dict[str, Any]:
    """Everything of a verdict that is no text; the lists are read back by `verdict_in`."""
    verdict = occurrence.verdict
    return {
        "content": occurrence.policy.audit.content,
        "blanked": blanked,
        "added": occurrence.added,
        "as_of": verdict.as_of.isoformat(),
        "policy_hash": verdict.policy_hash,
        "calibrated": verdict.calibrated,
        "source_required": verdict.source_required,
        "metrics": verdict.metrics.__dict__,
        "claims": [(c.start, c.end, c.status, c.score, c.decided_by, c.unsupported_spans) for c in verdict.claims],
        "findings": [
            (f.validator, f.outcome, f.gate.value, f.stage, f.reason, f.repaired, f.elapsed_ms, f.spans)
            for f in verdict.findings
        ],
    }


def _texts(verdict: Verdict) -> dict[str, Any]:
    """The texts of a verdict; a claim's own text is a part of the draft."""
    return {
        "safe_response": verdict.safe_response,
        "warning": verdict.warning,
        "citations": [c.__dict__ for c in verdict.citations],
        "claims": [{"source_ids": c.source_ids, "quote": c.quote, "detail": c.detail} for c in verdict.claims],
        "findings": [f.detail for f in verdict.findings],
        "conflicts": [c.model_dump() for c in verdict.conflicts],
    }


def _body(policy: Policy, request: VerifyRequest, texts: dict[str, Any]) -> tuple[Body | None, int]:
    settings = policy.audit
    if settings.content == "none":
        return None, 0
    text = f'{{"request":{_request_text(request)}{f",{_json(texts)[1:]}" if texts else "}"}'
    blanked = 0
    if settings.redact:
        text, blanked = _redacted(text, _redactor(tuple(settings.redact.items())))
    body = Body.of(text)
    if settings.content == "hashed":
        tree = _changed(json.loads(text), lambda said: hashed(said, body.salt))
        body = Body(compact(tree), body.salt)
    return body, blanked


def _request_text(request: VerifyRequest) -> str:
    """The request as JSON; what a caller put into extra keys is written out as well as JSON can."""
    try:
        text = request.model_dump_json(exclude_unset=True)
    except (PydanticSerializationError, UnicodeEncodeError):
        return compact(_plain(request))
    # JSON has numbers of any length, but Python does not read them all back.
    return compact(_plain(request)) if _has_extra(request) and LONG_NUMBER.search(text) else text


def _has_extra(request: VerifyRequest) -> bool:
    parts = (request.metadata, *request.retrieved_context, *request.conversation)
    return any(part.model_extra for part in parts)


def _json(value: dict[str, Any]) -> str:
    """JSON on one line; a lone surrogate is escaped."""
    try:
        return to_json(value).decode()
    except (PydanticSerializationError, UnicodeEncodeError):
        return compact(_plain(value))


def _plain(value: object, above: tuple[int, ...] = ()) -> Any:
    """A value as JSON can say it, whatever it is: what JSON has no word for becomes a text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value) if int.bit_length(value) <= MOST_BITS else hex(value)
    if isinstance(value, float) and math.isfinite(value):
        return float.__float__(value)
    if not isinstance(value, BaseModel | Mapping | list | tuple | set | frozenset):
        written, _ = attempt(lambda: value.isoformat() if isinstance(value, date) else str(value))
        return written if type(written) is str else f"<{type(value).__name__}>"
    if len(above) >= MOST_DEPTH or id(value) in above:
        return TOO_DEEP
    parts, _ = attempt(lambda: _plain_parts(value, (*above, id(value))))
    return f"<{type(value).__name__}>" if parts is None else parts


def _plain_parts(value: Any, above: tuple[int, ...]) -> Any:
    if isinstance(value, BaseModel):
        given = {**value.__dict__, **(value.model_extra or {})}
        return {str(name): _plain(part, above) for name, part in given.items() if name in value.model_fields_set}
    if isinstance(value, Mapping):
        return {str(_plain(name, above)): _plain(part, above) for name, part in value.items()}
    return [_plain(part, above) for part in value]


def hashed(text: str, salt: str) -> str:
    """What is kept of a text where only hashes are kept; whoever has the text can show that it was this one."""
    return HASHED + sha256(f"{salt}\n{text}")


def _redacted(text: str, redactor: Redactor) -> tuple[str, int]:
    """The body without what the policy redacts, and in how many places something was blanked."""
    done = redactor.record(json.loads(text))
    return (compact(done.value) if done.places else text), done.places


def _changed(node: Any, change: Callable[[str], str], path: Path = ()) -> Any:
    """A body with every text changed."""
    if isinstance(node, dict):
        return {name: _changed(value, change, (*path, name)) for name, value in node.items()}
    if isinstance(node, list):
        return [_changed(value, change, path) for value in node]
    return change(node) if isinstance(node, str) and path not in IDENTIFIERS else node


def _columns(policy: Policy) -> Callable[[str | None], str | None]:
    """How an identifier is written into its column: redacted like a text, and such that any database takes it."""
    redact = policy.audit.redact
    if not redact:
        return lambda text: None if text is None else storable(text)
    redactor = _redactor(tuple(redact.items()))
    return lambda text: None if text is None else storable(redactor.text(text)[0])


@lru_cache(maxsize=8)
def _redactor(patterns: tuple[tuple[str, str | bool], ...]) -> Redactor:
    from stillme.redaction import Redactor  # noqa: PLC0415  (most policies redact nothing)

    return Redactor.of(dict(patterns))


def _policy_text(policy: Policy) -> tuple[str, str]:
    """The digest of the policy written out, and that text; made once for each policy."""
    key = (policy.hash, policy.rollout)  # which is no part of the hash, for it judges no request
    known = _WRITTEN.get(key)
    if known is None:
        if len(_WRITTEN) >= MOST_POLICIES:
            _WRITTEN.clear()
        text = policy.to_yaml()
        known = _WRITTEN[key] = (sha256(text), text)
    return known


_WRITTEN: dict[tuple[str, Rollout], tuple[str, str]] = {}


# reading back


def request_in(entry: Entry) -> dict[str, Any] | None:
    """The request of a verdict, as it was kept."""
    return json.loads(entry.body.text)["request"] if entry.body else None


def verdict_in(entry: Entry) -> dict[str, Any]:
    """The verdict as it was kept, in the shape of the contract; without its texts where they are gone."""
    meta = json.loads(entry.meta)
    body = json.loads(entry.body.text) if entry.body else {}
    draft = body.get("request", {}).get("draft_answer") or ""
    return {
        "request_id": entry.request_id,
        "decision": entry.decision,
        "mode": entry.mode,
        "action": entry.action,
        "source_required": meta["source_required"],
        "confidence_band": entry.band,
        "reasons": [from_word(word) for word in (entry.reasons or "").split(" ") if word],
        "validator_trace_id": entry.id,
        "citations": body.get("citations", []),
        "safe_response": body.get("safe_response"),
        "warning": body.get("warning"),
        "metrics": meta["metrics"],
        "claims": list(_claims(meta["claims"], body.get("claims", []), draft)),
        "findings": list(_findings(meta["findings"], body.get("findings", []))),
        "conflicts": body.get("conflicts", []),
        "verified": bool(entry.verified),
        "language": entry.language,
        "as_of": meta["as_of"],
        "policy_hash": meta["policy_hash"],
        "model_id": entry.model,
        "version": entry.version,
        "calibrated": meta["calibrated"],
    }


def _claims(kept: list[Any], texts: list[Any], draft: str) -> Iterator[dict[str, Any]]:
    for number, (start, end, status, score, decided_by, spans) in enumerate(kept):
        said = texts[number] if number < len(texts) else {"source_ids": [], "quote": None, "detail": None}
        yield {
            "text": draft if draft.startswith(HASHED) else draft[start:end],
            "start": start,
            "end": end,
            "status": status,
            "score": score,
            "source_ids": said["source_ids"],
            "quote": said["quote"],
            "unsupported_spans": spans,
            "decided_by": decided_by,
            "detail": said["detail"],
        }


def _findings(kept: list[Any], texts: list[Any]) -> Iterator[dict[str, Any]]:
    for number, (validator, outcome, gate, stage, reason, repaired, elapsed, spans) in enumerate(kept):
        yield {
            "validator": validator,
            "outcome": outcome,
            "gate": gate,
            "stage": stage,
            "reason": reason,
            "detail": texts[number] if number < len(texts) else None,
            "spans": spans,
            "repaired": repaired,
            "elapsed_ms": elapsed,
        }
