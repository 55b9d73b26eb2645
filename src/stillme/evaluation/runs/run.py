"""Cases run through a guard, one record each, in the order of the cases whatever the number of processes.

A run file has its heading in the first line and a record in each line after it. A run that was cut goes on after its last whole record,
under the same cases, policy, model and version or not at all.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, BinaryIO, Final

from pydantic import BaseModel, ValidationError

from stillme.contract import ClaimVerdict, Verdict, VerifyRequest
from stillme.errors import BackendError, InputError, shown
from stillme.evaluation.runs.case_files import CaseFile
from stillme.evaluation.runs.cases import Case
from stillme.evaluation.runs.records import CaseRecord, ClaimRecord, RunHeading
from stillme.evidence import Evidence
from stillme.grounding.grounder import ExactGrounder
from stillme.guard import Guard, Occurrence, grounder_for
from stillme.policy import Policy
from stillme.reasons import Decision
from stillme.validators.chain import attempt
from stillme.version import __version__

__all__ = ["Run", "error_record", "heading_of", "read_run", "record_of", "run_case", "run_cases", "run_to_file"]

CHUNK: Final = 16
AHEAD: Final = 4
"""So many chunks for each process are under way or wait to be written."""
MOST_LINE: Final = 64 * 1024 * 1024
CITATIONS: Final = frozenset({"CitationRequired", "CitationRelevance"})
GuardMaker = Callable[[], Guard]


@dataclass(frozen=True, slots=True)
class Run:
    """A run file: its heading, and its records read again as often as they are needed."""

    heading: RunHeading
    path: Path

    def __iter__(self) -> Iterator[CaseRecord]:
        with self.path.open("rb") as stream:
            yield from _read(stream, self.path)


# one case


def run_case(guard: Guard, case: Case, as_of: datetime | None = None) -> CaseRecord:
    """The record of one case; what keeps it from a verdict becomes the record's error.

    `as_of` is the point in time that a request without its own is judged at.
    """
    request = case.request
    if request.as_of is None and as_of is not None:
        request = request.model_copy(update={"as_of": as_of})
    record, problem = attempt(lambda: record_of(case, guard.examine(request, record=False)))
    return record if isinstance(record, CaseRecord) else error_record(case, problem or "it gave no verdict")


def record_of(case: Case, occurrence: Occurrence) -> CaseRecord:
    """What came out of a case, beside what is known about it."""
    verdict, request = occurrence.verdict, case.request
    claims, uncovered = _claims(case, verdict)
    scores = [c.score for c in claims if c.score is not None]
    return CaseRecord(
        **_known(case),
        language=verdict.language,
        decision=verdict.decision,
        action=verdict.action,
        reasons=tuple(verdict.reasons),
        verified=verdict.verified,
        confidence_band=verdict.confidence_band,
        probability=min(scores, default=None),
        max_similarity=verdict.metrics.max_similarity,
        generation_confidence=request.generation_confidence,
        source_required=verdict.source_required,
        claims=claims,
        unlabelled_unsupported=uncovered,
        elapsed_ms=verdict.metrics.elapsed_ms,
    )


def error_record(case: Case, problem: str) -> CaseRecord:
    """A case that could not be run, and why."""
    asked = case.request.metadata.language
    return CaseRecord(**_known(case), language=None if asked == "auto" else asked, error=problem)


def _known(case: Case) -> dict[str, Any]:
    return {
        "id": case.id,
        "expected": case.expected,
        "expected_reasons": case.reasons,
        "category": case.category,
        "domain": case.request.metadata.domain,
        "tags": case.tags,
    }


def _claims(case: Case, verdict: Verdict) -> tuple[tuple[ClaimRecord, ...], int]:
    """The claims with their labels, and how many labelled unsupported parts none of them covers."""
    draft, labels = case.request.draft_answer or "", case.spans
    cited = _cited(case.request, verdict) if verdict.claims else frozenset()
    covered: set[int] = set()
    made: list[ClaimRecord] = []
    for claim in verdict.claims:
        own = [n for n, (start, end, _) in enumerate(labels) if _share_a_word(draft, claim, start, end)]
        covered.update(own)
        made.append(_claim(claim, [labels[n][2] for n in own], claim.start in cited))
    return tuple(made), sum(not supported and n not in covered for n, (_, _, supported) in enumerate(labels))


def _claim(claim: ClaimVerdict, labels: Sequence[bool], cited: bool) -> ClaimRecord:
    return ClaimRecord(
        start=claim.start,
        end=claim.end,
        status=claim.status,
        score=claim.score,
        source_ids=tuple(claim.source_ids),
        cited=cited,
        supported=all(labels) if labels else None,
        missed=tuple(claim.unsupported_spans),
    )


def _share_a_word(draft: str, claim: ClaimVerdict, start: int, end: int) -> bool:
    """Whether a labelled part and a claim have more in common than the blanks and stops between sentences."""
    return any(char.isalnum() for char in draft[max(start, claim.start) : min(end, claim.end)])


def _cited(request: VerifyRequest, verdict: Verdict) -> frozenset[int]:
    """Where the claims start that cite a source which supports them, in the draft or in the repaired text that is delivered."""
    evidence = Evidence(request, verdict.as_of, ExactGrounder(), None)
    passages = evidence.passages
    named = {claim.start: {passages[i].source_id for i in claim.cited} for claim in evidence.claims}
    delivered = verdict.decision is Decision.ANSWER and verdict.safe_response is not None
    repaired = {
        start for f in verdict.findings if delivered and f.repaired and f.validator in CITATIONS for start, _ in f.spans
    }
    return frozenset(
        c.start
        for c in verdict.claims
        if c.status == "supported" and (c.start in repaired or not named.get(c.start, set()).isdisjoint(c.source_ids))
    )


# many cases


def run_cases(
    guard: Guard,
    cases: Iterable[Case],
    *,
    jobs: int = 1,
    as_of: datetime | None = None,
    make_guard: GuardMaker | None = None,
) -> Iterator[CaseRecord]:
    """The records in the order of the cases, as they are ready, the same for any number of processes but for the time taken.

    Each process has a guard of its own: of the same policy, or what `make_guard` makes, which a guard with a grounder or validators of
    its own needs. A case that kills its process is an error record like any other crash.
    """
    if jobs < 1:
        raise InputError(f"jobs is at least 1, got {jobs}")
    if jobs == 1:
        return (run_case(guard, case, as_of) for case in cases)
    return _in_processes(_maker(guard, make_guard), cases, jobs, as_of)


def _maker(guard: Guard, make_guard: GuardMaker | None) -> GuardMaker:
    if make_guard is None and (guard.added or guard.grounder is not None):
        raise InputError(
            "a guard with validators or a grounder of its own runs in several processes only with make_guard"
        )
    settings = guard.policy.model_dump(mode="json", exclude_unset=True)
    return make_guard or partial(_guard_like, settings, guard.policy.hash)


def _guard_like(settings: dict[str, Any], digest: str) -> Guard:
    policy = Policy.load(settings)
    if policy.hash != digest:
        raise BackendError("the policy is not the same in another process: run with one process")
    return Guard(policy)


def _in_processes(
    make_guard: GuardMaker, cases: Iterable[Case], jobs: int, as_of: datetime | None
) -> Iterator[CaseRecord]:
    remaining = iter(cases)
    waiting: deque[tuple[list[Case], Future[list[CaseRecord]]]] = deque()
    pool = _pool(make_guard, jobs)
    try:
        while True:
            while len(waiting) < jobs * AHEAD and (chunk := list(islice(remaining, CHUNK))):
                waiting.append((chunk, _submitted(pool, chunk, as_of)))
            if not waiting:
                return
            chunk, future = waiting.popleft()
            records = _result(future)
            if records is None:
                pool.shutdown(cancel_futures=True)
                pool = _pool(make_guard, jobs)
                records = list(_one_by_one(make_guard, chunk, as_of))
                waiting = deque((each, _submitted(pool, each, as_of)) for each, _ in waiting)
            yield from records
    finally:
        pool.shutdown(cancel_futures=True)


def _one_by_one(make_guard: GuardMaker, cases: Sequence[Case], as_of: datetime | None) -> Iterator[CaseRecord]:
    """The records of a chunk that killed its process: one of its cases did, and the others are told apart from it."""
    pool = _pool(make_guard, 1)
    if _result(_submitted(pool, [], as_of)) is None:
        raise BackendError("no process can be started for the cases: run with one process (--jobs 1)")
    try:
        for case in cases:
            records = _result(_submitted(pool, [case], as_of))
            if records is None:
                pool.shutdown(cancel_futures=True)
                pool = _pool(make_guard, 1)
            yield from records or [error_record(case, "the process that ran it ended without a result")]
    finally:
        pool.shutdown(cancel_futures=True)


def _pool(make_guard: GuardMaker, jobs: int) -> ProcessPoolExecutor:
    # Processes are started afresh: a copy of one whose libraries have threads may stand still.
    return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_begin, initargs=(make_guard,))


def _submitted(pool: ProcessPoolExecutor, cases: list[Case], as_of: datetime | None) -> Future[list[CaseRecord]]:
    try:
        return pool.submit(_run_chunk, cases, as_of)
    except BrokenProcessPool as error:
        failed: Future[list[CaseRecord]] = Future()
        failed.set_exception(error)
        return failed


def _result(future: Future[list[CaseRecord]]) -> list[CaseRecord] | None:
    """The records of a chunk, None where its process ended before they were there."""
    try:
        return future.result()
    except BrokenProcessPool:
        return None


_guards: list[Guard] = []
"""The one guard of a process that runs cases for another."""


def _begin(make_guard: GuardMaker) -> None:
    # The process that started this one is interrupted as well, and ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _guards.append(make_guard())


def _run_chunk(cases: Sequence[Case], as_of: datetime | None) -> list[CaseRecord]:
    return [run_case(_guards[0], case, as_of) for case in cases]


# run files


def heading_of(guard: Guard, cases: CaseFile, name: str, started: datetime | None = None) -> RunHeading:
    """What a run of these cases by this guard is made of; without a start it starts now."""
    policy = guard.policy
    return RunHeading(
        name=name,
        cases=cases.name,
        cases_sha256=cases.sha256,
        count=cases.count,
        policy_hash=policy.hash,
        policy=policy.model_dump(mode="json", exclude_unset=True),
        model_id=(guard.grounder or grounder_for(policy)).id,
        version=__version__,
        started=(started or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds"),
    )


def run_to_file(
    guard: Guard,
    cases: CaseFile,
    path: Path,
    *,
    name: str = "run",
    jobs: int = 1,
    make_guard: GuardMaker | None = None,
    started: datetime | None = None,
    on_record: Callable[[CaseRecord], None] | None = None,
) -> Run:
    """The run in a file, whole: made anew, or gone on with where it was cut. `on_record` hears of each record, old ones too.

    A request without `as_of` is judged as of the start that the heading states, so that going on gives the same records.
    """
    wanted = heading_of(guard, cases, name, started)
    heading, done = _resumed(path, wanted, cases, on_record)
    remaining = islice(cases, done, None)
    as_of = datetime.fromisoformat(heading.started)
    with path.open("ab") as out:
        if path.stat().st_size == 0:
            _write(out, heading)
        for record in run_cases(guard, remaining, jobs=jobs, as_of=as_of, make_guard=make_guard):
            _write(out, record)
            if on_record is not None:
                on_record(record)
    return Run(heading, path)


def read_run(path: str | Path) -> Run:
    """A run file; its records are read when they are asked for, and a run that was cut is then an InputError."""
    place = Path(path)
    try:
        with place.open("rb") as stream:
            return Run(_heading(stream.readline(MOST_LINE), place), place)
    except OSError as error:
        raise InputError(f"{place} cannot be read: {error.strerror or error}") from None


def _write(out: BinaryIO, line: BaseModel) -> None:
    out.write(line.model_dump_json().encode("utf-8") + b"\n")
    out.flush()


def _resumed(
    path: Path, wanted: RunHeading, cases: CaseFile, on_record: Callable[[CaseRecord], None] | None
) -> tuple[RunHeading, int]:
    """The heading of the run and how many of its records are there; what a cut left of a record is removed."""
    if not path.exists() or path.stat().st_size == 0:
        return wanted, 0
    done = 0
    with path.open("r+b") as stream:
        first = stream.readline(MOST_LINE)
        if not first.endswith(b"\n") and wanted.model_dump_json().encode().startswith(first[:20]):
            stream.truncate(0)  # it was cut within its heading
            return wanted, 0
        heading = _heading(first, path)
        _check_same(heading, wanted, path)
        end = stream.tell()
        whole = zip(_records(stream, path, may_be_cut=True), cases, strict=False)
        for (record, end), case in whole:  # noqa: B007  (the last end is where it goes on)
            if record.id != case.id:
                raise InputError(
                    f"{path} line {done + 2} is of case {shown(record.id)}, not {shown(case.id)}: remove it"
                )
            done += 1
            if on_record is not None:
                on_record(record)
        stream.truncate(end)
    return heading, done


def _check_same(kept: RunHeading, wanted: RunHeading, path: Path) -> None:
    words = {"cases_sha256": "cases", "policy_hash": "policy", "model_id": "model", "version": "version of stillme"}
    other = [word for key, word in words.items() if getattr(kept, key) != getattr(wanted, key)]
    if other:
        raise InputError(
            f"{path} is a run of another {' and '.join(other)}: name another file, or remove it to start anew"
        )


def _heading(line: bytes, path: Path) -> RunHeading:
    try:
        return RunHeading.model_validate_json(line)
    except ValidationError:
        raise InputError(f"{path} is no run file: its first line has no heading of a run") from None


def _read(stream: BinaryIO, path: Path) -> Iterator[CaseRecord]:
    """Every record of a whole run; InputError where it is not whole."""
    heading, done = _heading(stream.readline(MOST_LINE), path), 0
    for record, _ in _records(stream, path, may_be_cut=False):
        done += 1
        yield record
    if done != heading.count:
        raise InputError(f"{path} has {done} of {heading.count} records: run it again to go on where it was cut")


def _records(stream: BinaryIO, path: Path, *, may_be_cut: bool) -> Iterator[tuple[CaseRecord, int]]:
    """The records, each with the place where it ends."""
    for number, line in enumerate(iter(lambda: stream.readline(MOST_LINE), b""), 2):
        if not line.endswith(b"\n"):
            if may_be_cut:
                return
            raise InputError(f"{path} was cut in line {number}: run it again to go on from there")
        try:
            yield CaseRecord.model_validate_json(line), stream.tell()
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]["msg"]
            raise InputError(f"{path} line {number} is no record of a case: {problem}") from None
