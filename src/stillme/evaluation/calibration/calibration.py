"""Thresholds from labelled cases: as few false refusals as possible while few unsupported answers pass, shown by the cases.

**What is guaranteed.** With probability of at least `confidence` over the cases that were drawn, of the drafts that hold an
unsupported claim at most a share of `max_escape_rate` passes as an answer, in each group that has a threshold of its own. The unit
is the case: claims of one draft pass or fail together and are not independent, so the rate per claim (spec 1's
`hallucination_escape_rate`) stands beside it as a figure without a guarantee. Where drafts hold about one unsupported claim each, both
are the same. It holds for requests that are drawn like the cases (exchangeable), with the same model; `drift` watches that.

**How** (learn then test). `walk` tests how low the score of a group may go. The gates before it (similarity, generation confidence)
are a few fixed settings: the policy's own, raised ones and milder ones; each has its share of the error, half of it for the policy's own.
A raised gate begins as high as nine in ten of the good cases allow; once the score has come down all the way, the same sequence of tests
goes on with the gate, down towards the policy's own. A milder setting is only tried if it lets more answers through among the cases that
should be answered. A threshold that no such case speaks of is never changed. All of that looks at no case with an unsupported claim but to
count them, so it does not bias the tests, which look at no other. Groups share the error equally; a group is made by how many cases it
has, not by how they came out. Settings that would leave too little of the error for any test are not tried.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from stillme.errors import PolicyError, shown
from stillme.evaluation.calibration.fixed_sequence import (
    GRID,
    CaseGroup,
    ErrorCounts,
    Target,
    Walk,
    fewest_cases,
    figures,
    group_of,
    most_escapes,
    walk_of,
)
from stillme.evaluation.calibration.gates import Path, paths_of
from stillme.evaluation.calibration.thresholds import FACTUAL, NAMES, Gates, ScoredCase, Settings, decided, observed
from stillme.evaluation.rollout.drift import Summary
from stillme.evaluation.runs.intervals import clopper_pearson
from stillme.languages import is_served, languages
from stillme.policy import Policy

__all__ = ["ALL", "REST", "By", "CalibrationOutcome", "calibrate", "share_of"]

By = Literal["language", "domain", "none"]
Part = tuple[str, list[ScoredCase]]
ALL: Final = "all cases"
REST: Final = "all other cases"
LEAST_COVERED: Final = 30
"""So many cases with an unsupported claim a language needs among pooled ones before verdicts in it count as calibrated."""
MOST_GROUPS: Final = 20


@dataclass(frozen=True, slots=True)
class CalibrationOutcome:
    """What a calibration came to; `settings` is None where nothing can be guaranteed."""

    target: Target
    by: By
    settings: Settings | None
    before: ErrorCounts
    after: ErrorCounts | None
    groups: tuple[CaseGroup, ...]
    tried: int
    """How many settings of the gates before grounding shared the error."""
    languages: tuple[str, ...]
    domains: tuple[str, ...]
    cases: int
    reference: Summary
    notes: tuple[str, ...]

    @property
    def is_guaranteed(self) -> bool:
        """Whether there are thresholds to write."""
        return self.settings is not None


def calibrate(
    cases: Sequence[ScoredCase],
    policy: Policy,
    target: Target | None = None,
    by: By = "none",
    *,
    keep_gates: bool = False,
) -> CalibrationOutcome:
    """The thresholds with the fewest false refusals that keep to the target, or what is missing to show any.

    `keep_gates` leaves the thresholds before grounding as they are, which leaves all of the error to `min_score`.
    """
    aim, gates, own = target or Target(), Gates.of(policy), Settings.of(policy)
    if not gates.score:
        raise PolicyError(f"validators.{FACTUAL} must be enabled and hard: without it no score decides anything")
    paths = [Path(own)] if keep_gates else _affordable(cases, own, gates, by, aim)
    parts, notes = _parts(cases, by, aim, _share(0, len(paths)))
    walked = [_walk(path, parts, gates, aim, _share(n, len(paths))) for n, path in enumerate(paths)]
    best = max(range(len(paths)), key=lambda n: (*_worth(walked[n][1], by), -n))
    reached, walks = walked[best]
    groups = tuple(group_of(walk, aim.max_escape_rate) for walk in walks)
    settings = _settings(reached, own, groups, by, cases)
    before = figures(cases, lambda case: decided(case, own, gates))
    after = None if settings is None else figures(cases, lambda case: decided(case, settings, gates))
    return CalibrationOutcome(
        target=aim,
        by=by if parts[0][0] != ALL else "none",
        settings=settings,
        before=before,
        after=after,
        groups=groups,
        tried=len(paths),
        languages=() if settings is None else _languages(cases, groups, by),
        domains=tuple(settings.by_domain) if settings else (),
        cases=len(cases),
        reference=Summary.of(observed(case, settings or own, gates) for case in cases),
        notes=(
            *notes,
            *_moved_thresholds(own, settings or own),
            *(_uncovered(cases, groups, by) if settings else _cheaper(groups, aim, len(paths))),
            *_advice(before, after, aim),
        ),
    )


# settings that share the error


def _share(number: int, paths: int) -> float:
    """The share of the error that a setting of the earlier gates has: half for the policy's own."""
    if paths == 1:
        return 1.0
    return 0.5 if number == 0 else 0.5 / (paths - 1)


