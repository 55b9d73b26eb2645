"""What of a sentence only wraps what it says: greetings, lead-ins, hedges, question tags, courtesies, refusals.

Only these words are exempt from judgement, never the sentence around them: a sentence states nothing only if nothing else is left.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from stillme.languages import load, word_set
from stillme.lazy import lazy
from stillme.text.lexicon import Lexicon, Match
from stillme.text.tokens import Text

__all__ = ["Asked", "Known", "Wrapping", "asked_by", "claim_lexicon", "denies_assent", "known_from"]

LEADING: Final = frozenset({"lead", "hedge", "telling"})
POLITE: Final = frozenset({"opening", "courtesy", "disclaiming", "identity"})
TAILS: Final = frozenset({"tag", "particle"})
# What a sentence does that holds nothing but words of these lists, first come first.
KINDS: Final = {
    "refusal": "refusal", "disclaiming": "disclaimer", "courtesy": "courtesy", "opening": "courtesy", "identity": "self",
    "pointing": "announcement", "announcing": "announcement", "lead": "announcement", "hedge": "announcement", "tag": "courtesy",
    "particle": "courtesy", "telling": "announcement",
}  # fmt: skip
# These may name what the question or the sources speak of, as long as they state nothing about it.
NAMING: Final = frozenset({"refusal", "courtesy", "opening", "pointing", "announcing", "lead"})
DELIMITERS: Final = frozenset(":,—–-!.")
SIGNS: Final = frozenset({"Sc", "Sm"})
COLON_REACH: Final = 12
LONGEST_TAG: Final = 7
MOST_UNKNOWN: Final = 3
YEARS: Final = range(1500, 2200)
AFTER: Final = frozenset(",:—–-!.")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the question is about, as far as it tells what an answer says."""

    kind: str = "facts"
    stems: frozenset[str] = frozenset()
    figures: frozenset[str] = frozenset()
    yes_or_no: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """The words of the sources: of their texts, and of their titles, addresses and names."""

    stems: Collection[str] = frozenset()
    titles: frozenset[str] = frozenset()


@cache
def claim_lexicon() -> Lexicon:
    """The phrases of claims.yaml."""
    rules = load("claims")
    return Lexicon(rules["lists"], rules["classes"])


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(" ".join(load("claims")[name].values()).replace("_", " ").split())


@cache
def _negations() -> frozenset[str]:
    return word_set("polarity", "negation")


def wants_yes_or_no(query: Text) -> bool:
    """Whether a question can be answered with a bare yes."""
    return "wants_yes_or_no" in claim_lexicon().names(query)


