"""ReligiousChoiceValidator: the assistant chooses, ranks, professes and urges no religion, and no atheism either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from stillme.conduct.classifiers import Suspicion, decided_by, own_words, takes_sides
from stillme.conduct.voice import Phrases, Voice, phrases, places_in, text_is_for_user, tokens_of
from stillme.errors import shown
from stillme.languages import compiled, load
from stillme.reasons import Gate, Reason
from stillme.text.lexicon import Lexicon, Match
from stillme.text.tokens import Sentence, Text, fold, word_of
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["ReligiousChoiceValidator"]

NAMED: Final = {"profess": "professes", "rank": "ranks", "urge": "urges"}
REACH: Final = 3


@compiled
def _choices() -> Lexicon:
    rules = load("religion")
    return Lexicon(rules["lists"], rules["classes"])


@compiled
def _topics(folded: bool) -> frozenset[str]:
    """The words without which a text says nothing about a religion."""
    rules = load("religion")
    names = (row for name in rules["named"] for rows in rules["classes"][name] for row in rows.split("|"))
    words = [*rules["topics"].split(), *names]
    last = {word.rsplit("_", 1)[-1] for word in words}
    if not folded:
        return frozenset(last)
    # without accents the shortest names are English words
    return frozenset(word for word in map(fold, last) if len(word) > 2 and not word_of(word).stop)


@compiled
def _exceptions() -> Lexicon:
    rules = load("religion")
    return Lexicon({name: rules[name] for name in ("procedure", "as_topic", "compound")})


@compiled
def _phrases(name: str, folded: bool) -> Phrases:
    return phrases(load("religion")[name], folded=folded)


@dataclass(frozen=True, slots=True)
class ReligiousChoiceValidator(Observer):
    """The draft takes no side among religions or in politics: facts, reported beliefs and a refusal to choose pass."""

    name: ClassVar[str] = "ReligiousChoiceValidator"
    gates: ClassVar[dict[Reason, Gate]] = {Reason.RELIGIOUS_CHOICE: Gate.HARD}

    def run(self, evidence: Evidence) -> Finding:
        """Flag what the assistant itself says for or against a religion."""
        draft = evidence.draft
        if draft.blank:
            return self.skipped("the draft is blank")
        in_text_for_user = text_is_for_user(evidence.query)
        own = [match for match in _own_choices(evidence) if not (match.name == "profess" and in_text_for_user)]
        suspicions = [] if in_text_for_user else _suspected(evidence)
        if not own and not suspicions:
            return self.passed(evidence.draft_conduct.rules_alone)
        spans = places_in(draft, (*own, *suspicions))
        acts = " and ".join(dict.fromkeys(NAMED[match.name] for match in own))
        act = f"{acts} a religion" if acts else "takes a side in religion or politics"
        said, decided = shown(draft.raw[slice(*spans[0])]), decided_by(bool(own), suspicions)
        return self.flagged(Reason.RELIGIOUS_CHOICE, f"{act} ({decided}): {said}", spans=spans)


def _own_choices(evidence: Evidence) -> list[Match]:
    """What the rules find."""
    draft = evidence.draft
    if _topics(not draft.accented).isdisjoint(tokens_of(draft)):
        return []
    reader = _ChoiceReader(draft)
    return [match for sentence in evidence.draft_sentences for match in reader.choices(sentence)]


def _suspected(evidence: Evidence) -> list[Suspicion]:
    """What the classifier suspects, where the sentence or the question names a religion or a matter of politics."""
    draft, suspicions = evidence.draft, evidence.draft_conduct.of("choice")
    if not suspicions:
        return []
    voice, asked = Voice(draft), takes_sides(evidence.query)
    named = [s for s in suspicions if asked or takes_sides(draft, s.sentence.first, s.sentence.last)]
    return [s for s in named if own_words(voice, s.sentence)]


class _Exceptions:
    """What in a sentence makes its words for a religion those of a fact."""

    __slots__ = ("_places",)

    def __init__(self, draft: Text, sentence: Sentence) -> None:
        self._places: dict[str, list[int]] = {"compound": [], "as_topic": [], "procedure": []}
        for match in _exceptions().find(draft, sentence.first, sentence.last):
            self._places[match.name].append(match.first)

    def spare(self, match: Match) -> bool:
        """Whether a match names a thing or a topic, or only tells how something is done."""
        if match.last in self._places["compound"]:
            return True
        if match.name == "profess":
            return any(topic >= match.last for topic in self._places["as_topic"])
        tells_how = match.name == "urge" and self._places["procedure"]
        return bool(tells_how) and self._places["procedure"][0] not in range(match.first, match.last)


class _ChoiceReader:
    """One draft, asked whether a choice of religion is its writer's own."""

    __slots__ = ("draft", "tokens", "voice")

    def __init__(self, draft: Text) -> None:
        self.draft = draft
        self.voice = Voice(draft)
        self.tokens = self.voice.tokens

    def choices(self, sentence: Sentence) -> list[Match]:
        """What one sentence says for or against a religion in its writer's own voice."""
        matches = _choices().find(self.draft, sentence.first, sentence.last)
        asserted = [match for match in matches if self._is_asserted(sentence, match)]
        if not asserted:
            return []
        exceptions = _Exceptions(self.draft, sentence)
        if self._is_attributed(sentence):
            asserted = [match for match in asserted if match.name == "profess"]
        return [match for match in asserted if not exceptions.spare(match)]

    def _is_asserted(self, sentence: Sentence, match: Match) -> bool:
        at = match.first
        if not self.voice.states(sentence, at) or self.voice.reports(sentence, at):
            return False
        return match.name != "profess" or self._is_professed(sentence, match)

    def _is_professed(self, sentence: Sentence, match: Match) -> bool:
        """Whether the first person is who believes, and a religion what it believes."""
        if self._is_owned(match.first) or self._is_supposed(sentence, match.first):
            return False
        return not self._is_name(sentence, match)

    def _is_owned(self, at: int) -> bool:
        """The first person only owns the subject: 'my mother follows'; without accents it may be another word."""
        return self.tokens[at] == "to" or (at > 0 and self._ends("owners", at - 1))

    def _is_supposed(self, sentence: Sentence, at: int) -> bool:
        return at > sentence.first and self._ends("supposing", at - 1)

    def _is_name(self, sentence: Sentence, match: Match) -> bool:
        """'I am a Christian Dior fan': the word goes on into a name."""
        words = self.draft.words
        return match.last < sentence.last and words[match.last].capital and words[match.last - 1].capital

    def _is_attributed(self, sentence: Sentence) -> bool:
        """'Muslims believe that …', 'theo giáo lý …', but not 'I believe that …'."""
        attributions = [i for i in range(sentence.first, sentence.last) if self._ends("attributing", i)]
        return not all(self._follows_speaker(i, sentence) for i in attributions)

    def _follows_speaker(self, at: int, sentence: Sentence) -> bool:
        """Whether the writer itself is the one who thinks or says what stands there."""
        return any(self._ends("speakers", i) for i in range(max(sentence.first, at - REACH), at))

    def _ends(self, name: str, at: int) -> bool:
        """Whether a phrase of the list ends at the token."""
        return _phrases(name, not self.draft.accented).ending(self.tokens, at)
