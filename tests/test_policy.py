"""A policy is read whole, checked whole, and says what is wrong where it is wrong."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stillme.policy as policy_module
from stillme.errors import PolicyError
from stillme.policy import Policy, PolicyWatcher, policy_schema
from stillme.reasons import Gate
from stillme.validators.registry import BUILT_IN, CHAIN, GROUP

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "tests" / "plugin"
DOCS = ROOT / "docs" / "policy.md"

SPEC_EXAMPLE = """\
mode: monitor

thresholds:
  min_similarity_for_factual: 0.45
  min_similarity_for_source_required: 0.50

behavior:
  enforce_no_source_refusal: true
  enforce_anti_anthropomorphism: true
  allow_soft_answer_with_warning: false

output:
  include_validator_trace: true
  include_reason_codes: true
"""

Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(content: str | bytes) -> Path:
        new = tmp_path / "policy.yaml.new"
        new.write_bytes(content.encode() if isinstance(content, str) else content)
        return new.replace(
            tmp_path / "policy.yaml"
        )  # whole at once, so that no test depends on what a reader sees halfway

    return put


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample package on sys.path, with the entry points of its own pyproject.toml."""
    project = tomllib.loads((SAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = tmp_path / "site" / "stillme_sample_validator-1.0.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1.0.0\n", encoding="utf-8"
    )
    lines = "".join(f"{name} = {value}\n" for name, value in project["entry-points"][GROUP].items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}", encoding="utf-8")
    monkeypatch.syspath_prepend(SAMPLE)
    monkeypatch.syspath_prepend(info.parent)


@pytest.fixture
def picky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A distribution that registers the validator Picky of the given source."""

    def put(source: str) -> None:
        info = tmp_path / "picky-1.0.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: picky\nVersion: 1.0.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\nPicky = picky_plugin:Picky\n", encoding="utf-8")
        (tmp_path / "picky_plugin.py").write_text(source, encoding="utf-8")
        monkeypatch.delitem(sys.modules, "picky_plugin", raising=False)
        monkeypatch.syspath_prepend(tmp_path)

    return put


def error_of(source: Any) -> str:
    with pytest.raises(PolicyError) as raised:
        Policy.load(source)
    return str(raised.value)


def names(policy: Policy) -> list[str]:
    return [configured.validator.name for configured in policy.build()]


def gates(policy: Policy) -> dict[str, Gate]:
    return {configured.validator.name: configured.gate for configured in policy.build() if configured.gate is not None}


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
            },
            "on_error": "refuse",
            "confidence": {"high": 0.85, "medium": 0.6},
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

        assert (policy.mode, policy.extends) == ("monitor", "book")
        assert set(policy.thresholds.model_dump().values()) == {0.7}
        assert policy.message("refusal", "en") == "This information cannot be verified from the book content."
        assert policy.message("refusal", "vi") == "Không thể kiểm chứng thông tin này từ nội dung cuốn sách."
        confidence = next(c.validator for c in policy.build() if c.validator.name == "ConfidenceValidator")
        assert confidence.min_generation_confidence == 0.6

    def test_strict_enforces_and_hardens_three_validators(self) -> None:
        policy = Policy.load("strict")

        assert policy.mode == "enforce"
        hardened = ("CitationRelevance", "NumericUnitsBasic", "SourceConsensusValidator")
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


KEYS = "valid keys: mode, extends, thresholds, behavior, output, validators, messages, limits, on_error, confidence"

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
        "validators.SchemaFormat.required_sections must be a list of text, got 'Summary'",
        id="one text for a list",
    ),
    pytest.param(
        {"validators": {"SchemaFormat": {"required_sections": ["Summary", 2]}}},
        "validators.SchemaFormat.required_sections must be a list of text, got ['Summary', 2]",
        id="a list with something else in it",
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
    def test_and_the_constructor_never_lets_it_in(self, given_settings: Any, message: str) -> None:  # noqa: ARG002
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

    def test_a_thousand_unknown_validators_are_answered_at_once(self) -> None:
        started = time.perf_counter()

        assert error_of({"validators": {f"Nonsense{n}": {} for n in range(1000)}}).endswith("and more")
        assert time.perf_counter() - started < 2

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


class TestMalformedYaml:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            pytest.param(
                "mode: warn\nlimits:\n\tpassages: 3\n", "indent with spaces, not tabs (policy.yaml line 3)", id="tabs"
            ),
            pytest.param("messages: {refusal: 'abc\n", "not valid YAML: found unexpected end", id="an open quote"),
            pytest.param("limits: {passages: 3\nmode: warn", "not valid YAML: ", id="an open bracket"),
            pytest.param("mode: warn: enforce", "not valid YAML: mapping values are not allowed", id="two colons"),
            pytest.param(
                "limits:\n  passages: 3\n  passages: 4\n",
                "duplicate key limits.passages, first on line 2 (policy.yaml line 3)",
                id="a duplicate key",
            ),
            pytest.param("- mode\n", "a policy is a mapping of keys to values, got ['mode']", id="a list"),
            pytest.param("monitor\n", "a policy is a mapping of keys to values, got 'monitor'", id="a word"),
            pytest.param(
                "mode: warn\n---\nmode: warn\n", "a second one begins (policy.yaml line 2)", id="two documents"
            ),
            pytest.param("mode: !!python/name:os.system x", "tags such as", id="a tag that names code"),
            pytest.param(
                "limits: {passages: !!int '3'}", "tags such as 'tag:yaml.org,2002:int'", id="a tag that names a type"
            ),
            pytest.param("a: &a {mode: warn}\n<<: *a\n", "merge keys (<<) are not supported", id="a merge key"),
            pytest.param("mode: *nowhere", "the alias *nowhere has no anchor before it", id="an alias of nothing"),
            pytest.param(
                "limits: &a\n  passages: *a\n", "the alias *a has no anchor before it", id="an alias of itself"
            ),
            pytest.param("? [a, b]\n: c\n", "a key must be plain text (policy.yaml line 1)", id="a list for a key"),
            pytest.param("mode: warn\n\0", "characters are not allowed (policy.yaml line 2)", id="NUL"),
            pytest.param(
                b"mode: warn\n\xff", "not UTF-8 text: invalid start byte (policy.yaml line 2)", id="not UTF-8"
            ),
            pytest.param("mode: warn".encode("utf-16"), "not UTF-8 text", id="UTF-16"),
            pytest.param(b"mode: '\xed\xa0\x80'", "not UTF-8 text", id="half a character"),
            pytest.param("# " + "x" * 300_000, "is larger than 256 KiB", id="a huge file"),
            pytest.param(
                "limits: {passages: 010}", "limits.passages must be a whole number of at least 1, got '010'", id="octal"
            ),
            pytest.param(
                "limits: {passages: 2024-13-45}", "limits.passages must be a whole number", id="an impossible date"
            ),
            pytest.param(
                "mode: on", "mode must be one of monitor, warn, enforce, got True", id="a word YAML reads as true"
            ),
        ],
    )
    def test_it_is_an_error_that_says_where(self, write: Write, content: str | bytes, message: str) -> None:
        assert message in error_of(write(content))

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            pytest.param("[" * 250_000, "nested deeper than 12 levels", id="brackets in brackets"),
            pytest.param("{a: " * 60_000, "nested deeper than 12 levels", id="mappings in mappings"),
            pytest.param("- " * 120_000, "nested deeper than 12 levels", id="lists in lists"),
            pytest.param("? " * 120_000, "a key must be plain text", id="keys in keys"),
            pytest.param("".join(" " * n + "a:\n" for n in range(600)), "nested deeper than 12", id="a staircase"),
            pytest.param(
                "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60)),
                "more than 5000 values, aliases written out",
                id="aliases of aliases",
            ),
            pytest.param("a: " + "1:" * 120_000 + "1", "unknown key a", id="a number to the base of sixty"),
            pytest.param(
                "limits: {passages: " + "9" * 200_000 + "}", "limits.passages must be", id="a very long number"
            ),
            pytest.param("".join(f"k{n}: {n}\n" for n in range(20_000)), "more than 5000 values", id="many keys"),
            pytest.param('a: "' + "\\" * 200_000, "not valid YAML", id="many escapes"),
        ],
    )
    def test_a_bomb_is_refused_quickly(self, write: Write, content: str, message: str) -> None:
        path = write(content)
        started = time.perf_counter()

        assert message in error_of(path)
        assert time.perf_counter() - started < 1


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
    @settings(max_examples=60, deadline=None)
    @given(st.dictionaries(SOME_KEYS, JSON_LIKE | st.dictionaries(OPTIONS, JSON_LIKE, max_size=3), max_size=4))
    def test_any_mapping_gives_a_policy_or_a_policy_error(self, source: dict[str, Any]) -> None:
        assert loaded_or_told(source)

    @settings(max_examples=50, deadline=None)
    @given(st.dictionaries(st.sampled_from(BUILT_IN), st.dictionaries(OPTIONS, JSON_LIKE, max_size=3), max_size=3))
    def test_any_options_give_a_policy_or_a_policy_error(self, source: dict[str, Any]) -> None:
        assert loaded_or_told({"validators": source})

    @settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.binary(max_size=60) | st.text("mode: warn\n\t-[]{}&*!|>'\"#%@,?\\<0.x~é\u2028", max_size=60))
    def test_any_file_gives_a_policy_or_a_policy_error(self, write: Write, content: bytes | str) -> None:
        assert loaded_or_told(write(content))


def resolved(**changes: Any) -> Policy:
    return Policy.load(changes)


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

        assert [name for name in names(policy) if name in policy_module.IDENTITY_VALIDATORS] == present

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

        assert built[3:6] == ["ContextInstructions", "Query", "EthicsAdapter"]
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


VALID = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from(["monitor", "warn", "enforce"]),
        "extends": st.sampled_from(["lite", "book", "strict"]),
        "thresholds": st.fixed_dictionaries({}, optional={"min_similarity_for_factual": st.floats(0, 1)}),
        "behavior": st.dictionaries(
            st.sampled_from(["enforce_no_source_refusal", "enforce_anti_anthropomorphism"]), st.booleans()
        ),
        "messages": st.dictionaries(
            st.sampled_from(["refusal", "clarify", "disclaimer"]),
            st.none() | st.text(min_size=1, max_size=20).filter(lambda text: text.strip()),
        ),
        "validators": st.dictionaries(
            st.sampled_from(["SourceRequired", "CitationRelevance", "EgoNeutralityValidator", "EthicsAdapter"]),
            st.fixed_dictionaries(
                {},
                optional={
                    "enabled": st.booleans(),
                    "gate": st.sampled_from(["hard", "soft"]),
                    "timeout_s": st.floats(0.001, 3600),
                    "repair": st.booleans(),
                },
            ),
        ),
    },
)


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

    def test_it_is_the_same_in_every_process(self) -> None:
        code = "from stillme.policy import Policy; print(Policy.load('strict').hash)"

        def in_process(seed: str) -> str:
            environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"}
            return subprocess.check_output([sys.executable, "-c", code], env=environment, text=True).strip()

        assert {in_process("1"), in_process("2"), Policy.load("strict").hash} == {Policy.load("strict").hash}

    @settings(max_examples=60, deadline=None)
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

    @settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(VALID)
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


@cache
def schema() -> dict[str, Any]:
    return policy_schema()


class TestSchema:
    def test_the_published_schema_is_that_of_the_code(self) -> None:
        published = json.loads(
            (Path(policy_module.__file__).parent / "schemas" / "policy.json").read_text(encoding="utf-8")
        )

        assert published == schema(), "write json.dumps(schema(), indent=2) to schemas/policy.json"

    @pytest.mark.parametrize(
        "source",
        [SPEC_EXAMPLE, *(f"extends: {preset}" for preset in ("lite", "book", "strict")), "validators: {}", "{}"],
    )
    def test_it_accepts_what_loads(self, source: str) -> None:
        jsonschema.validate(yaml.safe_load(source), schema(), jsonschema.Draft202012Validator)

    @pytest.mark.parametrize("preset", ["lite", "book", "strict"])
    def test_it_accepts_the_presets_themselves_and_written_out(self, preset: str) -> None:
        text = (policy_module.PRESET_FILES / f"{preset}.yaml").read_text(encoding="utf-8")

        for each in (text, Policy.load(preset).to_yaml()):
            jsonschema.validate(yaml.safe_load(each), schema(), jsonschema.Draft202012Validator)

    @pytest.mark.parametrize(
        "source",
        [
            {"mode": "loud"},
            {"treshholds": {}},
            {"thresholds": {"min_similarity_for_factual": 1.7}},
            {"validators": {"EvidenceOverlap": {"treshold": 0.1}}},
            {"validators": {"EvidenceOverlap": {"threshold": "low"}}},
            {"validators": {"SchemaFormat": {"required_sections": "Summary"}}},
            {"messages": {"refusal": {"fr": "Non."}}},
            {"limits": {"passages": 0}},
        ],
        ids=json.dumps,
    )
    def test_it_refuses_what_does_not_load(self, source: dict[str, Any]) -> None:
        error_of(source)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(source, schema(), jsonschema.Draft202012Validator)

    def test_it_leaves_room_for_validators_of_other_packages(self) -> None:
        jsonschema.validate({"validators": {"CalmTone": {"allowed": 3, "gate": "hard"}}}, schema())


def told_defaults(text: str) -> dict[tuple[str, str], Any]:
    """What the tables say: (section or validator, key) to default; an empty first cell repeats the validator above."""
    told: dict[tuple[str, str], Any] = {}
    section = validator = ""
    for line in text.splitlines():
        if heading := re.match(r"### `(\w+)`", line):
            section = heading[1]
        if row := re.match(r"\| `(\w+)` \| ([\w.]+) \|", line):
            told[section, row[1]] = yaml.safe_load(row[2])
        if row := re.match(r"\| (?:`(\w+)` )?\| `(\w+)` \| ([\w.\[\]]+) \|", line):
            validator = row[1] or validator
            told[validator, row[2]] = yaml.safe_load(row[3])
    return told


class TestDocs:
    def test_every_key_is_explained(self) -> None:
        text = DOCS.read_text(encoding="utf-8")
        keys = set(schema()["properties"])
        for node in schema()["$defs"].values():
            keys |= set(node.get("properties", {}))
        for entry in schema()["properties"]["validators"]["properties"].values():
            keys |= set(entry["properties"])

        assert [key for key in sorted(keys) if f"`{key}`" not in text and f".{key}`" not in text] == []
        assert [name for name in BUILT_IN if f"`{name}`" not in text] == []

    def test_every_default_in_the_tables_is_that_of_the_code(self) -> None:
        sections = ("thresholds", "behavior", "output", "limits", "confidence")
        tables = {name: schema()["$defs"][name.capitalize()] for name in sections}
        tables |= schema()["properties"]["validators"]["properties"]
        options = policy_module.ValidatorOptions.model_fields
        defaults = {
            (name, key): each["default"]
            for name, table in tables.items()
            for key, each in table["properties"].items()
            if key not in options
        }

        told = told_defaults(DOCS.read_text(encoding="utf-8"))

        assert {place: told.get(place) for place in defaults} == defaults

    @pytest.mark.usefixtures("sample")
    def test_every_example_loads(self, write: Write) -> None:
        examples = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)

        assert len(examples) >= 5
        for example in examples:
            assert Policy.load(write(example)).hash


class Events(list[tuple[str, str]]):
    def __call__(self, kind: str, detail: str) -> None:
        self.append((kind, detail))

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self]


class TestWatcher:
    def test_it_starts_with_the_policy_of_the_file(self, write: Write) -> None:
        watcher = PolicyWatcher(write("mode: warn"))

        assert (watcher.policy, watcher.error, watcher.poll()) == (Policy.load({"mode": "warn"}), None, False)

    @pytest.mark.parametrize("content", ["mode: loud", "mode: [", "- x"])
    def test_a_bad_file_at_the_start_raises(self, write: Write, content: str) -> None:
        with pytest.raises(PolicyError):
            PolicyWatcher(write(content))

    def test_a_missing_file_or_a_senseless_interval_at_the_start_raises(self, write: Write, tmp_path: Path) -> None:
        with pytest.raises(PolicyError, match="there is no policy file"):
            PolicyWatcher(tmp_path / "nowhere.yaml")
        with pytest.raises(PolicyError, match="interval_s must be above 0, got 0"):
            PolicyWatcher(write("mode: warn"), interval_s=0)

    def test_a_changed_file_comes_into_force(self, write: Write) -> None:
        events = Events()
        watcher = PolicyWatcher(write("mode: warn"), on_event=events)

        write("mode: enforce")

        assert watcher.poll() is True
        assert (watcher.policy.mode, watcher.error) == ("enforce", None)
        assert events == [("reloaded", f"policy.yaml: mode enforce, policy {watcher.policy.hash[:12]}")]
        assert watcher.poll() is False

    def test_a_change_of_the_same_size_and_time_is_seen_while_the_file_is_young(self, write: Write) -> None:
        path = write("limits: {passages: 11}")
        watcher = PolicyWatcher(path)
        stamp = path.stat()

        path.write_text("limits: {passages: 22}", encoding="utf-8")
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        watcher.poll()

        assert watcher.policy.limits.passages == 22

    def test_a_bad_file_leaves_the_last_good_policy_and_says_so_once(self, write: Write) -> None:
        events = Events()
        watcher = PolicyWatcher(write("mode: warn"), on_event=events)
        good = watcher.policy

        write("mode: warn\non_error: shrug\n")
        polled = [watcher.poll() for _ in range(3)]

        message = "on_error must be one of refuse, deliver, got 'shrug' (policy.yaml line 2)"
        assert polled == [True, False, False]
        assert watcher.policy is good
        assert str(watcher.error) == message
        assert events == [("failed", message)]

    def test_it_recovers_when_the_file_is_good_again(self, write: Write) -> None:
        events = Events()
        watcher = PolicyWatcher(write("mode: warn"), on_event=events)

        for content in ("mode: [", "mode: loud", "mode: enforce"):
            write(content)
            watcher.poll()

        assert (watcher.policy.mode, watcher.error) == ("enforce", None)
        assert events.kinds == ["failed", "failed", "recovered"]

    def test_it_recovers_to_the_content_it_had(self, write: Write) -> None:
        events = Events()
        watcher = PolicyWatcher(write("mode: warn"), on_event=events)

        for content in ("mode: [", "mode: warn"):
            write(content)
            watcher.poll()

        assert (watcher.policy.mode, watcher.error, events.kinds) == ("warn", None, ["failed", "recovered"])

    def test_a_deleted_file_leaves_the_policy_until_it_is_back(self, write: Write) -> None:
        events = Events()
        path = write("mode: warn")
        watcher = PolicyWatcher(path, on_event=events)

        path.unlink()
        assert [watcher.poll(), watcher.poll()] == [True, False]
        assert (watcher.policy.mode, "there is no policy file" in str(watcher.error)) == ("warn", True)
        write("mode: warn")
        watcher.poll()

        assert (watcher.policy.mode, watcher.error, events.kinds) == ("warn", None, ["failed", "recovered"])

    def test_a_file_written_in_place_is_seen(self, write: Write) -> None:
        path = write("mode: warn")
        watcher = PolicyWatcher(path)

        path.write_text("mode: enforce", encoding="utf-8")
        watcher.poll()

        assert watcher.policy.mode == "enforce"

    def test_a_file_that_is_being_rewritten_is_taken_whole_or_not_at_all(self, write: Write) -> None:
        path = write("mode: warn")
        watcher = PolicyWatcher(path)
        done = threading.Event()

        def keep_writing() -> None:
            count = 100
            while not done.is_set():
                count += 1
                path.write_text(f"mode: enforce\nlimits:\n  passages: {count}\n", encoding="utf-8")

        writer = threading.Thread(target=keep_writing)
        writer.start()
        seen = [(watcher.poll(), watcher.policy)[1] for _ in range(3)]
        done.set()
        writer.join()
        watcher.poll()

        assert all(policy.mode == "warn" or policy.limits.passages > 100 for policy in seen)
        assert (watcher.policy.mode, watcher.error) == ("enforce", None)

    def test_a_file_emptied_by_a_writer_does_not_become_lite(self, write: Write) -> None:
        watcher = PolicyWatcher(write("mode: enforce"))

        write("")
        watcher.poll()

        assert watcher.policy.mode == "enforce"
        assert str(watcher.error) == "policy.yaml is empty: a running policy is not dropped for that"

    def test_a_file_that_became_a_directory_or_huge_is_an_error(self, write: Write) -> None:
        path = write("mode: warn")
        watcher = PolicyWatcher(path)

        write("#" * 300_000)
        watcher.poll()
        first = str(watcher.error)
        path.unlink()
        path.mkdir()
        watcher.poll()

        assert "is larger than" in first
        assert "is not a file" in str(watcher.error)
        assert watcher.policy.mode == "warn"

    def test_an_untouched_file_is_not_read_again(self, write: Write) -> None:
        path = write("mode: warn")
        old = time.time() - 3600
        os.utime(path, (old, old))
        watcher = PolicyWatcher(path)

        started = time.perf_counter()
        for _ in range(100):
            assert watcher.poll() is False

        assert time.perf_counter() - started < 1

    def test_it_follows_in_the_background(self, write: Write) -> None:
        events = Events()
        with PolicyWatcher(write("mode: warn"), interval_s=0.01, on_event=events) as watcher:
            write("mode: loud")
            wait_until(lambda: watcher.error is not None)
            write("mode: enforce")
            wait_until(lambda: watcher.policy.mode == "enforce")
            assert watcher.start() is watcher
        count = threading.active_count()
        write("mode: monitor")
        time.sleep(0.1)

        assert watcher.policy.mode == "enforce"
        assert events.kinds[-1] in ("recovered", "reloaded")
        assert threading.active_count() == count
        watcher.stop()

    def test_it_can_be_stopped_by_its_listener_and_started_again(self, write: Write) -> None:
        stopped: list[str] = []

        def listener(kind: str, detail: str) -> None:  # noqa: ARG001
            watcher.stop()
            stopped.append(kind)

        watcher = PolicyWatcher(write("mode: warn"), interval_s=0.01, on_event=listener)

        for count, mode in enumerate(("enforce", "monitor", "warn"), 1):
            watcher.start()
            write(f"mode: {mode}")
            wait_until(lambda count=count: len(stopped) == count)  # type: ignore[misc]
            assert watcher.policy.mode == mode
        write("mode: enforce")
        time.sleep(0.1)

        assert watcher.policy.mode == "warn"

    def test_a_listener_that_raises_does_not_end_the_watch(self, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        reported: list[str] = []
        monkeypatch.setattr(threading, "excepthook", lambda args: reported.append(str(args.exc_value)))

        def listener(kind: str, detail: str) -> None:  # noqa: ARG001
            raise RuntimeError(f"cannot log {kind}")

        with PolicyWatcher(write("mode: warn"), interval_s=0.01, on_event=listener) as watcher:
            write("mode: enforce")
            wait_until(lambda: len(reported) == 1)
            write("mode: monitor")
            wait_until(lambda: watcher.policy.mode == "monitor")

        assert reported[0] == "cannot log reloaded"

    def test_readers_never_see_half_a_policy(self, write: Write) -> None:
        strict = "mode: enforce\nlimits:\n  passages: 10\n  query_chars: 10\n"
        loose = "mode: warn\nlimits:\n  passages: 20\n  query_chars: 20\n"
        seen: set[tuple[str, int, int]] = set()
        done = threading.Event()
        watcher = PolicyWatcher(write(strict))

        def read() -> None:
            while not done.is_set():
                policy = watcher.policy
                seen.add((policy.mode, policy.limits.passages, policy.limits.query_chars))

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for content in (loose, "mode: [", strict, "", loose):
            write(content)
            watcher.poll()
        done.set()
        for reader in readers:
            reader.join()

        assert seen == {("enforce", 10, 10), ("warn", 20, 20)}


def wait_until(holds: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)
