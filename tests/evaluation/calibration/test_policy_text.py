"""What a calibration writes loads as the policy that it promises, and says what it rests on."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.evaluation.calibration.calibration import CalibrationOutcome, calibrate
from stillme.evaluation.calibration.fixed_sequence import Target
from stillme.evaluation.calibration.policy_text import calibrated_policy, curve, evidence, fragment, policy_file
from stillme.evaluation.calibration.thresholds import Settings
from stillme.evaluation.rollout.drift import Summary
from stillme.policy import Policy
from stillme.policy.reader import parsed
from tests.evaluation.scored_cases import LITE, SOURCE, WIDE, bad, both_languages, good


@cache
def _guaranteed() -> CalibrationOutcome:
    return calibrate(both_languages(), LITE, WIDE, "language")


def guaranteed(**changes: Any) -> CalibrationOutcome:
    """A calibration that came out."""
    return replace(_guaranteed(), **changes)


def test_the_fragment_loads_and_says_what_it_rests_on() -> None:
    """Thresholds, the calibration with its reference, and the evidence in comments."""
    text = fragment(guaranteed(), LITE, SOURCE)
    policy = Policy.load(parsed(text.encode(), "f.yaml").settings)

    assert Settings.of(policy) == guaranteed().settings
    assert policy.calibration is not None
    assert policy.calibration.model_dump(exclude={"reference", "version"}) == {
        "at": "2026-02-01T09:00:00Z",
        "model_id": "model-1",
        "data_sha256": "ab" * 32,
        "cases": 100,
        "languages": ["en", "vi"],
        "domains": [],
        "max_escape_rate": 0.2,
        "confidence": 0.9,
        "drifted": None,
    }
    assert Summary.from_reference(policy.calibration.reference) == guaranteed().reference
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert (
        "# guaranteed with confidence 0.9: of drafts with an unsupported claim at most 20.00% pass as an answer,"
        in comments
    )
    assert any(line.startswith("# 'vi': min_score 0.805, 0 of 40 escape, at most ") for line in comments)


def test_the_policy_file_is_the_whole_policy_calibrated() -> None:
    """It loads to the policy that was given, with the new thresholds, and nothing of an earlier calibration."""
    earlier = calibrated_policy(
        guaranteed(reference=Summary(cases=1, reasons=Counter(old=1))), Policy.load("book"), SOURCE
    )
    drifted = earlier.with_changes({"calibration": {"drifted": "long ago"}})

    text = policy_file(guaranteed(), drifted, SOURCE)
    policy = Policy.load(parsed(text.encode(), "f.yaml").settings)

    assert policy.hash == calibrated_policy(guaranteed(), drifted, SOURCE).hash
    assert policy.messages == Policy.load("book").messages
    assert policy.calibration is not None
    assert (policy.calibration.drifted, policy.calibration.reference["reasons"]) == (None, {"unsupported_claim": 78})


@given(name=st.text(min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_any_name_of_a_domain_can_be_written(name: str) -> None:
    """It is a key of the fragment, and cannot break out of a comment."""
    outcome = guaranteed(
        settings=Settings(0.1, 0.1, 0.1, 0.5, {}, {name: 0.25}),
        domains=(name,),
        groups=(replace(guaranteed().groups[0], name=name),),
    )
    if any("\ud800" <= character <= "\udfff" for character in name):
        return

    text = fragment(outcome, LITE, SOURCE)

    assert yaml.safe_load(text)["calibration"]["domains"] == [name]
    if name != "<<":  # the one key that a policy file cannot have
        assert Settings.of(Policy.load(parsed(text.encode(), "f.yaml").settings)) == outcome.settings


def test_the_evidence_of_what_is_not_guaranteed_says_so() -> None:
    """No line of it reads as if it were."""
    lines = evidence(calibrate(bad(-1.0, 20) + good(0.9, 5), LITE), SOURCE)

    assert not any(line.startswith("guaranteed") for line in lines)
    assert any(
        line.startswith("all cases: not guaranteed: 20 cases with an unsupported claim are too few") for line in lines
    )


def test_the_trade_off_only_moves_one_way() -> None:
    """Down the curve more escapes and fewer good cases are refused; it shows the chosen point and those beyond it."""
    cases = [c for n in range(100) for c in (*bad(n / 101), *good((n + 40) / 140))]

    group = calibrate(cases, LITE, Target(0.5, 0.9)).groups[0]

    told = curve(group)
    escaped, refused = [p.figures.escaped for p in told], [p.figures.refused for p in told]
    assert escaped == sorted(escaped)
    assert refused == sorted(refused, reverse=True)
    assert group.chosen in told
    assert 3 < len(told) <= 14
    assert [p.is_certified for p in told] == sorted((p.is_certified for p in told), reverse=True)
