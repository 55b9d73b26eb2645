"""The question asks for nothing unsafe, and the draft contains nothing unsafe."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple

from stillme.conduct.classifiers import decided_by, own_words
from stillme.conduct.safety import find_dangers, lists_touched
from stillme.conduct.voice import Voice
from stillme.errors import BackendError, shown
from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer, Span

if TYPE_CHECKING:
    from types import TracebackType

    from stillme.conduct.classifiers import Conduct, Suspicion
    from stillme.evidence import Evidence
    from stillme.text.tokens import Text

__all__ = ["EthicsAdapter"]

SAFE_WHEN_TRUE: Final = ("safe", "allowed", "passed")
UNSAFE_WHEN_TRUE: Final = ("unsafe", "flagged", "blocked", "violation")
NAMES_THE_CATEGORY: Final = ("category", "reason")
EXPECTED: Final = "expected a bool (True: safe), (bool, reason), or a dict or object with one of " + ", ".join(
    (*SAFE_WHEN_TRUE, *UNSAFE_WHEN_TRUE)
)
# What is asked here is a text, a view or a pleasantry: a classifier alone, with no word of harm in the question, is not enough.
IDLE: Final = frozenset(
    {"creative", "rewrite", "chitchat", "greeting", "thanks", "opinion", "assistant", "philosophy", "arithmetic"}
)
SHARED_WORDS: Final = 4
LONGEST_REASON: Final = 120


class _Opinion(NamedTuple):
    safe: bool
    category: str | None = None


class _WithoutItsMessage:
    """What foreign code raises here leaves as a BackendError that only names its type: a message may hold the text."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None and issubclass(kind, Exception):
            raise BackendError(f"the guard callable raised {kind.__name__}") from None


@dataclass(frozen=True, slots=True)
class EthicsAdapter(Observer):
    """Nothing unsafe is asked for or said; judged by rules and a classifier, or by any callable that takes a text."""

    name: ClassVar[str] = "EthicsAdapter"
    gates: ClassVar = {Reason.UNSAFE_CONTENT: Gate.HARD}
    runs_always: ClassVar = True

    guard_callable: Callable[[str], object] | None = None
    target: Literal["query", "draft"] = "draft"

    @property
    def foreign(self) -> bool:
        """Whether the judgement is made by code that is not ours."""
        return self.guard_callable is not None

    def run(self, evidence: Evidence) -> Finding:
        """Flag unsafe content in the query or the draft; the detail names the category and never repeats the text."""
        text = self._text(evidence)
        if text.blank:
            found = self.skipped(f"the {self.target} is empty")
        elif self.guard_callable is None:
            found = self._judged(evidence)
        else:
            # Its answer is foreign too: reading an attribute of it may raise.
            with _WithoutItsMessage():
                found = self._adapted(text, self.guard_callable(text.raw))
        return replace(found, stage=self.target)

    def _judged(self, evidence: Evidence) -> Finding:
        dangers = find_dangers(self._text(evidence), self.target)
        conduct, suspicions = self._suspected(evidence)
        if not dangers and not suspicions:
            return self.passed(conduct.rules_alone)
        category = ", ".join(dict.fromkeys(danger.category for danger in dangers)) or "asked for or given"
        places = {(d.start, d.end) for d in dangers} | {(s.sentence.start, s.sentence.end) for s in suspicions}
        return self._unsafe(f"{category} ({decided_by(bool(dangers), suspicions)})", sorted(places))

    def _text(self, evidence: Evidence) -> Text:
        return evidence.query if self.target == "query" else evidence.draft

    def _suspected(self, evidence: Evidence) -> tuple[Conduct, list[Suspicion]]:
        """What the classifiers suspect of the text, but for what a draft quotes."""
        if self.target == "query":
            touched = any(name.startswith("unsafe.") for name in lists_touched(evidence.query))
            idle = evidence.need.kind in IDLE and not touched
            return evidence.query_conduct, [] if idle else evidence.query_conduct.of("asked")
        voice, conduct = Voice(evidence.draft), evidence.draft_conduct
        return conduct, [s for s in conduct.of("given") if own_words(voice, s.sentence)]

    def _adapted(self, text: Text, answer: object) -> Finding:
        opinion = _opinion(answer)
        if opinion is None:
            return self.errored(f"the guard callable returned {_described(answer, text)}: {EXPECTED}")
        if opinion.safe:
            return self.passed("judged safe by the guard callable")
        category = _without_the_text(opinion.category, text) or "so judged by the guard callable"
        return self._unsafe(category, [(0, len(text.raw))])

    def _unsafe(self, category: str, places: Sequence[Span]) -> Finding:
        spans = places if self.target == "draft" else ()
        return self.flagged(Reason.UNSAFE_CONTENT, f"unsafe content in the {self.target}: {category}", spans)


def _opinion(answer: object) -> _Opinion | None:
    """What a callable's answer says, or None if it says nothing that can be relied on."""
    if isinstance(answer, bool):
        return _Opinion(answer)
    if isinstance(answer, tuple):
        return _Opinion(*answer) if _is_pair(answer) else None
    return _opinion_by_name(answer)


def _is_pair(answer: tuple[object, ...]) -> bool:
    """Whether it says if a text is safe, and why or nothing."""
    return len(answer) == 2 and isinstance(answer[0], bool) and isinstance(answer[1], str | None)


def _opinion_by_name(answer: object) -> _Opinion | None:
    """What the keys or attributes of an answer say; one that calls a text both safe and unsafe calls it unsafe."""
    votes = _votes(answer, SAFE_WHEN_TRUE) | {not vote for vote in _votes(answer, UNSAFE_WHEN_TRUE)}
    if not votes:
        return None
    return _Opinion(votes == {True}, _category(answer))


def _votes(answer: object, keys: Sequence[str]) -> set[bool]:
    """What stands under keys that mean the same."""
    return {value for value in (_get(answer, key) for key in keys) if isinstance(value, bool)}


def _category(answer: object) -> str | None:
    """What an answer calls unsafe, if it names it."""
    for key in NAMES_THE_CATEGORY:
        name = _get(answer, key)
        if isinstance(name, str) and name.strip():
            return name
    return None


def _get(answer: object, key: str) -> object:
    return answer.get(key) if isinstance(answer, Mapping) else getattr(answer, key, None)


def _described(answer: object, text: Text) -> str:
    if inspect.iscoroutine(answer):
        answer.close()
        return "a coroutine (it must not be async)"
    if isinstance(answer, str):
        return shown(answer) if _without_the_text(answer, text) else "a str that repeats the text"
    if answer is None or isinstance(answer, int | float) or answer == {}:
        return shown(answer)
    return f"a {type(answer).__name__}"


def _without_the_text(reason: str | None, text: Text) -> str | None:
    """The reason, unless it is long or repeats words of the text that it judges."""
    given = " ".join((reason or "").split())
    if reason is None or len(reason) > LONGEST_REASON or _repeats(given.lower(), text):
        return None
    return given or None


def _repeats(reason: str, text: Text) -> bool:
    """Whether a reason holds the text, or several of its words in a row."""
    judged = " ".join(text.raw.lower().split())
    words = reason.split()
    runs = (" ".join(words[i : i + SHARED_WORDS]) for i in range(len(words) - SHARED_WORDS + 1))
    return judged in reason or any(run in judged for run in runs)
