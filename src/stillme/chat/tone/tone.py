"""How an answer speaks: without shouting, insults, decoration and filler, and closed as its style closes.

Whatever the style, what an answer says stays as it is: claims, numbers, names, quotations, code, addresses and citations. That is not left
to the rules: the text is read again at the end, and one that would say something else is given back as it came.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, takewhile, zip_longest
from typing import Final, Literal

from stillme.chat.tone.capitals import calmed
from stillme.chat.tone.insults import Cut, apart, insults
from stillme.errors import InputError, nearest, shown
from stillme.grounding.citations import Marker, find_markers
from stillme.grounding.claims import Claim, find_claims
from stillme.grounding.wrapping import Asked, Known
from stillme.languages import compiled, is_served, languages, load
from stillme.lazy import lazy
from stillme.text.language import identify
from stillme.text.lexicon import Lexicon
from stillme.text.sentences import split
from stillme.text.tokens import Sentence, Text, within

__all__ = ["STYLES", "Edit", "ToneAlignment", "align_tone", "aligned"]

STYLES: Final = ("neutral", "friendly", "scholarly")
AUTO: Final = "auto"
MOST_PASSES: Final = 6
# Fillers, refusals and a finished end are looked for in so many sentences at either end.
WINDOW: Final = 12
LONGEST_PREFIX: Final = 8
LONGEST_WORD: Final = 20
LEAST_WORD: Final = 4
SPEAKING: Final = frozenset({"refusal", "question", "disclaimer"})

INLINE: Final = re.compile(
    r"`[^`\n]++`"  # code
    r"|!?\[[^\[\]\n]{0,400}+\]\([^()\s]{1,2000}+\)"  # a link or a picture
    r"|(?<![\w'])'[^'\n]{1,400}+'(?!\w)"  # a quotation in single marks
    r"|\$\$?(?=\S)[^$\n]{1,400}+(?<=\S)\$\$?(?!\d)"  # a formula, but not what stands between two amounts of money
    r"|<[^<>\n]{1,400}+>"  # markup
)
BLOCK_QUOTE: Final = re.compile(r"^[ \t]{0,3}>[^\n]*+", re.MULTILINE)
MARKS: Final = re.compile(r"[!?]++")
HEADING: Final = re.compile(r"#{1,6}[ \t]*+")
SPACE: Final = re.compile(r"\s*+")
BLANKS: Final = re.compile(r"[ \t]*+")
CLOSERS: Final = frozenset(')]"”’»*_')
SENTENCE_ENDS: Final = frozenset('.!?…)]"”*_')
UNSAID: Final = frozenset({"!", "?", ".", "…", ""})
UNCOUNTED: Final = UNSAID | {","}
OPENING: Final = frozenset({"openers", "assenting"})
JOINERS: Final = "\ufe0f\u200d\U0001f3fb-\U0001f3ff"

FILLERS: Final = frozenset({"opener", "closer"})
Kind = Literal["opener", "closer", "emoji", "punctuation", "closing", "capitals", "insult"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: what stood there, and what stands there now."""

    kind: Kind
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ToneAlignment:
    """The aligned text and what was changed, in the order in which it was."""

    text: str
    edits: tuple[Edit, ...] = ()


def align_tone(answer: str, style: str = "neutral", language: str = "auto") -> str:
    """The answer in the tone of a style (neutral, friendly, scholarly); aligning it again changes nothing more."""
    return aligned(answer, style, language).text


def aligned(answer: str, style: str = "neutral", language: str = "auto") -> ToneAlignment:
    """The same, with what was changed. Without an edit the answer is what was given, character by character."""
    chosen = _style(style)
    if language != AUTO and not is_served(language):
        choices = ", ".join((AUTO, *(each.code for each in languages())))
        raise InputError(f"language must be one of {choices}, got {shown(language)}")
    text, edits = answer, list[Edit]()
    for _ in range(MOST_PASSES if answer.strip() else 0):
        draft = _Draft(text)
        changes = _changes(draft, chosen) or _closing(draft, chosen, language)
        if not changes:
            same = text == answer or _Draft(answer).substance == draft.substance
            return ToneAlignment(text, tuple(edits)) if same else ToneAlignment(answer)
        edits += [Edit(c.kind, text[c.start : c.end], c.after) for c in changes]
        text = _applied(text, changes)
    return ToneAlignment(answer)


