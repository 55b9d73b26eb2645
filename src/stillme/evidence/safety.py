"""The built-in guard: does a text ask for, advise or contain something unsafe, judged on acts, targets and context.

Words alone never decide. A sentence is unsafe where an act meets its object ("build" and "bomb", "poison" and "my neighbour")
and the sentence asks for it, advises it, or is harmful as said; prevention, law, history, reports and play turn it away.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from stillme.evidence.lexicon import Lexicon
from stillme.evidence.rules import load, word_rules
from stillme.evidence.sentences import Sentence, split
from stillme.evidence.text import Text

__all__ = ["Danger", "Target", "find_dangers"]

Target = Literal["query", "draft"]
Range = tuple[int, int]
Roles = dict[str, list[Range]]

ADULT_AGE: Final = 18
ASK_REACH: Final = 30
ADVICE_REACH: Final = 8
JOINS: Final = frozenset({",", "and", "then", "or", "to", "by", ":", "và", "rồi", "để", "hoặc", "va", "roi", "de", "hoac"})
CLAUSE_OPENERS: Final = frozenset({",", ":", "then", ".", ")", "thì", "thi", "rồi", "roi", "-"})
AGE_UNITS: Final = frozenset({"year", "years", "yo", "tuổi", "tuoi", "yr", "yrs", "y"})
REFERRING: Final = frozenset({"one", "it", "some", "them", "that", "these", "those", "nó", "chúng"})
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
    crossing: bool = False
    mood: Literal["asked", "named", "said"] = "asked"
    also: str | None = None
    unless: tuple[str, ...] = ()


class _Reader(NamedTuple):
    """The compiled lists of one language."""

    triggers: Lexicon
    harmless: Lexicon
    context: Lexicon


class _Tables(NamedTuple):
    """What both languages share."""

    rules: tuple[_Rule, ...]
    parts: frozenset[str]
    measures: frozenset[str]
    english: frozenset[str]
    people: frozenset[str]


@cache
def _tables() -> _Tables:
    rules = load("safety")
    compiled = tuple(_Rule(**{**rule, "unless": tuple(rule.get("unless", ()))}) for rule in rules["rules"])
    parts, measures, english = (frozenset(str(rules[key]).split()) for key in ("parts", "measures", "english"))
    return _Tables(compiled, parts, measures, english, frozenset(str(rules["context"]["en"]["person"]).split()))


@cache
def _triggers(language: str) -> Lexicon:
    return Lexicon(_phrases(load("safety")["triggers"][language]))


@cache
def _harmless(language: str) -> Lexicon:
    return Lexicon({"harmless": load("safety")["harmless"][language]})


@cache
def _context(language: str) -> Lexicon:
    return Lexicon(_phrases(load("safety")["context"][language]))


def _phrases(lists: Mapping[str, Any]) -> dict[str, list[str]]:
    return {name: value.split() if isinstance(value, str) else value for name, value in lists.items()}


def find_dangers(text: Text, target: Target) -> list[Danger]:
    """The unsafe sentences of a query or a draft, in order."""
    languages = _languages(text)
    hits = sorted((m.first, m.last, m.name) for language in languages for m in _triggers(language).find(text))
    if not hits:
        return []
    return list(_dangers(text, target, languages, hits))


def _languages(text: Text) -> tuple[str, ...]:
    """Which lists to read a text with: without accents, Vietnamese words look like English ones ('súng', 'sung')."""
    if text.accented:
        return ("en", "vi")
    english, vietnamese = _tables().english, word_rules().stop_folded
    balance = sum((lower in english) - (lower in vietnamese) for lower in text.lowers)
    return ("en",) if balance > 0 else ("en", "vi")


def _dangers(text: Text, target: Target, languages: tuple[str, ...], hits: list[tuple[int, int, str]]) -> Iterator[Danger]:
    previous: set[str] = set()
    for sentence in split(text):
        low = bisect_left(hits, (sentence.first, 0, ""))
        high = bisect_left(hits, (sentence.last, 0, ""), low)
        own = hits[low:high]
        if own or previous:
            scene = _Scene(text, sentence, target, _roles(text, sentence, languages, own, previous), languages)
            category = scene.category()
            if category:
                yield Danger(category, sentence.start, sentence.end)
        previous = {name for _, _, name in own if name in REFERRED} if target == "query" else set()


def _roles(
    text: Text, sentence: Sentence, languages: tuple[str, ...], hits: list[tuple[int, int, str]], previous: set[str]
) -> Roles:
    """Which words of the sentence play which part."""
    first, last = sentence.first, sentence.last
    roles: Roles = {}
    spared = sorted((m.first, m.last) for language in languages for m in _harmless(language).find(text, first, last))
    for start, end, name in _outside(hits, spared):
        roles.setdefault(name, []).append((start, end))
    if not roles and not previous:
        return roles
    for language in languages:
        for match in _context(language).find(text, first, last):
            roles.setdefault(match.name, []).append((match.first, match.last))
    _add_people(text, sentence, roles)
    _add_referred(text, sentence, roles, previous)
    for ranges in roles.values():
        ranges.sort()
    return roles


def _outside(hits: list[tuple[int, int, str]], spared: list[Range]) -> Iterator[tuple[int, int, str]]:
    """The hits that do not lie in a harmless phrase."""
    reach, at = 0, 0
    for hit in hits:
        while at < len(spared) and spared[at][0] <= hit[0]:
            reach = max(reach, spared[at][1])
            at += 1
        if hit[0] >= reach:
            yield hit


def _add_people(text: Text, sentence: Sentence, roles: Roles) -> None:
    """Targets that no list can name: ages under 18, what belongs to a person, a proper name behind a verb for people."""
    words, people = text.words, _tables().people
    for i in range(sentence.first, sentence.last):
        lower = words[i].lower
        if lower.endswith("'s") and lower[:-2] in people:
            roles.setdefault("others", []).append((i, i + 1))
        elif words[i].number and _under_age(text, i, sentence.last):
            roles.setdefault("minor", []).append((i, i + 1))
    names = [(end, end + 1) for _, end in roles.get("slay", ()) if end < sentence.last and words[end].capital]
    if names:
        roles["name"] = names
    if "person" in roles:
        roles["person"] = [r for r in roles["person"] if not _possessive(text, r)]


def _under_age(text: Text, i: int, last: int) -> bool:
    digits = text.words[i].text
    if len(digits) > 2 or not digits.isdecimal() or int(digits) >= ADULT_AGE:
        return False
    return any(lower in AGE_UNITS for lower in text.lowers[i + 1 : min(i + 3, last)])


def _possessive(text: Text, person: Range) -> bool:
    """'her' before a noun owns something; it is nobody's target."""
    first, last = person
    if text.lowers[first] != "her" or last >= len(text):
        return False
    after = text.words[last]
    return after.content and not after.lower.endswith("ly") and not after.number


