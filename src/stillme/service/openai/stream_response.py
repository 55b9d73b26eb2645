"""A streamed answer: the model's text goes through the gate, and what comes out goes to the client as events.

The call upstream ends with the client's connection, and with the first claim that may not go out of the last answer that is open.
Whatever happens, what was let through and what was held back is recorded, of each answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from stillme.contract import VerifyRequest
from stillme.errors import StillMeError, UpstreamError
from stillme.guard import Occurrence
from stillme.llm.confidence import generation_confidence, token_logprobs
from stillme.service.openai.answering import with_brief
from stillme.service.openai.events import ChatEvents, Events
from stillme.service.openai.exchange import Exchange, finish_reason
from stillme.service.openai.guarded import Parts, delivery, error_response, extension, may_call
from stillme.service.openai.outgoing import acts_in, beside_text, finish_of, usage_of
from stillme.service.openai.refining import remember_answer
from stillme.service.openai.release import ClaimEnds, ClaimGate, Step
from stillme.service.openai.request_sources import EXTENSION
from stillme.service.problems import ProblemError
from stillme.verification.growing import GrowingDraft, Look

__all__ = ["GuardedStream", "Shape"]

log = logging.getLogger("stillme.service")
READ: Final = ("role", "content", "refusal", "tool_calls", "function_call")
Shape = Callable[[Send, str, Mapping[str, str]], Events]


class GuardedStream(Response):
    """A response of server-sent events; `stopped` is what the question alone came to, if that is the end of it."""

    def __init__(self, parts: Parts, exchange: Exchange, stopped: Occurrence | None, shape: Shape = ChatEvents) -> None:
        super().__init__()
        self._parts, self._exchange, self._stopped, self._shape = parts, exchange, stopped, shape

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Deliver for as long as the client is there; then see to it that what went out is recorded."""
        events = self._shape(send, self._exchange.model, self._exchange.headers)
        answers = _Answers(self._parts, self._exchange, events)
        work = asyncio.create_task(self._delivered(answers, events, scope, receive))
        gone = asyncio.create_task(_hung_up(receive))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            work.cancel()
            gone.cancel()
            await asyncio.wait({work, gone})
            await answers.settle()
        if not work.cancelled():
            work.result()

    async def _delivered(self, answers: _Answers, events: Events, scope: Scope, receive: Receive) -> None:
        try:
            if self._stopped is not None:
                await answers.say_instead(self._stopped)
            else:
                await answers.follow()
        except (StillMeError, ProblemError) as error:
            if events.begun:
                await events.broken(error)
            else:
                await error_response(error)(scope, receive, events.send)


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class _Answers:
    """The answers of one call, each on its way through a gate of its own."""

    def __init__(self, parts: Parts, exchange: Exchange, events: Events) -> None:
        self._parts, self._exchange, self._events = parts, exchange, events
        self._all: dict[int, _Answer] = {}
        self._usage: Mapping[str, Any] = {}

    async def follow(self) -> None:
        """Let every answer through, to its end or to the claim that stops it."""
        async with aclosing(self._exchange.source.chunks()) as chunks:
            async for chunk in chunks:
                self._events.like(chunk)
                self._usage = usage_of(chunk.get("usage")) or self._usage
                for choice in chunk["choices"]:
                    await self._at(choice.get("index", 0)).take(chunk, choice)
                if len(self._all) == self._exchange.choices and all(a.is_over for a in self._all.values()):
                    break
        for answer in list(self._all.values()):
            await answer.end()
        await self._close()

    async def say_instead(self, occurrence: Occurrence) -> None:
        """What question and context alone came to."""
        await self._at(0).say_instead(occurrence)
        await self._close()

    async def settle(self) -> None:
        """Wait for the records, or make those of answers without an end."""
        for answer in self._all.values():
            await answer.settle()

    def _at(self, index: int) -> _Answer:
        if not 0 <= index < self._exchange.choices:
            raise UpstreamError("the model server sent several answers where one was asked for")
        if index not in self._all:
            self._all[index] = _Answer(self._parts, self._exchange, self._events, index)
        return self._all[index]

    async def _close(self) -> None:
        """What was used, of answers that were delivered, and the end."""
        if self._usage and not all(answer.is_withheld for answer in self._all.values()):
            await self._events.usage(self._usage)
        await self._events.done()


