"""What becomes of rows: each a line of JSON with its verdict, or with the reason why it has none.

A line depends on its row, the policy, the version and the point in time that the whole batch is judged at, and on nothing else: it has
no times and no drawn ids.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from stillme.batch.columns import request_of, row_values
from stillme.batch.inputs import form_of
from stillme.batch.rows import Row
from stillme.contract import Verdict, VerifyRequest, parse_request
from stillme.errors import BackendError, InputError
from stillme.guard import Guard, check_limits, grounder_for, shown
from stillme.judge import judge_from_environment
from stillme.policy import Policy
from stillme.validators.chain import attempt

__all__ = ["SUMMARY", "Judged", "Recipe", "guard_of", "judged", "lost", "outcome_of", "worker"]

SUMMARY: Final = (
    *("request_id", "decision", "action", "verified", "confidence_band", "reasons", "language"),
    *("claims_total", "claims_supported", "max_similarity", "safe_response"),
)
"""The columns that a result has beside where its row stands, its error and the whole verdict."""
UNTIMED: Final[Any] = {
    "validator_trace_id": True,
    "metrics": {"elapsed_ms"},
    "findings": {"__all__": {"elapsed_ms"}},
}


class Judged(NamedTuple):
    """The line that stands for a row, and how far into the input that row reaches."""

    line: bytes
    position: int


@dataclass(frozen=True, slots=True)
class Recipe:
    """What makes the same results of the same rows in any process on any machine."""

    policy: dict[str, Any]
    policy_hash: str
    as_of: str
    mapping: dict[str, str] = field(default_factory=dict)
    brief: bool = False

    @staticmethod
    def of(policy: Policy, as_of: datetime, mapping: Mapping[str, str] | None = None, *, brief: bool = False) -> Recipe:
        """The recipe of a policy, at a point in time."""
        settings = policy.model_dump(mode="json", exclude_unset=True)
        return Recipe(settings, policy.hash, as_of.isoformat(), dict(mapping or {}), brief)


def guard_of(settings: Mapping[str, Any]) -> Guard:
    """The guard that a process makes for itself: of the policy, with the judge that the environment names."""
    policy = Policy.load(settings)
    return Guard(policy, grounder=judge_from_environment(grounder_for(policy)))


def worker(recipe: Recipe) -> Callable[[Sequence[Row]], list[Judged]]:
    """What turns rows into lines, with one guard."""
    guard = guard_of(recipe.policy)
    if guard.policy.hash != recipe.policy_hash:
        raise BackendError("the policy is not the same in another process: is the same version installed everywhere?")
    return lambda rows: judged(guard, recipe, rows)


def judged(guard: Guard, recipe: Recipe, rows: Sequence[Row]) -> list[Judged]:
    """A line for each row, in order."""
    requests = [_request(guard, recipe, row) for row in rows]
    outcomes = _outcomes(guard, [each for each in requests if isinstance(each, VerifyRequest)])
    done = (next(outcomes) if isinstance(each, VerifyRequest) else each for each in requests)
    return [_judged(row, outcome_of(each, brief=recipe.brief)) for row, each in zip(rows, done, strict=True)]


def lost(row: Row) -> Judged:
    """What stands for a row whose process ended under it."""
    return _judged(row, outcome_of("the process that verified it ended without a result"))


def _judged(row: Row, outcome: Mapping[str, Any]) -> Judged:
    place = {"file": row.file, "row": row.number, "sha256": row.digest}
    line = json.dumps(place | dict(outcome), ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n"
    return Judged(line, row.position)


def outcome_of(verdict: Verdict | str, *, brief: bool = False) -> dict[str, Any]:
    """The columns of a result: those of a verdict, or those of a problem, with the others empty."""
    if isinstance(verdict, str):
        return {**dict.fromkeys(SUMMARY), "error": verdict, "verdict": None}
    whole = verdict.model_dump(mode="json", exclude=UNTIMED)
    summary = {key: (whole["metrics"] | whole).get(key) for key in SUMMARY}
    return {**summary, "error": None, "verdict": None if brief else whole}


def _request(guard: Guard, recipe: Recipe, row: Row) -> VerifyRequest | str:
    """The request of a row, or why it has none."""
    if row.problem is not None:
        return row.problem
    try:
        values = row_values(row.text)
        request = parse_request(request_of(values, recipe.mapping, is_table=form_of(row.file) != "jsonl"))
        check_limits(request, guard.policy)
    except InputError as error:
        return str(error)
    return request.model_copy(
        update={
            "as_of": request.as_of or datetime.fromisoformat(recipe.as_of),
            "request_id": request.request_id or f"row-{row.digest}",
        }
    )


def _outcomes(guard: Guard, requests: list[VerifyRequest]) -> Any:
    """A verdict or a problem for each: where all at once fail, each is tried alone."""
    verdicts, problem = attempt(lambda: _verified(guard, requests))
    if problem is None:
        return iter(verdicts)
    return (_alone(guard, request) for request in requests)


def _alone(guard: Guard, request: VerifyRequest) -> Verdict | str:
    found, problem = attempt(lambda: _verified(guard, [request])[0])
    return found if isinstance(found, Verdict) else problem or "it gave no verdict"


def _verified(guard: Guard, requests: list[VerifyRequest]) -> list[Verdict]:
    return [shown(each) for each in guard.examine_batch(requests, record=False)]
