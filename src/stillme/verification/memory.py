"""A grounder that judges a claim once: what was judged is given again as long as nothing has changed that the judgement rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from stillme.grounding.claims import Claim
from stillme.grounding.grounder import Grounder, GroundingTask, Judgement

__all__ = ["JudgedOnce"]

Key = tuple[Any, ...]


class JudgedOnce:
    """Stands before a grounder and asks it only for the claims that it has not judged yet.

    A claim is known by its sentence and the one before it, what it cites, the names in both, the language of the draft, and by
    everything that does not grow with a draft: question, conversation and passages. Where it stands in the draft is not part of it.
    """

    def __init__(self, inner: Grounder) -> None:
        self._inner = inner
        self._known: dict[Key, Judgement] = {}

    @property
    def id(self) -> str:
        """What decides."""
        return self._inner.id

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        """For each task, one judgement a claim, in order."""
        keyed = [list(zip(task.claims, _keys(task), strict=True)) for task in tasks]
        new = {n: pairs for n, each in enumerate(keyed) if (pairs := [p for p in each if p[1] not in self._known])}
        asked = [replace(tasks[n], claims=[claim for claim, _ in pairs]) for n, pairs in new.items()]
        answers = dict(zip(new, self._inner.judge(asked), strict=True)) if asked else {}
        for n, judged in answers.items():
            self._remember(new[n], judged)
        # Where a grounder did not judge each claim, what it gave instead is what the evidence has to see.
        return [self._judged(each) if self._knows(each) else answers[n] for n, each in enumerate(keyed)]

    def forget(self) -> None:
        """Begin anew."""
        self._known.clear()

    def _remember(self, asked: Sequence[tuple[Claim, Key]], judged: object) -> None:
        if isinstance(judged, list) and len(judged) == len(asked) and all(isinstance(j, Judgement) for j in judged):
            pairs = zip(asked, judged, strict=True)
            self._known.update((key, _moved(each, -claim.start)) for (claim, key), each in pairs)

    def _knows(self, asked: Sequence[tuple[Claim, Key]]) -> bool:
        return all(key in self._known for _, key in asked)

    def _judged(self, asked: Sequence[tuple[Claim, Key]]) -> list[Judgement]:
        return [_moved(self._known[key], claim.start) for claim, key in asked]


def _keys(task: GroundingTask) -> list[Key]:
    """What each claim of a task is known by."""
    said = (task.query, *task.conversation)
    named = frozenset(word for text in said for word in text.folded) & task.draft.known_names
    common = (task.library.digest, task.draft.language, tuple(text.raw for text in said), named)
    return [(common, *_key(task, claim)) for claim in task.claims]


def _key(task: GroundingTask, claim: Claim) -> Key:
    draft, text = task.draft, task.draft.text
    statement = draft.statements[claim.index]
    before = draft.statements[claim.index - 1] if claim.index else None
    names = statement.names or (before.names if before and statement.refers_back else [])
    return (
        text.raw[claim.start : claim.end],
        tuple(text.starts[i] - claim.start for i in range(claim.first, claim.last) if i not in draft.skipped),
        claim.kind,
        claim.assent,
        claim.cited,
        text.slice(before.first, before.last) if before else "",
        tuple(name.parts for name in names),
    )


def _moved(judged: Judgement, by: int) -> Judgement:
    """A judgement whose places in the draft are counted from another beginning."""
    if not judged.unsupported:
        return judged
    return replace(judged, unsupported=tuple((start + by, end + by) for start, end in judged.unsupported))
