"""Asks the judge and takes nothing on trust: whatever is not a whole answer is a `BackendError` that says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stillme.errors import BackendError
from stillme.judge.settings import JudgeSettings
from stillme.llm.breaker import Breaker
from stillme.llm.client import CallLimits, Client, completed
from stillme.llm.endpoint import Endpoint
from stillme.llm.wire import FaultError, check_completion, json_object

__all__ = ["JudgeClient"]

MOST_BYTES: Final = 1_000_000
# What the other side sent is repeated in an error only where it is one of these: it knows the key, and may hide it anywhere.
COMMON_ENDS: Final = ("stop", "tool_calls", "function_call", "eos_token")
ADVICE: Final = {
    400: "the text may be too long for the model, or a parameter unknown; without JSON Schema it needs structured='json_object'",
    401: "check api_key",
    403: "check api_key and what it may use",
    404: "check url and model",
    413: "the text is too long for it; lower most_chars to be told so before it is sent",
    422: "a parameter may be unknown; without JSON Schema it needs structured='json_object'",
}


@dataclass(frozen=True, slots=True)
class JudgeClient:
    """Posts to the endpoint of a judge, for callers that wait. Safe to share between threads."""

    endpoint: Endpoint
    limits: CallLimits
    use_proxy: bool

    @classmethod
    def of(cls, settings: JudgeSettings) -> JudgeClient:
        """The client for these settings; what could not be used is an error now, not at the first claim."""
        limits = CallLimits(
            connect_s=settings.connect_timeout_s,
            total_s=settings.timeout_s,
            retries=settings.retries,
            backoff_s=settings.backoff_s,
            most_pause_s=settings.timeout_s,
            most_bytes=MOST_BYTES,
        )
        endpoint = Endpoint.of(settings.url, settings.model, settings.api_key, allow_insecure=settings.allow_insecure)
        client = cls(endpoint, limits, settings.use_proxy)
        client._http_client().new_http()
        return client

    @property
    def name(self) -> str:
        """How errors speak of it."""
        return f"the judge at {self.endpoint.authority}"

    def content(self, body: bytes, deadline: float) -> str:
        """The text of the one message that the model answers, before `deadline` by the monotonic clock."""
        try:
            return completed(lambda: self._content(body, deadline))
        except FaultError as fault:
            raise BackendError(f"{self.name} {fault}{_way_out(fault)}") from None

    async def _content(self, body: bytes, deadline: float) -> str:
        client = self._http_client()
        try:
            return _text(await client.whole(body, deadline))
        finally:
            await client.aclose()

    def _http_client(self) -> Client:
        """For one question: connections belong to an event loop, and each question has its own."""
        breaker = Breaker(self.limits.retries + 1)
        return Client(self.name, self.endpoint, self.limits, breaker, ADVICE, use_proxy=self.use_proxy)


def _way_out(fault: FaultError) -> str:
    """How often it was asked where that matters, and what can be done."""
    if fault.passing:
        wanted = f"; it asks for a pause of {fault.retry_after_s:g} s" if fault.retry_after_s else ""
        return f" (tries: {fault.tries}){wanted}: check that it is up, or raise retries or timeout_s"
    if fault.timed_out:
        return ": raise timeout_s, or choose a faster model"
    return "" if ":" in str(fault) else ": check url and model"


def _text(body: bytes) -> str:
    """The content of the one choice, whole and not refused."""
    whole = json_object(body)
    check_completion(whole)
    choice, *others = whole["choices"]
    if others:
        raise FaultError("answered with several choices")
    message, finish = choice["message"], choice["finish_reason"]
    if finish == "length":
        raise FaultError("ran out of tokens before the answer was whole: raise max_tokens")
    if message.get("refusal") or finish == "content_filter":
        raise FaultError("refuses to judge this text: it stays unverified; another model may judge it")
    content: str | None = message.get("content")
    if finish != "stop" or content is None:
        how = finish if finish in COMMON_ENDS else "something else"
        raise FaultError(f"ended with {how} and not with a text: choose another model")
    return content