# styles and rules


@dataclass(frozen=True, slots=True)
class _Style:
    name: str
    exclaims: bool
    decorates: bool
    keeps_closers: bool
    closing: dict[str, str]
    closing_needs_citation: bool = False


def _style(name: str) -> _Style:
    if name not in STYLES:
        guess = nearest(name, STYLES)
        hint = f" (did you mean {guess}?)" if guess else ""
        raise InputError(f"the tone style must be one of {', '.join(STYLES)}, got {shown(name)}{hint}")
    rules = {key: value for key, value in load("tone")["styles"][name].items() if key != "closing"}
    own = {each.code: each.rules("tone").get("styles", {}).get(name, {}) for each in languages()}
    return _Style(name, closing={code: found["closing"] for code, found in own.items() if found}, **rules)


@compiled
def _fillers() -> Lexicon:
    rules = load("tone")
    return Lexicon({name: rules[name] for name in ("openers", "assenting", "closers")})


@compiled
def _emoji() -> re.Pattern[str]:
    """A row of decorating emoji with what joins and colours them."""
    return re.compile(f"(?:[{load('tone')['decorations']}][{JOINERS}]*+)++")


@compiled
def _decoration() -> re.Pattern[str]:
    return re.compile(f"[{load('tone')['decorations']}{JOINERS}]")


# the text as it is read


