"""Cases run through a real guard: what a record holds, and that a run is the same however it was made."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from stillme import Guard
from stillme.errors import InputError
from stillme.evaluation.runs.case_files import CaseFile, case_from, checked
from stillme.evaluation.runs.records import CaseRecord, ClaimRecord, RunHeading
from stillme.evaluation.runs.run import Run, heading_of, read_run, record_of, run_case, run_cases, run_to_file
from stillme.grounding.grounder import ExactGrounder, GroundingTask, Judgement
from stillme.version import __version__

PLAIN = {"grounding": {"model": "none"}}
LEAVE = {"source_id": "leave", "text": "Every employee has 12 days of annual leave.", "similarity": 0.9}
PAY = {"source_id": "pay", "text": "Salaries are paid at the end of each month.", "similarity": 0.8}
START = datetime(2026, 2, 1, 9, tzinfo=UTC)


def request(
    draft: str | None, *, query: str = "How many days of annual leave are there?", **rest: Any
) -> dict[str, Any]:
    """A question about leave."""
    return {"query": query, "draft_answer": draft, "retrieved_context": [LEAVE, PAY], **rest}


CASES: list[dict[str, Any]] = [
    {
        "id": "right",
        "request": request("Every employee has 12 days of annual leave [1].", metadata={"domain": "hr"}),
        "expected": "answer",
        "claims": [{"text": "Every employee has 12 days of annual leave [1].", "supported": True}],
        "category": "in-context",
        "tags": ["leave"],
    },
    {
        "id": "wrong",
        "request": request(
            "Every employee has 15 days of annual leave [1]. Salaries are paid at the end of each month [2]."
        ),
        "expected": "refuse",
        "claims": [{"text": "15 days", "supported": False}],
        "reasons": ["contradicted_claim"],
    },
    {"id": "precheck", "request": request(None), "expected": "answer"},
    {
        "id": "tiếng-việt",
        "request": {
            "query": "Thủ đô của Việt Nam là thành phố nào?",
            "draft_answer": "Thủ đô của Việt Nam là Huế [1].",
            "retrieved_context": [{"source_id": "địa-lý", "text": "Thủ đô của Việt Nam là Hà Nội.", "similarity": 0.9}],
        },
        "expected": "refuse",
        "claims": [{"text": "Thủ đô của Việt Nam là Huế [1].", "supported": False}],
    },
    {"id": "too-long", "request": request("x" * 70_000, metadata={"language": "en"}), "expected": "refuse"},
]


@pytest.fixture
def cases(tmp_path: Path) -> CaseFile:
    """The cases above, forty times, so that several processes have something to do."""
    rows = [{**row, "id": f"{row['id']}-{n}"} for n in range(8) for row in CASES]
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return checked(path)


@pytest.fixture(scope="module")
def guard() -> Guard:
    """Without a model, which these cases do not need."""
    return Guard(PLAIN)


def timeless(records: Sequence[CaseRecord]) -> list[CaseRecord]:
    """Records but for the time they took."""
    return [record.model_copy(update={"elapsed_ms": 0.0}) for record in records]


# one case


def test_a_record_holds_what_came_out_and_what_is_known(guard: Guard) -> None:
    """A whole record of an answer."""
    found = run_case(guard, case_from(CASES[0]))

    assert timeless([found]) == [
        CaseRecord(
            id="right",
            expected="answer",
            category="in-context",
            language="en",
            domain="hr",
            tags=("leave",),
            decision="answer",
            action="deliver",
            verified=True,
            confidence_band="high",
            probability=found.claims[0].score,
            max_similarity=0.9,
            source_required=True,
            claims=(
                ClaimRecord(
                    start=0,
                    end=47,
                    status="supported",
                    score=found.claims[0].score,
                    source_ids=("leave",),
                    cited=True,
                    supported=True,
                ),
            ),
        )
    ]
    assert found.elapsed_ms > 0


def test_labels_reach_the_claims_they_stand_in(guard: Guard) -> None:
    """A part makes its whole sentence unsupported; a sentence without a label has none."""
    found = run_case(guard, case_from(CASES[1]))

    assert [(c.status, c.supported, c.missed) for c in found.claims] == [
        ("contradicted", False, ((19, 26),)),
        ("supported", None, ()),
    ]
    assert (found.decision, found.unlabelled_unsupported) == ("refuse", 0)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param([("One.", True), ("Two.", True)], ([True, True], 0), id="each its own"),
        pytest.param([("One. Two.", False)], ([False, False], 0), id="one over both"),
        pytest.param([("One.", True), ("ne", False)], ([False, None], 0), id="a part that is not supported"),
        pytest.param([(".", False)], ([None, None], 1), id="a stop covers nothing"),
        pytest.param([], ([None, None], 0), id="none"),
    ],
)
def test_labels_and_claims(
    guard: Guard, labels: list[tuple[str, bool]], expected: tuple[list[bool | None], int]
) -> None:
    """How labelled parts and sentences meet."""
    draft = "One. Two."
    made = [{"text": text, "supported": s, "start": draft.find(text)} for text, s in labels]

    found = run_case(guard, case_from({"id": "a", "request": request(draft), "claims": made}))

    assert ([c.supported for c in found.claims], found.unlabelled_unsupported) == expected


def test_what_was_not_judged_has_labels_all_the_same(guard: Guard) -> None:
    """A draft in another language ends the chain early; its unsupported parts are counted, and no claim is."""
    case = case_from(
        {
            "id": "a",
            "request": request("Mọi nhân viên có 15 ngày nghỉ phép mỗi năm theo quy định của công ty [1]."),
            "claims": [{"text": "15 ngày", "supported": False}],
        }
    )

    found = run_case(guard, case)

    assert (found.decision, found.verified, found.claims, found.unlabelled_unsupported) == ("refuse", False, (), 1)


@pytest.mark.parametrize(
    ("draft", "mode", "cited"),
    [
        pytest.param("Every employee has 12 days of annual leave [1].", "monitor", True, id="the right source"),
        pytest.param(
            "Every employee has 12 days of annual leave [leave].", "monitor", True, id="the right source by its id"
        ),
        pytest.param("Every employee has 12 days of annual leave [2].", "monitor", False, id="the wrong source"),
        pytest.param(
            "Every employee has 12 days of annual leave.",
            "monitor",
            False,
            id="no source in the draft that is delivered",
        ),
        pytest.param(
            "Every employee has 12 days of annual leave.", "enforce", True, id="a source in the repaired text"
        ),
    ],
)
def test_whether_a_claim_is_cited(draft: str, mode: str, cited: bool) -> None:
    """By a source that supports it, in what the user gets to read."""
    found = run_case(Guard({**PLAIN, "mode": mode}), case_from({"id": "a", "request": request(draft)}))

    assert [(c.status, c.cited) for c in found.claims] == [("supported", cited)]


class Failing(ExactGrounder):
    """A validator's friend that crashes on one draft, and ends its process on another."""

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        """Crash, end or judge."""
        for task in tasks:
            if "crash" in task.draft.text.raw:
                raise RuntimeError("no room")
            if "the end" in task.draft.text.raw:
                os._exit(3)
        return super().judge(tasks)