def _affordable(cases: Sequence[ScoredCase], own: Settings, gates: Gates, by: By, aim: Target) -> list[Path]:
    """The settings that can share the error: by the number of cases alone, so many that no group is lost and each can be shown.

    Where it does for one only, it is the one that may raise a gate, as far as no good case is lost by it.
    """
    paths = paths_of(cases, own, gates, aim.max_false_refusal_rate)
    alone = len(_parts(cases, by, aim, 1.0)[0])
    for count in range(len(paths), 1, -1):
        least = min(_share(0, count), _share(1, count))
        parts = _parts(cases, by, aim, least)[0]
        if len(parts) == alone and _fewest_bad(parts) >= fewest_cases(aim.max_escape_rate, aim.error * least / alone):
            return paths[:count]
    raised = [path for path in paths_of(cases, own, gates, 0.0) if path.lowest is not None]
    whole = _fewest_bad(_parts(cases, by, aim, 1.0)[0]) >= fewest_cases(aim.max_escape_rate, aim.error / alone)
    return raised[:1] if raised and whole else paths[:1]


def _fewest_bad(parts: Iterable[Part]) -> int:
    return min(sum(case.is_bad for case in part) for _, part in parts)


def _walk(path: Path, parts: Sequence[Part], gates: Gates, aim: Target, share: float) -> tuple[Settings, list[Walk]]:
    """How far the scores of the groups got, and the gates with them: these only once every score is all the way down."""
    level = aim.error * share / len(parts)

    def walks(settings: Settings) -> list[Walk]:
        return [walk_of(name, cases, settings, gates, aim.max_escape_rate, level) for name, cases in parts]

    reached = path.opened
    walked = walks(reached)
    if any(walk.passed < len(GRID) for walk in walked):
        return reached, walked
    allowed = [most_escapes(len(walk.bad), aim.max_escape_rate, level) for walk in walked]
    for settings in path.steps():
        came = [figures(cases, lambda case, at=settings: decided(case, at, gates)) for _, cases in parts]  # type: ignore[misc]
        if any(each.escaped > most for each, most in zip(came, allowed, strict=True)):
            break
        reached = settings
    return reached, walks(reached)


def _worth(walks: Sequence[Walk], by: By) -> tuple[int, int]:
    """How good walks came out: first how many groups have a threshold, then how few good cases are refused."""
    certified = [walk for walk in walks if walk.passed]
    if by == "domain" and len(certified) < len(walks):
        return 0, 0
    return len(certified), -sum(walk.refused for walk in certified)


# groups


def _parts(cases: Sequence[ScoredCase], by: By, aim: Target, share: float) -> tuple[list[Part], list[str]]:
    """The cases in the groups that have enough of them, and what is to be said of the others."""
    whole: list[Part] = [(ALL, list(cases))]
    if by == "none":
        return whole, []
    bad = Counter(_name(case, by) for case in cases if case.is_bad)
    names = [n for n, _ in sorted(bad.items(), key=lambda pair: (-pair[1], pair[0])) if n != REST][:MOST_GROUPS]
    for size in range(len(names), 0, -1):
        chosen, rest = names[:size], sum(bad.values()) - sum(bad[n] for n in names[:size])
        has_rest = any(_name(case, by) not in chosen for case in cases)
        tested = rest >= fewest_cases(aim.max_escape_rate, aim.error * share / (size + 1))
        if by == "domain" and has_rest and not tested:
            continue  # requests of the other domains would have no threshold that anything speaks for
        if bad[chosen[-1]] >= fewest_cases(aim.max_escape_rate, aim.error * share / (size + tested)):
            more = fewest_cases(aim.max_escape_rate, aim.error * share / (size + 1))
            return _divided(cases, by, chosen, tested), _left_over(bad, chosen, tested, by, more)
    return whole, [f"no {by} has enough cases of its own: all cases are taken together"]


def _codes() -> list[str]:
    return [each.code for each in languages()]


def _name(case: ScoredCase, by: By) -> str:
    if by == "language":
        return case.language if is_served(case.language) else REST
    return case.domain if case.domain is not None else REST


def _divided(cases: Sequence[ScoredCase], by: By, chosen: Sequence[str], tested: bool) -> list[Part]:
    parts: dict[str, list[ScoredCase]] = {name: [] for name in (*chosen, *([REST] if tested else []))}
    for case in cases:
        name = _name(case, by)
        part = parts.get(name if name in chosen else REST)
        if part is not None:
            part.append(case)
    return list(parts.items())


