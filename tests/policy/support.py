"""What the tests of the policy share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import strategies as st

from stillme.errors import PolicyError
from stillme.policy import Policy, policy_schema
from stillme.reasons import Gate

ROOT = Path(__file__).parents[2]
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


def error_of(source: Any) -> str:
    with pytest.raises(PolicyError) as raised:
        Policy.load(source)
    return str(raised.value)


def names(policy: Policy) -> list[str]:
    return [configured.validator.name for configured in policy.build()]


def gates(policy: Policy) -> dict[str, Gate]:
    return {configured.validator.name: configured.gate for configured in policy.build() if configured.gate is not None}


def resolved(**changes: Any) -> Policy:
    return Policy.load(changes)


@cache
def schema() -> dict[str, Any]:
    return policy_schema()


@cache
def schema_check() -> jsonschema.Draft202012Validator:
    """What holds a policy against the schema, which is itself checked once."""
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())
