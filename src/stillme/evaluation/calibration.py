"""Thresholds from labelled cases: as few false refusals as possible while few unsupported answers pass, shown by the cases.

**What is guaranteed.** With probability of at least `confidence` over the cases that were drawn, of the drafts that hold an
unsupported claim at most a share of `max_escape_rate` passes as an answer, in each group that has a threshold of its own. The unit
is the case: claims of one draft pass or fail together and are not independent, so the rate per claim (spec 1's
`hallucination_escape_rate`) stands beside it as a figure without a guarantee. Where drafts hold about one unsupported claim each, both
are the same. It holds for requests that are drawn like the cases (exchangeable), with the same model; `drift` watches that.

**How** (learn then test). `walk` tests how low the score of a group may go. The gates before it (similarity, generation confidence)
are a few fixed settings, the policy's own and milder ones; each has its share of the error, half of it for the policy's own. A milder
setting is only tried if it lets more answers through among the cases that should be answered. That choice looks at no case with an
unsupported claim, so it does not bias the tests, which look at no other. Groups share the error equally; a group is made by how many
cases it has, not by how they came out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from stillme.errors import PolicyError, shown
from stillme.evaluation.drift import Summary
from stillme.evaluation.intervals import clopper_pearson
from stillme.evaluation.thresholds import FACTUAL, Gates, Scored, Settings, decided, observed
from stillme.evaluation.walk import Figures, Group, Target, Walk, fewest_cases, figures, group_of, walk_of
from stillme.policy import Policy
from stillme.reasons import Decision

__all__ = ["ALL", "REST", "By", "Outcome", "calibrate", "share_of"]

By = Literal["language", "domain", "none"]
Part = tuple[str, list[Scored]]
ALL: Final = "all cases"
REST: Final = "all other cases"
LANGUAGES: Final = ("en", "vi")
MILDER: Final = (0.75, 0.5, 0.0)
"""What the thresholds of the gates before grounding are multiplied with, besides 1."""
LEAST_COVERED: Final = 30
"""So many cases with an unsupported claim a language needs among pooled ones before verdicts in it count as calibrated."""
MOST_GROUPS: Final = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a calibration came to; `settings` is None where nothing can be guaranteed."""

    target: Target
    by: By
    settings: Settings | None
    before: Figures
    after: Figures | None
    groups: tuple[Group, ...]
    gates_before: Settings
    """The thresholds of the gates before grounding that the groups were walked with."""
    tried: int
    """How many settings of those gates shared the error."""
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
    cases: Sequence[Scored], policy: Policy, target: Target | None = None, by: By = "none", *, keep_gates: bool = False
) -> Outcome:
    """The thresholds with the fewest false refusals that keep to the target, or what is missing to show any.

    `keep_gates` leaves the thresholds before grounding as they are, which leaves all of the error to `min_score`.
    """
    aim, gates, own = target or Target(), Gates.of(policy), Settings.of(policy)
    if not gates.score:
        raise PolicyError(f"validators.{FACTUAL} must be enabled and hard: without it no score decides anything")
    paths = [own] if keep_gates else _paths(cases, own, gates)
    parts, notes = _parts(cases, by, aim, _share(0, len(paths)))
    walked = [_walked(path, parts, gates, aim, _share(n, len(paths))) for n, path in enumerate(paths)]
    best = max(range(len(paths)), key=lambda n: (*_worth(walked[n], by), -n))
    groups = tuple(group_of(walk, aim.max_escape_rate) for walk in walked[best])
    settings = _settings(paths[best], groups, by)
    before = figures(cases, lambda case: decided(case, own, gates))
    after = None if settings is None else figures(cases, lambda case: decided(case, settings, gates))
    return Outcome(
        target=aim,
        by=by if parts[0][0] != ALL else "none",
        settings=settings,
        before=before,
        after=after,
        groups=groups,
        gates_before=paths[best],
        tried=len(paths),
        languages=() if settings is None else _languages(cases, groups, by),
        domains=tuple(settings.by_domain) if settings else (),
        cases=len(cases),
        reference=Summary.of(observed(case, settings or own, gates) for case in cases),
        notes=(
            *notes,
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


def _paths(cases: Iterable[Scored], own: Settings, gates: Gates) -> list[Settings]:
    """The policy's own gates before grounding, and each milder setting that lets more of the good cases through."""
    settings = [own, *map(own.milder, MILDER)]
    lenient = [replace(each, min_score=0.0, by_language={}, by_domain={}) for each in settings]
    # Cases that are both take part in the tests, so they must not choose what is tested.
    good = [case for case in cases if case.is_good and not case.is_bad]
    answered = [sum(decided(case, path, gates) is Decision.ANSWER for case in good) for path in lenient]
    kept = [0]
    for number in range(1, len(lenient)):
        if answered[number] > answered[kept[-1]]:
            kept.append(number)
    return [settings[number] for number in kept]


def _walked(path: Settings, parts: Sequence[Part], gates: Gates, aim: Target, share: float) -> list[Walk]:
    open_path = replace(path, min_score=0.0, by_language={}, by_domain={})
    level = aim.error * share / len(parts)
    return [walk_of(name, cases, open_path, gates, aim.max_escape_rate, level) for name, cases in parts]


def _worth(walks: Sequence[Walk], by: By) -> tuple[int, int]:
    """How good walks came out: first how many groups have a threshold, then how few good cases are refused."""
    certified = [walk for walk in walks if walk.passed]
    if by == "domain" and len(certified) < len(walks):
        return 0, 0
    return len(certified), -sum(walk.refused for walk in certified)


# groups


def _parts(cases: Sequence[Scored], by: By, aim: Target, share: float) -> tuple[list[Part], list[str]]:
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


def _name(case: Scored, by: By) -> str:
    if by == "language":
        return case.language if case.language in LANGUAGES else REST
    return case.domain if case.domain is not None else REST


def _divided(cases: Sequence[Scored], by: By, chosen: Sequence[str], tested: bool) -> list[Part]:
    parts: dict[str, list[Scored]] = {name: [] for name in (*chosen, *([REST] if tested else []))}
    for case in cases:
        name = _name(case, by)
        found = parts.get(name if name in chosen else REST)
        if found is not None:
            found.append(case)
    return list(parts.items())


def _left_over(bad: Counter[str], chosen: Sequence[str], tested: bool, by: By, needed: int) -> list[str]:
    others = [] if tested else sorted((name, n) for name, n in bad.items() if name not in chosen)
    return [
        f"{by} {shown(name)}: {n:,} cases with an unsupported claim, {needed:,} are needed for a threshold of its own; "
        "verdicts in it do not count as calibrated and the strictest threshold holds"
        for name, n in others
    ]


# what comes out


def _settings(path: Settings, groups: Sequence[Group], by: By) -> Settings | None:
    """The thresholds to write; what no group speaks for gets the strictest."""
    found = {group.name: group.min_score for group in groups if group.min_score is not None}
    if not found or (by == "domain" and len(found) < len(groups)):
        return None
    strictest = max(found.values())
    if ALL in found:
        return replace(path, min_score=found[ALL], by_language={}, by_domain={})
    own = {name: score for name, score in found.items() if name != REST}
    if by == "language":
        # A question whose language cannot be told is judged by the general score, and recorded as one of the languages.
        return replace(path, min_score=strictest, by_language=own, by_domain={})
    return replace(path, min_score=found.get(REST, strictest), by_language={}, by_domain=own)


def _languages(cases: Iterable[Scored], groups: Sequence[Group], by: By) -> tuple[str, ...]:
    """The languages in which verdicts count as calibrated."""
    certified = {group.name for group in groups if group.min_score is not None}
    if by == "language" and ALL not in certified:
        return tuple(name for name in LANGUAGES if name in certified)
    bad = Counter(case.language for case in cases if case.is_bad)
    return tuple(name for name in LANGUAGES if bad[name] >= LEAST_COVERED)


def _cheaper(groups: Sequence[Group], aim: Target, paths: int) -> list[str]:
    """That fewer cases would do if fewer settings shared the error."""
    if paths == 1 or all(group.more is None for group in groups):
        return []
    fewest = fewest_cases(aim.max_escape_rate, aim.error / len(groups))
    shared = f"{paths} settings of similarity and generation confidence share the error"
    return [f"{shared}: with those kept as they are (--keep-gates) it takes at least {fewest:,} cases"]


def _uncovered(cases: Iterable[Scored], groups: Sequence[Group], by: By) -> list[str]:
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


def _advice(before: Figures, after: Figures | None, aim: Target) -> list[str]:
    """The rule of ADR-004 on the present thresholds, and whether the new ones keep to its other half."""
    said = []
    if before.bad and before.escaped / before.bad > aim.max_escape_rate:
        said.append(f"raise: {share_of(before.escaped, before.bad)} escape now, more than {aim.max_escape_rate:.2%}")
    if before.good and before.refused / before.good > aim.max_false_refusal_rate:
        most = f"{aim.max_false_refusal_rate:.2%}"
        said.append(f"lower: {share_of(before.refused, before.good)} are falsely refused now, more than {most}")
    if after is not None and after.good and after.refused / after.good > aim.max_false_refusal_rate:
        said.append(
            f"the new thresholds falsely refuse {share_of(after.refused, after.good)}, more than {aim.max_false_refusal_rate:.2%}: "
            "thresholds alone do not reach both targets"
        )
    return said


def share_of(count: int, total: int) -> str:
    """A count in words: of how many, the share and its exact 95 % interval."""
    if not total:
        return "none of none"
    low, high = clopper_pearson(count, total)
    return f"{count:,} of {total:,} ({count / total:.2%}, 95 % interval {low:.2%} to {high:.2%})"
