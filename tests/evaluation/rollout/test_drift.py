"""Drift is said when traffic is shown to lie elsewhere, hardly ever when it does not, and never on a few cases."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from stillme.audit import AuditStore, Filter
from stillme.errors import PolicyError
from stillme.evaluation.calibration.thresholds import Settings, same_thresholds, settings_changes
from stillme.evaluation.rollout.drift import (
    EDGES,
    LEAST_CASES,
    LEAST_DISTANCE,
    LEVEL,
    Observation,
    Shift,
    Summary,
    chi_square_tail,
    drift_of,
    kolmogorov_tail,
    observations_in,
    with_drift_recorded,
)
from stillme.policy import Policy
from stillme.policy.reader import parsed
from tests.audit.conftest import KEY, occurrence


def traffic(rng: np.random.Generator, count: int, shift: float = 0.0, vietnamese: float = 0.3) -> Summary:
    """Traffic of a known kind; `shift` moves similarity and scores down."""
    similarity, score = rng.beta(5, 2, count) - shift, rng.beta(8, 2, count) - shift
    languages = np.where(rng.random(count) < vietnamese, "vi", "en")
    refused = rng.random(count) < 0.2
    return Summary.of(
        Observation(float(a), float(b), str(c), "refuse" if d else "answer", ("unsupported_claim",) if d else ())
        for a, b, c, d in zip(similarity, score, languages, refused, strict=True)
    )


# the distributions of the tests


@given(x=st.floats(0, 200), freedom=st.integers(1, 25))
@settings(max_examples=100, deadline=None)
def test_the_tail_of_chi_square(x: float, freedom: int) -> None:
    """As SciPy has it."""
    assert chi_square_tail(x, freedom) == pytest.approx(stats.chi2.sf(x, freedom), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(("first", "second"), [(100, 100), (1000, 200), (500, 5000)])
@pytest.mark.parametrize("distance", [0.0, 0.01, 0.05, 0.1, 0.15, 0.3, 1.0])
def test_the_tail_of_kolmogorov(distance: float, first: int, second: int) -> None:
    """Close to the exact probability where it decides, and no smaller than a few percent below it."""
    exact = stats.distributions.kstwo.sf(distance, round(first * second / (first + second)))

    assert kolmogorov_tail(distance, first, second) == pytest.approx(exact, rel=0.15, abs=0.02)


# comparing


def test_a_comparison_by_hand() -> None:
    """200 cases before, 100 now: every distance and p-value as a pocket calculator and SciPy have them."""
    before = Summary.of(
        [Observation(0.72, 0.87, "en", "answer")] * 150
        + [Observation(0.52, 0.42, "vi", "refuse", ("unsupported_claim", "passed_with_warnings"))] * 50
    )
    now = Summary.of(
        [Observation(0.72, 0.87, "en", "answer")] * 50
        + [Observation(0.12, None, "vi", "refuse", ("unsupported_claim",))] * 50
    )

    found = drift_of(before.to_reference(), now)

    by_name = {c.name: c for c in found.comparisons}
    assert set(by_name) == {"similarity", "language", "decision", "unsupported_claim"}
    assert (by_name["similarity"].distance, by_name["similarity"].detail) == (0.5, "below 0.15: 0.0% before, 50.0% now")
    table = [[150, 50], [50, 50]]
    assert by_name["language"].p == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)
    assert by_name["decision"].distance == pytest.approx(0.25)
    assert by_name["unsupported_claim"].p == pytest.approx(stats.chi2_contingency(table).pvalue)
    assert by_name["unsupported_claim"].detail == "on 25.0% before, 50.0% now"
    assert found.left_out == (f"score: 200 cases before and 50 now have one, {LEAST_CASES} are needed",)
    assert found.outcome == "drifted"
    assert str(found.reason).startswith(
        "100 cases of traffic differ from the calibration: similarity below 0.15: 0.0% before, 50.0% now (p < 0.0001); "
    )
    assert "\n" not in str(found.reason)


def test_the_p_values_are_holms() -> None:
    """The smallest times the number of comparisons, the next times one fewer, never falling."""
    rng = np.random.default_rng(1)
    found = drift_of(traffic(rng, 500), traffic(rng, 500, shift=0.03)).comparisons

    ranked = sorted(found, key=lambda c: c.p)
    highest, expected = 0.0, []
    for rank, each in enumerate(ranked):
        highest = max(highest, min(1.0, each.p * (len(ranked) - rank)))
        expected.append(highest)
    assert [c.adjusted for c in ranked] == expected


@pytest.mark.parametrize("count", [0, 1, 99])
def test_a_few_cases_say_nothing(count: int) -> None:
    """However far they lie from the reference."""
    reference = traffic(np.random.default_rng(2), 500)
    few = Summary.of([Observation(-1.0, 0.0, "en", "refuse", ("context_conflict_low_consensus",))] * count)

    found = drift_of(reference, few)
    turned = drift_of(few, reference)

    assert (found.outcome, found.reason, found.cases, found.needed, found.comparisons) == (
        "too few",
        None,
        count,
        100 - count,
        (),
    )
    assert (turned.outcome, turned.left_out) == ("too few", (f"the calibration has {count} cases, 100 are needed",))


def test_a_small_shift_that_much_traffic_shows_is_no_drift() -> None:
    """It is shown, and too small to matter."""
    rng = np.random.default_rng(3)
    found = drift_of(traffic(rng, 20_000), traffic(rng, 20_000, vietnamese=0.34))

    language = next(c for c in found.comparisons if c.name == "language")
    assert language.adjusted < LEVEL
    assert language.distance < LEAST_DISTANCE
    assert (found.outcome, found.reason) == ("no drift shown", None)


DRAWS = 300


def test_unshifted_traffic_is_hardly_ever_called_drifted() -> None:
    """Over many windows of the same traffic, at most as often as the level says."""
    rng = np.random.default_rng(4)
    alarms = sum(drift_of(traffic(rng, 300), traffic(rng, 150)).outcome == "drifted" for _ in range(DRAWS))

    assert alarms / DRAWS <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / DRAWS)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        pytest.param({"shift": 0.2}, "similarity", id="passages are further from the questions"),
        pytest.param({"vietnamese": 0.7}, "language", id="another language is asked in"),
    ],
)
def test_shifted_traffic_is_called_drifted(changes: dict[str, float], name: str) -> None:
    """Nearly every window of it, and what drifted is named."""
    rng = np.random.default_rng(5)
    found = [drift_of(traffic(rng, 300), traffic(rng, 200, **changes)) for _ in range(40)]

    assert sum(each.outcome == "drifted" for each in found) >= 39
    assert all(name in {c.name for c in each.comparisons if c.drifted} for each in found if each.outcome == "drifted")


def test_what_is_rare_is_not_compared() -> None:
    """A code on three cases of many is named as left out, and rare languages stand together."""
    before = Summary.of(
        [Observation(0.7, 0.8, "en", "answer")] * 397 + [Observation(0.7, 0.8, "fr", "answer", ("rare",))] * 3
    )
    now = Summary.of([Observation(0.7, 0.8, "en", "answer")] * 400)

    found = drift_of(before, now)

    assert [c.name for c in found.comparisons] == ["score", "similarity"]
    assert found.left_out == ("rare: on 3 of 800 cases, too rare or too common to compare",)
    assert (found.outcome, {c.p for c in found.comparisons}) == ("no drift shown", {1.0})


def test_only_both_together_are_drift() -> None:
    """A large distance that is not shown is none, a shown one that is small neither."""
    flags = [
        Shift("a", 1, 1, distance, 0.0, adjusted, "").drifted
        for distance, adjusted in ((0.1, 0.01), (0.099, 0.0), (0.9, 0.011))
    ]

    assert flags == [True, False, False]


# the reference in a policy

seen = st.builds(
    Observation,
    st.none() | st.floats(-1, 1),
    st.none() | st.floats(0, 1),
    st.sampled_from(["en", "vi", "ü"]),
    st.none() | st.sampled_from(["answer", "refuse"]),
    st.lists(st.text(max_size=5), max_size=3).map(tuple),
)


@given(st.lists(seen, max_size=20))
@settings(max_examples=60, deadline=None)
def test_a_reference_is_read_back(observations: list[Observation]) -> None:
    """What a policy holds is the summary that was written, and its counts are whole."""
    summary = Summary.of(observations)

    again = Summary.from_reference(summary.to_reference())

    assert again == summary
    assert all(sum(again.numbers[name]) <= again.cases for name in EDGES)


@pytest.mark.parametrize(
    "reference",
    [
        pytest.param({}, id="none at all"),
        pytest.param({**Summary().to_reference(), "score": [1, 2]}, id="other edges"),
        pytest.param({**Summary().to_reference(), "cases": -1}, id="less than nothing"),
        pytest.param({**Summary().to_reference(), "languages": [1]}, id="a list for a mapping"),
    ],
)
def test_a_reference_that_cannot_be_read_is_an_error(reference: dict[str, Any]) -> None:
    """Never a comparison with nothing."""
    with pytest.raises(PolicyError, match="run `stillme calibrate` again"):
        drift_of(reference, Summary())


# traffic in a store

WRONG = {"draft_answer": "Unused gear can be returned within 45 days of delivery [1]."}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AuditStore]:
    """A store in SQLite."""
    with AuditStore(tmp_path / "audit.db", key=KEY) as made:
        yield made


def test_traffic_is_read_without_its_texts(store: AuditStore) -> None:
    """Similarity, the least score, language, decision and codes; another model and removed records are counted apart."""
    other = {"grounding": {"model": "none"}}
    made = [occurrence(), occurrence(**WRONG), occurrence({"audit": {"content": "none"}}), occurrence(other)]
    store.record(made)
    model = made[0].verdict.model_id

    found = observations_in(store, Filter(), model)

    verdicts = [each.verdict for each in made[:3]]
    scores = [min(c.score for c in v.claims if c.score is not None) for v in verdicts]
    assert (found.other_model, found.unreadable) == (1, 0)
    assert found.summary == Summary.of(
        Observation(v.metrics.max_similarity, score, v.language, v.decision.value, tuple(v.reasons))
        for v, score in zip(verdicts, scores, strict=True)
    )
    assert found.summary.reasons["passed_with_warnings"] == 0


def test_decisions_count_only_under_the_same_thresholds(store: AuditStore) -> None:
    """A verdict under other thresholds still tells of similarity and scores; the mode does not matter."""
    policy = Policy.load("lite")
    other = policy.with_changes(settings_changes(policy, Settings(0.1, 0.1, 0.1, 0.2)))
    made = [occurrence(), occurrence({"mode": "enforce"}), occurrence(other)]
    store.record(made)

    found = observations_in(store, Filter(), made[0].verdict.model_id, same_thresholds(store, policy))

    assert (found.summary.cases, found.summary.decided) == (3, 2)


def test_a_window_of_traffic(store: AuditStore) -> None:
    """Only what the filter takes."""
    begin = datetime(2026, 2, 1, tzinfo=UTC)
    made = [replace(occurrence(), at=begin + timedelta(days=n)) for n in (0, 3, 9)]
    store.record(made)

    found = observations_in(store, Filter(since="2026-02-02", until="2026-02-05"), made[0].verdict.model_id)

    assert found.summary.cases == 1


# recording it in the policy file

CALIBRATION = """\
  at: 2026-02-01T09:00:00Z
  model_id: m
  version: 1.0.0
  data_sha256: ab
  cases: 1
  max_escape_rate: 0.01
  confidence: 0.95
