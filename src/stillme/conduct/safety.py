"""The built-in guard: does a text ask for, advise or contain something unsafe, judged on acts, targets and context.

Words alone never decide. A sentence is unsafe where an act meets its object ("build" and "bomb", "poison" and "him")
and the sentence asks for it, advises it, or is harmful as said; prevention, law, history, reports and play turn it
away. The rules stand in the rules of `safety`, and the lists there and in those of `safety_context`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Final, Literal, NamedTuple

from stillme.languages import compiled, has, language_of, languages, load, word_rules
from stillme.text.lexicon import Lexicon
from stillme.text.sentences import Sentence, split
from stillme.text.tokens import Text

__all__ = ["REFERRED", "Danger", "Target", "find_dangers", "lists_touched"]

Target = Literal["query", "draft"]
Range = tuple[int, int]
Roles = dict[str, list[Range]]
Hits = list[tuple[int, int, str]]
Languages = tuple[str, ...]

ADULT_AGE: Final = 18
ASK_REACH: Final = 30
ADVICE_REACH: Final = 8
SUBJECT_REACH: Final = 2
LONGEST_PHRASE: Final = 16
LONGEST_AIM: Final = 3
LOOK_BACK: Final = 60
YEAR_DIGITS: Final = 4
TURNS: Final = ("turns", "tells", "others_act")
REFERRED: Final = ("arms", "drug", "malware", "counterfeit")
# Verbs whose "you can" is as often a warning as an advice.
WARNED_OF: Final = frozenset({"violence", "self-harm"})


class Danger(NamedTuple):
    """A sentence that is unsafe: its category and its character range."""

    category: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Rule:
    """Harm: an act, then its object within so many words."""

    category: str
    act: str
    object: str | None = None
    within: int = 0
    crossing: Literal["", "any", "topic"] = ""
    mood: Literal["asked", "named", "requested", "said"] = "asked"
    noun: bool = False
    also: tuple[str, ...] = ()
    after: str | None = None
    unless: tuple[str, ...] = ()


class _Words(NamedTuple):
    """Sets of single words, of all languages."""

    unaccented: frozenset[str]
    measures: frozenset[str]
    parts: frozenset[str]
    topics: frozenset[str]
    joins: frozenset[str]
    clause_ends: frozenset[str]
    speaker: frozenset[str]
    ages: frozenset[str]
    referring: frozenset[str]
    ages_before: frozenset[str]
    owners: frozenset[str]
    of: frozenset[str]
    ways: frozenset[str]


@compiled
def _words() -> _Words:
    rows: dict[str, str] = load("safety")["words"]
    return _Words(**{name: frozenset(row.split()) for name, row in rows.items()})


@compiled
def _people() -> frozenset[str]:
    rows = (each.rules("safety_context").get("context", {}).get("person", "") for each in languages())
    return frozenset(word for row in rows for word in row.split())


@compiled
def _rules() -> tuple[_Rule, ...]:
    lists = ("also", "unless")
    return tuple(_Rule(**{**rule, **{k: tuple(rule.get(k, ())) for k in lists}}) for rule in load("safety")["rules"])


@compiled
def _triggers(code: str) -> Lexicon:
    return Lexicon(_phrases(language_of(code).rules("safety").get("triggers", {})))


@compiled
def _harmless(code: str) -> Lexicon:
    return Lexicon({"harmless": language_of(code).rules("safety_context").get("harmless", ())})


@compiled
def _context(code: str) -> Lexicon:
    return Lexicon(_phrases(language_of(code).rules("safety_context").get("context", {})))


def _phrases(lists: Mapping[str, Any]) -> dict[str, list[str]]:
    return {name: _grouped(value) if isinstance(value, str) else value for name, value in lists.items()}


def _grouped(row: str) -> list[str]:
    """A row of words as phrases, one for each first word, so that a text is compared with each only once."""
    groups: dict[str, list[str]] = {}
    for word in row.split():
        groups.setdefault(word.partition("_")[0], []).append(word)
    return ["|".join(group) for group in groups.values()]


def find_dangers(text: Text, target: Target) -> list[Danger]:
    """The unsafe sentences of a query or a draft, in order."""
    codes = _languages(text)
    hits = sorted((m.first, m.last, m.name) for code in codes for m in _triggers(code).find(text))
    if not hits:
        return []
    return list(_dangers(_Whole(text, target, codes), hits))


def lists_touched(text: Text) -> frozenset[str]:
    """The names of the lists of acts, objects and contexts that have a phrase in the text."""
    return frozenset(
        f"{prefix}.{name}"
        for code in _languages(text)
        for prefix, lists in (("unsafe", _triggers), ("context", _context), ("harmless", _harmless))
        for name in lists(code).names(text)
    )


def _languages(text: Text) -> Languages:
    """Which lists to read a text with: without accents, Vietnamese words look like English ones ('súng', 'sung')."""
    every = tuple(each.code for each in languages())
    present = set(text.lowers)
    if text.accented or len(present & _words().unaccented) <= len(present & word_rules().stop_folded):
        return every
    return tuple(code for code in every if not has(code, "accents"))


@dataclass
class _Whole:
    """The text that the sentences stand in."""

    text: Text
    target: Target
    languages: Languages

    @cached_property
    def is_on_safety(self) -> bool:
        """A question on how to protect oneself; a draft has no such licence, since every sentence of it is read."""
        contexts = (_context(code) for code in self.languages)
        return self.target == "query" and any(context.first(self.text, "safety") for context in contexts)


def _dangers(whole: _Whole, hits: Hits) -> Iterator[Danger]:
    previous: set[str] = set()
    for sentence in split(whole.text):
        low = bisect_left(hits, (sentence.first, 0, ""))
        high = bisect_left(hits, (sentence.last, 0, ""), low)
        own = hits[low:high]
        if own or previous:
            category = _Scene(whole, sentence, _roles(whole, sentence, own, previous)).category()
            if category:
                yield Danger(category, sentence.start, sentence.end)
        previous = {name for _, _, name in own if name in REFERRED} if whole.target == "query" else set()


def _roles(whole: _Whole, sentence: Sentence, hits: Hits, previous: set[str]) -> Roles:
    """Which words of the sentence play which part."""
    text = whole.text
    roles: Roles = {}
    harmless = _found_in(whole, sentence, _harmless)
    _add_outside(roles, hits, harmless)
    if not roles and not previous:
        return roles
    _add_outside(roles, _found_in(whole, sentence, _context), harmless)
    _add_people(text, sentence, roles)
    _add_referred(text, sentence, roles, previous)
    _drop_never(roles)
    for ranges in roles.values():
        ranges.sort()
    return roles


def _found_in(whole: _Whole, sentence: Sentence, lexicon: Callable[[str], Lexicon]) -> Hits:
    """Where the phrases of all languages stand in a sentence, in order."""
    found = (lexicon(code).find(whole.text, sentence.first, sentence.last) for code in whole.languages)
    return sorted((match.first, match.last, match.name) for match in chain.from_iterable(found))


def _add_outside(roles: Roles, hits: Hits, harmless: Hits) -> None:
    """Give the hits outside of harmless phrases their roles."""
    for start, end, name in _outside(hits, [(first, last) for first, last, _ in harmless]):
        roles.setdefault(name, []).append((start, end))


def _outside(hits: Hits, spared: list[Range]) -> Iterator[tuple[int, int, str]]:
    """The hits that do not lie in a harmless phrase."""
    reach, at = 0, 0
    for hit in hits:
        while at < len(spared) and spared[at][0] <= hit[0]:
            reach = max(reach, spared[at][1])
            at += 1
        if hit[0] >= reach:
            yield hit


def _add_people(text: Text, sentence: Sentence, roles: Roles) -> None:
    """Targets that no list can name: an age under 18, what belongs to a person, a name behind a verb for people."""
    for i in range(sentence.first, sentence.last):
        for name in _roles_of(text, i, sentence.last):
            roles.setdefault(name, []).append((i, i + 1))
    names = _names_behind(text, roles.get("slay", ()), sentence.last)
    if names:
        roles["name"] = names
    if "person" in roles:
        roles["person"] = [person for person in roles["person"] if not _is_possessive(text, person)]


def _names_behind(text: Text, acts: Sequence[Range], last: int) -> list[Range]:
    """The words right behind some acts that have the capital of a name."""
    words = text.words
    ends = (end for _, end in acts if end < last)
    return [(end, end + 1) for end in ends if words[end].capital and not words[end].upper]


def _roles_of(text: Text, i: int, last: int) -> tuple[str, ...]:
    """The roles of a token that is what belongs to a person, or an age under 18."""
    word = text.words[i]
    if word.lower.endswith("'s") and word.lower[:-2] in _people():
        return ("others", "another's")
    return ("minor",) if word.number and _is_under_age(text, i, last) else ()


def _drop_never(roles: Roles) -> None:
    """'So that she never wakes up' forbids nothing: the 'never' of an aim is no word of the law."""
    aimed = {i for first, last in roles.get("deadly_end", ()) for i in range(first, last)}
    lawful = [(first, last) for first, last in roles.pop("lawful", ()) if first not in aimed]
    if lawful:
        roles["lawful"] = lawful


def _is_under_age(text: Text, i: int, last: int) -> bool:
    digits = text.words[i].text
    if len(digits) > 2 or not digits.isdecimal() or int(digits) >= ADULT_AGE:
        return False
    return text.has_any(_words().ages_before, max(0, i - 1), i) or text.has_any(_words().ages, i + 1, min(i + 5, last))


def _is_possessive(text: Text, person: Range) -> bool:
    """'her' before a noun owns something; it is nobody's target."""
    first, last = person
    if text.lowers[first] not in _words().owners or last >= len(text):
        return False
    after = text.words[last]
    return after.content and not after.lower.endswith("ly") and not after.number


