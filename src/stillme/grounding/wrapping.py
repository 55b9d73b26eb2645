"""What of a sentence only wraps what it says: greetings, lead-ins, hedges, question tags, courtesies, refusals.

Only these words are exempt from judgement, never the sentence around them: a sentence states nothing only if nothing else is left.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from stillme.languages import compiled, load, word_set
from stillme.lazy import lazy
from stillme.text.lexicon import Lexicon, Match
from stillme.text.sentences import is_picture
from stillme.text.tokens import Text, Word, word_of

__all__ = [
    "Asked",
    "Known",
    "Wrapping",
    "asked_by",
    "claim_lexicon",
    "denies",
    "denies_assent",
    "denies_itself",
    "denies_what_follows",
    "known_from",
]

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
LONGEST_ATTRIBUTION: Final = 12
MOST_IN_A_SPEAKER: Final = 3
MOST_SYLLABLES_IN_A_SPEAKER: Final = 6
MOST_NAMED: Final = 3
TIME: Final = r"\d{1,2}+[:.h]\d{2}(?::\d{2})?+(?:\s?+[ap]m)?+"
CLOCK: Final = rf"[\[(]{TIME}[\])]"
# Who speaks, and when, before what is said: 'ANNA:', '**Bot** (10:42):', '[10:42] bot:', '<Support>', '[Bot]'.
SPEAKER: Final = re.compile(
    rf"(?:{CLOCK}\s*+)?+[*_`]*+(?:<([^<>\n]{{1,40}}+)>|\[([^\[\]\n\d]{{2,40}}+)(?:{TIME})?+\]:?+"
    rf"|([^\W\d_](?:[^\W\d_]|[ .'’-]){{0,40}}+)[*_`]*+\s*+(?:{CLOCK})?+\s*+[:>])[*_`]*+\s",
    re.IGNORECASE,
)
BEFORE_SPEAKER: Final = " \t-*•>_`—–|"
MOST_UNKNOWN: Final = 3
CLAUSE_ENDS: Final = frozenset(",:—–")
CLAUSE_REACH: Final = 16
LEAST_STATEMENT: Final = 4
LONGEST_TALK: Final = 30
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
    talks: Callable[[str, bool], bool] | None = None
    """Asked whether a text that is in no list only talks, told whether it shares no word with the matter; None: the lists decide."""


@compiled
def claim_lexicon() -> Lexicon:
    """The phrases of `claims`."""
    rules = load("claims")
    return Lexicon(rules["lists"], rules["classes"])


@compiled
def _words(*names: str) -> frozenset[str]:
    return frozenset(word for name in names for word in load("claims")[name].replace("_", " ").split())


@compiled
def polite_words() -> frozenset[str]:
    """The words of greetings and courtesies."""
    return claim_lexicon().vocabulary("opening") | claim_lexicon().vocabulary("courtesy")


def exchange_words() -> frozenset[str]:
    """The words that speak of question, answer and documents themselves."""
    return _words("exchange")


def nature_words() -> frozenset[str]:
    """The words for what somebody is and has: human, feelings, a body."""
    return _words("nature")


def denies_what_follows(words: Sequence[str]) -> bool:
    """Whether words say of what follows that it does not hold, and nothing else: 'NOT', 'The opposite is true'; a bare 'no' may answer."""
    untrue = [word for word in words if word in _words("untrue")]
    denying = [*untrue, *(word for word in words if word in _words("answering_no"))]
    rest = (word for word in words if word not in denying and word not in _words("holding"))
    holds = any(word in _words("holding") for word in words)
    return bool(untrue or holds) and len(denying) % 2 == 1 and not any(word_of(word).content for word in rest)


@compiled
def _turning() -> frozenset[str]:
    return word_set("polarity", "negation") | _words("reversing", "saying_no")


def may_assent(draft: Text, first: int, last: int) -> bool:
    """Whether tokens may be read as a yes or a no."""
    denies = any(lower in word_set("polarity", "negation") for lower in draft.lowers[first:last])
    return denies or not claim_lexicon().names(draft, first, last).isdisjoint(("assent", "agreeing"))


def denies(draft: Text, first: int, last: int) -> bool:
    """Whether a word that denies stands among tokens."""
    return not word_set("polarity", "negation").isdisjoint(draft.lowers[first:last])


def turns(draft: Text, first: int, last: int) -> bool:
    """Whether tokens may turn or bound what stands behind them: 'It is a myth', 'Only on Mondays'; 'There is no doubt' turns nothing."""
    lowers = draft.lowers[first:last]
    turning = _turning()
    return sum(lower in turning for lower in lowers) % 2 == 1 or any(lower in _words("conditions") for lower in lowers)


def denies_itself(draft: Text, first: int, last: int) -> bool:
    """Whether a speaker only denies something of himself: 'I won't beat about the bush', and not what stands behind it: 'I doubt it'."""
    lowers = draft.lowers[first:last]
    bound = _words("reversing", "conditions", "untrue", "holding", "complementisers")
    return not word_set("conduct", "first_person").isdisjoint(lowers) and bound.isdisjoint(lowers)


