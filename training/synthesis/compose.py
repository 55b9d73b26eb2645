"""Compose synthetic examples out of passages with questions and answers."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from training.examples import NOT_SUPPORTED, SUPPORTED, UNSUPPORTED, Example, rows
from training.synthesis.declaratives import premise, statement
from training.synthesis.edits import EDITS, Edited, Material, phrase_spans
from training.synthesis.names import names, numbers
from training.synthesis.paraphrase import led_in, paraphrased
from training.synthesis.substitutes import Substitutes
from training.text import Span, sentences

# Changes that can also be made in the passage, so that the claim's wording alone tells nothing.
MIRRORED = (
    "swap_name", "change_number", "change_date", "change_unit", "reverse", "negate", "strengthen", "substitute",
    "add_unfounded", "add_item",
)  # fmt: skip


_ASKS_NUMBER = re.compile(r"\b(?:how many|how much|how long|what year|which year|when|bao nhiêu|năm nào)\b", re.I)


@dataclass(frozen=True, slots=True)
class Question:
    """A question over a passage; no answers when the passage has none."""

    id: str
    lang: str
    passage: str
    question: str
    answers: tuple[str, ...]
    answerable: bool
    title: str


def read_questions(path: Path) -> list[Question]:
    """The questions of a file in the question-answering form."""
    return [
        Question(
            row["id"], row["lang"], row["context"], row["question"], tuple(row["answers"]),
            row["answerable"], row.get("title") or row["context"][:40],
        )
        for row in rows(path)
    ]  # fmt: skip


@dataclass(slots=True)
class Composer:
    """Makes examples of one language; the same seed and input give the same examples."""

    questions: Sequence[Question]
    seed: int
    dataset: str
    most_sentences: int = 6
    foreign: dict[str, tuple[str, ...]] = field(default_factory=dict)
    near: dict[str, list[str]] = field(default_factory=dict)
    substitutes: Substitutes | None = None

    def __post_init__(self) -> None:
        self.substitutes = self.substitutes or Substitutes(
            sorted({question.passage for question in self.questions}), self.questions[0].lang
        )
        for question in self.questions:
            passages = self.near.setdefault(question.title, [])
            if question.passage not in passages:
                passages.append(question.passage)
        by_title: dict[str, set[str]] = defaultdict(set)
        for question in self.questions:
            by_title[question.title] |= {question.passage[slice(*s)] for s in names(question.passage)}
        titles = sorted(by_title)
        for title in titles:
            chance = random.Random(f"{self.seed}-{title}")
            others = [n for t in chance.sample(titles, min(6, len(titles))) if t != title for n in sorted(by_title[t])]
            self.foreign[title] = tuple(chance.sample(others, min(40, len(others))))

    def premises(self) -> Iterator[Example]:
        """What each question takes for granted: true of its passage, unfounded by another on the same subject."""
        for question in self.questions:
            chance = random.Random(f"{self.seed}-{question.id}-premise")
            claim = premise(question.question, question.lang) if question.answerable else None
            if claim is None:
                continue
            yield self._example(question, "premise", claim, question.passage, SUPPORTED, ())
            for name, edited in edited_ways(self._material(question, claim), chance, 1):
                if name != "negate":
                    label, spans = edited.label, edited.spans
                    yield self._example(question, f"premise-{name}", edited.text, question.passage, label, spans)
            rest = without_sentences(question.passage, question.answers) if question.answers else None
            others = [passage for passage in self.near[question.title] if passage != question.passage]
            if others and chance.random() < 0.6:
                rest = chance.choice(others)
            if rest:
                example = self._example(question, "premise-absent", claim, rest, UNSUPPORTED, ())
                yield replace(example, spans=None)

    def examples(self) -> Iterator[Example]:
        """All examples: from sentences of each passage once, from each question."""
        seen: set[str] = set()
        for question in self.questions:
            chance = random.Random(f"{self.seed}-{question.id}")
            if question.passage not in seen:
                seen.add(question.passage)
                yield from self._from_sentences(question, chance)
            yield from self._from_question(question, chance)

    def _example(
        self, question: Question, kind: str, claim: str, passage: str, label: str, spans: Sequence[Span]
    ) -> Example:
        chance = random.Random(f"{self.seed}-{question.id}-{kind}")
        if chance.random() < 0.15:
            claim, spans = led_in(claim, spans, question.lang, chance)
        return Example(
            id=f"{question.id}-{kind}",
            dataset=self.dataset,
            lang=question.lang,
            claim=claim,
            passages=(passage,),
            label=label,
            spans=tuple(spans),
            group=question.title,
        )

    def _material(self, question: Question, claim: str) -> Material:
        return Material(question.lang, claim, question.passage, self.foreign[question.title], self.substitutes)

    def _from_sentences(self, question: Question, chance: random.Random) -> Iterator[Example]:
        fit = [(s, e) for s, e in sentences(question.passage) if 6 <= len(question.passage[s:e].split()) <= 45]
        for number, (start, end) in enumerate(chance.sample(fit, min(self.most_sentences, len(fit)))):
            claim = question.passage[start:end]
            alone = chance.random() < 0.2
            source = replace(question, passage=claim) if alone else question
            yield from self._sentence_examples(source, claim, f"s{number}", chance)
        yield from self._elsewhere(question, chance)

    def _elsewhere(self, question: Question, chance: random.Random) -> Iterator[Example]:
        """A sentence on the same subject that stands in another passage, as a claim on this one."""
        others = [passage for passage in self.near[question.title] if passage != question.passage]
        if not others:
            return
        other = chance.choice(others)
        fit = [other[s:e] for s, e in sentences(other) if 6 <= len(other[s:e].split()) <= 40]
        for number, sentence in enumerate(chance.sample(fit, min(2, len(fit)))):
            if sentence not in question.passage:
                claim = paraphrased(sentence, question.lang, chance)
                yield self._example(
                    question, f"e{number}-elsewhere", claim, question.passage, UNSUPPORTED, ((0, len(claim)),)
                )

    def _sentence_examples(
        self, question: Question, sentence: str, tag: str, chance: random.Random
    ) -> Iterator[Example]:
        passage = question.passage
        claim = paraphrased(sentence, question.lang, chance)
        yield self._example(question, f"{tag}-kept", claim, passage, SUPPORTED, ())
        for name, edited in edited_ways(self._material(question, claim), chance, 3):
            yield self._example(question, f"{tag}-{name}", edited.text, passage, edited.label, edited.spans)
        mirrored = edited_ways(self._material(question, sentence), chance, 2, MIRRORED)
        for name, edited in mirrored:
            yield from self._mirrored(question, sentence, tag, name, edited, chance)
        if chance.random() < 0.3:
            rest = passage.replace(sentence, " ").strip()
            if len(rest) > 150:
                yield self._example(question, f"{tag}-absent", claim, rest, UNSUPPORTED, ((0, len(claim)),))
        if chance.random() < 0.35:
            yield from self._joined(question, sentence, tag, chance)

    def _mirrored(
        self, question: Question, sentence: str, tag: str, name: str, edited: Edited, chance: random.Random
    ) -> Iterator[Example]:
        """The change made in the passage: then the changed claim holds and the first one does not."""
        changed = question.passage.replace(sentence, edited.text)
        if changed == question.passage:
            return
        claim = paraphrased(edited.text, question.lang, chance, 1)
        yield self._example(question, f"{tag}-{name}-both", claim, changed, SUPPORTED, ())
        if not edited.replaced:
            return
        if len(list(phrase_spans(sentence, edited.replaced))) == 1 and not list(phrase_spans(changed, edited.replaced)):
            at = next(phrase_spans(sentence, edited.replaced))
            yield self._example(question, f"{tag}-{name}-passage", sentence, changed, edited.label, (at,))

    def _joined(self, question: Question, sentence: str, tag: str, chance: random.Random) -> Iterator[Example]:
        """Two sentences in one claim: both of the passage, or the second from another passage."""
        own = [question.passage[s:e] for s, e in sentences(question.passage)]
        own = [text for text in own if text != sentence and 5 <= len(text.split()) <= 25]
        if own:
            second = chance.choice(own)
            yield self._example(question, f"{tag}-joined", f"{sentence} {second}", question.passage, SUPPORTED, ())
        other = chance.choice(self.questions)
        strange = [other.passage[s:e] for s, e in sentences(other.passage)]
        strange = [text for text in strange if 5 <= len(text.split()) <= 25]
        if strange and other.title != question.title:
            second = chance.choice(strange)
            span = (len(sentence) + 1, len(sentence) + 1 + len(second))
            yield self._example(
                question, f"{tag}-strange", f"{sentence} {second}", question.passage, UNSUPPORTED, (span,)
            )

    def _from_question(self, question: Question, chance: random.Random) -> Iterator[Example]:
        if not question.answerable:
            yield from self._from_unanswerable(question, chance)
            return
        if not question.answers or len(question.answers[0].split()) > 14:
            return
        answer = question.answers[0]
        claim, span = statement(question.question, answer, question.lang, chance)
        yield self._example(question, "answer", claim, question.passage, SUPPORTED, ())
        for number, wrong in enumerate(wrong_answers(question, answer, chance, 2)):
            text, at = statement(question.question, wrong, question.lang, chance)
            yield self._example(question, f"wrong{number}", text, question.passage, NOT_SUPPORTED, (at,))
        for name, edited in edited_ways(self._material(question, claim), chance, 2):
            yield self._example(question, name, edited.text, question.passage, edited.label, edited.spans)
        yield from self._longer(question, claim, chance)
        rest = without_sentences(question.passage, question.answers)
        if rest and chance.random() < 0.5:
            yield self._example(question, "absent", claim, rest, UNSUPPORTED, (span,))

    def _longer(self, question: Question, claim: str, chance: random.Random) -> Iterator[Example]:
        """The statement in a longer answer: true throughout, or with one fault in either part."""
        own = [question.passage[s:e] for s, e in sentences(question.passage)]
        own = [text for text in own if 6 <= len(text.split()) <= 30]
        if not own:
            return
        more = paraphrased(chance.choice(own), question.lang, chance)
        both = f"{claim} {more}"
        yield self._example(question, "longer", both, question.passage, SUPPORTED, ())
        for name, edited in edited_ways(self._material(question, both), chance, 1):
            yield self._example(question, f"longer-{name}", edited.text, question.passage, edited.label, edited.spans)

    def _from_unanswerable(self, question: Question, chance: random.Random) -> Iterator[Example]:
        for wrong in wrong_answers(question, "", chance, 1):
            text, _ = statement(question.question, wrong, question.lang, chance)
            example = self._example(question, "unanswerable", text, question.passage, NOT_SUPPORTED, ())
            # What is at fault may be the question's premise as well as the answer: the place is not known.
            yield replace(example, spans=None)


def edited_ways(
    material: Material, chance: random.Random, most: int, kinds: Sequence[str] = tuple(EDITS)
) -> list[tuple[str, Edited]]:
    """Up to `most` different changes that this claim allows."""
    made: list[tuple[str, Edited]] = []
    for name in chance.sample(list(kinds), len(kinds)):
        edited = EDITS[name](material, chance)
        if edited is not None and edited.text != material.claim:
            made.append((name, edited))
        if len(made) == most:
            break
    return made


def wrong_answers(question: Question, answer: str, chance: random.Random, most: int) -> list[str]:
    """Names or numbers of the same passage, of the answer's kind, that do not answer the question."""
    passage = question.passage
    numeric = bool(re.search(r"\d", answer) if answer else _ASKS_NUMBER.search(question.question))
    spans = numbers(passage) if numeric else names(passage)
    told = " ".join([*question.answers, question.question]).casefold()
    pool = sorted({passage[slice(*span)] for span in spans})
    fit = [
        text for text in pool if text.casefold() not in told and not (answer and answer.casefold() in text.casefold())
    ]
    return chance.sample(fit, min(most, len(fit)))


