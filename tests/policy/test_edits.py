"""A policy file changes in one value and in nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from stillme.policy import Policy
from stillme.policy.edits import with_value
from stillme.policy.reader import parsed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(b"mode: monitor\n", b"mode: warn\n", id="a line"),
        pytest.param(
            b"# top\nmode:   monitor  # why\non_error: refuse\n",
            b"# top\nmode:   warn  # why\non_error: refuse\n",
            id="a comment behind it",
        ),
        pytest.param(
            b"mode: 'monitor'\r\non_error: refuse\r\n",
            b"mode: warn\r\non_error: refuse\r\n",
            id="quotes, and other line ends",
        ),
        pytest.param(
            b"# mode: warn\non_error: refuse\n", b"# mode: warn\nmode: warn\non_error: refuse\n", id="no line yet"
        ),
        pytest.param(
            b"\xef\xbb\xbfmode: monitor", b"\xef\xbb\xbfmode: warn", id="a mark at the beginning, no line end"
        ),
        pytest.param(b"{mode: monitor, on_error: refuse}", b"{mode: warn, on_error: refuse}", id="in braces"),
        pytest.param(b"{on_error: refuse}", b"{mode: warn, on_error: refuse}", id="in braces, no mode yet"),
        pytest.param(b"{}", b"{mode: warn}", id="nothing in braces"),
        pytest.param(b"", b"mode: warn\n", id="an empty file"),
        pytest.param(b"# only a comment", b"# only a comment\nmode: warn\n", id="nothing but a comment"),
        pytest.param(
            "messages:\n  refusal: 'mode: monitor — không'\nmode: monitor\n".encode(),
            "messages:\n  refusal: 'mode: monitor — không'\nmode: warn\n".encode(),
            id="the words in a text of several bytes a character",
        ),
        pytest.param(b"---\nmode: monitor\n...\n", b"---\nmode: warn\n...\n", id="marks of a document"),
        pytest.param(b"  on_error: refuse\n  mode: monitor\n", b"  on_error: refuse\n  mode: warn\n", id="indented"),
        pytest.param(b"  on_error: refuse\n", b"  mode: warn\n  on_error: refuse\n", id="indented, no mode yet"),
    ],
)
def test_one_line_changes_and_nothing_else(before: bytes, after: bytes, tmp_path: Path) -> None:
    """The new file loads to the old policy in the new mode."""
    assert with_value(before, ("mode",), "warn") == after

    file = tmp_path / "policy.yaml"
    file.write_bytes(after)
    old = tmp_path / "old.yaml"
    old.write_bytes(before)
    assert Policy.load(file) == Policy.load(old).with_changes({"mode": "warn"})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "a:\n  # why\n  c: 1\n", "a:\n  # why\n  b: 2\n  c: 1\n", id="before the first line of its section"
        ),
        pytest.param("a: {c: 1}\n", "a: {b: 2, c: 1}\n", id="in the braces of its section"),
        pytest.param("a:\n  b:\n  c: 1\n", "a:\n  b: 2\n  c: 1\n", id="where there was nothing behind the colon"),
        pytest.param("a:\n  b: on two\n    lines\n  c: 1\n", "a:\n  b: 2\n  c: 1\n", id="in place of two lines"),
    ],
)
def test_a_value_of_a_section(before: str, after: str) -> None:
    """A value below a heading is replaced or put in, with the indentation of its neighbours."""
    assert with_value(before.encode(), ("a", "b"), "2").decode() == after
    assert parsed(after.encode(), "policy.yaml").settings == {"a": {"b": 2, "c": 1}}
