"""SchemaFormat: the sections an answer must have."""

from __future__ import annotations

import pytest

from stillme import Guard
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


BY_ENDPOINT = {
    "default": ["Summary"],
    "chat.completions": ["Summary", "Sources"],
    "litellm": [],
    "legal": ["Tóm tắt", "Căn cứ pháp lý"],
}


def request(draft: str, **metadata: object) -> dict[str, object]:
    """A request with this metadata."""
    return {"query": "Hello", "draft_answer": draft, "metadata": metadata}


@pytest.mark.parametrize(
    ("metadata", "draft", "missing"),
    [
        pytest.param({"endpoint": "chat.completions"}, "## Summary\nHi.", "missing: Sources", id="an endpoint with sections of its own"),
        pytest.param({"endpoint": "chat.completions"}, "## Summary\nHi.\n## Sources\nNone.", None, id="an endpoint that has all of its own"),
        pytest.param({"endpoint": "litellm"}, "Hi.", None, id="an endpoint that needs none"),
        pytest.param({"endpoint": "nobody-knows"}, "Hi.", "missing: Summary", id="an endpoint that is not listed has the default"),
        pytest.param({}, "Hi.", "missing: Summary", id="no endpoint has the default"),
        pytest.param({"domain": "legal", "language": "vi"}, "## Tóm tắt\nChào.", "missing: Căn cứ pháp lý", id="a domain with sections of its own"),
        pytest.param({"endpoint": "litellm", "domain": "legal"}, "Hi.", None, id="the endpoint comes before the domain"),
        pytest.param({"endpoint": ["chat.completions"]}, "Hi.", "missing: Summary", id="an endpoint that is no text has the default"),
    ],
)  # fmt: skip
def test_sections_by_endpoint(metadata: dict[str, object], draft: str, missing: str | None) -> None:
    """A policy file says what each endpoint asks for; whatever it does not name has the default."""
    guard = Guard({"validators": {"SchemaFormat": {"required_sections": BY_ENDPOINT}}})

    found = [f.detail for f in guard.verify(request(draft, **metadata)).findings if f.validator == "SchemaFormat"]

    assert found == [missing or found[0]]
    assert (missing is None) == (found[0] in (None, "no sections are required"))


def test_without_a_default_other_endpoints_need_no_sections() -> None:
    """Only what is listed is asked for."""
    validator = SchemaFormat(required_sections={"litellm": ("Sources",)})

    assert [validator.sections_for(name, None) for name in ("litellm", "other", None)] == [("Sources",), (), ()]
