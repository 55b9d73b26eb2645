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
SUBJECT_REACH: Final = 2
YEAR_DIGITS: Final = 4
JOINS: Final = frozenset({",", "and", "then", "or", "to", "by", ":", "và", "rồi", "để", "hoặc", "va", "roi", "de", "hoac"})
CLAUSE_ENDS: Final = frozenset({",", "then", "thì", "thi", "rồi", "roi"})
SPEAKER: Final = frozenset({"me", "us", "tôi", "mình", "em", "toi", "minh"})
AGE_UNITS: Final = frozenset({"old", "yo", "tuổi", "tuoi"})
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
    crossing: Literal["", "any", "topic"] = ""
    mood: Literal["asked", "named", "requested", "said"] = "asked"
    noun: bool = False
    also: str | None = None
    after: str | None = None
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
    topics: frozenset[str]
    english: frozenset[str]
    people: frozenset[str]


@cache
def _tables() -> _Tables:
    rules = load("safety")
    compiled = tuple(_Rule(**{**rule, "unless": tuple(rule.get("unless", ()))}) for rule in rules["rules"])
    words = [frozenset(str(rules[key]).split()) for key in ("parts", "measures", "topics", "english")]
    return _Tables(compiled, *words, frozenset(str(rules["context"]["en"]["person"]).split()))


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
    around = sorted((m.first, m.last, m.name) for language in languages for m in _context(language).find(text, first, last))
    for start, end, name in _outside(around, spared):
        roles.setdefault(name, []).append((start, end))
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
    names = [(end, end + 1) for _, end in roles.get("slay", ()) if end < sentence.last and words[end].capital and not words[end].upper]
    if names:
        roles["name"] = names
    if "person" in roles:
        roles["person"] = [r for r in roles["person"] if not _possessive(text, r)]


