"""The step to the next mode: one line of a policy file, written when the checklist holds or somebody overrides it, and recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from stillme.audit.chain.record import Entry, compact, instant, storable
from stillme.audit.store import AuditStore
from stillme.contract import Mode
from stillme.errors import BackendError, InputError, PolicyError, shown
from stillme.evaluation.rollout.checklist import Check, next_in_order, same_mode
from stillme.evaluation.rollout.modes import NEXT, Step
from stillme.evaluation.rollout.status import Status, rollout_status
from stillme.policy import Policy
from stillme.policy.edits import with_value
from stillme.policy.model import policy_from
from stillme.policy.reader import file_bytes, parsed
from stillme.version import __version__

__all__ = ["Promotion", "promote"]


@dataclass(frozen=True, slots=True)
class Promotion:
    """What came of a wish for the next mode; `record` is its place in the audit store, None where the gates held it back."""

    to: Step
    status: Status
    closed: tuple[Check, ...]
    record: str | None = None
    overridden: bool = False


def promote(
    store: AuditStore,
    file: str | os.PathLike[str],
    *,
    by: str,
    as_of: datetime,
    to: Step | None = None,
    override: str | None = None,
    **sampling: Any,
) -> Promotion:
    """Write the next mode into a policy file if every check of it is passed, or with the reason of whoever overrides them.

    It is recorded before it is done, and the file is replaced whole or not at all.
    """
    if not by.strip() or (override is not None and not override.strip()):
        raise InputError("a promotion needs a name, and an override its reason too: both go into the record")
    path = Path(file).resolve()
    content = file_bytes(path)
    policy = policy_from(parsed(content, path.name))
    wanted = _step_wanted(policy.mode, to)
    changed = _changed(content, policy, wanted, path.name)
    status = rollout_status(store, policy, as_of=as_of, **sampling)
    checks = status.checks.get(wanted) or (next_in_order(status.run, wanted), same_mode(status.run, policy))
    closed = tuple(check for check in checks if check.state != "passed")
    if closed and override is None:
        return Promotion(wanted, status, closed)
    entry = _entry(policy, wanted, checks, by, override if closed else None)
    with _replacement(path, changed) as put:
        if file_bytes(path) != content:
            raise InputError(f"{path.name} was changed meanwhile: look at it, and try again")
        store.add([entry])
        put()
    return Promotion(wanted, status, closed, entry.id, bool(closed))


def _step_wanted(mode: Mode, to: Step | None) -> Step:
    order = ("monitor", "warn", "enforce")
    wanted = to or NEXT.get(mode)
    if wanted is None or order.index(wanted) <= order.index(mode):
        raise InputError(
            f"the policy is in {mode} already{'' if wanted in (None, mode) else f', beyond {wanted}'}: "
            "to go back, change its line `mode:`; that needs no check"
        )
    return wanted


def _changed(content: bytes, policy: Policy, mode: Step, file: str) -> bytes:
    """The file in the new mode, if that is all that changes."""
    changed = with_value(content, ("mode",), mode)
    try:
        new = policy_from(parsed(changed, file))
    except PolicyError:
        new = policy
    if new.model_dump() != policy.with_changes({"mode": mode}).model_dump() | {"extends": policy.extends}:
        raise InputError(
            f"{file} cannot be changed by one line: write `mode: {mode}` by hand, at the top, without anchors"
        )
    return changed


def _entry(policy: Policy, to: Step, checks: Iterable[Check], by: str, override: str | None) -> Entry:
    meta = {
        "from": policy.mode,
        "to": to,
        "policy": policy.hash,
        "promoted": policy.with_changes({"mode": to}).hash,
        "why": storable(override.strip()) if override is not None else None,
        "checks": [asdict(check) for check in checks],
    }
    return Entry(
        kind="promotion",
        id=f"promotion-{uuid4()}",
        at=instant(),
        meta=compact(meta),
        label="override" if override is not None else "gates held",
        mode=to,
        caller=storable(by.strip()),
        version=__version__,
    )


@contextmanager
def _replacement(path: Path, content: bytes) -> Iterator[Callable[[], None]]:
    """A new file beside the old one, with its owner and permissions; it takes its place when asked, or is gone."""
    part = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        before = path.stat()
        with part.open("xb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        part.chmod(before.st_mode & 0o7777)
        if (part.stat().st_uid, part.stat().st_gid) != (before.st_uid, before.st_gid):
            os.chown(part, before.st_uid, before.st_gid)
        yield lambda: _put(part, path)
    except OSError as error:
        raise BackendError(f"{shown(str(path))} cannot be replaced: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            part.unlink()


def _put(part: Path, path: Path) -> None:
    try:
        part.replace(path)
    except OSError as error:
        raise BackendError(
            f"{shown(str(path))} is unchanged, although its promotion is recorded: {error.strerror or error}"
        ) from None