def _add_referred(text: Text, sentence: Sentence, roles: Roles, previous: set[str]) -> None:
    """'How do I make one?' asks for what the sentence before named."""
    if previous:
        places = [(i, i + 1) for i in range(sentence.first, sentence.last) if text.lowers[i] in REFERRING]
        for name in previous:
            if places:
                roles.setdefault(name, []).extend(places)


class _Scene:
    """One sentence with the parts its words play."""

    def __init__(self, text: Text, sentence: Sentence, target: Target, roles: Roles, languages: tuple[str, ...]) -> None:
        self.text = text
        self.sentence = sentence
        self.target = target
        self.roles = roles
        self.languages = languages
        self.head = self._head()

    def _head(self) -> int:
        """The first word of the sentence, behind bullets and quotation marks."""
        for i in range(self.sentence.first, self.sentence.last):
            if self.text.words[i].word:
                return i
        return self.sentence.first

    def category(self) -> str | None:
        """The category of the first rule that holds, or None."""
        return next((rule.category for rule in _tables().rules if self._holds(rule)), None)

    def _holds(self, rule: _Rule) -> bool:
        roles = self.roles
        if rule.act not in roles or (rule.object and rule.object not in roles) or (rule.also and rule.also not in roles):
            return False
        if any(self._exempt(name) for name in rule.unless):
            return False
        return any(self._meant(rule, act) for act in roles[rule.act] if not rule.object or self._reaches(rule, act))

    def _exempt(self, name: str) -> bool:
        if name != "safety" or self.target == "draft":
            return name in self.roles
        return any(m.name == name for language in self.languages for m in _context(language).find(self.text))

    def _reaches(self, rule: _Rule, act: Range) -> bool:
        """Whether an object follows the act (or stands inside it) within reach."""
        objects = self.roles[rule.object or ""]
        for i in range(bisect_left(objects, act), len(objects)):
            first = objects[i][0]
            if first - act[1] > rule.within:
                return False
            if objects[i] != act and (rule.crossing or not self._parted(act[1], first)):
                return True
        return False

    def _parted(self, first: int, last: int) -> bool:
        lowers, tables = self.text.lowers, _tables()
        for i in range(first, last):
            if lowers[i] in tables.parts or (lowers[i] == "of" and lowers[i - 1] not in tables.measures):
                return True
        return False

    def _meant(self, rule: _Rule, act: Range) -> bool:
        if "quotes" in self.roles and self.text.quoted[act[0]]:
            return False
        if rule.mood == "said":
            return self.target == "draft" or self._stated(act)
        if self.target == "query":
            return self._asked(act, implied=rule.mood == "named")
        return self._advised(rule, act)

    def _stated(self, act: Range) -> bool:
        """A question is not a statement, unless it asks for the thing."""
        ends = self.sentence.last
        question = "?" in self.text.lowers[max(self.sentence.first, ends - 3) : ends]
        return not question or self._asked(act, implied=False) or "produces" in self.roles

    def _asked(self, act: Range, *, implied: bool) -> bool:
        """The last word before the act that frames it asks for it, and does not turn it away."""
        if act[0] == self.head and self._base_form(act):
            return "lawful" not in self.roles
        ask = self._before("asks", act, ASK_REACH)
        if self._next_to("asks_next", act) and ask < 0 and self.text.lowers[act[0] - 1] in ("cách", "cach"):
            ask = act[0]
        turn = self._before("turns", act, ASK_REACH)
        return ask >= turn and (ask >= 0 or implied)

    def _advised(self, rule: _Rule, act: Range) -> bool:
        """The draft tells the reader to do it: an instruction, or an advice to 'you'."""
        before = self.text.lowers[act[0] - 1] if act[0] > self.head else ""
        if self._base_form(act) and self._opens_clause(act, before):
            return "lawful" not in self.roles
        turn = self._before("turns", act, ASK_REACH)
        if self._starts_with("opens") and before in JOINS and turn < 0:
            return True
        advice = self._before("advises", act, ADVICE_REACH)
        if advice < 0 and (rule.category not in WARNED_OF or self._by_means(act)):
            advice = self._before("advises_maybe", act, ADVICE_REACH)
        return advice >= 0 and advice >= turn

    def _opens_clause(self, act: Range, before: str) -> bool:
        if act[0] == self.head:
            return True
        return self._starts_with("leads") and (before in CLAUSE_OPENERS or self.roles["leads"][0][1] == act[0])

    def _starts_with(self, name: str) -> bool:
        return name in self.roles and self.roles[name][0][0] == self.head

    def _by_means(self, act: Range) -> bool:
        return any(act[1] <= first <= act[1] + ADVICE_REACH for first, _ in self.roles.get("means", ()))

    def _base_form(self, act: Range) -> bool:
        lower = self.text.lowers[act[0]]
        return not (lower.endswith("ing") and len(lower) > 5)

    def _next_to(self, name: str, act: Range) -> bool:
        return any(last == act[0] for _, last in self.roles.get(name, ()))

    def _before(self, name: str, act: Range, reach: int) -> int:
        """Where the last phrase of a list that precedes the act ends, or -1."""
        best = -1
        for first, last in self.roles.get(name, ()):
            if first > act[0]:
                break
            if (last <= act[0] or first == act[0]) and act[0] - last <= reach:
                best = max(best, last)
        return best