def _left_over(bad: Counter[str], chosen: Sequence[str], tested: bool, by: By, needed: int) -> list[str]:
    others = [] if tested else sorted((name, n) for name, n in bad.items() if name not in chosen)
    return [
        f"{by} {shown(name)}: {n:,} cases with an unsupported claim, {needed:,} are needed for a threshold of its own; "
        "verdicts in it do not count as calibrated and the strictest threshold holds"
        for name, n in others
    ]


# what comes out


def _settings(
    path: Settings, own: Settings, groups: Sequence[CaseGroup], by: By, cases: Iterable[ScoredCase]
) -> Settings | None:
    """The thresholds to write; what no group speaks for gets the strictest, and a score that no case has stays as it is."""
    score_of = {group.name: group.min_score for group in groups if group.min_score is not None}
    if not score_of or (by == "domain" and len(score_of) < len(groups)):
        return None
    if not any(math.isfinite(case.least) for case in cases):
        return own.with_gates(path.gates())
    strictest = max(score_of.values())
    if ALL in score_of:
        return replace(path, min_score=score_of[ALL], by_language={}, by_domain={})
    scores = {name: score for name, score in score_of.items() if name != REST}
    if by == "language":
        # A question whose language cannot be told is judged by the general score, and recorded as one of the languages.
        return replace(path, min_score=strictest, by_language=scores, by_domain={})
    return replace(path, min_score=score_of.get(REST, strictest), by_language={}, by_domain=scores)


def _moved_thresholds(own: Settings, settings: Settings) -> list[str]:
    """Which thresholds before grounding are not what they were."""
    pairs = [(name, own.gates()[gate], settings.gates()[gate]) for gate, name in NAMES.items()]
    return [
        f"{name}: {'raised' if new > old else 'lowered'} from {old:g} to {new:g}"
        for name, old, new in pairs
        if new != old
    ]


def _languages(cases: Iterable[ScoredCase], groups: Sequence[CaseGroup], by: By) -> tuple[str, ...]:
    """The languages in which verdicts count as calibrated."""
    certified = {group.name for group in groups if group.min_score is not None}
    if by == "language" and ALL not in certified:
        return tuple(name for name in _codes() if name in certified)
    bad = Counter(case.language for case in cases if case.is_bad)
    return tuple(name for name in _codes() if bad[name] >= LEAST_COVERED)


def _cheaper(groups: Sequence[CaseGroup], aim: Target, paths: int) -> list[str]:
    """That fewer cases would do if fewer settings shared the error."""
    if paths == 1 or all(group.more is None for group in groups):
        return []
    fewest = fewest_cases(aim.max_escape_rate, aim.error / len(groups))
    shared = f"{paths} settings of similarity and generation confidence share the error"
    return [f"{shared}: with those kept as they are (--keep-gates) it takes at least {fewest:,} cases"]


def _uncovered(cases: Iterable[ScoredCase], groups: Sequence[CaseGroup], by: By) -> list[str]:
    """What is to be said of languages that have too few of the cases to count as calibrated."""
    if by == "language" and groups[0].name != ALL:
        return []
    bad = Counter(case.language for case in cases if case.is_bad)
    return [
        f"language {shown(name)}: {count:,} of the cases with an unsupported claim, {LEAST_COVERED} are needed for its verdicts to "
        "count as calibrated"
        for name, count in sorted(bad.items())
        if count < LEAST_COVERED
    ]


def _advice(before: ErrorCounts, after: ErrorCounts | None, aim: Target) -> list[str]:
    """The rule of ADR-004 on the present thresholds, and whether the new ones keep to its other half."""
    advice = []
    if before.bad and before.escaped / before.bad > aim.max_escape_rate:
        advice.append(f"raise: {share_of(before.escaped, before.bad)} escape now, more than {aim.max_escape_rate:.2%}")
    if before.good and before.refused / before.good > aim.max_false_refusal_rate:
        most = f"{aim.max_false_refusal_rate:.2%}"
        advice.append(f"lower: {share_of(before.refused, before.good)} are falsely refused now, more than {most}")
    if after is not None and after.good and after.refused / after.good > aim.max_false_refusal_rate:
        advice.append(
            f"the new thresholds falsely refuse {share_of(after.refused, after.good)}, more than {aim.max_false_refusal_rate:.2%}: "
            "thresholds alone do not reach both targets"
        )
    return advice


def share_of(count: int, total: int) -> str:
    """A count in words: of how many, the share and its exact 95 % interval."""
    if not total:
        return "none of none"
    low, high = clopper_pearson(count, total)
    return f"{count:,} of {total:,} ({count / total:.2%}, 95 % interval {low:.2%} to {high:.2%})"