class Wrapping:
    """One sentence of a draft, its tokens `first` to `last`; `silent` tokens (markup, markers, addresses) say nothing."""

    def __init__(self, draft: Text, first: int, last: int, silent: Collection[int], asked: Asked, known: Known) -> None:
        self.draft = draft
        self.outer = first, last
        self.silent = silent
        self.asked = asked
        self.known = known
        self.peeled: list[str] = []
        """The lists whose phrases were taken away, in order."""
        self.last = self._without_tail(first, last)
        self.first = self._without_front(first, self.last)

    # what is left

    @lazy
    def matches(self) -> list[Match]:
        """The phrases of what is left."""
        quoted = self.draft.quoted
        found = claim_lexicon().find(self.draft, self.first, self.last, opening=self.first)
        return [m for m in found if not quoted[m.first]]

    @lazy
    def names(self) -> frozenset[str]:
        """The lists that what is left has a phrase of."""
        return frozenset(m.name for m in self.matches)

    @lazy
    def content(self) -> list[int]:
        """The tokens left that carry content."""
        return [i for i in range(self.first, self.last) if self._speaks(i) and self.draft.words[i].content]

    @lazy
    def spoken(self) -> list[int]:
        """The words left, with or without content."""
        return [i for i in range(self.first, self.last) if self._speaks(i)]

    @property
    def has_figure(self) -> bool:
        """Whether a figure is left that the question has not."""
        return bool(self.figures)

    @lazy
    def figures(self) -> list[int]:
        """The figures left that the question has not."""
        words = self.draft.words
        return [i for i in self.content if words[i].number and words[i].text not in self.asked.figures]

    def is_place(self, i: int) -> bool:
        """Whether a figure is a year or tells a place in a source: 'chapter 7', 'p. 12'."""
        words = self.draft.words
        before = [w.lower for w in words[max(self.first, i - 2) : i]]
        year = words[i].text.isdigit() and int(words[i].text[:6]) in YEARS
        return year or not _words("locators").isdisjoint(before)

    def denies(self, but_for: Collection[int] = ()) -> bool:
        """Whether a negation is left outside the given tokens."""
        lowers = self.draft.lowers
        return any(lowers[i] in _negations() for i in self.spoken if i not in but_for)

    def states(self, but_for: Collection[int] = ()) -> bool:
        """Whether a word is left by which a line is a statement and not the name of something."""
        lowers = [self.draft.lowers[i] for i in self.spoken]
        return any(
            lowers[k] in _words("stating") or _is_past(lowers[k], k) or _has_object(lowers, k)
            for k, i in enumerate(self.spoken)
            if i not in but_for
        )

    @property
    def opens_list(self) -> bool:
        """Whether its last word leaves open what a list below it tells."""
        return bool(self.spoken) and self.draft.lowers[self.spoken[-1]] in _words("opens_list")

    # what it does instead of stating a fact

    @lazy
    def kind(self) -> str | None:
        """What the sentence does where nothing is left to judge; None where something is."""
        if not self.content:
            return self._of_peeled() or self._only_polite()
        for name in KINDS:
            if name in self.names and self._is_nothing_but(name):
                return KINDS[name]
        return None

    def _of_peeled(self) -> str | None:
        return next((KINDS[name] for name in KINDS if name in self.peeled), None)

    def _only_polite(self) -> str | None:
        """'It is.' leaves no content, and still says what was asked: only phrases make it a courtesy."""
        return next((KINDS[name] for name in KINDS if name in self.names), None)

    def _is_nothing_but(self, name: str) -> bool:
        """Whether everything beside the phrases of known lists is about the exchange, or names what was spoken of before."""
        taken = self.exempt
        lowers, words = self.draft.lowers, self.draft.words
        left = [i for i in self.content if i not in taken and lowers[i] not in _words("exchange")]
        if self.has_figure and not (name == "refusal" and self._figures_known()):
            return False
        if self.denies(taken):
            return False
        if not left:
            return True
        unknown = [i for i in left if words[i].stem not in self.asked.stems and words[i].stem not in self.known.stems]
        if name == "refusal":
            return len(unknown) <= MOST_UNKNOWN and not self._goes_on(left)
        return name in NAMING and not unknown and not self.states(taken)

    def _goes_on(self, left: Sequence[int]) -> bool:
        """Whether something else is said behind the refusal: after a 'but', or after an 'and' with a verb of its own."""
        end = max(m.last for m in self.matches if m.name == "refusal")
        turn = min((m.last for m in self.matches if m.name == "contrast" and m.first >= end), default=self.last)
        joints = (i for i in range(end, self.last) if self.draft.lowers[i] in _words("joining"))
        more = next((i + 1 for i in joints if self.states(frozenset(range(self.first, i + 1)))), self.last)
        return any(i >= min(turn, more) and self.draft.words[i].stem not in self.asked.stems for i in left)

    def _figures_known(self) -> bool:
        words = self.draft.words
        return all(words[i].stem in self.known.stems for i in self.content if words[i].number)

    @lazy
    def exempt(self) -> frozenset[int]:
        """The tokens left that are words of a phrase they stand in."""
        lowers, lexicon = self.draft.lowers, claim_lexicon()
        return frozenset(
            i
            for m in self.matches
            if m.name in KINDS
            for i in range(m.first, m.last)
            if lowers[i] in lexicon.vocabulary(m.name)
        )

    # taking away

    def _speaks(self, i: int) -> bool:
        word = self.draft.words[i]
        return i not in self.silent and (word.word or word.number)

    def _without_front(self, first: int, last: int) -> int:
        """The first token behind greetings, lead-ins and hedges; 'I'm happy to help' goes only before a mark that ends it."""
        while True:
            first = self._past_marks(first, last)
            after = self._leading(first, last) or self._colon(first, last) or self._complement(first, last)
            if not after or after <= first:
                return first
            first = after

    def _past_marks(self, first: int, last: int) -> int:
        """The first token that is a word, or a sign that belongs to one: '$' and '≥' are part of what is said."""
        while first < last and not self._speaks(first) and (first in self.silent or self._is_mark(first)):
            first += 1
        return first

    def _is_mark(self, i: int) -> bool:
        text = self.draft.words[i].text
        return not text or text == "<" or (unicodedata.category(text[0]) not in SIGNS and not self._is_minus(i))

    def _is_minus(self, i: int) -> bool:
        words = self.draft.words
        return words[i].text in "-−" and i + 1 < len(words) and words[i + 1].number and not self.draft.gaps[i + 1]

    def _leading(self, first: int, last: int) -> int:
        """The end of the longest phrase that leads in to the rest, with the marks behind it; 0 without one."""
        found = [m for m in self._anchored(first, last) if self._is_clean(m)]
        for match in sorted(found, key=lambda m: -m.last):
            end = self._extended(match, last)
            if match.name in LEADING or end > match.last or self.draft.words[match.last - 1].text in DELIMITERS:
                self.peeled.append(match.name)
                return self._past_joints(end, last)
            if self._past_marks(match.last, last) == last:
                self.peeled.append(match.name)
                return last
            break  # a courtesy that goes on: what is shorter is a part of it
        return 0

    def _anchored(self, first: int, last: int) -> list[Match]:
        if first >= last or self.draft.quoted[first]:
            return []
        return [m for m in claim_lexicon().at(self.draft, first, last) if m.name in LEADING or m.name in POLITE]

    def _is_clean(self, match: Match) -> bool:
        """Whether every word of a match is one of its list, or about the exchange: nothing hides in its gaps."""
        vocabulary = claim_lexicon().vocabulary(match.name) | _words("exchange")
        lowers, words = self.draft.lowers, self.draft.words
        return all(not words[i].content or lowers[i] in vocabulary for i in range(match.first, match.last))

    def _extended(self, match: Match, last: int) -> int:
        """The end of what only speaks about the exchange between a phrase and the mark that ends it."""
        at = match.last
        while at < last and at - match.last <= COLON_REACH:
            if self.draft.words[at].text in DELIMITERS and not self._is_minus(at):
                return at + 1
            if not self._is_about_exchange(at):
                break
            at += 1
        return match.last

    def _colon(self, first: int, last: int) -> int:
        """The token behind a colon before which there are only words about the exchange; behind a comma, if it speaks to the reader."""
        persons, lowers = _words("persons"), self.draft.lowers
        spoken = personal = False
        for at in range(first, min(last, first + COLON_REACH)):
            mark = self.draft.words[at].text
            if mark == ":" or (mark in ",—–" and personal):
                if spoken and at + 1 < last:
                    self.peeled.append("lead")
                return at + 1 if spoken and at + 1 < last else 0
            if not self._is_about_exchange(at):
                return 0
            spoken = spoken or (self._speaks(at) and lowers[at] in _words("exchange") | _words("numbered"))
            personal = personal or lowers[at] in persons
        return 0

    def _complement(self, first: int, last: int) -> int:
        """The token behind 'that' or an arrow, where nothing before it speaks of the matter or denies: 'Have you considered that …'."""
        for at in range(first, min(last - 1, first + COLON_REACH)):
            word = self.draft.words[at]
            if at > first and word.lower in _words("complementisers"):
                self.peeled.append("lead")
                return at + 1
            if at not in self.silent and not self._is_beside_the_matter(at, first):
                return 0
        return 0

    def _is_beside_the_matter(self, i: int, first: int) -> bool:
        """Whether a word is none of the sources' or the question's, no figure, no name, nothing that denies or parts clauses."""
        word = self.draft.words[i]
        if word.number or word.text in ";.!?" or word.lower in _negations() or word.lower in _words("denying_lead"):
            return False
        if not word.content:
            return True
        foreign = word.stem not in self.known.stems and word.stem not in self.asked.stems
        return foreign and not (word.capital and i > first)

    def _is_about_exchange(self, i: int) -> bool:
        word = self.draft.words[i]
        if word.number:
            return i > 0 and self.draft.lowers[i - 1] in _words("numbered")
        if word.lower in _negations():
            return False
        about = word.lower in _words("exchange") or word.lower in _words("numbered")
        return not word.content or about or i in self.silent

    def _past_joints(self, at: int, last: int) -> int:
        after = AFTER | word_set("grammar", "behind_lead")
        while at < last and self.draft.words[at].lower in after and not self._is_minus(at):
            at += 1
        return at

    def _without_tail(self, first: int, last: int) -> int:
        """The end before question tags and courtesies that stand behind a comma, or behind nothing in Vietnamese."""
        while True:
            end = last
            while end > first and not self._speaks(end - 1):
                end -= 1
            tag = self._tag(first, end)
            if tag is None:
                return last
            self.peeled.append(tag.name)
            last = tag.first

    def _tag(self, first: int, end: int) -> Match | None:
        """What ends the sentence without being said: behind a comma, or, in Vietnamese, behind nothing."""
        start = max(first, end - COLON_REACH)
        for match in claim_lexicon().find(self.draft, start, end):
            if (
                match.name in TAILS
                and match.last == end
                and match.first > first
                and not self.draft.words[match.first].capital
            ):
                before = self.draft.words[match.first - 1].text
                if before in ",—–-(" or not self.draft.lowers[match.first].isascii() or match.name == "particle":
                    return match
        return self._unlisted_tag(start, end)

    def _unlisted_tag(self, start: int, end: int) -> Match | None:
        """A few words between a comma and a question mark that do not speak of the matter: '…, wouldn't you agree?'"""
        words = self.draft.words
        if end >= len(words) or words[end].text not in "?？":
            return None
        comma = next((i for i in range(end - 1, start, -1) if words[i].text in ",—–"), None)
        if comma is None or end - comma > LONGEST_TAG:
            return None
        beside = all(
            not words[i].content or (words[i].stem not in self.known.stems and words[i].stem not in self.asked.stems)
            for i in range(comma + 1, end)
        )
        plain = not any(words[i].number or words[i].capital for i in range(comma + 1, end))
        return Match("tag", comma + 1, end) if beside and plain and comma + 1 < end else None


