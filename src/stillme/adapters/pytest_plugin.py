"""StillMe in pytest: files of labelled cases are tests, bars on their figures are tests, and a fixture judges answers of yours.

    # pytest.ini
    [pytest]
    stillme_policy = policy.yaml
    stillme_bars =
        max escape_rate=0.05
        min source_coverage=0.9

Every file `*.stillme.jsonl` and `*.stillme.csv` is collected: a test a case, which passes where the decision is the expected one, and a
test a bar. Installed with the package; it imports nothing until such a file or the fixture is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from stillme.contract import Verdict
    from stillme.evaluation.runs.cases import Case
    from stillme.evaluation.runs.records import CaseRecord
    from stillme.evaluation.runs.requirements import Bar
    from stillme.guard import Guard

__all__ = ["CaseFile", "StillMe"]

ENDINGS = (".stillme.jsonl", ".stillme.csv")
WHEN = "stillme_as_of"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the policy and the bars are said."""
    parser.addini("stillme_policy", "policy of cases and fixture: a YAML file, or lite, book, strict")
    parser.addini("stillme_bars", "bars on every file of cases: max|min METRIC=VALUE, one a line", type="linelist")
    parser.addini(WHEN, "the point in time that cases without their own are judged at, ISO 8601")
    group = parser.getgroup("stillme")
    group.addoption("--stillme-policy", metavar="FILE|PRESET", help="replaces the ini option stillme_policy")
    group.addoption("--stillme-summary", metavar="FILE", help="append a Markdown summary of cases and bars to FILE")


def pytest_configure(config: pytest.Config) -> None:
    """Keep what the summary says."""
    config.stash[_SUMMARY] = []


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the files of cases."""
    if not file_path.name.endswith(ENDINGS):
        return None
    return CaseFile.from_parent(parent, path=file_path)


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:  # noqa: ARG001
    """Write the summary, if one is wanted."""
    where = config.getoption("--stillme-summary")
    if where and config.stash[_SUMMARY]:
        with Path(where).open("a", encoding="utf-8") as out:
            rows = config.stash[_SUMMARY]
            out.writelines(_summary_of(rows))


class CaseFile(pytest.File):
    """A file of cases: a test for each that says what is expected, then one for each bar."""

    def collect(self) -> Iterator[pytest.Item]:
        """The tests of the file."""
        from stillme.errors import InputError  # noqa: PLC0415  (nothing is imported before there is such a file)
        from stillme.evaluation.runs.case_files import read_cases  # noqa: PLC0415

        try:
            self.cases = {case.id: case for case in read_cases(self.path)}
            bars = [_bar(text) for text in self.config.getini("stillme_bars")]
        except InputError as error:
            raise self.CollectError(str(error)) from None
        self.records: dict[str, CaseRecord] = {}
        for case in self.cases.values():
            if case.expected is not None:
                yield CaseTest.from_parent(self, name=case.id, case=case)
        for bar in bars:
            yield BarTest.from_parent(self, name=str(bar).removeprefix("--"), bar=bar)

    def record(self, case: Case) -> CaseRecord:
        """What came of a case, run once."""
        from stillme.evaluation.runs.run import run_case  # noqa: PLC0415

        if case.id not in self.records:
            self.records[case.id] = run_case(_guard(self.config), case, _moment(self.config))
        return self.records[case.id]


class Unmet(Exception):  # noqa: N818  (what a test says, no error of ours)
    """A case came out otherwise, or a bar is missed."""


class _Test(pytest.Item):
    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The reason alone, without a traceback through the plugin."""
        return str(excinfo.value) if excinfo.errisinstance(Unmet) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where it stands."""
        return self.path, None, self.name

    def note(self, what: str, met: bool, why: str) -> None:
        """Keep a row of the summary, and fail where it is not met."""
        self.config.stash[_SUMMARY].append((self.path.name, what, met, why))
        if not met:
            raise Unmet(why)


class CaseTest(_Test):
    """One case: its decision is the expected one."""

    def __init__(self, *, case: Case, **rest: Any) -> None:
        super().__init__(**rest)
        self.case = case

    def runtest(self) -> None:
        """Run the case."""
        assert isinstance(self.parent, CaseFile)  # noqa: S101  (it made this test)
        found = self.parent.record(self.case)
        decision = found.error or f"{found.decision}: {', '.join(found.reasons) or 'no reasons'}"
        self.note(self.name, found.decision == self.case.expected, f"expected {self.case.expected}, got {decision}")


class BarTest(_Test):
    """One bar on the figures of a file; cases that another test has not run are run here."""

    def __init__(self, *, bar: Bar, **rest: Any) -> None:
        super().__init__(**rest)
        self.bar = bar

    def runtest(self) -> None:
        """Count, and compare."""
        from stillme.evaluation.runs.metrics import metrics_of  # noqa: PLC0415
        from stillme.evaluation.runs.requirements import check_bars  # noqa: PLC0415

        assert isinstance(self.parent, CaseFile)  # noqa: S101
        metrics = metrics_of(self.parent.record(case) for case in self.parent.cases.values())
        missed = [outcome for outcome in check_bars([self.bar], metrics) if not outcome.met]
        self.note(self.name, not missed, "; ".join(f"{each.bar}: {each.why}" for each in missed))


class StillMe:
    """What the fixture `stillme` gives: the guard, and an assertion on answers."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard

    def verify(self, query: str, answer: str, passages: Sequence[str | Mapping[str, Any]] = (), **rest: Any) -> Verdict:
        """The verdict on an answer; a passage is a text or an object of the contract."""
        given = [p if isinstance(p, Mapping) else {"source_id": str(n), "text": p} for n, p in enumerate(passages, 1)]
        return self.guard.verify({"query": query, "draft_answer": answer, "retrieved_context": given, **rest})

    def assert_supported(
        self, query: str, answer: str, passages: Sequence[str | Mapping[str, Any]] = (), **rest: Any
    ) -> Verdict:
        """Fail, claim by claim, where an answer would not be given or nothing vouches for it."""
        __tracebackhide__ = True
        verdict = self.verify(query, answer, passages, **rest)
        if verdict.decision.value != "answer" or not verdict.verified:
            claims = [f"  {c.status}: {c.text}{f' ({c.detail})' if c.detail else ''}" for c in verdict.claims]
            pytest.fail("\n".join([f"{verdict.decision.value}: {', '.join(verdict.reasons)}", *claims]), pytrace=False)
        return verdict


