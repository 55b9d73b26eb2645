"""A calibration written down: what changes in the policy, or the whole of it, as YAML with the evidence in comments."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from stillme.errors import InputError, shown
from stillme.evaluation.calibration.calibration import ALL, REST, CalibrationOutcome, share_of
from stillme.evaluation.calibration.fixed_sequence import CaseGroup, ErrorCounts, ScoreStep
from stillme.evaluation.calibration.thresholds import Settings, settings_changes
from stillme.evaluation.runs.intervals import Interval, upper_bound
from stillme.policy import Policy
from stillme.version import __version__

__all__ = ["Provenance", "calibrated_policy", "curve", "evidence", "fragment", "policy_file"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a calibration comes from."""

    at: str
    model_id: str
    data: str
    """As a user named it."""
    data_sha256: str


def calibrated_policy(outcome: CalibrationOutcome, policy: Policy, source: Provenance) -> Policy:
    """The policy with the thresholds and the `calibration` section of an outcome."""
    changed = policy.with_changes(settings_changes(policy, _to_write(outcome)))
    # Not merged: nothing of an earlier calibration stays.
    settings = changed.model_dump(mode="json", exclude_unset=True)
    return Policy.load({**settings, "calibration": _section(outcome, source)})


def fragment(outcome: CalibrationOutcome, policy: Policy, source: Provenance) -> str:
    """What changes in the policy, as YAML that loads by itself, with the evidence in comments."""
    changes = settings_changes(policy, _to_write(outcome))
    body = {"extends": policy.extends, **changes, "calibration": _section(outcome, source)}
    written = yaml.safe_dump(body, sort_keys=False, default_flow_style=None, width=120)
    return "".join(f"# {line}\n" for line in evidence(outcome, source)) + written


def policy_file(outcome: CalibrationOutcome, policy: Policy, source: Provenance) -> str:
    """The whole policy with every value written out, the evidence in comments above it."""
    return (
        "".join(f"# {line}\n" for line in evidence(outcome, source))
        + calibrated_policy(outcome, policy, source).to_yaml()
    )


def _to_write(outcome: CalibrationOutcome) -> Settings:
    if outcome.settings is None:
        raise InputError("nothing can be guaranteed, so there are no thresholds to write")
    return outcome.settings


def _section(outcome: CalibrationOutcome, source: Provenance) -> dict[str, Any]:
    return {
        "at": source.at,
        "model_id": source.model_id,
        "version": __version__,
        "data_sha256": source.data_sha256,
        "cases": outcome.cases,
        "languages": list(outcome.languages),
        "domains": list(outcome.domains),
        "max_escape_rate": outcome.target.max_escape_rate,
        "confidence": outcome.target.confidence,
        "reference": outcome.reference.to_reference(),
        "drifted": None,
    }


# the evidence


def evidence(outcome: CalibrationOutcome, source: Provenance) -> list[str]:
    """What the thresholds rest on, in lines that hold no line break."""
    after = outcome.after
    lines = [
        f"calibrated on {outcome.cases:,} cases of {shown(source.data)}, sha256 {source.data_sha256[:12]}",
        f"with the model {shown(source.model_id)}, stillme {__version__}",
        *_promise(outcome),
    ]
    for group in outcome.groups:
        lines += _group_lines(group)
    lines += ["before: " + _counts_line(outcome.before)] + (["after: " + _counts_line(after)] if after else [])
    return [*lines, *outcome.notes]


def _promise(outcome: CalibrationOutcome) -> list[str]:
    aim = outcome.target
    rate = f"of drafts with an unsupported claim at most {aim.max_escape_rate:.2%} pass as an answer"
    if outcome.settings is None:
        return [f"NOT guaranteed with confidence {aim.confidence:g}: that {rate}"]
    return [
        f"guaranteed with confidence {aim.confidence:g}: {rate},",
        "for requests that are drawn like these cases; counted by case, not by claim",
    ]


def _group_lines(group: CaseGroup) -> Iterator[str]:
    chosen = group.chosen
    name = group.name if group.name in (ALL, REST) else shown(group.name)
    if group.min_score is None:
        yield f"{name}: not guaranteed: {group.shortfall}"
        return
    high = upper_bound(chosen.figures.escaped, chosen.figures.bad, 1 - group.level)
    yield (
        f"{name}: min_score {group.min_score:g}, {chosen.figures.escaped:,} of {chosen.figures.bad:,} escape, "
        f"at most {high:.2%} with error {group.level:.4g} (p {chosen.p:.2g})"
    )
    yield f"  {'min_score':<9}  {'escape, 95 % interval':<36}  false refusals, 95 % interval"
    for point in curve(group):
        mark = "  <- chosen" if point is chosen else "" if point.is_certified else "  not guaranteed"
        row = point.figures
        yield (
            f"  {point.min_score:<9g}  {_cell(row.escaped, row.bad, row.escape):<36}  "
            f"{_cell(row.refused, row.good, row.refusal)}{mark}"
        )


def _cell(count: int, total: int, interval: Interval) -> str:
    return f"{count:,} of {total:,}, {interval.low:.2%} to {interval.high:.2%}"


def curve(group: CaseGroup, most: int = 12) -> list[ScoreStep]:
    """The points of a walk where something changes, thinned out to so many; the chosen one is always among them."""
    changed: list[ScoreStep] = []
    for point in group.points:
        if not changed or point.figures != changed[-1].figures or point is group.chosen:
            changed.append(point)
    step = max(1, math.ceil(len(changed) / most))
    return [point for number, point in enumerate(changed) if number % step == 0 or point is group.chosen]


def _counts_line(counts: ErrorCounts) -> str:
    claims = _counted(counts.claims_escaped, counts.claims)
    return (
        f"{share_of(counts.escaped, counts.bad)} escape, by claim {claims}; "
        f"{share_of(counts.refused, counts.good)} are falsely refused"
    )


def _counted(count: int, total: int) -> str:
    return f"{count:,} of {total:,}" + (
        f" ({count / total:.2%}, no interval: claims of one draft go together)" if total else ""
    )
