"""Which mode is in force and since when, and which comes after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

import yaml

from stillme.audit.store import AuditStore
from stillme.contract import Mode
from stillme.errors import PolicyError
from stillme.policy import Policy
from stillme.storage.audit.database import RECORD

__all__ = ["AHEAD", "BEFORE", "NEXT", "ModeRun", "Step", "policy_in_force", "run_until"]

Step = Literal["warn", "enforce"]
NEXT: Final[Mapping[str, Step]] = {"monitor": "warn", "warn": "enforce"}
BEFORE: Final[Mapping[Step, Mode]] = {"warn": "monitor", "enforce": "warn"}
AHEAD: Final[Mapping[str, tuple[Step, ...]]] = {"monitor": ("warn", "enforce"), "warn": ("enforce",)}


@dataclass(frozen=True, slots=True)
class ModeRun:
    """How long verdicts have been made in the mode of the last one, without another in between.

    `logged` have decision, band, trace id and, unless they are clean answers, reasons; `not_logged` adds those that wait in a journal
    and those whose content is gone.
    """

    mode: Mode | None = None
    since: str | None = None
    last: str | None = None
    verdicts: int = 0
    logged: int = 0
    not_logged: int = 0

    @property
    def days(self) -> float:
        """From the first verdict to the last."""
        if self.since is None or self.last is None:
            return 0.0
        ends = [datetime.fromisoformat(at) for at in (self.since, self.last)]
        return (ends[1] - ends[0]).total_seconds() / 86_400


def policy_in_force(store: AuditStore) -> Policy:
    """The policy of the last verdict; `lite` where there is none, or none that this version can use."""
    sql = f"SELECT policy FROM {RECORD} WHERE kind = 'verdict' ORDER BY at DESC, seq DESC LIMIT 1"  # noqa: S608  (names of ours)
    store.prepare()
    rows = store.database.rows(sql)
    text = store.policy_text(rows[0][0]) if rows else None
    try:
        settings = yaml.safe_load(text) if text else None
        return Policy.load(settings if isinstance(settings, dict) else None)
    except (yaml.YAMLError, PolicyError):
        return Policy.load()


def run_until(store: AuditStore, moment: str) -> ModeRun:
    """The run that the last verdict before a moment belongs to."""
    verdicts = f"FROM {RECORD} WHERE kind = 'verdict' AND at < ?"
    newest = store.database.rows(f"SELECT mode {verdicts} ORDER BY at DESC, seq DESC LIMIT 1", [moment])
    if not newest:
        return ModeRun(not_logged=store.journal.pending())
    mode = newest[0][0]
    other = store.database.rows(f"SELECT max(at) {verdicts} AND mode <> ?", [moment, mode])[0][0] or ""
    whole = "id <> '' AND decision IS NOT NULL AND band IS NOT NULL AND (reasons IS NOT NULL OR decision = 'answer')"
    sql = f"SELECT min(at), max(at), count(*), sum(CASE WHEN {whole} THEN 1 ELSE 0 END), min(seq) {verdicts} AND at > ?"
    since, last, count, logged, place = store.database.rows(sql, [moment, other])[0]
    gone = store.database.rows(f"SELECT count(*) FROM {RECORD} WHERE kind IS NULL AND seq > ?", [place])[0][0]  # noqa: S608
    return ModeRun(
        mode, since, last, int(count), int(logged), int(count) - int(logged) + int(gone) + store.journal.pending()
    )
