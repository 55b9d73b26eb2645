"""`stillme eval`: cases through one or several policies, their figures, and whether the bars are met."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import click

from stillme.cli.options import chosen_policy
from stillme.cli.printing import Exit, complain, draw, followed, print_json
from stillme.errors import InputError, shown

if TYPE_CHECKING:
    from stillme.evaluation.runs.case_files import CaseFile
    from stillme.evaluation.runs.comparison import Comparison
    from stillme.evaluation.runs.metrics import RunMetrics
    from stillme.evaluation.runs.requirements import Bar, BarOutcome
    from stillme.evaluation.runs.run import Run
    from stillme.policy import Policy

__all__ = ["Evaluated", "evaluate"]

SLICE_IN_JSON: Final = 1


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One run with its figures and how it stands to the bars."""

    run: Run
    metrics: RunMetrics
    outcomes: list[BarOutcome]


@click.command("eval", short_help="Measure policies on labelled cases.")
@click.argument("cases", metavar="CASES|starter|worlds|-", required=False)
@click.option(
    "--policy",
    "policies",
    metavar="FILE|PRESET",
    multiple=True,
    help="A policy to measure; several are compared with the first. Without: that of STILLME_POLICY, policy.yaml of this folder, lite.",
)
@click.option("--out", metavar="FILE", help="Keep the run in FILE; a run that was cut goes on where it stopped.")
@click.option("--against", metavar="RUN", help="Compare with this earlier run of the same cases.")
@click.option("--public", metavar="DIR", help="Take the cases from a public set that was unpacked into DIR.")
@click.option(
    "-j", "--jobs", type=click.IntRange(min=0), default=1, show_default=True, help="Processes; 0: one a core."
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help="A sample of so many cases, in which each decision, category and language has its share; the same each time.",
)
@click.option(
    "--min", "least", metavar="METRIC=VALUE", multiple=True, help="A bar that the metric must not fall below."
)
@click.option("--max", "most", metavar="METRIC=VALUE", multiple=True, help="A bar that the metric must not exceed.")
@click.option("--strict", is_flag=True, help="The far end of the 95 % interval has to meet the bars.")
@click.option(
    "--slices", type=click.IntRange(min=1), metavar="N", help="Also by language, domain, category and tag with N cases."
)
@click.option("--questions", metavar="FILE", help="With worlds: write the claims to FILE, for another tool to answer.")
@click.option("--answers", metavar="FILE", help="With worlds: measure the answers of another tool.")
@click.option("--json/--human", "as_json", default=False, help="JSON for programs, instead of tables for people.")
@click.pass_context
def evaluate(
    ctx: click.Context,
    /,
    cases: str | None,
    policies: tuple[str, ...],
    out: str | None,
    against: str | None,
    public: str | None,
    **how: Any,
) -> None:
    """Run the labelled CASES (JSON lines or CSV; - is standard input) under each policy and print the figures.

    `starter` names the cases that come with StillMe, `worlds` the claims that only reading tells apart: each is judged against sources
    that support it and against sources that do not (docs/worlds.md). The metrics are those of docs/evaluation.md, each with what was
    counted and its 95 % interval. Nothing is recorded in an audit store.

    \b
    The exit code is the first of these that holds:
       3  the cases, a bar or the earlier run cannot be used
       4  a policy cannot be used
      12  a bar is missed (it is named on standard error)
       5  a case could not be run, and no bar says how many may fail
       0  otherwise
    """
    from stillme.evaluation.runs.requirements import parse_bar
    from stillme.evaluation.runs.run import read_run

    if _is_worlds(cases, how, bool(out or against or public)):
        from stillme.cli.evaluation.worlds import evaluate_worlds

        evaluate_worlds(_guards(policies), **{name: how[name] for name in ("limit", "as_json", "answers", "questions")})
        return
    bars = [*(parse_bar("max", text) for text in how["most"]), *(parse_bar("min", text) for text in how["least"])]
    earlier = read_run(against) if against else None
    with TemporaryDirectory(prefix="stillme-eval-") as unkept:
        folder = Path(unkept)
        found = _cases(cases, public, how["limit"], folder)
        if earlier is not None and earlier.heading.cases_sha256 != found.sha256:
            raise InputError(f"{shown(str(against))} is a run of other cases: run it again on these")
        guards = _guards(policies)
        runs = [
            _evaluated(name, policy, found, path, how["jobs"], bars, how["strict"])
            for (name, policy), path in zip(guards, _paths(out, [name for name, _ in guards], folder), strict=True)
        ]
        compared = _compared([e.run for e in runs], earlier)
        _print(found, runs, compared, how["as_json"], how["slices"])
    ctx.exit(_exit(runs, bars))


def _is_worlds(cases: str | None, how: dict[str, Any], has_others: bool) -> bool:
    """Whether the claims in two worlds are meant; options of the one kind of evaluation are an error with the other."""
    from stillme.evaluation.worlds.documents import WORLDS

    if cases == WORLDS and not Path(WORLDS).is_file():
        if has_others or how["least"] or how["most"] or how["slices"]:
            raise InputError("`eval worlds` takes --policy, --limit, --json, --questions and --answers only")
        return True
    if how["questions"] or how["answers"]:
        raise InputError("--questions and --answers belong to `stillme eval worlds`")
    return False


