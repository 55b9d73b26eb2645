"""The weekly review sample: complete, proportional, weighted, and the same on any machine."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.audit.review.sampling import Candidate, Sample, Stratum, draw, week_bounds, week_of
from stillme.errors import InputError
from tests.soak import examples

AT = "2026-11-12T09:00:00.000000Z"


def rows(
    number: int,
    decision: str = "answer",
    language: str = "en",
    band: str = "high",
    *,
    flagged: bool = False,
    tag: str = "",
) -> list[Candidate]:
    """That many verdicts of one kind."""
    stem = f"trace-{tag}{decision}-{language}-{band}-{flagged}"
    return [Candidate(f"{stem}-{n:04}", AT, decision, language, band, flagged) for n in range(number)]


def traces(sample: Sample) -> list[str]:
    """The traces of a sample, in order."""
    return [row.candidate.trace for row in sample.rows]


def test_a_sample_is_the_same_on_any_machine() -> None:
    """The order is that of `printf 8:2026-W46:trace-0 | sha256sum` and so on."""
    candidates = [Candidate(f"trace-{n}", AT, "answer", "vi", "low", True) for n in range(6)]

    assert traces(draw(candidates, seed="2026-W46", answers=6)) == [
        "trace-3", "trace-5", "trace-0", "trace-1", "trace-4", "trace-2",
    ]  # fmt: skip


def test_all_refusals_and_questions_back_within_the_quota() -> None:
    """Each with probability 1, whatever the quota of answers is."""
    others = rows(7, "refuse") + rows(3, "ask_clarify")

    sample = draw([*rows(40), *others], seed="s", answers=0, others=10)

    assert sorted(traces(sample)) == sorted(c.trace for c in others)
    assert {(row.stratum, row.stratum_size, row.probability, row.weight) for row in sample.rows} == {
        ("refuse", 7, 1.0, 1.0),
        ("ask_clarify", 3, 1.0, 1.0),
    }
    assert sample.strata == (
        Stratum("answer/en/high/clean", 40, 0),
        Stratum("ask_clarify", 3, 3),
        Stratum("refuse", 7, 7),
    )


def test_more_refusals_than_the_quota() -> None:
    """In proportion, a rare question back among many refusals included."""
    sample = draw(rows(99, "refuse") + rows(1, "ask_clarify"), seed="s", others=10)

    assert sample.strata == (Stratum("ask_clarify", 1, 1), Stratum("refuse", 99, 9))


@pytest.mark.parametrize(
    ("sizes", "quota", "places"),
    [
        pytest.param((60, 30, 10), 10, (6, 3, 1), id="in proportion"),
        pytest.param((96, 2, 2), 10, (8, 1, 1), id="at least one of each"),
        pytest.param((5, 4, 3), 2, (1, 1, 0), id="a quota below the number of strata takes the largest"),
        pytest.param((3, 2, 1), 6, (3, 2, 1), id="all that there is"),
        pytest.param((3, 2, 1), 50, (3, 2, 1), id="more than there is"),
        pytest.param((3, 2, 1), 5, (2, 2, 1), id="one short of all"),
        pytest.param((3, 2, 1), 0, (0, 0, 0), id="nothing"),
        pytest.param((10, 10, 10), 4, (2, 1, 1), id="a tie goes by name"),
    ],
)
def test_places_of_the_strata(sizes: tuple[int, ...], quota: int, places: tuple[int, ...]) -> None:
    """Proportional with at least one of each while the quota allows; each row carries its probability."""
    kinds = [("en", "high", False), ("en", "low", True), ("vi", "high", False)]
    names = ["answer/en/high/clean", "answer/en/low/flagged", "answer/vi/high/clean"]
    candidates = [
        c
        for n, (language, band, flagged) in zip(sizes, kinds, strict=True)
        for c in rows(n, "answer", language, band, flagged=flagged)
    ]

    sample = draw(candidates, seed="s", answers=quota)

    assert sample.strata == tuple(Stratum(*given) for given in zip(names, sizes, places, strict=True))
    assert {row.stratum: row.probability for row in sample.rows} == {
        name: drawn / size for name, size, drawn in zip(names, sizes, places, strict=True) if drawn
    }


def test_no_candidates() -> None:
    """An empty week is an empty sample."""
    assert draw([], seed="s") == Sample("s", (), ())


def test_seeds_differ_and_are_kept_apart_from_traces() -> None:
    """Another seed draws others, and no seed runs into a trace."""
    week = rows(200)
    first, second = (set(traces(draw(week, seed=seed, answers=50))) for seed in ("2026-W46", "2026-W47"))
    one = [Candidate(trace, AT, "answer", "en", "high", False) for trace in ("11", "1", "2", "12", "3", "13")]

    assert 0 < len(first & second) < 50
    assert traces(draw(one, seed="1", answers=6)) != traces(draw(one, seed="11", answers=6))


@pytest.mark.parametrize(
    ("candidates", "quotas", "message"),
    [
        pytest.param(
            rows(1) * 2,
            {},
            "'trace-answer-en-high-False-0000' stands among the candidates twice: give each verdict once",
            id="twice",
        ),
        pytest.param(
            [Candidate("t", AT, "refused", "en", "high", False)],
            {},
            "'t' has the decision 'refused': did you mean refuse?",
            id="a decision that there is not",
        ),
        pytest.param([], {"answers": -1}, "answers must be a whole number of rows, 0 or more, got -1", id="below 0"),
        pytest.param(
            [], {"others": True}, "others must be a whole number of rows, 0 or more, got True", id="no number"
        ),
    ],
)
def test_what_cannot_be_sampled(candidates: list[Candidate], quotas: dict[str, int], message: str) -> None:
    """What, which value, what to do."""
    with pytest.raises(InputError) as error:
        draw(candidates, seed="s", **quotas)

    assert str(error.value) == message


WEEKS = st.lists(
    st.builds(
        Candidate,
        st.uuids().map(lambda u: f"trace-{u}"),
        st.just(AT),
        st.sampled_from(["answer", "answer", "refuse", "ask_clarify"]),
        st.sampled_from(["en", "vi"]),
        st.sampled_from(["low", "medium", "high"]),
        st.booleans(),
        st.none() | st.just("legal"),
    ),
    max_size=40,
    unique_by=lambda c: c.trace,
)


@settings(max_examples=examples(80), deadline=None)
@given(WEEKS, st.integers(0, 30), st.integers(0, 30), st.randoms(use_true_random=False))
def test_a_sample_holds_what_it_promises(week: list[Candidate], answers: int, others: int, random: object) -> None:
    """Any order of the records gives the same sample, quotas are used up, and weights add up to the covered strata."""
    sample = draw(week, seed="s", answers=answers, others=others)
    mixed = list(week)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    answered = sum(c.decision == "answer" for c in week)
    drawn = Counter(row.candidate.decision == "answer" for row in sample.rows)
    covered = sum(s.size for s in sample.strata if s.drawn)

    assert draw(mixed, seed="s", answers=answers, others=others) == sample
    assert (drawn[True], drawn[False]) == (min(answers, answered), min(others, len(week) - answered))
    assert sum(row.weight for row in sample.rows) == pytest.approx(covered)
    assert Counter(row.stratum for row in sample.rows) == Counter({s.name: s.drawn for s in sample.strata if s.drawn})


@settings(max_examples=examples(80), deadline=None)
@given(WEEKS, st.integers(0, 20), st.integers(0, 20))
def test_a_larger_quota_only_adds(week: list[Candidate], quota: int, more: int) -> None:
    """Who asks for more rows keeps those already reviewed."""
    small, large = (draw(week, seed="s", answers=n, others=n) for n in (quota, quota + more))

    assert set(traces(small)) <= set(traces(large))


@settings(max_examples=examples(80), deadline=None)
@given(WEEKS, st.integers(0, 40))
def test_later_records_do_not_reshuffle_earlier_ones(week: list[Candidate], known: int) -> None:
    """The earlier records keep their order, and of each stratum always the first in that order are drawn."""
    earlier = week[:known]
    before, after = (traces(draw(some, seed="s", answers=99, others=99)) for some in (earlier, week))
    order = {trace: n for n, trace in enumerate(after)}
    sample = draw(week, seed="s", answers=5, others=5)

    assert before == [trace for trace in after if trace in {c.trace for c in earlier}]
    for stratum in sample.strata:
        ranked = sorted((c.trace for c in week if c.stratum == stratum.name), key=order.__getitem__)
        assert [row.candidate.trace for row in sample.rows if row.stratum == stratum.name] == ranked[: stratum.drawn]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        pytest.param("2026-W46", datetime(2026, 11, 9, tzinfo=UTC), id="in the middle of a year"),
        pytest.param("2026-W01", datetime(2025, 12, 29, tzinfo=UTC), id="it begins in the year before"),
        pytest.param("2026-W53", datetime(2026, 12, 28, tzinfo=UTC), id="a year of 53 weeks"),
        pytest.param("2024-W52", datetime(2024, 12, 23, tzinfo=UTC), id="the last of 52"),
        pytest.param("0001-W01", datetime(1, 1, 1, tzinfo=UTC), id="the first there is"),
        pytest.param("9998-W52", datetime(9998, 12, 21, tzinfo=UTC), id="the last there is"),
    ],
)
def test_week_bounds(text: str, start: datetime) -> None:
    """Seven days from Monday, midnight UTC; every moment of them says so."""
    end = start + timedelta(days=7)

    assert week_bounds(text) == (start, end)
    assert (week_of(start), week_of(end - timedelta(microseconds=1))) == (text, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("2026-46", "a week is written as year and ISO week, such as 2026-W46, got '2026-46'", id="no W"),
        pytest.param(
            "2026-w46", "a week is written as year and ISO week, such as 2026-W46, got '2026-w46'", id="a small w"
        ),
        pytest.param("tuần 46", "a week is written as year and ISO week, such as 2026-W46, got 'tuần 46'", id="words"),
        pytest.param(
            "２０２６-W46",
            "a week is written as year and ISO week, such as 2026-W46, got '２０２６-W46'",
            id="other digits",
        ),
        pytest.param(
            "2026-W46\n", "a week is written as year and ISO week, such as 2026-W46, got '2026-W46\\n'", id="a line end"
        ),
        pytest.param("2025-W53", "2025 has the weeks 2025-W01 to 2025-W52, got '2025-W53'", id="one too many"),
        pytest.param("2026-W00", "2026 has the weeks 2026-W01 to 2026-W53, got '2026-W00'", id="zero"),
        pytest.param(
            "0000-W01", "the year of a week must be from 0001 to 9998, got '0000-W01'", id="before the calendar"
        ),
        pytest.param(
            "9999-W52",
            "the year of a week must be from 0001 to 9998, got '9999-W52'",
            id="its end is after the calendar",
        ),
    ],
)
def test_no_week(text: str, message: str) -> None:
    """What, which value, what to do."""
    with pytest.raises(InputError) as error:
        week_bounds(text)

    assert str(error.value) == message


@pytest.mark.parametrize(
    ("moment", "week"),
    [
        pytest.param(datetime(2026, 11, 9), "2026-W46", id="a naive moment is UTC"),  # noqa: DTZ001
        pytest.param(
            datetime(2026, 11, 9, 6, tzinfo=timezone(timedelta(hours=7))), "2026-W45", id="Monday morning in Hà Nội"
        ),
        pytest.param(datetime(2027, 1, 3, tzinfo=UTC), "2026-W53", id="a year of weeks ends later"),
    ],
)
def test_week_of(moment: datetime, week: str) -> None:
    """The week in UTC."""
    assert week_of(moment) == week
