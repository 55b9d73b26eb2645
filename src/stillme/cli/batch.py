"""`stillme batch`: files of rows through the guard, in several processes or on Ray, and what they came to."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from stillme.cli.options import POLICY, chosen_policy, moment_given
from stillme.cli.printing import Exit, human_wanted, print_json, tell
from stillme.errors import InputError

if TYPE_CHECKING:
    from stillme.batch.heading import Batch
    from stillme.batch.run import Engine, Following

__all__ = ["batch", "pace"]

EVERY_S: Final = 30.0
"""Where no bar can be drawn, a line says how far it is so often."""


@click.command(short_help="Verify files of rows: JSON lines, CSV or Parquet.")
@click.argument("sources", metavar="IN...", nargs=-1, required=True)
@click.argument("out", metavar="OUT")
@POLICY
@click.option(
    "--map", "pairs", metavar="FIELD=COLUMN", multiple=True, help="Where a field stands that goes by another name."
)
@click.option(
    "--engine",
    type=click.Choice(["processes", "ray"]),
    default="processes",
    show_default=True,
    help="Processes of this machine, or actors of a Ray cluster.",
)
@click.option(
    "-j", "--jobs", type=click.IntRange(min=0), default=0, show_default=True, help="Processes or actors; 0: one a core."
)
@click.option("--brief", is_flag=True, help="Results without the whole verdict.")
@click.option("--as-of", metavar="TIME", help="When rows without their own are judged. Without: when the batch began.")
@click.option("--anew", is_flag=True, help="Begins again where OUT is there already.")
@click.option(
    "--json/--human", "as_json", default=None, help="The report. Without either: text on a terminal, else JSON."
)
@click.pass_context
def batch(ctx: click.Context, /, sources: tuple[str, ...], out: str, as_json: bool | None, **how: Any) -> None:
    """Verify the rows of IN (files, folders, patterns) and write a result for each to OUT, in their order.

    IN and OUT are JSON lines, CSV or Parquet, by how their names end. A row is a request, or has columns query, draft_answer, context
    and so on (docs/batch.md). The same command goes on where a batch was cut. OUT.report.json has the report that is printed at the end.
    Nothing is recorded in an audit store.

    \b
    The exit code is
       3  a row has no verdict: its `error` says why; or an argument cannot be used
       4  the policy cannot be used
       0  every row has a verdict
    """
    from stillme.batch.run import run_batch

    work = _batch(sources, out, how)
    with _followed(work.size) as on_progress:
        report = run_batch(work, _engine(how["engine"], how["jobs"]), on_progress, anew=how["anew"])
    tell(report.lines()) if human_wanted(as_json) else print_json(report.to_dict())
    ctx.exit(Exit.INPUT if report.errors else Exit.ANSWER)


def _batch(sources: tuple[str, ...], out: str, how: dict[str, Any]) -> Batch:
    from stillme.batch.columns import parse_mapping
    from stillme.batch.heading import Batch
    from stillme.batch.inputs import find_inputs
    from stillme.batch.judging import Recipe, guard_of
    from stillme.guard import grounder_for
    from stillme.policy import Policy

    mapping, as_of = parse_mapping(how["pairs"]), moment_given(how["as_of"])
    if how["as_of"] is None:
        as_of = as_of.replace(microsecond=0)
    files = find_inputs(sources, Path(out))
    policy = Policy.load(chosen_policy(how["policy"]))
    policy.build()
    recipe = Recipe.of(policy, as_of, mapping, brief=how["brief"])
    model = (guard_of(recipe.policy).grounder or grounder_for(policy)).id
    return Batch(files, Path(out), recipe, model, is_dated=how["as_of"] is not None)


def _engine(name: str, jobs: int) -> Engine:
    if name == "ray":
        try:
            from stillme.batch.on_ray import on_ray
        except ImportError:
            raise InputError("--engine ray needs Ray Data: pip install 'stillme[ray]'") from None

        logging.getLogger("ray.data").setLevel(logging.ERROR)  # its plans are no part of what this command says
        return on_ray(jobs)
    from stillme.batch.run import in_processes

    return in_processes(jobs or os.cpu_count() or 1)


# how far it is


def pace(rows: int, share: float, seconds: float) -> str:
    """So many rows at such a rate, and the time that is left if it goes on like that."""
    rate = f"{rows / seconds:,.1f} rows/s" if seconds > 0 else "…"
    left = f"{_clock(seconds * (1 - share) / share)} left" if share > 0 and seconds > 0 else "…"
    return f"{rows:,} rows  {rate}  {left}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(max(seconds, 0)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


@contextmanager
def _followed(size: int) -> Iterator[Following]:
    """A bar on a terminal, else a line now and then, both on stderr."""
    on_terminal = sys.stderr is not None and sys.stderr.isatty()
    with _bar() if on_terminal else _lines() as show:
        began: list[tuple[float, int, int]] = []

        def follow(rows: int, position: int) -> None:
            now = time.monotonic()
            if not began:
                began.append((now, rows - 1, position))
            start, before, at = began[0]
            share = (position - at) / (size - at) if size > at else 1.0
            show(now, position / max(size, 1), lambda: pace(rows - before, share, now - start))

        yield follow


Show = Callable[[float, float, Callable[[], str]], None]


@contextmanager
def _lines() -> Iterator[Show]:
    said = [time.monotonic()]

    def show(now: float, share: float, words: Callable[[], str]) -> None:
        if now - said[0] >= EVERY_S:
            said[0] = now
            click.echo(f"{share:.0%}  {words()}", err=True)

    yield show


@contextmanager
def _bar() -> Iterator[Show]:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    from stillme.cli.terminal import console

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=None), TaskProgressColumn())
    with Progress(*columns, console=console(stderr=True), transient=True, redirect_stdout=False) as drawn:
        task, shown_at = drawn.add_task("", total=1.0), [0.0]

        def show(now: float, share: float, words: Callable[[], str]) -> None:
            if now - shown_at[0] > 0.1:
                shown_at[0] = now
                drawn.update(task, completed=share, description=words())

        yield show
