"""Rows as they are read from files in each form, whole or broken."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from stillme.batch.columns import parse_mapping, request_of, row_values
from stillme.batch.inputs import find_inputs
from stillme.batch.rows import Row, as_json, read_rows
from stillme.errors import InputError
from tests.batch.support import requests, write_rows


def rows_of(*paths: Path) -> list[Row]:
    """Every row of the files."""
    return list(read_rows(find_inputs([str(path) for path in paths], Path("out.jsonl"))))


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_every_form_gives_the_same_requests(tmp_path: Path, form: str) -> None:
    """Only how the file is written differs."""
    wanted = requests(6)
    path = write_rows(tmp_path / f"rows.{form}", wanted)

    found = [request_of(row_values(row.text), {}, is_table=form != "jsonl") for row in rows_of(path)]

    assert [{key: each[key] for key in wanted[0]} for each in found] == wanted


def test_a_packed_file_reads_like_the_file(tmp_path: Path) -> None:
    """And its rows count the bytes of the packed one."""
    plain = write_rows(tmp_path / "rows.jsonl", requests(5))
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))

    assert [row.text for row in rows_of(packed)] == [row.text for row in rows_of(plain)]
    assert rows_of(packed)[-1].position == packed.stat().st_size


def test_positions_grow_to_the_size_of_all_files(tmp_path: Path) -> None:
    """So that progress can be told."""
    paths = [write_rows(tmp_path / f"{form}.{form}", requests(300)) for form in ("jsonl", "csv", "parquet")]

    positions = [row.position for row in rows_of(*paths)]

    assert positions == sorted(positions)
    assert positions[-1] == sum(path.stat().st_size for path in paths)


def test_lines_are_numbered_as_an_editor_does(tmp_path: Path) -> None:
    """Blank lines count, a mark at the beginning does not."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"query":"a"}\n\n   \r\n{"query":"b"}\r\n{"query":"c"}')

    assert [(row.number, row.text) for row in rows_of(path)] == [
        (1, b'{"query":"a"}'),
        (4, b'{"query":"b"}'),
        (5, b'{"query":"c"}'),
    ]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        pytest.param(
            "cut.jsonl.gz",
            gzip.compress(b'{"query":"a"}\n' * 99)[:-9],
            "cannot be read",
            id="a packed file that was cut",
        ),
        pytest.param("not.parquet", b"PAR1 nothing", "cannot be read", id="a Parquet file that is none"),
        pytest.param("bad.csv", b"query\nfine\n\xff\xfe\n", "cannot be read", id="a CSV file in another encoding"),
        pytest.param(
            "wide.csv", "query\nfine\n".encode("utf-16"), "save the file as UTF-8", id="UTF-16, as Excel writes it"
        ),
        pytest.param("open.csv", b'query\nfine\n"never closed\n', "cannot be read", id="a quote that is never closed"),
    ],
)
def test_a_broken_file_ends_in_a_row_that_says_so(tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    """And the files behind it are read all the same."""
    broken = tmp_path / name
    broken.write_bytes(content)
    sound = write_rows(tmp_path / "sound.jsonl", requests(1))

    found = rows_of(broken, sound)

    assert problem in str(found[-2].problem)
    assert (found[-1].file, found[-1].problem) == (str(sound), None)


def test_a_heading_may_have_what_cells_may_have(tmp_path: Path) -> None:
    """A mark of the encoding, quotes and a line break within them."""
    path = tmp_path / "rows.csv"
    path.write_bytes('\ufeff"query","the \n""note"""\r\n"Why,\nhow?",x\r\n'.encode())

    assert [row.text for row in rows_of(path)] == [b'{"query": "Why,\\nhow?", "the \\n\\"note\\"": "x"}']


def test_no_column_is_read_in_place_of_another_of_its_name(tmp_path: Path) -> None:
    """Both say which one they are, and the row says what it has."""
    path = tmp_path / "rows.csv"
    path.write_text("query,note,query\nWhat?,x,Why?\n", encoding="utf-8")
    [row] = rows_of(path)

    with pytest.raises(InputError, match=r"no query.*it has 'query \(1\), note, query \(3\)'"):
        request_of(row_values(row.text), {}, is_table=True)
    assert request_of(row_values(row.text), {"query": "query (3)"}, is_table=True)["query"] == "Why?"


def test_a_row_of_another_length_is_alone_in_its_problem(tmp_path: Path) -> None:
    """A CSV row with a cell too many."""
    path = tmp_path / "rows.csv"
    path.write_text("query;context\nWhat?;A text\nWhat?;A;text\nWhy?;Because\n", encoding="utf-8")

    assert [(row.number, row.problem) for row in rows_of(path)] == [
        (1, None),
        (2, "3 cells under 2 columns"),
        (3, None),
    ]


@pytest.mark.parametrize(
    ("values", "mapping", "expected"),
    [
        pytest.param(
            {"question": "Why?", "reply": "So.", "chunks": ["One.", "Two."], "cost": 3},
            ("query=question", "draft_answer=reply", "context=chunks"),
            {
                "query": "Why?",
                "draft_answer": "So.",
                "metadata": {},
                "retrieved_context": [{"source_id": "1", "text": "One."}, {"source_id": "2", "text": "Two."}],
            },
            id="columns of other names, a list of texts; other columns are left",
        ),
        pytest.param(
            {"log": {"user": "Tại sao?", "docs": [{"id": 7, "page_content": "Vì thế."}]}},
            ("query=log.user", "context=log.docs"),
            {
                "query": "Tại sao?",
                "metadata": {},
                "retrieved_context": [{"source_id": "1", "id": 7, "text": "Vì thế."}],
            },
            id="a dot goes into an object; the text of a chunk goes by several names",
        ),
        pytest.param(
            {"query": "Why?", "context": "One.", "context_10": "Ten.", "context_2": "Two.", "language": "en"},
            (),
            {
                "query": "Why?",
                "metadata": {"language": "en"},
                "retrieved_context": [
                    {"source_id": str(n), "text": text} for n, text in enumerate(["One.", "Two.", "Ten."], 1)
                ],
            },
            id="one passage a column, in the order of their numbers",
        ),
        pytest.param(
            {"request": '{"query": "Why?"}', "day": 1}, (), {"query": "Why?"}, id="a whole request in a column"
        ),
        pytest.param(
            {"query": "Why?", "context": "[1] says so", "generation_confidence": "0.5"},
            (),
            {
                "query": "Why?",
                "generation_confidence": 0.5,
                "metadata": {},
                "retrieved_context": [{"source_id": "1", "text": "[1] says so"}],
            },
            id="a text that begins with a bracket is a text",
        ),
    ],
)
def test_a_request_from_columns(values: dict[str, Any], mapping: tuple[str, ...], expected: dict[str, Any]) -> None:
    """What a table's row comes to."""
    assert request_of(values, parse_mapping(mapping), is_table=True) == expected


@pytest.mark.parametrize(
    ("values", "words"),
    [
        pytest.param({"question": "Why?"}, "--map query=COLUMN", id="no question"),
        pytest.param({"query": "Why?", "context": [3]}, "a passage is a text", id="a number as a passage"),
        pytest.param({"query": "Why?", "context": '["cut'}, "context is not valid JSON", id="a list that was cut"),
        pytest.param({"query": "Why?", "generation_confidence": "sure"}, "a number from 0 to 1", id="no number"),
        pytest.param({"request": "[]"}, "holds a JSON object", id="a request that is a list"),
    ],
)
def test_a_row_that_makes_no_request_says_why(values: dict[str, Any], words: str) -> None:
    """With the column and the way out."""
    with pytest.raises(InputError, match=words):
        request_of(values, {}, is_table=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(b"{", "not valid JSON", id="cut"),
        pytest.param(b"\xff", "not UTF-8", id="another encoding"),
        pytest.param(b"[" * 100_000, "nested too deeply", id="no bottom"),
        pytest.param(b"[]", "a row is a JSON object, got list", id="a list"),
        pytest.param(b'{"a": NaN}', "not a JSON number", id="no number"),
    ],
)
def test_a_text_that_is_no_row_says_why(text: bytes, words: str) -> None:
    """Nothing else than an InputError comes out."""
    with pytest.raises(InputError, match=words):
        row_values(text)


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        pytest.param("query", "FIELD=COLUMN", id="no column"),
        pytest.param("qeury=a", "did you mean query", id="a slip in the field"),
        pytest.param("zzz=a", "draft_answer", id="no field at all"),
    ],
)
def test_a_mapping_that_is_none_says_why(pair: str, words: str) -> None:
    """The fields are named."""
    with pytest.raises(InputError, match=words):
        parse_mapping((pair,))


def test_what_a_table_holds_for_nothing_is_not_there() -> None:
    """None and what is not a number."""
    assert json.loads(as_json({"query": "Why?", "as_of": None, "score": float("nan")})) == {"query": "Why?"}
