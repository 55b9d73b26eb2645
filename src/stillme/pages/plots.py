"""Plots as SVG, drawn without any library: the same numbers give the same bytes.

Each has a title and a description for those who do not see it, states its axes, and says so where there is nothing to draw. Inside a
page its looks come from the page, which has `STYLE` among its own; `standalone` gives a file that carries them along, light and dark.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from stillme.evaluation.runs.curves import Point
from stillme.pages.document import clipped, counted, interval_words, on_one_line, percent

__all__ = ["STYLE", "Curve", "reason_bars", "reliability", "risk_coverage", "standalone", "threshold_sweep"]

STYLE: Final = """
.plot { --p-ink: #171c24; --p-soft: #4d5765; --p-line: #d5dae1; --p-paper: #ffffff;
  --p-0: #174ea6; --p-1: #a8480a; --p-2: #0b6b3a; --p-3: #7a2a8c; --p-4: #4d5765; --p-5: #99150f; }
@media screen and (prefers-color-scheme: dark) {
  .plot { --p-ink: #e7ebf1; --p-soft: #aab4c1; --p-line: #3b4552; --p-paper: #1a2027;
    --p-0: #9dc1ff; --p-1: #f5b26b; --p-2: #86dfaa; --p-3: #dca8ee; --p-4: #b4bdc9; --p-5: #ffb0a8; }
}
.plot text { fill: var(--p-ink); font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
.plot .p-tick { fill: var(--p-soft); font-size: 12px; font-variant-numeric: tabular-nums; }
.plot .p-back { fill: var(--p-paper); }
.plot .p-grid { stroke: var(--p-line); stroke-width: 1; }
.plot .p-axis { stroke: var(--p-soft); stroke-width: 1; }
.plot .p-unknown { fill: var(--p-line); opacity: .55; }
.plot .p-guide { stroke: var(--p-soft); stroke-width: 1.5; stroke-dasharray: 5 4; }
.plot .p-curve { fill: none; stroke-width: 2.25; stroke-linejoin: round; }
.plot .p-band { opacity: .16; stroke: none; }
.plot .p-whisker { stroke-width: 1.75; }
.plot .p-halo { fill: var(--p-paper); stroke-width: 2.5; }
.plot .p-part { stroke-width: 1.25; }
.plot .p-part.p-f1 { fill-opacity: .35; }
""" + "".join(f".plot .p-s{n} {{ stroke: var(--p-{n}); }} .plot .p-f{n} {{ fill: var(--p-{n}); }}\n" for n in range(6))
WIDTH: Final = 640
PLOT_HEIGHT: Final = 300
LEFT: Final = 62
RIGHT: Final = 18
TOP: Final = 14
BOTTOM: Final = 46
"""Below the plot: tick labels and the label of the axis."""
ROW: Final = 22
LOOKS: Final = 6
DASHES: Final = ("", "8 4", "2 4", "10 3 2 3", "5 5", "14 4")
TOPS: Final = ((0.05, 0.01), (0.1, 0.02), (0.2, 0.05), (0.3, 0.05), (0.5, 0.1), (1.0, 0.2))
MOST_BARS: Final = 15
LONGEST_LABEL: Final = 42
CHARACTER: Final = 7.1
"""How wide a character of a label is taken to be."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The points of one run, and the one where it stands."""

    name: str
    points: Sequence[Point]
    at: Point | None = None


def risk_coverage(curves: Sequence[Curve]) -> str:
    """The share of drafts with an unsupported claim among the best-scored ones, against how many those are."""
    ends = [p for c in curves for p in (*c.points[-1:], *([c.at] if c.at else []))]
    top, step = _top([*(p.y for c in curves for p in c.points), *(p.high for p in ends)])
    axes = _Axes("risk-coverage", 1.0, top)
    parts = [axes.frame(_percents(0.2, 1.0), _percents(step, top), "Coverage: share of drafts answered", "Risk")]
    drawn = [c for c in curves if c.points]
    for look, curve in enumerate(drawn):
        parts += [axes.band(curve.points, look), axes.curve(curve.points, look, DASHES[look % LOOKS])]
    parts += [axes.spot(curve.at, look) for look, curve in enumerate(drawn) if curve.at]
    legend = [
        (look, DASHES[look % LOOKS], f"{_name(c.name)}: band 95 %, circle: as it ran") for look, c in enumerate(drawn)
    ]
    said = [_risk_words(c) for c in drawn] or ["No draft has both labelled claims and a score."]
    return axes.svg(parts, "Risk against coverage", " ".join(said), legend, empty=not drawn)


def reliability(bins: Sequence[Point]) -> str:
    """Of claims with about that score, the share that is supported, against the score; below it how many claims those are."""
    axes = _Axes("reliability", 1.0, 1.0, below=64)
    parts = [axes.frame(_scores(), _percents(0.2, 1.0), "Score of the claim", "Labelled supported")]
    parts.append(axes.line((0.0, 0.0), (1.0, 1.0), "p-guide"))
    parts += [mark for point in bins for mark in (axes.whisker(point, 0), axes.dot(point, 0))]
    parts.append(axes.counts(bins))
    legend = [
        (0, None, "claims in a tenth of the scores, with 95 % interval"),
        (-1, None, "where score and share agree"),
    ]
    said = [
        f"At a score of about {p.x:.2f}: {percent(p.y, p.denominator)} of {counted(p.denominator, 'claim')} supported"
        f" ({interval_words((p.low, p.high), p.denominator)})."
        for p in bins
    ]
    words = " ".join(said) or "No labelled claim has a score."
    return axes.svg(parts, "Reliability of the scores", words, legend, empty=not bins)


def threshold_sweep(escapes: Sequence[Point], refusals: Sequence[Point], least: float) -> str:
    """Escape rate and false refusal rate against `min_score`, from what the run had on."""
    top, step = _top([p.high for line in (escapes, refusals) for p in line])
    axes = _Axes("threshold-sweep", 1.0, top)
    parts = [axes.unknown(least)] if least > 0 else []
    parts.append(axes.frame(_scores(), _percents(step, top), "min_score", "Rate"))
    lines = [(0, escapes, "hallucination_escape_rate"), (1, refusals, "false_refusal_rate")]
    drawn = [(look, points, name) for look, points, name in lines if points]
    for look, points, _ in drawn:
        parts += [axes.band(points, look), axes.curve(points, look, DASHES[look])]
    parts.append(axes.line((least, 0.0), (least, top), "p-guide"))
    legend: list[tuple[int, str | None, str]] = [(look, DASHES[look], f"{name}, band 95 %") for look, _, name in drawn]
    beyond = "; further left its records do not say" if least > 0 else ""
    legend.append((-1, None, f"min_score of the run: {least:g}{beyond}"))
    said = [f"{name}: {_ends_words(points)}." for _, points, name in drawn] or ["No case has the labels for this."]
    return axes.svg(parts, "Both errors against min_score", " ".join(said), legend, empty=not drawn)


def reason_bars(rows: Sequence[tuple[str, int, int, int]], cases: int) -> str:
    """How many cases named each code: decided as expected, not as expected, nothing expected."""
    shown, hidden = rows[:MOST_BARS], len(rows) - MOST_BARS
    labels = [clipped(on_one_line(code), LONGEST_LABEL).partition(" (")[0] for code, *_ in shown]
    left = 16 + CHARACTER * max(map(len, labels), default=20)
    most, width = max((sum(counts) for _, *counts in shown), default=1) or 1, WIDTH - left - 100
    parts: list[str] = []
    for row, (label, (_, *counts)) in enumerate(zip(labels, shown, strict=True)):
        y, x = TOP + row * ROW, left
        parts.append(_text(left - 8, y + 14, label, "", "end"))
        for look, fill, count in zip((0, 1, 4), (True, True, False), counts, strict=True):
            parts.append(_part(x, y + 3, count / most * width, look, fill)) if count else None
            x += count / most * width
        total = sum(counts)
        parts.append(_text(x + 6, y + 14, f"{total:,} ({percent(total / cases, cases)})", "p-tick"))
    end = TOP + max(len(shown), 3) * ROW
    if hidden > 0:
        parts.append(_text(left - 8, end + 14, f"and {counted(hidden, 'more code')}", "p-tick", "end"))
        end += ROW
    legend = [(0, None, "decided as expected"), (1, None, "not as expected"), (4, None, "nothing expected")]
    words = " ".join(
        f"{label}: {sum(c):,}, {c[1]:,} not as expected." for label, (_, *c) in zip(labels, shown, strict=True)
    )
    about = words or "No case names a reason code."
    if not shown:
        parts.append(_nothing(TOP + 1.5 * ROW))
    parts += _bar_legend(legend, end + 12) if shown else []
    return _wrapped("reasons", end + 12 + ROW, parts, f"Reason codes in {counted(cases, 'case')}", about)


def standalone(svg: str) -> str:
    """The plot as a file of its own, with its looks inside."""
    head, mark, rest = svg.partition(">")
    opened = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return f"{opened}{mark}<style>{html.escape(STYLE, quote=False)}</style>{rest}\n"


# words


def _name(text: str) -> str:
    return clipped(on_one_line(text), LONGEST_LABEL)


def _risk_words(curve: Curve) -> str:
    last = curve.points[-1]
    held = f"{percent(last.y, last.denominator)} hold an unsupported claim"
    whole = f"{_name(curve.name)}: of all {counted(last.denominator, 'draft')} {held}"
    if curve.at is None:
        return f"{whole}; the run answered none."
    at = curve.at
    share = percent(at.x, last.denominator)
    return f"{whole}; of the {at.denominator:,} answered ({share}) {percent(at.y, at.denominator)}."


def _ends_words(points: Sequence[Point]) -> str:
    ends = [f"{percent(p.y, p.denominator)} of {p.denominator:,} at {p.x:g}" for p in (points[0], points[-1])]
    return ends[0] if len(points) == 1 else " and ".join(ends)


# drawing


@dataclass(frozen=True, slots=True)
class _Axes:
    """A plot area whose x runs from 0 to `right` and whose y from 0 to `top`."""

    name: str
    right: float
    top: float
    below: int = 0
    """Room under the plot for the counts of bins."""

    def at(self, x: float, y: float) -> tuple[float, float]:
        width = WIDTH - LEFT - RIGHT
        return LEFT + x / self.right * width, TOP + (1 - min(y, self.top) / self.top) * PLOT_HEIGHT

    def frame(self, xs: Iterable[tuple[float, str]], ys: Iterable[tuple[float, str]], x: str, y: str) -> str:
        parts = []
        for value, words in ys:
            parts.append(self.line((0.0, value), (self.right, value), "p-grid"))
            place = self.at(0.0, value)
            parts.append(_text(place[0] - 8, place[1] + 4, words, "p-tick", "end"))
        foot = TOP + PLOT_HEIGHT + self.below
        for value, words in xs:
            parts.append(_text(self.at(value, 0.0)[0], foot + 18, words, "p-tick", "middle"))
        parts.append(self.line((0.0, 0.0), (self.right, 0.0), "p-axis"))
        parts.append(_text(LEFT + (WIDTH - LEFT - RIGHT) / 2, foot + 38, x, "", "middle"))
        turned = f'transform="rotate(-90 14 {_n(TOP + PLOT_HEIGHT / 2)})"'
        parts.append(_text(14, TOP + PLOT_HEIGHT / 2, y, "", "middle", turned))
        return "".join(parts)

    def line(self, start: tuple[float, float], end: tuple[float, float], look: str) -> str:
        (x1, y1), (x2, y2) = self.at(*start), self.at(*end)
        return f'<line class="{look}" x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"/>'

    def curve(self, points: Sequence[Point], look: int, dash: str) -> str:
        if len(points) == 1:
            return self.whisker(points[0], look) + self.dot(points[0], look)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        return f'<polyline class="p-curve p-s{look}"{dashed} points="{self._path((p.x, p.y) for p in points)}"/>'

    def band(self, points: Sequence[Point], look: int) -> str:
        if len(points) < 2:
            return ""
        edge = [*((p.x, p.high) for p in points), *((p.x, p.low) for p in reversed(points))]
        return f'<polygon class="p-band p-f{look}" points="{self._path(edge)}"/>'

    def dot(self, point: Point, look: int) -> str:
        x, y = self.at(point.x, point.y)
        return f'<circle class="p-f{look}" cx="{_n(x)}" cy="{_n(y)}" r="4.5"/>'

    def spot(self, point: Point, look: int) -> str:
        x, y = self.at(point.x, point.y)
        circle = f'<circle class="p-halo p-s{look}" cx="{_n(x)}" cy="{_n(y)}" r="5.5"/>'
        return self.whisker(point, look) + circle

    def whisker(self, point: Point, look: int) -> str:
        return self.line((point.x, point.low), (point.x, point.high), f"p-whisker p-s{look}")

    def unknown(self, least: float) -> str:
        x, y = self.at(0.0, self.top)
        width = self.at(least, 0.0)[0] - x
        return f'<rect class="p-unknown" x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{PLOT_HEIGHT}"/>'

    def counts(self, bins: Sequence[Point]) -> str:
        """How many are in each bin: a bar on the foot of the strip, its number above."""
        most = max((p.denominator for p in bins), default=1)
        foot, room = TOP + PLOT_HEIGHT + self.below, self.below - 30
        parts = [_text(LEFT - 8, foot - 4, "claims", "p-tick", "end")]
        for p in bins:
            place = min(int(p.x * 10), 9)
            height = max(1.0, p.denominator / most * room)
            x, end = self.at(place / 10, 0)[0] + 4, self.at((place + 1) / 10, 0)[0] - 4
            box = f'x="{_n(x)}" y="{_n(foot - height)}" width="{_n(end - x)}" height="{_n(height)}"'
            parts.append(f'<rect class="p-f0" {box}/>')
            parts.append(_text((x + end) / 2, foot - height - 4, f"{p.denominator:,}", "p-tick", "middle"))
        return "".join(parts)

    def _path(self, places: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{_n(x)},{_n(y)}" for x, y in (self.at(*place) for place in places))

    def svg(
        self,
        parts: Sequence[str],
        title: str,
        about: str,
        legend: Sequence[tuple[int, str | None, str]],
        *,
        empty: bool,
    ) -> str:
        foot = TOP + PLOT_HEIGHT + self.below + BOTTOM
        if empty:
            return _wrapped(self.name, foot, [*parts, _nothing(TOP + PLOT_HEIGHT / 2)], title, about)
        entries = [_entry(entry, LEFT, foot + 6 + row * ROW) for row, entry in enumerate(legend)]
        return _wrapped(self.name, foot + 6 + ROW * len(legend), [*parts, *entries], title, about)


def _wrapped(name: str, height: float, parts: Iterable[str], title: str, about: str) -> str:
    """The whole picture, with its words for those who do not see it."""
    box = f'viewBox="0 0 {WIDTH} {_n(height)}" width="{WIDTH}" height="{_n(height)}"'
    words = f'<title id="{name}-t">{_x(title)}</title><desc id="{name}-d">{_x(about)}</desc>'
    paper = f'<rect class="p-back" width="{WIDTH}" height="{_n(height)}"/>'
    head = f'<svg class="plot" role="img" aria-labelledby="{name}-t {name}-d" {box}>'
    return f"{head}{words}{paper}{''.join(parts)}</svg>"


def _entry(entry: tuple[int, str | None, str], x: float, y: float) -> str:
    """A row of the legend: a line with its dashes, a dot, or the guide (-1)."""
    look, dash, words = entry
    line = f'x1="{_n(x)}" x2="{_n(x + 34)}" y1="{_n(y + 6)}" y2="{_n(y + 6)}"'
    if look < 0:
        mark = f'<line class="p-guide" {line}/>'
    elif dash is None:
        mark = f'<circle class="p-f{look}" cx="{_n(x + 17)}" cy="{_n(y + 6)}" r="4.5"/>'
    else:
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        mark = f'<line class="p-curve p-s{look}"{dashed} {line}/>'
    return mark + _text(x + 44, y + 10, words, "")


def _bar_legend(entries: Sequence[tuple[int, str | None, str]], y: float) -> list[str]:
    parts, x = [], 16.0
    for look, _, words in entries:
        parts += [_part(x, y, 16, look, look != 4), _text(x + 24, y + 12, words, "")]
        x += 24 + CHARACTER * len(words) + 24
    return parts


def _part(x: float, y: float, width: float, look: int, fill: bool) -> str:
    looks = f"p-part p-s{look} p-{'f' + str(look) if fill else 'back'}"
    return f'<rect class="{looks}" x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="14"/>'


def _text(x: float, y: float, words: str, look: str, anchor: str = "start", more: str = "") -> str:
    given = [f'class="{look}"' if look else "", f'text-anchor="{anchor}"' if anchor != "start" else "", more]
    attributes = "".join(f" {a}" for a in given if a)
    return f'<text x="{_n(x)}" y="{_n(y)}"{attributes}>{_x(words)}</text>'


def _nothing(y: float) -> str:
    return _text(WIDTH / 2, y, "Nothing to draw", "p-tick", "middle")


def _x(words: str) -> str:
    return html.escape(on_one_line(words))


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _top(values: Sequence[float]) -> tuple[float, float]:
    """Where the axis ends, and the step of its ticks: the least that holds every value."""
    most = max((v for v in values if math.isfinite(v)), default=0.0)
    return next(((top, step) for top, step in TOPS if most <= top), TOPS[-1])


def _percents(step: float, top: float) -> list[tuple[float, str]]:
    return [(n * step, f"{n * step * 100:.0f} %") for n in range(round(top / step) + 1)]


def _scores() -> list[tuple[float, str]]:
    return [(n / 5, f"{n / 5:.1f}") for n in range(6)]
