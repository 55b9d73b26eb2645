"""The step to the next mode: one line of a policy file, written when the checklist holds or somebody overrides it, and recorded."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, get_args
from uuid import uuid4

from stillme.audit.chain.record import Entry, compact, instant, storable
from stillme.audit.store import AuditStore
from stillme.contract import Mode
from stillme.errors import InputError, PolicyError
from stillme.evaluation.rollout.checklist import Check, next_in_order, same_mode
from stillme.evaluation.rollout.modes import NEXT, Step
from stillme.evaluation.rollout.status import Status, rollout_status
from stillme.policy import Policy
from stillme.policy.edits import replacement, with_value
from stillme.policy.model import policy_from
from stillme.policy.reader import file_bytes, parsed
from stillme.version import __version__

__all__ = ["Promotion", "demote", "promote"]

MODES: Final[tuple[Mode, ...]] = get_args(Mode)


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
    with replacement(path, changed) as put:
        if file_bytes(path) != content:
            raise InputError(f"{path.name} was changed meanwhile: look at it, and try again")
        store.add([entry])
        put()
    return Promotion(wanted, status, closed, entry.id, bool(closed))


def demote(store: AuditStore, file: str | os.PathLike[str], *, by: str, to: Mode, why: str) -> str:
    """Write an earlier mode into a policy file, which needs a reason and no check; the id of its record."""
    if not by.strip() or not why.strip():
        raise InputError("going back needs a name and a reason: both go into the record")
    path = Path(file).resolve()
    content = file_bytes(path)
    policy = policy_from(parsed(content, path.name))
    if MODES.index(to) >= MODES.index(policy.mode):
        raise InputError(f"the policy is in {policy.mode}, which does not come after {to}: nothing to go back from")
    entry = _entry(policy, to, (), by, why, "demotion")
    with replacement(path, _changed(content, policy, to, path.name)) as put:
        store.add([entry])
        put()
    return entry.id


def _step_wanted(mode: Mode, to: Step | None) -> Step:
    wanted = to or NEXT.get(mode)
    if wanted is None or MODES.index(wanted) <= MODES.index(mode):
        raise InputError(
            f"the policy is in {mode} already{'' if wanted in (None, mode) else f', beyond {wanted}'}: "
            "to go back, change its line `mode:`; that needs no check"
        )
    return wanted


def _changed(content: bytes, policy: Policy, mode: Mode, file: str) -> bytes:
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


def _entry(
    policy: Policy, to: Mode, checks: Iterable[Check], by: str, override: str | None, label: str = "override"
) -> Entry:
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
        label=label if override is not None else "gates held",
        mode=to,
        caller=storable(by.strip()),
        version=__version__,
    )
