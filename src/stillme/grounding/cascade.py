"""Exact features first, the model for what they leave open.

What is said word for word, what a figure refutes and what a source says but for one thing is settled by exact features. The rest is
read by the model: first against what the claim cites, then, as long as nothing supports it, against the few sentences of all passages that
share most with it, and against every other window, so that nothing goes unread. The probability of support joins what alignment says
and what the model says, each the best over all passages: more context never takes support away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from stillme.grounding.claim_parts import ClaimPart, claim_parts
from stillme.grounding.claims import Claim
from stillme.grounding.grounder import ExactGrounder, GroundingTask, Judgement, Quote, Status
from stillme.grounding.passage_windows import Shelf, Window
from stillme.grounding.statements import Statement
from stillme.languages import has
from stillme.models import Group, Scored, grounding_model, model_id, thresholds
from stillme.stopping import watched

__all__ = [
    "LEAST_EXACT",
    "CascadeGrounder",
    "Joining",
    "Read",
    "is_lacking",
    "is_objected",
    "is_refuted",
    "is_settled",
    "joining",
]

DECIMALS: Final = 4
# Claims that are read with one window at a time: attention grows with the square of what is read together.
CLAIM_TOKENS_TOGETHER: Final = 400
EVEN: Final = 0.5
# Log odds of the model that no joining would leave in doubt: then nothing more is read to fit one.
SURE: Final = 3.0
# How sure exact features may be at most when they are joined with the model.
LEAST_EXACT: Final = 0.02
MOST_TOKENS: Final = 20_000
# The share of a claim's stems that a window must hold to be called contradicting: what speaks of other things only lacks it.
SPEAKS_OF_IT: Final = 0.5
UNREAD: Final = "; the model did not read everything: over grounding.most_tokens"
FIGURES: Final = frozenset({"figure"})
# What nearness and word order say of natural text is wrong as often as right, and so is another name in the place of one that
# the passage has elsewhere: the model reads those claims.
DOUBTFUL: Final = frozenset({"roles", "binding", "name elsewhere"})


@dataclass(frozen=True, slots=True)
class Joining:
    """How the two scores become one probability; fitted with the model and stored beside it."""

    exact: float
    margin: float
    objected: float
    """What an objection of the rules adds: it is right more often than not, and no more than that."""
    lacking: float
    """What a figure or a name adds that stands in no source."""
    across: float
    """What it adds that exact features find support in another language, where they find little else."""
    bias: float
    bias_vi: float
    """The same for a Vietnamese draft: the model has seen less of the language, and doubts more."""
    support_at: float = 0.5
    token_at: float = 0.0

    def probability(
        self,
        exact: float,
        margin: float,
        language: str,
        *,
        objected: bool = False,
        lacking: bool = False,
        across: bool = False,
    ) -> float:
        """That the claim is supported, to four decimals so that it is the same on every machine."""
        bounded = min(max(exact, LEAST_EXACT), 1 - LEAST_EXACT)
        bias = self.bias_vi if has(language, "accents") else self.bias
        bias += self.objected * objected + self.lacking * lacking + self.across * across
        z = self.exact * math.log(bounded / (1 - bounded)) + self.margin * margin + bias
        return round(1 / (1 + math.exp(-max(-30.0, min(30.0, z)))), DECIMALS)


@cache
def joining() -> Joining:
    """The figures that belong to the shipped model."""
    return Joining(**thresholds())


@dataclass(frozen=True, slots=True)
class Read:
    """What exact features and the model see of a claim: a judgement, the log odds of support, and how much each token lacks it."""

    exact: Judgement
    margin: float
    is_across: bool
    tokens: tuple[tuple[tuple[int, int], float], ...]


@dataclass(slots=True)
class _Case:
    """One claim that the model reads, and what it has read of it so far."""

    claim: Claim
    statement: Statement
    exact: Judgement
    shelf: Shelf
    parts: list[ClaimPart]
    is_settled: bool = False
    """Exact features have decided, and only what the claim cites is in question."""
    unread: int = 0
    """How many windows were left out because the budget was spent."""
    readings: dict[Window, list[Scored]] = field(default_factory=dict)

    def margin(self, window: Window) -> float:
        """The log odds of support by this window; the weakest part of the claim counts."""
        return min(scored.margin for scored in self.readings[window])

    @property
    def best(self) -> Window:
        """The window that supports the claim most; of equals, the one read first."""
        return max(self.readings, key=self.margin)

    @property
    def probability(self) -> float:
        """That the claim is supported."""
        return joining().probability(
            self.exact.score, self.margin(self.best), self.language,
            objected=is_objected(self.exact), lacking=is_lacking(self.exact), across=self.is_across,
        )  # fmt: skip

    @property
    def is_across(self) -> bool:
        """Whether exact features find support in another language."""
        languages = {self.shelf.language(piece.passage) for piece in self.best.pieces}
        return self.exact.supported and languages != {self.language}

    @property
    def language(self) -> str:
        """The language of the draft."""
        return self.statement.reading.language

    @property
    def is_supported(self) -> bool:
        """Whether a window that was read supports it."""
        return bool(self.readings) and self.probability >= joining().support_at


class CascadeGrounder:
    """The default grounder.

    `most_tokens` is what the model reads at most for one draft: beyond it exact features decide alone, and the claim says so.
    `exact_first=False` asks the model about every claim, to see what it is worth alone.
    """

    def __init__(self, *, most_tokens: int = MOST_TOKENS, exact_first: bool = True) -> None:
        self._exact = ExactGrounder()
        self._most_tokens = most_tokens
        self._exact_first = exact_first

    @property
    def id(self) -> str:
        """Both that decide, by name and version."""
        return f"{self._exact.id}+{model_id()}"

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        """For each task, one judgement a claim, in order; the claims of all tasks are read together."""
        judged = self._exact.judge(tasks)
        cases: dict[tuple[int, int], _Case] = {}
        for n, (task, found) in enumerate(zip(tasks, judged, strict=True)):
            shelf = Shelf(task.library, self._most_tokens)
            for k, (claim, exact) in enumerate(zip(task.claims, found, strict=True)):
                if self._is_open(task, claim, exact):
                    statement = task.draft.statements[claim.index]
                    settled = self._exact_first and is_settled(exact)
                    cases[n, k] = _Case(claim, statement, exact, shelf, claim_parts(task, claim), settled)
        _read(cases.values(), lambda case: case.is_supported or case.is_settled)
        for (n, k), case in cases.items():
            judged[n][k] = _judgement(case)
        return judged

    def readings(self, task: GroundingTask) -> list[Read]:
        """What both see of each claim that the model can read, before it is joined: what the joining is fitted on."""
        shelf, judged = Shelf(task.library, self._most_tokens), self._exact.judge([task])[0]
        cases = [
            _Case(claim, task.draft.statements[claim.index], exact, shelf, claim_parts(task, claim))
            for claim, exact in zip(task.claims, judged, strict=True)
            if task.library.places
        ]
        _read(cases, lambda case: bool(case.readings) and case.margin(case.best) >= SURE)
        return [
            Read(case.exact, case.margin(case.best), case.is_across, tuple(_tokens(case, case.best)))
            for case in cases
            if case.readings
        ]

    def _is_open(self, task: GroundingTask, claim: Claim, exact: Judgement) -> bool:
        """Whether the model is to be asked; a bare yes and a lone figure say nothing without their question, which it does not see."""
        if not task.library.places or claim.assent or _is_elliptic(task, claim):
            return False
        if not self._exact_first:
            return True
        if is_refuted(exact):
            return False
        return not is_settled(exact) or _cites_another(claim, exact)


def is_refuted(exact: Judgement) -> bool:
    """Whether a source says all of the claim with another figure, which models see badly, or its words in its order but for one thing."""
    if exact.status != "contradicted" or exact.objection in DOUBTFUL:
        return False
    return exact.in_order or (exact.objection in FIGURES and exact.only_objection)


def is_objected(exact: Judgement) -> bool:
    """Whether the rules have something against the claim, other than what they often get wrong."""
    return exact.status == "contradicted" and exact.objection not in DOUBTFUL


def is_lacking(exact: Judgement) -> bool:
    """Whether a figure or a name of the claim stands in no source."""
    return not exact.supported and exact.objection in ("figure missing", "name missing")


def _is_elliptic(task: GroundingTask, claim: Claim) -> bool:
    statement = task.draft.statements[claim.index]
    return sum(not task.draft.text.words[i].number for i in statement.content) <= 1


def is_settled(exact: Judgement) -> bool:
    """Whether exact features alone decide that the claim is supported: its very words, or all of them in another language."""
    return exact.supported and (exact.in_order or exact.is_translation) and not exact.objection


def _cites_another(claim: Claim, exact: Judgement) -> bool:
    """Whether the claim is supported, but not by what it cites, as far as exact features see."""
    return bool(claim.cited) and set(claim.cited).isdisjoint(exact.passages)


# reading


def _read(cases: Iterable[_Case], is_done: Callable[[_Case], bool]) -> None:
    """First what each claim cites; where nothing supports it yet, what of all passages shares most with it; then the rest."""
    left = list(cases)
    for choose in (_cited, _gathered, _all):
        _score([(case, window) for case in watched(left) for window in choose(case)])
        left = [case for case in left if not is_done(case)]


def _cited(case: _Case) -> list[Window]:
    """Of each passage that the claim cites the window that shares most with it."""
    windows = case.shelf.windows
    return [_by_share(case, windows[i])[0] for i in case.claim.cited if windows[i]]


def _gathered(case: _Case) -> list[Window]:
    """Everything, where one window holds it; else the pieces of all passages that share most with the claim."""
    found = case.shelf.whole or case.shelf.gathered(case.statement)
    return [found] if found else []


def _all(case: _Case) -> list[Window]:
    """Every window of every passage that was not read yet, those that share most with the claim first."""
    windows = [window for of_passage in case.shelf.windows for window in of_passage]
    return _by_share(case, [window for window in windows if not any(read.holds(window) for read in case.readings)])


def _by_share(case: _Case, windows: Sequence[Window]) -> list[Window]:
    return sorted(windows, key=lambda window: -case.shelf.shared(window, case.statement))


def _score(asked: Sequence[tuple[_Case, Window]]) -> None:
    """Read each window once for all claims of its draft that are to be read against it."""
    groups: list[Group] = []
    owners: list[list[tuple[_Case, Window]]] = []
    together: dict[tuple[int, Window], list[tuple[_Case, Window]]] = {}
    for case, window in asked:
        if window in case.readings:
            continue
        if not case.shelf.affords(window, sum(len(part.ids) for part in case.parts)):
            case.unread += 1
        else:
            case.readings[window] = []
            together.setdefault((id(case.shelf), window), []).append((case, window))
    for (_, read), cases in together.items():
        for some in _together([(case, window, part) for case, window in cases for part in case.parts]):
            groups.append(Group(read.ids, tuple(part.ids for _, _, part in some), read.sentences))
            owners.append([(case, window) for case, window, _ in some])
    for scored, owned in zip(grounding_model().score(groups), owners, strict=True):
        for one, (case, window) in zip(scored, owned, strict=True):
            case.readings[window].append(one)


def _together(
    parts: Sequence[tuple[_Case, Window, ClaimPart]],
) -> Iterable[list[tuple[_Case, Window, ClaimPart]]]:
    some: list[tuple[_Case, Window, ClaimPart]] = []
    for part in parts:
        if some and sum(len(p.ids) + 2 for _, _, p in [*some, part]) > CLAIM_TOKENS_TOGETHER:
            yield some
            some = []
        some.append(part)
    if some:
        yield some


# judging


def _judgement(case: _Case) -> Judgement:
    if not case.readings:
        if not case.unread:
            return case.exact
        return replace(case.exact, detail=f"{case.exact.detail}{UNREAD}".lstrip("; "))
    judged = _read_judgement(case)
    return judged if judged.supported or not case.unread else replace(judged, detail=f"{judged.detail}{UNREAD}")


def _read_judgement(case: _Case) -> Judgement:
    carrying = _carrying(case)
    if case.is_settled:
        return replace(case.exact, passages=tuple(dict.fromkeys((*case.exact.passages, *carrying))))
    score = case.probability
    if case.is_supported:
        quote = case.exact.quote if case.exact.supported and case.exact.quote else _quote(case, case.best)
        own = case.exact.passages if case.exact.supported else ()
        passages = tuple(dict.fromkeys((*([quote.passage] if quote else []), *own, *carrying)))
        return Judgement("supported", score, passages, quote, decided_by="model")
    if case.exact.status == "contradicted":  # a rule can tell what the model agrees with
        return replace(case.exact, score=score)
    against = _against(case)
    status: Status = "contradicted" if against else "unsupported"
    quote = _quote(case, against) if against else None
    detail = "the passages say otherwise" if against else "no passage supports it"
    lacking = _lacking(case, against or case.best)
    passages = (quote.passage,) if quote else ()
    return Judgement(status, score, passages, quote, lacking, "model", f"model: {detail} ({score:.2f})")


def _carrying(case: _Case) -> list[int]:
    """The passages of which a window that speaks of the matter supports the claim, alone."""
    figures = joining()
    return [
        number
        for number, windows in enumerate(case.shelf.windows)
        if any(
            figures.probability(EVEN, case.margin(window), case.language) >= figures.support_at
            for window in windows
            if window in case.readings and _speaks_of_it(case, window)
        )
    ]


def _speaks_of_it(case: _Case, window: Window) -> bool:
    """Whether a window has enough words of the claim, or is in another language."""
    if {case.shelf.language(piece.passage) for piece in window.pieces} != {case.language}:
        return True
    return case.shelf.shared(window, case.statement) >= SPEAKS_OF_IT * len(case.statement.stems)


def _against(case: _Case) -> Window | None:
    """The window that speaks against the claim most, if it speaks of the matter and the model takes that for likeliest."""
    strongest = max(case.readings, key=lambda w: max(s.against for s in case.readings[w]))
    return (
        strongest if _speaks_of_it(case, strongest) and max(s.against for s in case.readings[strongest]) > 0 else None
    )


def _quote(case: _Case, window: Window) -> Quote | None:
    """The piece of the window that shares most words with the claim."""
    pieces = [piece for piece in window.pieces if piece.end > piece.start]
    if not pieces:
        return None
    best = max(pieces, key=lambda piece: len(case.shelf.stems(piece) & case.statement.stems))
    return Quote(best.passage, best.start, best.end)


def _lacking(case: _Case, window: Window) -> tuple[tuple[int, int], ...]:
    """The characters whose tokens lack support, joined where they touch; the whole claim where none stands out."""
    marked = [span for span, lacks in _tokens(case, window) if lacks > joining().token_at]
    ranges: list[tuple[int, int]] = []
    for start, end in sorted(marked):
        if ranges and start <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            ranges.append((start, end))
    return tuple(ranges) or (case.claim.span,)


def _tokens(case: _Case, window: Window) -> Iterator[tuple[tuple[int, int], float]]:
    """The characters of each token of the claim, and how much it lacks support."""
    for part, scored in zip(case.parts, case.readings[window], strict=True):
        for span, lacks in zip(part.offsets, scored.tokens, strict=True):
            if span[1] > span[0]:
                yield span, lacks
