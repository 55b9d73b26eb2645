"""The checks that a step of a rollout has to pass, each against the policy's `rollout` section; what is unknown never counts as passed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from stillme.evaluation.rollout.estimates import Estimate, figure_words, needed
from stillme.evaluation.rollout.modes import BEFORE, ModeRun, Step
from stillme.evaluation.rollout.weeks import FIGURES, WeeksWindow
from stillme.evaluation.runs.metrics import LOWER_IS_BETTER
from stillme.policy import Policy
from stillme.policy.sections import Rollout

__all__ = ["Check", "RolloutEvidence", "State", "checks_of", "next_in_order", "notes_on", "same_mode"]

State = Literal["passed", "failed", "unknown"]
SAMPLE: Final = "label the weekly sample: `stillme audit sample`, then `stillme audit review`"
NEXT_WEEK: Final = "wait for the end of the week"
Value = float | int | str | None
_LIMITS: Final[Mapping[str, Callable[[Rollout], float]]] = {
    "hallucination_escape_rate": lambda rules: rules.max_escape_rate,
    "refusal_precision": lambda rules: rules.min_refusal_precision,
    "source_coverage": lambda rules: rules.min_source_coverage,
    "false_refusal_rate": lambda rules: rules.max_false_refusal_rate,
}
MANDATORY: Final = ("hallucination_escape_rate", "refusal_precision", "source_coverage")
EPSILON: Final = 1e-9
_IMPROVE: Final = {
    "hallucination_escape_rate": "harden gates or raise thresholds (`stillme calibrate`), and see what changes with `stillme policy diff`",
    "refusal_precision": "soften gates or lower thresholds (`stillme calibrate`), and see what changes with `stillme policy diff`",
    "source_coverage": "have drafts cite their sources, or allow repairs",
    "false_refusal_rate": "soften gates or lower thresholds (`stillme calibrate`), and see what changes with `stillme policy diff`",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One point of the checklist: what was found, what is asked for, and what to do where it does not hold."""

    name: str
    state: State
    value: Value
    threshold: float | int | str
    said: str
    way_out: str = ""


@dataclass(frozen=True, slots=True)
class RolloutEvidence:
    """What the checks are held against."""

    run: ModeRun
    policy: Policy
    reviewed: int
    baseline: WeeksWindow | None
    current: WeeksWindow | None
    weeks: tuple[WeeksWindow, ...]

    @property
    def rules(self) -> Rollout:
        return self.policy.rollout


def checks_of(evidence: RolloutEvidence, step: Step) -> Iterator[Check]:
    """Every check of a step."""
    yield next_in_order(evidence.run, step)
    yield same_mode(evidence.run, evidence.policy)
    yield from _volume(evidence, step)
    yield _logged(evidence)
    least = evidence.rules.min_reviews_per_week
    yield _at_least("reviews_last_week", evidence.reviewed, least, "verdicts reviewed in the last seven days", SAMPLE)
    yield _baseline(evidence.baseline)
    for name in FIGURES:
        yield _figure_check(name, evidence.current, evidence.rules, step)
    yield _better(evidence) if step == "warn" else _no_worse(evidence)
    yield _stable(evidence)


def next_in_order(run: ModeRun, step: Step) -> Check:
    """Whether the mode before the step has been reached; none is skipped."""
    wanted = BEFORE[step]
    said = f"the last verdict was made in {run.mode or 'no mode: there is none'}, {step} comes after {wanted}"
    return _checked("step", run.mode in (wanted, step), run.mode, wanted, said, f"go through {wanted} first")


def same_mode(run: ModeRun, policy: Policy) -> Check:
    """Whether the policy is in the mode of the last verdict, so that the evidence can be about it."""
    said = f"the policy says {policy.mode}, the last verdict was made in {run.mode or 'none'}"
    way_out = "serve this policy with this audit store, or name the one that is served"
    return _checked("policy_in_force", policy.mode == run.mode, run.mode, policy.mode, said, way_out)


def _checked(name: str, holds: bool, value: Value, threshold: float | str, said: str, way_out: str) -> Check:
    """A check that was made; where it holds there is no way out to name."""
    return Check(name, "passed" if holds else "failed", value, threshold, said, "" if holds else way_out)


