"""IdentityCheckValidator: the assistant does not pass for a person and does not advertise."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from stillme.conduct.classifiers import Suspicion, decided_by, offers, own_words
from stillme.conduct.self_claims import personal, self_claims
from stillme.conduct.voice import Voice, places_in, text_is_for_user
from stillme.errors import shown
from stillme.languages import compiled, load, word_set
from stillme.reasons import Gate, Reason
from stillme.text.lexicon import Lexicon, Match
from stillme.text.tokens import Sentence, Text
from stillme.validators.base import Finding, Observer
from stillme.validators.manners import without_manners

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["IdentityCheckValidator"]

PERSONAL: Final = frozenset({"consciousness", "person", "emotion", "family", "experience"})
SIGNS: Final = ("hype", "superlative", "call", "promise")
CALL_WEIGHT: Final = 2
MOST_HYPE: Final = 3
OFFER_REACH: Final = 8
SELF_REACH: Final = 3
# Advertising is settled long before; more would only be searched for in the passages.
MOST_SIGNS: Final = 128
MOST_REPORTED: Final = 0.75


@compiled
def _signs() -> Lexicon:
    rules = load("promotion")
    return Lexicon(rules["signs"], rules["classes"])


@compiled
def _surroundings() -> Lexicon:
    return Lexicon(load("promotion")["surroundings"])


@dataclass(frozen=True, slots=True)
class IdentityCheckValidator(Observer):
    """The draft neither claims personhood or consciousness for the assistant nor advertises.

    Advertising needs signs that add up to `min_promotion`: a call to action weighs 2; a promise, a superlative and each
    word of hype 1; a superlative 1 more if it is about an offer, and 1 more if it is about the writer itself.
    """

    name: ClassVar[str] = "IdentityCheckValidator"
    gates: ClassVar[dict[Reason, Gate]] = {Reason.ANTHROPOMORPHIC: Gate.HARD, Reason.PROMOTIONAL_TONE: Gate.HARD}

    min_promotion: int = 3

    def run(self, evidence: Evidence) -> Finding | Sequence[Finding]:
        """One finding for each of the two, or one that says that both hold."""
        if evidence.draft.blank:
            return self.skipped("the draft is blank")
        findings = list(filter(None, (self._person(evidence), self._promotion(evidence))))
        if not findings:
            return self.passed(evidence.draft_conduct.rules_alone)
        if text_is_for_user(evidence.query):
            return self.skipped("the user asked for a text: its voice and its tone are not the assistant's")
        return findings

    def _person(self, evidence: Evidence) -> Finding | None:
        draft = evidence.draft
        claims = [c for c in self_claims(draft, evidence.draft_sentences, evidence.query) if c.kind in PERSONAL]
        suspicions = personal(draft, evidence.draft_conduct)
        if not claims and not suspicions:
            return None
        spans = places_in(draft, (*claims, *suspicions))
        said, decided = shown(draft.raw[slice(*spans[0])]), decided_by(bool(claims), suspicions)
        repairs = without_manners(evidence, claims, suspicions)
        return self.flagged(Reason.ANTHROPOMORPHIC, f"speaks as a person ({decided}): {said}", spans, repairs)

    def _promotion(self, evidence: Evidence) -> Finding | None:
        draft, passages = evidence.draft, [passage.text for passage in evidence.passages]
        signs = self._decisive_signs(evidence, passages)
        suspicions = _selling(draft, evidence.draft_conduct.of("sell"), passages)
        if not signs and not suspicions:
            return None
        spans = places_in(draft, (*(sign.match for sign in signs), *suspicions))
        said = ", ".join(shown(draft.raw[start:end]) for start, end in spans[:4])
        decided = decided_by(bool(signs), suspicions)
        return self.flagged(Reason.PROMOTIONAL_TONE, f"advertises ({decided}): {said}", spans=spans)

    def _decisive_signs(self, evidence: Evidence, passages: list[Text]) -> list[_Sign]:
        """The signs of the writer's own that no passage has, if together they are enough."""
        draft = evidence.draft
        own = _own_signs(draft, evidence.draft_sentences)
        signs = _unreported(draft, own, passages) if own else []
        return signs if _weight(draft, signs) >= self.min_promotion else []


def _selling(draft: Text, suspicions: Sequence[Suspicion], passages: Sequence[Text]) -> list[Suspicion]:
    """The suspicions that are the writer's own words and not what a passage says."""
    if not suspicions:
        return []
    voice, sources = Voice(draft), [frozenset(passage.folded) for passage in passages]
    own = [s for s in suspicions if own_words(voice, s.sentence) and offers(draft, s.sentence)]
    return [s for s in own if not _is_reported(draft, s.sentence, sources)]


