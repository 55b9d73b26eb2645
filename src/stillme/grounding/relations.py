"""Who does what to whom: small frames around a word, compared between a claim and a statement that has all its words.

A frame is a word with what stands next to it on either side, turned round in the passive. A claim whose words all stand in the
source may still put them together otherwise: the agent made the patient, one clause's subject given another clause's object,
'from A to B' turned into 'from B to A'.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from stillme.grounding.statements import CLAUSE_MARKS, Statement
from stillme.languages import has, word_set

__all__ = ["rearranged"]

Words = frozenset[str]
NOTHING: Final[Words] = frozenset()
PRONOUN: Final[Words] = frozenset({"*"})


class _Frame(NamedTuple):
    """What stands on either side of a word; `hard` words are capitalised."""

    agent: Words
    patient: Words
    hard: Words


def rearranged(claim: Statement, source: Statement) -> tuple[int, int] | None:
    """The tokens of the claim that stand in other relations than in the source; None if nothing says so."""
    return _roles(claim, source) or _directions(claim, source)


def _roles(claim: Statement, source: Statement) -> tuple[int, int] | None:
    theirs: dict[str, list[_Frame]] = {}
    for token in source.content:
        frame = _frame(source, token)
        if frame is not None:
            theirs.setdefault(source.reading.text.words[token].stem, []).append(frame)
    syllables = has(claim.reading.language, "syllables")
    for token in claim.content:
        frames = theirs.get(claim.reading.text.words[token].stem)
        mine = _frame(claim, token) if frames else None
        if mine is None or not frames or (syllables and not mine.agent & mine.hard):
            continue  # a syllable may be half a word: there only a named agent tells
        if _misfits(mine, frames, source, by_name=syllables):
            return token, token + 1
    return None


def _misfits(mine: _Frame, frames: list[_Frame], source: Statement, *, by_name: bool) -> bool:
    """No frame of the source has both sides of the claim's, and one has them turned, mixed, or with somebody else.

    `by_name`: only names tell, because the other words may be halves of words.
    """
    if any(_fits(mine.agent, f.agent) and _fits(mine.patient, f.patient) for f in frames):
        return False
    if any(_turned(mine, f) for f in frames):
        return True
    if by_name:
        frames = [f for f in frames if f.agent & f.hard]
    agents = [f for f in frames if not by_name and _fits(mine.agent, f.agent)]
    patients = [f for f in frames if _same(mine.patient, f.patient)]
    if patients and any(_same(mine.agent, f.agent) for f in agents):
        return True
    if any(mine.patient & mine.hard and f.patient & f.hard for f in agents):
        return True
    words = source.reading.text.words
    names = [frozenset(words[i].stem for i in range(n.first, n.last)) for n in source.names]
    return any(_is_name(f.agent, names) and _is_name(mine.agent, names) for f in patients)


def _turned(mine: _Frame, theirs: _Frame) -> bool:
    """The agent is the patient there and the patient the agent; a pronoun may stand for one of them."""
    agent, patient = _same(mine.agent, theirs.patient), _same(mine.patient, theirs.agent)
    return (agent and patient) or (agent and theirs.agent == PRONOUN) or (patient and theirs.patient == PRONOUN)


def _fits(mine: Words, theirs: Words) -> bool:
    return not mine or not theirs or PRONOUN in (mine, theirs) or _same(mine, theirs)


def _same(mine: Words, theirs: Words) -> bool:
    return bool(mine and theirs) and (mine <= theirs or theirs <= mine)


def _is_name(words: Words, names: list[Words]) -> bool:
    return bool(words) and any(words <= name or name <= words for name in names)


def _frame(statement: Statement, token: int) -> _Frame | None:
    """The frame of a word that is not itself part of a name or a figure; None where nothing stands around it."""
    words = statement.reading.text.words
    before = words[token - 1].lower if token > statement.first else ""
    if token in statement.figured:
        return None
    if (
        words[token].capital
        or words[token].number
        or before in word_set("grammar", "articles")
        or before in word_set("polarity", "preposition")
        or before in word_set("grammar", "as")
    ):
        return None  # a name, a figure, or a noun: what follows an article is no verb
    left, hard_left, _ = _phrase(statement, token, -1)
    right, hard_right, passive = _phrase(statement, token, +1)
    if not right or not left:
        return None
    sides = (right, left) if passive else (left, right)
    return _Frame(*sides, hard_left | hard_right)


def _phrase(statement: Statement, token: int, step: int) -> tuple[Words, Words, bool]:
    """The words of the next noun phrase in a direction, the hard ones among them, and whether 'by' stands before it."""
    words, skipped = statement.reading.text.words, statement.reading.skipped
    found, hard, passive = set[str](), set[str](), False
    i = token + step
    while statement.first <= i < statement.last and len(found) < 4:
        word = words[i]
        if i in skipped or word.text in CLAUSE_MARKS or word.lower in word_set("grammar", "clause_words"):
            break
        if word.number:
            pass  # figures are compared by value elsewhere
        elif word.content:
            found.add(word.stem)
            if word.capital and (i > statement.first or i in statement.named):
                hard.add(word.stem)
        elif found or (
            step > 0 and word.lower in word_set("polarity", "preposition") - word_set("grammar", "comparing")
        ):
            break
        if word.lower in word_set("grammar", "pronouns") and step < 0 and not found:
            return PRONOUN, NOTHING, False
        passive = passive or (word.lower in word_set("grammar", "passive") and not found)
        i += step
    return frozenset(found), frozenset(hard), passive


def _directions(claim: Statement, source: Statement) -> tuple[int, int] | None:
    """A preposition with another word than in the source, where the source has that word with another preposition."""
    mine, theirs = _attached(claim), _attached(source)
    if len(mine) < 2 or len(theirs) < 2:
        return None
    for preposition, phrase, token in mine:
        if any(p == preposition and _same(phrase, other) for p, other, _ in theirs):
            continue
        used_otherwise = any(p == preposition for p, _, _ in theirs)
        stands_otherwise = any(p != preposition and _same(phrase, other) for p, other, _ in theirs)
        if used_otherwise and stands_otherwise and _exchanged(mine, theirs):
            return token, token + 1
    return None


def _exchanged(mine: list[tuple[str, Words, int]], theirs: list[tuple[str, Words, int]]) -> bool:
    """Whether two phrases have changed prepositions with each other, not merely one of them its own."""
    moved = [
        (p, q)
        for p, phrase, _ in mine
        for q, other, _ in theirs
        if p != q and _same(phrase, other) and not any(r == p and _same(phrase, o) for r, o, _ in theirs)
    ]
    return any((q, p) in moved for p, q in moved)


def _attached(statement: Statement) -> list[tuple[str, Words, int]]:
    """Each preposition with the phrase behind it."""
    words = statement.reading.text.words
    found: list[tuple[str, Words, int]] = []
    for i in range(statement.first, statement.last - 1):
        if words[i].lower in word_set("polarity", "preposition"):
            phrase: set[str] = set()
            for j in range(i + 1, min(i + 6, statement.last)):
                if words[j].content and not words[j].number:
                    phrase.add(words[j].stem)
                elif phrase or words[j].lower not in word_set("grammar", "articles"):
                    break
            if phrase:
                found.append((words[i].lower, frozenset(phrase), i))
    return found
