"""What a draft claims in the assistant's own voice that only a person could claim: memories, a body, feelings, a life.

Behind each first person the auxiliaries and adverbs are read over, with their negation and mood; what comes then is
looked up in the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Any, Final, NamedTuple

from stillme.conduct.classifiers import Conduct, Suspicion, first_person, own_words
from stillme.conduct.voice import Voice
from stillme.languages import compiled, language_of, languages, load, word_set
from stillme.text.lexicon import Lexicon, Match
from stillme.text.tokens import Sentence, Text, fold

__all__ = ["SelfClaim", "personal", "self_claims"]

WINDOW: Final = 14
FRONT_REACH: Final = 9
COURTESY: Final = "courtesy"
MARKS: Final = frozenset(",.;:!?…()[]\"'“”–—-*_`#>•|")
CLAUSE_ENDS: Final = frozenset(",.;:!?…()[]—–")
ALLOWED: Final = {"can": frozenset({"sense", "memory", "emotion", "consciousness"}), "will": frozenset({"emotion"})}
FRAMES: Final = frozenset({"be", "have"})
MOODS: Final = frozenset({"will", "would"})
COORDINATED: Final = frozenset({"emotion", "memory"})


class SelfClaim(NamedTuple):
    """Tokens `first` to `last` (exclusive) of the draft claim something of this kind for the assistant itself."""

    kind: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Phrases:
    """What may follow a first person in one language, stand before it, or belong to it."""

    frames: dict[str, Lexicon]
    despite: Lexicon
    owned: Lexicon
    fronted: Lexicon


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The words that are read over behind a first person, and the phrases that are looked for then."""

    skip: frozenset[str]
    adjectives: frozenset[str]
    participles: frozenset[str]
    auxiliaries: dict[str, str]
    phrases: _Phrases

    def is_participle(self, word: str) -> bool:
        """Whether a word may be what was done."""
        return word in self.participles or word.endswith("ed")

    def is_auxiliary(self, word: str, following: str) -> bool:
        """Whether a word is an auxiliary there; 'been to Rome' is none."""
        went = word in word_set("self_claims", "been") and following in word_set("self_claims", "places")
        return word in self.auxiliaries and not went


class _Predicate(NamedTuple):
    """What stands behind the auxiliaries: where, after which of them, and whether it is denied."""

    at: int
    frame: str
    modal: str
    negation: int


@compiled
def _phrases(language: str) -> _Phrases:
    own, classes = language_of(language).rules("self_claims"), load("self_claims")["classes"]
    frames = {
        frame: Lexicon({**kinds, COURTESY: own["courtesy"][frame]}, classes) for frame, kinds in own["claims"].items()
    }
    owned = {f"{group}.{kind}": rows for group in ("my", "me") for kind, rows in own[group].items()}
    return _Phrases(frames, Lexicon(own["despite"], classes), Lexicon(owned, classes), Lexicon(own["fronted"], classes))


@compiled
def _grammar(language: str, folded: bool) -> _Grammar:
    own = language_of(language).rules("self_claims")
    skip, adjectives, participles = (_words(own[name], folded) for name in ("skip", "adjectives", "participles"))
    auxiliaries = {w: kind for kind, words in own["auxiliaries"].items() for w in _words(words, folded)}
    return _Grammar(skip, adjectives, participles, auxiliaries, _phrases(language))


def _words(text: str, folded: bool) -> frozenset[str]:
    return frozenset(map(fold, text.split())) if folded else frozenset(text.split())


@dataclass(frozen=True, slots=True)
class _Speakers:
    """Who says 'I' where the word is something else as often, and what tells."""

    always: frozenset[str]
    at_clause_start: frozenset[str]
    never_behind: frozenset[str]
    starts_clause: frozenset[str]
    younger_others: frozenset[str]
    kin: frozenset[str]
    name_too: frozenset[str]


@compiled
def _first_persons() -> dict[str, tuple[str, str]]:
    """The words that are always a first person, with their language and the auxiliary that they hold."""
    rows = [(each.code, kind, row) for each in languages() for kind, row in _own(each.code, "first_persons").items()]
    return {word: (code, "" if kind == "plain" else kind) for code, kind, row in rows for word in row.split()}


@compiled
def _pairs() -> dict[tuple[str, ...], str]:
    """Two words that are one auxiliary, and its kind."""
    rules = load("self_claims")["pairs"]
    return {tuple(pair.split()): "" if kind == "plain" else kind for kind, pairs in rules.items() for pair in pairs}


