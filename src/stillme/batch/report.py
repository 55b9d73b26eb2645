"""What a batch came to, counted line by line: the same whether it ran in one go or was cut and went on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final

__all__ = ["Report"]

FIRST: Final = 5
"""So many errors are shown whole."""
COUNTED: Final = ("decisions", "reasons", "languages")


@dataclass(slots=True)
class Report:
    """Counts over the lines of a batch."""

    rows: int = 0
    errors: int = 0
    not_verified: int = 0
    claims: int = 0
    claims_supported: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    first_errors: list[str] = field(default_factory=list)

    def add(self, line: bytes) -> None:
        """Count one line."""
        result = json.loads(line)
        self.rows += 1
        if result["error"] is not None:
            self.errors += 1
            if len(self.first_errors) < FIRST:
                self.first_errors.append(f"{result['file']} row {result['row']}: {result['error']}")
            return
        self.not_verified += not result["verified"]
        self.claims += result["claims_total"]
        self.claims_supported += result["claims_supported"]
        self.decisions[result["decision"]] += 1
        self.reasons.update(result["reasons"])
        self.languages[result["language"]] += 1

    def to_dict(self) -> dict[str, Any]:
        """The report for programs."""
        ranked = {name: dict(_ranked(getattr(self, name))) for name in COUNTED}
        return asdict(self) | ranked

    @staticmethod
    def from_dict(values: dict[str, Any]) -> Report:
        """The report that was written as `values`."""
        return Report(**values | {name: Counter(values[name]) for name in COUNTED})

    def lines(self) -> Iterator[str]:
        """The report for people."""
        yield f"{self.rows:,} rows"
        for name, count in [*_ranked(self.decisions), ("without a verdict", self.errors)]:
            yield f"{count:>12,} {name}{_share(count, self.rows)}"
        yield f"{self.not_verified:>12,} of the verdicts are not verified"
        if self.claims:
            yield f"{self.claims_supported:>12,} of {self.claims:,} claims are supported{_share(self.claims_supported, self.claims)}"
        if self.reasons:
            yield "reasons"
            yield from (f"{count:>12,} {name}" for name, count in _ranked(self.reasons))
        if self.first_errors:
            yield f"rows without a verdict, the first {len(self.first_errors)} of {self.errors:,}"
            yield from (f"  {each}" for each in self.first_errors)


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    """Most frequent first, in an order that does not depend on the input."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _share(part: int, whole: int) -> str:
    return f"  {part / whole:.1%}" if whole else ""