class _Tokens:
    """The tokens of an answer that came with log-probabilities: where each ends, and what was told of it."""

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._told: list[tuple[float, Any]] = []
        self._given = 0
        self._untold_from: int | None = None

    def add(self, choice: Mapping[str, Any], start: int, text: str) -> None:
        """Take in the tokens of a piece that begins at a place."""
        values = token_logprobs(choice)
        if not values:
            if text and self._untold_from is None:
                self._untold_from = start  # of a part only: that is no figure for the whole
            return
        entries = choice["logprobs"]["content"]
        for entry, value in zip(entries, values, strict=True):
            start += len(entry.get("token") or "") if isinstance(entry.get("token"), str) else 0
            self._ends.append(start)
            self._told.append((value, entry))

    def confidence(self, upto: int) -> float | None:
        """How sure the model was of its words up to a place, if it told of all of them."""
        if self._untold_from is not None and self._untold_from < upto:
            return None
        return generation_confidence(
            value for end, (value, _) in zip(self._ends, self._told, strict=True) if end <= upto
        )

    def next(self, upto: int) -> list[Any]:
        """The entries up to a place that were not given out yet."""
        first = self._given
        while self._given < len(self._ends) and self._ends[self._given] <= upto:
            self._given += 1
        return [entry for _, entry in self._told[first : self._given]]


