"""The validators that a policy asks for, with what it sets on them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from stillme.policy import Policy
from stillme.policy.model import IDENTITY_VALIDATORS
from stillme.reasons import Gate
from stillme.validators.registry import CHAIN
from tests.policy.support import (
    Write,
    error_of,
    gates,
    names,
    resolved,
)

NAMED_LIKE_METHODS = """\
from dataclasses import dataclass
from typing import ClassVar

@dataclass(frozen=True)
class Picky:
    json: str = "x"
    copy: int = 1
    timeout_s: float = 9.0
    name: ClassVar[str] = "Picky"

    def run(self, evidence):
        return None
"""

PICKY = """\
from dataclasses import dataclass
from typing import ClassVar

@dataclass(frozen=True)
class Picky:
    word: str
    name: ClassVar[str] = "Picky"

    def __post_init__(self):
        if not self.word.islower():
            raise ValueError("lower case only")

    def run(self, evidence):
        return None
"""


class TestBuild:
    def test_lite_builds_the_whole_chain_with_its_own_gates(self) -> None:
        built = resolved().build()

        assert [configured.validator.name for configured in built] == [slot.name for slot in CHAIN]
        assert {(configured.gate, configured.timeout_s, configured.repair) for configured in built} == {
            (None, 5.0, True)
        }

    def test_the_ethics_check_stands_last_in_both_stages(self) -> None:
        targets = [c.validator.target for c in resolved().build() if c.validator.name == "EthicsAdapter"]

        assert targets == ["query", "draft"]

    def test_options_reach_their_validator(self) -> None:
        options = {"gate": "hard", "timeout_s": 2, "repair": False, "threshold": 1, "ngram": 2}

        (configured,) = [
            c
            for c in resolved(validators={"EvidenceOverlap": options}).build()
            if c.validator.name == "EvidenceOverlap"
        ]

        assert (configured.gate, configured.timeout_s, configured.repair) == (Gate.HARD, 2.0, False)
        assert (configured.validator.threshold, configured.validator.ngram) == (1.0, 2)

    def test_a_list_becomes_the_tuple_that_the_validator_takes(self) -> None:
        policy = resolved(validators={"SchemaFormat": {"required_sections": ["Tóm tắt", "Sources"]}})

        (schema_format,) = [c.validator for c in policy.build() if c.validator.name == "SchemaFormat"]

        assert schema_format.required_sections == ("Tóm tắt", "Sources")

    def test_a_disabled_validator_is_absent(self) -> None:
        policy = resolved(validators={"EthicsAdapter": {"enabled": False}, "QueryTerms": {"enabled": False}})

        assert names(policy) == [slot.name for slot in CHAIN if slot.name not in ("EthicsAdapter", "QueryTerms")]

    @pytest.mark.parametrize(
        ("enforced", "options", "present"),
        [
            pytest.param(True, {}, ["EgoNeutralityValidator", "IdentityCheckValidator"], id="both on"),
            pytest.param(False, {}, [], id="behavior switches both off"),
            pytest.param(
                False,
                {"EgoNeutralityValidator": {"enabled": True}},
                ["EgoNeutralityValidator"],
                id="the more specific key wins when it says on",
            ),
            pytest.param(
                True,
                {"EgoNeutralityValidator": {"enabled": False}},
                ["IdentityCheckValidator"],
                id="the more specific key wins when it says off",
            ),
            pytest.param(
                False, {"EgoNeutralityValidator": {"gate": "soft"}}, [], id="a gate alone switches nothing on"
            ),
        ],
    )
    def test_behavior_switches_both_identity_validators(
        self, enforced: bool, options: dict[str, Any], present: list[str]
    ) -> None:
        policy = resolved(behavior={"enforce_anti_anthropomorphism": enforced}, validators=options)

        assert [name for name in names(policy) if name in IDENTITY_VALIDATORS] == present

    @pytest.mark.parametrize(
        ("enforced", "options", "gate"),
        [
            pytest.param(True, {}, None, id="enforced: its own gate"),
            pytest.param(False, {}, Gate.SOFT, id="not enforced: soft"),
            pytest.param(False, {"SourceRequired": {"gate": "hard"}}, Gate.HARD, id="its gate given: that wins"),
            pytest.param(False, {"SourceRequired": {"timeout_s": 1}}, Gate.SOFT, id="something else given: still soft"),
            pytest.param(True, {"SourceRequired": {"gate": "soft"}}, Gate.SOFT, id="enforced and its gate given"),
        ],
    )
    def test_behavior_softens_the_no_source_refusal(
        self, enforced: bool, options: dict[str, Any], gate: Gate | None
    ) -> None:
        policy = resolved(behavior={"enforce_no_source_refusal": enforced}, validators=options)

        assert gates(policy).get("SourceRequired") == gate

    def test_thresholds_fill_source_required_unless_it_says_otherwise(self) -> None:
        policy = resolved(extends="book", validators={"SourceRequired": {"min_similarity_for_factual": 0.3}})

        (source_required,) = [c.validator for c in policy.build() if c.validator.name == "SourceRequired"]

        assert source_required.min_similarity_for_factual == 0.3
        assert source_required.min_similarity_for_source_required == 0.7

    def test_instances_are_built_once(self) -> None:
        policy = resolved()

        first, second = policy.build(), policy.build()

        assert first is not second
        assert all(one.validator is other.validator for one, other in zip(first, second, strict=True))

    def test_threads_get_the_same_instances(self) -> None:
        policy = resolved(mode="warn")
        built: list[int] = []
        threads = [threading.Thread(target=lambda: built.append(id(policy.build()[0].validator))) for _ in range(8)]

        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(set(built)) == 1

    def test_added_instances_stand_before_the_ethics_check_of_their_stage(self) -> None:
        class Draft:
            name: ClassVar[str] = "Draft"

        class Query:
            name: ClassVar[str] = "Query"
            stage: ClassVar[str] = "query"

        built = [c.validator.name for c in resolved().build(added=[Draft(), Query()])]

        assert built[4:7] == ["ContextInstructions", "Query", "EthicsAdapter"]
        assert built[-2:] == ["Draft", "EthicsAdapter"]
        assert names(resolved()) == [slot.name for slot in CHAIN]

    def test_added_instances_are_kept_where_the_ethics_check_is_off(self) -> None:
        class Draft:
            pass

        policy = resolved(validators={"EthicsAdapter": {"enabled": False}})

        assert type(policy.build(added=[Draft()])[-1].validator) is Draft

    @pytest.mark.usefixtures("sample")
    def test_a_validator_of_another_package_runs_when_the_policy_names_it(self, write: Write) -> None:
        policy = Policy.load(write("validators:\n  CalmTone:\n    allowed: 3\n    gate: hard\n"))

        configured = policy.build()[-2]

        assert (configured.validator.name, configured.validator.allowed, configured.gate) == ("CalmTone", 3, Gate.HARD)
        assert "CalmTone" not in names(resolved())
        assert "CalmTone" not in names(resolved(validators={"CalmTone": {"enabled": False}}))

    @pytest.mark.usefixtures("sample")
    def test_the_bounds_in_the_annotation_of_a_parameter_are_checked(self, write: Write) -> None:
        path = write("validators:\n  CalmTone:\n    allowed: -1\n")

        message = "validators.CalmTone.allowed must be a whole number in [0, 100], got -1 (policy.yaml line 3)"
        assert error_of(path) == message

    def test_a_validator_that_refuses_its_parameters_is_a_policy_error(self, picky: Callable[[str], None]) -> None:
        picky(PICKY)

        assert (
            error_of({"validators": {"Picky": {"word": "LOUD"}}}) == "validators.Picky: ValueError: 'lower case only'"
        )
        assert "missing 1 required positional argument" in error_of({"validators": {"Picky": {}}})
        assert names(resolved(validators={"Picky": {"word": "soft"}}))[-2] == "Picky"
        assert "Picky" not in names(resolved(validators={"Picky": {"enabled": False}}))

    def test_a_parameter_may_have_any_name(self, picky: Callable[[str], None], write: Write) -> None:
        picky(NAMED_LIKE_METHODS)
        policy = resolved(validators={"Picky": {"json": "y", "copy": 2, "timeout_s": 3}})

        configured = policy.build()[-2]

        assert (configured.validator.json, configured.validator.copy, configured.validator.timeout_s) == ("y", 2, 3.0)
        assert configured.timeout_s == 3.0
        assert resolved(validators={"Picky": {}}).build()[-2].validator.timeout_s == 9.0
        assert Policy.load(write(policy.to_yaml())).hash == policy.hash