def _is_scope(lower: str) -> bool:
    return lower in _words("scopes") or lower.removesuffix("s") in _words("scopes")


def bounds(draft: Text, first: int, last: int) -> bool:
    """Whether tokens only say when or for whom something holds: 'Evenings', 'at night'."""
    said = [word.lower for word in draft.words[first:last] if word.content]
    return bool(said) and all(map(_is_scope, said))


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
        first, last = self._cell(first, last)
        self.last = self._without_tail(first, last)
        self.first = self._without_front(self._behind_speaker(first, self.last), self.last)

    # what is left

    @lazy
    def matches(self) -> list[Match]:
        """The phrases of what is left."""
        quoted = self.draft.quoted
        found = claim_lexicon().find(self.draft, self.first, self.last, opening=self.first)
        return [m for m in found if not quoted[m.first]]

    @lazy
    def outer_matches(self) -> list[Match]:
        """The phrases of the whole sentence."""
        return list(claim_lexicon().find(self.draft, *self.outer))

    @lazy
    def outer_names(self) -> frozenset[str]:
        """The lists that the whole sentence has a phrase of."""
        return frozenset(m.name for m in self.outer_matches)

    @lazy
    def names(self) -> frozenset[str]:
        """The lists that what is left has a phrase of."""
        return frozenset(m.name for m in self.matches)

    @lazy
    def content(self) -> list[int]:
        """The tokens left that carry content."""
        words = self.draft.words
        return [i for i in self.spoken if words[i].content]

    @lazy
    def spoken(self) -> list[int]:
        """The words left, with or without content."""
        words, silent = self.draft.words, self.silent
        spoken = [i for i in range(self.first, self.last) if words[i].word or words[i].number]
        return [i for i in spoken if i not in silent] if silent else spoken

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
        return any(lowers[i] in word_set("polarity", "negation") for i in self.spoken if i not in but_for)

    def states(self, but_for: Collection[int] = ()) -> bool:
        """Whether a word is left by which a line is a statement and not the name of something."""
        lowers = [self.draft.lowers[i] for i in self.spoken]
        return any(_is_verb(lowers, k) for k, i in enumerate(self.spoken) if i not in but_for)

    def is_signer(self) -> bool:
        """Whether a line names a team or an office: in English by its last word, each with a capital, in Vietnamese by its first."""
        words, lowers = self.draft.words, self.draft.lowers
        if not self.content:
            return False
        if words[self.spoken[0]].accented or self.draft.accented:
            return lowers[self.spoken[0]] in _words("signers")
        return lowers[self.spoken[-1]] in _words("signers") and all(words[i].capital for i in self.content)

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
        return "announcement" if self._is_about_the_answer() else None

    def _of_peeled(self) -> str | None:
        """What the words that were taken away do; a refusal that was taken for talk is one all the same."""
        if "refusal" in self.outer_names:
            return KINDS["refusal"]
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
        small = [i for i in left if not words[i].capital]
        return name in NAMING and not unknown and len(small) <= MOST_NAMED and not self.states(taken)

    def _is_about_the_answer(self) -> bool:
        """'That is all the source says.': every word is about the exchange, none about the matter, and it is no answer by itself."""
        words, lowers = self.draft.words, self.draft.lowers
        matter = [
            i for i in self.content if words[i].stem in self.known.stems and lowers[i] not in _words("attributing")
        ]
        most = len(self.content) // 2 if self.draft.accented else 0  # syllables are shared by chance
        to_reader = any(lowers[i] in _words("persons") for i in self.spoken)
        offers = to_reader and lowers[self.first] in _words("conditions")
        if self.asked.yes_or_no or len(matter) > most or self.has_figure or (self.denies() and not offers):
            return False
        polite = (_words("exchange") | (polite_words() if to_reader else frozenset())) - _words("saying_no")
        return all(lowers[i] in polite for i in self.content)

    @property
    def only_numbers(self) -> bool:
        """'Q1.': a number, and at most a word or a letter for what is numbered."""
        named = [i for i in self.spoken if not self.draft.words[i].number]
        numbered = all(self.draft.lowers[i] in _words("numbered") or len(self.draft.lowers[i]) == 1 for i in named)
        return len(self.spoken) == 2 and len(named) == 1 and numbered

    def _goes_on(self, left: Sequence[int]) -> bool:
        """Whether something else is said beside the refusal, or after an 'and' with a verb of its own."""
        end = max(m.last for m in self.matches if m.name == "refusal")
        joints = (i for i in range(end, self.last) if self.draft.lowers[i] in _words("joining"))
        more = next((i + 1 for i in joints if self.states(frozenset(range(self.first, i + 1)))), self.last)
        begin = min(more, self.behind_refusal or self.last)
        return any(i >= begin and self.draft.words[i].stem not in self.asked.stems for i in left)

    @lazy
    def behind_refusal(self) -> int | None:
        """Where something else begins: 'I could not find it, but …', 'While I cannot say more, …'."""
        refusals = [m for m in self.matches if m.name == "refusal"]
        begin, end = min(m.first for m in refusals), max(m.last for m in refusals)
        turns = [m for m in self.matches if m.name == "contrast"]
        if any(m.last <= begin for m in turns):
            return next((i + 1 for i in range(end, self.last) if self.draft.words[i].text == ","), None)
        return next((m.last for m in turns if m.first >= end), None)

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

    def says_nothing(self, i: int) -> bool:
        """Whether a word carries no content, or is only about the exchange."""
        return not self.draft.words[i].content or self.draft.lowers[i] in _words("exchange")

    def _speaks(self, i: int) -> bool:
        word = self.draft.words[i]
        return i not in self.silent and (word.word or word.number)

    def _cell(self, first: int, last: int) -> tuple[int, int]:
        """The one cell of a table row that states something, where the others only number it or name a source; else the whole row."""
        if "|" not in self.draft.tokens[first:last]:
            return first, last
        bars = [i for i in range(first, last) if self.draft.words[i].text == "|"]
        cells = list(zip([first, *(i + 1 for i in bars)], [*bars, last], strict=True))
        stating = [cell for cell in cells if _is_statement(self.draft.lowers[slice(*cell)])]
        if not bars or len(stating) != 1:
            return first, last
        numbers = cells[0][1] - cells[0][0] == 1 and self.draft.words[first].number
        others = [range(*cell) for cell in cells if cell != stating[0] and not (numbers and cell == cells[0])]
        return stating[0] if all(self._labels_row(i) for cell in others for i in cell) else (first, last)

    def _labels_row(self, i: int) -> bool:
        """Whether a word of a cell is about the exchange, the title of a source or a single letter."""
        word = self.draft.words[i]
        return self._is_about_exchange(i) or word.stem in self.known.titles or len(word.text) == 1

    def _without_front(self, first: int, last: int) -> int:
        """The first token behind greetings, lead-ins and hedges; 'I'm happy to help' goes only before a mark that ends it."""
        while True:
            first = self._past_marks(first, last)
            after = (
                self._leading(first, last)
                or self._colon(first, last)
                or self._complement(first, last)
                or self._talk_before(first, last)
            )
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

    def _behind_speaker(self, first: int, last: int) -> int:
        """The token behind the name of who speaks, at the start of a line, where a statement follows; else the first token."""
        start = self.draft.starts[first] if first < last else 0
        line = self.draft.line(start)[0]
        label = SPEAKER.match(self.draft.raw, start)
        if first >= last or label is None or self.draft.raw[line:start].strip(BEFORE_SPEAKER):
            return first
        behind = self.draft.token_at(label.end())
        names = [word_of(name) for name in (label.group(1) or label.group(2) or label.group(3)).strip(" ,-|").split()]
        most = MOST_SYLLABLES_IN_A_SPEAKER if any(name.accented for name in names) else MOST_IN_A_SPEAKER
        if len(names) > most or not self._may_speak(names):
            return first
        dated = any(c.isdigit() for c in label.group())
        shouted = all(name.upper for name in names) and last - behind > MOST_IN_A_SPEAKER
        states = dated or shouted or _is_statement(self.draft.lowers[behind:last])
        polite = any(m.name in POLITE for m in self._anchored(behind, last))
        if behind >= last or not (states or polite or self.only_talks(behind, last)):
            return first
        self.peeled.append("lead")
        return behind

    def _may_speak(self, names: Sequence[Word]) -> bool:
        """Whether a label names somebody or a part in the exchange, and is neither the matter nor a judgement of what follows.

        A Vietnamese label may share a syllable with the sources, and has a capital only at its start.
        """
        accented = any(name.accented for name in names)
        turning = _turning()
        matter = [name.stem in self.known.stems or name.stem in self.asked.stems for name in names]
        capital = [name.capital or name.lower in _words("speakers") for name in names]
        bound = _words("stating", "conditions", "joints")
        if any(name.lower in turning or name.lower in bound for name in names) or self._names_a_scope(names):
            return False
        return (not all(matter) and capital[0]) if accented else (not any(matter) and all(capital))

    def _names_a_scope(self, names: Sequence[Word]) -> bool:
        """Whether a label bounds what follows it: a time ('Sundays:'), or in English several of a kind ('Members:')."""
        last = names[-1]
        several = last.text.endswith("s") and not last.accented and last.lower not in _words("speakers", "signers")
        return several or any(_is_scope(name.lower) for name in names)

    def _colon(self, first: int, last: int) -> int:
        """The token behind a colon or dash before which there are only words about the exchange; behind a comma, if they speak to the
        reader or of a source."""
        lowers = self.draft.lowers
        spoken = personal = False
        for at in range(first, min(last, first + COLON_REACH)):
            mark = self.draft.words[at].text
            if mark in ":—–=" or (personal and (mark == "," or mark in word_set("grammar", "topic_mark"))):
                if spoken and at + 1 < last:
                    self.peeled.append("lead")
                return at + 1 if spoken and at + 1 < last else 0
            if not self._is_about_exchange(at):
                return 0
            spoken = spoken or (self._speaks(at) and lowers[at] in _words("exchange", "numbered"))
            personal = personal or lowers[at] in _words("persons", "attributing")
        return 0

    def _complement(self, first: int, last: int) -> int:
        """The token behind 'that' or an arrow, where nothing before it speaks of the matter: 'Have you considered that …'.

        What is denied once stays: 'It is not true that …'; what is denied twice is said: 'Nobody denies that …'.
        """
        turns = 0
        reach = COLON_REACH * (1 + self.draft.accented)  # syllables are words
        for at in range(first, min(last - 1, first + reach)):
            word = self.draft.words[at]
            if at > first and word.lower in _words("complementisers"):
                if turns % 2 == 0:
                    self.peeled.append("lead")
                return at + 1 if turns % 2 == 0 else 0
            if (
                turns == 2
                and word.lower in _words("saying")
                and self.draft.lowers[at + 1] not in _words("complementisers")
            ):
                self.peeled.append("lead")
                return at + 1
            if word.lower in word_set("polarity", "negation") or word.lower in _words("reversing"):
                turns += 1
            elif at not in self.silent and not self._is_beside_the_matter(at, first) and not self._ends_turning(at):
                return 0
        return 0

    def _ends_turning(self, at: int) -> bool:
        """Whether a syllable ends a word that turns: the second of 'phủ nhận'."""
        return self.draft.words[at].accented and self.draft.lowers[at - 1] in _words("reversing")

    def _talk_before(self, first: int, last: int) -> int:
        """The token behind a clause of talk that a comma, colon or dash ends: 'Before I forget, …'."""
        reach = range(first + 1, min(last - 1, first + CLAUSE_REACH))
        mark = next((i for i in reach if self._ends_clause(i)), 0)
        is_wrapped = any("\n" in gap for gap in self.draft.gaps[first + 1 : mark])
        if mark and (is_wrapped or bounds(self.draft, first, mark)):
            return 0
        if not mark or not (
            self.only_talks(first, mark) or self._says_who_speaks(first, mark) or self._doubts_the_reading(first, mark)
        ):
            mark = self._joint_behind_talk(first, last)
        if not mark:
            return 0
        self.peeled.append("lead")
        return self._past_joints(mark + 1, last)

    def _joint_behind_talk(self, first: int, last: int) -> int:
        """The word that joins a clause of talk, which turns nothing, to what is said: 'Em xin thưa với chị là …'; 0 without one."""
        joining, lowers = word_set("grammar", "lead_joints"), self.draft.lowers
        reach = range(first + 2, min(last - LEAST_STATEMENT, first + CLAUSE_REACH))
        mark = next((i for i in reach if lowers[i] in joining), 0)
        return mark if mark and not turns(self.draft, first, mark) and self.only_talks(first, mark) else 0

    def _says_who_speaks(self, first: int, last: int) -> bool:
        """Whether a clause only tells that an assistant speaks: 'I'm only a chatbot, but …'"""
        words = [self.draft.words[i] for i in range(first, last) if self._speaks(i)]
        matter = [
            w for w in words if w.number or w.stem in self.asked.stems or (w.content and w.stem in self.known.stems)
        ]
        return not matter and "identity" in claim_lexicon().names(self.draft, first, last)

    def _doubts_the_reading(self, first: int, last: int) -> bool:
        """Whether a clause only makes a condition of how something was read: 'If I read this right', 'unless the page is out of date'."""
        lowers, words = self.draft.lowers, self.draft.words
        spoken = [i for i in range(first, last) if self._speaks(i)]
        if (
            not spoken
            or lowers[spoken[0]] not in _words("conditions", "assuming")
            or any(words[i].number for i in spoken)
        ):
            return False
        reading = _words("reading", "attributing", "exchange", "assuming", "conditions") | word_set(
            "polarity", "negation"
        )
        matter = (i for i in spoken if words[i].stem in self.known.stems or words[i].stem in self.asked.stems)
        names_page = not _words("attributing").isdisjoint(lowers[first:last])
        own = not word_set("conduct", "first_person").isdisjoint(lowers[first:last])
        foreign = names_page and all(not words[i].content for i in matter)
        return (own or foreign) and all(lowers[i] in reading for i in spoken if words[i].content)

    def _ends_clause(self, i: int) -> bool:
        mark = self.draft.words[i].text
        ends = mark in CLAUSE_ENDS or mark in word_set("grammar", "topic_mark")
        joined = mark == "," and i + 1 < len(self.draft.words) and not self.draft.gaps[i + 1]  # as in a row of a table
        return (ends and not joined and not self._is_minus(i)) or is_picture(mark)

    def _talk_behind(self, first: int, end: int) -> Match | None:
        """A clause of talk behind the last comma, dash or stop: '…, in case you were wondering.', '…. cheers'"""
        reach = range(end - 1, max(first, end - CLAUSE_REACH), -1)
        mark = next((i for i in reach if self.draft.words[i].text in ",.—–("), None)
        if not mark or mark + 1 >= end:
            return None
        beside = self.only_talks(mark + 1, end) or self._doubts_the_reading(mark + 1, end)
        return Match("tag", mark + 1, end) if beside else None

    def only_talks(self, first: int, last: int) -> bool:
        """Whether the classifier takes tokens for talk that name nothing of the matter and count nothing."""
        words = self.draft.words
        spoken = [i for i in range(first, last) if self._speaks(i)]
        if self.known.talks is None or not spoken or len(spoken) > LONGEST_TALK:
            return False
        if any(words[i].number or self.draft.quoted[i] for i in spoken):
            return False
        content = [i for i in spoken if words[i].content and not self._is_about_exchange(i)]
        matter = [i for i in content if words[i].stem in self.known.stems or words[i].stem in self.asked.stems]
        polite = any(m.name in ("opening", "courtesy") for m in claim_lexicon().at(self.draft, first, last))
        if not polite and self._names_somebody(spoken):
            return False
        # Syllables are shared by chance, and thanks may name what they are for.
        most = len(content) * (self.draft.accented + polite) // (3 if polite else 2)
        talks, apart = self.known.talks, not matter
        return len(matter) <= most and talks(self.draft.slice(first, last), apart) and self._ends_as_talk(first, last)

    def _names_somebody(self, spoken: Sequence[int]) -> bool:
        """Whether two capitals stand side by side behind the first word: a full name, of a person or a thing."""
        words = self.draft.words
        return any(words[a].capital and words[b].capital and b == a + 1 for a, b in pairwise(spoken[1:]))

    def _ends_as_talk(self, first: int, last: int) -> bool:
        """Whether what stands behind the last comma, if it could be a statement, talks too."""
        mark = next((i for i in range(last - 1, first, -1) if self._ends_clause(i)), 0)
        behind = [i for i in range(mark + 1, last) if self._speaks(i)] if mark else []
        return len(behind) < LEAST_STATEMENT or self.only_talks(mark + 1, last)

    def _is_beside_the_matter(self, i: int, first: int) -> bool:
        """Whether a word is none of the sources' or the question's, no figure, no name, nothing that parts or conditions clauses."""
        word = self.draft.words[i]
        if word.number or word.text in ";.!?" or word.lower in _words("conditions"):
            return False
        if not word.content or word.lower in _words("attributing"):
            return True
        foreign = word.stem not in self.known.stems and word.stem not in self.asked.stems
        return foreign and not (word.capital and i > first)

    def _is_about_exchange(self, i: int) -> bool:
        word = self.draft.words[i]
        if word.number:
            before = i - 2 if i > 1 and self.draft.lowers[i - 1] in _words("out_of") else i  # '1 of 2' numbers like '1'
            return before > 0 and self.draft.lowers[before - 1] in _words("numbered")
        if word.lower in word_set("polarity", "negation"):
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
                if self._is_meant(match.first):
                    continue
                particle = (
                    match.name == "particle" and self.draft.accented
                )  # without accents a particle looks like another word
                if before in ",—–-(" or not self.draft.lowers[match.first].isascii() or particle:
                    return match
        return self._attribution(start, end) or self._unlisted_tag(start, end) or self._talk_behind(first, end)

    def _is_meant(self, i: int) -> bool:
        """Whether somebody is spoken of and not to, as in 'for the two of you'."""
        addressed = _words("addressed")
        return self.draft.lowers[i] in addressed and self.draft.lowers[i - 1] in _words("governing", "addressed")

    def _attribution(self, start: int, end: int) -> Match | None:
        """What behind a comma or in brackets only says where it stands: '…, says the source.', '(see the passage above)'."""
        words, lowers = self.draft.words, self.draft.lowers
        mark = next(
            (i for i in range(end - 1, max(start, end - LONGEST_ATTRIBUTION), -1) if words[i].text in ",—–("), None
        )
        tail = range(mark + 1, end) if mark is not None else range(0)
        attributes = any(lowers[i] in _words("attributing") for i in tail)
        plain = all(self._is_about_exchange(i) and lowers[i] not in _words("conditions") for i in tail)
        return Match("tag", tail.start, end) if attributes and plain else None

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


