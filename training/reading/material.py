"""What the reader is trained on: windows with their claims and questions, as tokens, marks and labels."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stillme.models.matches import matches_of
from stillme.models.words import END, START, words
from training.examples import LABELS, Example
from training.text import sentences

QUESTIONS = ("answerable", "unanswerable", "ambiguous")
UNKNOWN = -1
MOST_WINDOW, MOST_CLAIM = 398, 110


FOLD = words().folded


@dataclass(slots=True)
class Asked:
    """A claim or a question: its tokens with marks of beginning and end, and what the heads should say of it."""

    ids: list[int]
    label: int = UNKNOWN
    is_question: bool = False
    weight: float = 1.0
    tokens: list[int] | None = None
    partner: int = UNKNOWN
    """Its place among the claims of the other world."""
    key: int = UNKNOWN


@dataclass(slots=True)
class Read:
    """A window and what is asked of it."""

    ids: list[int]
    sentences: list[int]
    asked: list[Asked]
    lang: str = "en"
    dataset: str = "written"
    document: str = ""
    key: int = UNKNOWN
    marks: list[Any] = field(default_factory=list)


def window_of(texts: Sequence[str]) -> tuple[list[int], list[int]]:
    """The tokens of sources one after the other, with marks, and the sentence that each token stands in."""
    ids, places, number = [START], [UNKNOWN], 0
    for text in texts:
        for start, end in sentences(text):
            found = words().encode(text[start:end]).ids
            if len(ids) + len(found) > MOST_WINDOW + 1:
                break
            ids += found
            places += [number] * len(found)
            number += 1
    return [*ids, END], [*places, UNKNOWN]


def as_read(claim: str) -> str:
    """A claim as the package gives it to the model: its stop stands apart."""
    return f"{claim.rstrip().removesuffix('.')} ."


def asked_of(text: str, label: int, spans: Sequence[Sequence[int]] | None, **more: Any) -> Asked:
    """A claim as tokens."""
    encoded = words().encode(text)
    tokens = None
    if spans is not None:
        tokens = [
            UNKNOWN,
            *(int(any(a < y and x < b for x, y in spans)) for a, b in encoded.offsets[:MOST_CLAIM]),
            UNKNOWN,
        ]
    return Asked([START, *encoded.ids[:MOST_CLAIM], END], label, tokens=tokens, **more)


def written(path: Path, copies: bool = True) -> Iterator[tuple[Read, Read | None]]:
    """Each document in its worlds, the same places holding the same claims; some have questions alone, and those of `dev` are left out."""
    for line in path.open(encoding="utf-8"):
        document = json.loads(line)
        if document.get("part") == "dev":
            continue
        claims = document.get("claims", [])
        contexts = [document["context"], *([document["world"]["context"]] if "world" in document else [])]
        labels = [
            [c["label"] for c in claims],
            *([document["world"]["labels"]] if "world" in document else []),
        ]
        made = []
        for number, (context, own) in enumerate(zip(contexts, labels, strict=True)):
            ids, places = window_of([source["text"] for source in context])
            asked = []
            for claim, label in zip(claims, own, strict=True):
                spans = (
                    []
                    if label == "supported"
                    else claim["spans"]
                    if number == 0 or claim["label"] != "supported"
                    else None
                )
                asked.append(asked_of(as_read(claim["text"]), LABELS.index(label), spans))
            if number == 0:
                asked += [
                    asked_of(q["query"], QUESTIONS.index(q["label"]), None, is_question=True)
                    for q in document["questions"]
                ]
            made.append(Read(ids, places, asked, document["lang"], "written", document["id"]))
        if copies and len(made) == 2:
            _add_copies(made, contexts, document["id"])
        yield made[0], made[1] if len(made) == 2 else None


def _add_copies(made: Sequence[Read], contexts: Sequence[Any], name: str) -> None:
    """One sentence of each world that the other has not, as a claim in both; where it should stand, before the questions."""
    chance = random.Random(name)
    texts = [[s["text"][a:b] for s in context for a, b in sentences(s["text"])] for context in contexts]
    for own, other in ((0, 1), (1, 0)):
        only = [text for text in texts[own] if text not in texts[other] and 6 <= len(text.split()) <= 24]
        if only:
            text = chance.choice(only)
            for world in (0, 1):
                holds = world == own
                asked = asked_of(
                    as_read(text),
                    LABELS.index("supported" if holds else "not_supported"),
                    [] if holds else None,
                    weight=1.0 if holds else 0.5,
                )
                at = sum(not a.is_question for a in made[world].asked)
                made[world].asked.insert(at, asked)


def public(examples: Iterable[Example], most_claims: int = 6) -> Iterator[Read]:
    """Examples of other sets, those over the same passages together; passages that do not fit are left out."""
    together: dict[tuple[str, tuple[str, ...]], list[Example]] = {}
    for example in examples:
        together.setdefault((example.dataset, example.passages), []).append(example)
    for (dataset, passages), found in together.items():
        ids, places = window_of(passages)
        if sum(len(p) for p in passages) < 6 * len(ids):
            asked = [asked_of(as_read(e.claim), LABELS.index(e.label), e.spans) for e in found[:most_claims]]
            yield Read(ids, places, asked, found[0].lang, dataset, found[0].id)


def marked(read: Read) -> None:
    """Compute what matches, once."""
    window = FOLD[read.ids].tolist()
    for asked in read.asked:
        found = matches_of(FOLD[asked.ids].tolist(), window, read.sentences)
        read.marks.append((found.claim.astype(bool), found.window.astype(bool)))
