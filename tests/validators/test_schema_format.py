"""SchemaFormat: the sections an answer must have."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.validators.schema_format import SchemaFormat
from tests.validators.support import PASSED, SKIPPED, flagged, observe

MISSING = flagged("missing_required_section")


@pytest.mark.parametrize(
    ("draft", "sections", "expected"),
    [
        pytest.param("## Summary\nText.\n\n## Sources\n[1] A", ("Summary", "Sources"), PASSED, id="Markdown headings"),
        pytest.param("**Summary**\nText.\n**Sources:**\nA", ("Summary", "Sources"), PASSED, id="bold lines"),
        pytest.param("Summary: text.\nSources: A", ("Summary", "Sources"), PASSED, id="lines with a colon"),
        pytest.param("### 1. summary\nText", ("Summary",), PASSED, id="numbering and case do not matter"),
        pytest.param("## Tóm tắt\nVăn bản.\n## Nguồn\nA", ("Tóm tắt", "Nguồn"), PASSED, id="Vietnamese headings"),
        pytest.param("## Summary\nText.", ("Summary", "Sources"), MISSING, id="one is missing"),
        pytest.param(
            "The summary of sources is short.",
            ("Summary", "Sources"),
            MISSING,
            id="words in a sentence are no headings",
        ),
        pytest.param("", ("Summary",), MISSING, id="nothing has no sections"),
        pytest.param("Anything.", (), SKIPPED, id="nothing is required"),
    ],
)
def test_sections(draft: str, sections: tuple[str, ...], expected: list[tuple[str, str | None]]) -> None:
    """A section is a heading of its own."""
    assert observe(SchemaFormat(required_sections=sections), Evidence.of("q", draft)) == expected
