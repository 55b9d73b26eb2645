"""One record with everything that belongs to it: its texts as far as they are kept, its reviews, its place in the chain."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from stillme.audit.chain.checking import store_id
from stillme.audit.chain.integrity import Fault
from stillme.audit.chain.record import ZERO, Entry, Record
from stillme.audit.chain.seals import Keyring
from stillme.audit.content import request_in, verdict_in
from stillme.audit.query import Filter, records
from stillme.audit.review.listing import text_state
from stillme.audit.review.reviews import labelled_claims
from stillme.audit.store import AuditStore
from stillme.contract import Verdict, VerifyRequest, parse_request
from stillme.errors import InputError
from stillme.languages import DEFAULT, language_of
from stillme.storage.audit.database import RECORD

__all__ = [
    "AppealLine",
    "PacketContent",
    "ReviewLine",
    "Standing",
    "altered",
    "appeals_of",
    "case_of",
    "facts_of",
    "request_of",
    "reviews_of",
    "standing_of",
    "text_words",
    "verdict_of",
]


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """One review of a verdict: its label, who gave it, when, and why."""

    label: str
    who: str
    when: str
    note: str = ""
    unsupported: tuple[int, ...] | None = None
    """The claims that the reviewer found in no source, counted from 1; None where nothing was said of claims."""


@dataclass(frozen=True, slots=True)
class AppealLine:
    """What somebody has against a verdict."""

    who: str
    when: str
    note: str


@dataclass(frozen=True, slots=True)
class PacketContent:
    """What a packet shows.

    `verdict` is a mapping with the verdict's own keys where only part of it is known; `precheck` may say that there was no draft,
    and `citations` and `conflicts` may be counts. `request` is None where its texts were not kept or were erased; `notice` says why.
    `facts` are identifiers and hashes in the order to show; the known ones are worded in the page's language.
    """

    verdict: Verdict | Mapping[str, Any]
    request: VerifyRequest | None = None
    policy_text: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    reviews: Sequence[ReviewLine] = ()
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A record's place in the chain, as far as it can be checked from its neighbours.

    `sealed_by` is the next record with a seal, this one or a later one; `seal_state` says what that seal is worth.
    """

    before: str | None
    sealed_by: int | None
    seal: str | None
    seal_state: str
    fault: Fault | None


def standing_of(store: AuditStore, record: Record, keys: Keyring) -> Standing:
    """Check a record, its link to the one before and every link up to the seal that covers it."""
    sql = f"SELECT seq, hash FROM {RECORD} WHERE seq < ? ORDER BY seq DESC LIMIT 1"  # noqa: S608  (names of ours)
    rows = store.database.rows(sql, [record.seq])
    before = rows[0][1] if rows and rows[0][0] == record.seq - 1 else ZERO if record.seq == 1 else None
    sealed, last = _up_to_the_seal(store, record)
    if last is None or last.seal is None:
        return Standing(before, None, None, "no seal covers it", _fault(record, before))
    state = keys.check(last.hash, last.seal) if keys.keys else "not checked: no key was given"
    fault = _fault(record, before) or sealed or (Fault(last.seq, None, "its seal is false") if state == "bad" else None)
    return Standing(before, last.seq, last.seal, state, fault)


def _up_to_the_seal(store: AuditStore, record: Record) -> tuple[Fault | None, Record | None]:
    """The first record from here on that has a seal, and what is wrong on the way to it."""
    before, last = record, record
    for last in records(store.database, after=record.seq - 1, bodies=False):
        if last.seq > record.seq and not last.follows(before.hash):
            return Fault(last.seq, None, "its hash does not follow from the record before it"), last
        before = last
        if last.seal is not None:
            return None, last
    return None, None


def _fault(record: Record, before: str | None) -> Fault | None:
    if before is not None and not record.follows(before):
        return Fault(record.seq, _id(record), "its hash does not follow from the record before it")
    return altered(record)


def altered(record: Record) -> Fault | None:
    """What of a record is not as it was written, by itself: its content or its texts."""
    entry = record.entry
    if entry is None:
        return None
    if entry.digest != record.digest:
        return Fault(record.seq, _id(record), "its content is not what its digest says")
    if entry.body is not None and entry.body.digest != entry.body_digest:
        return Fault(record.seq, _id(record), "its texts are not what they were")
    return None


def _id(record: Record) -> str | None:
    return record.entry.id if record.entry else None


def text_words(store: AuditStore, record: Record, language: str = DEFAULT) -> str | None:
    """A sentence on texts that are not there as they were; None where they are, or never were any."""
    entry = record.entry
    state = text_state(entry) if entry else "none"
    words: str | None = _words(language, "texts").get(state)
    if entry is None or words is None:
        return None
    return words.format(why=_lost(store, record.seq, language)) if state == "gone" else words


