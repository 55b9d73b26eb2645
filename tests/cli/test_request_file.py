"""Reading requests from files of every kind, and verifying them batch by batch."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stillme.cli.request_file import BATCH, RequestEntry, read_requests, size_of, verify_all
from stillme.errors import InputError
from stillme.guard import Guard

EXPECTED = "expected a request as a JSON object, a list of them, or one a line"


def read(tmp_path: Path, content: bytes) -> list[tuple[str, Any, str | None]]:
    """What the entries say, with the path left out of their places."""
    file = tmp_path / "in.json"
    file.write_bytes(content)
    return [(e.place.removeprefix(str(file)).strip(), e.value, e.problem) for e in read_requests(str(file))]


@pytest.mark.parametrize(
    ("content", "entries"),
    [
        pytest.param(b'{"query": "a"}', [("line 1", {"query": "a"}, None)], id="an object on one line is one request"),
        pytest.param(b'{\n "query": "a"\n}\n', [("", {"query": "a"}, None)], id="an object over lines is one request"),
        pytest.param(
            b'[{"query": "a"}, {"query": "b"}]',
            [("item 1", {"query": "a"}, None), ("item 2", {"query": "b"}, None)],
            id="a list on one line is a request for each element",
        ),
        pytest.param(
            b'\n\n{"query": "a"}\n  \n{"query": "b"}\r\n',
            [("line 3", {"query": "a"}, None), ("line 5", {"query": "b"}, None)],
            id="JSON lines keep their numbers over blank lines and Windows line ends",
        ),
        pytest.param(
            b'[\n{"query": "a"},\n{"query": "b"}\n]',
            [("item 1", {"query": "a"}, None), ("item 2", {"query": "b"}, None)],
            id="a list with one element a line is a list, not JSON lines",
        ),
        pytest.param(
            b'\xef\xbb\xbf{"query": "a"}\n{"query": "b"}',
            [("line 1", {"query": "a"}, None), ("line 2", {"query": "b"}, None)],
            id="a byte order mark is skipped",
        ),
        pytest.param(
            '{"query": "Thủ đô ở đâu?"}'.encode(),
            [("line 1", {"query": "Thủ đô ở đâu?"}, None)],
            id="Vietnamese is read as UTF-8",
        ),
        pytest.param(
            b'{"query": "a"}\n{"query": \n{"query": "c"}',
            [
                ("line 1", {"query": "a"}, None),
                ("line 2", None, "not valid JSON: Expecting value (line 2 column 10)"),
                ("line 3", {"query": "c"}, None),
            ],
            id="a bad line in the middle is named and the rest is read",
        ),
        pytest.param(
            b'oops\n{"query": "b"}',
            [
                ("line 1", None, "not valid JSON: Expecting value (line 1 column 1)"),
                ("line 2", {"query": "b"}, None),
            ],
            id="a bad first line does not hide the lines after it",
        ),
        pytest.param(
            b'{"query": "a"}\n{"query": "\xff"}',
            [("line 1", {"query": "a"}, None), ("line 2", None, "not UTF-8 text: byte 0xff (line 2)")],
            id="a line that is not UTF-8 is named",
        ),
        pytest.param(
            b'{"query": "a"}\n{"query": "b", "generation_confidence": NaN}',
            [
                ("line 1", {"query": "a"}, None),
                ("line 2", None, "not valid JSON: NaN is not a JSON number, send null or leave the key out"),
            ],
            id="NaN is not JSON",
        ),
        pytest.param(b'"a"', [("", "a", None)], id="a value that is no object is an entry, for the contract to refuse"),
        pytest.param(b"[1]", [("item 1", 1, None)], id="a list element that is no object is one too"),
    ],
)
def test_the_form_is_told_by_the_content(
    tmp_path: Path, content: bytes, entries: list[tuple[str, Any, str | None]]
) -> None:
    assert read(tmp_path, content) == entries


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(b"", f"is empty: {EXPECTED}", id="an empty file"),
        pytest.param(b" \n\t\n", f"is empty: {EXPECTED}", id="a file of blank lines"),
        pytest.param(b"[]", f"is an empty list: {EXPECTED}", id="an empty list"),
        pytest.param(
            b"hello\nworld", f": not valid JSON: Expecting value (line 1 column 1); {EXPECTED}", id="plain text"
        ),
        pytest.param(b"\x89PNG\r\n\x1a\n", f": not UTF-8 text: byte 0x89 (line 1); {EXPECTED}", id="a picture"),
        pytest.param(
            b'{\n "query": "a",\n "draft_answer": \n}',
            f": not valid JSON: Expecting value (line 4 column 1); {EXPECTED}",
            id="a mistake in an object over lines is one problem with its line",
        ),
        pytest.param(
            b'[\n{"query": "a"},\n{"query": "b"}\n',
            f": not valid JSON: Expecting ',' delimiter (line 4 column 1); {EXPECTED}",
            id="a list that is cut off is one problem, though a line of it is a request",
        ),
        pytest.param(b"[" * 100_000, f": not a request: nested too deeply; {EXPECTED}", id="brackets without end"),
        pytest.param(
            '{"query": "a"}'.encode("utf-16"),
            f": not UTF-8 text: byte 0xff (line 1); {EXPECTED}",
            id="UTF-16, as PowerShell writes",
        ),
    ],
)
def test_a_file_without_any_request_is_one_problem(tmp_path: Path, content: bytes, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        read(tmp_path, content)

    assert str(raised.value).removeprefix(str(tmp_path / "in.json")).strip() == problem


def test_a_number_of_many_digits_is_a_problem_of_its_line(tmp_path: Path) -> None:
    found = read(tmp_path, b'{"query": "a"}\n{"n": ' + b"9" * 5000 + b"}")

    assert [problem is None for _, _, problem in found] == [True, False]
    assert str(found[1][2]).startswith("not valid JSON: Exceeds the limit")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        pytest.param("missing.json", "No such file or directory", id="a file that is not there"),
        pytest.param("", "Is a directory", id="a directory"),
    ],
)
def test_a_file_that_cannot_be_opened_says_why(tmp_path: Path, name: str, problem: str) -> None:
    with pytest.raises(InputError, match=f"cannot be read: {problem}"):
        list(read_requests(str(tmp_path / name)))


def test_a_path_with_a_nul_is_an_input_error() -> None:
    with pytest.raises(InputError, match="embedded null byte"):
        list(read_requests("a\0b"))


def test_standard_input_that_is_closed_is_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    with pytest.raises(InputError, match="standard input is closed"):
        list(read_requests("-"))


def test_lines_are_read_only_as_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.BytesIO(b'{"query": "a"}\n' * 1000)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))

    entries = read_requests("-")
    first = next(entries)
    position = stream.tell()
    entries.close()

    assert (first, position) == (RequestEntry("standard input line 1", 15, {"query": "a"}), 15)


def test_the_size_is_known_for_files_only(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(b"12345")

    assert [size_of(str(file)), size_of(str(tmp_path)), size_of("-"), size_of(str(tmp_path / "none"))] == [
        5,
        None,
        None,
        None,
    ]


FRAGMENTS = [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b'"query"',
    b":",
    b'"a"',
    b"\n",
    b" ",
    b"\xff",
    b"\x00",
    b"NaN",
    b'{"query": "a"}',
]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.lists(st.sampled_from(FRAGMENTS), max_size=12).map(b"".join) | st.binary(max_size=60))
def test_any_bytes_become_entries_or_one_input_error(tmp_path: Path, content: bytes) -> None:
    try:
        said = [str(entry) for entry in read(tmp_path, content)]
    except InputError as error:
        said = str(error).splitlines()

    assert said


def test_the_results_keep_the_order_and_are_those_of_verify() -> None:
    guard = Guard()
    values = [
        {"query": "Hello!", "draft_answer": "Hello! How can I help?", "request_id": f"r{n}"} for n in range(BATCH + 3)
    ]
    entries = [RequestEntry(f"line {n}", 1, value) for n, value in enumerate(values, 1)]
    entries[1] = RequestEntry("line 2", 1, problem="not valid JSON")
    entries[2] = RequestEntry("line 3", 1, {"query": " "})
    entries[3] = RequestEntry("line 4", 1, {"query": "a" * 9000})

    batches = list(verify_all(guard, entries))

    results = [result for batch in batches for result in batch]
    assert [len(batch) for batch in batches] == [BATCH, 3]
    assert [result.entry for result in results] == entries
    assert [result.problem for result in results if result.verdict is None] == [
        "not valid JSON",
        "query is blank (' '): send the user's question",
        "query has 9000 characters, limits.query_chars is 8000: send less, or raise the limit in the policy",
    ]
    assert [r.verdict.request_id for r in results if r.verdict] == [
        values[n]["request_id"] for n in (0, *range(4, BATCH + 3))
    ]
    assert all(r.verdict.decision == guard.verify(r.entry.value).decision for r in results if r.verdict)
