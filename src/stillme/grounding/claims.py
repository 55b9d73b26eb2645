"""The claims of a draft: its sentences, what each of them says once its wrapping is taken away, and what it cites.

Everything is a claim unless nothing is left. A sentence that greets, refuses, asks or announces and says something else besides
is judged by what else it says.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from stillme.grounding.citations import Marker
from stillme.grounding.wrapping import (
    Asked,
    Known,
    Wrapping,
    claim_lexicon,
    exchange_words,
    nature_words,
    polite_words,
    turns,
)
from stillme.languages import word_set
from stillme.text.tokens import Sentence, Text, within

__all__ = ["FACT", "SELF", "Claim", "asks_for_opinion", "find_claims"]

FACT: Final = "fact"
SELF: Final = "self"
GREETING: Final = frozenset({"opening", "courtesy"})
LEAVING: Final = frozenset({"courtesy", "fragment"})
MOST_IN_A_GREETING: Final = 2
ASSENT: Final = frozenset({"assent", "agreeing"})
HEADING_MARKS: Final = ("#", "\\section", "\\subsection", "\\chapter", "\\paragraph", "\\title")
# What may stand before the words of a line that is an item of a list.
ITEM: Final = re.compile(r"[ \t]*+(?:(?:\d{1,3}+[.)]|[-*•+])[ \t]++)?+")
UNDERLINE: Final = re.compile(r"[ \t]*+(?:={3,}+|-{3,}+|~{3,}+)[ \t]*+(?:\n|\Z)")
EMPHASIS: Final = frozenset({"*", "**", "***", "_", "__"})
LONGEST_HEADING: Final = 200
MOST_IN_A_LABEL: Final = 8
MOST_IN_A_FRAGMENT: Final = 1
LEAST_BESIDE: Final = 3
# A question that says so much of what the sources speak of tells it.
TELLS_MUCH: Final = 3
SPEAKS_OF_IT: Final = 2
# So many lines before a sentence may still say what it is: a letter takes leave before its signature.
STILL_HELD: Final = 4
MOST_WITH_ASSENT: Final = 4
MOST_ABOUT_ASSENT: Final = 10
# Between a yes and a no that are both offered.
CHOICE: Final = frozenset("|/")
LEAST_ANSWERS: Final = 2
MOST_IN_AN_OPTION: Final = 4
MOST_IN_A_SIGNATURE: Final = 6
# What is asked here needs no source, and what is answered is a view or a pleasantry, as long as it states nothing that one could know.
ASSISTANT: Final = "assistant"
TALK: Final = frozenset({"opinion", "philosophy", "chitchat", "greeting", "thanks"})
WRITTEN_FOR_USER: Final = frozenset({"creative", "rewrite", "code"})


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the draft. `kind` is "fact", or what it does instead: greet, refuse, ask, give an opinion, …

    `first` to `last` are the tokens of what it says, without what leads in to it; `start` to `end` the characters of the whole sentence.
    """

    first: int
    last: int
    start: int
    end: int
    kind: str
    index: int = 0
    """Which sentence of the draft it is."""
    cited: tuple[int, ...] = ()
    """Indices of the passages it cites."""
    markers: tuple[Marker, ...] = ()
    assent: bool = False
    """It only says yes or no: what it claims is what the question asks."""

    @property
    def factual(self) -> bool:
        """Whether it states something that a source could support or contradict."""
        return self.kind == FACT

    @property
    def span(self) -> tuple[int, int]:
        """Its character range in the draft."""
        return self.start, self.end


def asks_for_opinion(query: Text) -> bool:
    """Whether the user asks what the assistant thinks or likes."""
    return "asks_opinion" in claim_lexicon().names(query)


