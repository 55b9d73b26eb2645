"""Files and the JSON in them: what is wrong is said with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from stillme.batch.input_files import json_value, opened_input, plain_name
from stillme.errors import InputError


@pytest.mark.parametrize(
    ("raw", "line", "problem"),
    [
        pytest.param(b"{", None, r"not valid JSON: .*\(column 2\)$", id="a line by itself"),
        pytest.param(b"{\n\n", 4, r"not valid JSON: .*\(line 6 column 1\)$", id="lines of a file"),
        pytest.param(b"\xff", None, r"not UTF-8 text: byte 0xff$", id="no text"),
        pytest.param(b"1\n\xff", 1, r"not UTF-8 text: byte 0xff \(line 2\)$", id="no text in a line"),
        pytest.param(b"[NaN]", None, "NaN is not a JSON number", id="no number"),
        pytest.param(b"[" * 100_000, None, "not a case: nested too deeply", id="bottomless nesting"),
    ],
)
def test_what_is_no_json_is_named(raw: bytes, line: int | None, problem: str) -> None:
    """An InputError says where it stops being JSON."""
    with pytest.raises(InputError, match=problem):
        json_value(raw, "a case", line)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """By a name without control characters."""
    with pytest.raises(InputError, match="cannot be read: No such file"), opened_input(tmp_path / "no"):
        pass
    assert (plain_name("-"), plain_name("a\x1bb")) == ("standard input", "'a\\x1bb'")
