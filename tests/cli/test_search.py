"""`stillme search` as a user calls it: what retrieval sees, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stillme.cli.commands import Commands
from stillme.cli.ingest import ingest
from stillme.cli.search import search

COMMANDS = Commands(commands=[ingest, search])
PAGES = {
    "leave.md": "---\nurl: https://example.org/leave\ndate: 2026-01-02\n---\n# Leave\n\n## Annual\n\nEvery employee has 12 days of annual leave.",
    "pay.md": "---\ndate: 2026-01-03\n---\n# Pay\n\nSalaries are paid on the fifth day of the month.",
    "nghỉ.md": "---\ndate: 2026-01-04\n---\n# Nghỉ ốm\n\nNhân viên nghỉ ốm phải báo trước 8 giờ sáng.",
}


@pytest.fixture(autouse=True)
def _handbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STILLME_DATA", "data")
    monkeypatch.delenv("STILLME_KNOWLEDGE", raising=False)
    (tmp_path / "handbook").mkdir()
    for name, text in PAGES.items():
        (tmp_path / "handbook" / name).write_text(text, encoding="utf-8")


def run(*args: str) -> Result:
    """The result of a command in this process."""
    return CliRunner().invoke(COMMANDS, list(args), catch_exceptions=False)


def rows(result: Result) -> list[dict[str, object]]:
    """What was printed, a JSON object a line."""
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    ("query", "document"),
    [
        pytest.param("How many days of annual leave do I have?", "handbook/leave.md", id="in English"),
        pytest.param("Nghỉ ốm phải báo lúc mấy giờ?", "handbook/nghỉ.md", id="in Vietnamese"),
        pytest.param("nghi om phai bao luc may gio", "handbook/nghỉ.md", id="in Vietnamese without accents"),
    ],
)
def test_the_chunk_asked_for_comes_first(query: str, document: str) -> None:
    """Whatever the language."""
    run("ingest", "handbook")

    found = rows(run("search", query, "--json"))

    assert found[0]["document"] == document
    assert [row["place"] for row in found] == list(range(1, len(found) + 1))


def test_a_program_gets_a_whole_chunk_a_line() -> None:
    """With the figures that retrieval ranks and the policy judges by."""
    run("ingest", "handbook")

    (row,) = rows(run("search", "annual leave days", "--json", "--most", "1"))

    text = "# Leave\n\n## Annual\n\nEvery employee has 12 days of annual leave."
    assert str(row.pop("id")).startswith("handbook/leave.md#")
    assert 0.5 < float(str(row.pop("similarity"))) <= 1
    assert float(str(row.pop("rank"))) > 0
    assert row == {
        "place": 1,
        "document": "handbook/leave.md",
        "number": 0,
        "text": text,
        "start": 0,
        "end": len(text),
        "title": "Leave › Annual",
        "url": "https://example.org/leave",
        "timestamp": "2026-01-02",
    }


def test_a_person_gets_a_page() -> None:
    """Place, id, similarity and rank, then the title, then the text as it stands."""
    run("ingest", "handbook")

    lines = run("search", "annual leave days", "--most", "1").stdout.splitlines()

    assert lines[0].startswith("1. handbook/leave.md#")
    assert "similarity" in lines[0]
    assert "rank" in lines[0]
    assert lines[1:] == [
        "   Leave › Annual, https://example.org/leave, 2026-01-02",
        "",
        "   # Leave",
        "",
        "   ## Annual",
        "",
        "   Every employee has 12 days of annual leave.",
        "",
    ]


def test_an_empty_store_is_no_error() -> None:
    """And asking it leaves nothing behind."""
    result = run("search", "annual leave")

    assert (result.exit_code, result.stdout) == (0, "the store is empty: run `stillme ingest`\n")
    assert not Path("data").exists()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["  "], 3, id="a blank question"),
        pytest.param(["x", "--most", "0"], 2, id="no chunk at all"),
        pytest.param(["x", "--store", "mysql://x"], 3, id="another database"),
    ],
)
def test_what_cannot_be_searched_is_said(arguments: list[str], code: int) -> None:
    """On stderr."""
    result = run("search", *arguments)

    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr


def test_a_question_is_words_and_no_query_language() -> None:
    """Signs that mean something to a search engine or a terminal mean nothing here."""
    run("ingest", "handbook")

    result = run("search", 'leave" OR NEAR(*) AND -x \x1b[31m', "--most", "1")

    assert result.exit_code == 0
    assert "\x1b" not in result.stdout