def _under_age(text: Text, i: int, last: int) -> bool:
    digits = text.words[i].text
    if len(digits) > 2 or not digits.isdecimal() or int(digits) >= ADULT_AGE:
        return False
    return text.lowers[i - 1] == "aged" or not AGE_UNITS.isdisjoint(text.lowers[i + 1 : min(i + 5, last)])


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
        """Where the sentence itself begins, behind bullets, quotation marks, numbering and words such as 'then'."""
        leads = dict(self.roles.get("leads", ()))
        i = self.sentence.first
        while i < self.sentence.last and (i in leads or not self.text.words[i].word):
            i = leads.get(i, i + 1)
        return i

    def category(self) -> str | None:
        """The category of the first rule that holds, or None."""
        return next((rule.category for rule in _tables().rules if self._holds(rule)), None)

    def _holds(self, rule: _Rule) -> bool:
        roles = self.roles
        if rule.act not in roles or (rule.object and rule.object not in roles) or (rule.also and rule.also not in roles):
            return False
        if any(self._exempt(name) for name in rule.unless):
            return False
        return any(self._meant(rule, act) for act in roles[rule.act] if self._reaches(rule, act))

    def _exempt(self, name: str) -> bool:
        if name != "safety" or self.target == "draft":
            return name in self.roles
        return any(m.name == name for language in self.languages for m in _context(language).find(self.text))

    def _reaches(self, rule: _Rule, act: Range) -> bool:
        """Whether the act follows its subject and its object follows (or stands inside) the act, each within reach."""
        if rule.after and not any(0 <= act[0] - last <= SUBJECT_REACH for _, last in self.roles.get(rule.after, ())):
            return False
        if not rule.object:
            return True
        objects = self.roles[rule.object]
        for i in range(bisect_left(objects, act), len(objects)):
            first = objects[i][0]
            if first - act[1] > rule.within:
                return False
            if objects[i] != act and self._joined(rule, act[1], first):
                return True
        return False

    def _joined(self, rule: _Rule, first: int, last: int) -> bool:
        if rule.crossing == "any":
            return True
        if rule.crossing == "topic":
            turned = any(first <= turn < last for turn, _ in self.roles.get("turns", ()))
            return not turned and _tables().topics.isdisjoint(self.text.lowers[first:last])
        return not self._parted(first, last)

    def _parted(self, first: int, last: int) -> bool:
        lowers, tables = self.text.lowers, _tables()
        for i in range(first, last):
            if lowers[i] in tables.parts:
                if lowers[i + 1] not in SPEAKER:
                    return True
            elif lowers[i] == "of" and lowers[i - 1] not in tables.measures:
                return True
        return False

    def _meant(self, rule: _Rule, act: Range) -> bool:
        if self._cited(act):
            return False
        if rule.mood == "said":
            return self.target == "draft" or self._stated(rule, act)
        if self.target == "query":
            return self._asked(rule, act)
        return rule.mood != "requested" and self._advised(rule, act)

    def _cited(self, act: Range) -> bool:
        """Quoted as somebody's words or as a title; in a draft also inside a quotation that began in an earlier sentence."""
        if not self.text.quoted[act[0]]:
            return False
        return "quotes" in self.roles or (self.target == "draft" and all(self.text.quoted[self.sentence.first : act[0]]))

    def _stated(self, rule: _Rule, act: Range) -> bool:
        """A question is not a statement, unless it asks for the thing."""
        last = self.sentence.last
        question = "?" in self.text.lowers[max(self.sentence.first, last - 3) : last]
        return not question or "produces" in self.roles or self._asked(rule, act)

    def _asked(self, rule: _Rule, act: Range) -> bool:
        """The last words before the act that frame it ask for it, and do not turn it away."""
        if act[0] == self.head and not rule.noun and self._base_form(act):
            return "lawful" not in self.roles
        ask = self._before("asks", act, ASK_REACH)
        if rule.category != "self-harm" or "methods" in self.roles:
            ask = max(ask, self._before("wishes", act, ASK_REACH))
        if act[0] > self.sentence.first and self.text.folded[act[0] - 1] == "cach":
            ask = act[0]
        return ask >= self._before("turns", act, ASK_REACH) and (ask >= 0 or rule.mood == "named")

    def _advised(self, rule: _Rule, act: Range) -> bool:
        """The draft tells the reader to do it: an instruction, or an advice to 'you'."""
        if not rule.noun and self._base_form(act) and self._instructed(act):
            return "lawful" not in self.roles and "nominal" not in self.roles
        advice = self._before("advises", act, ADVICE_REACH)
        if advice < 0 and (rule.category not in WARNED_OF or self._by_means(act)):
            advice = self._before("advises_maybe", act, ADVICE_REACH)
        return advice >= 0 and advice >= self._before("turns", act, ASK_REACH)

    def _instructed(self, act: Range) -> bool:
        """The act opens the sentence, follows a verb that does, or follows a clause such as 'when he sleeps,'."""
        if act[0] == self.head:
            return True
        before = self.text.lowers[act[0] - 1]
        if self._narrated(act):
            return False
        if self._starts_with("opens") and before in JOINS:
            return self._before("turns", act, ASK_REACH) < 0
        if not self._starts_with("clauses"):
            return False
        return before in CLAUSE_ENDS or (self._next_to("clauses", act) and self._addressed(act))

    def _narrated(self, act: Range) -> bool:
        """In Vietnamese, which has no tense, names and years before the act mark a report."""
        if "vi" not in self.languages:
            return False
        return any(w.capital or (w.number and len(w.text) == YEAR_DIGITS) for w in self.text.words[self.head + 1 : act[0]])

    def _addressed(self, act: Range) -> bool:
        """The reader is spoken to after the act: 'to build it, you need', 'to build it, mix'."""
        after = [*self.roles.get("you", ()), *self.roles.get("opens", ())]
        return any(first > act[1] for first, _ in after)

    def _starts_with(self, name: str) -> bool:
        return any(first == self.head for first, _ in self.roles.get(name, ()))

    def _by_means(self, act: Range) -> bool:
        return any(act[1] <= first <= act[1] + ADVICE_REACH for first, _ in self.roles.get("means", ()))

    def _base_form(self, act: Range) -> bool:
        lower = self.text.lowers[act[0]]
        return not (lower.endswith("ing") and len(lower) > len("bring"))

    def _next_to(self, name: str, act: Range) -> bool:
        return any(last == act[0] for _, last in self.roles.get(name, ()))

    def _before(self, name: str, act: Range, reach: int) -> int:
        """Where the last phrase of a list that precedes the act ends, or -1; a request may begin with the act itself."""
        best = -1
        for first, last in self.roles.get(name, ()):
            if first > act[0]:
                break
            if (last <= act[0] or name != "turns") and act[0] - last <= reach:
                best = max(best, last)
        return best
