"""Charts as SVG: the same numbers give the same bytes.

This module says what a chart shows; templates/chart.svg and templates/bars.svg draw it. Each has a title and a description for those
who do not see it, states its axes, and says so where there is nothing to draw. Within a page its looks come from the page;
`standalone` gives a file that carries them along, light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from stillme.evaluation.runs.curves import CurvePoint
from stillme.pages.rendering import chart_style, render
from stillme.pages.text import clipped, counted, interval_words, on_one_line, percent

__all__ = ["Curve", "reason_bars", "reliability", "risk_coverage", "standalone", "threshold_sweep"]

WIDTH: Final = 640
HEIGHT: Final = 300
LEFT: Final = 62
RIGHT: Final = 18
TOP: Final = 14
ROW: Final = 22
DASHES: Final = ("", "8 4", "2 4", "10 3 2 3", "5 5", "14 4")
SCALES: Final = ((0.05, 0.01), (0.1, 0.02), (0.2, 0.05), (0.3, 0.05), (0.5, 0.1), (1.0, 0.2))
"""Where an axis may end, and the step of its ticks."""
MOST_BARS: Final = 15
LONGEST_LABEL: Final = 42
CHARACTER: Final = 7.1
"""How wide a character of a label is taken to be."""
SCORES: Final = tuple((n / 5, f"{n / 5:.1f}") for n in range(6))

Ticks = Sequence[tuple[float, str]]


@dataclass(frozen=True, slots=True)
class Curve:
    """The points of one run, and the one where it stands."""

    name: str
    points: Sequence[CurvePoint]
    at: CurvePoint | None = None


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A row of a legend: a line with its dashes, a dot where `dash` is None, the guide where `look` is below 0."""

    look: int
    dash: str | None
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Curves and points between axes whose x runs from 0 to 1 and whose y from 0 to `top`."""

    name: str
    title: str
    about: str
    labels: tuple[str, str]
    xs: Ticks
    ys: Ticks
    curves: Sequence[tuple[int, Sequence[CurvePoint]]] = ()
    dots: Sequence[CurvePoint] = ()
    spots: Sequence[tuple[int, CurvePoint]] = ()
    guide: tuple[tuple[float, float], tuple[float, float]]
    legend: Sequence[LegendEntry]
    unknown_below: float = 0.0
    counts_height: int = 0
    """Room under the chart for the counts of its dots."""

    @property
    def is_empty(self) -> bool:
        return not (self.curves or self.dots)

    @property
    def top(self) -> float:
        """Where the vertical axis ends."""
        return self.ys[-1][0]

    def x(self, value: float) -> float:
        """Where a value stands from left to right."""
        return LEFT + value * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Where a value stands from the top down."""
        return TOP + (1 - min(value, self.top) / self.top) * HEIGHT

    def svg(self) -> Markup:
        most = max((point.denominator for point in self.dots), default=1)
        sizes = {"width": WIDTH, "left": LEFT, "right": RIGHT, "top": TOP, "height": HEIGHT, "row": ROW}
        return render("chart.svg", chart=self, dashes=DASHES, most=most, **sizes)


def risk_coverage(curves: Sequence[Curve]) -> Markup:
    """The share of drafts with an unsupported claim among the best-scored ones, against how many those are."""
    drawn = [c for c in curves if c.points]
    ends = [p for c in curves for p in (*c.points[-1:], *([c.at] if c.at else []))]
    words = [_risk_words(c) for c in drawn] or ["No draft has both labelled claims and a score."]
    return Chart(
        name="risk-coverage",
        title="Risk against coverage",
        about=" ".join(words),
        labels=("Coverage: share of drafts answered", "Risk"),
        xs=_percents([1.0]),
        ys=_percents([*(p.y for c in curves for p in c.points), *(p.high for p in ends)]),
        curves=[(look, c.points) for look, c in enumerate(drawn)],
        spots=[(look, c.at) for look, c in enumerate(drawn) if c.at],
        guide=((0, 0), (0, 0)),
        legend=[
            LegendEntry(n, DASHES[n % 6], f"{_name(c.name)}: band 95 %, circle: as it ran") for n, c in enumerate(drawn)
        ],
    ).svg()


