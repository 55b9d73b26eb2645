"""Minimal pairs: claims written by people beside the same claims with one thing changed, and statements that deny another answer."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from training.examples import NOT_SUPPORTED, SUPPORTED, Example
from training.synthesis.compose import Question, edited_ways, wrong_answers
from training.synthesis.declaratives import Statement, placed_statement
from training.synthesis.edits import Material
from training.synthesis.lexicon import lexicon
from training.synthesis.names import names
from training.synthesis.substitutes import Substitutes

EDITED = "edited_claims"
# Sets whose supported claims say what their passages say in other words.
REWORDED = ("defacto", "defacto_edits", "factcg_cg2c", "fever_nli", "fool_me_twice_dev", "factcheck_bench")


def edited_claims(found: Sequence[Example], seed: int, most: int = 3) -> Iterator[Example]:
    """Supported claims in people's own words, and the same with one thing changed: wording alone does not tell them apart."""
    chosen = [e for e in found if e.dataset in REWORDED and e.label == SUPPORTED and 5 <= len(e.claim.split()) <= 60]
    substitutes = Substitutes(sorted({passage for e in chosen for passage in e.passages}), "en")
    foreign = sorted({e.claim[slice(*span)] for e in chosen for span in names(e.claim)})
    for example in chosen:
        chance = random.Random(f"{seed}-{example.id}-edited")
        far = tuple(chance.sample(foreign, min(40, len(foreign))))
        material = Material("en", example.claim, " ".join(example.passages), far, substitutes)
        made = edited_ways(material, chance, most)
        if not made:
            continue
        yield replace(example, id=f"{example.id}-whole", dataset=EDITED, spans=())
        for name, edited in made:
            yield replace(
                example, id=f"{example.id}-{name}", dataset=EDITED, claim=edited.text, label=edited.label, spans=edited.spans
            )  # fmt: skip


def contrasts(questions: Sequence[Question], seed: int) -> Iterator[Example]:
    """'The river is the Red River, not the Mekong.': right, and the other way round; each also as the correction of a question."""
    for question in questions:
        chance = random.Random(f"{seed}-{question.id}-contrast")
        if not question.answerable or not question.answers or len(question.answers[0].split()) > 8:
            continue
        answer = question.answers[0]
        for wrong in wrong_answers(question, answer, chance, 1):
            for kind, told, denied in (("contrast", answer, wrong), ("contrast-turned", wrong, answer)):
                made = placed_statement(question.question, told, question.lang)
                if made is not None:
                    yield _contrast(question, kind, made, denied, chance)


def _contrast(question: Question, kind: str, made: Statement, denied: str, chance: random.Random) -> Example:
    """A statement that denies another answer behind it, some with a yes or no before it."""
    lists = lexicon(question.lang)
    text, (start, end) = made
    denial = chance.choice(lists.denials).format(denied=denied.strip(" .,;:"))
    opening = chance.choice(lists.corrections) if chance.random() < 0.5 else ""
    body = text.rstrip(".")
    claim = f"{opening}{body}{denial}."
    shift = len(opening)
    is_right = kind == "contrast"
    spans = () if is_right else ((shift + start, shift + end), (shift + len(body), shift + len(body) + len(denial)))
    return Example(
        id=f"{question.id}-{kind}",
        dataset=f"contrasts_{question.lang}",
        lang=question.lang,
        claim=claim,
        passages=(question.passage,),
        label=SUPPORTED if is_right else NOT_SUPPORTED,
        spans=spans,
        group=question.title,
    )
