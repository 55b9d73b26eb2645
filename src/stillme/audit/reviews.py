"""What people thought of a verdict: records of their own, chained like all others, never overwriting one another."""

from __future__ import annotations

from typing import Final, get_args
from uuid import uuid4

from stillme.audit.agreement import Label
from stillme.audit.record import Body, Entry, compact, instant, storable
from stillme.audit.store import AuditStore
from stillme.errors import InputError, nearest, shown
from stillme.version import __version__

__all__ = ["LABELS", "review"]

LABELS: Final[tuple[str, ...]] = get_args(Label)
MOST_NOTE_CHARS: Final = 10_000


def review(store: AuditStore, trace: str, label: str, who: str, note: str = "") -> Entry:
    """Record a label on a verdict; `who` is the reviewer, `note` is kept like a text and can be erased."""
    if label not in LABELS:
        guess = nearest(label, LABELS)
        raise InputError(f"{shown(label)} is no label: {f'did you mean {guess}?' if guess else ', '.join(LABELS)}")
    if not who.strip():
        raise InputError("a review needs a reviewer: say who labels")
    if len(note) > MOST_NOTE_CHARS:
        raise InputError(f"the note has {len(note)} characters, at most {MOST_NOTE_CHARS} are kept: shorten it")
    verdict = store.find(trace).entry
    if verdict is None or verdict.kind != "verdict":
        raise InputError(f"{shown(trace)} is no verdict: reviews are of verdicts")
    body = Body.of(compact({"note": storable(note)})) if note.strip() else None
    entry = Entry(
        kind="review",
        id=f"review-{uuid4()}",
        at=instant(),
        meta="{}",
        ref=verdict.id,
        label=label,
        caller=storable(who.strip()),
        version=__version__,
        body_digest=body.digest if body else None,
        body=body,
    )
    store.add([entry])
    return entry