def _is_past(lower: str, place: int) -> bool:
    """An English word that looks like a past tense, unless it opens the line as an attribute would."""
    return place > 0 and len(lower) > 4 and lower.endswith("ed")


def _has_object(lowers: Sequence[str], place: int) -> bool:
    """'The captain sells the tickets': an article that no preposition stands before has a verb before it."""
    if place < 1 or place + 1 >= len(lowers) or lowers[place + 1] not in _words("articles"):
        return False
    asks, verb = lowers[0] in _words("heading_questions"), lowers[place]
    joins = verb in _words("joints") or verb.endswith("ing") or lowers[place - 1] == "to"
    return not asks and not joins


def denies_assent(draft: Text, first: int, last: int) -> bool:
    """Whether a bare yes or no is a no; two of them, as in 'not wrong' and 'no doubt', make a yes."""
    said = [lower for lower in draft.lowers[first:last] if lower in _words("saying_no") or lower in _words("doubting")]
    return len(said) % 2 == 1


def stems_of(text: Text) -> frozenset[str]:
    """The stems of the content words of a text."""
    return frozenset(w.stem for w in text.words if w.content)


def asked_by(query: Text, kind: str) -> Asked:
    """What a question is about."""
    figures = frozenset(w.text for w in query.words if w.number)
    return Asked(kind, stems_of(query), figures, wants_yes_or_no(query))


def known_from(stems: Collection[str], headings: Sequence[Text]) -> Known:
    """What the sources are about."""
    return Known(stems, frozenset().union(*map(stems_of, headings)) if headings else frozenset())