class _Draft:
    """An answer, read: its sentences, what they do at either end, and what may not be touched."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.text = Text(raw)
        self.markers: list[Marker] = find_markers(self.text, (), 0)
        trimmed = map(self._trimmed, split(self.text, [m.span for m in self.markers]))
        self.sentences = [s for s in trimmed if s is not None]

    def _trimmed(self, s: Sentence) -> Sentence | None:
        """A sentence without the decoration before it; None if nothing is left."""
        first = next((i for i in range(s.first, s.last) if _says(self.text.tokens[i])), None)
        return None if first is None else Sentence(first, s.last, self.text.starts[first], s.end)

    @lazy
    def untouchable(self) -> list[tuple[int, int]]:
        """Character ranges of code, addresses, links, quotations, formulas, markup and citations, in order and apart."""
        spans = [*self.text.code, *self.text.urls, *(m.span for m in self.markers), *self._quotations]
        spans += [m.span() for pattern in (INLINE, BLOCK_QUOTE) for m in pattern.finditer(self.raw)]
        return _merged(spans)

    @lazy
    def _quotations(self) -> list[tuple[int, int]]:
        quoted, starts, ends = self.text.quoted, self.text.starts, self.text.ends
        return _merged([(starts[i], ends[i]) for i, inside in enumerate(quoted) if inside], joined=self.raw)

    @lazy
    def _hidden(self) -> frozenset[int]:
        at = self.text.token_at
        spans = [*(m.span for m in self.markers), *self.text.urls]
        return frozenset(i for a, b in spans for i in range(at(a), at(b - 1) + 1))

    @lazy
    def insults(self) -> list[Cut]:
        """The insults to the reader."""
        return insults(self.text, self.sentences, self.untouchable)

    @lazy
    def head(self) -> list[Claim]:
        """What the first sentences do."""
        return self._claims(self.sentences[:WINDOW])

    @lazy
    def tail(self) -> list[Claim]:
        """What the last sentences do."""
        return self._claims(self.sentences[-WINDOW:])

    def _claims(self, sentences: Sequence[Sentence]) -> list[Claim]:
        found = find_claims(self.text, sentences, self.markers, self._hidden, Asked(), Known())
        return [replace(c, kind="courtesy") if c.factual and self._is_courtesy(c) else c for c in found]

    def _is_courtesy(self, claim: Claim) -> bool:
        """Whether a filler that looks like a statement behind a citation or an emoji is none where it stands alone."""
        if not self.fillers(claim):
            return False
        alone = Text(self.raw[claim.start : claim.end])
        return not any(c.factual for c in find_claims(alone, split(alone), (), frozenset(), Asked(), Known()))

    def fillers(self, s: Sentence | Claim) -> set[str]:
        """The names of the lists that have a whole sentence as a phrase."""
        ending = s.last
        while ending > s.first and not _says(self.text.tokens[ending - 1]):
            ending -= 1
        opening = takewhile(lambda match: match.first == s.first, _fillers().find(self.text, s.first, s.last))
        return {match.name for match in opening if match.last == ending}

    @lazy
    def substance(self) -> tuple[object, ...]:
        """What must stay: every sentence but the fillers at either end, in words, figures and signs, and whatever is verbatim."""
        insulting = {i for cut in self.insults for i in range(cut.first, cut.last)}
        places = [i for s in self._without_fillers() for i in range(s.first, s.last) if i not in insulting]
        # What is shouted is said in small letters.
        said = [self.text.tokens[i].lower() for i in places if _counts(self.text.tokens[i])]
        verbatim = (self.text.code, self.text.urls, self._quotations, [m.span for m in self.markers])
        return tuple(said), *(tuple(self.raw[a:b] for a, b in spans) for spans in verbatim)

    def _without_fillers(self) -> list[Sentence]:
        """The sentences between the fillers at either end."""
        sentences = list(dropwhile(lambda s: not OPENING.isdisjoint(self.fillers(s)), self.sentences))
        while sentences and "closers" in self.fillers(sentences[-1]):
            sentences.pop()
        return sentences


def _counts(token: str) -> bool:
    """Whether a token is a part of what is said; a comma that set off an insult goes with it."""
    return token not in UNCOUNTED and not _decorates(token)


def _says(token: str) -> bool:
    """Whether a token is more than a stop, a closing mark or a decoration."""
    return token not in UNSAID and token not in CLOSERS and not _decorates(token)


def _decorates(token: str) -> bool:
    return not token.isascii() and len(token) <= 2 and _decoration().match(token) is not None


def _merged(spans: list[tuple[int, int]], joined: str | None = None) -> list[tuple[int, int]]:
    """Ranges in order, those that touch (in `joined`: with only white space between) made one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        gap = "." if joined is None or not found else joined[found[-1][1] : start]
        if found and (start <= found[-1][1] or not gap.strip()):
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


# changes


@dataclass(frozen=True, slots=True)
class _Change:
    kind: Kind
    start: int
    end: int
    after: str = ""


def _applied(text: str, changes: Sequence[_Change]) -> str:
    pieces: list[str] = []
    at = 0
    for change in changes:
        pieces += (text[at : change.start], change.after)
        at = change.end
    return "".join([*pieces, text[at:]])


def _changes(draft: _Draft, style: _Style) -> list[_Change]:
    """What there is to change, in order and apart; fillers go whole, whatever stands in them."""
    closers = () if style.keeps_closers else _closing_fillers(draft, style)
    changes = [*_opening_fillers(draft), *closers, *_insults(draft)]
    if sum(c.kind in FILLERS or _is_sentence(draft, c) for c in changes) >= len(draft.sentences):
        changes = []  # an answer of nothing else is left as it is
    capitals = [_Change("capitals", *each) for each in calmed(draft.text, draft.sentences, draft.untouchable)]
    return apart([*changes, *capitals, *_decorations(draft, style), *_shouting(draft, style)])