def find_claims(
    draft: Text,
    sentences: Sequence[Sentence],
    markers: Sequence[Marker],
    silent: Collection[int],
    asked: Asked,
    known: Known,
    settled: Sequence[Claim] = (),
) -> list[Claim]:
    """One claim a sentence, in order, each with its kind and what it cites; `silent` tokens say nothing themselves.

    `settled` are the claims of the first sentences, where a shorter draft that begins with them was read before.
    """
    reader = _Reader(draft, silent, asked, known)
    reader.go_on_from(settled, sentences[: len(settled)])
    claims = list(settled)
    at = 0
    for index, sentence in enumerate(sentences[len(settled) :], len(settled)):
        first = at
        while at < len(markers) and markers[at].start < sentence.end:
            at += 1
        own = tuple(m for m in markers[first:at] if m.start >= sentence.start)
        claims.append(reader.claim(sentence, own, index))
    return _without_lead_words(_sharing_markers(draft, claims))


def _sharing_markers(draft: Text, claims: list[Claim]) -> list[Claim]:
    """'It runs on Linux; Windows is not supported [1].': what stands before a semicolon is cited with what stands behind it."""
    shared: list[Claim] = []
    for claim in reversed(claims):
        behind = shared[-1] if shared else None
        if behind is not None and not claim.markers and behind.markers and draft.raw[claim.end - 1] == ";":
            claim = replace(claim, cited=behind.cited, markers=behind.markers)  # noqa: PLW2901  (the claim, completed)
        shared.append(claim)
    return shared[::-1]


def _without_lead_words(claims: list[Claim]) -> list[Claim]:
    """'No. Windows is not supported [1].': a bare yes or no before a fact only leads in to it."""
    last_fact = max((k for k, claim in enumerate(claims) if claim.kind == FACT and not claim.assent), default=-1)
    return [
        replace(c, kind="lead-in", assent=False) if c.assent and not c.markers and k < last_fact else c
        for k, c in enumerate(claims)
    ]