def without_sentences(passage: str, answers: Sequence[str]) -> str | None:
    """The passage without the sentences that hold an answer; None when too little is left."""
    kept = [
        passage[s:e]
        for s, e in sentences(passage)
        if not any(answer.casefold() in passage[s:e].casefold() for answer in answers)
    ]
    rest = " ".join(kept)
    return rest if len(rest) > 150 and rest != passage else None


def cross_language(claims: Sequence[Example], passage_of: dict[str, str], lang: str) -> Iterator[Example]:
    """Claims of one language against the passage of the same question in the other.

    `passage_of` maps the shared part of an id to the passage in the other language.
    """
    for claim in claims:
        key = shared_id(claim.id)
        kind = claim.id.rsplit("-", 1)[-1]
        if key not in passage_of or kind in ("both", "passage", "absent", "strange", "elsewhere"):
            continue
        # Only what the question asks for is sure to stand in both passages of a question of MLQA.
        if key.startswith("mlqa") and not re.fullmatch(r"answer|wrong\d|premise", kind):
            continue
        yield replace(claim, id=f"cross-{claim.id}", dataset="synthetic_cross", lang=lang, passages=(passage_of[key],))


def shared_id(id_: str) -> str:
    """The part of a question's id that is the same in all languages."""
    match = re.match(r"(xquad|mlqa-dev)-(?:en|vi)-(\w+)", id_)
    return f"{match.group(1)}-{match.group(2)}" if match else ""


def passages_as_questions(found: Sequence[Example], most: int) -> list[Question]:
    """English passages of other sets, as material for claims on their sentences."""
    passages: dict[str, str] = {}
    for example in found:
        text = " ".join(example.passages)
        if 200 <= len(text) <= 6000 and text != text.lower():
            passages.setdefault(text, example.group)
    chosen = random.Random(31).sample(sorted(passages), min(most, len(passages)))
    return [Question(f"more-{n}", "en", text, "", (), True, passages[text]) for n, text in enumerate(chosen)]