@pytest.fixture(scope="session")
def stillme(pytestconfig: pytest.Config) -> StillMe:
    """The guard of the policy that the configuration names, with `verify` and `assert_supported`."""
    return StillMe(_guard(pytestconfig))


_SUMMARY: pytest.StashKey[list[tuple[str, str, bool, str]]] = pytest.StashKey()
_GUARD: pytest.StashKey[Any] = pytest.StashKey()


def _guard(config: pytest.Config) -> Guard:
    from stillme.guard import Guard  # noqa: PLC0415

    if _GUARD not in config.stash:
        named = config.getoption("--stillme-policy") or config.getini("stillme_policy")
        beside = config.rootpath / named if named else None
        config.stash[_GUARD] = Guard(str(beside) if beside is not None and beside.is_file() else named or None)
    guard: Guard = config.stash[_GUARD]
    return guard


def _moment(config: pytest.Config) -> datetime | None:
    said = config.getini(WHEN)
    if not said:
        return None
    moment = datetime.fromisoformat(said)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _bar(text: str) -> Bar:
    from stillme.errors import InputError, shown  # noqa: PLC0415
    from stillme.evaluation.runs.requirements import parse_bar  # noqa: PLC0415

    kind, _, bar = text.strip().partition(" ")
    if kind == "max":
        return parse_bar("max", bar)
    if kind == "min":
        return parse_bar("min", bar)
    raise InputError(f"stillme_bars has max METRIC=VALUE or min METRIC=VALUE on a line, got {shown(text)}")


def _summary_of(rows: Sequence[tuple[str, str, bool, str]]) -> Iterator[str]:
    met = sum(each[2] for each in rows)
    yield f"## StillMe: {met} of {len(rows)} met\n\n"
    if met < len(rows):
        yield "| file | what | why not |\n|---|---|---|\n"
        yield from (
            f"| {_cell(file)} | {_cell(what)} | {_cell(why)} |\n" for file, what, is_met, why in rows if not is_met
        )


def _cell(text: str) -> str:
    """A text that stays in its cell and does nothing there."""
    kept = text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
    return " ".join(kept.split())