def _add_referred(text: Text, sentence: Sentence, roles: Roles, previous: set[str]) -> None:
    """'How do I make one?' asks for what the sentence before named."""
    referring = _words().referring
    places = [(i, i + 1) for i in range(sentence.first, sentence.last) if text.lowers[i] in referring]
    for name in previous if places else ():
        roles.setdefault(name, []).extend(places)


class _Scene:
    """One sentence with the parts its words play."""

    def __init__(self, whole: _Whole, sentence: Sentence, roles: Roles) -> None:
        self.whole = whole
        self.text = whole.text
        self.target = whole.target
        self.sentence = sentence
        self.roles = roles
        self.lead_to = {last: first for first, last in roles.get("leads", ())}
        self.head = self._head()

    def _head(self) -> int:
        """Where the sentence itself begins, behind bullets, quotation marks, numbering and words such as 'then'.

        In a draft also behind 'you should': what follows is an instruction like any other.
        """
        leads = dict(self.roles.get("leads", ()))
        if self.target == "draft":
            leads = {**dict(self.roles.get("advises", ())), **leads}
        i = self.sentence.first
        while i < self.sentence.last and (i in leads or not self.text.words[i].word):
            i = leads.get(i, i + 1)
        return i

    def category(self) -> str | None:
        """The category of the first rule that holds, or None."""
        return next((rule.category for rule in _rules() if self._holds(rule)), None)

    def _holds(self, rule: _Rule) -> bool:
        needed = (rule.act, rule.object, *rule.also)
        if not all(name in self.roles for name in needed if name) or any(map(self._is_exempt, rule.unless)):
            return False
        return any(self._is_meant(rule, act) for act in self.roles[rule.act] if self._reaches(rule, act))

    def _is_exempt(self, name: str) -> bool:
        return name in self.roles or (name == "safety" and self.whole.is_on_safety)

    def _reaches(self, rule: _Rule, act: Range) -> bool:
        """Whether the act follows its subject and its object follows (or stands inside) the act, each within reach."""
        if rule.after and self._before(rule.after, act, SUBJECT_REACH) < 0:
            return False
        if not rule.object:
            return True
        objects = self.roles[rule.object]
        for i in range(bisect_left(objects, act), len(objects)):
            first = objects[i][0]
            if first - act[1] > rule.within:
                return False
            if objects[i] != act and self._are_joined(rule, act[1], first):
                return True
        return False

    def _are_joined(self, rule: _Rule, first: int, last: int) -> bool:
        if rule.crossing == "any":
            return True
        if rule.crossing == "topic":
            topic = not _words().topics.isdisjoint(self.text.lowers[first:last])
            return not topic and not any(self._starts_in(name, first, last) for name in TURNS)
        return not self._are_parted(first, last)

    def _are_parted(self, first: int, last: int) -> bool:
        """Whether a preposition or the like stands between: 'write for me' and 'a kilo of' part nothing."""
        lowers, words = self.text.lowers, _words()
        for i in range(first, last):
            if lowers[i] in words.parts and lowers[i + 1] not in words.speaker:
                return True
            if lowers[i] in words.of and lowers[i - 1] not in words.measures:
                return True
        return False

    def _is_meant(self, rule: _Rule, act: Range) -> bool:
        if self._is_cited(act):
            return False
        if rule.mood == "said":
            return self.target == "draft" or self._is_stated(rule, act)
        if self.target == "query":
            return self._is_asked(rule, act)
        return rule.mood != "requested" and self._is_advised(rule, act)

    def _is_cited(self, act: Range) -> bool:
        """Quoted as somebody's words or as a title; in a draft also in a quotation that an earlier sentence opened."""
        quoted = self.text.quoted
        if not quoted[act[0]]:
            return False
        return "quotes" in self.roles or (self.target == "draft" and all(quoted[self._look_back(act) : act[0]]))

    def _is_stated(self, rule: _Rule, act: Range) -> bool:
        """A question is not a statement, unless it asks for the thing."""
        last = self.sentence.last
        question = "?" in self.text.lowers[max(self.sentence.first, last - 3) : last]
        return not question or "produces" in self.roles or self._is_asked(rule, act)

    def _is_asked(self, rule: _Rule, act: Range) -> bool:
        """The last words before the act that frame it ask for it, and do not turn it away."""
        if act[0] == self.head and not rule.noun and self._base_form(act):
            return "lawful" not in self.roles
        ask = max(self._ask(act), self._wish(rule, act))
        return ask >= self._turned(act) and (ask >= 0 or rule.mood == "named")

    def _wish(self, rule: _Rule, act: Range) -> int:
        """Where the wish before the act ends, or -1; who wishes himself harm asks for it only where a method is asked for."""
        if rule.category == "self-harm" and "methods" not in self.roles:
            return -1
        return self._before("wishes", act, ASK_REACH)

    def _ask(self, act: Range) -> int:
        """Where the request before the act ends, or -1; one that stands behind the act counts if nothing else does."""
        if act[0] > self.sentence.first and self._ends_way(act[0]):
            return act[0]
        ask = self._before("asks", act, ASK_REACH)
        if ask < 0:
            return 0 if self._starts_in("asks_after", act[1], self.sentence.last) else -1
        return -1 if self._ends_way(ask) and self._is_narrated(act) else ask

    def _ends_way(self, at: int) -> bool:
        """Whether a word such as 'how' or 'cách' stands right before a token."""
        return self.text.folded[at - 1] in _words().ways

    def _is_advised(self, rule: _Rule, act: Range) -> bool:
        """The draft tells the reader to do it: an instruction, or an advice to 'you'."""
        if not rule.noun and self._base_form(act) and self._is_instructed(act):
            return "lawful" not in self.roles and "nominal" not in self.roles
        advice = self._before("advises", act, ADVICE_REACH)
        if advice < 0 and not self._may_warn(rule, act):
            advice = self._before("advises_maybe", act, ADVICE_REACH)
        return advice >= max(0, self._turned(act))

    def _may_warn(self, rule: _Rule, act: Range) -> bool:
        """Whether 'you can' may be a warning: of violence, where no means for it is named."""
        return rule.category in WARNED_OF and not self._starts_in("means", act[1], act[1] + ADVICE_REACH)

    def _is_instructed(self, act: Range) -> bool:
        """The act opens the sentence, follows a verb that does, or follows a clause such as 'when he sleeps,'."""
        if act[0] == self.head:
            return True
        if self._is_narrated(act):
            return False
        if self._headed_by("opens") and self._follows(act, _words().joins):
            # 'Wait until he sleeps and ...': somebody else in the clause before does not make it a report.
            return self._before("turns", act, ASK_REACH) < 0 and self._before("tells", act, ASK_REACH) < 0
        aims = self._headed_by("aims")
        if aims and act[0] - self.head <= LONGEST_AIM:
            return self._is_addressed(act)
        return (aims or self._headed_by("clauses")) and self._follows(act, _words().clause_ends)

    def _headed_by(self, name: str) -> bool:
        return self._starts_in(name, self.head, self.head + 1)

    def _follows(self, act: Range, words: frozenset[str]) -> bool:
        """Whether one of the words stands before the act, or before a word such as 'just' that leads up to it."""
        lead = self.lead_to.get(act[0], act[0])
        return self.text.lowers[act[0] - 1] in words or self.text.lowers[lead - 1] in words

    def _is_narrated(self, act: Range) -> bool:
        """In a language without tense names and years before the act mark a report."""
        if not any(has(code, "tenseless") for code in self.whole.languages):
            return False
        before = self.text.words[max(self.head + 1, self._look_back(act)) : act[0]]
        return any(word.capital or (word.number and len(word.text) == YEAR_DIGITS) for word in before)

    def _look_back(self, act: Range) -> int:
        """The start of the sentence, or as far before the act as can be read for each act in linear time."""
        return max(self.sentence.first, act[0] - LOOK_BACK)

    def _is_addressed(self, act: Range) -> bool:
        """The reader is spoken to after the act: 'to build it, you need', 'to build it, mix'."""
        return any(self._starts_in(name, act[1] + 1, self.sentence.last) for name in ("you", "opens"))

    def _base_form(self, act: Range) -> bool:
        lower = self.text.lowers[act[0]]
        return not (lower.endswith("ing") and len(lower) > len("bring"))

    def _turned(self, act: Range) -> int:
        """Where the last words end that turn the act away or only tell of it, or -1."""
        return max(self._before(name, act, ASK_REACH) for name in TURNS)

    def _starts_in(self, name: str, first: int, last: int) -> bool:
        """Whether a phrase of a list starts in a token range."""
        ranges = self.roles.get(name, ())
        at = bisect_left(ranges, (first, 0))
        return at < len(ranges) and ranges[at][0] < last

    def _before(self, name: str, act: Range, reach: int) -> int:
        """Where the last phrase of a list that precedes the act ends, or -1; a request may run into the act itself."""
        ranges = self.roles.get(name, ())
        best = -1
        for i in range(bisect_left(ranges, (act[0] + 1, 0)) - 1, -1, -1):
            first, last = ranges[i]
            if act[0] - first > reach + LONGEST_PHRASE:
                break
            if (last <= act[0] or name not in TURNS) and act[0] - last <= reach:
                best = max(best, last)
        return best