def reliability(bins: Sequence[CurvePoint]) -> Markup:
    """Of claims with about that score, the share that is supported, against the score; below it how many claims those are."""
    words = [
        f"At a score of about {p.x:.2f}: {percent(p.y, p.denominator)} of {counted(p.denominator, 'claim')} supported"
        f" ({interval_words((p.low, p.high), p.denominator)})."
        for p in bins
    ]
    return Chart(
        name="reliability",
        title="Reliability of the scores",
        about=" ".join(words) or "No labelled claim has a score.",
        labels=("Score of the claim", "Labelled supported"),
        xs=SCORES,
        ys=_percents([1.0]),
        dots=bins,
        guide=((0, 0), (1, 1)),
        legend=[
            LegendEntry(0, None, "claims in a tenth of the scores, with 95 % interval"),
            LegendEntry(-1, None, "where score and share agree"),
        ],
        counts_height=64,
    ).svg()


def threshold_sweep(escapes: Sequence[CurvePoint], refusals: Sequence[CurvePoint], least: float) -> Markup:
    """Escape rate and false refusal rate against `min_score`, from what the run had on."""
    lines = [(0, escapes, "hallucination_escape_rate"), (1, refusals, "false_refusal_rate")]
    drawn = [line for line in lines if line[1]]
    words = [f"{name}: {_ends_words(points)}." for _, points, name in drawn] or ["No case has the labels for this."]
    ys = _percents([p.high for _, points, _ in lines for p in points])
    beyond = "; further left its records do not say" if least > 0 else ""
    return Chart(
        name="threshold-sweep",
        title="Both errors against min_score",
        about=" ".join(words),
        labels=("min_score", "Rate"),
        xs=SCORES,
        ys=ys,
        curves=[(look, points) for look, points, _ in drawn],
        guide=((least, 0), (least, ys[-1][0])),
        legend=[
            *(LegendEntry(look, DASHES[look], f"{name}, band 95 %") for look, _, name in drawn),
            LegendEntry(-1, None, f"min_score of the run: {least:g}{beyond}"),
        ],
        unknown_below=least,
    ).svg()


def reason_bars(rows: Sequence[tuple[str, int, int, int]], cases: int) -> Markup:
    """How many cases named each code: decided as expected, not as expected, nothing expected."""
    labels = [clipped(on_one_line(code), LONGEST_LABEL).partition(" (")[0] for code, *_ in rows[:MOST_BARS]]
    bars = [(label, counts, sum(counts)) for label, (_, *counts) in zip(labels, rows, strict=False)]
    words = [f"{label}: {total:,}, {counts[1]:,} not as expected." for label, counts, total in bars]
    left = 16 + CHARACTER * max(map(len, labels), default=20)
    return render(
        "bars.svg",
        name="reasons",
        title=f"Reason codes in {counted(cases, 'case')}",
        about=" ".join(words) or "No case names a reason code.",
        bars=[(*bar, f"{bar[2]:,} ({percent(bar[2] / cases, cases)})") for bar in bars],
        left=left,
        scale=(WIDTH - left - 100) / (max((total for *_, total in bars), default=1) or 1),
        more=f"and {counted(len(rows) - MOST_BARS, 'more code')}" if len(rows) > MOST_BARS else "",
        width=WIDTH,
        top=TOP,
        row=ROW,
        character=CHARACTER,
    )


def standalone(svg: str) -> str:
    """The chart as a file of its own, with its looks inside."""
    head, mark, rest = str(svg).partition(">")
    opened = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return f"{opened}{mark}<style>{chart_style()}</style>{rest}\n"


def _name(text: str) -> str:
    return clipped(on_one_line(text), LONGEST_LABEL)


def _risk_words(curve: Curve) -> str:
    last, at = curve.points[-1], curve.at
    share = f"{percent(last.y, last.denominator)} hold an unsupported claim"
    whole = f"{_name(curve.name)}: of all {counted(last.denominator, 'draft')} {share}"
    if at is None:
        return f"{whole}; the run answered none."
    answered = f"{at.denominator:,} answered ({percent(at.x, last.denominator)})"
    return f"{whole}; of the {answered} {percent(at.y, at.denominator)}."


def _ends_words(points: Sequence[CurvePoint]) -> str:
    ends = [f"{percent(p.y, p.denominator)} of {p.denominator:,} at {p.x:g}" for p in (points[0], points[-1])]
    return ends[0] if len(points) == 1 else " and ".join(ends)


def _percents(values: Sequence[float]) -> Ticks:
    """The ticks of the shortest axis that holds every value."""
    most = max((v for v in values if math.isfinite(v)), default=0.0)
    end, step = next((scale for scale in SCALES if most <= scale[0]), SCALES[-1])
    return [(n * step, f"{n * step * 100:.0f} %") for n in range(round(end / step) + 1)]
