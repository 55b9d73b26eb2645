"""The figures of claims in two worlds.

`both_worlds` is the one that counts: of the claims that one world supports and the other does not, how many are judged right in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from stillme.evaluation.runs.metrics import Rate, rate_of
from stillme.evaluation.worlds.documents import LABELS, Document, WorldClaim
from stillme.evaluation.worlds.judging import Answer, Judged

__all__ = ["GROUPS", "Figures", "Tally", "figures_of"]

GROUPS: Final = ("all", "en", "vi", "across")
SUPPORTED: Final = LABELS[0]


@dataclass(slots=True)
class Tally:
    """What is counted of a group of claims."""

    flipped: int = 0
    right_in_both: int = 0
    in_order: int = 0
    supported: int = 0
    supported_right: int = 0
    other: int = 0
    other_right: int = 0
    sure: int = 0
    sure_right: int = 0

    def add(self, claim: WorldClaim, answers: tuple[Answer, ...]) -> None:
        """Count one claim in all its worlds."""
        for label, answer in zip(claim.labels, answers, strict=True):
            self._add_answer(label == SUPPORTED, answer)
        if claim.is_flipped:
            truths = [label == SUPPORTED for label in claim.labels]
            self.flipped += 1
            self.right_in_both += all(a.supported == truth for a, truth in zip(answers, truths, strict=True))
            true, false = answers[truths.index(True)], answers[truths.index(False)]
            self.in_order += true.score > false.score

    def _add_answer(self, truth: bool, answer: Answer) -> None:
        if truth:
            self.supported += 1
            self.supported_right += answer.supported
        else:
            self.other += 1
            self.other_right += not answer.supported
        if answer.is_sure:
            self.sure += 1
            self.sure_right += truth

    def rates(self) -> Iterator[Rate]:
        """Each figure with what was counted and its exact interval."""
        yield rate_of("both_worlds", self.right_in_both, self.flipped)
        yield rate_of("order", self.in_order, self.flipped)
        yield rate_of("supported_seen", self.supported_right, self.supported)
        yield rate_of("others_seen", self.other_right, self.other)
        yield rate_of("sure_right", self.sure_right, self.sure)
        yield rate_of("sure_share", self.sure, self.supported + self.other)

    @property
    def balanced_accuracy(self) -> float | None:
        """The mean of the shares of supported and of other claims that are judged right."""
        if not self.supported or not self.other:
            return None
        return (self.supported_right / self.supported + self.other_right / self.other) / 2

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"balanced_accuracy": self.balanced_accuracy, **{rate.name: rate.to_dict() for rate in self.rates()}}


@dataclass(slots=True)
class Figures:
    """Tallies of all claims, of each language, of claims in another language than their sources, and of each kind of claim."""

    groups: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in GROUPS})
    kinds: dict[str, Tally] = field(default_factory=dict)

    def add(self, document: Document, claim: WorldClaim, answers: tuple[Answer, ...]) -> None:
        """Count one claim."""
        group = claim.language if claim.language == document.language else GROUPS[-1]
        for name in ("all", group):
            self.groups.setdefault(name, Tally()).add(claim, answers)
        self.kinds.setdefault(claim.kind, Tally()).add(claim, answers)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "groups": {name: tally.to_dict() for name, tally in self.groups.items()},
            "kinds": {name: self.kinds[name].to_dict() for name in sorted(self.kinds)},
        }


def figures_of(judged: Iterable[Judged]) -> Figures:
    """The figures over documents that have two worlds; others say nothing of whether somebody reads."""
    figures = Figures()
    for each in judged:
        if len(each.document.worlds) > 1:
            for claim, answers in zip(each.document.claims, each.answers, strict=True):
                figures.add(each.document, claim, answers)
    return figures
