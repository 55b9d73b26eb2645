"""Fits how answers are read from passages and when two of them disagree (src/stillme/languages/conflicts.yaml).

    python -m training.fit_conflicts DATA_DIR            prints what the figures reach on held-out articles
    python -m training.fit_conflicts DATA_DIR --write    also writes conflicts.yaml

Material are the questions of `qa_contexts_{en,vi}.jsonl`. Six tenths of the articles fit the weights, these and two more the threshold,
the last two measure. Consistent are: a passage, a reworded copy and other passages of its article; a passage and three others of its
article, whether it answers the question or not. Conflicting are: a passage and a reworded copy with another answer ("edited"); the passages
of two questions that ask the same of two names, when one name is put in place of the other ("namesakes"). Edited and
namesakes weigh the same. The threshold is the least at which ALARMS of the consistent groups are called conflicting: a false
conflict is worse than a missed one.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from stillme.contract import RetrievedPassage
from stillme.grounding.passage import Passage
from stillme.grounding.passage_index import Library
from stillme.questions import disagreement
from stillme.questions.answers import FEATURES, KINDS, PossibleAnswer, Question, read_answers, weighed
from stillme.questions.disagreement import (
    PAIR_FEATURES,
    candidate_rivals,
)
from stillme.text.names import capitalised_words
from stillme.text.tokens import Text
from training.synthesis.compose import Question as Row
from training.synthesis.compose import read_questions
from training.synthesis.edits import phrase_spans
from training.synthesis.paraphrase import other_words, without_aside
from training.text import sentences

FIT, CHOOSE, MEASURE = range(6), range(6, 8), range(8, 10)
ALARMS = 0.03
RIDGE = 1e-3
DROPPED = 0.4
ALIKE = 0.4
MOST_NAMESAKES = 4
YEAR = re.compile(r"\b(1\d{3}|20[0-2]\d)\b")
TARGET = Path(disagreement.__file__).with_name("rules") / "conflicts.yaml"
CONSISTENT, EDITED, NAMESAKES = "consistent", "edited", "namesakes"


@dataclass(frozen=True, slots=True)
class Group:
    """A question with passages that agree, or of which the first two disagree."""

    row: Row
    question: Question
    texts: tuple[str, ...]
    label: str


def part(row: Row) -> int:
    """Which tenth of the articles a question belongs to."""
    return int(hashlib.sha256(row.title.encode()).hexdigest(), 16) % 10


def library_of(query: Text, texts: Sequence[str]) -> Library:
    """The passages read, each of a source of its own."""
    passages = [Passage(n, RetrievedPassage(source_id=str(n), text=text)) for n, text in enumerate(texts, 1)]
    return Library(passages, capitalised_words([query, *(p.text for p in passages)]))


def words_of(text: str) -> frozenset[str]:
    """The words of a text without case and accents."""
    return frozenset(Text(text).folded)


# groups


def reworded(text: str, answers: Sequence[str], lang: str, chance: random.Random) -> str:
    """The passage in other words, some sentences left out, those with an answer kept."""
    kept: list[str] = []
    for start, end in sentences(text):
        sentence = text[start:end]
        answering = any(a in sentence for a in answers)
        if not answering and chance.random() < DROPPED:
            continue
        changed = other_words(sentence, lang, chance) or sentence
        changed = (without_aside(changed, lang, chance) if chance.random() < 0.5 else None) or changed
        kept.append(changed if not answering or any(a in changed for a in answers) else sentence)
    return " ".join(kept)


def replaced(text: str, old: str, new: str) -> str | None:
    """The text with a phrase replaced wherever it stands; None if it does not."""
    pieces, at = [], 0
    for start, end in phrase_spans(text, old):
        pieces.append(text[at:start] + new)
        at = end
    return "".join([*pieces, text[at:]]) if pieces else None


def other_figure(answer: str, chance: random.Random) -> str | None:
    """The answer with another year, or with another leading digit."""
    year = YEAR.search(answer)
    if year:
        moved = int(year.group()) + chance.choice([-1, 1]) * chance.randint(2, 40)
        return answer[: year.start()] + str(moved) + answer[year.end() :]
    places = [i for i, c in enumerate(answer) if c.isdigit()][:2]
    if not places:
        return None
    at = chance.choice(places)
    return answer[:at] + chance.choice([d for d in "123456789" if d != answer[at]]) + answer[at + 1 :]


def _form(row: Row, kind: str) -> tuple[str, str, bool, int]:
    answer = row.answers[0]
    return row.lang, kind, answer[:1].isupper(), min(3, len(answer.split()))


class Groups:
    """Makes groups out of the questions of some articles."""

    def __init__(self, rows: Iterable[Row]) -> None:
        read = ((row, Question.of(Text(row.question))) for row in rows)
        self._rows = [(row, question) for row, question in read if question is not None]
        self._others: dict[str, set[str]] = defaultdict(set)
        self._answers: dict[tuple[str, str, bool, int], list[str]] = defaultdict(list)
        for row, question in self._rows:
            self._others[row.title].add(row.passage)
            if row.answers:
                self._answers[_form(row, question.kind)].append(row.answers[0])

    def answered(self) -> list[tuple[Row, Question]]:
        """The questions whose answer is known and stands in the passage."""
        return [(r, q) for r, q in self._rows if r.answers and next(phrase_spans(r.passage, r.answers[0]), None)]

    def make(self, chance: random.Random) -> Iterator[Group]:
        """All groups, consistent and conflicting."""
        for row, question in self._rows:
            near = self.siblings(row, chance)
            if len(near) > 1:
                yield Group(row, question, (row.passage, *near[:3]), CONSISTENT)
        for row, question in self.answered():
            near = self.siblings(row, chance)[: chance.randint(0, 2)]
            same = reworded(row.passage, row.answers, row.lang, chance)
            yield Group(row, question, (row.passage, same, *near), CONSISTENT)
            edited = self._edited(row, question, chance)
            if edited is not None:
                yield Group(row, question, (row.passage, edited, *near), EDITED)
        yield from self._namesakes(chance)

    def siblings(self, row: Row, chance: random.Random) -> list[str]:
        """The other passages of the article, in any order."""
        near = sorted(self._others[row.title] - {row.passage})
        chance.shuffle(near)
        return near

    def _edited(self, row: Row, question: Question, chance: random.Random) -> str | None:
        """A reworded copy of the passage with another answer."""
        if question.kind in ("date", "figure"):
            by = other_figure(row.answers[0], chance)
        else:
            held = words_of(row.passage)
            fitting = [a for a in self._answers[_form(row, question.kind)] if held.isdisjoint(words_of(a))]
            by = chance.choice(fitting) if fitting else None
        text = replaced(row.passage, row.answers[0], by) if by else None
        if by is None or text is None or any(a in text for a in row.answers if a not in by):
            return None
        return reworded(text, [by], row.lang, chance)

    def _namesakes(self, chance: random.Random) -> Iterator[Group]:
        alike: dict[tuple[str, str], list[tuple[Row, Question]]] = defaultdict(list)
        for row, question in self.answered():
            if question.names:
                alike[row.lang, question.kind].append((row, question))
        for items in alike.values():
            for row, question in items:
                held = words_of(row.passage)
                others = [
                    (r, q) for r, q in items
                    if r.title != row.title and _share(question.stems, q.stems) >= ALIKE
                    and held.isdisjoint(words_of(r.answers[0]))
                ]  # fmt: skip
                chance.shuffle(others)
                for other, asked in others[:MOST_NAMESAKES]:
                    text = replaced(other.passage, _longest_name(asked), _longest_name(question))
                    if text:
                        yield Group(row, question, (row.passage, text), NAMESAKES)


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def _longest_name(question: Question) -> str:
    name = max(question.names, key=lambda n: len(n.joined))
    return question.text.slice(name.first, name.last)


# fitting


def newton(x: Any, y: Any, importance: Any, rounds: int = 30) -> Any:
    """Weighted logistic regression with a ridge."""
    weights, share = numpy.zeros(x.shape[1]), importance / importance.sum()
    for _ in range(rounds):
        p = 1 / (1 + numpy.exp(-(x @ weights)))
        gradient = x.T @ (share * (p - y)) + RIDGE * weights
        hessian = (x * (share * p * (1 - p))[:, None]).T @ x + RIDGE * numpy.eye(len(weights))
        weights = weights - numpy.linalg.solve(hessian, gradient)
    return weights


def is_answer(row: Row, answer: str) -> bool:
    """Whether a span is mostly the answer."""
    found = words_of(answer)
    best = max(2 * len(found & gold) / (len(found) + len(gold)) for gold in map(words_of, row.answers))
    return best >= 0.5


def fit_reader(groups: Groups, chance: random.Random) -> dict[str, tuple[float, ...]]:
    """For each kind of question the weights by which an answer is told from other spans, here and in another passage."""
    xs: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    ys: dict[str, list[float]] = defaultdict(list)
    for row, question in groups.answered():
        library = library_of(question.text, [row.passage, *groups.siblings(row, chance)[:1]])
        for passage, place, span, features in weighed(question, library):
            text = place.statement.reading.text.slice(span.first, span.last)
            xs[question.kind].append(features)
            ys[question.kind].append(float(passage == 0 and is_answer(row, text)))
    fitted = {k: newton(numpy.array(xs[k]), numpy.array(ys[k]), numpy.ones(len(ys[k]))) for k in KINDS}
    return {kind: tuple(round(float(w), 3) for w in weights) for kind, weights in fitted.items()}


Pairs = list[tuple[tuple[float, ...], bool]]


def pairs_of(group: Group, reader: dict[str, tuple[float, ...]]) -> Pairs:
    """The features of every two answers that may disagree, and whether they are the two that do."""
    library = library_of(group.question.text, group.texts)
    read = read_answers(group.question, library, reader)
    return [(features, _shown(group, *pair)) for pair, features in candidate_rivals(library, read)]


def _shown(group: Group, mine: PossibleAnswer, theirs: PossibleAnswer) -> bool:
    if group.label == CONSISTENT or (mine.passage, theirs.passage) != (0, 1):
        return False
    words = words_of(mine.text)
    return any(2 * len(words & words_of(a)) >= len(words) for a in group.row.answers)


def fit_pair(found: Sequence[tuple[Group, Pairs]]) -> tuple[float, ...]:
    """The weights by which two answers that disagree are told from two that only differ."""
    x, y, importance = [], [], []
    totals: dict[str, float] = defaultdict(float)
    labels = []
    for group, pairs in found:
        conflicting = group.label != CONSISTENT
        for features, shown in pairs:
            if shown or not conflicting:
                weight = 1.0 if shown else 3.0 / max(3, len(pairs))
                x.append(features), y.append(float(shown)), importance.append(weight), labels.append(group.label)
                totals[group.label] += weight
    half = {CONSISTENT: 1.0, EDITED: 0.5, NAMESAKES: 0.5}
    shares = [w * half[label] / totals[label] for w, label in zip(importance, labels, strict=True)]
    weights = newton(numpy.array(x), numpy.array(y), numpy.array(shares))
    return tuple(round(float(w), 3) for w in weights)


def scores(found: Sequence[tuple[Group, Pairs]], weights: Sequence[float]) -> list[tuple[Group, float]]:
    """For each group the best score of its pairs."""
    return [
        (group, max((sum(w * v for w, v in zip(weights, x, strict=True)) for x, _ in pairs), default=-99.0))
        for group, pairs in found
    ]


def report(scored: Sequence[tuple[Group, float]], threshold: float) -> None:
    """How many groups of each label, language and kind are called conflicting."""
    counts: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for group, score in scored:
        for key in ("all", group.row.lang, group.question.kind):
            counts[group.label, key].append(score >= threshold)
    for label in (CONSISTENT, EDITED, NAMESAKES):
        row = (
            f"{key} {sum(hits) / len(hits):.3f} of {len(hits)}"
            for (counted, key), hits in sorted(counts.items())
            if counted == label
        )
        print(f"{label:12} called conflicting: " + "; ".join(row))


def main() -> None:
    """Fit, report, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = [r for lang in ("en", "vi") for r in read_questions(options.folder / f"qa_contexts_{lang}.jsonl")]
    chance = random.Random("conflicts")
    tenths = [Groups(r for r in rows if part(r) in share) for share in (FIT, CHOOSE, MEASURE)]
    reader = fit_reader(tenths[0], chance)
    found = [[(g, pairs_of(g, reader)) for g in groups.make(chance)] for groups in tenths]
    weights = fit_pair(found[0])
    calm = sorted(score for group, score in scores([*found[0], *found[1]], weights) if group.label == CONSISTENT)
    threshold = round(calm[int(len(calm) * (1 - ALARMS))], 3)
    report(scores(found[2], weights), threshold)
    print("threshold", threshold, dict(zip(PAIR_FEATURES, weights, strict=True)))
    if options.write:
        write(reader, weights, threshold, len(found[0]))


def write(reader: dict[str, tuple[float, ...]], weights: Sequence[float], threshold: float, groups: int) -> None:
    """The figures into conflicts.yaml."""
    lines = [
        f"# Fitted by training/fit_conflicts.py on {groups} groups of passages; see answers.py and disagreement.py."
    ]
    lines += ["# For each kind of question, what makes a span its answer.", "answer:"]
    for kind, row in reader.items():
        lines += [f"  {kind}:", *(f"    {name}: {w}" for name, w in zip(FEATURES, row, strict=True))]
    lines += ["# What makes two answers disagree, and the score from which they do.", "pair:", "  weights:"]
    lines += [f"    {name}: {w}" for name, w in zip(PAIR_FEATURES, weights, strict=True)]
    lines += [f"  threshold: {threshold}", ""]
    TARGET.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