"""
REASON = 'similarity "below 0.5": thấp hơn # 20 %'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", "", id="not there yet"),
        pytest.param("  drifted: null # none so far\n", "", id="said to be none"),
        pytest.param("  drifted: a text that is so long\n    that it takes two lines\n", "", id="on two lines"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_drift_is_written_and_all_else_stays(before: str, after: str, end: str) -> None:
    """Comments, order and line ends are kept, and the file loads to the policy with that reason."""
    text = f"# ours\nmode: warn # soon\ncalibration: # by us\n{CALIBRATION}{before}{after}output:\n  include_reason_codes: true\n"
    content = text.replace("\n", end).encode()

    changed = with_drift_recorded(content, "policy.yaml", REASON)

    assert parsed(changed, "policy.yaml").settings == {
        **(known := parsed(content, "policy.yaml").settings),
        "calibration": {**known["calibration"], "drifted": REASON},
    }
    kept = [line for line in text.splitlines() if line not in before.splitlines()]
    assert [line for line in changed.decode().split(end) if line and "drifted" not in line] == kept
    policy = Policy.load(parsed(changed, "policy.yaml").settings)
    assert policy.calibration is not None
    assert policy.calibration.drifted == REASON


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("mode: warn\n", "has no calibration section", id="not calibrated"),
        pytest.param(
            "calibration: &c {at: a}\noutput: *c\n", "below calibration yourself", id="an anchor that others use"
        ),
    ],
)
def test_a_file_that_cannot_be_changed_stays(text: str, said: str) -> None:
    """It is an error that says what to do, not half a change."""
    with pytest.raises(PolicyError, match=said):
        with_drift_recorded(text.encode(), "policy.yaml", "a reason")
