"""Formats that an operator defines in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from stillme.errors import InputError
from stillme.service.openai.evidence.formats import Formats, formats_from

GOOD = """
- name: wiki
  begin: "=== KNOWLEDGE ==="
  end: "=== END ==="
- name: desk
  template: "Ticket: {question}\\nNotes:\\n{context}"
"""


def formats(tmp_path: Path, text: str = GOOD, *allowed: str) -> Formats:
    file = tmp_path / "formats.yaml"
    file.write_text(text, encoding="utf-8")
    return formats_from(str(file), allowed)


def test_markers(tmp_path: Path) -> None:
    """What stands between the markers is evidence, cut into chunks where it consists of them; an open marker is text."""
    text = "Be kind.\n=== KNOWLEDGE ===\n[1] Mở cửa lúc 9 giờ.\n[2] Vé 12 euro.\n=== END ===\n=== KNOWLEDGE === never closed"
    blocks = formats(tmp_path).in_application(text)

    assert [(b.format, [p["text"] for p in b.passages]) for b in blocks] == [
        ("wiki", ["Mở cửa lúc 9 giờ.", "Vé 12 euro."])
    ]


def test_a_template(tmp_path: Path) -> None:
    """A template of one's own is allowed in user messages by its name, as the stock ones are."""
    mine = formats(tmp_path, GOOD, "desk")
    prompt = mine.prompt("Ticket: When?\nNotes:\nAt 9.")

    assert prompt is not None
    assert (prompt.question, prompt.block.passages, mine.allows("desk"), mine.allows("haystack")) == (
        "When?",
        ({"text": "At 9."},),
        True,
        False,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("name: wiki", "must be a list of formats", id="no list"),
        pytest.param("- [", "is not YAML (line", id="no YAML"),
        pytest.param("- wiki", "format 1 must be an object", id="an entry that is a word"),
        pytest.param("- {begin: '<<<', end: '>>>'}", "name must be a word", id="no name"),
        pytest.param("- {name: haystack, begin: '<<<', end: '>>>'}", "'haystack' is taken", id="a name of ours"),
        pytest.param("- {name: a, begin: '<<<', end: '>>>'}\n- {name: a, begin: '<<<', end: '>>>'}", "format 2: the name 'a' is taken", id="one name twice"),
        pytest.param("- {name: a, begin: '<<<'}", "end must be a marker", id="no end"),
        pytest.param("- {name: a, begin: '#', end: '##'}", "of 3 characters at least", id="a marker that stands anywhere"),
        pytest.param("- {name: a, begin: '<<<', end: '>>>', template: 'x {context}'}", "either begin and end, or a template", id="both"),
        pytest.param("- {name: a}", "either begin and end, or a template", id="neither"),
        pytest.param("- {name: a, template: 'x {question}'}", "has {context} once", id="a template without context"),
        pytest.param("- {name: a, begn: '<<<', end: '>>>'}", "did you mean 'begin'", id="a misspelt key"),
        pytest.param("- {name: a, template: 7}", "template must be text", id="a template that is a number"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_says_where(tmp_path: Path, text: str, message: str) -> None:
    """A file that cannot be used is an error at the start that names the setting, the entry and the way out."""
    with pytest.raises(InputError, match="STILLME_EVIDENCE_FORMATS") as found:
        formats(tmp_path, text)

    assert message in str(found.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """The error names the file."""
    with pytest.raises(InputError, match="cannot be read: No such file"):
        formats_from(str(tmp_path / "none.yaml"), ())


def test_a_template_that_nobody_knows() -> None:
    """A name that is misspelt is an error that guesses the right one."""
    with pytest.raises(
        InputError, match="STILLME_USER_TEMPLATES names 'haystac', which is unknown: did you mean haystack"
    ):
        formats_from(None, ("haystac",))