def test_a_request_over_a_limit_is_an_error_record(guard: Guard) -> None:
    """With the problem in words, what is known of the case, and nothing else."""
    assert run_case(guard, case_from(CASES[4])) == CaseRecord(
        id="too-long",
        expected="refuse",
        language="en",
        error="InputError: 'draft_answer has 70000 characters, limits.draft_chars is 64000: send less, or raise the limit in the policy'",
    )


def test_a_crash_in_a_gate_is_not_verified() -> None:
    """It is a verdict of the guard, and counted as one that nothing verified."""
    crash = case_from({"id": "crash", "request": request("A crash takes 12 days."), "expected": "answer"})

    found = run_case(Guard(PLAIN, grounder=Failing()), crash)

    assert (found.error, found.decision, found.verified) == (None, "refuse", False)


def test_a_request_without_a_time_is_judged_at_that_of_the_run(guard: Guard) -> None:
    """And one with its own at its own."""
    for given, expected in ((None, START), ("2025-01-01", datetime(2025, 1, 1, tzinfo=UTC))):
        case = case_from({"id": "a", "request": request("It is.", as_of=given)})
        examined = guard.examine(case.request.model_copy(update={"as_of": expected}), record=False)

        assert case.request.as_of in (None, expected)
        assert timeless([run_case(guard, case, START)]) == timeless([record_of(case, examined)])


# many cases


def test_the_number_of_processes_changes_nothing(guard: Guard, cases: CaseFile) -> None:
    """The same records in the order of the cases."""
    alone = timeless(list(run_cases(guard, cases, as_of=START)))
    together = timeless(list(run_cases(guard, cases, jobs=2, as_of=START)))

    assert together == alone
    assert [record.id for record in alone] == [case.id for case in cases]
    assert sum(record.error is not None for record in alone) == 8


def failing_guard() -> Guard:
    """What a process makes for itself."""
    return Guard(PLAIN, grounder=Failing())


def test_a_case_that_kills_its_process_is_an_error_record() -> None:
    """And takes no other with it."""
    drafts = ["It is 12 days.", "This is the end.", "It is 30 days.", "Again the end."]
    made = [case_from({"id": str(n), "request": request(draft)}) for n, draft in enumerate(drafts)]

    found = list(run_cases(failing_guard(), made, jobs=2, make_guard=failing_guard))

    ended = "the process that ran it ended without a result"
    assert [(record.id, record.error) for record in found] == [("0", None), ("1", ended), ("2", None), ("3", ended)]


@pytest.mark.parametrize(
    ("guard", "jobs", "problem"),
    [
        pytest.param(Guard(PLAIN), 0, "jobs is at least 1, got 0", id="no process"),
        pytest.param(
            Guard(PLAIN, grounder=ExactGrounder()), 2, "only with make_guard", id="a grounder that stays here"
        ),
    ],
)
def test_what_cannot_be_run_is_said(guard: Guard, jobs: int, problem: str) -> None:
    """Before anything is run."""
    with pytest.raises(InputError, match=problem):
        run_cases(guard, [], jobs=jobs)


# run files


