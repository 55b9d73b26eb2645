"""The figures of claims in two worlds.

`both_worlds` is the one that counts: of the claims that one world supports and the other does not, how many are judged right in both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from stillme.evaluation.runs.metrics import CountedRate, rate_of
from stillme.evaluation.worlds.documents import LABELS, WorldClaim, WorldDocument
from stillme.evaluation.worlds.judging import Judged, WorldAnswer

__all__ = ["GROUPS", "WorldFigures", "WorldTally", "figures_of"]

GROUPS: Final = ("all", "en", "vi", "across")
SUPPORTED: Final = LABELS[0]


RATES: Final = {
    "both_worlds": ("right in both", "flipped"),
    "order": ("in order", "flipped"),
    "supported_seen": ("supported, right", "supported"),
    "others_seen": ("other, right", "other"),
    "sure_right": ("sure, right", "sure"),
    "sure_share": ("sure", "answers"),
}
"""What each rate is a share of, as it is counted."""


class WorldTally:
    """What is counted of a group of claims."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, claim: WorldClaim, answers: tuple[WorldAnswer, ...]) -> None:
        """Count one claim in all its worlds."""
        truths = [label == SUPPORTED for label in claim.labels]
        for truth, answer in zip(truths, answers, strict=True):
            kind = "supported" if truth else "other"
            sure = {"sure": answer.is_sure, "sure, right": answer.is_sure and truth}
            self._count({"answers": True, kind: True, f"{kind}, right": answer.supported == truth, **sure})
        if claim.is_flipped:
            right = all(answer.supported == truth for answer, truth in zip(answers, truths, strict=True))
            in_order = answers[truths.index(True)].score > answers[truths.index(False)].score
            self._count({"flipped": True, "right in both": right, "in order": in_order})

    def _count(self, what: Mapping[str, bool]) -> None:
        self._counts.update(name for name, holds in what.items() if holds)

    @property
    def flipped(self) -> int:
        """Claims that one world supports and the other does not."""
        return self._counts["flipped"]

    def rates(self) -> Iterator[CountedRate]:
        """Each figure with what was counted and its exact interval."""
        for name, (part, whole) in RATES.items():
            yield rate_of(name, self._counts[part], self._counts[whole])

    @property
    def balanced_accuracy(self) -> float | None:
        """The mean of the shares of supported and of other claims that are judged right."""
        rates = {rate.name: rate.value for rate in self.rates()}
        supported, other = rates["supported_seen"], rates["others_seen"]
        return None if supported is None or other is None else (supported + other) / 2

    def to_dict(self) -> dict[str, Any]:
        return {"balanced_accuracy": self.balanced_accuracy, **{rate.name: rate.to_dict() for rate in self.rates()}}


@dataclass(slots=True)
class WorldFigures:
    """Tallies of all claims, of each language, of claims in another language than their sources, and of each kind of claim."""

    groups: dict[str, WorldTally] = field(default_factory=lambda: {name: WorldTally() for name in GROUPS})
    kinds: dict[str, WorldTally] = field(default_factory=dict)

    def add(self, document: WorldDocument, claim: WorldClaim, answers: tuple[WorldAnswer, ...]) -> None:
        group = claim.language if claim.language == document.language else GROUPS[-1]
        for name in ("all", group):
            self.groups.setdefault(name, WorldTally()).add(claim, answers)
        self.kinds.setdefault(claim.kind, WorldTally()).add(claim, answers)

    def to_dict(self) -> dict[str, Any]:
        return {
            "groups": {name: tally.to_dict() for name, tally in self.groups.items()},
            "kinds": {name: self.kinds[name].to_dict() for name in sorted(self.kinds)},
        }


def figures_of(judged: Iterable[Judged]) -> WorldFigures:
    """The figures over documents that have two worlds; others say nothing of whether somebody reads."""
    figures = WorldFigures()
    for each in judged:
        if len(each.document.worlds) > 1:
            for claim, answers in zip(each.document.claims, each.answers, strict=True):
                figures.add(each.document, claim, answers)
    return figures