def _is_verb(lowers: Sequence[str], place: int) -> bool:
    """Whether a word makes a statement of its line."""
    return lowers[place] in _words("stating") or _is_past(lowers[place], place) or _has_object(lowers, place)


def _is_statement(lowers: Sequence[str]) -> bool:
    return any(_is_verb(lowers, place) for place in range(len(lowers)))


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
    """Whether a bare yes or no is a no; two of them, as in 'not wrong' and 'no doubt', make a yes, but not behind 'No,'."""
    opening = next((i for i in range(first, last) if draft.words[i].word), first)
    if opening + 1 < last and draft.words[opening + 1].text in DELIMITERS:
        return draft.lowers[opening] in _words("saying_no")
    said = [lower for lower in draft.lowers[first:last] if lower in _words("saying_no") or lower in _words("doubting")]
    return len(said) % 2 == 1


def stems_of(text: Text) -> frozenset[str]:
    """The stems of the content words of a text."""
    return frozenset(w.stem for w in text.words if w.content)


def asked_by(query: Text, kind: str) -> Asked:
    """What a question is about."""
    figures = frozenset(w.text for w in query.words if w.number)
    return Asked(kind, stems_of(query), figures, wants_yes_or_no(query))


def known_from(
    stems: Collection[str], headings: Sequence[Text], talks: Callable[[str, bool], bool] | None = None
) -> Known:
    """What the sources are about."""
    return Known(stems, frozenset().union(*map(stems_of, headings)) if headings else frozenset(), talks)
