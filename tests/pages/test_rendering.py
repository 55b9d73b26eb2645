"""Whatever a template puts out is escaped for what it is put into, and a page that asks for something missing is not written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from jinja2 import UndefinedError

import stillme.pages.rendering
from stillme.pages.rendering import PageWords, render
from stillme.pages.text import Code

TEMPLATES = Path(stillme.pages.rendering.__file__).with_name("templates")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param("<b> & Ợ", "# \\<b\\> \\& Ợ\n", id="signs of markup are text"),
        pytest.param(Code("a`b"), "# ``a`b``\n", id="a name stands between backticks"),
    ],
)
def test_markdown_escapes_without_being_asked(text: str, written: str) -> None:
    """A template names a value and gets a text."""
    assert render("document.md", title=text, blocks=[], pictures={}) == written


def test_a_missing_value_is_an_error() -> None:
    """Nothing is silently left blank."""
    with pytest.raises(UndefinedError, match="title"):
        render("document.md", blocks=[], pictures={})


def test_no_template_turns_the_escaping_off() -> None:
    """No template calls a text safe."""
    found = [p.name for p in TEMPLATES.iterdir() if "safe" in p.read_text(encoding="utf-8").replace("fail-safe", "")]

    assert found == []


def test_a_word_that_a_value_lacks_is_the_value() -> None:
    """A record may hold what this version does not know."""
    assert [PageWords("vi").value("status", value) for value in ("supported", "half-true")] == [
        "có căn cứ",
        "half-true",
    ]


@pytest.mark.parametrize("module", ["stillme", "stillme.guard", "stillme.cli"])
def test_templates_are_loaded_for_pages_only(module: str) -> None:
    """The library and the command line start without a template engine."""
    code = f"import sys, {module}; sys.exit('jinja2' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