def test_a_run_file_has_a_heading_and_every_record(guard: Guard, cases: CaseFile, tmp_path: Path) -> None:
    """It can be read again, as often as it is needed."""
    heard: list[CaseRecord] = []

    run = run_to_file(guard, cases, tmp_path / "run.jsonl", name="plain", started=START, on_record=heard.append)

    assert run.heading == RunHeading(
        name="plain",
        cases=str(cases.path),
        cases_sha256=cases.sha256,
        count=40,
        policy_hash=guard.policy.hash,
        policy=guard.policy.model_dump(mode="json", exclude_unset=True),
        model_id=ExactGrounder().id,
        version=__version__,
        started="2026-02-01T09:00:00+00:00",
    )
    assert read_run(run.path) == run
    assert list(run) == list(run) == heard
    assert len(run.path.read_text(encoding="utf-8").splitlines()) == 41


@pytest.mark.parametrize(
    "keep",
    [
        pytest.param(lambda whole: whole[:0], id="before its heading"),
        pytest.param(lambda whole: whole[:30], id="within its heading"),
        pytest.param(lambda whole: whole[: whole.index(b"\n") + 1], id="after its heading"),
        pytest.param(lambda whole: whole[: len(whole) // 2], id="within a record"),
        pytest.param(lambda whole: whole[: whole.rindex(b"\n", 0, -1) + 1], id="before its last record"),
        pytest.param(lambda whole: whole, id="not at all"),
    ],
)
def test_a_run_that_was_cut_goes_on(
    guard: Guard, cases: CaseFile, tmp_path: Path, keep: Callable[[bytes], bytes]
) -> None:
    """Wherever it was cut the file is in the end what it would have been, and every record is heard of once."""
    whole = run_to_file(guard, cases, tmp_path / "whole.jsonl", started=START)
    path = tmp_path / "cut.jsonl"
    path.write_bytes(keep(whole.path.read_bytes()))
    heard: list[CaseRecord] = []

    run = run_to_file(guard, cases, path, started=START, on_record=heard.append)

    assert run.heading == whole.heading
    assert timeless(list(run)) == timeless(list(whole)) == timeless(heard)


def test_going_on_keeps_the_start(guard: Guard, cases: CaseFile, tmp_path: Path) -> None:
    """So that dates are judged alike before and after the cut."""
    path = tmp_path / "run.jsonl"
    whole = run_to_file(guard, cases, path, started=START)
    path.write_bytes(path.read_bytes()[:-10])

    assert run_to_file(guard, cases, path).heading == whole.heading


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param({"cases_sha256": "0"}, "another cases:", id="other cases"),
        pytest.param(
            {"policy_hash": "0", "version": "0"}, "another policy and version of stillme:", id="policy and version"
        ),
        pytest.param({"model_id": "other"}, "another model:", id="another model"),
    ],
)
def test_a_run_of_something_else_is_not_gone_on_with(
    guard: Guard, cases: CaseFile, tmp_path: Path, change: dict[str, str], problem: str
) -> None:
    """And is left as it is."""
    path = tmp_path / "run.jsonl"
    heading = heading_of(guard, cases, "run").model_copy(update=change)
    path.write_text(heading.model_dump_json() + "\n", encoding="utf-8")
    before = path.read_bytes()

    with pytest.raises(InputError, match=problem):
        run_to_file(guard, cases, path)

    assert path.read_bytes() == before


def lines(run: Run) -> list[bytes]:
    """Of a run file."""
    return run.path.read_bytes().splitlines(keepends=True)


def test_what_is_no_run_file_is_said(guard: Guard, cases: CaseFile, tmp_path: Path) -> None:
    """Read or written, and nothing is overwritten."""
    other, none = cases.path, tmp_path / "none.jsonl"
    run = run_to_file(guard, cases, tmp_path / "run.jsonl")
    rows = lines(run)

    with pytest.raises(InputError, match="is no run file: its first line has no heading"):
        run_to_file(guard, cases, other)
    with pytest.raises(InputError, match="is no run file"):
        read_run(other)
    with pytest.raises(InputError, match=r"none\.jsonl cannot be read: No such file"):
        read_run(none)
    for broken, problem in _broken(rows):
        run.path.write_bytes(broken)
        with pytest.raises(InputError, match=problem):
            list(run)


def _broken(rows: list[bytes]) -> Iterator[tuple[bytes, str]]:
    whole = b"".join(rows)
    yield whole[:-5], "was cut in line 41: run it again"
    yield b"".join(rows[:-1]), "has 39 of 40 records: run it again"
    yield b"".join([*rows[:3], b"{}\n", *rows[4:]]), "line 4 is no record of a case"


def test_records_of_other_cases_are_not_gone_on_with(guard: Guard, cases: CaseFile, tmp_path: Path) -> None:
    """A file that somebody sorted."""
    run = run_to_file(guard, cases, tmp_path / "run.jsonl")
    heading, first, second, *_ = lines(run)
    run.path.write_bytes(heading + second + first)

    with pytest.raises(InputError, match="line 2 is of case 'wrong-0', not 'right-0'"):
        run_to_file(guard, cases, run.path)
