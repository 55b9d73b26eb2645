"""Decision and mode make an action; the words for it come from the wording of the user's language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from stillme.contract import Action, Citation, RetrievedPassage, Verdict
from stillme.decision import Ruling
from stillme.evidence import Evidence
from stillme.languages import language_of
from stillme.policy import Policy
from stillme.questions.ambiguity import Ambiguity
from stillme.reasons import Decision, Reason

__all__ = ["Response", "citations", "delivered", "reason_words", "respond"]

LONGEST_QUOTE: Final = 240
MOST_REASONS: Final = 3
TOLD: Final = frozenset({Reason.CONTEXT_MISSING_QUERY_TERMS})


@dataclass(frozen=True, slots=True)
class Response:
    """What the mode makes of the decision, and the text to show instead of the draft, if any."""

    action: Action
    safe_response: str | None
    warning: str | None = None
    """What the user is told beside an answer; where the mode may, `safe_response` says it too."""


def respond(ruling: Ruling, evidence: Evidence, policy: Policy, patched: str | None) -> Response:
    """The action of the policy's mode and its text; monitor never rewrites."""
    if ruling.decision is Decision.ANSWER and not ruling.reasons:
        return Response("deliver", None)
    if policy.mode == "monitor":
        return Response("deliver", None, _standing_warning(ruling, evidence, policy))
    if ruling.decision is Decision.ANSWER:
        return _answer_with_warning(ruling, evidence, policy, patched)
    if policy.mode == "warn":
        note = _disclaimer(ruling, evidence, policy, ruling.reasons)
        return Response("deliver_with_warning", note, note)
    if ruling.decision is Decision.ASK_CLARIFY:
        return Response("clarify", _question(ruling, evidence, policy))
    return Response("block", _refusal(ruling, evidence, policy))


def delivered(verdict: Verdict, draft: str) -> str:
    """What the user gets to read: in warn, a draft stands above its disclaimer."""
    return verdict.delivered(draft)


def _answer_with_warning(ruling: Ruling, evidence: Evidence, policy: Policy, patched: str | None) -> Response:
    """An answer with soft flags: warn shows the disclaimer or the mended draft; what a user has to be told is told in any case."""
    if policy.mode == "warn" and patched is None:
        note = _disclaimer(ruling, evidence, policy, ruling.reasons)
        return Response("deliver_with_warning", note, note)
    told = _standing_warning(ruling, evidence, policy)
    if told is None or not evidence.has_draft:
        return Response("deliver_with_warning", patched, told)
    text = patched or evidence.draft.raw
    return Response("deliver_with_warning", f"{text.rstrip()}\n\n{told}", told)


def _standing_warning(ruling: Ruling, evidence: Evidence, policy: Policy) -> str | None:
    """The warning that a user gets in every mode: that the sources may speak of something else (ADR-004, Gate 2)."""
    codes = [code for code in ruling.reasons if code in TOLD]
    return _disclaimer(ruling, evidence, policy, codes) if codes else None


def citations(ruling: Ruling, evidence: Evidence) -> list[Citation]:
    """The sources that support the delivered answer, each once; none on a refusal or a question back."""
    if ruling.decision is not Decision.ANSWER or not evidence.has_draft:
        return []
    supported = [(claim, judged) for claim, judged in evidence.judged if judged.supported]
    found: dict[str, Citation] = {}
    for claim, judged in supported:
        for i in _cited_first(claim.cited, judged.passages):
            given = evidence.passages[i].given
            found.setdefault(given.source_id, _citation(given))
    return list(found.values())


def _citation(given: RetrievedPassage) -> Citation:
    return Citation.model_construct(
        source_id=given.source_id,
        title=given.title,
        url=given.url,
        timestamp=given.timestamp,
    )


def _cited_first(cited: Sequence[int], supporting: Sequence[int]) -> list[int]:
    """The supporting sources that the claim cites; the best one where it cites none of them."""
    both = [i for i in cited if i in supporting]
    return both or list(supporting[:1])


# words


def _wording(code: str) -> dict[str, Any]:
    return language_of(code).rules("wording")


def reason_words(code: str, language: str) -> Mapping[str, str]:
    """A reason code in words: what it says and what would help."""
    reasons: dict[str, Mapping[str, str]] = _wording(language)["reasons"]
    if code in reasons:
        return reasons[code]
    return {key: words.format(code=code) for key, words in reasons["unknown"].items()}


