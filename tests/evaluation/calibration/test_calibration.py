"""Calibrated thresholds keep to what they promise: on hand-made tables and over many draws."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from stillme.errors import InputError, PolicyError
from stillme.evaluation.calibration.calibration import ALL, REST, CalibrationOutcome, calibrate
from stillme.evaluation.calibration.fixed_sequence import ErrorCounts, Target
from stillme.evaluation.calibration.policy_text import fragment
from stillme.evaluation.calibration.thresholds import ScoredCase, Settings
from stillme.policy import Policy
from stillme.reasons import Decision
from tests.evaluation.scored_cases import LITE, SOURCE, WIDE, bad, both_languages, good


def test_a_small_calibration_by_hand() -> None:
    """20 bad cases, of which one may escape, and 10 good ones: the score that keeps both figures is found, and counted."""
    cases = bad(-1.0, 17) + bad(0.95, 1, unsupported=3) + bad(0.6) + bad(0.3) + good(0.99, 4) + good(0.7, 5) + good(0.2)

    found = calibrate(cases, LITE, WIDE, keep_gates=True)

    assert found.settings == Settings(0.45, 0.5, 0.6, 0.605)
    assert found.before == ErrorCounts(escaped=3, bad=20, refused=0, good=10, claims_escaped=5, claims=22)
    assert found.after == ErrorCounts(escaped=1, bad=20, refused=1, good=10, claims_escaped=3, claims=22)
    assert (found.tried, found.by, found.cases, found.domains) == (1, "none", 30, ())
    point = found.groups[0].chosen
    assert (point.min_score, point.figures) == (0.605, found.after)
    assert point.p == pytest.approx(stats.binom.cdf(1, 20, 0.2))
    assert point.figures.escape == pytest.approx(stats.binomtest(1, 20).proportion_ci(0.95, "exact"), abs=1e-9)
    assert point.figures.refusal == pytest.approx(stats.binomtest(1, 10).proportion_ci(0.95, "exact"), abs=1e-9)


def test_wrong_answers_at_a_lower_similarity_raise_the_threshold_between() -> None:
    """Where scores do not tell right from wrong and similarity does, the threshold comes to lie just above the wrong answers."""
    cases = bad(0.97, 400, similarity=0.72) + good(0.97, 100, similarity=0.95)

    found = calibrate(cases, LITE)

    assert found.settings == Settings(0.725, 0.5, 0.6, 0.0)
    assert found.after == ErrorCounts(escaped=0, bad=400, refused=0, good=100, claims_escaped=0, claims=400)
    assert (found.tried, found.groups[0].level) == (2, pytest.approx(0.025))
    assert "min_similarity_for_factual: raised from 0.45 to 0.725" in found.notes


@pytest.mark.parametrize("count", [299, 310, 367])
def test_the_gate_is_raised_with_the_fewest_cases_that_can_show_anything(count: int) -> None:
    """Where the error cannot be shared, it goes to the one sequence that may raise a gate."""
    cases = bad(0.97, count, similarity=0.72) + good(0.97, 100, similarity=0.95)

    found = calibrate(cases, LITE)

    assert (found.settings, found.tried) == (Settings(0.725, 0.5, 0.6, 0.0), 1)


def test_where_the_error_cannot_be_shared_no_good_case_is_lost_to_a_raised_gate() -> None:
    """The one sequence then begins no higher than the farthest of the right answers."""
    cases = bad(0.4, 300, similarity=0.9) + good(0.97, 99, similarity=0.95) + good(0.97, 1, similarity=0.6)

    found = calibrate(cases, LITE)

    assert found.settings == Settings(0.6, 0.5, 0.6, 0.405)
    assert found.after is not None
    assert found.after.refused == 0


def test_a_few_right_answers_may_lie_below_the_raised_threshold() -> None:
    """So many as may be refused at all, by the rule of ADR-004."""
    cases = bad(0.97, 400, similarity=0.72) + good(0.97, 95, similarity=0.95) + good(0.97, 5, similarity=0.6)

    found = calibrate(cases, LITE)

    assert found.settings == Settings(0.725, 0.5, 0.6, 0.0)
    assert found.after is not None
    assert (found.after.escaped, found.after.refused) == (0, 5)


def test_similarity_and_score_are_raised_together_where_it_takes_both() -> None:
    """Some wrong answers are far from the question, others near and badly supported."""
    cases = bad(0.97, 300, similarity=0.72) + bad(0.4, 300, similarity=0.95) + good(0.97, 100, similarity=0.95)

    found = calibrate(cases, LITE)

    assert found.settings == Settings(0.95, 0.5, 0.6, 0.405)
    assert found.after is not None
    assert (found.after.escaped, found.after.refused) == (0, 0)


def test_the_threshold_of_the_questions_that_ask_for_sources_is_raised_by_its_own_cases() -> None:
    """The other similarity threshold, of which no case speaks, stays."""
    cases = bad(0.97, 400, similarity=0.72, need="source_required") + good(
        0.97, 100, similarity=0.95, need="source_required"
    )

    assert calibrate(cases, LITE).settings == Settings(0.45, 0.725, 0.6, 0.0)


def test_generation_confidence_is_raised_where_it_tells_right_from_wrong() -> None:
    """Gate 3 too, and similarity stays where it was."""
    cases = bad(0.97, 600, confidence=0.65) + good(0.97, 100, confidence=0.9)

    assert calibrate(cases, LITE).settings == Settings(0.45, 0.5, 0.655, 0.0)


def test_gates_stay_where_the_score_does_as_well() -> None:
    """What the policy says is not changed for nothing."""
    cases = bad(0.4, 400, similarity=0.72) + good(0.97, 100, similarity=0.95)

    assert calibrate(cases, LITE).settings == Settings(0.45, 0.5, 0.6, 0.405)


def test_a_score_that_no_case_has_stays() -> None:
    """Cases in which nothing was scored say nothing about the score that support has to have."""
    policy = Policy.load({"validators": {"FactualHallucinationValidator": {"min_score": 0.3}}})
    cases = bad(math.inf, 400, similarity=0.72) + good(math.inf, 100, similarity=0.95)

    assert calibrate(cases, policy).settings == Settings(0.725, 0.5, 0.6, 0.3)


@pytest.mark.parametrize(
    ("cases", "more", "said"),
    [
        pytest.param(bad(-1.0, 250), 49, "even if none escapes it takes 299, so 49 more", id="too few, none escapes"),
        pytest.param([], 299, "0 cases with an unsupported claim are too few", id="none at all"),
        pytest.param(
            bad(-1.0, 290) + bad(math.inf, 10), None, "more cases will not change that", id="too many escape always"
        ),
        pytest.param(
            bad(-1.0, 398) + bad(math.inf, 2),
            785,
            "so 785 more",
            id="few escape always: the share is shown by more cases",
        ),
    ],
)
def test_what_cannot_be_guaranteed_says_what_is_missing(cases: list[ScoredCase], more: int | None, said: str) -> None:
    """No thresholds, and how many more cases it takes, or that none would help."""
    found = calibrate(cases, LITE)

    assert (found.settings, found.after, found.languages, found.is_guaranteed) == (None, None, (), False)
    assert found.groups[0].more == more
    assert said in str(found.groups[0].shortfall)
    with pytest.raises(InputError, match="nothing can be guaranteed"):
        fragment(found, LITE, SOURCE)


def test_so_many_more_cases_do_show_it() -> None:
    """The number that is named is enough, and about the least that is."""
    more = calibrate(bad(-1.0, 398) + bad(math.inf, 2), LITE).groups[0].more
    assert more is not None

    total = 400 + more

    assert stats.binom.cdf(math.ceil(0.005 * total), total, 0.01) <= 0.05
    assert stats.binom.cdf(math.ceil(0.005 * 0.8 * total), int(0.8 * total), 0.01) > 0.05


# groups


def test_each_language_with_enough_cases_has_its_own_score() -> None:
    """They share the error, and what is no such language gets the strictest."""
    found = calibrate(both_languages(), LITE, WIDE, "language")

    assert found.settings == Settings(0.45, 0.5, 0.6, 0.805, {"en": 0.0, "vi": 0.805})
    assert [(g.name, g.level) for g in found.groups] == [("en", pytest.approx(0.025)), ("vi", pytest.approx(0.025))]
    assert (found.by, found.languages, found.domains) == ("language", ("en", "vi"), ())


def test_a_language_with_few_cases_is_not_calibrated() -> None:
    """The other one is, with the whole error; this one gets the strictest score, and it is said."""
    found = calibrate(both_languages(vi=12), LITE, WIDE, "language", keep_gates=True)

    assert found.settings == Settings(0.45, 0.5, 0.6, 0.0, {"en": 0.0})
    assert found.languages == ("en",)
    assert found.groups[0].level == pytest.approx(0.1)
    assert found.notes[0].startswith("language 'vi': 12 cases with an unsupported claim, 14 are needed")


def test_without_enough_cases_in_any_language_all_are_taken_together() -> None:
    """The guarantee is then on their mixture, and a language counts if it has 30 of the cases."""
    cases = bad(-1.0, 31) + [replace(c, language="vi") for c in bad(-1.0, 29)]

    found = calibrate(cases, LITE, Target(0.05, 0.95), "language")

    assert (found.by, [g.name for g in found.groups], found.languages) == ("none", [ALL], ("en",))
    assert found.notes == (
        "no language has enough cases of its own: all cases are taken together",
        "language 'vi': 29 of the cases with an unsupported claim, 30 are needed for its verdicts to count as calibrated",
    )


def by_domain(others: int) -> list[ScoredCase]:
    """Two domains, and cases of none."""
    shop = [replace(c, domain="shop") for c in bad(-1.0, 35) + bad(0.7, 15) + good(0.9, 5)]
    law = [replace(c, domain="law") for c in bad(-1.0, 40) + good(0.9, 5)]
    return shop + law + bad(-1.0, others)


def test_domains_have_their_own_scores_and_the_rest_one_too() -> None:
    """Every request falls under a score that its own kind of cases speaks for."""
    found = calibrate(by_domain(30), LITE, WIDE, "domain")

    assert found.settings == Settings(0.45, 0.5, 0.6, 0.0, {}, {"shop": 0.705, "law": 0.0})
    assert [g.name for g in found.groups] == ["shop", "law", REST]
    assert (found.domains, found.languages) == (("shop", "law"), ("en",))


@pytest.mark.parametrize("others", [pytest.param(3, id="a few of no domain"), pytest.param(9, id="a few more")])
def test_domains_are_taken_together_where_the_rest_is_too_small(others: int) -> None:
    """Else requests of another domain would stand under a score that nothing speaks for."""
    found = calibrate(by_domain(others), LITE, WIDE, "domain")

    assert [g.name for g in found.groups] in ([ALL], ["shop", REST])
    assert found.settings is not None


# what is asked for, and what is said


def test_the_target_is_checked() -> None:
    """A share is between 0 and 1."""
    with pytest.raises(InputError, match="max_escape_rate must be between 0 and 1, got 0"):
        Target(max_escape_rate=0)
    with pytest.raises(PolicyError, match="must be enabled and hard"):
        calibrate([], Policy.load({"validators": {"FactualHallucinationValidator": {"gate": "soft"}}}))


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        pytest.param(
            bad(0.5, 2) + bad(-1.0, 98) + good(0.9, 10), ["raise: 2 of 100 (2.00%"], id="more than 1 % escape"
        ),
        pytest.param(
            bad(-1.0, 10) + good(0.9, 8) + good(-1, 2, rest=Decision.REFUSE),
            ["lower: 2 of 10 (20.00%"],
            id="more than 10 % refused",
        ),
        pytest.param(bad(-1.0, 10) + good(0.9, 9) + good(-1, 1, rest=Decision.REFUSE), [], id="both within the rule"),
        pytest.param(
            bad(0.5, 400) + good(0.4, 2) + good(0.9, 8),
            ["raise: 400 of 400 (100.00%", "the new thresholds falsely refuse 2 of 10 (20.00%"],
            id="thresholds alone do not reach both",
        ),
    ],
)
def test_the_rule_of_the_decision_record_is_applied_to_what_is(cases: list[ScoredCase], said: list[str]) -> None:
    """False refusals above 10 %: lower; hallucinations above 1 %: raise; and what the new thresholds still miss."""
    notes = calibrate(cases, LITE).notes

    assert [note.startswith(start) for note, start in zip(notes, said, strict=True)] == [True] * len(said)


# the guarantee over many draws


def test_the_guarantee_holds_for_groups_and_gates_together() -> None:
    """With gates to choose from and two languages, any group misses its rate at most as often as the whole may."""
    rng = np.random.default_rng(7)
    draws, rate, error = 100, 0.1, 0.2
    missed = 0
    for _ in range(draws):
        found = calibrate(drawn(rng), LITE, Target(rate, 1 - error), "language")
        missed += any(true_risk(found, language) > rate for language in found.languages)

    assert missed / draws <= error + 3 * math.sqrt(error * (1 - error) / draws)


def drawn(rng: np.random.Generator) -> list[ScoredCase]:
    """Cases of a known distribution: similarity and score are uniform, and Vietnamese drafts pass more easily."""
    found: list[ScoredCase] = []
    for language, ease in (("en", 0.5), ("vi", 1.0)):
        for least, similarity in rng.random((80, 2)):
            found += bad(float(least * ease), language=language, similarity=float(similarity))
        for least, similarity in rng.random((30, 2)):
            found += good(float(1 - least / 4), language=language, similarity=float(similarity))
    return found


def true_risk(found: CalibrationOutcome, language: str) -> float:
    """The probability that a bad case passes under what was chosen."""
    assert found.settings is not None
    ease = {"en": 0.5, "vi": 1.0}[language]
    score = found.settings.least_score(language, None)
    return (1 - found.settings.factual) * max(0.0, 1 - score / ease)


def test_settings_that_cannot_be_shown_beside_others_are_not_tried() -> None:
    """Fewer settings share the error where the cases are few: the policy's own and a raised one, then one alone."""
    cases = good(0.9, 5, similarity=0.3) + good(0.9, 5)

    tried = [calibrate(bad(-1.0, count) + cases, LITE).tried for count in (310, 400, 500)]

    assert tried == [1, 2, 3]
