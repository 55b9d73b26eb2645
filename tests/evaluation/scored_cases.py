"""Cases as thresholds see them, made by hand for the tests of a calibration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stillme.evaluation.calibration.fixed_sequence import Target
from stillme.evaluation.calibration.policy_text import Provenance
from stillme.evaluation.calibration.thresholds import Gates, ScoredCase
from stillme.policy import Policy
from stillme.reasons import Decision

__all__ = ["HARD", "LITE", "SOURCE", "WIDE", "bad", "both_languages", "case", "good"]

HARD = Gates(similarity=True, score=True, confidence=True, forgives=False)
LITE = Policy.load("lite")
SOURCE = Provenance("2026-02-01T09:00:00Z", "model-1", "cases.jsonl", "ab" * 32)
WIDE = Target(max_escape_rate=0.2, confidence=0.9)


def case(number: int = 0, **changes: Any) -> ScoredCase:
    """A case that everything else answers, in English, whose weakest claim has a score of 0.9."""
    known: dict[str, Any] = {
        "id": f"case-{number}",
        "language": "en",
        "domain": None,
        "is_bad": False,
        "is_good": False,
        "unsupported": 0,
        "rest": Decision.ANSWER,
        "codes": (),
        "need": "factual",
        "similarity": 0.8,
        "confidence": None,
        "least": 0.9,
        "score": 0.9,
        "all_supported": True,
    }
    return ScoredCase(**{**known, **changes})


def bad(least: float, count: int = 1, **changes: Any) -> list[ScoredCase]:
    """So many cases with an unsupported claim; below 0 the guard refuses them whatever the threshold."""
    rest = Decision.ANSWER if least >= 0 else Decision.REFUSE
    return [case(**{"is_bad": True, "unsupported": 1, "least": least, "rest": rest, **changes}) for _ in range(count)]


def good(least: float, count: int = 1, **changes: Any) -> list[ScoredCase]:
    """So many cases that should be answered."""
    return [case(**{"is_good": True, "least": least, **changes}) for _ in range(count)]


def both_languages(vi: int = 40) -> list[ScoredCase]:
    """Vietnamese escapes at higher scores than English."""
    english = bad(-1.0, 38) + bad(0.5, 2) + good(0.9, 10)
    return english + [replace(c, language="vi") for c in bad(-1.0, vi - 10) + bad(0.8, 10) + good(0.9, 10)]
