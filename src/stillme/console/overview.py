"""Overview: what was decided, for which reasons, how well and how quickly; every number leads to the traces behind it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from starlette.responses import Response

from stillme.console.shell import Visit, page
from stillme.console.words import ConsoleWords
from stillme.pages.text import interval_ends, percent

__all__ = ["DayChart", "chart_of", "show"]

SPANS: Final = (7, 14, 28, 90)
DECISIONS: Final = ("answer", "ask_clarify", "refuse")
LOOKS: Final = {"answer": "good", "ask_clarify": "ask", "refuse": "bad"}
WIDTH: Final = 720
HEIGHT: Final = 180
LEFT: Final = 44
MOST_REASONS: Final = 8
# The verdicts that a figure is a share of.
BEHIND: Final = {
    "hallucination_escape_rate": "answer",
    "refusal_precision": "refuse",
    "source_coverage": "answer",
    "false_refusal_rate": "refuse",
}
UNREVIEWED: Final = re.compile(r"no review speaks for ([\d,]+) of ([\d,]+) verdicts")


@dataclass(frozen=True, slots=True)
class BarPart:
    """One decision of one day, as a part of its bar."""

    decision: str
    look: str
    y: float
    height: float
    count: int
    link: str


@dataclass(frozen=True, slots=True)
class DayBar:
    """One day."""

    day: str
    x: float
    width: float
    total: int
    parts: Sequence[BarPart]
    is_labelled: bool


@dataclass(frozen=True, slots=True)
class DayChart:
    """The bars of some days, and the lines behind them."""

    bars: Sequence[DayBar]
    lines: Sequence[tuple[float, int]]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT


def chart_of(days: Sequence[Mapping[str, Any]]) -> DayChart:
    """Stacked bars, one a day, under a round number."""
    most = max((sum(day["decisions"].values()) for day in days), default=0)
    top = _round_up(most)
    step = (WIDTH - LEFT) / max(1, len(days))
    every = math.ceil(len(days) / 10)
    bars = [_bar(n, day, step, top, is_labelled=n % every == 0) for n, day in enumerate(days)]
    return DayChart(bars, [(HEIGHT * (1 - share), round(top * share)) for share in (0, 0.5, 1)])


def _bar(n: int, day: Mapping[str, Any], step: float, top: int, *, is_labelled: bool) -> DayBar:
    following = (date.fromisoformat(day["day"]) + timedelta(days=1)).isoformat()
    parts: list[BarPart] = []
    y = float(HEIGHT)
    for decision in DECISIONS:
        count = day["decisions"].get(decision, 0)
        if count:
            height = HEIGHT * count / top
            y -= height
            query = urlencode({"decision": decision, "since": day["day"], "until": following})
            parts.append(BarPart(decision, LOOKS[decision], round(y, 1), round(height, 1), count, f"/traces?{query}"))
    gap = min(8.0, step * 0.25)
    x, total = round(LEFT + n * step + gap / 2, 1), sum(part.count for part in parts)
    return DayBar(day["day"], x, round(step - gap, 1), total, parts, is_labelled)


def _round_up(most: int) -> int:
    """The next even number that reads well."""
    if most <= 2:
        return 2
    unit = int(10 ** (len(str(most)) - 1))
    return next(n * unit for n in (1, 2, 4, 6, 8, 10) if n * unit >= most)


async def show(visit: Visit) -> Response:
    """The page."""
    asked = visit.request.query_params.get("days", "")
    days = int(asked) if asked in map(str, SPANS) else SPANS[1]
    found = await visit.api("GET", "/v1/overview", {"days": str(days)})
    totals = {name: sum(day["decisions"].get(name, 0) for day in found["days"]) for name in DECISIONS}
    most = max((count for _, count in found["reasons"]), default=1)
    return page(
        visit,
        "overview.html",
        days=days,
        spans=SPANS,
        found=found,
        chart=chart_of(found["days"]),
        totals=[
            (
                name,
                LOOKS[name],
                totals[name],
                visit.say.figure(_share(totals[name], found["total"])),
                _link(name, found),
            )
            for name in DECISIONS
        ],
        reasons=[
            (code, count, round(100 * count / most), _reason_link(code, found))
            for code, count in found["reasons"][:MOST_REASONS]
        ],
        more=max(0, len(found["reasons"]) - MOST_REASONS),
        figures=[_figure(visit.say, figure, found["weeks"]) for figure in found["figures"]],
        table=[_row(day) for day in reversed(found["days"])],
        all_of_them=f"/traces?{urlencode({'since': found['since'][:10]})}",
        by_model=visit.say.figure(_share(found["by_model"], found["judged"])),
    )


def _share(part: int, whole: int) -> str:
    return percent(part / whole, whole) if whole else "–"


def _link(decision: str, found: Mapping[str, Any]) -> str:
    return f"/traces?{urlencode({'decision': decision, 'since': found['since'][:10]})}"


def _reason_link(code: str, found: Mapping[str, Any]) -> str:
    return f"/traces?{urlencode({'reason': code, 'since': found['since'][:10]})}"


def _row(day: Mapping[str, Any]) -> tuple[str, list[tuple[int, str]]]:
    """A day of the table: each decision with its number and the traces behind it."""
    following = (date.fromisoformat(day["day"]) + timedelta(days=1)).isoformat()
    cells = []
    for name in DECISIONS:
        query = urlencode({"decision": name, "since": day["day"], "until": following})
        cells.append((int(day["decisions"].get(name, 0)), f"/traces?{query}"))
    return str(day["day"]), cells


def _figure(say: ConsoleWords, figure: Mapping[str, Any], weeks: Sequence[str]) -> dict[str, str]:
    count = max(1, int(figure["counted"]))
    value, name = figure["value"], str(figure["name"])
    ends = {}
    if value is not None:
        ends["low"], ends["high"] = map(say.figure, interval_ends((figure["low"], figure["high"]), count))
    return {
        "name": name,
        "value": "–" if value is None else say.figure(percent(value, count)),
        "interval": say("overview.interval", **ends) if ends else "",
        "unknown": _doubt(say, figure["unknown"] or ""),
        "counted": str(figure["counted"]),
        "link": f"/traces?{urlencode({'decision': BEHIND.get(name, 'answer'), **_span(weeks)})}",
    }


def _doubt(say: ConsoleWords, unknown: str) -> str:
    """Why a figure is not to be relied on yet."""
    found = UNREVIEWED.fullmatch(unknown)
    if found is None:
        return say.told(unknown)
    return say("overview.unreviewed", open=say.figure(found[1]), all=say.figure(found[2]))


def _span(weeks: Sequence[str]) -> dict[str, str]:
    """From the first day of the first of these weeks to before the day that follows the last."""
    days = sorted(date.fromisocalendar(int(week[:4]), int(week[6:]), 1) for week in weeks)
    return {"since": days[0].isoformat(), "until": (days[-1] + timedelta(days=7)).isoformat()} if days else {}