def _at_least(name: str, value: float, least: float, what: str, way_out: str) -> Check:
    return _checked(name, value >= least, value, least, f"{value:,} {what}, at least {least:,}", way_out)


def _volume(evidence: RolloutEvidence, step: Step) -> Iterator[Check]:
    run, rules = evidence.run, evidence.rules
    counts = run.mode in (BEFORE[step], step)
    counted, way_out = (run, "go on in this mode") if counts else (ModeRun(), "")
    mode = run.mode if counts else BEFORE[step]
    yield _at_least("days", round(counted.days, 2), rules.min_days, f"days of verdicts in {mode}", way_out)
    yield _at_least("verdicts", counted.verdicts, rules.min_verdicts, f"verdicts in {mode}", way_out)


def _logged(evidence: RolloutEvidence) -> Check:
    name, run, least = "logged_share", evidence.run, evidence.rules.min_logged_share
    total = run.logged + run.not_logged
    if not total:
        return Check(name, "unknown", None, least, "no verdict is recorded", "give the guard this audit store")
    share, counts = run.logged / total, f"{run.logged:,} of {total:,} verdicts"
    said = f"{counts} recorded with decision, reasons, band and trace id, at least {least:.1%}"
    way_out = "move what waits in a journal: `stillme audit drain`; look for what is gone: `stillme audit stats`"
    return _checked(name, share >= least, share, least, said, way_out)


def _baseline(window: WeeksWindow | None) -> Check:
    name, wanted = "baseline", "measured"
    if window is None:
        return Check(
            name, "unknown", None, wanted, "no week with verdicts has ended", "wait for the end of the first week"
        )
    lacking = [figure.name for figure in window.figures if figure.unknown]
    weeks = ", ".join(window.weeks)
    if lacking:
        said = f"of {weeks} these are unknown: {', '.join(lacking)}"
        way_out = f"label the sample of that week: `stillme audit sample --week {window.weeks[0]}`"
        return Check(name, "unknown", weeks, wanted, said, way_out)
    return Check(name, "passed", weeks, wanted, f"measured in {weeks}")


def _figure_check(name: str, window: WeeksWindow | None, rules: Rollout, step: Step) -> Check:
    """A figure against its limit; for enforce the upper end of the escape rate has to keep to it."""
    limit = _LIMITS[name](rules)
    if window is None:
        return Check(name, "unknown", None, limit, "no week after the baseline has ended", NEXT_WEEK)
    figure = window.figure(name)
    if figure.unknown or figure.value is None:
        return Check(name, "unknown", figure.value, limit, figure_words(figure), SAMPLE)
    by_end = step == "enforce" and name == "hallucination_escape_rate"
    value = figure.high if by_end else figure.value
    falls = name in LOWER_IS_BETTER
    asked = f"{'at most' if falls else 'at least'} {limit:.1%}{' at the upper end' if by_end else ''}"
    holds = value <= limit if falls else value >= limit
    said = f"{figure_words(figure)}, {asked}"
    return _checked(name, holds, value, limit, said, "" if holds else _way_out(figure, limit, by_end))


def _way_out(figure: Estimate, limit: float, by_end: bool) -> str:
    more = needed(figure, limit) if by_end else None
    if more is not None:
        return f"if they go on like this, {more:,} times as many reviews are needed: raise the numbers of `stillme audit sample`"
    return _IMPROVE[figure.name]


def _worsening(name: str, before: Estimate, after: Estimate) -> float | None:
    if before.unknown or after.unknown or before.value is None or after.value is None:
        return None
    moved = after.value - before.value
    return moved if name in LOWER_IS_BETTER else -moved


def _no_worse(evidence: RolloutEvidence) -> Check:
    """Against the baseline no figure may be worse by more than it may move in a week."""
    most = evidence.rules.max_weekly_change
    if evidence.baseline is None or evidence.current is None:
        return Check("no_worse_than_baseline", "unknown", None, most, "there is no week after the baseline", NEXT_WEEK)
    moved = {n: _worsening(n, evidence.baseline.figure(n), evidence.current.figure(n)) for n in FIGURES}
    moved = {n: None if distance is None else max(0.0, distance) for n, distance in moved.items()}
    return _movement("no_worse_than_baseline", moved, most, "worse than in the baseline")


