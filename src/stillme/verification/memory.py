"""A grounder that judges a claim once: what was judged is given again as long as nothing has changed that the judgement rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stillme.grounding.claims import Claim
from stillme.grounding.grounder import Grounder, GroundingTask, Judgement, moved
from stillme.grounding.statements import Statement
from stillme.text.names import Name

__all__ = ["JudgedOnce"]

Key = tuple[Any, ...]
Keyed = list[tuple[Claim, Key]]


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
        answers = self._ask(tasks, {n: new for n, each in enumerate(keyed) if (new := self._unknown(each))})
        # Where a grounder did not judge each claim, what it gave instead is what the evidence has to see.
        return [answers[n] if self._unknown(each) else self._judged(each) for n, each in enumerate(keyed)]

    def _ask(self, tasks: Sequence[GroundingTask], new: Mapping[int, Keyed]) -> dict[int, list[Judgement]]:
        """What the grounder says of the claims that are new, by task; what is sound of it is remembered."""
        if not new:
            return {}
        asked = [replace(tasks[n], claims=[claim for claim, _ in keyed]) for n, keyed in new.items()]
        answers = dict(zip(new, self._inner.judge(asked), strict=True))
        for n, judged in answers.items():
            self._remember(new[n], judged)
        return answers

    def forget(self) -> None:
        """Begin anew."""
        self._known.clear()

    def _unknown(self, keyed: Keyed) -> Keyed:
        return [pair for pair in keyed if pair[1] not in self._known]

    def _remember(self, asked: Keyed, judged: object) -> None:
        """Keep what is a judgement of a claim, as it would be at the start of a draft."""
        if not isinstance(judged, list) or len(judged) != len(asked):
            return
        for (claim, key), each in zip(asked, judged, strict=True):
            if isinstance(each, Judgement):
                self._known[key] = moved(each, -claim.start)

    def _judged(self, keyed: Keyed) -> list[Judgement]:
        return [moved(self._known[key], claim.start) for claim, key in keyed]


def _keys(task: GroundingTask) -> list[Key]:
    """What each claim of a task is known by."""
    said = (task.query, *task.conversation)
    named = frozenset(word for text in said for word in text.folded) & task.draft.known_names
    common = (task.library.digest, task.draft.language, tuple(text.raw for text in said), named)
    return [(common, *_key(task, claim)) for claim in task.claims]


def _key(task: GroundingTask, claim: Claim) -> Key:
    draft, text = task.draft, task.draft.text
    before = draft.statements[claim.index - 1] if claim.index else None
    return (
        text.raw[claim.start : claim.end],
        tuple(text.starts[i] - claim.start for i in range(claim.first, claim.last) if i not in draft.skipped),
        claim.kind,
        claim.assent,
        claim.cited,
        text.slice(before.first, before.last) if before else "",
        tuple(name.parts for name in _names(draft.statements[claim.index], before)),
    )


def _names(statement: Statement, before: Statement | None) -> list[Name]:
    """The names that a claim speaks of: its own, or those of the sentence that it refers back to."""
    if statement.names or before is None or not statement.refers_back:
        return statement.names
    return before.names
