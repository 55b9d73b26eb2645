"""The reason codes: what each one means, and what a hard finding with it asks for."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["WEAK_EVIDENCE", "Decision", "Gate", "Reason", "asked_by"]


class Decision(StrEnum):
    """What the policy makes of the findings, strictest last."""

    ANSWER = "answer"
    ASK_CLARIFY = "ask_clarify"
    REFUSE = "refuse"


class Gate(StrEnum):
    """Whether a flagged finding changes the decision (hard) or only adds its code (soft)."""

    HARD = "hard"
    SOFT = "soft"


class Reason(StrEnum):
    """Machine-readable reason codes; `languages/*/wording.yaml` puts them in words."""

    # before generation
    SOURCE_REQUIRED_NO_CONTEXT = "source_required_no_context"
    SOURCE_REQUIRED_LOW_SIMILARITY = "source_required_low_similarity"
    LOW_CONTEXT_SIMILARITY = "low_context_similarity"
    CONTEXT_DOES_NOT_ANSWER = "context_does_not_answer"
    AMBIGUOUS_QUERY = "ambiguous_query_needs_clarification"
    CONTEXT_MISSING_QUERY_TERMS = "context_missing_query_terms"
    CONTEXT_CONTAINS_INSTRUCTIONS = "context_contains_instructions"
    # language and form
    LANGUAGE_MISMATCH = "language_mismatch"
    LANGUAGE_UNDECIDED = "language_undecided"
    MISSING_REQUIRED_SECTION = "missing_required_section"
    OVERLY_VERBOSE = "overly_verbose"
    SHALLOW_PHILOSOPHICAL_ANSWER = "shallow_philosophical_answer"
    # citations
    CITATION_MISSING = "citation_missing_for_factual_claim"
    CITATION_NOT_RELEVANT = "citation_not_relevant"
    FABRICATED_CITATION = "fabricated_citation"
    # grounding
    LOW_EVIDENCE_OVERLAP = "low_evidence_overlap"
    NUMBER_NOT_IN_SOURCES = "number_not_in_sources"
    UNCITED_NUMBER = "uncited_number"
    ENTITY_NOT_IN_SOURCES = "entity_not_in_sources"
    CONTEXT_CONFLICT = "context_conflict_low_consensus"
    LOW_GENERATION_CONFIDENCE = "low_generation_confidence"
    UNCERTAINTY_MISSING = "uncertainty_missing"
    CONTRADICTED_CLAIM = "contradicted_claim"
    UNSUPPORTED_CLAIM = "unsupported_claim"
    NO_VERIFIABLE_CLAIM = "no_verifiable_claim"
    FABRICATED_REFERENCE = "fabricated_reference"
    UNSUPPORTED_FUTURE_DATE = "unsupported_future_date"
    # conduct
    RELIGIOUS_CHOICE = "policy_block_religious_choice"
    ANTHROPOMORPHIC = "policy_block_anthropomorphic_roleplay"
    PROMOTIONAL_TONE = "identity_promotional_tone"
    UNSAFE_CONTENT = "policy_block_unsafe_content"
    # the outcome itself
    PASSED_WITH_WARNINGS = "passed_with_warnings"
    VALIDATOR_ERROR = "validator_error"
    VALIDATORS_OFF = "validators_off"


ASKS_BACK = frozenset({Reason.AMBIGUOUS_QUERY, Reason.CONTEXT_CONFLICT})

WEAK_EVIDENCE = frozenset(
    {
        Reason.SOURCE_REQUIRED_LOW_SIMILARITY,
        Reason.LOW_CONTEXT_SIMILARITY,
        Reason.LOW_GENERATION_CONFIDENCE,
        Reason.CITATION_MISSING,
    }
)
"""Refusals that `behavior.allow_soft_answer_with_warning` may turn into an answer when every claim is supported."""


def asked_by(code: str) -> Decision:
    """The decision that a hard finding with this code asks for; plugins' own codes ask for a refusal."""
    return Decision.ASK_CLARIFY if code in ASKS_BACK else Decision.REFUSE
