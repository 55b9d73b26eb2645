"""The provider that is there with no model at all: it answers with sentences of the passages, as they stand, and cites each.

A sentence is chosen by how much of the question it speaks of, by whether it holds what the question asks for (a date, a figure,
a name) and, where that leaves it in doubt, by how near it is to the question in meaning. One that speaks of "it" comes with the
sentence before it. Where the shipped model reads that the passages do not answer the question, nothing is read out. Nothing is
added, so what is said is in the documents; but facts are not joined, counted or compared: where that is
needed, a language model has to be asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import exp
from typing import Final

from stillme.conduct.instructions import find_instruction
from stillme.contract import VerifyRequest
from stillme.errors import InputError
from stillme.evidence import Evidence
from stillme.grounding.citations import find_markers
from stillme.grounding.passage import Passage
from stillme.grounding.similarity import Embed, query_terms, read
from stillme.grounding.statements import Statement
from stillme.languages import DEFAULT, is_served, language_of
from stillme.llm.messages import Delta, Generation, Prompt
from stillme.models.embedding import embed as embed_texts
from stillme.questions.answers import Question, read_answers
from stillme.text.sentences import ENDS, Sentence
from stillme.text.tokens import Text

__all__ = ["ChosenSentence", "Extractive", "chosen_sentences"]

NAME: Final = "extractive"
MODEL: Final = "extractive"
NO_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
MOST_SENTENCES: Final = 3
MOST_PASSAGES: Final = 64
LONGEST_QUESTION: Final = 8_000
# A list, a table or a page without a full stop is no sentence that one would read out.
LONGEST_SENTENCE: Final = 800
FEWEST_WORDS: Final = 3
LONGEST_TITLE: Final = 8
# The passage of a sentence must be about the question at all: the least similarity that the default policy takes for that.
LEAST_SIMILARITY: Final = 0.45
# What a sentence is worth: words of the question in it, in its passage, the answer that is asked for, nearness in meaning.
OWN_WORDS: Final = 1.0
PASSAGE_WORDS: Final = 0.4
HEADING_WORDS: Final = 0.6
HOLDS_ANSWER: Final = 0.8
NEARNESS: Final = 0.8
# Cosines of the embedder lie close together: below the first a sentence is about something else, at the second about the same.
FAR, NEAR = 0.78, 0.90
MOST_EMBEDDED: Final = 6
# A best sentence of this worth is clear from its words; below it, as across languages, the embedder is asked.
CLEAR: Final = 0.9
# A further sentence is worth adding when it is nearly as good as the best, and says something else.
NEARLY_AS_GOOD: Final = 0.8
SAME_WORDS: Final = 0.6
LEAST_WORTH: Final = 0.5
# What is said where no facts are asked for, by what is asked for.
SAID: Final = {
    "greeting": "greeting",
    "thanks": "talk",
    "chitchat": "talk",
    "assistant": "talk",
    "creative": "work",
    "rewrite": "work",
    "code": "work",
}


@dataclass(frozen=True, slots=True)
class ChosenSentence:
    """A sentence of a passage: `text` is as the passage has it, but for line breaks and citation markers of its own."""

    text: str
    passage: int
    """Its number, the n of `[n]`."""
    position: int
    """Which sentence of the passage it is."""
    worth: float


@dataclass(frozen=True, slots=True)
class Extractive:
    """Answers with the sentences of the passages that fit best, each cited; the same prompt gives the same answer.

    `embed` is asked how near sentences are in meaning; None leaves that to their words.
    """

    embed: Embed | None = embed_texts

    @property
    def name(self) -> str:
        """As requests name it."""
        return NAME

    async def generate(self, prompt: Prompt, model: str | None = None) -> Generation:  # noqa: ARG002  (there is but one)
        """The whole answer."""
        pieces = await asyncio.to_thread(self._pieces, prompt)
        return Generation(" ".join(pieces), NAME, MODEL)

    async def stream(self, prompt: Prompt, model: str | None = None) -> AsyncGenerator[Delta, None]:  # noqa: ARG002
        """The answer sentence by sentence."""
        pieces = await asyncio.to_thread(self._pieces, prompt)
        for n, piece in enumerate(pieces):
            yield Delta(f" {piece}" if n else piece, provider=NAME, model=MODEL)
        yield Delta(finish_reason="stop", provider=NAME, model=MODEL)

    async def aclose(self) -> None:
        """Nothing is held."""

    def _pieces(self, prompt: Prompt) -> list[str]:
        evidence = _evidence(prompt, self.embed)
        language = prompt.language if is_served(prompt.language) else DEFAULT
        said = None if evidence.need.source_required else SAID.get(evidence.need.kind)
        if said is not None:
            return [_own_words(said, language)]
        found = chosen_sentences(evidence, language)
        if not found or _is_unanswered(evidence):
            return [_own_words("nothing", language)]
        return _written(found, evidence, language)


def _is_unanswered(evidence: Evidence) -> bool:
    """Whether the passages leave the question unanswered, as the model reads them: a sentence beside the point is no answer."""
    read = evidence.question_reading
    return read is not None and read.is_unanswered


def chosen_sentences(evidence: Evidence, language: str) -> list[ChosenSentence]:
    """The sentences that answer the question, in the order to be read: of the user's language if there are any, else of the other."""
    found = _candidates(evidence)
    own = [c for c in found if c.passage.language == language]
    for group in (own, [c for c in found if c.passage.language != language]):
        best = max((c.worth for c in group), default=0.0)
        if best >= LEAST_WORTH:
            return _in_reading_order(_selection(group, best))
    return []