def _is_reported(draft: Text, sentence: Sentence, sources: Sequence[frozenset[str]]) -> bool:
    """Whether one passage has most of the words that say something."""
    said = {word.folded for word in draft.content(sentence.first, sentence.last)}
    return any(len(said & source) >= MOST_REPORTED * len(said) for source in sources)


@dataclass(frozen=True, slots=True)
class _Sign:
    """A sign of advertising, and whether its sentence is about what the writer offers or about the writer."""

    match: Match
    about_offer: bool
    about_oneself: bool


def _own_signs(draft: Text, sentences: Sequence[Sentence]) -> list[_Sign]:
    """The signs that the writer itself asserts, up to as many as could ever be needed."""
    voice = Voice(draft)
    signs: list[_Sign] = []
    for sentence in sentences:
        matches = list(_signs().find(draft, sentence.first, sentence.last))
        if matches and len(signs) < MOST_SIGNS:
            signs += _asserted_signs(voice, sentence, matches[:MOST_SIGNS])
    return signs


def _asserted_signs(voice: Voice, sentence: Sentence, matches: Sequence[Match]) -> list[_Sign]:
    """The signs of one sentence that stand before what it attributes to others, with what it is about."""
    around: dict[str, list[Match]] = {"attributed": [], "offered": [], "oneself": []}
    for phrase in _surroundings().find(voice.text, sentence.first, sentence.last):
        around[phrase.name].append(phrase)
    attribution = around["attributed"][0].first if around["attributed"] else sentence.last
    return [
        _Sign(match, _near(around["offered"], match, OFFER_REACH), _near(around["oneself"], match, SELF_REACH))
        for match in matches
        if match.first < attribution and _is_asserted(voice, sentence, match)
    ]


def _near(around: Sequence[Match], sign: Match, reach: int) -> bool:
    """Whether one of the phrases, given in order, stands in the sign or ends at most `reach` tokens before it."""
    nearest = bisect_right(around, sign.last + 1, key=lambda match: match.first) - 1
    return nearest >= 0 and around[nearest].last >= sign.first - reach


def _is_asserted(voice: Voice, sentence: Sentence, match: Match) -> bool:
    at = match.first
    if match.name in ("hype", "superlative") and _is_name(voice.text, sentence, match):
        return False
    if match.name == "call" and not _opens_call(voice, sentence, at):
        return False
    return voice.states(sentence, at)


def _opens_call(voice: Voice, sentence: Sentence, at: int) -> bool:
    """Whether a call to action begins there: with the sentence, or behind a word that leads up to one."""
    return at <= sentence.first or voice.tokens[at - 1] in word_set("promotion", "before_call")


def _is_name(draft: Text, sentence: Sentence, match: Match) -> bool:
    """'Flawless' with a capital inside the sentence is a song, and 'best-selling' is a fact."""
    word = draft.words[match.first]
    capital = word.capital and not word.upper and match.first > sentence.first
    behind = match.first + 1
    return capital or (word.lower == "best" and behind < len(draft) and draft.words[behind].text == "-")


def _unreported(draft: Text, signs: list[_Sign], passages: list[Text]) -> list[_Sign]:
    """The signs that stand in no passage; all of them where the call to action is the writer's own."""
    sources = [f" {' '.join(passage.folded)} " for passage in passages]
    own = [sign for sign in signs if not any(f" {_phrase(draft, sign)} " in source for source in sources)]
    return signs if any(sign.match.name == "call" for sign in own) else own


def _phrase(draft: Text, sign: _Sign) -> str:
    return " ".join(draft.folded[sign.match.first : sign.match.last])


def _weight(draft: Text, signs: list[_Sign]) -> int:
    """How strongly the signs speak for advertising, taken together."""
    of = {name: [s for s in signs if s.match.name == name] for name in SIGNS}
    called = bool(of["call"])
    promises = len({sign.match.first for sign in of["promise"]})
    return (
        CALL_WEIGHT * called
        + min(_hype_counted(draft, of["hype"], called=called), MOST_HYPE)
        + min(promises, MOST_HYPE)
        + _superlative_weight(of["superlative"])
    )


def _hype_counted(draft: Text, hype: Sequence[_Sign], *, called: bool) -> int:
    """How many words of hype count: one, but where something is offered every other one."""
    words = {_phrase(draft, sign): sign.about_offer for sign in hype}
    return len(words) if called or any(words.values()) else min(len(words), 1)


def _superlative_weight(superlatives: Sequence[_Sign]) -> int:
    """What superlatives weigh: more about an offer, and more about the writer."""
    about_offer = any(sign.about_offer for sign in superlatives)
    about_oneself = any(sign.about_oneself for sign in superlatives)
    return bool(superlatives) + about_offer + about_oneself
