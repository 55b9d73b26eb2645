"""A verdict as the console shows it: the same reading of it as on an evidence packet, with claims and quotes tied together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from stillme.audit.review.cases import PacketContent, ReviewLine
from stillme.console.details import worded
from stillme.console.words import ConsoleWords
from stillme.contract import RetrievedPassage, VerifyRequest, parse_request
from stillme.errors import InputError
from stillme.pages.marks import Mark, Note, Stretch, stretches
from stillme.pages.packet import ClaimCard, Packet
from stillme.pages.recorded import number, rows, text

__all__ = ["VerdictView", "view_of"]


@dataclass(frozen=True)
class VerdictView(Packet):
    """What a page shows of a verdict; the class `c-N` ties the marks of claim N together, in the draft and in the sources."""

    words: ConsoleWords

    @cached_property
    def say(self) -> ConsoleWords:
        """The words of the reader's language, whatever that of the verdict is."""
        return self.words

    @property
    def answer(self) -> list[Stretch]:
        """The draft, marked claim by claim."""
        marks: list[Mark] = []
        for claim in self.claims:
            if claim.place is not None:
                note = Note(str(claim.number), f"{claim.look} c-{claim.number}", f"claim-{claim.number}")
                marks += [Mark(*span, "gap") for span in claim.missing]
                marks.append(Mark(*claim.place, f"c-{claim.number} claim {claim.look}", note))
        return stretches(self.draft, marks)

    def against(self, claim: ClaimCard) -> str:
        """What speaks against a claim, in the reader's language."""
        return worded(self.words, claim.detail)

    @cached_property
    def quotes(self) -> Mapping[int, list[Mark]]:
        """Where the quotes of claims and conflicts stand in the passages, by the number of the passage."""
        found: dict[int, list[Mark]] = defaultdict(list)
        for claim in self.claims:
            note = Note(str(claim.number), f"{claim.look} c-{claim.number}", f"claim-{claim.number}")
            self._find(claim.quote, claim.sources, f"c-{claim.number} quote {claim.look}", note, found)
        for n, (_, statements) in enumerate(self.conflicts, start=1):
            note = Note(self.say("passage.conflict", number=n), "ask", f"conflict-{n}")
            for source, quote in statements:
                self._find(quote, [source], "quote stated", note, found)
        return found

    @property
    def passages(self) -> list[tuple[int, RetrievedPassage, list[Stretch]]]:
        """The passages, each with its number and its marked text."""
        return [(n, given, self.quoted(n, given)) for n, given in enumerate(self._passages, start=1)]

    @property
    def checks(self) -> list[dict[str, Any]]:
        """What each validator found, as a row of a table."""
        names = ("validator", "outcome", "gate", "stage", "detail")
        return [
            {
                **{name: text(row, name) for name in names},
                "tone": self.tone(row),
                "elapsed": number(row, "elapsed_ms", ".2f"),
                "repaired": row.get("repaired") is True,
            }
            for row in rows(self.verdict, "findings")
        ]

    @property
    def total_ms(self) -> str:
        """How long the checks took together."""
        metrics = self.verdict.get("metrics")
        return number(metrics, "elapsed_ms", ".0f") if isinstance(metrics, Mapping) else ""

    @property
    def flagged(self) -> int:
        """How many checks found something or failed."""
        return sum(text(row, "outcome") in ("flagged", "errored") for row in rows(self.verdict, "findings"))


def view_of(
    verdict: Mapping[str, Any], request: VerifyRequest | Mapping[str, Any] | None, words: ConsoleWords, **rest: Any
) -> VerdictView:
    """The view of a verdict as the API gives it; a request that cannot be read any more is left out."""
    reviews = [ReviewLine(**line) for line in rest.pop("reviews", ())]
    return VerdictView(PacketContent(verdict, _read(request), reviews=reviews, **rest), words)


def _read(request: VerifyRequest | Mapping[str, Any] | None) -> VerifyRequest | None:
    try:
        return None if request is None else parse_request(request)
    except InputError:
        return None
