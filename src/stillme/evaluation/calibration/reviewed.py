"""Cases for a calibration out of the verdicts that people reviewed, each with how many requests it speaks for."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from stillme.audit.chain.record import Entry, from_word, instant
from stillme.audit.query import Filter
from stillme.audit.review.cases import request_of, verdict_of
from stillme.audit.review.listing import candidates, reviews, text_state
from stillme.audit.review.sampling import Candidate, draw, week_bounds, week_of
from stillme.audit.store import AuditStore
from stillme.evaluation.calibration.thresholds import ScoredCase
from stillme.evaluation.rollout.review_labels import opinions
from stillme.evaluation.runs.cases import Case, ClaimLabel
from stillme.reasons import Decision, Reason

__all__ = ["Reviewed", "equally_likely", "reviewed"]

WANT_OF_SUPPORT: Final = frozenset(
    {
        Reason.SOURCE_REQUIRED_NO_CONTEXT.value,
        Reason.SOURCE_REQUIRED_LOW_SIMILARITY.value,
        Reason.LOW_CONTEXT_SIMILARITY.value,
        Reason.CONTRADICTED_CLAIM.value,
        Reason.UNSUPPORTED_CLAIM.value,
        Reason.FABRICATED_REFERENCE.value,
        Reason.FABRICATED_CITATION.value,
    }
)
"""Reasons of a refusal that say that a claim has no support."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """Cases out of reviewed verdicts, how many requests each speaks for, and what could not be used and why."""

    cases: tuple[tuple[Case, float], ...]
    left_out: tuple[tuple[str, int], ...]
    silent: tuple[tuple[str, int], ...]
    """Kinds of verdicts that nobody reviewed, with their number: no case speaks for them."""

    @property
    def sha256(self) -> str:
        """Of the verdicts and what was said about them."""
        lines = [f"{case.id} {case.expected} {bool(case.claims)} {weight!r}" for case, weight in self.cases]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def reviewed(
    store: AuditStore, wanted: Filter | None = None, *, answers: int = 50, others: int = 50, seed: str | None = None
) -> Reviewed:
    """The verdicts that `audit.sampling.draw` drew week by week with these quotas and that people labelled, as cases.

    A verdict that was reviewed without being drawn speaks only for itself, and is left out: people look for trouble. Within a kind of
    verdict those reviewed speak for all of it, as if they had been reviewed in the order of the sample.
    """
    given = {trace: set(opinion.labels) for trace, opinion in opinions(reviews(store, Filter())).items()}
    cases: list[tuple[Case, float]] = []
    left_out: Counter[str] = Counter()
    silent: Counter[str] = Counter()
    for week, verdicts in _weeks(store, wanted or Filter(), given):
        drawn = draw(verdicts, seed=week if seed is None else seed, answers=answers, others=others)
        rows = [row for row in drawn.rows if row.candidate.trace in given]
        count = Counter(row.stratum for row in rows)
        silent.update({stratum.name: stratum.size for stratum in drawn.strata if not count[stratum.name]})
        known = {row.candidate.trace for row in rows}
        left_out["reviewed without being drawn"] += sum(v.trace in given and v.trace not in known for v in verdicts)
        for row in rows:
            case = _case(store, row.candidate.trace, given[row.candidate.trace])
            if isinstance(case, str):
                left_out[case] += 1
            else:
                cases.append((case, row.stratum_size / count[row.stratum]))
    return Reviewed(tuple(cases), tuple(sorted((+left_out).items())), tuple(sorted(silent.items())))


def _weeks(store: AuditStore, wanted: Filter, given: Mapping[str, set[str]]) -> Iterator[tuple[str, list[Candidate]]]:
    """The verdicts of each week in which one was reviewed, one week at a time."""
    reviewed_at = [each.at for each in candidates(store, wanted) if each.trace in given]
    for week in sorted({week_of(datetime.fromisoformat(at)) for at in reviewed_at}):
        start, end = map(instant, week_bounds(week))
        yield week, list(candidates(store, replace(wanted, since=start, until=end)))


def _case(store: AuditStore, trace: str, labels: set[str]) -> Case | str:
    """A reviewed verdict as a case, or why it cannot be used."""
    entry = store.find(trace).entry
    if entry is None or text_state(entry) != "kept":
        return "its texts are not there as they were"
    truth = _truth(entry, labels)
    request = request_of(entry)
    if request is None or not isinstance(truth, bool):
        return truth if isinstance(truth, str) else "its texts cannot be read"
    draft = request.draft_answer or ""
    if not truth and not draft.strip():
        return "it has no draft that a claim could stand in"
    asked = request.model_copy(update={"as_of": request.as_of or verdict_of(entry).as_of})
    claims = () if truth else (ClaimLabel(text=draft, supported=False, start=0),)
    return Case(id=trace[:200], request=asked, expected=Decision.ANSWER if truth else None, claims=claims)


def _truth(entry: Entry, labels: set[str]) -> bool | str:
    """Whether the draft is a good answer (True) or holds an unsupported claim (False), or why the labels do not say.

    missed_hallucination on an answer: unsupported. false_refusal on anything else: good. correct on an answer: good; on a refusal
    unsupported, if it was refused for want of support and makes claims. wrong_reason and unclear say neither.
    """
    if len(labels) > 1:
        return "reviewers disagree"
    label, answered = next(iter(labels)), entry.decision == Decision.ANSWER.value
    if label in ("wrong_reason", "unclear"):
        return f"labelled {label}"
    if (label == "missed_hallucination") != answered and label != "correct":
        return f"labelled {label}, which its decision cannot be"
    if label != "correct":
        return label == "false_refusal"
    if answered:
        return True
    reasons = {from_word(word) for word in (entry.reasons or "").split()}
    refused = entry.decision == Decision.REFUSE.value and not reasons.isdisjoint(WANT_OF_SUPPORT)
    claims = json.loads(entry.meta)["metrics"]["claims_total"]
    return False if refused and claims else "rightly not answered for a reason other than its support"


# cases that speak for unequal numbers of requests


def equally_likely(cases: Iterable[ScoredCase]) -> list[ScoredCase]:
    """A part of the cases in which every request had the same chance to be: what speaks for few is thinned out.

    The tests need cases that are drawn alike. A case stays with the probability of its weight over the largest, by a hash of its id.
    """
    given = list(cases)
    most = max((case.weight for case in given), default=1.0)
    return [replace(case, weight=1.0) for case in given if _chance(case.id) * most < case.weight]


def _chance(name: str) -> float:
    digest = hashlib.sha256(f"stillme-calibrate:{name}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:7]) / 2**56