# the cases


def _cases(cases: str | None, public: str | None, limit: int | None, folder: Path) -> CaseFile:
    from stillme.batch.input_files import STDIN
    from stillme.evaluation.runs.case_files import STARTER, checked, read_cases, starter_file

    if (cases is None) == (public is None):
        raise InputError("name the cases: a file, - for standard input, or starter; or a folder with --public DIR")
    if public is not None:
        return checked(_spooled(_public(public), folder), limit, public)
    if cases == STDIN:
        return checked(_spooled(read_cases(STDIN), folder), limit, "standard input")
    if cases == STARTER and not Path(STARTER).is_file():
        return checked(starter_file(), limit, STARTER)
    return checked(str(cases), limit)


def _public(folder: str) -> Iterator[Any]:
    from stillme.evaluation.runs.importing import find_public

    public = find_public(folder)
    for name in public.unknown:
        click.echo(f"left out, its layout is not known: {shown(name)}", err=True)
    return iter(public)


def _spooled(cases: Iterator[Any], folder: Path) -> Path:
    """Cases that can be read once only, in a file that can be read again."""
    from stillme.evaluation.runs.case_files import written

    path = folder / "cases.jsonl"
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(map(written, cases))
    return path


# the runs


def _guards(policies: tuple[str, ...]) -> list[tuple[str, Policy]]:
    """The policies by name, each its own."""
    from stillme.policy import Policy

    named: dict[str, Policy] = {}
    for source in policies or (chosen_policy(os.environ.get("STILLME_POLICY")) or "lite",):
        policy = Policy.load(source)
        policy.build()
        stem = Path(source).stem
        name = next(n for n in (stem, *(f"{stem}-{k}" for k in range(2, len(policies) + 2))) if n not in named)
        named[name] = policy
    return list(named.items())


def _paths(out: str | None, names: list[str], folder: Path) -> list[Path]:
    """A file a run: the one named, with the name of the policy put in where there are several."""
    if out is None:
        return [folder / f"run-{number}.jsonl" for number, _ in enumerate(names)]
    path = Path(out)
    if len(names) == 1:
        return [path]
    return [path.with_name(f"{path.stem}-{name}{path.suffix}") for name in names]


def _evaluated(
    name: str, policy: Policy, cases: CaseFile, path: Path, jobs: int, bars: list[Bar], strict: bool
) -> Evaluated:
    from stillme.batch.judging import guard_of
    from stillme.evaluation.runs.metrics import RunMetrics
    from stillme.evaluation.runs.requirements import check_bars
    from stillme.evaluation.runs.run import run_to_file

    metrics = RunMetrics()
    make = partial(guard_of, policy.model_dump(mode="json", exclude_unset=True))
    with followed(cases.count, "cases") as advance:

        def count(record: Any) -> None:
            metrics.add(record)
            advance(1)

        run = run_to_file(
            make(),
            cases,
            path,
            name=name,
            jobs=jobs or os.cpu_count() or 1,
            make_guard=make,
            started=datetime.now(UTC),
            on_record=count,
        )
    return Evaluated(run, metrics, check_bars(bars, metrics, strict=strict))


def _compared(runs: list[Run], earlier: Run | None) -> list[Comparison]:
    from stillme.evaluation.runs.comparison import compare

    first, *others = [earlier, *runs] if earlier is not None else runs
    return [compare(first, run) for run in others]


# what is said


def _print(
    cases: CaseFile, runs: list[Evaluated], compared: list[Comparison], as_json: bool, slices: int | None
) -> None:
    if as_json:
        print_json(_object(cases, runs, compared, slices or SLICE_IN_JSON), indent=2)
        return
    from stillme.cli.evaluation.pages import comparison_page, run_page

    for each in runs:
        draw(partial(run_page, each, slices))
    for comparison in compared:
        draw(partial(comparison_page, comparison))


def _object(cases: CaseFile, runs: list[Evaluated], compared: list[Comparison], slices: int) -> dict[str, Any]:
    return {
        "cases": {"name": cases.name, "count": cases.count, "sha256": cases.sha256},
        "runs": [
            {
                "heading": each.run.heading.model_dump(mode="json"),
                "metrics": each.metrics.to_dict(slices),
                "bars": [outcome.to_dict() for outcome in each.outcomes],
            }
            for each in runs
        ],
        "comparisons": [comparison.to_dict() for comparison in compared],
    }


def _exit(runs: list[Evaluated], bars: list[Bar]) -> int:
    missed = [(each, outcome) for each in runs for outcome in each.outcomes if not outcome.met]
    for each, outcome in missed:
        complain(f"bar missed by {each.run.heading.name}: {outcome.bar}: {outcome.why}")
    if missed:
        return Exit.BAR_MISSED
    failed = sum(each.metrics.errors for each in runs)
    if failed and not any(bar.name == "errors" for bar in bars):
        what = "case" if failed == 1 else "cases"
        complain(f"{failed} {what} could not be run, in no figure: see `error` in its record (--out FILE)")
        return Exit.NOT_VERIFIED
    return Exit.ANSWER
