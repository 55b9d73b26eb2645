"""What is wrong with a policy is said with key, value, choices and line, all at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stillme.errors import PolicyError
from stillme.policy import Policy
from stillme.validators.registry import BUILT_IN
from tests.policy.support import (
    ROOT,
    Write,
    error_of,
)
from tests.soak import examples

KEYS = "valid keys: mode, extends, thresholds, behavior, grounding, output, validators, messages, limits, on_error, confidence"
BAD_SETTINGS = [
    pytest.param(
        {"thresholds": {"min_similarity_for_factual": 1.7}},
        "thresholds.min_similarity_for_factual must be in [0, 1], got 1.7",
        id="a threshold above one",
    ),
    pytest.param(
        {"thresholds": {"min_similarity_for_factual": float("nan")}},
        "thresholds.min_similarity_for_factual must be in [0, 1], got nan",
        id="a threshold that is not a number",
    ),
    pytest.param(
        {"thresholds": {"min_similarity_for_factual": True}},
        "thresholds.min_similarity_for_factual must be a number in [0, 1], got True",
        id="a truth value for a number",
    ),
    pytest.param(
        {"thresholds": {"min_similarity_for_factual": "0.5"}},
        "thresholds.min_similarity_for_factual must be a number in [0, 1], got '0.5'",
        id="text for a number",
    ),
    pytest.param(
        {"thresholds": {"min_similarity_for_factul": 0.5}},
        "unknown key thresholds.min_similarity_for_factul: did you mean min_similarity_for_factual? "
        "valid keys: min_similarity_for_factual, min_similarity_for_source_required",
        id="a misspelt key in a section",
    ),
    pytest.param(
        {"treshholds": {}}, f"unknown key treshholds: did you mean thresholds? {KEYS}", id="a misspelt section"
    ),
    pytest.param(
        {"treshholds": None}, f"unknown key treshholds: did you mean thresholds? {KEYS}", id="and an empty one"
    ),
    pytest.param({"zzz": 1}, f"unknown key zzz: {KEYS}", id="a key that looks like none"),
    pytest.param(
        {"passages": 3}, f"unknown key passages: did you mean limits.passages? {KEYS}", id="a key outside its section"
    ),
    pytest.param(
        {"EvidenceOverlap": {}},
        f"unknown key EvidenceOverlap: did you mean validators.EvidenceOverlap? {KEYS}",
        id="a validator outside its section",
    ),
    pytest.param(
        {"mode": "blocking"}, "mode must be one of monitor, warn, enforce, got 'blocking'", id="an unknown mode"
    ),
    pytest.param({"mode": None}, "mode must be one of monitor, warn, enforce, got None", id="no mode after the colon"),
    pytest.param(
        {"mode": ["warn"]}, "mode must be one of monitor, warn, enforce, got ['warn']", id="a list for a mode"
    ),
    pytest.param(
        {"on_error": "shrug"}, "on_error must be one of refuse, deliver, got 'shrug'", id="an unknown on_error"
    ),
    pytest.param(
        {"extends": "novel"}, "extends must be one of lite, book, strict, got 'novel'", id="an unknown preset"
    ),
    pytest.param(
        {"extends": ["lite"]}, "extends must be one of lite, book, strict, got ['lite']", id="several presets"
    ),
    pytest.param(
        {"behavior": {"enforce_no_source_refusal": "yes"}},
        "behavior.enforce_no_source_refusal must be true or false, got 'yes'",
        id="text for a truth value",
    ),
    pytest.param(
        {"output": 3},
        "output must be a mapping with the keys include_validator_trace, include_reason_codes, got 3",
        id="a number for a section",
    ),
    pytest.param(
        {"limits": {"passages": 0}},
        "limits.passages must be a whole number of at least 1, got 0",
        id="a limit of nothing",
    ),
    pytest.param(
        {"limits": {"passages": 2.5}},
        "limits.passages must be a whole number of at least 1, got 2.5",
        id="half a passage",
    ),
    pytest.param(
        {"confidence": {"high": 0.5}},
        "confidence: medium must not be above high, got medium 0.6 and high 0.5",
        id="bands out of order",
    ),
    pytest.param({"messages": {"refusal": " "}}, "messages.refusal must not be blank, got ' '", id="a blank message"),
    pytest.param(
        {"messages": {"refusal": {"vi": ""}}}, "messages.refusal.vi must not be blank, got ''", id="a blank translation"
    ),
    pytest.param(
        {"messages": {"clarify": {"fr": "Pardon ?"}}},
        "unknown key messages.clarify.fr: valid keys: en, vi",
        id="a language we do not speak",
    ),
    pytest.param(
        {"messages": {"refusal": 3}},
        "messages.refusal must be text of 1 to 4000 characters or a mapping with the keys en, vi, got 3",
        id="a number for a message",
    ),
    pytest.param(
        {"messages": {"refusal": "\ud800"}},
        "messages.refusal must be well-formed Unicode, got '\\ud800'",
        id="half a character in a message",
    ),
    pytest.param({1: 2}, "1: a key must be text, got 1", id="a number for a key"),
    pytest.param({"limits": {None: 2}}, "limits.None: a key must be text, got 'None'", id="nothing for a key"),
    pytest.param({"validators": []}, "validators must be a mapping, got []", id="a list of validators"),
    pytest.param(
        {"validators": {"SchemaFormat": 3}},
        "validators.SchemaFormat must be a mapping with the keys enabled, gate, timeout_s, repair, got 3",
        id="a number for the options",
    ),
    pytest.param(
        {"validators": {"SchemaFormat": {"gate": "firm"}}},
        "validators.SchemaFormat.gate must be one of hard, soft, got 'firm'",
        id="an unknown gate",
    ),
    pytest.param(
        {"validators": {"SchemaFormat": {"timeout_s": 0}}},
        "validators.SchemaFormat.timeout_s must be in (0, 3600], got 0",
        id="no time at all",
    ),
    pytest.param(
        {"validators": {"SchemaFormat": {"timeout_s": float("inf")}}},
        "validators.SchemaFormat.timeout_s must be in (0, 3600], got inf",
        id="all the time in the world",
    ),
    pytest.param(
        {"validators": {"SchemaFormat": {"enabled": "no"}}},
        "validators.SchemaFormat.enabled must be true or false, got 'no'",
        id="text for enabled",
    ),
    pytest.param(
        {"validators": {"EvidenceOverlap": {"treshold": 0.1}}},
        "unknown parameter validators.EvidenceOverlap.treshold: did you mean threshold? "
        "valid keys: enabled, gate, timeout_s, repair, threshold, ngram",
        id="a misspelt parameter",
    ),
    pytest.param(
        {"validators": {"EvidenceOverlap": {"threshold": "low"}}},
        "validators.EvidenceOverlap.threshold must be a number",
        id="text for a number parameter",
    ),
    pytest.param(
        {"validators": {"EvidenceOverlap": {"threshold": float("nan")}}},
        "validators.EvidenceOverlap.threshold must be",
        id="not a number for a number parameter",
    ),
    pytest.param(
        {"validators": {"EvidenceOverlap": {"ngram": 2.5}}},
        "validators.EvidenceOverlap.ngram must be a whole number",
        id="a fraction for a whole number",
    ),
    pytest.param(
        {"validators": {"SchemaFormat": {"required_sections": "Summary"}}},
        "validators.SchemaFormat.required_sections must be a list of text that is not blank "
        "or a mapping whose values are each a list of text that is not blank, got 'Summary'",
        id="one text for a list",
    ),
    pytest.param(
        {"validators": {"SchemaFormat": {"required_sections": ["Summary", 2]}}},
        "validators.SchemaFormat.required_sections must be a list of text that is not blank "
        "or a mapping whose values are each a list of text that is not blank, got ['Summary', 2]",
        id="a list with something else in it",
    ),
    pytest.param(
        {"validators": {"SchemaFormat": {"required_sections": {"default": ["Summary"], "litellm": "Sources"}}}},
        "validators.SchemaFormat.required_sections must be a list of text that is not blank "
        "or a mapping whose values are each a list of text that is not blank, got {'default': ['Summary'], 'litellm': 'Sources'}",
        id="one text for the list of an endpoint",
    ),
    pytest.param(
        {"validators": {"SchemaFormat": {"required_sections": {"litellm": [" "]}}}},
        "validators.SchemaFormat.required_sections must be a list of text that is not blank",
        id="a section without a name",
    ),
    pytest.param(
        {"validators": {"SchemaFormat": {"required_sections": {}}}},
        "validators.SchemaFormat.required_sections must be a list of text that is not blank",
        id="a mapping of no endpoint at all",
    ),
    pytest.param(
        {"validators": {"EthicsAdapter": {"guard_callable": "print"}}},
        "validators.EthicsAdapter.guard_callable cannot be set in a policy: "
        "give Guard an instance, validators=[EthicsAdapter(guard_callable=...)]",
        id="a callable in a file",
    ),
    pytest.param(
        {"validators": {"EthicsAdapter": {"target": "query"}}},
        "unknown parameter validators.EthicsAdapter.target: ",
        id="what its place in the chain sets",
    ),
    pytest.param(
        {"validators": {"EvidenceOverlp": {"enabled": False}}},
        "validators.EvidenceOverlp: unknown validator 'EvidenceOverlp': did you mean EvidenceOverlap? valid names: ",
        id="an unknown validator",
    ),
]


class TestBadSettings:
    @pytest.mark.parametrize(("given_settings", "message"), BAD_SETTINGS)
    def test_a_mapping_is_answered_with_key_value_and_choices(self, given_settings: Any, message: str) -> None:
        assert error_of(given_settings).startswith(message)

    @pytest.mark.parametrize(("given_settings", "message"), BAD_SETTINGS)
    def test_and_the_constructor_never_lets_it_in(self, given_settings: Any, message: str) -> None:
        with pytest.raises((PolicyError, TypeError)):  # TypeError: Python itself refuses keys that are not text
            Policy(**given_settings)

    def test_all_problems_come_in_one_error_in_the_order_of_the_file(self, write: Write) -> None:
        path = write(
            "validators:\n"
            "  EvidenceOverlap:\n"
            "    treshold: 0.1\n"
            "  Nonsense: {}\n"
            "mode: loud\n"
            "thresholds:\n"
            "\n"
            "  min_similarity_for_factual: 1.7\n"
            "confidence:\n"
            "  medium: 0.9\n"
        )

        lines = error_of(path).splitlines()

        assert [line.split(" ")[0] for line in lines] == [
            "unknown",
            "validators.Nonsense:",
            "mode",
            "thresholds.min_similarity_for_factual",
            "confidence:",
        ]
        assert [line.rsplit("(", 1)[1] for line in lines] == [f"policy.yaml line {n})" for n in (3, 4, 5, 8, 9)]

    def test_the_line_of_a_bad_value_is_that_of_its_key(self, write: Write) -> None:
        path = write("mode: warn\n\nthresholds:\n  min_similarity_for_factual: 1.7\n")

        assert error_of(path) == "thresholds.min_similarity_for_factual must be in [0, 1], got 1.7 (policy.yaml line 4)"

    def test_five_problems_are_shown_and_that_there_are_more_is_said(self) -> None:
        lines = error_of({f"key{n}": n for n in range(7)}).splitlines()

        assert [line.split(":")[0] for line in lines] == [*(f"unknown key key{n}" for n in range(5)), "and more"]

    def test_a_thousand_unknown_validators_are_answered_with_the_first_few(self) -> None:
        assert error_of({"validators": {f"Nonsense{n}": {} for n in range(1000)}}).endswith("and more")

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            pytest.param(3, "a policy is a file, one of lite, book, strict, or a mapping, got int", id="a number"),
            pytest.param([], "a policy is a file, one of lite, book, strict, or a mapping, got list", id="a list"),
            pytest.param(
                "nowhere.yaml", "there is no policy file 'nowhere.yaml': give a YAML file or a pre", id="no file"
            ),
            pytest.param(
                "boook", "there is no policy file 'boook': did you mean the preset book?", id="a misspelt preset"
            ),
            pytest.param("", "'.' is not a file", id="an empty path"),
            pytest.param("a\0b", "'a\\x00b' cannot be read", id="a NUL in the path"),
            pytest.param("x" * 5000, "'xxxx", id="a path that is too long"),
            pytest.param(ROOT, f"'{ROOT}' is not a file", id="a directory"),
        ],
    )
    def test_a_source_that_is_none_is_said_to_be_none(self, source: Any, message: str) -> None:
        assert error_of(source).startswith(message)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "policy.yaml")

        assert "is not a file" in error_of(tmp_path / "policy.yaml")


JSON_LIKE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["hard", "lite", "vi"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6) | st.integers(), inner, max_size=3),
    max_leaves=8,
)
SOME_KEYS = st.sampled_from([*Policy.model_fields, "treshholds", ""])
OPTIONS = st.sampled_from(
    ["enabled", "gate", "timeout_s", "repair", "threshold", "ngram", "required_sections", "en", "high"]
)


def loaded_or_told(source: Any) -> str:
    try:
        return Policy.load(source).hash
    except PolicyError as error:
        return str(error)


class TestArbitraryInput:
    @settings(max_examples=examples(60), deadline=None)
    @given(st.dictionaries(SOME_KEYS, JSON_LIKE | st.dictionaries(OPTIONS, JSON_LIKE, max_size=3), max_size=4))
    def test_any_mapping_gives_a_policy_or_a_policy_error(self, source: dict[str, Any]) -> None:
        assert loaded_or_told(source)

    @settings(max_examples=examples(50), deadline=None)
    @given(st.dictionaries(st.sampled_from(BUILT_IN), st.dictionaries(OPTIONS, JSON_LIKE, max_size=3), max_size=3))
    def test_any_options_give_a_policy_or_a_policy_error(self, source: dict[str, Any]) -> None:
        assert loaded_or_told({"validators": source})

    @settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.binary(max_size=60) | st.text("mode: warn\n\t-[]{}&*!|>'\"#%@,?\\<0.x~é\u2028", max_size=60))
    def test_any_file_gives_a_policy_or_a_policy_error(self, write: Write, content: bytes | str) -> None:
        assert loaded_or_told(write(content))