def _better(evidence: RolloutEvidence) -> Check:
    """Against the baseline a figure has to be better, in each of the last weeks too, and none worse than it may move in a week."""
    held = _no_worse(evidence)
    name, best = "better_than_baseline", "better, and none worse"
    if held.state != "passed" or evidence.baseline is None or evidence.current is None:
        return replace(held, name=name, threshold=best)
    baseline, after = evidence.baseline, [w for w in evidence.weeks if not set(w.weeks) & set(evidence.baseline.weeks)]
    if all(_is_best(n, window.figure(n)) for n in MANDATORY for window in (baseline, evidence.current)):
        return Check(name, "passed", "at their best", best, "every figure is at its best, in the baseline and since")
    gains = {n: -(_worsening(n, baseline.figure(n), evidence.current.figure(n)) or 0.0) for n in MANDATORY}
    improved = [n for n in MANDATORY if gains[n] > EPSILON and all(_gained(n, baseline, week) for week in after)]
    if improved:
        first = max(improved, key=lambda n: gains[n])
        said = f"{first} is {100 * gains[first]:.1f} points better than in the baseline, in each of the last weeks too"
        return Check(name, "passed", gains[first], best, said)
    said = "no figure is better than in the baseline and stayed so: no worse is not enough"
    return Check(name, "failed", max(gains.values()), best, said, f"{_IMPROVE[MANDATORY[0]]}; then go on for two weeks")


def _is_best(name: str, figure: Estimate) -> bool:
    return figure.value is not None and figure.value == (0.0 if name in LOWER_IS_BETTER else 1.0)


def _gained(name: str, baseline: WeeksWindow, week: WeeksWindow) -> bool:
    """Whether a week is better than the baseline, or says nothing about it."""
    moved = _worsening(name, baseline.figure(name), week.figure(name))
    return moved is None or moved < -EPSILON


def _stable(evidence: RolloutEvidence) -> Check:
    """Between the last two weeks no figure may move by more than the policy allows, to the better or to the worse."""
    most = evidence.rules.max_weekly_change
    if len(evidence.weeks) < 2:
        return Check("stable", "unknown", None, most, "fewer than two weeks with verdicts have ended", NEXT_WEEK)
    before, after = evidence.weeks
    moved = {n: _worsening(n, before.figure(n), after.figure(n)) for n in FIGURES}
    moved["not_answered"] = _worsening("not_answered", before.not_answered, after.not_answered)
    distances = {n: None if distance is None else abs(distance) for n, distance in moved.items()}
    return _movement("stable", distances, most, f"from {before.weeks[0]} to {after.weeks[0]}")


def _movement(name: str, moved: Mapping[str, float | None], most: float, words: str) -> Check:
    known = {n: distance for n, distance in moved.items() if distance is not None}
    lacking = [n for n in moved if n not in known]
    worst = max(known, key=lambda n: (known[n], n), default=None)
    value = known[worst] if worst else None
    said = f"{worst} moved most, {100 * (value or 0):.1f} points {words}, at most {100 * most:.1f}" if worst else words
    holds = value is None or value <= most + 1e-12
    if holds and lacking:
        return Check(name, "unknown", value, most, f"{said}; unknown: {', '.join(lacking)}", SAMPLE)
    return _checked(
        name, holds, value, most, said, "find out what changed: `stillme policy diff`, `stillme audit list`"
    )


def notes_on(evidence: RolloutEvidence) -> Iterator[str]:
    """What the checks cannot see, or leave out."""
    yield "requests that never reached a guard with this audit store are not seen here"
    for name, window in (("baseline", evidence.baseline), ("current", evidence.current)):
        if window is None:
            continue
        if window.policies > 1:
            yield f"{name}: {window.policies} policies were in force in these weeks, and the figures mix them"
        if window.by_hand:
            yield f"{name}: {window.by_hand:,} reviews are of verdicts that the weekly sample does not draw; they are in no figure"
        if window.unusable:
            yield f"{name}: {window.unusable:,} reviewed verdicts have labels that tell nothing, such as unclear"