def _insults(draft: _Draft) -> list[_Change]:
    """The insults go; the word behind one that opened a sentence opens it now."""
    raw = draft.raw
    return [
        _Change("insult", cut.start, cut.end + 1, raw[cut.end].upper())
        if cut.capital and not within(draft.untouchable, cut.end)
        else _Change("insult", cut.start, cut.end)
        for cut in draft.insults
    ]


def _is_sentence(draft: _Draft, change: _Change) -> bool:
    """Whether a change takes out a whole sentence."""
    return any(change.start <= s.start and s.end <= change.end for s in draft.sentences)


def _opening_fillers(draft: _Draft) -> Iterator[_Change]:
    before = 0
    for claim, follows in zip_longest(draft.head, draft.head[1:]):
        names = draft.fillers(claim) if _is_bare(draft, claim, before) else set()
        leads_in = "assenting" in names and follows is not None and follows.factual
        if "openers" not in names and not leads_in:
            return
        end = _end_of_space(draft.raw, claim.end)
        yield _Change("opener", before, end)
        before = end


def _closing_fillers(draft: _Draft, style: _Style) -> Iterator[_Change]:
    own = style.closing.values()
    backwards = draft.tail[::-1]
    for claim, previous in zip_longest(backwards, backwards[1:]):
        before = previous.end if previous else claim.start
        closes = _is_bare(draft, claim, before) and "closers" in draft.fillers(claim)
        if not closes or draft.raw[claim.start : claim.end] in own:
            return
        yield _Change("closer", before, claim.end)


def _is_bare(draft: _Draft, claim: Claim, before: int) -> bool:
    """A sentence that states nothing, cites nothing and stands in running text, with white space alone between it and `before`."""
    if claim.factual or claim.markers or draft.text.has_figure(claim.first, claim.last):
        return False
    return not draft.raw[before : claim.start].strip() and not within(draft.untouchable, claim.start)


def _end_of_space(raw: str, at: int) -> int:
    """Where white space ends, but for the indentation of a line, which may make it code."""
    found = SPACE.match(raw, at)
    end = found.end() if found else at
    line = raw.rfind("\n", at, end)
    return end if line < 0 else line + 1


def _decorations(draft: _Draft, style: _Style) -> Iterator[_Change]:
    """Emoji behind a finished sentence, or before the first one or a heading; elsewhere they may be what is spoken of."""
    for match in _emoji().finditer(draft.raw):
        start, end = match.span()
        before = None if within(draft.untouchable, start) else _decorated_from(draft, start, end)
        if before is None:
            continue
        if style.decorates:
            kept = start + len(_first_emoji(match.group()))
            if kept < end:
                yield _Change("emoji", kept, end)
        elif before == start and _opens(draft, start):
            found = BLANKS.match(draft.raw, end)
            yield _Change("emoji", start, found.end() if found else end)
        else:
            yield _Change("emoji", before, end)


def _decorated_from(draft: _Draft, start: int, end: int) -> int | None:
    """Where a row of emoji that only decorates begins, with the space before it; None if it is a part of what is said."""
    return start if _opens(draft, start) else _follows_an_end(draft, start, end)


def _first_emoji(row: str) -> str:
    joined = _decoration()
    end = 1
    while end < len(row) and joined.match(row[end]) and not _emoji().match(row[end]):
        end += 1
    return row[:end]


def _opens(draft: _Draft, start: int) -> bool:
    """Whether only a heading mark stands before, on a line of its own kind: a list of emoji bullets stays one."""
    line = draft.text.line(start)[0]
    if start - line > LONGEST_PREFIX:
        return False
    prefix = draft.raw[line:start]
    if HEADING.fullmatch(prefix):
        return True
    end = draft.text.line(start)[1]
    below = draft.raw[end + 1 : end + 1 + LONGEST_PREFIX].lstrip()
    return line == 0 and not prefix.strip() and not _emoji().match(below)


