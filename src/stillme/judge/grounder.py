"""A grounder that asks a bigger model about what another grounder leaves undecided."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

from stillme.errors import BackendError, InputError, shown
from stillme.grounding.claims import Claim
from stillme.grounding.grounder import Grounder, GroundingTask, Judgement
from stillme.grounding.statements import Reading
from stillme.judge.answer import JudgeAnswer, read_answers, written
from stillme.judge.cache import AnswerCache
from stillme.judge.client import JudgeClient
from stillme.judge.prompt import PROMPT_VERSION, SCHEMA, messages
from stillme.judge.settings import JudgeSettings, Structured

__all__ = ["JudgeGrounder"]

# Changes when answers are checked otherwise, so that an answer kept under earlier checks is asked for anew.
CHECKS: Final = "stillme-judge-1"
FORMATS: Final[dict[Structured, dict[str, Any]]] = {
    "json_schema": {"type": "json_schema", "json_schema": {"name": "verdicts", "strict": True, "schema": SCHEMA}},
    "json_object": {"type": "json_object"},
}


@dataclass(frozen=True, slots=True)
class _Question:
    """The undecided claims of one task, by their place in it."""

    task: GroundingTask
    places: tuple[int, ...]

    @property
    def claims(self) -> list[Claim]:
        """The claims that are asked about, in order."""
        return [self.task.claims[k] for k in self.places]


@dataclass(frozen=True, eq=False)
class JudgeGrounder(JudgeSettings):
    """Lets `base` judge, and asks a model at an OpenAI-compatible endpoint about the claims whose score it leaves undecided.

    One request a draft. An answer that is late, malformed, or quotes what no passage says is a `BackendError`: the verdict is then
    not verified. Safe to share between threads.
    """

    base: Grounder
    _client: JudgeClient = field(init=False, repr=False)
    _answers: AnswerCache = field(init=False, repr=False)
    _failed: WeakKeyDictionary[Reading, str] = field(init=False, repr=False, default_factory=WeakKeyDictionary)
    _lock: threading.Lock = field(init=False, repr=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.check()
        if not callable(getattr(self.base, "judge", None)):
            raise InputError(f"base must be a grounder such as CascadeGrounder(), got {shown(self.base)}")
        path = None if self.cache is None else Path(self.cache)
        object.__setattr__(self, "_client", JudgeClient.of(self))
        object.__setattr__(self, "_answers", AnswerCache(self.remembered, path))

    @property
    def id(self) -> str:
        """The base, the judge's host and model, and hashes of the prompt and of the settings that shape a judgement."""
        shaping = [list(self.ask_between), astuple(self.scores), self.structured, self.max_tokens, self.seed]
        settings = hashlib.sha256(json.dumps(shaping).encode()).hexdigest()[:8]
        return f"{self.base.id}+judge/{self._client.endpoint.authority}/{self.model}#{PROMPT_VERSION}.{settings}"

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        """For each task, one judgement a claim, in order; each draft with undecided claims is asked about on its own."""
        judged = self._base_judgements(tasks)
        questions = {
            n: _Question(task, places)
            for n, (task, found) in enumerate(zip(tasks, judged, strict=True))
            if (places := self._undecided(task, found))
        }
        for n, answers in zip(questions, self._all_answers(list(questions.values())), strict=True):
            question = questions[n]
            for k, claim, answer in zip(question.places, question.claims, answers, strict=True):
                judged[n][k] = self._judgement(question.task, claim, judged[n][k], answer)
        return judged

    def _base_judgements(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        """What the base says, in lists of our own; if it does not judge each claim once, nothing is built on it."""
        given = self.base.judge(tasks)
        is_sound = isinstance(given, list) and len(given) == len(tasks) and all(isinstance(g, list) for g in given)
        if is_sound and all(
            len(found) == len(task.claims) and all(isinstance(j, Judgement) for j in found)
            for task, found in zip(tasks, given, strict=True)
        ):
            return [list(found) for found in given]
        raise BackendError(
            f"{self.base.id} did not judge each claim once, so the judge is not asked: repair that grounder"
        )

    def _undecided(self, task: GroundingTask, found: Sequence[Judgement]) -> tuple[int, ...]:
        """Which claims are asked about; where there is no passage, there is nothing to ask."""
        low, high = self.ask_between
        if not task.library.passages:
            return ()
        return tuple(k for k, judged in enumerate(found) if low < judged.score < high)

    def _all_answers(self, questions: Sequence[_Question]) -> list[list[JudgeAnswer]]:
        """The answers to each question; all are asked before the first failure is raised, so that none is asked twice."""
        if len(questions) <= 1:
            outcomes = [self._attempt(question) for question in questions]
        else:
            with ThreadPoolExecutor(min(self.parallel, len(questions)), "stillme-judge") as pool:
                outcomes = list(pool.map(self._attempt, questions))
        for outcome in outcomes:
            if isinstance(outcome, BackendError):
                raise outcome
        return [outcome for outcome in outcomes if not isinstance(outcome, BackendError)]

    def _attempt(self, question: _Question) -> list[JudgeAnswer] | BackendError:
        """The answers, or why there are none. Several validators ask for one draft: what failed once for it is not tried again."""
        draft = question.task.draft
        with self._lock:
            failed = self._failed.get(draft)
        if failed is not None:
            return BackendError(failed)
        try:
            return self._ask(question)
        except BackendError as error:
            with self._lock:
                self._failed[draft] = str(error)
            return error

    def _ask(self, question: _Question) -> list[JudgeAnswer]:
        body = self._body(question)
        name, passages, count = self._client.name, question.task.library.passages, len(question.places)
        deadline = time.monotonic() + self.timeout_s

        def ask() -> str:
            content = self._client.content(body, deadline)
            read_answers(content, count, passages, name)  # only what was checked is kept
            return written(content)

        key = hashlib.sha256(json.dumps([CHECKS, self._client.endpoint.url, body.decode("ascii")]).encode()).hexdigest()
        return read_answers(self._answers.answer(key, ask, deadline), count, passages, name)

    def _body(self, question: _Question) -> bytes:
        """What is posted; a text that is too long is an error and is not sent."""
        asked = messages(question.task, question.claims)
        size = sum(len(message["content"]) for message in asked)
        if size > self.most_chars:
            raise BackendError(
                f"{self._client.name} would have to read {size} characters, most_chars is {self.most_chars}:"
                " retrieve less, or raise it if the model reads that much"
            )
        body = {
            "model": self.model,
            "messages": asked,
            "temperature": 0,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "stream": False,
            "response_format": FORMATS[self.structured],
        }
        return json.dumps(body, sort_keys=True).encode("ascii")

    def _judgement(self, task: GroundingTask, claim: Claim, before: Judgement, answer: JudgeAnswer) -> Judgement:
        """The judge's answer as a judgement; which words lack support is told by the base where it saw that too."""
        score: float = getattr(self.scores, answer.status)
        quote = answer.quote
        if answer.status == "supported":
            passages = (quote.passage,) if quote else ()
            return Judgement("supported", score, passages, quote, decided_by="judge")
        lacking = (before.unsupported if not before.supported else ()) or (claim.span,)
        if quote is None:
            return Judgement("unsupported", score, (), None, lacking, "judge", "the judge finds it in no passage")
        said = task.library.passages[quote.passage].given.text[quote.start : quote.end]
        detail = f"the judge finds against it: source says {shown(said, 120)}"
        return Judgement("contradicted", score, (quote.passage,), quote, lacking, "judge", detail)