def _lost(store: AuditStore, seq: int, language: str) -> str:
    """What became of the texts of a record, by the record that accounts for them."""
    for kind in ("erasure", "tombstone"):
        for later in records(store.database, Filter(kind=kind), after=seq, bodies=False):
            if later.entry is not None and seq in _accounted(later.entry):
                meta = json.loads(later.entry.meta)
                words = _words(language, "lost")[kind]
                return words.format(day=later.entry.at[:10], who=later.entry.caller, what=meta.get("why"))
    return _words(language, "lost")["unknown"]


def _words(language: str, name: str) -> dict[str, str]:
    found: dict[str, str] = language_of(language).rules("audit")[name]
    return found


def _accounted(entry: Entry) -> set[int]:
    meta: dict[str, Any] = json.loads(entry.meta)
    ranges = [(seq, seq) for seq in meta.get("records", ())] + [tuple(pair) for pair in meta.get("texts", ())]
    return {seq for first, last in ranges for seq in range(first, last + 1)}


def request_of(entry: Entry) -> VerifyRequest | None:
    """The request of a verdict where its texts are there to be read."""
    if text_state(entry) not in ("kept", "redacted"):
        return None
    try:
        return parse_request(request_in(entry) or {})
    except InputError:
        return None


def verdict_of(entry: Entry) -> Verdict:
    """The verdict as a model, without texts where they are not there to be read."""
    readable = entry if text_state(entry) in ("kept", "redacted") else replace(entry, body=None)
    try:
        return Verdict.model_validate(verdict_in(readable))
    except (ValidationError, ValueError, KeyError, TypeError):
        raise InputError(
            f"{entry.id} was recorded by version {entry.version} and cannot be read as a verdict of this one"
        ) from None


def reviews_of(store: AuditStore, trace: str) -> list[ReviewLine]:
    """The reviews of a verdict in the order they were given; an erased note says so."""
    return list(_reviews(store, trace))


def _reviews(store: AuditStore, trace: str) -> Iterator[ReviewLine]:
    for entry, note in _noted(store, Filter(kind="review", ref=trace)):
        claims = labelled_claims(entry)
        yield ReviewLine(
            str(entry.label), str(entry.caller), entry.at, note, None if claims is None else tuple(sorted(claims))
        )


def appeals_of(store: AuditStore, trace: str) -> list[AppealLine]:
    """The appeals against a verdict in the order they were made; an erased note says so."""
    found = _noted(store, Filter(kind="appeal", ref=trace))
    return [AppealLine(entry.caller or "", entry.at, note) for entry, note in found]


def _noted(store: AuditStore, wanted: Filter) -> Iterator[tuple[Entry, str]]:
    """Records of what people said, each with its note or what became of it."""
    for record in store.records(wanted):
        entry = record.entry
        if entry is not None:
            note = json.loads(entry.body.text)["note"] if entry.body else ""
            gone = text_words(store, record) if text_state(entry) == "gone" else None
            yield entry, gone or note


def case_of(store: AuditStore, record: Record, keys: Keyring) -> PacketContent:
    """What an evidence packet shows of a verdict."""
    entry = record.entry
    if entry is None or entry.kind != "verdict":
        what = f"a {entry.kind}" if entry else "a record that retention removed"
        raise InputError(f"record {record.seq} is {what}: an evidence packet is of a verdict")
    request, language = request_of(entry), str(entry.language)
    notice = text_words(store, record, language)
    if request is None and notice is None:
        notice = _words(language, "texts")["unreadable"]
    return PacketContent(
        verdict=_partial(entry) if request is None else verdict_in(entry),
        request=request,
        policy_text=store.policy_text(entry.policy),
        facts=dict(facts_of(store, record, standing_of(store, record, keys))),
        reviews=reviews_of(store, entry.id),
        notice=notice,
    )


def _partial(entry: Entry) -> dict[str, Any]:
    """A verdict without its texts; whether there was a draft shows in what was checked."""
    verdict = verdict_in(replace(entry, body=None))
    return {**verdict, "precheck": all(finding["stage"] != "draft" for finding in verdict["findings"])}


def facts_of(store: AuditStore, record: Record, standing: Standing) -> Iterator[tuple[str, str]]:
    """The identifiers and hashes of a record, in the order to show; what it does not have is left out."""
    entry = record.entry
    sealed = f"{standing.seal} (record {standing.sealed_by})" if standing.seal else None
    known = [
        ("trace id" if entry and entry.kind == "verdict" else "record id", entry.id if entry else None),
        ("request id", entry.request_id if entry else None),
        ("recorded at", entry.at if entry else None),
        ("caller", entry.caller if entry else None),
        ("store id", store_id(store)),
        ("seq", str(record.seq)),
        ("record hash", record.hash),
        ("previous hash", standing.before),
        ("digest", record.digest),
        ("body digest", entry.body_digest if entry else None),
        ("seal", sealed),
        ("seal checked", standing.seal_state),
    ]
    yield from ((name, value) for name, value in known if value)