def _evidence(prompt: Prompt, embed: Embed | None) -> Evidence:
    if not prompt.question.strip() or len(prompt.question) > LONGEST_QUESTION:
        raise InputError(f"the question is blank or longer than {LONGEST_QUESTION} characters: ask something shorter")
    request = VerifyRequest(
        query=prompt.question, retrieved_context=prompt.passages[:MOST_PASSAGES], conversation=prompt.conversation
    )
    return Evidence(request, NO_TIME, embed=embed)


@dataclass(slots=True, eq=False)
class _SentenceCandidate:
    """A sentence that could be read out."""

    passage: Passage
    statement: Statement
    position: int
    text: str
    worth: float
    refers_back: bool
    """Whether it cannot be understood without the sentence before it."""


def _candidates(evidence: Evidence) -> list[_SentenceCandidate]:
    """Every sentence that could be read out, with what it is worth, best first."""
    answers = _answers(evidence)
    found = [
        candidate
        for n, similarity in enumerate(evidence.similarities)
        if similarity >= LEAST_SIMILARITY
        for candidate in _of_passage(evidence, n, answers)
    ]
    found.sort(key=_rank)
    if evidence.embed is not None and found and found[0].worth < CLEAR:
        rows = evidence.embed([c.text for c in found[:MOST_EMBEDDED]], "passage")
        question = evidence.embed([evidence.query.raw], "query")[0]
        for candidate, row in zip(found, rows, strict=False):
            cosine = round(float(row @ question), 4)
            candidate.worth += NEARNESS * min(1.0, max(0.0, (cosine - FAR) / (NEAR - FAR)))
    return sorted(found, key=_rank)


def _rank(candidate: _SentenceCandidate) -> tuple[float, int, int]:
    return -round(candidate.worth, 6), candidate.passage.number, candidate.position


def _answers(evidence: Evidence) -> dict[int, float]:
    """By the identity of a statement, how likely it holds what the question asks for."""
    question = Question.of(evidence.query)
    found: dict[int, float] = {}
    for answers in (read_answers(question, evidence.library) if question else {}).values():
        for answer in answers:
            key = id(answer.place.statement)
            found[key] = max(found.get(key, 0.0), 1 / (1 + exp(-answer.log_odds)))
    return found


def _of_passage(evidence: Evidence, n: int, answers: dict[int, float]) -> Iterator[_SentenceCandidate]:
    """The sentences of one passage, each with the worth that its words give it."""
    passage, query = evidence.passages[n], evidence.query
    terms = query_terms(query, evidence.query_language)
    total = sum(2.0 if query.words[i].capital and i else 1.0 for i in terms) or 1.0
    said = read(query, terms, passage) if terms else None
    steered = _steering_sentences(passage)
    weights, share = (said.weights, said.share) if said else ({}, 0.0)
    above, lead = 0.0, None
    for k, statement in enumerate(evidence.library.readings[n].statements):
        own = weights.get(k, 0.0) / total
        leads = _leads(passage, k)
        text = None if k in steered else _read_out(evidence, passage, k, 1 if leads else FEWEST_WORDS)
        if leads:
            above, lead = own, text
            continue
        led, lead = lead, None
        if text is None:
            continue
        refers_back = statement.refers_back and k > 0
        if refers_back and led is not None:  # a heading or a question says what "it" is
            text, refers_back = f"{led} {text}", False
        words = OWN_WORDS * own + HEADING_WORDS * min(above, 1 - own) + PASSAGE_WORDS * share
        worth = words + HOLDS_ANSWER * answers.get(id(statement), 0.0)
        yield _SentenceCandidate(passage, statement, k, text, worth, refers_back)


def _leads(passage: Passage, k: int) -> bool:
    """Whether a sentence leads to the ones below it: a heading, or a question that they answer."""
    sentence, raw = passage.sentences[k], passage.text.raw
    if raw[sentence.start : sentence.end].rstrip("\"'”’)*_ ").endswith("?"):
        return True
    start, end = passage.text.line(sentence.start)
    if raw[start] == "#":
        return True
    stands_alone = sentence.end >= end and not raw[start : sentence.start].strip() and raw[end : end + 2] == "\n\n"
    return stands_alone and raw[sentence.end - 1] not in ENDS and _is_title(passage.text, sentence)


