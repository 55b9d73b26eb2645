"""The answer has the sections it must have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence
from stillme.evidence.text import fold_text

__all__ = ["SchemaFormat"]


@dataclass(frozen=True, slots=True)
class SchemaFormat(Observer):
    """Every required section has its heading: `## Name`, `**Name**` or `Name:` at the start of a line."""

    name: ClassVar[str] = "SchemaFormat"
    gates: ClassVar = {Reason.MISSING_REQUIRED_SECTION: Gate.HARD}

    required_sections: tuple[str, ...] = ()

    def run(self, evidence: Evidence) -> Finding:
        """Flag required sections that have no heading."""
        if not self.required_sections:
            return self.skipped("no sections are required")
        headings = {_heading(line) for line in evidence.draft.raw.splitlines()}
        missing = [section for section in self.required_sections if fold_text(section.strip()) not in headings]
        if missing:
            return self.flagged(Reason.MISSING_REQUIRED_SECTION, f"missing: {', '.join(missing)}")
        return self.passed()


def _heading(line: str) -> str:
    """The title of a heading line, folded; '' if the line is none."""
    text = line.strip()
    marked = text.startswith(("#", "**", "__"))
    bare = text.strip("#*_ \t").lstrip("0123456789.) ")
    if marked:
        return fold_text(bare.rstrip(":").strip())
    title, colon, _ = bare.partition(":")
    return fold_text(title.strip()) if colon else ""
