"""The thresholds of a policy, and the decision on a case under any others, from one record of it.

**Records that suffice.** The decision under other thresholds follows from a record if it was made under `permissive(policy)`: both
similarity thresholds at 1 with `SourceRequired` soft (its code then says which of the two applies, and decides nothing), `min_score`
0 everywhere, `min_generation_confidence` 0, all else as it is. `decided` gives that decision. One thing can differ: where a missing
citation is repaired, the repaired draft is scored once more, and a score just below `min_score` undoes the repair. The real decision is
then stricter than this one, never milder: the guarantee holds, and a few more good drafts without citations are refused than it says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from stillme.audit.store import AuditStore
from stillme.decision import strictest
from stillme.errors import PolicyError
from stillme.evaluation.rollout.drift import Observation
from stillme.evaluation.runs.records import CaseRecord
from stillme.policy import Policy
from stillme.policy.reader import parsed
from stillme.reasons import Decision, Gate, Reason

__all__ = [
    "FACTUAL", "GATES", "NAMES", "Gates", "ScoredCase", "Settings", "decided", "observed", "permissive",
    "same_thresholds", "scored", "settings_changes", "told_by",
]  # fmt: skip

FACTUAL: Final = "FactualHallucinationValidator"
SOURCES: Final = "SourceRequired"
CONFIDENCE: Final = "ConfidenceValidator"
LOW_SIMILARITY: Final = {
    Reason.LOW_CONTEXT_SIMILARITY.value: "factual",
    Reason.SOURCE_REQUIRED_LOW_SIMILARITY.value: "source_required",
}
NAMES: Final = {
    "factual": "min_similarity_for_factual",
    "source_required": "min_similarity_for_source_required",
    "generation_confidence": "min_generation_confidence",
}
"""The thresholds before grounding, as `Settings` names them and as a policy does."""
GATES: Final = tuple(NAMES)
MOVED: Final = frozenset({*LOW_SIMILARITY, Reason.LOW_GENERATION_CONFIDENCE.value, Reason.PASSED_WITH_WARNINGS.value})
"""Codes that thresholds bring and take away."""
REST: Final = "rest"
"""Stands for whatever else decides: a code that nothing forgives."""


# what a policy says


@dataclass(frozen=True, slots=True)
class Settings:
    """The thresholds that are calibrated: those of the gates before grounding, and the score that support has to have."""

    factual: float
    source_required: float
    generation_confidence: float
    min_score: float = 0.0
    by_language: Mapping[str, float] = field(default_factory=dict)
    by_domain: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, policy: Policy) -> Settings:
        """Those of a policy; a validator that is switched off has none, which reads as 0."""
        validators = {configured.validator.name: configured.validator for configured in policy.build()}
        sources, factual = validators.get(SOURCES), validators.get(FACTUAL)
        return cls(
            getattr(sources, "min_similarity_for_factual", 0.0),
            getattr(sources, "min_similarity_for_source_required", 0.0),
            getattr(validators.get(CONFIDENCE), "min_generation_confidence", 0.0),
            getattr(factual, "min_score", 0.0),
            dict(getattr(factual, "min_score_by_language", {})),
            dict(getattr(factual, "min_score_by_domain", {})),
        )

    def least_score(self, language: str | None, domain: str | None) -> float:
        """The score that support has to have for a request in that language and domain."""
        if domain is not None and domain in self.by_domain:
            return self.by_domain[domain]
        return self.by_language.get(language or "", self.min_score)

    def gates(self) -> dict[str, float]:
        """The thresholds of the gates before grounding, by name."""
        return {name: getattr(self, name) for name in GATES}

    def with_gates(self, values: Mapping[str, float]) -> Settings:
        """The same with some of the gates before grounding changed."""
        changed: dict[str, Any] = dict(values)
        return replace(self, **changed)


@dataclass(frozen=True, slots=True)
class Gates:
    """Which of the thresholds decide at all under a policy, and whether weak evidence is forgiven where all is supported."""

    similarity: bool
    score: bool
    confidence: bool
    forgives: bool

    @classmethod
    def of(cls, policy: Policy) -> Gates:
        """Those of a policy: a soft gate or one that is switched off decides nothing."""
        hard = {c.validator.name: (c.gate or Gate.HARD) is Gate.HARD for c in policy.build()}
        return cls(
            hard.get(SOURCES, False),
            hard.get(FACTUAL, False),
            hard.get(CONFIDENCE, False),
            policy.behavior.allow_soft_answer_with_warning,
        )


def permissive(policy: Policy) -> Policy:
    """The policy under which records say what every other choice of thresholds would have decided."""
    known = Settings.of(policy)
    return policy.with_changes(
        {
            "validators": {
                SOURCES: {"gate": "soft", "min_similarity_for_factual": 1.0, "min_similarity_for_source_required": 1.0},
                CONFIDENCE: {"min_generation_confidence": 0.0},
                FACTUAL: {
                    "min_score": 0.0,
                    "min_score_by_language": dict.fromkeys(known.by_language, 0.0),
                    "min_score_by_domain": dict.fromkeys(known.by_domain, 0.0),
                },
            }
        }
    )


def settings_changes(policy: Policy, settings: Settings) -> dict[str, Any]:
    """What to change in a policy so that these thresholds are in force.

    A language or domain that had a threshold of its own and has none among these gets the general one.
    """
    before, own = Settings.of(policy), policy.validators.get(SOURCES)
    similarity = {
        "min_similarity_for_factual": settings.factual,
        "min_similarity_for_source_required": settings.source_required,
    }
    validators: dict[str, Any] = {FACTUAL: {"min_score": settings.min_score}}
    for key, old, new in (
        ("min_score_by_language", before.by_language, settings.by_language),
        ("min_score_by_domain", before.by_domain, settings.by_domain),
    ):
        if old or new:
            validators[FACTUAL][key] = {**dict.fromkeys(old, settings.min_score), **new}
    # A threshold that stands with the validator comes before the one in `thresholds`.
    if own is not None and (above := {k: v for k, v in similarity.items() if k in (own.model_extra or {})}):
        validators[SOURCES] = above
    if settings.generation_confidence != before.generation_confidence:
        validators[CONFIDENCE] = {"min_generation_confidence": settings.generation_confidence}
    return {"thresholds": similarity, "validators": validators}


def same_thresholds(store: AuditStore, policy: Policy) -> Callable[[str], bool]:
    """Whether the policy that a store keeps under a digest has the thresholds of this one; each is read once."""
    wanted, known = Settings.of(policy), dict[str, bool]()

    def same(digest: str) -> bool:
        if digest not in known:
            known[digest] = _settings_in(store.policy_text(digest)) == wanted
        return known[digest]

    return same


def _settings_in(text: str | None) -> Settings | None:
    try:
        return Settings.of(Policy.load(parsed(text.encode(), "a recorded policy").settings)) if text else None
    except PolicyError:  # one that this version cannot use any more has other thresholds
        return None


# what a case says


@dataclass(frozen=True, slots=True)
class ScoredCase:
    """A case as far as thresholds can change what becomes of it."""

    id: str
    language: str
    domain: str | None
    is_bad: bool
    """Its draft holds a claim that is labelled unsupported."""
    is_good: bool
    """It should be answered."""
    unsupported: int
    """How many claims are labelled unsupported."""
    rest: Decision
    """What everything else decides."""
    codes: tuple[str, ...]
    need: str | None
    """Which similarity threshold applies; None where none does."""
    similarity: float | None
    confidence: float | None
    least: float
    """The least score of its supported claims; infinity without any."""
    score: float | None
    """The least score of all its claims of fact."""
    all_supported: bool
    weight: float = 1.0
    """How many requests it speaks for."""


def scored(record: CaseRecord, gates: Gates) -> ScoredCase | None:
    """A record made under `permissive` as thresholds see it; None where it was not verified to its end."""
    if record.error is not None or record.decision is None or Reason.VALIDATOR_ERROR.value in record.reasons:
        return None
    factual = [c for c in record.claims if c.status != "not_factual"]
    refused = gates.similarity and Reason.SOURCE_REQUIRED_NO_CONTEXT.value in record.reasons
    needs = [LOW_SIMILARITY[code] for code in record.reasons if code in LOW_SIMILARITY]
    scores = [c.score for c in factual if c.score is not None]
    return ScoredCase(
        id=record.id,
        language=record.language or "unknown",
        domain=record.domain,
        is_bad=record.unsupported > 0,
        is_good=record.expected is Decision.ANSWER,
        unsupported=record.unsupported,
        rest=Decision.REFUSE if refused else record.decision,
        codes=tuple(code for code in record.reasons if code not in MOVED),
        need=needs[0] if needs else None,
        similarity=record.max_similarity,
        confidence=record.generation_confidence,
        least=min((c.score for c in factual if c.status == "supported" and c.score is not None), default=math.inf),
        score=min(scores, default=None),
        all_supported=bool(factual) and all(c.status == "supported" for c in factual),
    )


def told_by(case: ScoredCase, gate: str) -> float | None:
    """What a case has to say to the threshold of a gate before grounding; None where it says nothing."""
    if gate == "generation_confidence":
        return case.confidence
    return case.similarity if case.need == gate else None


def decided(case: ScoredCase, settings: Settings, gates: Gates) -> Decision:
    """The decision on a case under these thresholds, made as the pipeline makes it of the findings that they bring."""
    hard = [(code, Decision.REFUSE) for code, decides in _flags(case, settings, gates) if decides]
    if case.rest is not Decision.ANSWER:
        hard.append((REST, case.rest))
    return strictest(hard, forgives=gates.forgives and case.all_supported)


def _flags(case: ScoredCase, settings: Settings, gates: Gates) -> Iterator[tuple[str, bool]]:
    """The codes that the thresholds bring, each with whether it decides."""
    if case.need and case.similarity is not None and case.similarity < getattr(settings, case.need):
        yield next(code for code, need in LOW_SIMILARITY.items() if need == case.need), gates.similarity
    if case.confidence is not None and case.confidence < settings.generation_confidence:
        yield Reason.LOW_GENERATION_CONFIDENCE.value, gates.confidence
    if case.least < settings.least_score(case.language, case.domain):
        yield Reason.UNSUPPORTED_CLAIM.value, gates.score


def observed(case: ScoredCase, settings: Settings, gates: Gates) -> Observation:
    """A case as drift compares it with traffic under these thresholds."""
    codes = {*case.codes, *(code for code, _ in _flags(case, settings, gates))}
    decision = decided(case, settings, gates).value
    return Observation(case.similarity, case.score, case.language, decision, tuple(sorted(codes)))
