"""The answer has the sections it must have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field, StringConstraints

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence
from stillme.text.tokens import fold_text

__all__ = ["SchemaFormat"]

DEFAULT = "default"
Section = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Sections = tuple[Section, ...]
Place = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


@dataclass(frozen=True, slots=True)
class SchemaFormat(Observer):
    """Every required section has its heading: `## Name`, `**Name**` or `Name:` at the start of a line.

    `required_sections` is a list for every request, or lists by the endpoint or the domain that the metadata names, endpoint first;
    any other request has those of `default`, which are none unless given.
    """

    name: ClassVar[str] = "SchemaFormat"
    gates: ClassVar = {Reason.MISSING_REQUIRED_SECTION: Gate.HARD}
    whole_answer: ClassVar = True

    required_sections: Sections | Annotated[dict[Place, Sections], Field(min_length=1)] = ()

    @property
    def idle(self) -> bool:
        """Whether no request has to have sections."""
        return not self.required_sections

    def run(self, evidence: Evidence) -> Finding:
        """Flag required sections that have no heading."""
        metadata = evidence.request.metadata
        required = self.sections_for((metadata.model_extra or {}).get("endpoint"), metadata.domain)
        if not required:
            return self.skipped("no sections are required")
        headings = {_heading(line) for line in evidence.draft.raw.splitlines()}
        missing = [section for section in required if fold_text(section.strip()) not in headings]
        if missing:
            return self.flagged(Reason.MISSING_REQUIRED_SECTION, f"missing: {', '.join(missing)}")
        return self.passed()

    def sections_for(self, endpoint: object, domain: str | None) -> tuple[str, ...]:
        """The sections that a request of that endpoint and domain has to have."""
        if not isinstance(self.required_sections, Mapping):
            return tuple(self.required_sections)
        named = (name for name in (endpoint, domain) if isinstance(name, str) and name in self.required_sections)
        return self.required_sections.get(next(named, DEFAULT), ())


def _heading(line: str) -> str:
    """The title of a heading line, folded; '' if the line is none."""
    text = line.strip()
    marked = text.startswith(("#", "**", "__"))
    bare = text.strip("#*_ \t").lstrip("0123456789.) ")
    if marked:
        return fold_text(bare.rstrip(":").strip())
    title, colon, _ = bare.partition(":")
    return fold_text(title.strip()) if colon else ""