def _is_title(text: Text, sentence: Sentence) -> bool:
    """Whether a line is short and has neither figures nor the marks of a list or a table."""
    words = text.words[sentence.first : sentence.last]
    return len(words) <= LONGEST_TITLE and not any(w.number or w.text in ":|" for w in words)


def _steering_sentences(passage: Passage) -> set[int]:
    """The sentences that try to steer a model, and what follows them in their paragraph."""
    if find_instruction(passage.text) is None:
        return set()
    found: set[int] = set()
    raw, before = passage.text.raw, 0
    steers = False
    for k, sentence in enumerate(passage.sentences):
        steers = steers and "\n\n" not in raw[before : sentence.start]
        steers = steers or find_instruction(Text(raw[sentence.start : sentence.end])) is not None
        before = sentence.end
        if steers:
            found.add(k)
    return found or set(range(len(passage.sentences)))


def _read_out(evidence: Evidence, passage: Passage, k: int, fewest_words: int) -> str | None:
    """A sentence as it can be read out: in one line, without markers that point elsewhere, with an end; None if it is none."""
    sentence = passage.sentences[k]
    raw = passage.text.raw[sentence.start : sentence.end]
    words = sum(w.word for w in passage.text.words[sentence.first : sentence.last])
    if len(raw) > LONGEST_SENTENCE or words < fewest_words:
        return None
    parts, at = list[str](), 0
    for marker in find_markers(Text(raw), evidence.passages, len(evidence.request.retrieved_context)):
        parts.append(raw[at : marker.start].rstrip())
        at = marker.end
    text = " ".join("".join([*parts, raw[at:]]).split()).rstrip(";,: ")
    return text if text and text.rstrip("\"'”’»)*_`")[-1:] in ENDS else f"{text}."


def _selection(candidates: Sequence[_SentenceCandidate], best: float) -> list[_SentenceCandidate]:
    """The best, and others that are nearly as good and say something else; what one refers back to comes with it."""
    by_place = {(c.passage.number, c.position): c for c in candidates}
    picked: list[_SentenceCandidate] = []
    for candidate in candidates:
        if candidate.worth < NEARLY_AS_GOOD * best:
            break
        if any(_same(candidate, other) for other in picked):
            continue
        run = [c for c in _run(candidate, by_place) if c not in picked]
        if run and len(picked) + len(run) <= MOST_SENTENCES:
            picked += run
    return picked


def _run(
    candidate: _SentenceCandidate, by_place: Mapping[tuple[int, int], _SentenceCandidate]
) -> list[_SentenceCandidate]:
    """A sentence with those before it that it cannot do without; empty where they cannot all be read out: "it" would be another."""
    run = [candidate]
    while run[0].refers_back:
        before = by_place.get((candidate.passage.number, run[0].position - 1))
        if before is None or len(run) == MOST_SENTENCES:
            return []
        run.insert(0, before)
    return run


def _same(one: _SentenceCandidate, other: _SentenceCandidate) -> bool:
    """Whether two sentences say the same, word for word or nearly; other figures make it something else."""
    if one.passage is other.passage and one.position == other.position:
        return True
    mine, theirs = one.statement.stems, other.statement.stems
    if _figures(one) != _figures(other):
        return False
    return len(mine & theirs) >= SAME_WORDS * max(1, min(len(mine), len(theirs)))


def _figures(candidate: _SentenceCandidate) -> frozenset[str]:
    s = candidate.statement
    return frozenset(w.lower for w in s.reading.text.words[s.first : s.last] if w.number)


def _in_reading_order(picked: Iterable[_SentenceCandidate]) -> list[ChosenSentence]:
    """Passages in the order of their best sentence, sentences of one passage as they stand in it."""
    sentences = [ChosenSentence(c.text, c.passage.number, c.position, round(c.worth, 4)) for c in picked]
    rank = {number: n for n, number in enumerate(dict.fromkeys(s.passage for s in sentences))}
    return sorted(sentences, key=lambda s: (rank[s.passage], s.position))


def _written(found: Sequence[ChosenSentence], evidence: Evidence, language: str) -> list[str]:
    by_number = {p.number: p for p in evidence.passages}
    if by_number[found[0].passage].language == language:
        return [f"{s.text} [{s.passage}]" for s in found]
    lead = _own_words("foreign", language)
    return [lead, *(f"“{s.text.replace('”', chr(34)).replace('“', chr(34))}” [{s.passage}]" for s in found)]


def _own_words(name: str, language: str) -> str:
    return str(language_of(language).rules("extractive")[name])