def _sentences(codes: Sequence[str], language: str, key: str) -> str:
    """What some reasons say, or what helps, each once; only the first goes on with the sentence around it."""
    said = dict.fromkeys(reason_words(code, language)[key] for code in codes)
    first, *others = [*said][:MOST_REASONS] or [""]
    return " ".join((first, *map(_capitalised, others)))


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _refusal(ruling: Ruling, evidence: Evidence, policy: Policy) -> str:
    """What could not be verified, why, and what would help; the policy's own sentence replaces it."""
    own = policy.message("refusal", evidence.language)
    if own:
        return own
    words = _wording(evidence.language)["refusal"]
    codes = [str(f.reason) for f in ruling.decisive]
    parts = [
        words["lead"],
        words["because"].format(reasons=_sentences(codes, evidence.language, "say")),
        _contradicting(evidence, codes),
        words["help"].format(help=_sentences(codes, evidence.language, "help")),
    ]
    return " ".join(filter(None, parts))


def _contradicting(evidence: Evidence, codes: Sequence[str]) -> str:
    """What the source says where the draft contradicts it; never where the content itself is blocked."""
    if Reason.CONTRADICTED_CLAIM not in codes or Reason.UNSAFE_CONTENT in codes:
        return ""
    quote = next((j.quote for _, j in evidence.judged if j.status == "contradicted" and j.quote), None)
    if quote is None:
        return ""
    return _quoted(evidence, quote.passage, (quote.start, quote.end))


def _shortened(text: str) -> str:
    """One line of printable characters, cut with a mark where it is long: passages are untrusted."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1].rstrip() + "…"


def _question(ruling: Ruling, evidence: Evidence, policy: Policy) -> str:
    """One specific question, naming the options the context offers."""
    own = policy.message("clarify", evidence.language)
    if own:
        return own
    words = _wording(evidence.language)["clarify"]
    reasons = {f.reason for f in ruling.decisive}
    if Reason.AMBIGUOUS_QUERY in reasons and evidence.ambiguity is not None:
        return _question_of_meaning(evidence.ambiguity, words)
    return str(words["conflict"]).format(statements="; ".join(dict.fromkeys(_both_sides(evidence))))


def _question_of_meaning(ambiguity: Ambiguity, words: Mapping[str, str]) -> str:
    """Which of the things it may mean the question means."""
    return words[_asked_as(ambiguity)].format(
        options=_listed([_shortened(o.label) for o in ambiguity.options], words["and"]),
        word=_shortened(ambiguity.word),
    )


def _both_sides(evidence: Evidence) -> Iterator[str]:
    """What the sources of the first conflicts say, each with its title."""
    for conflict in evidence.relevant_conflicts[:2]:
        for passage, span in zip(conflict.passages[:2], conflict.spans[:2], strict=True):
            yield _quoted(evidence, passage, span)


def _asked_as(ambiguity: Ambiguity) -> str:
    """Which wording asks back."""
    if ambiguity.kind == "readings":
        return "readings" if len(ambiguity.options) > 1 else "unclear"
    if ambiguity.options:
        return "options"
    return "broad" if ambiguity.kind == "broad" else "reference"


def _quoted(evidence: Evidence, index: int, span: tuple[int, int]) -> str:
    """A piece of a passage, with its title."""
    passage = evidence.passages[index]
    template: str = _wording(evidence.language)["quoted"]
    return template.format(title=_shortened(passage.title), quote=_shortened(passage.given.text[span[0] : span[1]]))


def _listed(items: Sequence[str], last: str) -> str:
    """The items, with the word for "and" before the last."""
    *before, final = items or [""]
    return f"{', '.join(before)}{last}{final}" if before else final


def _disclaimer(ruling: Ruling, evidence: Evidence, policy: Policy, codes: Sequence[str]) -> str:
    own = policy.message("disclaimer", evidence.language)
    if own:
        return own
    words = _wording(evidence.language)["disclaimer"]
    said = [code for code in codes if code != Reason.PASSED_WITH_WARNINGS]
    lead = words["soft"] if ruling.decision is Decision.ANSWER else words["lead"]
    reasons = _sentences(said, evidence.language, "say")
    return f"{lead} {_capitalised(reasons)}".strip()