class _Answer:
    """An answer on its way from the model through the gate to the client."""

    def __init__(self, parts: Parts, exchange: Exchange, events: Events, index: int) -> None:
        self._parts, self._exchange, self._events, self._index = parts, exchange, events, index
        self._policy = parts.guard.policy
        self._tokens = _Tokens()
        self._gate: ClaimGate | None = None
        self._draft: GrowingDraft | None = None
        self._working: asyncio.Task[Any] | None = None
        self._length = 0
        self._sent = 0
        self._finish: str | None = None
        self._acts: list[dict[str, Any]] = []
        self._beside: dict[str, None] = dict.fromkeys(exchange.asked.unread)
        self._passed = False
        self._field = "refusal"
        """Where the text goes: a refusal stays one, unless there is other text beside it."""
        self._recording: asyncio.Task[Occurrence] | None = None
        self._is_announced = False
        self._is_begun = False
        self._opening: str | None = None
        self._is_over = False
        self._stop: Step | None = None
        """The claim that ended the text; calls of tools may still follow."""
        self.is_withheld = False
        """Whether something else was said in its place."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more of it goes out."""
        return self._is_over

    # from the model

    async def take(self, chunk: Mapping[str, Any], choice: Mapping[str, Any]) -> None:
        """Take in what a chunk adds to this answer, and let through what is complete of it."""
        if self._is_over:
            return
        gate = self._gate or await self._opened()
        self._beside |= dict.fromkeys(beside_text(chunk, choice))
        stop = await self._taken(gate, choice)
        self._stop = self._stop or stop
        if self._stop is not None and not self._exchange.offers_tools:
            await self._stopped(gate, self._stop)

    async def end(self) -> None:
        """The model has ended this answer."""
        if self._is_over:
            return
        gate = self._gate or await self._opened()
        if self._stop is not None:
            await self._stopped(gate, self._stop)
        else:
            await self._end(gate)

    async def _opened(self) -> ClaimGate:
        guard, exchange = self._parts.guard, self._exchange
        request = exchange.request()

        def made() -> ClaimGate:
            draft = self._draft = guard.growing(request, self._confidence)
            return ClaimGate(
                self._look if exchange.wants_json else draft.look,
                ClaimEnds(exchange.asked.passages),
                most_characters=self._policy.limits.draft_chars,
                hold=exchange.wants_json or draft.holds_to_the_end,
            )

        self._gate = await self._parts.run(made)
        return self._gate

    def _look(self, draft: str, *, is_complete: bool = False) -> Look:
        """A look at an answer that has to be JSON: nothing can be written into it."""
        assert self._draft is not None  # noqa: S101  (the gate is made with it)
        look = self._draft.look(draft, is_complete=is_complete)
        return look if look.stops else replace(look, text=draft)

    def _confidence(self, upto: int) -> float | None:
        """How sure the model was of its words up to a place; once it has ended, also as its server tells it of all of them."""
        known = self._tokens.confidence(upto)
        return self._exchange.source.confidence({}) if known is None and self._finish is not None else known

    def _request(self, draft: str, how: Mapping[str, Any]) -> VerifyRequest:
        if not draft.strip():
            return self._exchange.request(how)
        return self._exchange.request(how, draft_answer=draft, generation_confidence=self._confidence(len(draft)))

    async def _taken(self, gate: ClaimGate, choice: Mapping[str, Any]) -> Step | None:
        """Take in one choice of a chunk; the step that stops the answer, if one does."""
        delta = choice.get("delta") or {}
        self._finish = finish_of(choice["finish_reason"]) if choice.get("finish_reason") else self._finish
        await self._beside_text(delta)
        self._field = "content" if delta.get("content") else self._field
        text = (delta.get("content") or "") + (delta.get("refusal") or "")
        self._tokens.add(choice, self._length, text)
        if not text or self._stop is not None:
            return None
        self._length += len(text)
        return await self._let_through(gate) if gate.feed(text) else None

    async def _beside_text(self, delta: Mapping[str, Any]) -> None:
        """The role at once; calls of tools after the text; other things only where nothing is enforced, as they are no answer."""
        if "role" in delta and not self._is_begun:
            await self._send({"role": "assistant", "content": ""})
        offered = self._exchange.offers_tools or self._policy.mode != "enforce"
        if offered and (acts := acts_in(delta)):
            self._acts.append(acts)
        other = {key: value for key, value in delta.items() if value and key not in READ}
        if other and self._policy.mode != "enforce":
            self._passed = True
            await self._announce()
            await self._send(other)

    async def _send(self, delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> None:
        self._is_begun = True
        await self._events.chunk(self._index, delta, finish, **more)

    # through the gate

    async def _let_through(self, gate: ClaimGate) -> Step | None:
        """Verify and send every claim that is complete; the step that stops the answer, if one does."""
        while (step := await self._step(gate)) is not None:
            if step.stopped is not None:
                return step
            await self._say(step)
        return None

    async def _step(self, gate: ClaimGate) -> Step | None:
        step: Step | None = await self._worked(gate.step)
        return step

    async def _worked(self, work: Callable[[], Any]) -> Any:
        """What work in the pool gives; it is waited for at the end, whether or not anybody is still there."""

        async def done() -> Any:
            return await self._parts.run(work)

        self._working = asyncio.create_task(done())
        return await asyncio.shield(self._working)

    async def _announce(self) -> None:
        """Before anything goes out that the verdict comes after: a record that says so, and that the verdict closes."""
        if self._is_announced or self._is_over:
            return
        self._is_announced = True
        guard, caller = self._parts.guard, self._exchange.caller
        request = self._exchange.request(delivery("streamed", 0, 0, complete=False))

        def announce() -> None:
            self._opening = guard.announce(request, caller=caller)

        await self._worked(announce)

    async def _say(self, step: Step) -> None:
        await self._announce()
        wanted = self._exchange.body.get("logprobs") and self._policy.mode != "enforce"
        entries = self._tokens.next(step.end) if wanted else []
        more: dict[str, Any] = {"logprobs": {"content": entries, "refusal": None}} if entries else {}
        self._passed = self._passed or bool(entries)
        await self._send({self._field: step.text}, **more)
        self._sent = step.end

    # to the end

    async def _end(self, gate: ClaimGate) -> None:
        """The last claims, under the whole policy; the record is kept before the last of them goes out."""
        gate.close()
        last: Step | None = None
        while (step := await self._step(gate)) is not None:
            if step.stopped is not None:
                await self._stopped(gate, step)
                return
            if step.end == self._length:
                last = step
                break
            await self._say(step)
        length = self._length
        how = delivery("streamed", length, length) if last else delivery("passed_through", 0, 0, why="no text")
        occurrence = await self._record(gate.text, how)
        if last is not None:
            await self._say(last)
        await self._close(occurrence, how, _disclaimer(occurrence, json=self._exchange.wants_json), self._finish)

    async def _stopped(self, gate: ClaimGate, step: Step) -> None:
        """Nothing of the claim goes out: what is said instead does, or the calls of tools beside it; the record says what was withheld."""
        how = delivery("streamed", self._sent, step.end, stopped=True)
        occurrence = await self._record(gate.text[: step.end], how)
        if self._acts and self._exchange.offers_tools and may_call(occurrence):
            await self._close(occurrence, how, None, self._finish)
            return
        verdict = occurrence.verdict
        said = verdict.safe_response if verdict.action in ("block", "clarify") else step.text
        self._acts.clear()
        self.is_withheld = True
        await self._close(occurrence, how, f"\n\n{said}" if self._sent and said else said, "content_filter")

    async def say_instead(self, occurrence: Occurrence) -> None:
        """What question and context alone came to."""
        self._is_over = True
        await self._send({"role": "assistant", "content": ""})
        verdict = occurrence.verdict
        how = delivery("precheck", 0, 0, stopped=True)
        await self._close(occurrence, how, verdict.safe_response, finish_reason(verdict))

    async def _close(
        self, occurrence: Occurrence, how: Mapping[str, Any], said: str | None, finish: str | None
    ) -> None:
        """The last pieces: words of ours, calls of tools, the verdict."""
        if said:
            key = "refusal" if self._exchange.wants_json else "content"
            await self._send({key: said})
        for acts in self._acts:
            await self._send(acts)
        passed = self._passed or bool(self._acts)
        own = extension(occurrence, how, list(self._beside), passed=passed) | self._exchange.notes
        if how["how"] == "passed_through" and self._acts:
            own |= {"action": "deliver", "safe_response": None}
        await remember_answer(self._parts, self._exchange, self._gate.sent if self._gate else "", own)
        await self._send({}, finish, logprobs=with_brief(None, own), **{EXTENSION: own})

    # the record

    async def _record(self, draft: str, how: Mapping[str, Any]) -> Occurrence:
        """The verdict, once it is kept; it is kept whether or not anybody waits for it."""
        self._is_over = True
        self._recording = asyncio.create_task(self._kept(self._request(draft, how)))
        return await asyncio.shield(self._recording)

    async def _kept(self, request: VerifyRequest) -> Occurrence:
        examine = partial(
            self._parts.guard.examine,
            request,
            caller=self._exchange.caller,
            opening=self._opening,
            growing=self._draft if request.draft_answer else None,
        )
        try:
            found: Occurrence = await self._parts.run(examine)
        except ProblemError:  # no place in the pool: what went out is recorded all the same
            found = await asyncio.to_thread(examine)
        return found

    async def settle(self) -> None:
        """Wait for the record, or make that of an answer without an end: the client is gone, or the model server failed."""
        if self._working is not None and not self._working.done():
            await asyncio.wait({self._working})
        gate = self._gate
        if not self._is_over and gate is not None and (gate.text.strip() or self._opening):
            how = delivery("streamed", self._sent, self._length, complete=False)
            draft = gate.text[: None if gate.fits else self._sent]
            self._recording = asyncio.create_task(self._kept(self._request(draft, how)))
        if self._recording is not None:
            await asyncio.wait({self._recording})
            if (problem := self._recording.exception()) is not None:
                log.error("an answer that was streamed could not be recorded: %s", problem)


def _disclaimer(occurrence: Occurrence, *, json: bool) -> str | None:
    """The warning that stands behind an answer, in the modes that may add to it."""
    verdict = occurrence.verdict
    if verdict.warning is None or verdict.safe_response is None or json:
        return None
    return f"\n\n{verdict.warning}"
