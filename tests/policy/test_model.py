"""A policy is read whole, merged over its preset, and says by its hash what is in force."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from stillme.errors import PolicyError
from stillme.policy import Policy
from stillme.reasons import Gate
from stillme.validators.registry import BUILT_IN
from tests.policy.support import (
    SPEC_EXAMPLE,
    VALID,
    Write,
    gates,
    resolved,
)
from tests.soak import examples


class TestLoading:
    def test_no_policy_is_lite(self) -> None:
        policy = Policy.load()

        assert policy.model_dump() == {
            "mode": "monitor",
            "extends": "lite",
            "thresholds": {"min_similarity_for_factual": 0.45, "min_similarity_for_source_required": 0.5},
            "behavior": {
                "enforce_no_source_refusal": True,
                "enforce_anti_anthropomorphism": True,
                "allow_soft_answer_with_warning": False,
            },
            "grounding": {"model": "shipped", "most_tokens": 20000},
            "output": {"include_validator_trace": True, "include_reason_codes": True},
            "validators": {},
            "messages": {"refusal": None, "clarify": None, "disclaimer": None},
            "limits": {
                "query_chars": 8000,
                "draft_chars": 64000,
                "passages": 64,
                "passage_chars": 64000,
                "conversation_turns": 64,
                "conversation_chars": 64000,
                "context_chars": 1_000_000,
                "work": 500_000,
                "metadata_depth": 16,
                "metadata_items": 1_000,
                "metadata_chars": 64_000,
            },
            "on_error": "refuse",
            "confidence": {"high": 0.85, "medium": 0.6},
            "audit": {
                "content": "full",
                "durability": "commit",
                "on_failure": "refuse",
                "redact": {},
                "retention": {
                    "verdict": {"text_days": None, "days": None, "max_mb": None},
                    "review": {"text_days": None, "days": None, "max_mb": None},
                },
            },
            "rollout": {
                "min_days": 7,
                "min_verdicts": 1000,
                "min_logged_share": 0.99,
                "min_reviews_per_week": 20,
                "max_escape_rate": 0.05,
                "min_refusal_precision": 0.9,
                "min_source_coverage": 0.9,
                "max_false_refusal_rate": 0.1,
                "max_weekly_change": 0.05,
            },
            "calibration": None,
        }

    def test_the_file_of_lite_says_what_the_model_has_as_defaults(self) -> None:
        defaults = {name: field.get_default(call_default_factory=True) for name, field in Policy.model_fields.items()}

        assert Policy.load("lite") == Policy.model_construct(**defaults)

    @pytest.mark.parametrize(
        "source",
        [
            pytest.param(lambda _: "lite", id="the name of the preset"),
            pytest.param(lambda _: {}, id="an empty mapping"),
            pytest.param(lambda _: {"extends": "lite"}, id="a mapping that extends it"),
            pytest.param(lambda _: {"extends": None}, id="a mapping that extends nothing"),
            pytest.param(lambda write: write(""), id="an empty file"),
            pytest.param(lambda write: write("# nothing yet\n"), id="a file of comments"),
            pytest.param(lambda write: write("---\n"), id="an empty document"),
            pytest.param(lambda write: str(write("{}")), id="a path as text"),
            pytest.param(lambda write: write(SPEC_EXAMPLE), id="the example of spec 1 section 6"),
            pytest.param(lambda write: write("\ufeff" + SPEC_EXAMPLE), id="a byte order mark"),
            pytest.param(lambda write: write(SPEC_EXAMPLE.replace("\n", "\r\n")), id="Windows line ends"),
            pytest.param(
                lambda write: write("thresholds:\nvalidators:\nlimits: ~\n"), id="headings with nothing below"
            ),
            pytest.param(lambda _: yaml.safe_load(SPEC_EXAMPLE), id="the example as a mapping"),
            pytest.param(lambda _: Policy.load(None), id="a policy"),
        ],
    )
    def test_many_ways_to_say_lite(self, write: Write, source: Callable[[Write], Any]) -> None:
        assert Policy.load(source(write)) == Policy.load(None)

    def test_a_policy_passes_through_unchanged(self) -> None:
        policy = Policy.load({"mode": "warn"})

        assert Policy.load(policy) is policy

    def test_the_constructor_checks_like_a_file(self) -> None:
        assert Policy(mode="warn") == Policy.load({"mode": "warn"})
        with pytest.raises(PolicyError, match="mode must be one of monitor, warn, enforce, got 'loud'"):
            Policy(mode="loud")

    def test_book_is_adr_004(self) -> None:
        policy = Policy.load("book")

        assert (policy.mode, policy.extends) == ("enforce", "book")
        assert set(policy.thresholds.model_dump().values()) == {0.7}
        assert policy.message("refusal", "en") == "This information cannot be verified from the book content."
        assert policy.message("refusal", "vi") == "Không thể kiểm chứng thông tin này từ nội dung cuốn sách."
        confidence = next(c.validator for c in policy.build() if c.validator.name == "ConfidenceValidator")
        assert confidence.min_generation_confidence == 0.6

    def test_strict_enforces_and_hardens_four_validators(self) -> None:
        policy = Policy.load("strict")

        assert policy.mode == "enforce"
        hardened = ("Answerability", "CitationRelevance", "NumericUnitsBasic", "SourceConsensusValidator")
        assert gates(policy) == dict.fromkeys(hardened, Gate.HARD)

    def test_a_file_is_merged_deeply_over_its_preset(self, write: Write) -> None:
        path = write(
            "extends: book\nmode: enforce\nthresholds: {min_similarity_for_factual: 0.6}\n"
            "validators: {ConfidenceValidator: {gate: soft}}\nmessages: {refusal: {vi: Chưa kiểm chứng được.}}\n"
        )

        policy = Policy.load(path)

        assert policy.thresholds.model_dump() == {
            "min_similarity_for_factual": 0.6,
            "min_similarity_for_source_required": 0.7,
        }
        assert policy.validators["ConfidenceValidator"].model_dump() == {
            "enabled": None,
            "gate": "soft",
            "timeout_s": 5.0,
            "repair": True,
            "min_generation_confidence": 0.6,
        }
        assert policy.message("refusal", "vi") == "Chưa kiểm chứng được."
        assert policy.message("refusal", "en") == "This information cannot be verified from the book content."

    def test_loading_leaves_the_given_mapping_and_the_presets_alone(self) -> None:
        given_mapping = {"extends": "strict", "validators": {"NumericUnitsBasic": {"gate": "soft"}}}
        before = copy.deepcopy(given_mapping)

        Policy.load(given_mapping)

        assert given_mapping == before
        assert gates(Policy.load("strict"))["NumericUnitsBasic"] is Gate.HARD

    @pytest.mark.parametrize(
        ("written", "value"),
        [
            ("0.5", 0.5),
            ("1", 1.0),
            (".5", 0.5),
            ("5e-1", 0.5),
            ("+0.25", 0.25),
            ("1.", 1.0),
        ],
    )
    def test_numbers_are_read_as_people_write_them(self, write: Write, written: str, value: float) -> None:
        policy = Policy.load(write(f"thresholds: {{min_similarity_for_factual: {written}}}"))

        assert policy.thresholds.min_similarity_for_factual == value
        assert type(policy.thresholds.min_similarity_for_factual) is float

    @pytest.mark.parametrize("written", ["false", "False", "no", "off", "OFF"])
    def test_truth_values_are_read_as_people_write_them(self, write: Write, written: str) -> None:
        assert Policy.load(write(f"output: {{include_reason_codes: {written}}}")).output.include_reason_codes is False

    def test_anchors_may_be_used_where_they_stay_small(self, write: Write) -> None:
        policy = Policy.load(write("validators:\n  NumericUnitsBasic: &h {gate: hard}\n  EvidenceOverlap: *h\n"))

        assert gates(policy) == {"EvidenceOverlap": Gate.HARD, "NumericUnitsBasic": Gate.HARD}

    def test_a_policy_is_frozen(self) -> None:
        with pytest.raises(Exception, match="frozen"):
            Policy.load(None).mode = "enforce"

    @pytest.mark.slow
    def test_loading_lite_for_the_first_time_is_fast(self) -> None:
        code = (
            "import time, stillme.policy as p; t = time.process_time(); p.Policy.load(None);"
            "print(time.process_time() - t)"
        )

        best = min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(2))

        assert best < 0.005


class TestMessages:
    def test_one_text_serves_both_languages(self) -> None:
        policy = Policy.load({"messages": {"refusal": "Ask a librarian."}})

        assert [policy.message("refusal", language) for language in ("en", "vi", "unknown")] == ["Ask a librarian."] * 3
        assert policy.message("clarify", "en") is None

    def test_a_language_that_is_not_given_keeps_the_built_in_wording(self) -> None:
        policy = Policy.load({"messages": {"disclaimer": {"vi": "Cần kiểm tra lại."}}})

        assert (policy.message("disclaimer", "vi"), policy.message("disclaimer", "en")) == ("Cần kiểm tra lại.", None)

    def test_null_takes_back_the_wording_of_the_preset(self) -> None:
        assert Policy.load({"extends": "book", "messages": {"refusal": None}}).messages.refusal is None


class TestHash:
    def test_it_is_that_of_the_policy_not_of_its_writing(self, write: Write) -> None:
        written_out = {
            "validators": {
                "EvidenceOverlap": {"ngram": 3, "threshold": 0.08, "enabled": True, "gate": "soft"},
                "CitationRequired": {"repair": True, "timeout_s": 5},
                "SourceRequired": {"min_similarity_for_factual": 0.45, "gate": "hard"},
            },
            "confidence": {"medium": 0.6},
            "mode": "monitor",
        }

        hashes = {
            Policy.load(source).hash
            for source in (None, written_out, write(SPEC_EXAMPLE), dict(reversed(written_out.items())))
        }

        assert len(hashes) == 1
        assert re.fullmatch("[0-9a-f]{64}", hashes.pop())

    @pytest.mark.parametrize(
        "changes",
        [
            {"mode": "warn"},
            {"thresholds": {"min_similarity_for_factual": 0.46}},
            {"behavior": {"allow_soft_answer_with_warning": True}},
            {"output": {"include_reason_codes": False}},
            {"validators": {"QueryTerms": {"enabled": False}}},
            {"validators": {"QueryTerms": {"gate": "hard"}}},
            {"validators": {"QueryTerms": {"timeout_s": 4}}},
            {"validators": {"QueryTerms": {"repair": False}}},
            {"validators": {"CitationRelevance": {"gate": "soft"}}},
            {"validators": {"EvidenceOverlap": {"threshold": 0.09}}},
            {"messages": {"refusal": "No."}},
            {"limits": {"passages": 65}},
            {"on_error": "deliver"},
            {"confidence": {"high": 0.9}},
            {"extends": "book"},
        ],
        ids=json.dumps,
    )
    def test_anything_that_can_change_a_verdict_changes_it(self, changes: dict[str, Any]) -> None:
        assert Policy.load(changes).hash != Policy.load(None).hash

    def test_what_has_no_effect_does_not_change_it(self) -> None:
        off = {"EvidenceOverlap": {"enabled": False}}
        off_with_parameters = {"EvidenceOverlap": {"enabled": False, "threshold": 0.5, "gate": "hard"}}

        assert resolved(validators=off).hash == resolved(validators=off_with_parameters).hash

    @pytest.mark.slow
    def test_it_is_the_same_in_every_process(self) -> None:
        code = "from stillme.policy import Policy; print(Policy.load('strict').hash)"

        def in_process(seed: str) -> str:
            environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"}
            return subprocess.check_output([sys.executable, "-c", code], env=environment, text=True).strip()

        assert {in_process("1"), in_process("2"), Policy.load("strict").hash} == {Policy.load("strict").hash}

    @settings(max_examples=examples(60), deadline=None)
    @given(VALID, st.randoms(use_true_random=False))
    def test_the_order_of_keys_is_nothing(self, source: dict[str, Any], random: Any) -> None:
        def shuffled(value: Any) -> Any:
            if not isinstance(value, dict):
                return value
            items = [(key, shuffled(each)) for key, each in value.items()]
            random.shuffle(items)
            return dict(items)

        assert Policy.load(shuffled(source)).hash == Policy.load(source).hash


class TestToYaml:
    @pytest.mark.parametrize("preset", ["lite", "book", "strict"])
    def test_a_preset_written_out_loads_to_the_same_policy(self, write: Write, preset: str) -> None:
        policy = Policy.load(preset)

        text = policy.to_yaml()

        assert text.startswith(f"# from preset {preset}, sha256 {policy.hash}\n")
        assert Policy.load(write(text)).hash == policy.hash
        assert set(yaml.safe_load(text)["validators"]) == set(BUILT_IN)

    @settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(VALID)
    @example({"messages": {"refusal": "a line break of another kind\x85"}})
    def test_any_policy_written_out_loads_to_the_same_policy(self, write: Write, source: dict[str, Any]) -> None:
        policy = Policy.load(source)

        again = Policy.load(write(policy.to_yaml()))

        assert (again.hash, again.to_yaml().split("\n", 1)[1]) == (policy.hash, policy.to_yaml().split("\n", 1)[1])

    def test_it_shows_parameters_and_leaves_thresholds_in_charge(self) -> None:
        shown = yaml.safe_load(Policy.load("book").to_yaml())

        assert shown["validators"]["EvidenceOverlap"] == {
            "gate": "soft",
            "timeout_s": 5.0,
            "repair": True,
            "threshold": 0.08,
            "ngram": 3,
        }
        assert shown["validators"]["SourceRequired"] == {"gate": "hard", "timeout_s": 5.0, "repair": True}
        assert "gate" not in shown["validators"]["CitationRelevance"]

    @pytest.mark.usefixtures("sample")
    def test_it_shows_validators_of_other_packages(self, write: Write) -> None:
        policy = resolved(validators={"CalmTone": {"marks": ["!"]}})

        shown = yaml.safe_load(policy.to_yaml())["validators"]["CalmTone"]

        assert shown == {"gate": "soft", "timeout_s": 5.0, "repair": True, "allowed": 1, "marks": ["!"]}
        assert Policy.load(write(policy.to_yaml())).hash == policy.hash


class TestCopies:
    def test_changes_are_merged_and_checked(self) -> None:
        policy = Policy.load("book")

        changed = policy.with_changes({"mode": "enforce", "thresholds": {"min_similarity_for_factual": 0.6}})

        assert changed == Policy.load(
            {"extends": "book", "mode": "enforce", "thresholds": {"min_similarity_for_factual": 0.6}}
        )
        assert changed.hash != policy.hash
        assert policy.with_changes({}) == policy
        with pytest.raises(PolicyError, match="mode must be one of"):
            policy.with_changes({"mode": "loud"})
        with pytest.raises(PolicyError, match="extends cannot be changed"):
            policy.with_changes({"extends": "lite"})

    def test_a_copy_does_not_carry_what_was_computed_for_the_original(self) -> None:
        policy = Policy.load("lite")
        before = policy.hash

        changed = policy.model_copy(update={"mode": "enforce"})

        assert changed.hash == Policy.load({"mode": "enforce"}).hash != before

    def test_a_policy_can_be_pickled_after_it_was_built(self) -> None:
        policy = Policy.load("strict")
        policy.build()

        again = pickle.loads(pickle.dumps(policy))  # noqa: S301  (our own bytes)

        assert (again, again.hash) == (policy, policy.hash)
