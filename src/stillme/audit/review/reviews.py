"""What people thought of a verdict: records of their own, chained like all others, never overwriting one another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, get_args
from uuid import uuid4

from stillme.audit.chain.record import Body, Entry, compact, instant, storable
from stillme.audit.review.agreement import Label
from stillme.audit.store import AuditStore
from stillme.errors import InputError, nearest, shown
from stillme.version import __version__

__all__ = ["LABELS", "labelled_claims", "review"]

LABELS: Final[tuple[str, ...]] = get_args(Label)
MOST_NOTE_CHARS: Final = 10_000
UNSUPPORTED: Final = "unsupported"


def review(
    store: AuditStore,
    trace: str,
    label: str,
    who: str,
    note: str = "",
    unsupported: Sequence[int] | None = None,
) -> Entry:
    """Record a label on a verdict; `who` is the reviewer, `note` is kept like a text and can be erased.

    `unsupported` names the claims of the draft that no source supports, counted from 1; an empty list says that there is none.
    """
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
    found = None if unsupported is None else _claims_of(verdict, unsupported)
    body = Body.of(compact({"note": storable(note)})) if note.strip() else None
    entry = Entry(
        kind="review",
        id=f"review-{uuid4()}",
        at=instant(),
        meta="{}" if found is None else compact({UNSUPPORTED: found}),
        ref=verdict.id,
        label=label,
        caller=storable(who.strip()),
        version=__version__,
        body_digest=body.digest if body else None,
        body=body,
    )
    store.add([entry])
    return entry


def labelled_claims(entry: Entry) -> frozenset[int] | None:
    """The claims that a review calls unsupported; None where it says nothing of claims."""
    try:
        found = json.loads(entry.meta).get(UNSUPPORTED)
        return None if found is None else frozenset(map(int, found))
    except (ValueError, TypeError, AttributeError):  # what was written over is found by `stillme audit verify`
        return None


def _claims_of(verdict: Entry, numbers: Sequence[int]) -> list[int]:
    """The numbers in order, each once, if the verdict has such claims."""
    total = len(json.loads(verdict.meta)["claims"])
    for number in numbers:
        if not 1 <= number <= total:
            raise InputError(
                f"there is no claim {number}: the verdict has {total}, counted from 1 (`stillme audit show`)"
            )
    return sorted(set(numbers))
