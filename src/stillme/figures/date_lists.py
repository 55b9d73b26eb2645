"""Lists and ranges of dates: each takes the month and year that stand once, behind the last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stillme.figures.dates import DAYS, Date
from stillme.figures.quantity import Quantity
from stillme.figures.tables import Tables

__all__ = ["share_dates"]

# How many tokens may stand between two dates of one list: ", and the".
JOINT_REACH: Final = 3


def share_dates(figures: list[Quantity], tokens: Sequence[str], t: Tables) -> None:
    """Give each day of a list or range the month and year that stand once, behind the last: 15, 16 and 17 June."""
    listed = False
    for k in range(len(figures) - 1, 0, -1):
        one, two = figures[k - 1 : k + 1]
        joints = _joints(one, two, tokens, t) if two.dimension == "date" and two.month is not None else []
        dates = _shared_dates(one, two.dates, joined=listed or joints != [","]) if joints else ()
        listed = bool(dates)
        if dates:
            figures[k - 1] = one.on(dates)._replace(noun="", hedge="", limit=False)


def _joints(one: Quantity, two: Quantity, tokens: Sequence[str], t: Tables) -> list[str]:
    """The words and signs that join two figures of one list; none where anything else stands between them."""
    if two.first - one.last > JOINT_REACH:
        return []
    joints = [token for token in tokens[one.last : two.first] if token not in t.date_fillers]
    return joints if t.date_joints.issuperset(joints) else []


def _shared_dates(one: Quantity, dates: tuple[Date, ...], joined: bool) -> tuple[Date, ...]:
    """The dates of a figure that stands before a date and lacks what that says; `joined` is by more than a comma."""
    if one.dimension == "date":
        return _full_dates(one.dates, dates)
    is_day = one.dimension == "ordinal" or (one.dimension == "count" and len(one.precision.text) in (1, 2))
    if not (joined and is_day and dates[0].day) or one.hedge or one.values[0] not in DAYS:
        return ()
    return tuple(date._replace(day=int(one.values[0])) for date in dates)


def _full_dates(incomplete: tuple[Date, ...], dates: tuple[Date, ...]) -> tuple[Date, ...]:
    """Dates without month or year, with those of the dates behind them."""
    one, two = incomplete[0], dates[0]
    if one.year is not None or one.months > 1:
        return ()
    if one.month is None:
        return tuple(date._replace(day=one.day) for date in dates) if two.day else ()
    earlier = (one.month, one.day or 0) <= (two.month or 0, two.day or 31)
    return tuple(date._replace(year=two.year) for date in incomplete) if earlier and two.year is not None else ()
