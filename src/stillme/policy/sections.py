"""The sections of a policy: which keys there are, what they default to and which values they take."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from stillme.errors import PolicyError

__all__ = [
    "Audit", "Behavior", "Calibration", "Confidence", "Grounding", "Limits", "Message", "Messages", "Output",
    "Retention", "RetentionRule", "Rollout", "Thresholds", "ValidatorOptions",
]  # fmt: skip

MAX_MESSAGE_CHARS = 4_000

STRICT = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]


class PolicySection(BaseModel):
    """A part of a policy: validated as that only, so its own validator need not be built at import."""

    model_config = ConfigDict(**STRICT, defer_build=True)


class Thresholds(PolicySection):
    """How similar the best passage must be to the question; below fails, equal passes."""

    min_similarity_for_factual: Share = Field(0.45, description="for a question that asks for facts")
    min_similarity_for_source_required: Share = Field(0.50, description="for a question that asks for sources")


class Behavior(PolicySection):
    """Switches over several validators; a setting under `validators` wins over them."""

    enforce_no_source_refusal: bool = Field(True, description="false makes SourceRequired soft")
    enforce_anti_anthropomorphism: bool = Field(True, description="false switches both identity validators off")
    allow_soft_answer_with_warning: bool = Field(
        False,
        description="true answers with warnings where only weak evidence asks to refuse and every claim is supported",
    )


class Grounding(PolicySection):
    """What judges whether the passages support a claim."""

    model: Literal["shipped", "none"] = Field(
        "shipped", description="shipped: exact features, then the model that comes with the package; none: no model"
    )
    most_tokens: Annotated[int, Field(ge=512, le=10_000_000)] = Field(
        20_000, description="what the model reads at most for one draft; beyond it the claim says that it did not"
    )


class Output(PolicySection):
    """What a verdict shows; the audit store keeps everything."""

    include_validator_trace: bool = Field(True, description="false empties findings and the trace id")
    include_reason_codes: bool = Field(True, description="false empties reasons")


class ValidatorOptions(BaseModel):
    """What every validator has; any other key is a parameter of that validator."""

    model_config = ConfigDict(**STRICT | {"extra": "allow"}, defer_build=True)

    enabled: bool | None = Field(
        None, description="false switches it off, true switches it on whatever `behavior` says"
    )
    gate: Literal["hard", "soft"] | None = Field(None, description="hard: a flag decides; soft: a flag only warns")
    timeout_s: Annotated[float, Field(gt=0, le=3600)] = Field(5.0, description="seconds until it counts as errored")
    repair: bool = Field(True, description="whether the repairs it proposes may be applied")


def _sayable(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    if len(value) > MAX_MESSAGE_CHARS:
        raise ValueError(f"must have at most {MAX_MESSAGE_CHARS} characters")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError("must be well-formed Unicode")
    return value


def _in_both_languages(value: object) -> object:
    return {"en": _sayable(value), "vi": value} if isinstance(value, str) else value


Wording = Annotated[str, AfterValidator(_sayable)]


class Message(PolicySection):
    """The operator's own wording; a language that is not given keeps the built-in wording."""

    en: Wording | None = None
    vi: Wording | None = None


_TEXT_SCHEMA = {"type": "string", "minLength": 1, "maxLength": MAX_MESSAGE_CHARS}
_MESSAGE_SCHEMA: dict[str, Any] = {
    "anyOf": [
        _TEXT_SCHEMA,
        {"type": "object", "properties": {"en": _TEXT_SCHEMA, "vi": _TEXT_SCHEMA}, "additionalProperties": False},
        {"type": "null"},
    ]
}
OwnMessage = Annotated[Message | None, BeforeValidator(_in_both_languages), WithJsonSchema(_MESSAGE_SCHEMA)]


class Messages(PolicySection):
    """Wording that replaces the built-in one: one text for all, or one for each language."""

    refusal: OwnMessage = Field(None, description="what a refused user reads")
    clarify: OwnMessage = Field(None, description="what a user who is asked back reads")
    disclaimer: OwnMessage = Field(None, description="what goes with an answer delivered with a warning")


