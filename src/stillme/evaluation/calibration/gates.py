"""Which settings of the gates before grounding a calibration tries: chosen by the cases that should be answered, and by no others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from stillme.evaluation.calibration.thresholds import GATES, Gates, ScoredCase, Settings, decided, told_by
from stillme.reasons import Decision

__all__ = ["Path", "paths_of"]

MILDER: Final = (0.75, 0.5, 0.0)
"""What the thresholds of the gates before grounding are multiplied with, besides 1."""
STEP: Final = 0.005
SIMILARITY: Final = ("factual", "source_required")
CONFIDENCE: Final = ("generation_confidence",)


@dataclass(frozen=True, slots=True)
class Path:
    """A setting of the gates that scores are walked with; with `lowest`, one that may then come down so far."""

    highest: Settings
    lowest: Settings | None = None

    @property
    def opened(self) -> Settings:
        """The gates at the beginning, with any score."""
        return replace(self.highest, min_score=0.0, by_language={}, by_domain={})

    def steps(self) -> Iterator[Settings]:
        """The gates on their way down, all of them a step at a time, none below where it may go."""
        if self.lowest is None:
            return
        high, low = self.highest.gates(), self.lowest.gates()
        most = max(high[gate] - low[gate] for gate in GATES)
        for number in range(1, math.ceil(most / STEP - 1e-9) + 1):
            down = {gate: max(low[gate], round(high[gate] - number * STEP, 3)) for gate in GATES}
            yield self.opened.with_gates(down)


def paths_of(cases: Iterable[ScoredCase], own: Settings, gates: Gates, most_refused: float) -> list[Path]:
    """The policy's own gates, raised ones, and each milder setting that lets more of the good cases through."""
    # Cases that are both take part in the tests, so they must not choose what is tested.
    good = [case for case in cases if case.is_good and not case.is_bad]
    return [Path(own), *_raised(good, own, gates, most_refused), *_milder(good, own, gates)]


def _raised(good: Sequence[ScoredCase], own: Settings, gates: Gates, most_refused: float) -> Iterator[Path]:
    """The similarity gates, then that of the confidence, as high as the share of good cases allows that may be refused."""
    for together, decides in ((SIMILARITY, gates.similarity), (CONFIDENCE, gates.confidence)):
        higher = {gate: _highest(good, gate, getattr(own, gate), most_refused) for gate in together}
        raised = {gate: value for gate, value in higher.items() if value is not None}
        if decides and raised:
            yield Path(own.with_gates(raised), own)


def _highest(good: Sequence[ScoredCase], gate: str, own: float, most_refused: float) -> float | None:
    """The highest threshold that leaves enough of the good cases above it; None where that is not above the policy's own."""
    values = sorted(value for case in good if (value := told_by(case, gate)) is not None and value >= own)
    if not values:
        return None
    highest = math.floor(values[int(len(values) * most_refused)] / STEP + 1e-9) * STEP
    return round(highest, 3) if highest > own + 1e-9 else None


def _milder(good: Sequence[ScoredCase], own: Settings, gates: Gates) -> Iterator[Path]:
    """Parts of the gates that refuse good cases, as long as each lets more of them through than the one before."""
    refusing = {
        gate
        for gate in GATES
        for case in good
        if (value := told_by(case, gate)) is not None and value < getattr(own, gate)
    }
    answered = _answered(good, Path(own), gates)
    for factor in MILDER:
        path = Path(own.with_gates({gate: round(getattr(own, gate) * factor, 3) for gate in refusing}))
        through = _answered(good, path, gates)
        if through > answered:
            answered = through
            yield path


def _answered(good: Iterable[ScoredCase], path: Path, gates: Gates) -> int:
    return sum(decided(case, path.opened, gates) is Decision.ANSWER for case in good)
