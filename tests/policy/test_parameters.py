"""The parameters of the built-in validators have bounds: a senseless value is told, and the bounds themselves load."""

from __future__ import annotations

import math
from typing import Any

import jsonschema
import pytest

from stillme.policy import Policy
from tests.policy.support import Write, error_of, schema_check

SHARE = "must be in [0, 1]"
COUNT = "must be a whole number of at least 0"

BOUNDS = [
    pytest.param("SourceRequired", "min_similarity_for_factual", 1.7, SHARE, (0, 1), id="similarity for facts"),
    pytest.param("SourceRequired", "min_similarity_for_source_required", -0.1, SHARE, (0, 1), id="for sources"),
    pytest.param("QueryTerms", "min_share", 34, SHARE, (0, 1), id="a share of terms in per cent"),
    pytest.param("CitationRequired", "allowed_uncited", -1, COUNT, (0, 1000), id="fewer than no uncited claims"),
    pytest.param("EvidenceOverlap", "threshold", 8, SHARE, (0, 1), id="an overlap in per cent"),
    pytest.param(
        "EvidenceOverlap", "ngram", 0, "must be a whole number in [1, 10]", (1, 10), id="sequences of no word"
    ),
    pytest.param("EvidenceOverlap", "ngram", 11, "must be a whole number in [1, 10]", (1, 10), id="too long sequences"),
    pytest.param("ConfidenceValidator", "min_generation_confidence", 1.01, SHARE, (0, 1), id="more than certain"),
    pytest.param("ConfidenceValidator", "min_support", -1, SHARE, (0, 1), id="less than no support"),
    pytest.param("PhilosophicalDepthValidator", "min_words", -25, COUNT, (0, 1000), id="fewer than no words"),
    pytest.param("PhilosophicalDepthValidator", "min_sentences", -2, COUNT, (0, 1000), id="fewer than no sentences"),
    pytest.param("VerbosityValidator", "max_ratio", 50, SHARE, (0, 1), id="a ratio of padding in per cent"),
    pytest.param("VerbosityValidator", "min_words", -1, COUNT, (0, 1000), id="a draft shorter than nothing"),
]


@pytest.mark.parametrize(("validator", "parameter", "bad", "rule", "limits"), BOUNDS)
class TestBounds:
    def test_a_value_beyond_them_is_told_with_its_line(
        self, write: Write, validator: str, parameter: str, bad: float, rule: str, limits: tuple[int, int]
    ) -> None:
        path = write(f"validators:\n  {validator}:\n    {parameter}: {bad}\n")

        assert error_of(path) == f"validators.{validator}.{parameter} {rule}, got {bad} (policy.yaml line 3)"

    def test_the_bounds_themselves_load_and_arrive(
        self, validator: str, parameter: str, bad: float, rule: str, limits: tuple[int, int]
    ) -> None:
        for value in limits:
            policy = Policy.load({"validators": {validator: {parameter: value}}})
            built = next(each.validator for each in policy.build() if each.validator.name == validator)

            assert getattr(built, parameter) == value

    def test_the_schema_draws_the_same_line(
        self, validator: str, parameter: str, bad: float, rule: str, limits: tuple[int, int]
    ) -> None:
        for value in limits:
            schema_check().validate({"validators": {validator: {parameter: value}}})
        with pytest.raises(jsonschema.ValidationError):
            schema_check().validate({"validators": {validator: {parameter: bad}}})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, "0.5", None, [0.5]], ids=repr)
def test_what_is_no_number_is_no_share(value: Any) -> None:
    told = error_of({"validators": {"EvidenceOverlap": {"threshold": value}}})

    assert told.startswith("validators.EvidenceOverlap.threshold must be ")