class _Reader:
    """Reads the sentences of one draft in order."""

    def __init__(self, draft: Text, silent: Collection[int], asked: Asked, known: Known) -> None:
        self.draft = draft
        self.silent = silent
        self.asked = asked
        self.known = known
        self.in_sources = False
        """Whether the last heading announced a list of sources."""
        self.takes_leave = False
        """Whether the last line took leave, as a letter does before its signature."""

    def go_on_from(self, settled: Sequence[Claim], sentences: Sequence[Sentence]) -> None:
        """Begin behind claims that were read before: what the last heading announced, and what the last lines did, still holds."""
        last = next((s for s in reversed(sentences) if _is_heading(self.draft, s) or self._opens_list(s)), None)
        self.in_sources = last is not None and self._names_sources(last)
        for claim, sentence in list(zip(settled, sentences, strict=True))[-STILL_HELD:]:
            self.claim(sentence, claim.markers, claim.index)

    def _opens_list(self, s: Sentence) -> bool:
        return _at_line_start(self.draft, s.start) and self.draft.words[s.last - 1].text == ":"

    def _before_last_line(self, s: Sentence) -> bool:
        """Whether one more line follows, and no other."""
        behind = self.draft.raw[s.end : s.end + LONGEST_HEADING + 1]
        below = behind.strip()
        return len(below) <= LONGEST_HEADING and "\n" in behind[:3] and "\n" not in below and bool(below)

    def _names_sources(self, s: Sentence) -> bool:
        return "sources_heading" in claim_lexicon().names(self.draft, s.first, s.last)

    def claim(self, s: Sentence, own: tuple[Marker, ...], index: int) -> Claim:
        """What a sentence says, and what it cites."""
        wrapping = Wrapping(self.draft, s.first, s.last, self.silent, self.asked, self.known)
        assents = self._assents(wrapping) and not self._tells_its_nature(wrapping)
        kind = FACT if assents else self._kind(wrapping, s, own)
        first, last = wrapping.first, wrapping.last
        if kind == FACT and wrapping.content and "refusal" in wrapping.names:
            first = wrapping.behind_refusal or first
        if kind != FACT or assents or first >= last:
            first, last = s.first, s.last
        cited = tuple(dict.fromkeys(i for m in own for i in m.passages))
        return Claim(first, last, s.start, s.end, kind, index, cited, own, assents)

    def _kind(self, w: Wrapping, s: Sentence, own: Sequence[Marker]) -> str:
        """What a sentence is by its place, else by what it says."""
        heading = _is_heading(self.draft, s)
        if heading or self._opens_list(s):
            self.in_sources = self._names_sources(s)
        if (not w.spoken and not w.peeled) or w.only_numbers or self._offers_choice(w) or self._numbers_choice(w):
            return "announcement" if _has_address(self.draft, s) else "layout"
        kind = self._by_place(w, s, own, heading) or w.kind or self._speech(w, s, bool(own))
        closes = s.first > 0 and (self.draft.words[s.last - 1].text == "," or self._before_last_line(s))
        self.takes_leave = kind != FACT and ("valediction" in w.outer_names or (kind in LEAVING and closes))
        return kind

    def _by_place(self, w: Wrapping, s: Sentence, own: Sequence[Marker], heading: bool) -> str | None:
        """What the place of a sentence makes of it: code, the name of a source, the name of what follows, a text that was asked for."""
        if within(self.draft.code, s.start):
            return FACT if self._speaks_of_the_matter(w) or (w.states() and self._has_known(w)) else "code"
        opens_with_marker = bool(own) and own[0].start == s.start and s.end > own[0].end
        listed = self.in_sources or (opens_with_marker and _at_line_start(self.draft, s.start))
        if listed and self._names_a_source(w):
            return "reference"
        if heading and self._is_label(w, s) and not self._is_beside_the_matter(w):
            return "heading"
        if self._is_salutation(w, s):
            return "courtesy"
        if _has_address(self.draft, s) and self._is_label(w, s):
            return "announcement"
        if self.takes_leave and self._is_signature(w, s):
            return "fragment"
        if self.asked.kind in WRITTEN_FOR_USER and not own and not self._speaks_of_the_matter(w):
            return self.asked.kind
        return None

    def _speech(self, w: Wrapping, s: Sentence, cites: bool) -> str:
        """What a sentence of prose does that has something left."""
        if _asks(self.draft, s, w) and self._is_question(w):
            return "question"
        if self._is_pair(s):
            return FACT
        other = self._is_opinion(w, cites) or self._is_self(w, cites) or self._is_fragment(w, cites)
        if other:
            return other
        if self._announces(w, s, cites):
            return "announcement"
        if cites or self._is_tag(s) or not self._only_talks(w):
            return FACT
        return "refusal" if "refusal" in w.outer_names else "courtesy"

    def _is_tag(self, s: Sentence) -> bool:
        """Whether a sentence is the tag of an element whose name says something: it is no talk."""
        raw = self.draft.raw
        tags = raw[s.start] + raw[s.end - 1] in ("<>", "[]") and raw[s.start + 1 : s.end - 1].strip("/")
        return bool(tags) and not any(map(str.isspace, raw[s.start : s.end]))

    def _is_pair(self, s: Sentence) -> bool:
        """Whether a sentence is a tag that the draft opens and closes: its name says something of what stands between."""
        name = self.draft.raw[s.start + 1 : s.end - 1].strip("/")
        return self._is_tag(s) and any(f"{mark}/{name}" in self.draft.raw for mark in "<[")

    # the kinds

    def _assents(self, w: Wrapping) -> bool:
        """A bare yes or no, and to a question that wants one also 'Sure!' or a thumb."""
        spoken = [i for i in range(*w.outer) if i not in self.silent and self.draft.words[i].text not in ".,!?…:;"]
        most = MOST_WITH_ASSENT if not self.asked.yes_or_no else MOST_ABOUT_ASSENT
        if not 0 < len(spoken) <= most:
            return False
        found = [m for m in w.outer_matches if m.name in ASSENT]
        if not found or (found[0].name == "agreeing" and not self.asked.yes_or_no):
            return False
        ends = found[0].last < w.outer[1] and self.draft.words[found[0].last].text in ".,!"
        if ("courtesy" in w.peeled or "courtesy" in w.names) and not (self.asked.yes_or_no and ends):
            return False
        if len(found) == 2 and self.draft.words[found[0].last].text in CHOICE:
            return False
        taken = {i for m in found for i in range(m.first, m.last)}
        bare = all(i in taken or w.says_nothing(i) for i in spoken)
        return bare and (found[0].first == spoken[0] or self.asked.yes_or_no)

    def _offers_choice(self, w: Wrapping) -> bool:
        """A row of buttons: yes and no between strokes, and beside them at most a few words that only talk."""
        strokes = [i for i in range(*w.outer) if self.draft.words[i].text in CHOICE]
        answers = [m for m in w.outer_matches if m.name in ASSENT]
        if not strokes or len(answers) < LEAST_ANSWERS or not _are_parted([m.first for m in answers], strokes):
            return False
        edges = [w.outer[0] - 1, *strokes, w.outer[1]]
        taken = {i for m in answers for i in range(m.first, m.last)}
        others = [(a + 1, b) for a, b in pairwise(edges) if taken.isdisjoint(range(a + 1, b))]
        beside = [i for a, b in pairwise(edges) if (a + 1, b) not in others for i in range(a + 1, b) if i not in taken]
        bare = not any(self.draft.words[i].word for i in beside)
        return bare and all(b - a <= MOST_IN_AN_OPTION and w.only_talks(a, b) for a, b in others)

    def _numbers_choice(self, w: Wrapping) -> bool:
        """'Reply 1 for yes, 2 for no': a digit for each of yes and no, and beside them one word that is not the matter's."""
        words, answers = self.draft.words, [m for m in w.outer_matches if m.name in ASSENT]
        taken = {i for m in answers for i in range(m.first, m.last)}
        digits = [i for i in range(*w.outer) if words[i].number]
        if not len(digits) == len(answers) == LEAST_ANSWERS or any(len(words[i].text) > 1 for i in digits):
            return False
        rest = [i for i in range(*w.outer) if words[i].content and i not in taken and i not in digits]
        said = [i for i in rest if not w.says_nothing(i)]
        matter = self.known.stems, self.asked.stems
        return len(said) <= 1 and not any(words[i].stem in stems for i in said for stems in matter)

    def _names_a_source(self, w: Wrapping) -> bool:
        """Whether a line only gives the title, name or address of a source: at least half of it is what the sources are called."""
        words = self.draft.words
        left = [
            i for i in w.content if words[i].stem not in self.known.titles and words[i].folded not in self.known.titles
        ]
        figures = [i for i in left if words[i].number and not w.is_place(i)]
        if not left or figures or w.states() or w.denies():
            return not left
        return len(left) <= MOST_IN_A_LABEL and 2 * len([i for i in left if not w.is_place(i)]) <= len(w.content)

    def _is_label(self, w: Wrapping, s: Sentence) -> bool:
        """A line that names what follows it: no figure, nothing denied, no verb, no full stop."""
        ends = next((word.text for word in self.draft.words[s.first : s.last][::-1] if word.text not in EMPHASIS), "")
        return (
            len(w.content) <= MOST_IN_A_LABEL
            and ends not in ".!…"
            and not w.has_figure
            and not w.denies()
            and not w.states()
        )

    def _is_beside_the_matter(self, w: Wrapping) -> bool:
        """Whether a line of several words has none of question, sources or exchange: it names nothing that follows it."""
        words, exchange = self.draft.words, exchange_words()
        named = [
            i
            for i in w.content
            if words[i].lower in exchange or words[i].stem in self.known.stems or words[i].stem in self.asked.stems
        ]
        return len(w.content) >= LEAST_BESIDE * (1 + self.draft.accented) and not named

    def _is_signature(self, w: Wrapping, s: Sentence) -> bool:
        """A line under 'Kind regards,' that names somebody: nothing stated, denied or counted, and nothing that the sources know,
        unless it is a team or an office."""
        return (
            (self._is_label(w, s) or self._ends_with_initial(s))
            and len(w.spoken) <= MOST_IN_A_SIGNATURE
            and _at_line_start(self.draft, s.start)
            and (not self._has_known(w) or w.is_signer())
        )

    def _ends_with_initial(self, s: Sentence) -> bool:
        """Whether a line of capitals ends with a letter for a name: 'Anna Maria B.'"""
        said = [word for word in self.draft.words[s.first : s.last] if word.text != "."]
        return len(said[-1].text) == 1 and all(word.capital for word in said)

    def _is_salutation(self, w: Wrapping, s: Sentence) -> bool:
        """A line that ends with a comma, as a letter opens: a greeting, and behind it at most a name that the sources do not know."""
        words = self.draft.words
        if words[s.last - 1].text != "," or s.end != self.draft.line(s.end)[1]:
            return False
        greets = not GREETING.isdisjoint((*w.peeled, *w.names, *w.outer_names))
        names_only = all(words[i].capital and words[i].stem not in self.known.stems for i in w.content)
        brief = names_only or w.content[:1] == [s.first]
        return greets and brief and len(w.content) <= MOST_IN_A_GREETING and self._is_label(w, s)

    def _speaks_of_the_matter(self, w: Wrapping) -> bool:
        """Whether a line of a text that was asked for, or of code, says something that the sources could know."""
        return len(self._has_known(w)) + w.has_figure >= SPEAKS_OF_IT and bool(self.known.stems)

    def _has_known(self, w: Wrapping) -> set[str]:
        """The words left that the sources have, but for figures."""
        words = self.draft.words
        return {words[i].stem for i in w.content if not words[i].number and words[i].stem in self.known.stems}

    def _is_question(self, w: Wrapping) -> bool:
        """A question that asks the reader, or only what the reader asked; whatever else it takes for granted is judged."""
        if "telling" in w.peeled or "tag" in w.peeled or "interrogative" not in w.names:
            return False
        words = self.draft.words
        left = [i for i in w.content if words[i].stem not in self.asked.stems]
        if len({words[i].stem for i in left if words[i].stem in self.known.stems}) >= TELLS_MUCH and w.states():
            return False
        if "asking" in w.names:
            foreign = [i for i in left if words[i].number or (words[i].capital and i > w.first)]
            return all(words[i].stem in self.known.stems for i in foreign)
        return not left

    def _is_opinion(self, w: Wrapping, cites: bool) -> str | None:
        """A judgement of taste where the user asked for one, or about what the sources do not speak of."""
        given = "opinion" in w.names or "hedge" in w.peeled or self.asked.kind == "opinion"
        asked = self.asked.kind == "opinion" or not self._has_known(w)
        judges = "judging" in w.names
        if given and asked and judges and not w.has_figure and not cites:
            return "opinion"
        return "talk" if self.asked.kind in TALK and not cites and self._is_talk(w) else None

    def _is_talk(self, w: Wrapping) -> bool:
        """Whether a sentence answers what needs no source and names nothing that one could know: no figure, no name, not the matter."""
        words, lone = self.draft.words, self.draft.words[w.first].capital
        named = any(
            words[i].capital and words[i].lower not in word_set("grammar", "first_person")
            for i in w.content
            if i > w.first or not lone
        )
        return not w.has_figure and not named and not self._speaks_of_the_matter(w)

    def _only_talks(self, w: Wrapping) -> bool:
        """Whether the classifier takes what is left for talk; what may be read as a yes or no to the question is none."""
        answers = self.asked.yes_or_no and (w.denies() or not w.outer_names.isdisjoint(ASSENT))
        return not answers and (w.only_talks(*w.outer) or w.only_talks(w.first, w.last))

    def _is_self(self, w: Wrapping, cites: bool) -> str | None:
        """What the assistant says of itself, as long as it does not speak of the matter."""
        if "refusal" in w.names or cites or w.has_figure:
            return None
        if "identity" in w.names and "contrast" not in w.names and len(w.content) <= MOST_IN_A_LABEL:
            return SELF
        words = self.draft.words
        if "identity" in w.outer_names and all(words[i].lower in nature_words() for i in w.content):
            return SELF
        if self.asked.kind == ASSISTANT and self._speaks_of_itself(w):
            return SELF
        if "self" not in w.names:
            return None
        own = [i for i in w.content if words[i].lower not in exchange_words()]
        if any(words[i].stem in self.known.stems or words[i].stem in self.asked.stems for i in own):
            return None
        of_its_kind = all(words[i].lower in nature_words() | polite_words() for i in own)
        return SELF if of_its_kind or self._only_talks(w) else None

    def _tells_its_nature(self, w: Wrapping) -> bool:
        """Whether a yes or no to a question about the assistant says in the same breath what it is: the bare word is judged."""
        return self.asked.kind == ASSISTANT and "identity" in w.outer_names

    def _speaks_of_itself(self, w: Wrapping) -> bool:
        """Whether a sentence in the first person names nothing that one could look up: a question about the assistant asks for no more."""
        spoken = (self.draft.lowers[i] for i in range(*w.outer))
        is_own = not word_set("conduct", "first_person").isdisjoint(spoken) or "self" in w.outer_names
        return is_own and self._is_talk(w) and not self._has_known(w)

    def _is_fragment(self, w: Wrapping, cites: bool) -> str | None:
        """A few words that state nothing and name nothing of what the sources or the question speak of: 'The team', 'Enjoy!'"""
        words = self.draft.words
        matter = any(words[i].stem in self.known.stems or words[i].stem in self.asked.stems for i in w.content)
        named = any(words[i].capital for i in w.content if i > w.first)
        states = w.has_figure or w.denies() or w.states() or turns(self.draft, *w.outer)
        if cites or matter or named or states or len(w.content) > MOST_IN_A_FRAGMENT:
            return None
        return "fragment" if self.known.stems else None

    def _announces(self, w: Wrapping, s: Sentence, cites: bool) -> bool:
        """A line that ends with a colon and points to what follows, or names it."""
        if self.draft.words[s.last - 1].text != ":" or cites or w.has_figure:
            return False
        names_it = not w.states() and len(w.content) <= MOST_IN_A_LABEL
        return "announcing" in w.names or (not w.denies() and (w.opens_list or names_it))


