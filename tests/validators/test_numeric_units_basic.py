"""NumericUnitsBasic: the figures of the answer stand in the sources, by value."""

from __future__ import annotations

import pytest

from stillme import Guard
from stillme.contract import RetrievedPassage
from stillme.evidence import Evidence
from stillme.validators.numeric_units_basic import NumericUnitsBasic
from tests.validators.support import PASSED, SKIPPED, flagged, observe

EN = "The run accepts 1000 runners. The course is 21.1 km long, the fee is $45, and 5 percent goes to the trust. It began on 25 March 1987."
VI = "Giải chạy nhận 1.000 người. Đường chạy dài 21,1 km, phí là 450.000 đồng, trong đó 5% góp cho quỹ. Giải bắt đầu ngày 25 tháng 3 năm 1987."
MISSING = flagged("number_not_in_sources")


@pytest.mark.parametrize(
    ("draft", "source", "expected"),
    [
        pytest.param("It accepts 1,000 runners [1].", EN, PASSED, id="a thousands separator"),
        pytest.param("It accepts one thousand runners [1].", EN, PASSED, id="in words"),
        pytest.param("5% goes to the trust [1].", EN, PASSED, id="a percent sign"),
        pytest.param("The course is 21,100 m long [1].", EN, PASSED, id="another unit of the same length"),
        pytest.param("It began in March 1987 [1].", EN, PASSED, id="a coarser date"),
        pytest.param("It accepts 10,000 runners [1].", EN, MISSING, id="ten times too many"),
        pytest.param("The course is 21.1 miles long [1].", EN, MISSING, id="the same number in another unit"),
        pytest.param("The fee is €45 [1].", EN, MISSING, id="another currency"),
        pytest.param("It began on 26 March 1987 [1].", EN, MISSING, id="another day"),
        pytest.param("Giải nhận 1 nghìn người [1].", VI, PASSED, id="a Vietnamese scale word"),
        pytest.param("Phí là 450 nghìn đồng [1].", VI, PASSED, id="Vietnamese money with a scale word"),
        pytest.param("Giải bắt đầu ngày 25/3/1987 [1].", VI, PASSED, id="a Vietnamese date in figures"),
        pytest.param("Giải nhận 10.000 người [1].", VI, MISSING, id="ten times too many in Vietnamese"),
        pytest.param("Phí là 45.000 đồng [1].", VI, MISSING, id="ten times too little in Vietnamese"),
        pytest.param(
            "1. It accepts 1000 runners [1].\n2. The fee is $45 [1].", EN, PASSED, id="list numbers are no figures"
        ),
        pytest.param("The run is popular [1].", EN, SKIPPED, id="no figures"),
        pytest.param("", EN, SKIPPED, id="no draft"),
    ],
)
def test_figures(draft: str, source: str, expected: list[tuple[str, str | None]]) -> None:
    """Each figure is looked for by value and unit."""
    assert observe(NumericUnitsBasic(), Evidence.of("q", draft, [source])) == expected


def test_titles_and_timestamps_count_as_said() -> None:
    """A year that only the title states stands in the source."""
    passage = RetrievedPassage(source_id="a", title="Prices 2019", text="A ticket costs $6.")

    assert observe(NumericUnitsBasic(), Evidence.of("q", "In 2019 a ticket cost $6 [1].", [passage])) == PASSED


def test_without_passages_it_is_skipped() -> None:
    """There is nothing to compare with; Gate 4 refuses such a claim."""
    assert observe(NumericUnitsBasic(), Evidence.of("q", "It costs $6.")) == SKIPPED


UNCITED = flagged("uncited_number")


@pytest.mark.parametrize(
    ("query", "draft", "source", "expected"),
    [
        pytest.param("What does it cost?", "The fee is $45.", EN, UNCITED, id="a question of fact answered without a marker"),
        pytest.param("Hi, how are you?", "It began in 1987 [1]. The fee is $45.", EN, UNCITED, id="a draft that cites one figure and not the other"),
        pytest.param("What does it cost?", "The fee is $45 [1].", EN, PASSED, id="a cited one"),
        pytest.param("What is it like?", "The run is popular. The fee is $45 [1].", EN, PASSED, id="a claim without a figure needs no warning of figures"),
        pytest.param("Hi, how are you?", "The fee is $45.", EN, PASSED, id="neither are citations used nor is a source needed"),
        pytest.param("What does it cost?", "The fee is $46.", EN, flagged("number_not_in_sources", "uncited_number"), id="a figure of no source without a marker has both"),
        pytest.param("Phí là bao nhiêu?", "Phí là 450.000 đồng.", VI, UNCITED, id="without a marker in Vietnamese"),
        pytest.param("Phí là bao nhiêu?", "Phí là 450.000 đồng [1].", VI, PASSED, id="with a marker in Vietnamese"),
    ],
)  # fmt: skip
def test_uncited_figures(query: str, draft: str, source: str, expected: list[tuple[str, str | None]]) -> None:
    """Where citations are used or a source is needed, a figure says where it is from."""
    assert observe(NumericUnitsBasic(), Evidence.of(query, draft, [source])) == expected


def test_the_warning_can_be_left_out() -> None:
    """`warn_uncited: never` leaves the figures to CitationRequired."""
    assert (
        observe(NumericUnitsBasic(warn_uncited="never"), Evidence.of("What does it cost?", "The fee is $45.", [EN]))
        == PASSED
    )


def test_the_warning_marks_the_figure_and_goes_with_the_citation_that_is_repaired_in() -> None:
    """It never refuses by itself, and a repaired draft has it no more."""
    context = [{"source_id": "a", "text": EN, "similarity": 0.9}]
    draft = "The fee is $45, and 5 percent goes to the trust."

    verdict = Guard({"mode": "enforce"}).verify(
        {"query": "What is the fee of the run?", "draft_answer": draft, "retrieved_context": context}
    )

    (found,) = (f for f in verdict.findings if f.reason == "uncited_number")
    assert (str(found.gate), found.repaired) == ("soft", True)
    assert [draft[a:b] for a, b in found.spans] == ["$45", "5 percent"]
    assert verdict.safe_response == "The fee is $45, and 5 percent goes to the trust [1]."


@pytest.mark.parametrize(
    ("settings", "draft", "warned"),
    [
        pytest.param({}, "The fee is $45.", True, id="citations are required"),
        pytest.param({"CitationRequired": {"enabled": False}}, "The fee is $45.", False, id="citations are not required and none is used"),
        pytest.param({"CitationRequired": {"enabled": False}}, "It began in 1987 [1]. The fee is $45.", True, id="citations are not required but used"),
        pytest.param({"CitationRequired": {"enabled": False}, "NumericUnitsBasic": {"warn_uncited": "required"}}, "The fee is $45.", True, id="the policy asks for the warning all the same"),
    ],
)  # fmt: skip
def test_the_policy_says_whether_citations_are_required(settings: dict[str, object], draft: str, warned: bool) -> None:
    """Without CitationRequired a figure is warned of only where the draft cites."""
    context = [{"source_id": "a", "text": EN, "similarity": 0.9}]
    request = {"query": "What is the fee of the run?", "draft_answer": draft, "retrieved_context": context}

    verdict = Guard({"validators": settings}).verify(request)

    assert ("uncited_number" in verdict.reasons) is warned
