"""What `stillme eval` shows on a terminal: a run as tables, and two runs against each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from stillme.cli.terminal import plain_table, visible
from stillme.evaluation.runs.metrics import MANDATORY, SLICED_BY, CountedRate, Score, Tally
from stillme.reasons import Decision

if TYPE_CHECKING:
    from stillme.cli.evaluation.eval import Evaluated
    from stillme.evaluation.runs.comparison import Comparison, RateDifference
    from stillme.evaluation.runs.requirements import BarOutcome

__all__ = ["comparison_page", "run_page"]

HASH_SHOWN = 12
EXAMPLES_SHOWN = 10
VERDICT_STYLE = {"better": "green", "worse": "bold red", "no difference shown": "dim", "too little data": "dim"}


def run_page(each: Evaluated, slices: int | None, encoding: str) -> RenderableType:
    """The figures of a run: what it was made of, what was counted apart, every metric, and the bars."""
    heading, metrics = each.run.heading, each.metrics
    title = Text(visible(heading.name, encoding), style="bold underline").append(
        visible(f"  {heading.cases}", encoding), style="not bold"
    )
    made_of = (
        f"cases {heading.cases_sha256[:HASH_SHOWN]}, policy {heading.policy_hash[:HASH_SHOWN]}\n"
        f"model {heading.model_id}, stillme {heading.version}"
    )
    parts: list[RenderableType] = [
        title,
        Text(visible(made_of, encoding), style="dim"),
        Text(_apart(metrics)),
        Text(""),
    ]
    parts += [_figures([*metrics.rates(), *metrics.scores()]), Text(""), _decisions(metrics)]
    if metrics.reasons():
        parts += [Text(""), _reasons(metrics, encoding)]
    if slices is not None:
        parts += [
            part
            for by in SLICED_BY
            if (rows := metrics.slices(by, slices))
            for part in (Text(""), _sliced(by, rows, encoding))
        ]
    parts += [Text(f"\n{line}", style="dim") for line in _latency(metrics)]
    if each.outcomes:
        parts += [Text(""), *_bars(each.outcomes)]
    return Group(*parts, Text(""))


def _apart(tally: Tally) -> str:
    cases = "case" if tally.cases == 1 else "cases"
    unverified = f"{tally.unverified} unverified ({tally.unverified_answers} of them answered)"
    return f"{tally.cases} {cases}: {tally.errors} errors, {tally.unscored} unscored, {unverified}"


def _latency(tally: Tally) -> Iterator[str]:
    middle, high = tally.latency_ms(0.5), tally.latency_ms(0.95)
    if middle is not None and high is not None:
        yield f"latency: half within {middle:.1f} ms, 95 % within {high:.1f} ms"


def _figures(figures: Iterable[CountedRate | Score]) -> Table:
    table = plain_table("metric", "value", "95 % interval", "counted")
    for figure in figures:
        name = Text(figure.name, style="bold" if figure.name in MANDATORY else "")
        table.add_row(name, *_cells(figure))
    return table


def _cells(figure: CountedRate | Score) -> list[str]:
    if isinstance(figure, CountedRate):
        counted = f"{figure.numerator} / {figure.denominator}"
        return [_percent(figure.value), _interval(figure), counted]
    value = "-" if figure.value is None else f"{figure.value:.3f}"
    ends = "" if figure.value is None else f"{figure.low:.3f} to {figure.high:.3f}"
    return [value, ends, f"{figure.unsupported} unsupported, {figure.supported} supported"]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _interval(rate: CountedRate) -> str:
    return "" if rate.value is None else f"{100 * rate.low:.1f} to {100 * rate.high:.1f} %"


def _decisions(tally: Tally) -> Table:
    table = plain_table("expected", *(f"decided {d.value}" for d in Decision))
    for expected in Decision:
        table.add_row(expected.value, *(str(tally.confusion[expected.value, d.value]) for d in Decision))
    return table


def _reasons(tally: Tally, encoding: str) -> Table:
    table = plain_table("reason code", "precision", "named", "recall", "expected")
    for reason in tally.reasons():
        precision, recall = reason.precision, reason.recall
        named, expected = (f"{r.numerator} / {r.denominator}" for r in (precision, recall))
        table.add_row(
            visible(reason.code, encoding), _percent(precision.value), named, _percent(recall.value), expected
        )
    return table


def _sliced(by: str, rows: list[tuple[str, Tally]], encoding: str) -> Table:
    table = plain_table(by, "cases", *MANDATORY, "false_refusal_rate")
    for value, tally in rows:
        cells = [_in_short(tally.rate(name)) for name in (*MANDATORY, "false_refusal_rate")]
        table.add_row(visible(value, encoding), str(tally.cases), *cells)
    return table


def _in_short(rate: CountedRate) -> str:
    if rate.value is None:
        return "-"
    return f"{_percent(rate.value)} ({rate.numerator} / {rate.denominator})\n{_interval(rate)}"


def _bars(outcomes: list[BarOutcome]) -> Iterator[Text]:
    for outcome in outcomes:
        met = ("met     ", "green") if outcome.met else ("MISSED  ", "bold red")
        yield Text.assemble(met, f"{outcome.bar}: {outcome.why}")


def comparison_page(comparison: Comparison, encoding: str) -> RenderableType:
    """What changed from one run to the other, and what of it is more than chance."""
    title = Text(visible(f"{comparison.before} → {comparison.after}", encoding), style="bold underline")
    changed = f"{comparison.changed} of {comparison.cases} cases are decided differently; {comparison.left_out} could not be run in both"
    parts: list[RenderableType] = [title, Text(changed), Text("")]
    if comparison.flips:
        parts += [_flips(comparison), Text(_directions(comparison)), Text("")]
    parts += [_differences(comparison.differences)]
    if comparison.examples:
        parts += [Text(""), _examples(comparison, encoding)]
    return Group(*parts, Text(""))


def _flips(comparison: Comparison) -> Table:
    table = plain_table("before", "after", "cases")
    for before, after, count in comparison.flips:
        table.add_row(before, after, str(count))
    return table


def _directions(comparison: Comparison) -> str:
    right = dict(comparison.directions)
    return (
        f"{right['after']} became right, {right['before']} became wrong, {right['neither']} stayed wrong, "
        f"{right['unknown']} expect nothing"
    )


def _differences(differences: Iterable[RateDifference]) -> Table:
    table = plain_table("metric", "before", "after", "difference, 95 %", "p", "p (Holm)", "")
    for d in differences:
        if d.value is None:
            table.add_row(
                d.name, _percent(d.before.value), _percent(d.after.value), "-", "", "", Text(d.verdict, style="dim")
            )
            continue
        change = f"{100 * d.value:+.1f} ({100 * d.low:+.1f} to {100 * d.high:+.1f})"
        said = Text(d.verdict, style=VERDICT_STYLE[d.verdict])
        table.add_row(d.name, _percent(d.before.value), _percent(d.after.value), change, _p(d.p), _p(d.adjusted), said)
    return table


def _p(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}" if value >= 0.001 else "< 0.001"


def _examples(comparison: Comparison, encoding: str) -> Table:
    table = plain_table("case", "expected", "before", "after", "right")
    for change in comparison.examples[:EXAMPLES_SHOWN]:
        table.add_row(visible(change.id, encoding), change.expected or "-", change.before, change.after, change.right)
    return table