def _own(code: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = language_of(code).rules("self_claims").get(name, {})
    return found


@compiled
def _speakers(folded: bool) -> _Speakers:
    rules: dict[str, Any] = load("self_claims")["speakers"]
    words = {name: _words(str(rules[name]), folded) for name in _Speakers.__slots__}
    if folded:
        words["at_clause_start"] -= _words(str(rules["needs_accent"]), folded)
    return _Speakers(**words)


def self_claims(draft: Text, sentences: Sequence[Sentence], query: Text) -> list[SelfClaim]:
    """Every such claim, in order; empty for denials, quotations, suppositions, questions and courtesy."""
    reader = _SelfClaimReader(draft, query)
    if not reader.present:
        return []
    found = chain.from_iterable(reader.read(sentence) for sentence in sentences)
    return sorted({claim._replace(last=_clause_end(draft, claim.last)) for claim in found}, key=_place)


def personal(draft: Text, conduct: Conduct) -> list[Suspicion]:
    """The sentences in which a classifier sees a person speak, where there is a first person whose words they are."""
    suspicions = conduct.of("person")
    if not suspicions:
        return []
    voice = Voice(draft)
    speakers = [(each, first_person(draft, each.first, each.last)) for each in suspicions]
    return [each for each, at in speakers if at is not None and own_words(voice, each.sentence, at)]


def _place(claim: SelfClaim) -> tuple[int, int, str]:
    return claim.first, claim.last, claim.kind


def _clause_end(draft: Text, last: int) -> int:
    """Where the clause of a claim ends, so that a reader sees what was claimed."""
    stop = min(len(draft), last + 2 * WINDOW)
    while last < stop and draft.words[last].text not in CLAUSE_ENDS and "\n" not in draft.gaps[last]:
        last += 1
    return last


class _SelfClaimReader:
    """One draft, read for first persons."""

    __slots__ = ("present", "query", "speakers", "text", "tokens", "voice", "younger")

    def __init__(self, draft: Text, query: Text) -> None:
        folded = not draft.accented
        self.text, self.query = draft, query
        self.voice = Voice(draft)
        self.younger: bool | None = None
        self.tokens = self.voice.tokens
        self.speakers = _speakers(folded)
        known = set(self.tokens)
        self.present = [each.code for each in languages() if known & _speaking(each.code, folded)]

    def read(self, sentence: Sentence) -> Iterator[SelfClaim]:
        """The claims of one sentence."""
        for at in range(sentence.first, sentence.last):
            token = self.tokens[at]
            if token in _first_persons() and not self._is_numeral(sentence, at):
                language, form = _first_persons()[token]
                yield from self._of_speaker(language, sentence, at, form)
            elif self._speaks(sentence, at):
                yield from self._of_speaker(_doubtful(), sentence, at, "")
        for language in self.present:
            yield from self._of_owner(language, sentence)

    def _grammar(self, language: str) -> _Grammar:
        return _grammar(language, not self.text.accented)

    # a first person and what it does

    def _of_speaker(self, language: str, sentence: Sentence, at: int, form: str) -> Iterator[SelfClaim]:
        grammar = self._grammar(language)
        predicate = self._predicate(grammar, at + 1, min(sentence.last, at + WINDOW), form)
        claims = list(self._claims(grammar, sentence, at, predicate))
        claims += self._coordinated(grammar, sentence, at, predicate)
        claims += self._fronted(grammar, sentence, at)
        if claims and self.voice.asserts(sentence, at) and not self.voice.denies(sentence, at):
            yield from claims

    def _predicate(self, grammar: _Grammar, at: int, stop: int, form: str) -> _Predicate:
        """Read over adverbs and auxiliaries up to the word that says what the speaker is, has or does."""
        frame = form if form in FRAMES else ""
        modal = form if form in MOODS else ""
        negation = -1
        while at < stop:
            here, following = self.tokens[at], "".join(self.tokens[at + 1 : min(at + 2, stop)])
            pair = None if frame == "be" else _pairs().get((here, following))
            if form == "would" and grammar.is_participle(here):
                modal = ""  # 'I'd worked' is no wish
            if pair is not None:
                modal = pair
                at += 1
            elif self.voice.negates(at):
                negation = at
                modal = modal or ("can" if here in word_set("self_claims", "cannot") else "")
            elif grammar.is_auxiliary(here, following):
                kind = grammar.auxiliaries[here]
                frame, modal = (kind, modal) if kind in FRAMES else (frame, kind)
            elif not self._is_read_over(grammar, at, stop, frame):
                break
            at += 1
        return _Predicate(at, frame, modal, negation)

    def _is_read_over(self, grammar: _Grammar, at: int, stop: int, frame: str) -> bool:
        """Adverbs, articles, adjectives behind 'have', and the commas of 'I, too, have …'."""
        tokens, here = self.tokens, self.tokens[at]
        if here in grammar.skip or (frame == "have" and here in grammar.adjectives):
            return True
        beside = (tokens[at - 1], *tokens[at + 1 : min(at + 2, stop)])
        return here == "," and not word_set("self_claims", "too").isdisjoint(beside)

    def _claims(self, grammar: _Grammar, sentence: Sentence, at: int, predicate: _Predicate) -> Iterator[SelfClaim]:
        stop = min(sentence.last, predicate.at + WINDOW)
        if predicate.negation >= 0:
            yield from self._despite(grammar, sentence, at, predicate.negation + 1, stop)
            return
        if self._is_song(predicate.at, sentence.last):
            return
        if self._is_age(predicate.at, stop):
            yield SelfClaim("experience", at, predicate.at + 1)
        for frame in self._frames(predicate):
            found = self._matches(grammar, frame, predicate.at, stop)
            if found is None:
                return
            for kind, last in found.items():
                qualifies = frame == "have" and self._is_compound(last, stop)
                if kind in ALLOWED.get(predicate.modal, (kind,)) and not qualifies:
                    yield SelfClaim(kind, at, last)

    def _despite(self, grammar: _Grammar, sentence: Sentence, at: int, behind: int, stop: int) -> Iterator[SelfClaim]:
        """'I cannot help feeling sad': what is claimed right behind a negation, unless a machine is spoken of after all."""
        for match in _beginning(grammar.phrases.despite, self.text, behind, stop):
            if not self._is_machine_after_all(sentence, match.last):
                yield SelfClaim(match.name, at, match.last)

    @staticmethod
    def _frames(predicate: _Predicate) -> tuple[str, ...]:
        """The phrase lists that fit: what one would do is only a wish."""
        if predicate.modal == "would":
            return ("would",)
        return (predicate.frame, "verb") if predicate.frame else ("verb",)

    def _matches(self, grammar: _Grammar, frame: str, at: int, stop: int) -> dict[str, int] | None:
        """The kinds of claim that begin at the token, with their ends; None if it is courtesy."""
        found: dict[str, int] = {}
        lexicon = grammar.phrases.frames.get(frame)
        for match in _beginning(lexicon, self.text, at, stop) if lexicon else ():
            if match.name == COURTESY:
                return None
            if not self._is_hyphenated(match.last):
                found[match.name] = max(match.last, found.get(match.name, 0))
        return found

    def _coordinated(self, grammar: _Grammar, sentence: Sentence, at: int, first: _Predicate) -> Iterator[SelfClaim]:
        """'I read it and felt sad': a second verb of the same speaker, if nobody else was named in between."""
        join = self._join(first.at, min(sentence.last - 1, first.at + WINDOW))
        if join is None:
            return
        if self.tokens[join] in word_set("self_claims", "contrasts"):
            first = first._replace(negation=-1, modal="")
        second = self._predicate(grammar, join + 1, min(sentence.last, join + WINDOW), "")
        if first.negation < 0 or second.negation >= 0:
            found = self._claims(grammar, sentence, at, second._replace(modal=second.modal or first.modal))
            yield from (claim for claim in found if claim.kind in COORDINATED)

    def _join(self, first: int, stop: int) -> int | None:
        """The first 'and' or 'but' of a range, if nobody else is named before it."""
        interrupting = _listed("interrupting", not self.text.accented)
        for i in range(first, stop):
            if self.tokens[i] in word_set("self_claims", "joins"):
                return i
            if self.text.words[i].capital or self.tokens[i] in interrupting:
                return None
        return None

    def _fronted(self, grammar: _Grammar, sentence: Sentence, at: int) -> Iterator[SelfClaim]:
        """'As a child, I …', 'I, as a human being, …'."""
        fronted = grammar.phrases.fronted
        if self.tokens[at + 1 : at + 2] == [","]:
            for match in _beginning(fronted, self.text, at + 2, min(sentence.last, at + WINDOW)):
                yield SelfClaim(match.name, at, match.last)
        for match in fronted.find(self.text, max(sentence.first, at - FRONT_REACH), at):
            opens = match.first <= sentence.first + 1 or self.tokens[match.first - 1] in MARKS
            near = match.last == at or self.tokens[at - 1] == ","
            if opens and near:
                yield SelfClaim(match.name, match.first, at + 1)

    # what belongs to a first person, or happens to it

    def _of_owner(self, language: str, sentence: Sentence) -> Iterator[SelfClaim]:
        matches = list(self._grammar(language).phrases.owned.find(self.text, sentence.first, sentence.last))
        polite = {match.first for match in matches if match.name == f"my.{COURTESY}"}
        for match in matches:
            if match.first not in polite and self._is_owned(sentence, match):
                yield SelfClaim(match.name.split(".")[1], match.first, match.last)

    def _is_owned(self, sentence: Sentence, match: Match) -> bool:
        """Whether the writer says that it is his, and that it is so."""
        if self._is_hyphenated(match.last) or self._is_title(sentence, match.first):
            return False
        if not self.voice.asserts(sentence, match.first) or self.voice.denies(sentence, match.first):
            return False
        behind = range(match.last, min(match.last + 4, sentence.last))
        return not any(map(self.voice.negates, behind))

    # what a word is not

    def _is_numeral(self, sentence: Sentence, at: int) -> bool:
        """'Elizabeth I was …', 'World War I': a numeral behind a name."""
        if self.text.words[at].text != "I" or at == sentence.first:
            return False
        before = self.text.words[at - 1]
        if not before.capital or before.stop:
            return False
        opens = at - 1 == sentence.first or self.tokens[at - 2] in MARKS
        return not (opens and (before.lower.endswith("ly") or before.lower in _listed("openers", False)))

    def _is_title(self, sentence: Sentence, at: int) -> bool:
        """'My Neighbour Totoro', 'the film My Life'."""
        words = self.text.words
        if words[at].lower not in word_set("self_claims", "mine") or not words[at].capital:
            return False
        return at > sentence.first and words[at - 1].text not in MARKS

    def _is_age(self, at: int, stop: int) -> bool:
        """'I am 34 years old'."""
        behind = self.tokens[at + 1 : min(at + 5, stop)]
        return at < stop and self.text.words[at].number and not _listed("ages", False).isdisjoint(behind)

    def _is_song(self, at: int, stop: int) -> bool:
        """'I Kissed a Girl', 'I Am Legend': a verb with a capital stands in a title."""
        return at < stop and self.text.words[at].capital and not self.text.words[at].upper

    def _is_hyphenated(self, last: int) -> bool:
        return last < len(self.tokens) and self.tokens[last] == "-" and not self.text.gaps[last]

    def _is_compound(self, last: int, stop: int) -> bool:
        """'I have family recipes for you': the noun only qualifies the next one."""
        if last >= stop:
            return False
        word = self.text.words[last]
        return word.word and word.content and word.lower not in _listed("times", False)

    def _is_machine_after_all(self, sentence: Sentence, last: int) -> bool:
        behind = self.tokens[last : min(sentence.last, last + 2 * WINDOW)]
        return not _listed("machines", False).isdisjoint(behind)

    def _speaks(self, sentence: Sentence, at: int) -> bool:
        """Whether a first person that is another word as often stands at the token as the subject of a clause."""
        token, speakers = self.tokens[at], self.speakers
        if token not in speakers.always and token not in speakers.at_clause_start:
            return False
        if at == sentence.first:
            return self._is_speaker(at)
        before = self.tokens[at - 1]
        if token in speakers.always and self.text.accented:
            return before not in speakers.never_behind
        return (before in MARKS or before in speakers.starts_clause) and self._is_speaker(at)

    def _is_speaker(self, at: int) -> bool:
        """'em' is a child of whom the texts speak, 'Minh' a name, as often as they are the speaker."""
        spelt = self.tokens[at]
        if spelt in self.speakers.kin:
            if self.younger is None:
                self.younger = any(self._names_younger(text) for text in (self.query, self.text))
            return not self.younger
        return spelt not in self.speakers.name_too or not self.text.words[at].capital

    def _names_younger(self, text: Text) -> bool:
        lowers, others = text.lowers, self.speakers.younger_others
        places = [i for i in range(len(lowers) - 1) if lowers[i] in self.speakers.kin]
        return any(text.words[i + 1].capital or not others.isdisjoint((lowers[i - 1], lowers[i + 1])) for i in places)


def _beginning(lexicon: Lexicon, text: Text, first: int, stop: int) -> Iterator[Match]:
    """The phrases that begin with a token."""
    return takewhile(lambda match: match.first == first, lexicon.find(text, first, stop))


@compiled
def _doubtful() -> str:
    """The language whose first persons are other words as often."""
    return next((each.code for each in languages() if _own(each.code, "speakers")), "")


@compiled
def _speaking(code: str, folded: bool) -> frozenset[str]:
    """The words without one of which nobody speaks of himself in a language."""
    own = frozenset(word for word, (language, _) in _first_persons().items() if language == code)
    owners = frozenset(str(language_of(code).rules("self_claims").get("owners", "")).split())
    speakers = _speakers(folded)
    return own | owners | (speakers.always | speakers.at_clause_start if code == _doubtful() else frozenset())


@compiled
def _listed(name: str, folded: bool) -> frozenset[str]:
    return _words(str(load("self_claims")[name]), folded)
