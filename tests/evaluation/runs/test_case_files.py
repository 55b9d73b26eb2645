"""Cases from files: what is read, and what is said about what cannot be."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.errors import InputError
from stillme.evaluation.runs.case_files import CaseFile, case_from, checked, read_cases, written
from stillme.evaluation.runs.cases import Case
from tests.soak import examples

DRAFT = "Leave is 12 days. Sick leave is 30 days."
FULL = {
    "id": "leave-1",
    "request": {
        "query": "How many days of leave?",
        "draft_answer": DRAFT,
        "retrieved_context": [{"source_id": "1", "text": "Leave is 12 days."}],
        "metadata": {"language": "en", "domain": "work"},
    },
    "expected": "refuse",
    "claims": [
        {"text": "Leave is 12 days.", "supported": True},
        {"text": "Sick leave is 30 days.", "supported": False},
    ],
    "reasons": ["unsupported_claim"],
    "category": "out-of-context",
    "tags": ["hr", "leave"],
    "why": "The passage says nothing of sick leave.",
}


def case(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A case that asks something."""
    return {"id": f"case-{number}", "request": {"query": f"Câu hỏi {number}?"}, **changes}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of cases: bytes as they are, anything else as JSON."""

    def make(*lines: Any, name: str = "cases.jsonl", start: bytes = b"", end: bytes = b"\n") -> Path:
        rows = [line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode() for line in lines]
        path = tmp_path / name
        path.write_bytes(start + b"".join(row + end for row in rows))
        return path

    return make


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        pytest.param({}, ["case-1", "case-2"], id="a line each"),
        pytest.param({"end": b"\r\n"}, ["case-1", "case-2"], id="with the line ends of Windows"),
        pytest.param({"start": b"\xef\xbb\xbf"}, ["case-1", "case-2"], id="with a byte order mark"),
        pytest.param({"end": b"\n\n  \n"}, ["case-1", "case-2"], id="with blank lines"),
    ],
)
def test_lines_are_read(write: Callable[..., Path], how: dict[str, Any], expected: list[str]) -> None:
    """However the file was saved."""
    path = write(case(1), case(2), **how)

    assert [c.id for c in read_cases(path)] == expected


def test_a_case_is_read_whole(write: Callable[..., Path]) -> None:
    """With every key, and the same as the model has it."""
    assert list(read_cases(write(FULL))) == [Case.model_validate(FULL)]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        pytest.param(b"{", "not valid JSON: Expecting property name", id="no JSON"),
        pytest.param(b"[1]", "a case is a JSON object, got list", id="a list"),
        pytest.param(b"\xff", "not UTF-8 text: byte 0xff", id="no UTF-8"),
        pytest.param(b'{"id": NaN}', "NaN is not a JSON number", id="no number"),
        pytest.param(b"[" * 100_000, "nested too deeply", id="nested deeply"),
        pytest.param(case(request={}), "request.query is missing: it is required", id="no question"),
        pytest.param(case(request={"query": " "}), "query is blank", id="a blank question"),
        pytest.param(case(expcted="answer"), "unknown key 'expcted': did you mean expected?", id="a misspelt key"),
        pytest.param(
            case(request={"query": "a", "draft_answr": "b"}),
            "unknown key 'request.draft_answr': did you mean draft_answer?",
            id="one below",
        ),
        pytest.param(
            case(expected="block"),
            "expected: should be 'answer', 'ask_clarify' or 'refuse', got 'block'",
            id="no decision",
        ),
        pytest.param(
            case(claims=[{"text": "x", "supported": True}]),
            "claims[0].text does not stand in draft_answer",
            id="a label of nothing",
        ),
        pytest.param(
            {**FULL, "claims": [{"text": "eave is", "supported": True}]},
            "claims[0].text stands in draft_answer more than once: give its start",
            id="a label of two places",
        ),
        pytest.param({**FULL, "id": ""}, "id: String should have at least 1 character, got ''", id="an empty id"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(write: Callable[..., Path], row: Any, problem: str) -> None:
    """The line, the field, the value and the way out."""
    path = write(case(1), b"", row)

    with pytest.raises(InputError) as caught:
        list(read_cases(path))

    assert str(caught.value).startswith(f"{path} line 3: ")
    assert problem in str(caught.value)


def test_several_problems_are_reported_at_once(write: Callable[..., Path]) -> None:
    """And the cases before the first are given; duplicates name the line they repeat."""
    path = write(case(1), b"{", case(3), case(1), b"7")
    found: list[str] = []

    with pytest.raises(InputError) as caught:
        found.extend(c.id for c in read_cases(path))

    assert found == ["case-1"]
    assert str(caught.value).splitlines() == [
        f"{path} line 2: not valid JSON: Expecting property name enclosed in double quotes (column 2); a case is one JSON object on one line",
        f"{path} line 4: id 'case-1' is that of line 1, too: give each case its own",
        f"{path} line 5: a case is a JSON object, got int",
    ]


def test_not_more_than_ten_problems_are_reported(write: Callable[..., Path]) -> None:
    """A file of another kind does not fill the screen."""
    with pytest.raises(InputError) as caught:
        list(read_cases(write(*[b"7"] * 50)))

    assert len(str(caught.value).splitlines()) == 11


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """As JSON lines; and it cannot be checked, which needs to read twice."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(FULL).encode())))

    assert [c.id for c in read_cases("-")] == ["leave-1"]
    with pytest.raises(InputError, match="can be read once only"):
        checked("-")


