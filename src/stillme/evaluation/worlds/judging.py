"""Who judges claims in two worlds: a guard, a file of another tool's answers, or a baseline that does not read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from stillme.contract import Verdict
from stillme.errors import InputError, shown
from stillme.evaluation.worlds.documents import WorldDocument
from stillme.guard import Guard

__all__ = ["Judged", "WorldAnswer", "answers_of", "by_guard", "by_shared_words", "questions_for"]

BATCH: Final = 24
WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class WorldAnswer:
    """What a judge says of a claim: whether it is supported, how likely that is, and whether the judge is sure."""

    supported: bool
    score: float
    is_sure: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """A document, and for each claim the answer in each world."""

    document: WorldDocument
    answers: tuple[tuple[WorldAnswer, ...], ...]


def by_guard(
    guard: Guard, documents: Iterable[WorldDocument], advance: Callable[[int], None] | None = None
) -> Iterator[Judged]:
    """What a guard makes of each claim as a draft of its own."""
    for document in documents:
        requests = list(_requests(document))
        verdicts = [v for n in range(0, len(requests), BATCH) for v in guard.verify_batch(requests[n : n + BATCH])]
        yield _by_claim(document, [_of_verdict(verdict) for verdict in verdicts])
        if advance is not None:
            advance(1)


def _requests(document: WorldDocument) -> Iterator[dict[str, Any]]:
    for claim in document.claims:
        for sources in document.worlds:
            # Asked in its own language, so that a claim about sources in another language is no answer in the wrong one.
            yield {
                "query": f"{claim.text.rstrip('.')}?",
                "draft_answer": claim.text,
                "retrieved_context": list(sources),
            }


def _of_verdict(verdict: Verdict) -> WorldAnswer:
    """Supported where everything the draft claims is; the weakest claim counts."""
    judged = [claim for claim in verdict.claims if claim.status != "not_factual"]
    supported = bool(judged) and all(claim.status == "supported" for claim in judged)
    score = min((claim.score or 0.0 for claim in judged), default=0.0)
    return WorldAnswer(supported, score, supported and verdict.confidence_band == "high")


def by_shared_words(documents: Iterable[WorldDocument], share: float = 0.7) -> Iterator[Judged]:
    """A baseline: supported where this share of the claim's words stands in the sources."""
    for document in documents:
        known = [_words(" ".join(source["text"] for source in sources)) for sources in document.worlds]
        answers = []
        for claim in document.claims:
            own = _words(claim.text)
            for words in known:
                score = len(own & words) / max(1, len(own))
                answers.append(WorldAnswer(score >= share, score))
        yield _by_claim(document, answers)


def _words(text: str) -> set[str]:
    return set(WORD.findall(text.casefold()))


# another tool


def questions_for(documents: Iterable[WorldDocument]) -> Iterator[dict[str, Any]]:
    """One object for each claim in each world, for another tool to answer."""
    for document in documents:
        for number, claim in enumerate(document.claims):
            for world, sources in enumerate(document.worlds):
                yield {"id": document.id, "claim": number, "world": world, "text": claim.text, "sources": list(sources)}


def answers_of(path: str | Path, documents: Sequence[WorldDocument]) -> list[Judged]:
    """The answers of a file, one object a line: `id`, `claim`, `world`, `supported`, and a `score` and `sure` where the tool has them."""
    given: dict[tuple[str, int, int], WorldAnswer] = {}
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the answers of {shown(str(path))}: {error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            key, answer = _answer(line, f"{shown(str(path))} line {number}")
            given[key] = answer
    return [
        _by_claim(document, [_answer_for(given, document, *at, path) for at in _places(document)])
        for document in documents
    ]


def _answer(line: str, place: str) -> tuple[tuple[str, int, int], WorldAnswer]:
    try:
        row = json.loads(line)
        supported = row["supported"]
        if not isinstance(supported, bool):
            raise TypeError(f"supported must be true or false, got {supported!r}")
        answer = WorldAnswer(supported, float(row.get("score", supported)), bool(row.get("sure", False)) and supported)
        return (str(row["id"]), int(row["claim"]), int(row["world"])), answer
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{place} is no answer (docs/worlds.md tells the form): {error!r}") from error


def _answer_for(
    given: dict[tuple[str, int, int], WorldAnswer], document: WorldDocument, claim: int, world: int, path: str | Path
) -> WorldAnswer:
    answer = given.get((document.id, claim, world))
    if answer is None:
        raise InputError(f"{shown(str(path))} has no answer for claim {claim} of {shown(document.id)} in world {world}")
    return answer


def _places(document: WorldDocument) -> Iterator[tuple[int, int]]:
    return ((claim, world) for claim in range(len(document.claims)) for world in range(len(document.worlds)))


def _by_claim(document: WorldDocument, answers: Sequence[WorldAnswer]) -> Judged:
    worlds = len(document.worlds)
    return Judged(document, tuple(tuple(answers[n : n + worlds]) for n in range(0, len(answers), worlds)))
