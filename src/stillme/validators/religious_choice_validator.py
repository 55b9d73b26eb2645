"""ReligiousChoiceValidator: the assistant chooses, ranks, professes and urges no religion, and no atheism either."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Final

from stillme.evidence.lexicon import Lexicon, Match
from stillme.evidence.rules import load
from stillme.evidence.text import Sentence, Text, fold, word_of
from stillme.evidence.voice import Phrases, Voice, phrases, text_is_for_user, tokens_of
from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["ReligiousChoiceValidator"]

NAMED: Final = {"profess": "professes", "rank": "ranks", "urge": "urges"}
SPEAKERS: Final = frozenset({"i", "i'm", "i'd", "we", "you", "tôi", "toi", "mình", "tớ"})
OWNERS: Final = frozenset({"mẹ", "bố", "cha", "nội", "ngoại", "chúng", "vợ", "chồng", "trai", "gái", "đình", "bạn", "của", "bà", "ông"})
REACH: Final = 3


@cache
def _choices() -> Lexicon:
    rules = load("religion")
    return Lexicon(rules["lists"], rules["classes"])


@cache
def _topics(folded: bool) -> frozenset[str]:
    """The words without which a text says nothing about a religion."""
    rules = load("religion")
    names = (row for name in rules["named"] for rows in rules["classes"][name] for row in rows.split("|"))
    words = [*" ".join(rules["topics"].values()).split(), *names]
    last = {word.rsplit("_", 1)[-1] for word in words}
    if not folded:
        return frozenset(last)
    # without accents the shortest names are English words: Ấn, mẹ, tử
    return frozenset(word for word in map(fold, last) if len(word) > 2 and not word_of(word).stop)


@cache
def _exceptions() -> Lexicon:
    rules = load("religion")
    return Lexicon({name: rules[name] for name in ("procedure", "as_topic", "compound")})


@cache
def _attributing(folded: bool) -> Phrases:
    return phrases(load("religion")["attributing"], folded=folded)


@dataclass(frozen=True, slots=True)
class ReligiousChoiceValidator(Observer):
    """The draft takes no side among religions: facts, reported beliefs and a refusal to choose pass."""

    name: ClassVar[str] = "ReligiousChoiceValidator"
    gates: ClassVar[dict[Reason, Gate]] = {Reason.RELIGIOUS_CHOICE: Gate.HARD}

    def run(self, evidence: Evidence) -> Finding:
        """Flag what the assistant itself says for or against a religion."""
        draft = evidence.draft
        if draft.blank:
            return self.skipped("the draft is blank")
        if _topics(not draft.accented).isdisjoint(tokens_of(draft)):
            return self.passed()
        found = [
            (match, sentence)
            for sentence in evidence.draft_sentences
            for match in _choices().find(draft, sentence.first, sentence.last)
        ]
        if not found:
            return self.passed()
        in_text_for_user = text_is_for_user(evidence.query)
        reader = _Reader(draft)
        own = [m for m, s in found if reader.is_own(s, m) and not (m.name == "profess" and in_text_for_user)]
        if not own:
            return self.passed()
        spans = sorted({(draft.starts[m.first], draft.ends[m.last - 1]) for m in own})
        acts = " and ".join(dict.fromkeys(NAMED[m.name] for m in own))
        start, end = spans[0]
        return self.flagged(Reason.RELIGIOUS_CHOICE, f'{acts} a religion: "{draft.raw[start:end]}"', spans=spans)


class _Reader:
    """One draft, asked whether a choice of religion is its writer's own."""

    __slots__ = ("draft", "tokens", "voice")

    def __init__(self, draft: Text) -> None:
        self.draft = draft
        self.voice = Voice(draft)
        self.tokens = self.voice.tokens

    def is_own(self, sentence: Sentence, match: Match) -> bool:
        """Whether the match is asserted by the writer, and of a faith rather than of a topic or a procedure."""
        voice, at = self.voice, match.first
        if voice.quotes(at) or voice.asks(sentence, at) or voice.denies(sentence, at) or voice.reports(sentence, at):
            return False
        exceptions = list(_exceptions().find(self.draft, sentence.first, sentence.last))
        if any(e.name == "compound" and e.first == match.last for e in exceptions):
            return False
        if match.name == "profess":
            as_topic = any(e.name == "as_topic" and e.first >= match.last for e in exceptions)
            return not (as_topic or self._is_owned(at) or self._is_supposed(sentence, at) or self._is_name(sentence, match))
        if self._is_attributed(sentence):
            return False
        return match.name != "urge" or not any(e.name == "procedure" and not at <= e.first < match.last for e in exceptions)

    def _is_owned(self, at: int) -> bool:
        """'Mẹ tôi theo đạo Phật': the first person only owns the subject."""
        return at > 0 and self.tokens[at - 1] in OWNERS

    def _is_supposed(self, sentence: Sentence, at: int) -> bool:
        return at > sentence.first and self.tokens[at - 1] in ("if", "whether", "nếu", "neu", "liệu")

    def _is_name(self, sentence: Sentence, match: Match) -> bool:
        """'I am a Christian Dior fan': the word goes on into a name."""
        words = self.draft.words
        return match.last < sentence.last and words[match.last].capital and words[match.last - 1].capital

    def _is_attributed(self, sentence: Sentence) -> bool:
        """'Muslims believe that …', 'theo giáo lý …', but not 'I believe that …'."""
        attributing = _attributing(not self.draft.accented)
        return any(
            attributing.ending(self.tokens, i) and not SPEAKERS & set(self.tokens[max(sentence.first, i - REACH) : i])
            for i in range(sentence.first, sentence.last)
        )