def test_a_file_that_is_not_there_is_said_to_be(tmp_path: Path) -> None:
    """By its name."""
    with pytest.raises(InputError, match=r"none\.jsonl cannot be read: No such file"):
        list(read_cases(tmp_path / "none.jsonl"))


def test_an_empty_file_has_no_cases(write: Callable[..., Path]) -> None:
    """An evaluation of nothing is a mistake."""
    with pytest.raises(InputError, match="has no cases"):
        checked(write())


# hashes


def test_the_same_cases_have_the_same_hash(write: Callable[..., Path]) -> None:
    """Whatever the order of keys, the defaults written out, or the kind of file."""
    plain = write(case(1), case(2))
    other = write(
        {"why": None, "tags": [], "request": {"metadata": {"language": "auto"}, "query": "Câu hỏi 1?"}, "id": "case-1"},
        case(2),
        name="other.jsonl",
        start=b"\xef\xbb\xbf\n",
    )
    table = write(b"id,query", "case-1,Câu hỏi 1?".encode(), "case-2,Câu hỏi 2?".encode(), name="cases.csv")

    found = [checked(path) for path in (plain, other, table)]

    assert {f.sha256 for f in found} == {
        hashlib.sha256(b"".join(written(case_from(case(n))).encode() for n in (1, 2))).hexdigest()
    }
    assert found[0] == CaseFile(str(plain), plain, 2, found[0].sha256)
    assert [c.id for c in found[2]] == ["case-1", "case-2"]


def test_other_cases_have_another_hash(write: Callable[..., Path]) -> None:
    """A changed label, another order, or fewer of them."""
    files = [
        checked(write(case(1), case(2), name="a.jsonl")),
        checked(write(case(2), case(1), name="b.jsonl")),
        checked(write(case(1, expected="refuse"), case(2), name="c.jsonl")),
        checked(write(case(1), case(2), name="a.jsonl"), limit=1),
    ]

    assert len({f.sha256 for f in files}) == 4
    assert [len(f) for f in files] == [2, 2, 2, 1]
    assert len(list(files[3])) == 1


def test_a_limit_is_a_sample_with_the_shares_of_the_whole(write: Callable[..., Path]) -> None:
    """Cases that stand in blocks by what they expect and by language are drawn from every block, in their order, the same each time."""
    blocks = [("answer", "en", 12), ("refuse", "vi", 6), ("ask_clarify", "vi", 3)]
    rows = [(expected, language) for expected, language, count in blocks for _ in range(count)]
    cases = [
        case(n, expected=expected, request={"query": "Hỏi gì?", "metadata": {"language": language}}, claims=[])
        for n, (expected, language) in enumerate(rows)
    ]
    path = write(*cases)

    drawn, again = checked(path, limit=7), checked(path, limit=7)

    assert Counter((c.expected, c.request.metadata.language) for c in drawn) == {
        ("answer", "en"): 4,
        ("refuse", "vi"): 2,
        ("ask_clarify", "vi"): 1,
    }
    assert [c.id for c in drawn] == sorted((c.id for c in drawn), key=[c["id"] for c in cases].index)
    assert (drawn.sha256, list(drawn)) == (again.sha256, list(again))
    assert len(checked(path, limit=400)) == len(rows)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


@settings(max_examples=examples(60), deadline=None)
@given(TEXTS.filter(str.strip), TEXTS, st.booleans())
def test_a_written_case_is_read_again(query: str, draft: str, supported: bool) -> None:
    """Whatever its texts hold."""
    made = case_from(
        case(
            request={"query": query, "draft_answer": draft},
            claims=[{"text": draft, "supported": supported, "start": 0}],
        )
    )

    line = written(made)

    assert case_from(json.loads(line)) == made
    assert line.count("\n") == 1


