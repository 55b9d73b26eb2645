"""Charts are sound XML whatever they show, say in words what they show, and are the same bytes for the same numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.evaluation.runs.curves import CurvePoint
from stillme.evaluation.runs.intervals import clopper_pearson
from stillme.pages.charts import Curve, reason_bars, reliability, risk_coverage, standalone, threshold_sweep
from stillme.pages.rendering import chart_style

HOSTILE = "</svg><script>alert('1')</script>\x00\u202e & \"x\" ]]>\ud800"
PAGE_FILLS = {"light": "#ffffff", "dark": "#1a2027"}


def point(x: float, numerator: int, denominator: int) -> CurvePoint:
    """A share with its exact interval."""
    return CurvePoint(x, numerator / denominator, *clopper_pearson(numerator, denominator), numerator, denominator)


ONE = [point(0.5, 1, 4)]
SOME = [point(0.25, 0, 10), point(0.5, 1, 20), point(1.0, 8, 40)]
CHARTS: dict[str, Callable[[], str]] = {
    "risk and coverage of nothing": lambda: risk_coverage([]),
    "of a run without points": lambda: risk_coverage([Curve("a", [])]),
    "of one draft": lambda: risk_coverage([Curve("a", [point(1.0, 1, 1)], point(1.0, 1, 1))]),
    "of two runs": lambda: risk_coverage([Curve("a", SOME, SOME[1]), Curve("b", ONE)]),
    "of a hostile run": lambda: risk_coverage([Curve(HOSTILE, SOME)]),
    "reliability of nothing": lambda: reliability([]),
    "reliability of one claim": lambda: reliability([point(1.0, 1, 1)]),
    "reliability": lambda: reliability(SOME),
    "a sweep of nothing": lambda: threshold_sweep([], [], 0.0),
    "a sweep of one point": lambda: threshold_sweep([point(1.0, 0, 3)], [], 1.0),
    "a sweep": lambda: threshold_sweep(SOME, SOME, 0.25),
    "no reasons": lambda: reason_bars([], 1),
    "one reason": lambda: reason_bars([("unsupported_claim", 0, 0, 1)], 1),
    "hostile reasons": lambda: reason_bars([(HOSTILE, 3, 2, 1), ("x" * 500, 1, 0, 0)], 10),
    "many reasons": lambda: reason_bars([(f"code_{n}", n, 1, 0) for n in range(40)], 900),
}


def texts(svg: str) -> list[str]:
    """What is written in a plot, top to bottom as it is drawn."""
    return [element.text or "" for element in ElementTree.fromstring(svg).iter("text")]  # noqa: S314  (we wrote it)


@pytest.mark.parametrize("name", CHARTS)
def test_every_plot_is_sound_and_said_in_words(name: str) -> None:
    """XML with a title and a description that its label names, inline and as a file."""
    svg = CHARTS[name]()
    root = ElementTree.fromstring(svg)  # noqa: S314
    words = {str(e.get("id")): e.text for e in root if e.tag in ("title", "desc")}

    assert root.tag == "svg"
    assert root.get("role") == "img"
    assert str(root.get("aria-labelledby")).split() == list(words)
    assert all(words.values())
    assert "script" not in {e.tag for e in root.iter()}
    assert ElementTree.fromstring(standalone(svg)).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314


@pytest.mark.parametrize("name", CHARTS)
def test_the_same_numbers_are_the_same_bytes(name: str) -> None:
    """And nothing in them is a number that no program reads."""
    svg = CHARTS[name]()

    assert svg == CHARTS[name]()
    assert not re.search(r'="(nan|inf|-inf)', svg)


@pytest.mark.parametrize("name", CHARTS)
def test_everything_is_within_the_picture(name: str) -> None:
    """No mark has a place outside of it."""
    root = ElementTree.fromstring(CHARTS[name]())  # noqa: S314
    width, height = float(str(root.get("width"))), float(str(root.get("height")))
    for element in root.iter():
        across = [float(element.attrib[key]) for key in ("x", "x1", "x2", "cx") if key in element.attrib]
        down = [float(element.attrib[key]) for key in ("y", "y1", "y2", "cy") if key in element.attrib]
        pairs = [tuple(map(float, pair.split(","))) for pair in element.get("points", "").split()]

        assert all(0 <= x <= width for x in [*across, *(x for x, _ in pairs)])
        assert all(0 <= y <= height for y in [*down, *(y for _, y in pairs)])


@pytest.mark.parametrize(
    "name", ["risk and coverage of nothing", "reliability of nothing", "a sweep of nothing", "no reasons"]
)
def test_nothing_to_draw_is_said(name: str) -> None:
    """An empty picture is no picture of zero."""
    assert "Nothing to draw" in texts(CHARTS[name]())


def test_what_is_written_in_a_risk_plot() -> None:
    """Ticks, axes and a legend; the description has the counts."""
    svg = CHARTS["of two runs"]()
    about = ElementTree.fromstring(svg).findtext("desc")  # noqa: S314

    assert texts(svg) == [
        *("0 %", "20 %", "40 %", "60 %", "80 %", "100 %"),
        *("0 %", "20 %", "40 %", "60 %", "80 %", "100 %"),
        "Coverage: share of drafts answered",
        "Risk",
        "a: band 95 %, circle: as it ran",
        "b: band 95 %, circle: as it ran",
    ]
    assert about == (
        "a: of all 40 drafts 20 % hold an unsupported claim; of the 20 answered (50 %) 5 %. "
        "b: of all 4 drafts 25 % hold an unsupported claim; the run answered none."
    )


def test_what_is_written_in_a_reliability_plot() -> None:
    """The count of every bin."""
    svg = CHARTS["reliability"]()

    assert texts(svg)[14:] == [
        *("claims", "10", "20", "40"),
        "claims in a tenth of the scores, with 95 % interval",
        "where score and share agree",
    ]
    assert ElementTree.fromstring(svg).findtext("desc") == (  # noqa: S314
        "At a score of about 0.25: 0 % of 10 claims supported (0 to 31 %). "
        "At a score of about 0.50: 5 % of 20 claims supported (0 to 25 %). "
        "At a score of about 1.00: 20 % of 40 claims supported (9 to 36 %)."
    )


def test_what_is_written_in_a_sweep() -> None:
    """Both rates at both ends, and where the run stood."""
    svg = threshold_sweep(SOME, ONE, 0.25)

    assert texts(svg)[-3:] == [
        "hallucination_escape_rate, band 95 %",
        "false_refusal_rate, band 95 %",
        "min_score of the run: 0.25; further left its records do not say",
    ]
    assert ElementTree.fromstring(svg).findtext("desc") == (  # noqa: S314
        "hallucination_escape_rate: 0 % of 10 at 0.25 and 20 % of 40 at 1. false_refusal_rate: 25 % of 4 at 0.5."
    )


def test_what_is_written_beside_bars() -> None:
    """Code, count and share of all cases; what does not fit is counted."""
    rows = [("a", 3, 2, 1), ("b", 1, 0, 0)]

    assert texts(reason_bars(rows, 10)) == [
        *("a", "6 (60 %)", "b", "1 (10 %)"),
        *("decided as expected", "not as expected", "nothing expected"),
    ]
    assert "and 25 more codes" in texts(CHARTS["many reasons"]())


@given(
    st.lists(st.tuples(st.integers(0, 100), st.integers(0, 50), st.integers(1, 50)), max_size=20),
    st.floats(0, 1),
    st.text(max_size=30),
)
@settings(max_examples=40, deadline=None)
def test_any_numbers_make_a_plot(rows: list[tuple[int, int, int]], least: float, name: str) -> None:
    """Sound XML, whatever the points and the name are."""
    points = [point(x / 100, min(n, of), of) for x, n, of in sorted(rows)]
    made = [
        risk_coverage([Curve(name, points, points[0] if points else None)]),
        reliability(points),
        threshold_sweep(points, points[:1], least),
        reason_bars([(name, a, b, c) for a, b, c in rows], 100_000),
    ]

    assert [ElementTree.fromstring(svg).tag for svg in made] == ["svg"] * 4  # noqa: S314


def luminance(colour: str) -> float:
    """As WCAG defines it."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("look", PAGE_FILLS)
def test_ink_stands_out_from_paper(look: str) -> None:
    """Text and lines have a contrast of 4.5 on the paper they are drawn on, light and dark."""
    light, dark = chart_style().partition("@media")[::2]
    found = dict(re.findall(r"--p-(ink|soft|paper|\d): (#[0-9a-f]{6})", light if look == "light" else dark))
    paper = luminance(found.pop("paper"))

    assert len(found) == 8
    for colour in found.values():
        darker, lighter = sorted((luminance(colour), paper))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_a_curve_goes_from_left_to_right() -> None:
    """In the order of its points."""
    root = ElementTree.fromstring(CHARTS["a sweep"]())  # noqa: S314
    line = next(e for e in root.iter("polyline"))
    places = [float(pair.split(",")[0]) for pair in str(line.get("points")).split()]

    assert all(a < b for a, b in pairwise(places))