def _are_parted(places: Sequence[int], strokes: Sequence[int]) -> bool:
    """Whether a stroke stands between each two of the places."""
    return all(any(a < stroke < b for stroke in strokes) for a, b in pairwise(places))


def _is_heading(draft: Text, s: Sentence) -> bool:
    """A heading in Markdown or LaTeX, an underlined, a bold or a shouted line of its own, or the header row of a table."""
    start, end = draft.line(s.start)
    start += ITEM.match(draft.raw[start : start + LONGEST_HEADING]).end()  # type: ignore[union-attr]  # it matches everywhere
    opening = draft.raw[start : start + LONGEST_HEADING]
    if opening.startswith(HEADING_MARKS) or UNDERLINE.match(draft.raw[end + 1 : end + LONGEST_HEADING]):
        return True
    if s.end - s.start >= end - start and draft.raw[start:end].isupper() and end - start <= LONGEST_HEADING:
        return True
    if opening.startswith(("**", "__")) and end - start <= LONGEST_HEADING:
        line = draft.raw[start:end].strip()
        return line.rstrip(":").endswith(("**", "__")) and line[2:-2].count(line[:2]) == 0
    below = draft.raw[end + 1 : end + 9].lstrip()
    return opening.startswith("|") and below.startswith(("|-", "| -", "|:", "| :"))


def _at_line_start(draft: Text, start: int) -> bool:
    return start - draft.line(start)[0] <= 8 and not draft.raw[draft.line(start)[0] : start].strip(" \t-*•>")


def _has_address(draft: Text, s: Sentence) -> bool:
    at = bisect_left(draft.urls, (s.start, 0))
    return at < len(draft.urls) and draft.urls[at][0] < s.end


def _asks(draft: Text, s: Sentence, w: Wrapping) -> bool:
    ending = [word.text for word in draft.words[max(s.first, s.last - 6) : s.last]]
    return "?" in ending or "？" in ending or "tag" in w.peeled