def test_memory_does_not_grow_with_the_texts(write: Callable[..., Path]) -> None:
    """Only ids are kept while a file is read."""
    long = [case(n, request={"query": "q", "draft_answer": "x" * 20_000}) for n in range(200)]
    path = write(*long)

    tracemalloc.start()
    checked(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < path.stat().st_size / 4


# CSV


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_table_is_read_whole(write: Callable[..., Path], delimiter: str) -> None:
    """Every column has its place in a case, with commas or semicolons, and texts may have several lines."""
    columns = {
        "id": "leave-1",
        "query": "How many days of leave?",
        "draft_answer": DRAFT,
        "context": "Leave is 12 days.",
        "context_2": "Một đoạn khác.\nHai dòng.",
        "expected": "refuse",
        "claims": json.dumps(FULL["claims"]),
        "reasons": "unsupported_claim; low_evidence_overlap",
        "category": "out-of-context",
        "tags": "hr|leave",
        "language": "en",
        "domain": "work",
        "as_of": "2026-02-01",
        "generation_confidence": "0.8",
        "why": "The passage says nothing of sick leave.",
    }
    rows = [
        delimiter.join('"' + cell.replace('"', '""') + '"' for cell in cells) for cells in (columns, columns.values())
    ]

    found = list(read_cases(write(*(row.encode() for row in rows), name="cases.csv", start=b"\xef\xbb\xbf")))

    assert found == [
        Case.model_validate(
            FULL
            | {"reasons": ["unsupported_claim", "low_evidence_overlap"]}
            | {
                "request": {
                    **FULL["request"],  # type: ignore[dict-item]
                    "retrieved_context": [
                        {"source_id": "1", "text": "Leave is 12 days."},
                        {"source_id": "2", "text": "Một đoạn khác.\nHai dòng."},
                    ],
                    "as_of": "2026-02-01",
                    "generation_confidence": 0.8,
                }
            }
        )
    ]


@pytest.mark.parametrize(("word", "expected"), [("TRUE", True), ("no", False), ("unsupported", False), ("1", True)])
def test_a_draft_can_be_labelled_as_a_whole(write: Callable[..., Path], word: str, expected: bool) -> None:
    """With one word, as people fill in a table."""
    path = write(b"id,query,draft_answer,supported", f"a,q,It is so.,{word}".encode(), b"b,q,It is so.,", name="c.csv")

    assert [c.spans for c in read_cases(path)] == [[(0, 9, expected)], []]


def test_passages_can_be_given_as_json(write: Callable[..., Path]) -> None:
    """With all that a passage may have."""
    path = write(
        b"id,query,context", b'a,q,"[{""source_id"": ""d"", ""text"": ""t"", ""similarity"": 0.5}]"', name="c.csv"
    )

    assert [p.model_dump(exclude_unset=True) for c in read_cases(path) for p in c.request.retrieved_context] == [
        {"source_id": "d", "text": "t", "similarity": 0.5}
    ]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        pytest.param([b"id,qery", b"a,b"], "line 1: 'qery' is no column: did you mean query?", id="a misspelt column"),
        pytest.param(
            [b"id,query,x", b"a,b,c"], "line 1: 'x' is no column: columns are id, query,", id="an unknown column"
        ),
        pytest.param([b"id,query,id", b"a,b,c"], "line 1: the column 'id' is there twice", id="a column twice"),
        pytest.param([b"id,expected", b"a,b"], "line 1: the column query is missing", id="no question"),
        pytest.param([], "line 1: the column id is missing", id="an empty file"),
        pytest.param([b"id,query", b"a"], "line 2: 1 cells under 2 columns", id="a short row"),
        pytest.param(
            [b"id,query,supported", b"a,b,maybe"], "line 2: supported is true or false, got 'maybe'", id="no truth"
        ),
        pytest.param([b"id,query,claims", b"a,b,x"], "line 2: claims is not valid JSON", id="labels that are no JSON"),
        pytest.param(
            [b"id,query,generation_confidence", b"a,b,high"],
            "line 2: generation_confidence is a number",
            id="no number",
        ),
        pytest.param([b"id,query", b"a,\xff"], "is not UTF-8 text: save it as CSV UTF-8", id="no UTF-8"),
        pytest.param(
            [b"id,query", b"a," + b"x" * 200_000], "cannot be read as CSV: field larger than", id="a long text"
        ),
        pytest.param([b"id,query", b"a,b", b"a,c"], "line 3: id 'a' is that of line 2, too", id="an id twice"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(write: Callable[..., Path], rows: list[bytes], problem: str) -> None:
    """With its line where it has one."""
    path = write(*rows, name="cases.csv")

    with pytest.raises(InputError) as caught:
        list(read_cases(path))

    assert problem in str(caught.value)
