"""Text that is let through claim by claim, each as soon as it is verified and never before.

A claim is complete when the next one has begun: citation markers behind a full stop belong to it. What goes out ends where a sentence
of the package's own splitter ends. The draft so far is verified at each such place, by the pipeline that gives the verdict on the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Protocol

from stillme.contract import Action, RetrievedPassage
from stillme.errors import InputError
from stillme.grounding.citations import find_markers
from stillme.grounding.passage import Passage
from stillme.text.sentences import Sentence, split
from stillme.text.tokens import QUOTES, Text
from stillme.verification.growing import Look

__all__ = ["ClaimEnds", "ClaimGate", "Looking", "Step"]

MAY_END: Final = frozenset(".!?…。！？;\n")
LEAD_IN_WORDS: Final = 2
LONGEST_BRACKET: Final = 200
LONGEST_LINK: Final = 2_000
LONGEST_PARENTHESES: Final = 400
LONGEST_GAP: Final = 100
FENCES: Final = ("```", "~~~")
KEPT: Final = 8
"""How many claims that went out are read again to see where the next one ends."""


# where claims end


class ClaimEnds:
    """Finds where claims end in a text that is still growing: an end that was found never moves, whatever comes behind it."""

    def __init__(self, passages: Sequence[RetrievedPassage] = ()) -> None:
        self._given = len(passages)
        self._passages = [Passage(number, p) for number, p in enumerate(passages, 1) if p.text.strip()]

    def found(self, raw: str, *, complete: bool) -> list[int]:
        """The ends, in order. A complete text ends where it ends; a growing one is settled as far as nothing can change it."""
        text = Text(raw)
        sentences = split(text, self._markers(raw))
        settled = len(raw) if complete else _settled(raw)
        open_quotes = _open_quotes(text)
        ends = [
            here.end
            for here, behind in pairwise(sentences)
            if text.ends[behind.first] <= settled and not _goes_on(text, here, behind, open_quotes)
        ]
        return [*ends, len(raw)] if complete and raw else ends

    def _markers(self, raw: str) -> list[tuple[int, int]]:
        """The markers, those in code too: whether a backtick is closed again is not known yet."""
        return [m.span for m in find_markers(Text(raw.replace("`", "'")), self._passages, self._given)]


def _settled(raw: str) -> int:
    """Up to where a growing text is read the same whatever follows: to its last white space, and to a bracket that may close yet."""
    end = len(raw)
    while end > 0 and not raw[end - 1].isspace():
        end -= 1
    return min(end, _open_bracket(raw, "[", "[]\n", LONGEST_BRACKET), _open_bracket(raw, "【", "【】\n", LONGEST_BRACKET),
               _open_bracket(raw, "(", "()", LONGEST_PARENTHESES), _open_link(raw))  # fmt: skip


def _open_bracket(raw: str, opening: str, ending: str, longest: int) -> int:
    """Where the last bracket stands that may still become a marker; the end of the text if there is none."""
    at = raw.rfind(opening, max(0, len(raw) - longest - 2))
    if at < 0 or any(mark in raw[at + 1 :] for mark in ending):
        return len(raw)
    return at


def _open_link(raw: str) -> int:
    """The bracket before a link address that is still being written: '[title](https://…'."""
    at = raw.rfind("](", max(0, len(raw) - LONGEST_LINK - 2))
    if at < 0 or any(mark in raw[at + 2 :] for mark in "() \t\n"):
        # ']' may be followed by its address yet
        return raw.rfind("[") if raw.endswith("]") and "[" in raw else len(raw)
    opening = raw.rfind("[", 0, at)
    return opening if opening >= 0 else at


def _goes_on(text: Text, here: Sentence, behind: Sentence, open_quotes: Sequence[bool]) -> bool:
    """Whether a sentence is only understood with the one behind it: it is let through with that one."""
    raw = text.raw
    if raw[here.end - 1] == ";" or sum(w.word or w.number for w in text.words[here.first : here.last]) <= LEAD_IN_WORDS:
        return True  # a semicolon shares the markers behind it; 'Yes.' leads in to what it affirms
    between = raw[here.end : behind.start]
    if open_quotes[here.last - 1] and "\n\n" not in between:
        return True
    opening = raw[text.line(here.start)[0] : here.start + 2].lstrip()
    if opening.startswith("|"):  # whether a row is the heading of a table is seen in the next one
        return raw[text.line(behind.start)[0] : behind.start + 1].lstrip().startswith("|")
    return (
        opening.startswith(("**", "__")) and "\n" not in between
    )  # whether bold text is a heading is seen at the end of the line


def _open_quotes(text: Text) -> list[bool]:
    """For each token, whether a quotation that was opened in its paragraph is still open behind it."""
    found: list[bool] = []
    opened: set[str] = set()
    for word, gap in zip(text.words, text.gaps, strict=False):
        if "\n\n" in gap:
            opened.clear()
        mark = word.text
        closed = next((o for o, c in QUOTES.items() if c == mark and o in opened), None)
        if closed is not None:
            opened.discard(closed)
        elif mark in QUOTES:
            opened.add(mark)
        found.append(bool(opened))
    return found


# the gate


class Restarts:
    """Where reading a growing text may begin anew, as if nothing stood before: ends of claims behind which nothing is open."""

    def __init__(self) -> None:
        self._places = [0]
        self._seen = self._fences = 0

    def note(self, text: str, end: int) -> None:
        """An end of a claim, once what follows it is known; ends come in order."""
        self._fences += sum(text.count(fence, self._seen, end) for fence in FENCES)
        self._seen = end
        following = text[end : end + LONGEST_GAP]
        begins = following.lstrip()[:1]
        anew = (
            begins not in ("", "|")
            if "\n" in following[: len(following) - len(following.lstrip())]
            else begins.isalpha()
        )
        if anew and not self._fences % 2:
            self._places.append(end)

    def before(self, claims: int) -> int:
        """The place that so many claims stand behind; the beginning where there are not as many."""
        return self._places[-1 - claims] if len(self._places) > claims else 0


@dataclass(frozen=True, slots=True)
class Step:
    """What came of one claim: text that goes out now, or (`stopped`) the words that take the place of all the rest."""

    text: str
    end: int
    """Characters of what the model wrote that are settled with it."""
    stopped: Action | None = None


class Looking(Protocol):
    """Verifies a draft as far as it is written, and keeps no record of it."""

    def __call__(self, draft: str, *, is_complete: bool = False) -> Look:
        """What the draft comes to."""
        ...


class ClaimGate:
    """Holds a growing text back and lets it through claim by claim.

    `look` verifies what is written so far. Feed it, `close` it at the end, and after each of both take steps until there is none.
    It is used by one thread at a time.
    """

    def __init__(self, look: Looking, ends: ClaimEnds, *, most_characters: int, hold: bool = False) -> None:
        self._look, self._ends = look, ends
        self._most, self._hold = most_characters, hold
        self._pieces: list[str] = []
        self._text = ""
        self._length = 0
        self._scanned = 0
        self._restarts = Restarts()
        self._may_end = False
        self._waiting: list[int] = []
        self._complete = False
        self.sent = ""
        """What went out."""
        self.released = 0
        """Characters of what the model wrote that went out."""
        self._held = 0
        self.stopped_at: int | None = None
        """The end of the claim that stopped it."""
        self.fits = True
        """Whether the text is within the limits of the policy."""

    @property
    def text(self) -> str:
        """What the model wrote so far."""
        if self._pieces:
            self._text += "".join(self._pieces)
            self._pieces.clear()
        return self._text

    def feed(self, piece: str) -> bool:
        """Take a piece in; whether a claim may have become complete. A text over the policy's limit is an InputError."""
        self._pieces.append(piece)
        self._length += len(piece)
        if self._length > self._most:
            self.fits = False
            raise InputError(
                f"the model's answer has more than {self._most} characters (limits.draft_chars): "
                "ask for a shorter one, or raise the limit in the policy"
            )
        spaced = any(map(str.isspace, piece))
        ready = self._may_end and spaced and not self._hold
        self._may_end = self._may_end or not MAY_END.isdisjoint(piece)
        return ready or (spaced and self._may_end and not self._hold)

    def close(self) -> None:
        """The text is complete."""
        self._complete = True
        self._may_end = True
        self._scanned = -1

    def step(self) -> Step | None:
        """Verify the next complete claim; None when there is none, or when nothing goes out any more."""
        if self.stopped_at is not None:
            return None
        if not self._waiting:
            self._scan()
        if not self._waiting:
            return None
        return self._settle(self._waiting.pop(0))

    def _scan(self) -> None:
        text = self.text
        if self._scanned == len(text) or not self._may_end:
            return
        self._scanned = len(text)
        if self._hold:
            self._waiting = [len(text)] if self._complete and text else []
        else:
            begin = self._restarts.before(KEPT)
            found = (begin + end for end in self._ends.found(text[begin:], complete=self._complete))
            self._waiting = [end for end in found if end > max(self.released, self._held)]
        self._may_end = not MAY_END.isdisjoint(text[max([self.released, *self._waiting]) :])

    def _settle(self, end: int) -> Step:
        """Let the text through up to the end of a claim, hold it, or stop."""
        look = self._seen(end)
        if look.stops:
            self.stopped_at = end
            self._waiting.clear()
            return Step(look.text, end, look.action)
        if look.waits:
            self._held = end
            return Step("", self.released)
        text = look.text[len(self.sent) :]
        if self.released:
            self._restarts.note(self.text, self.released)
        self.sent, self.released = look.text, end
        return Step(text, end)

    def _seen(self, end: int) -> Look:
        """What the text comes to up to an end; what went out stays as it is, whatever a later repair would make of it."""
        is_complete = self._complete and end == len(self.text)
        drafts = (self.text[:end], self.sent + self.text[self.released : end])
        try:
            for draft in drafts if drafts[0] != drafts[1] else drafts[:1]:
                look = self._look(draft, is_complete=is_complete)
                if look.stops or look.text.startswith(self.sent):
                    return look
        except InputError:
            self.fits = False
            raise
        return Look("block", "")
