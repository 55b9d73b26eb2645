"""What the reader is trained on: windows with their claims and questions, as tokens, marks and labels."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stillme.models.matches import matches_of
from stillme.models.words import END, START, words
from training.examples import CONTRADICTED, LABELS, SUPPORTED, UNSUPPORTED, Example
from training.reading.swaps import swapped
from training.text import sentences

QUESTIONS = ("answerable", "unanswerable", "ambiguous")
UNKNOWN = -1
MOST_WINDOW, MOST_CLAIM = 398, 110
LEAST_COPIED, MOST_COPIED = 5, 30
MADE_WEIGHT = 0.6
MOST_COPIES = 4
MOST_SWAPPED = 6
STOPS = (". ", "; ")
JOINTS = {"en": (*STOPS, ", and "), "vi": (*STOPS, ", và ")}
# Words that a sentence begins with and that have a small letter elsewhere: of others nobody knows.
OPENING = frozenset(
    {"The", "A", "An", "In", "On", "At", "From", "If", "Only", "No", "All", "It", "They", "For", "Each", "Every"}
)


FOLD = words().folded


@dataclass(slots=True)
class Asked:
    """A claim or a question: its tokens with marks of beginning and end, and what the heads should say of it."""

    ids: list[int]
    label: int = UNKNOWN
    is_question: bool = False
    weight: float = 1.0
    tokens: list[int] | None = None
    is_made: bool = False
    """Made of what is written: a sentence of one world that the other has not, or two claims in one."""
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
            _add_joined(made, claims, labels, document["id"])
            _add_swapped(made, contexts, document["id"])
        yield made[0], made[1] if len(made) == 2 else None


def _add_copies(made: Sequence[Read], contexts: Sequence[Any], name: str) -> None:
    """The sentences of each world that the other has not, as claims in both; where they should stand, before the questions."""
    chance = random.Random(name)
    texts = [[s["text"][a:b] for s in context for a, b in sentences(s["text"])] for context in contexts]
    at = sum(not asked.is_question for asked in made[0].asked)
    for own, other in ((0, 1), (1, 0)):
        only = [t for t in texts[own] if t not in texts[other] and LEAST_COPIED <= len(t.split()) <= MOST_COPIED]
        for text in chance.sample(only, min(MOST_COPIES, len(only))):
            for world in (0, 1):
                holds = world == own
                label = LABELS.index("supported" if holds else "not_supported")
                spans: list[Sequence[int]] | None = [] if holds else None
                made[world].asked.insert(at, asked_of(as_read(text), label, spans, weight=MADE_WEIGHT, is_made=True))


def _add_swapped(made: Sequence[Read], contexts: Sequence[Any], name: str) -> None:
    """Sentences of the sources with two things exchanged; what both worlds say stands beside them as it is, and is right in both."""
    chance = random.Random(name)
    texts = [[s["text"][a:b] for s in context for a, b in sentences(s["text"])] for context in contexts]
    at = sum(not asked.is_question for asked in made[0].asked)
    for own, other in ((0, 1), (1, 0)):
        fit = [t for t in texts[own] if LEAST_COPIED <= len(t.split()) <= MOST_COPIED]
        for text in chance.sample(fit, len(fit))[:MOST_SWAPPED]:
            found = swapped(text, [t for t in texts[own] if t != text], chance)
            is_shared = text in texts[other]
            if found is None or (is_shared and own):
                continue
            # What a sentence of one world says the other way round may be just what the other world says.
            wrong = [CONTRADICTED, CONTRADICTED if is_shared else None] if own == 0 else [None, CONTRADICTED]
            _insert(made, at, found.text, wrong, found.spans)
            if is_shared:
                _insert(made, at, text, [SUPPORTED, SUPPORTED], ())


def _insert(
    made: Sequence[Read], at: int, text: str, labels: Sequence[str | None], spans: Sequence[Sequence[int]]
) -> None:
    """A claim that was made, in each world; where its label is not known it teaches nothing."""
    for world, label in zip(made, labels, strict=True):
        number = UNKNOWN if label is None else LABELS.index(label)
        own = None if label is None else spans
        world.asked.insert(at, asked_of(as_read(text), number, own, weight=MADE_WEIGHT, is_made=True))


def _add_joined(made: Sequence[Read], claims: Sequence[Any], labels: Sequence[Sequence[str]], name: str) -> None:
    """Two claims as one, in both worlds: supported where both are. An answer seldom says one thing in a sentence."""
    chance = random.Random(name)
    at = sum(not asked.is_question for asked in made[0].asked)
    for lang, joints in JOINTS.items():
        own = [n for n, claim in enumerate(claims) if claim["lang"] == lang]
        right, wrong = ([n for n in own if (labels[0][n] == SUPPORTED) is holds] for holds in (True, False))
        for some, others in ((right, right), (wrong, wrong), (right, wrong), (wrong, right)):
            if not some or not others or len({*some, *others}) < 2:
                continue
            one = chance.choice(some)
            other = chance.choice([n for n in others if n != one])
            text = _joined(claims[one]["text"], claims[other]["text"], chance.choice(joints))
            for world, of_world in zip(made, labels, strict=True):
                both = {of_world[one], of_world[other]}
                label = next(label for label in (CONTRADICTED, UNSUPPORTED, SUPPORTED) if label in both)
                joined = asked_of(as_read(text), LABELS.index(label), None, weight=MADE_WEIGHT, is_made=True)
                world.asked.insert(at, joined)


def _joined(one: str, other: str, joint: str) -> str:
    """Two sentences as one, or one behind the other."""
    if joint not in STOPS and other.split(" ", maxsplit=1)[0] in OPENING:
        other = other[:1].lower() + other[1:]
    return f"{one.rstrip().removesuffix('.')}{joint}{other}"


def with_some_made(pair: tuple[Read, Read | None], most: int, chance: random.Random) -> tuple[Read, Read | None]:
    """The document with at most so many of the claims that were made of others, the same ones in both worlds."""
    made = [n for n, asked in enumerate(pair[0].asked) if asked.is_made]
    left_out = set(made) - set(chance.sample(made, min(most, len(made))))

    def thinned(read: Read) -> Read:
        kept = [n for n in range(len(read.asked)) if n not in left_out]
        return replace(read, asked=[read.asked[n] for n in kept], marks=[read.marks[n] for n in kept])

    one, other = pair
    return thinned(one), thinned(other) if other else None


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
