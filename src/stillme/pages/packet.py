"""One recorded verdict as one self-contained HTML page, to read, print and attach.

This module says what the page shows; templates/packet.html says how. The page loads nothing, runs nothing and links only to itself.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from stillme.audit.review.cases import PacketContent
from stillme.contract import Metadata, RetrievedPassage, Verdict
from stillme.pages.marks import Mark, Note, Stretch, stretches
from stillme.pages.recorded import items, moment, number, rows, span_within, text
from stillme.pages.rendering import PageWords, render
from stillme.response import reason_words

__all__ = ["packet"]

STATUSES: Final = ("supported", "contradicted", "unsupported", "not_factual")
TONES: Final = {"answer": "good", "warned": "care", "refuse": "bad", "ask_clarify": "ask"}
OUTCOME_TONES: Final = {"passed": "good", "flagged": "care", "skipped": "plain"}
OWN_FACTS: Final = {
    "trace id": "validator_trace_id",
    "request id": "request_id",
    "policy hash": "policy_hash",
    "model id": "model_id",
    "package version": "version",
}
SHELL_SAFE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


def packet(case: PacketContent) -> str:
    """The page of a case; the same case gives the same page."""
    page = Packet(case)
    return str(render("packet.html", page=page, say=page.say, text=text, number=number, rows=rows))


@dataclass(frozen=True, slots=True)
class Tile:
    """One of the things that nobody may miss."""

    label: str
    word: str
    about: str
    tone: str


@dataclass(frozen=True, slots=True)
class SourceLinks:
    """A source by its id, and the numbers of its passages on this page."""

    id: str
    passages: Sequence[int]


@dataclass(frozen=True, slots=True)
class ClaimCard:
    """A claim, its number, and where it stands in the draft: None where its recorded place does not fit."""

    number: int
    text: str
    status: str
    score: str
    place: tuple[int, int] | None
    missing: Sequence[tuple[int, int]]
    quote: str
    quote_stands: bool
    """The quoted words stand in a passage of one of the sources."""
    sources: Sequence[SourceLinks]
    detail: str
    decided_by: str

    @property
    def look(self) -> str:
        """An unknown status looks like no support, never like support."""
        return self.status if self.status in STATUSES else "unsupported odd"


@dataclass(frozen=True)
class Packet:
    """What the page of a case shows, top to bottom."""

    case: PacketContent

    @cached_property
    def verdict(self) -> Mapping[str, Any]:
        given = self.case.verdict
        return given.model_dump(warnings=False) if isinstance(given, Verdict) else given

    @cached_property
    def say(self) -> PageWords:
        return PageWords("vi" if text(self.verdict, "language") == "vi" else "en")

    @cached_property
    def draft(self) -> str:
        return (self.case.request and self.case.request.draft_answer) or ""

    @cached_property
    def undrafted(self) -> bool:
        """Pattern B: there was no draft to check."""
        return not self.draft.strip() if self.case.request else self.verdict.get("precheck") is True

    @cached_property
    def trace(self) -> str:
        """The trace id, where it can stand in a command as it is."""
        trace = self.case.facts.get("trace id") or text(self.verdict, "validator_trace_id")
        return trace if SHELL_SAFE.fullmatch(trace) else ""

    @cached_property
    def title(self) -> str:
        decided = self.say.value("decision", self._outcome) if self._outcome in TONES else ""
        parts = (f"StillMe: {self.say('page.title')}", decided, self._verified.word, self.trace)
        return ", ".join(part for part in parts if part)

    # the header

    @cached_property
    def tiles(self) -> Sequence[Tile]:
        return (self._decision, self._action, self._verified)

    @cached_property
    def _outcome(self) -> str:
        """The decision, with its warnings told apart."""
        decision = text(self.verdict, "decision")
        return "warned" if decision == "answer" and items(self.verdict, "reasons") else decision

    @cached_property
    def _decision(self) -> Tile:
        return self._tile("decision", self._outcome, self._outcome, TONES.get(self._outcome, "bad"))

    @cached_property
    def _action(self) -> Tile:
        action = text(self.verdict, "action")
        despite = action.startswith("deliver") and text(self.verdict, "decision") != "answer"
        tone = ("alarm" if action == "deliver" else "care") if despite else "plain"
        shown = "undrafted" if action == "deliver" and self.undrafted else action
        return self._tile("action", f"{shown}_despite" if despite else shown, shown, tone)

    @cached_property
    def _verified(self) -> Tile:
        """Whatever is not plainly true is not verified; databases write true as 1."""
        recorded = self.verdict.get("verified")
        verified = type(recorded) in (bool, int) and recorded == 1
        return self._tile("verified", "yes", "", "good") if verified else self._tile("verified", "no", "", "alarm")

    def _tile(self, group: str, value: str, recorded: str, tone: str) -> Tile:
        word, about = self.say.value(group, value, recorded), self.say.value(group, f"{value}.about", "")
        return Tile(self.say(group), word, about, tone)

    @property
    def notice(self) -> str:
        return self.case.notice or ("" if self.case.request else self.say("texts.why"))

    @property
    def figures(self) -> list[tuple[str, str]]:
        say, verdict = self.say, self.verdict
        recorded = verdict.get("metrics")
        metrics: Mapping[str, Any] = recorded if isinstance(recorded, Mapping) else {}
        elapsed, needed = number(metrics, "elapsed_ms", ".0f"), verdict.get("source_required")
        return [
            (say("figure.recorded"), moment(self.case.facts.get("recorded at", ""))),
            (say("figure.mode"), say.value("mode", text(verdict, "mode"))),
            (say("figure.confidence"), self._confidence()),
            (say("figure.claims"), self._share(metrics)),
            (say("figure.passages"), number(metrics, "context_count")),
            (say("figure.similarity"), number(metrics, "max_similarity", ".2f")),
            (say("figure.needed"), say("yes" if needed else "no") if isinstance(needed, bool) else ""),
            (say("figure.conflicts"), number(verdict, "conflicts")),
            (say("figure.cited"), number(verdict, "citations")),
            (say("figure.as_of"), moment(text(verdict, "as_of"))),
            (say("figure.elapsed"), f"{elapsed} ms" if elapsed else ""),
            (say("figure.language"), text(verdict, "language")),
        ]

    def _confidence(self) -> str:
        band = self.say.value("band", text(self.verdict, "confidence_band"))
        uncalibrated = band and self.verdict.get("calibrated") is False
        return f"{band} ({self.say('band.uncalibrated')})" if uncalibrated else band

    def _share(self, metrics: Mapping[str, Any]) -> str:
        part, whole = number(metrics, "claims_supported"), number(metrics, "claims_total")
        if self.undrafted or not part or not whole:
            return ""
        return self.say("figure.unjudged") if whole == "0" else self.say("figure.of", part=part, whole=whole)

    # what was decided, and about what

    @property
    def reasons(self) -> list[tuple[str, str]]:
        codes = [str(code) for code in items(self.verdict, "reasons")]
        words = [reason_words(code, self.say.language)["say"] for code in codes]
        return [(said[:1].upper() + said[1:], code) for said, code in zip(words, codes, strict=True)]

    @property
    def response(self) -> tuple[str, str]:
        """The text that took the draft's place, and the words for what it is."""
        response, repaired = text(self.verdict, "safe_response"), self._repaired()
        if text(self.verdict, "action") != "deliver_with_warning":
            return self.say("response"), response
        if response == text(self.verdict, "warning"):
            return self.say("response.note"), response
        return self.say("response.repaired" if repaired else "response.warned"), response

    def _repaired(self) -> bool:
        answered = text(self.verdict, "decision") == "answer"
        return answered and any(finding.get("repaired") is True for finding in rows(self.verdict, "findings"))

    # claims and their evidence

    @cached_property
    def claims(self) -> list[ClaimCard]:
        return [self._claim(n, given) for n, given in enumerate(rows(self.verdict, "claims"), start=1)]

    def _claim(self, n: int, given: Mapping[str, Any]) -> ClaimCard:
        place, sources, quote = self._place(given), self._named(items(given, "source_ids")), text(given, "quote")
        missing = [span_within(span, place) for span in items(given, "unsupported_spans")] if place else []
        return ClaimCard(
            number=n,
            text=text(given, "text"),
            status=text(given, "status"),
            score=number(given, "score", ".2f"),
            place=place,
            missing=[span for span in missing if span],
            quote=quote,
            quote_stands=any(quote in self._passages[p - 1].text for source in sources for p in source.passages),
            sources=sources,
            detail=text(given, "detail"),
            decided_by=text(given, "decided_by"),
        )

    def _place(self, given: Mapping[str, Any]) -> tuple[int, int] | None:
        recorded = (given.get("start"), given.get("end"))
        place = span_within(recorded, (0, len(self.draft)))
        if place is None or place != recorded or text(given, "text") not in ("", self.draft[place[0] : place[1]]):
            return None
        return place

    @property
    def answer(self) -> list[Stretch]:
        """The draft, marked claim by claim."""
        marks: list[Mark] = []
        for claim in self.claims:
            if claim.place is not None:
                label = f"{claim.number} {self.say.value('status', claim.status)}"
                note = Note(label, claim.look, f"claim-{claim.number}", f"mark-{claim.number}")
                marks += [Mark(*span, "gap") for span in claim.missing]
                marks.append(Mark(*claim.place, f"claim {claim.look}", note))
        return stretches(self.draft, marks)

    @cached_property
    def conflicts(self) -> list[tuple[str, list[tuple[SourceLinks, str]]]]:
        """What sources disagree about, and what each of them says."""
        return [
            (text(given, "about"), [self._statement(row) for row in rows(given, "statements")])
            for given in rows(self.verdict, "conflicts")
        ]

    def _statement(self, row: Mapping[str, Any]) -> tuple[SourceLinks, str]:
        return self._named([text(row, "source_id")])[0], text(row, "quote")

    @property
    def _passages(self) -> Sequence[RetrievedPassage]:
        return self.case.request.retrieved_context if self.case.request else ()

    @cached_property
    def _numbers(self) -> Mapping[str, list[int]]:
        """The passages of each source, by number."""
        numbers: dict[str, list[int]] = defaultdict(list)
        for n, passage in enumerate(self._passages, start=1):
            numbers[passage.source_id].append(n)
        return numbers

    def _named(self, ids: Iterable[object]) -> list[SourceLinks]:
        return [SourceLinks(name, self._numbers.get(name, ())) for name in dict.fromkeys(map(str, ids))]

    @property
    def cited(self) -> set[str]:
        """The sources that the answer is delivered with."""
        return {text(citation, "source_id") for citation in rows(self.verdict, "citations")}

    def quoted(self, n: int, passage: RetrievedPassage) -> list[Stretch]:
        """The text of a passage, marked where claims and conflicts quote it."""
        return stretches(passage.text, self.quotes.get(n, ()))

    @cached_property
    def quotes(self) -> Mapping[int, list[Mark]]:
        """Where the quotes of claims and conflicts stand in the passages, by the number of the passage."""
        found: dict[int, list[Mark]] = defaultdict(list)
        for claim in self.claims:
            note = Note(self.say("passage.claim", number=claim.number), claim.look, f"claim-{claim.number}")
            self._find(claim.quote, claim.sources, f"quote {claim.look}", note, found)
        for n, (_, statements) in enumerate(self.conflicts, start=1):
            note = Note(self.say("passage.conflict", number=n), "ask", f"conflict-{n}")
            for source, quote in statements:
                self._find(quote, [source], "quote stated", note, found)
        return found

    def _find(
        self, quote: str, sources: Iterable[SourceLinks], look: str, note: Note, found: dict[int, list[Mark]]
    ) -> None:
        for n in [n for source in sources for n in source.passages if quote]:
            start = self._passages[n - 1].text.find(quote)
            if start >= 0:
                found[n].append(Mark(start, start + len(quote), look, note))

    @property
    def citations(self) -> list[list[str]]:
        """What the verdict itself says about its sources."""
        keys = ("source_id", "title", "url", "timestamp")
        return [[text(row, key) for key in keys if text(row, key)] for row in rows(self.verdict, "citations")]

    # how it was checked, and how to check it

    def tone(self, finding: Mapping[str, Any]) -> str:
        """Red where a finding decides: a crash, or a hard gate that was not repaired."""
        outcome = text(finding, "outcome")
        is_hard = text(finding, "gate") == "hard" and finding.get("repaired") is not True
        if outcome == "errored" or (outcome == "flagged" and is_hard):
            return "bad"
        return OUTCOME_TONES.get(outcome, "plain odd")

    @property
    def reviews(self) -> list[tuple[str, str, str, str, str]]:
        """Of each the label, its words, who, when and a note."""
        return [(r.label, self.say.value("review", r.label), r.who, moment(r.when), r.note) for r in self.case.reviews]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The facts as given, then what request and verdict say of themselves: what is new, and what differs."""
        given = self.case.facts
        shown = [(self.say.value("fact", name), value) for name, value in given.items()]
        for name, value in self._own_facts().items():
            if given.get(name) != value:
                label = self.say.value("fact", name)
                shown.append((self.say("fact.differs", label=label) if name in given else label, value))
        return shown

    def _own_facts(self) -> dict[str, str]:
        verdict, request = self.verdict, self.case.request
        own = {name: text(verdict, key) for name, key in OWN_FACTS.items()}
        if request is None:
            return own
        metadata, confidence = request.metadata, request.generation_confidence
        return own | {
            "domain": metadata.domain or "",
            "session": metadata.session_id or "",
            "generation confidence": "" if confidence is None else f"{confidence:.2f}",
            "other metadata": self.unnamed_fields(metadata),
        }

    def unnamed_fields(self, given: RetrievedPassage | Metadata) -> str:
        """Fields that the contract does not name."""
        return json.dumps(given.model_extra, ensure_ascii=False, default=str) if given.model_extra else ""
