"""The versions of a policy file: each is recorded with who and why before it takes the place of the one before, and can be brought back.

The mode is no part of an edit: it has a checklist and a record of its own (`promotion`).
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from uuid import uuid4

from stillme.audit.chain.record import Body, Entry, Record, compact, instant, storable
from stillme.audit.review.listing import latest
from stillme.audit.store import AuditStore
from stillme.errors import InputError, PolicyError, shown
from stillme.policy import Policy
from stillme.policy.edits import replacement, with_value
from stillme.policy.model import policy_from
from stillme.policy.reader import MAX_FILE_BYTES, file_bytes, parsed
from stillme.version import __version__

__all__ = [
    "FileProblem",
    "PolicyVersion",
    "checked_text",
    "file_problems",
    "roll_back",
    "save",
    "text_digest",
    "version",
    "versions",
]

How = Literal["edited", "rolled back", "found"]
KIND: Final = "policy"
NAMELESS: Final = "policy.yaml"
# A version that nobody saved here: somebody changed the file itself, or it stood there before the first edit.
NOBODY: Final = "file"


@dataclass(frozen=True, slots=True)
class PolicyVersion:
    """One version of the file; `text` is None where the record no longer holds it."""

    id: str
    at: str
    by: str
    how: str
    why: str
    policy_hash: str
    mode: str
    text: str | None


@dataclass(frozen=True, slots=True)
class FileProblem:
    """Something that is wrong with the text of a policy, and its line; None where no line is to blame."""

    line: int | None
    text: str


def file_problems(text: str, file: str = NAMELESS) -> list[FileProblem]:
    """Everything that keeps a text from being a policy, in the order of its lines."""
    try:
        checked_text(text, file)
    except PolicyError as error:
        return [_placed(line, file) for line in str(error).split("\n")]
    return []


def checked_text(text: str, file: str = NAMELESS) -> Policy:
    """The policy that a text describes, built; else a PolicyError."""
    content = text.encode("utf-8", "backslashreplace")
    if len(content) > MAX_FILE_BYTES:
        raise PolicyError(
            f"a policy file may have {MAX_FILE_BYTES // 1024} KiB at most, got {len(content) // 1024} KiB"
        )
    policy = policy_from(parsed(content, file))
    policy.build()
    return policy


def _placed(words: str, file: str) -> FileProblem:
    text, mark, place = words.rpartition(f" ({file} line ")
    return FileProblem(int(place[:-1]), text) if mark and place[:-1].isdigit() else FileProblem(None, words)


def text_digest(text: str) -> str:
    """What tells one text of the file from another."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def save(
    store: AuditStore, file: str | os.PathLike[str], text: str, *, by: str, why: str, known: str, how: How = "edited"
) -> PolicyVersion:
    """Record a new text and put it in the place of the file's; `known` is the digest of the text that was edited.

    It is recorded before it is done, after the text before it where that is not in the record yet. A text that is no policy, one
    that changes the mode, and an edit of a file that has changed meanwhile are an InputError, and nothing is done.
    """
    if not by.strip() or not why.strip():
        raise InputError("a change of the policy needs a name and a reason: both go into the record")
    path = Path(file).resolve()
    before = file_bytes(path)
    now = before.decode("utf-8", "replace")
    if text_digest(now) != known:
        raise InputError(f"{path.name} was changed meanwhile: look at it as it is now, and make your change again")
    if text == now:
        raise InputError(f"{path.name} reads like that already: there is nothing to save")
    new = _acceptable(text, before, path.name)
    found = [] if _is_recorded(store, now) else [_entry(now, path.name, "found", NOBODY, "")]
    entry = _entry(text, path.name, how, by, why, new)
    with replacement(path, text.encode()) as put:
        if file_bytes(path) != before:
            raise InputError(f"{path.name} was changed meanwhile: look at it, and try again")
        store.add([*found, entry])
        put()
    return _version(entry)


def roll_back(
    store: AuditStore, file: str | os.PathLike[str], name: str, *, by: str, why: str, known: str
) -> PolicyVersion:
    """Bring an earlier version back, in the mode that the file is in now."""
    wanted = version(store, name)
    if wanted.text is None:
        raise InputError(f"the text of {shown(name)} is not in the record any more: it cannot be brought back")
    path = Path(file)
    mode = policy_from(parsed(file_bytes(path), path.name)).mode
    text = wanted.text
    if checked_text(text, path.name).mode != mode:
        text = with_value(text.encode(), ("mode",), mode).decode()
    return save(store, file, text, by=by, why=why, known=known, how="rolled back")


def versions(store: AuditStore, most: int = 50) -> list[PolicyVersion]:
    """The versions on record, the newest first."""
    return [_version(record.entry) for record in latest(store, KIND, most) if record.entry]


def version(store: AuditStore, name: str) -> PolicyVersion:
    """The version of that id, or an InputError."""
    record: Record = store.find(name)
    if record.entry is None or record.entry.kind != KIND:
        raise InputError(f"{shown(name)} is no version of a policy: take an id of the history")
    return _version(record.entry)


def _acceptable(text: str, before: bytes, file: str) -> Policy:
    """The policy of a text that may be saved."""
    try:
        new = checked_text(text, file)
    except PolicyError as error:
        raise InputError(str(error)) from None
    try:
        mode = policy_from(parsed(before, file)).mode
    except PolicyError:  # whoever mends a file that cannot be read says its mode
        return new
    if new.mode != mode:
        raise InputError(
            f"mode: {mode} cannot become {new.mode} by an edit: a step of the rollout has a checklist and a record, take it there"
        )
    return new


def _is_recorded(store: AuditStore, text: str) -> bool:
    newest = next(iter(versions(store, 1)), None)
    return newest is not None and newest.text == text


def _entry(text: str, file: str, how: How, by: str, why: str, policy: Policy | None = None) -> Entry:
    try:
        read = policy or checked_text(text, file)
    except PolicyError:
        read = None
    meta = {
        "file": storable(file),
        "policy_hash": read.hash if read else None,
        "mode": read.mode if read else None,
        "why": storable(why.strip()),
    }
    body = Body.of(compact({"text": text}))
    return Entry(
        kind=KIND,
        id=f"policy-{uuid4()}",
        at=instant(),
        meta=compact(meta),
        label=how,
        caller=storable(by.strip()),
        version=__version__,
        body_digest=body.digest,
        body=body,
    )


def _version(entry: Entry) -> PolicyVersion:
    meta = json.loads(entry.meta)
    text = json.loads(entry.body.text)["text"] if entry.body else None
    return PolicyVersion(
        entry.id,
        entry.at,
        str(entry.caller),
        str(entry.label),
        meta["why"],
        meta["policy_hash"] or "",
        meta["mode"] or "",
        text,
    )