def _follows_an_end(draft: _Draft, start: int, end: int) -> int | None:
    """Where the sentence before the emoji ends, if it is finished and white space, or nothing, comes behind."""
    raw, at = draft.raw, start
    while at > 0 and raw[at - 1] in " \t":
        at -= 1
    finished = at > 0 and raw[at - 1] in SENTENCE_ENDS
    return at if finished and (end == len(raw) or raw[end].isspace()) else None


def _shouting(draft: _Draft, style: _Style) -> Iterator[_Change]:
    """Rows of exclamation and question marks; single exclamation marks too where the style has none."""
    for match in MARKS.finditer(draft.raw):
        start, end = match.span()
        if end - start == 1 and (style.exclaims or match.group() == "?"):
            continue
        if not _ends_a_sentence(draft, start, end):
            continue
        after = _calm(draft, style, match.group(), start, end)
        if after != match.group():
            yield _Change("punctuation", start, end, after)


def _ends_a_sentence(draft: _Draft, start: int, end: int) -> bool:
    before, behind = draft.raw[start - 1 : start], draft.raw[end : end + 1]
    if not before.strip() or before in ".…" or _is_untouchable(draft, start):
        return False
    if not behind.strip() or behind in CLOSERS:
        return True
    return behind == "[" and any(end == m.start for m in _at(draft.markers, end))


def _is_untouchable(draft: _Draft, start: int) -> bool:
    inside_address = within(draft.text.urls, start - 1)
    return inside_address or within(draft.untouchable, start)


def _at(markers: Sequence[Marker], start: int) -> Sequence[Marker]:
    at = bisect_right(markers, start, key=lambda m: m.start)
    return markers[max(0, at - 1) : at]


def _calm(draft: _Draft, style: _Style, row: str, start: int, end: int) -> str:
    """What a row of marks becomes; a full stop only where it can neither be part of a name nor end an abbreviation."""
    if "?" in row:
        return "?"
    if style.exclaims or not _may_stop(draft.raw, start, end, shouted=len(row) > 1):
        return "!"
    return "."


def _may_stop(raw: str, start: int, end: int, *, shouted: bool) -> bool:
    last_of_line = raw[end : end + 1] in ("", "\n")
    before = raw[start - 1]
    if not before.isalpha():
        return shouted and (before in CLOSERS or last_of_line)
    letters = takewhile(str.isalpha, reversed(raw[max(0, start - LONGEST_WORD) : start]))
    word = "".join(letters)[::-1]
    return word.islower() and (last_of_line or len(word) >= LEAST_WORD or not word.isascii())


def _closing(draft: _Draft, style: _Style, language: str) -> list[_Change]:
    """The closing words of the style behind a finished answer that states facts; a refusal, a question and a greeting have none."""
    if not style.closing or (style.closing_needs_citation and not draft.markers) or not _answers(draft):
        return []
    told = identify(draft.text)
    spoken = language if told == "unknown" else told
    if spoken not in style.closing or language not in (AUTO, spoken):
        return []
    end = len(draft.raw.rstrip())
    return [_Change("closing", end, len(draft.raw), f"\n\n{style.closing[spoken]}")]


def _answers(draft: _Draft) -> bool:
    """Whether a text is finished, ends with a fact and does not speak to the reader besides."""
    kinds = {claim.kind for claim in (*draft.head, *draft.tail)}
    states = bool(draft.tail) and draft.tail[-1].factual and SPEAKING.isdisjoint(kinds)
    return states and _is_finished(draft)


def _is_finished(draft: _Draft) -> bool:
    """Whether the text ends with a full stop, behind which only citations and closing marks may stand, and not in open code."""
    raw = draft.raw.rstrip()
    ends = {m.end: m.start for m in draft.markers[-WINDOW:]}
    at = len(raw)
    while at > 0 and (at in ends or raw[at - 1] in CLOSERS or raw[at - 1] in " \t"):
        at = ends.get(at, at - 1)
    return at > 0 and raw[at - 1] in ".!" and not within(draft.text.code, len(raw) - 1)