class Limits(PolicySection):
    """The largest request that is accepted; over a limit is an input error, nothing is cut."""

    query_chars: Count = Field(8_000, description="characters of the question")
    draft_chars: Count = Field(64_000, description="characters of the draft answer")
    passages: Count = Field(64, description="retrieved passages")
    passage_chars: Count = Field(64_000, description="characters of one passage")
    context_chars: Count = Field(
        1_000_000, description="characters of all passages together, with their titles, addresses and ids"
    )
    conversation_turns: Count = Field(64, description="earlier turns of the conversation")
    conversation_chars: Count = Field(64_000, description="characters of all earlier turns together")
    work: Count = Field(
        500_000, description="claims of the draft times sentences of the passages; twenty pairs of figures count as one"
    )
    metadata_depth: Count = Field(16, description="how deep extra keys are nested, in metadata, a passage or a turn")
    metadata_items: Count = Field(1_000, description="how many values the extra keys of one of those hold")
    metadata_chars: Count = Field(64_000, description="characters of the extra keys and values of one of those")


class Confidence(PolicySection):
    """Where the bands of the probability that the answer is supported begin."""

    high: Share = Field(0.85, description="from here the band is high")
    medium: Share = Field(0.6, description="from here it is medium, below it is low")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.medium > self.high:
            raise ValueError(f"medium must not be above high, got medium {self.medium} and high {self.high}")
        return self


def _redactable(value: dict[str, str | bool]) -> dict[str, str | bool]:
    if value:
        from stillme.redaction import Redactor  # noqa: PLC0415  (most policies redact nothing)

        try:
            Redactor.of(value)
        except PolicyError as error:
            raise ValueError(str(error).removeprefix("audit.redact.").removeprefix("audit.redact ")) from None
    return value


class RetentionRule(PolicySection):
    """How long records of one class are kept; null keeps them."""

    text_days: Count | None = Field(None, description="days until the texts go; the rest of the record stays")
    days: Count | None = Field(None, description="days until all but the hashes goes")
    max_mb: Count | None = Field(None, description="megabytes of records and texts; the oldest go first")


class Retention(PolicySection):
    """What `stillme audit prune` removes, for each class of records."""

    verdict: RetentionRule = Field(default_factory=RetentionRule)
    review: RetentionRule = Field(default_factory=RetentionRule)


class Rollout(PolicySection):
    """What has to hold before the mode goes from monitor to warn and from warn to enforce; `stillme rollout status` computes it."""

    min_days: Count = Field(7, description="days in the current mode")
    min_verdicts: Count = Field(1000, description="verdicts in the current mode")
    min_logged_share: Share = Field(
        0.99, description="share of verdicts recorded with decision, reasons, band and trace id"
    )
    min_reviews_per_week: Count = Field(20, description="verdicts reviewed by people in the last seven days")
    max_escape_rate: Share = Field(
        0.05, description="unsupported factual claims that pass as answer; for enforce, the upper bound of its interval"
    )
    min_refusal_precision: Share = Field(0.9, description="share of refusals that reviews call right")
    min_source_coverage: Share = Field(0.9, description="share of factual answers with valid source attribution")
    max_false_refusal_rate: Share = Field(0.1, description="share of answerable questions that are refused")
    max_weekly_change: Share = Field(
        0.05, description="how far the rates may move from one week to the next and count as stable"
    )


class Calibration(PolicySection):
    """Where thresholds of this policy come from, as `stillme calibrate` writes it: verdicts are `calibrated` while it applies."""

    at: str = Field(description="when it was made, ISO 8601")
    model_id: str = Field(description="the grounding model that it holds for")
    version: str = Field(description="the version of this package that it was made with")
    data_sha256: str = Field(description="of the cases that it was made from")
    cases: Count = Field(description="how many there were")
    languages: list[str] = Field([], description="languages with enough cases; others are not calibrated")
    domains: list[str] = Field([], description="domains with thresholds of their own")
    max_escape_rate: Share = Field(description="the escape rate that the thresholds keep to")
    confidence: Share = Field(description="the probability, over cases drawn anew, that they keep to it")
    reference: dict[str, Any] = Field({}, description="how similarity, scores, languages and reasons were spread there")
    drifted: str | None = Field(None, description="why it no longer applies, if a comparison with traffic found that")


class Audit(PolicySection):
    """What the audit store keeps of a verdict, where one is given, and what happens when it cannot."""

    content: Literal["full", "hashed", "none"] = Field(
        "full", description="keep texts as they are, as salted hashes, or not at all; the rest is always kept"
    )
    durability: Literal["commit", "buffered"] = Field(
        "commit", description="return a verdict when its record is on disk, or a moment before"
    )
    on_failure: Literal["refuse", "spool"] = Field(
        "refuse", description="where the store cannot be written: give no verdict, or record it in a local journal"
    )
    redact: Annotated[dict[str, str | bool], AfterValidator(_redactable)] = Field(
        {}, description="what is blanked before it is kept: a built-in kind set to true, or a name with a pattern"
    )
    retention: Retention = Field(default_factory=Retention)
