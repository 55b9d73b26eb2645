"""Asks the endpoint and takes nothing on trust: whatever is not a whole answer is a `BackendError` that says so."""

from __future__ import annotations

import ssl
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException, IncompleteRead, RemoteDisconnected
from typing import Final

from stillme.errors import BackendError, shown
from stillme.judge.connection import MOST_BYTES, Deadline, Reply, TooLargeError, connected, posted
from stillme.judge.endpoint import Endpoint
from stillme.judge.strict_json import strict_json

__all__ = ["Client"]

OK: Final = 200
REDIRECTS: Final = range(300, 400)
SERVER_FAULTS: Final = range(500, 600)
TOO_MANY: Final = 429
# What the other side sent is repeated in an error only where it is one of these: it knows the key, and may hide it anywhere.
COMMON_TYPES: Final = ("text/html", "text/plain", "text/event-stream", "application/problem+json")
COMMON_ENDS: Final = ("stop", "tool_calls", "function_call", "eos_token", None)
ADVICE: Final = {
    400: "the text may be too long for the model, or a parameter unknown; without JSON Schema it needs structured='json_object'",
    401: "check api_key",
    403: "check api_key and what it may use",
    404: "check url and model",
    413: "the text is too long for it; lower most_chars to be told so before it is sent",
    422: "a parameter may be unknown; without JSON Schema it needs structured='json_object'",
}


class _PassingError(Exception):
    """A fault that may be over when one asks again."""

    def __init__(self, what: str, retry_after_s: float = 0.0) -> None:
        super().__init__(what)
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class Client:
    """Posts to one endpoint; retries what may pass, within the time that a request has."""

    endpoint: Endpoint
    timeout_s: float
    connect_timeout_s: float
    retries: int
    backoff_s: float

    def content(self, body: bytes, deadline: Deadline) -> str:
        """The text of the one message that the model answers."""
        return _content(self._reply(body, deadline), self.endpoint.name)

    def _reply(self, body: bytes, deadline: Deadline) -> Reply:
        for tried in range(self.retries + 1):
            try:
                return self._attempt(body, deadline)
            except _PassingError as problem:
                pause_s = max(self.backoff_s * 2**tried, problem.retry_after_s)
                if tried == self.retries or pause_s >= deadline.left:
                    raise self._given_up(problem, tried + 1) from None
            time.sleep(pause_s)
        raise AssertionError("every try returns or raises")

    def _given_up(self, problem: _PassingError, tries: int) -> BackendError:
        wanted = f"; it asks for a pause of {problem.retry_after_s:g} s" if problem.retry_after_s else ""
        return BackendError(
            f"{self.endpoint.name} {problem} (tries: {tries}){wanted}: check that it is up, or raise retries or timeout_s"
        )

    def _attempt(self, body: bytes, deadline: Deadline) -> Reply:
        reached = False
        try:
            with connected(self.endpoint, deadline.sooner(self.connect_timeout_s)) as sock:
                reached = True
                reply = posted(sock, self.endpoint, body, deadline)
        except TooLargeError:
            raise BackendError(
                f"{self.endpoint.name} sent more than {MOST_BYTES} bytes: this is no answer of a model; check url"
            ) from None
        except OSError as error:
            raise self._broken(error, reached=reached) from None
        except IncompleteRead:
            raise _PassingError("broke off its answer") from None
        except (HTTPException, ValueError):
            raise BackendError(f"{self.endpoint.name} does not answer in HTTP/1.1: check url") from None
        return self._accepted(reply)

    def _broken(self, error: OSError, *, reached: bool) -> BackendError | _PassingError:
        """What an error of the network means: before the connection stands, or after it."""
        if not reached and isinstance(error, ssl.SSLError):
            return BackendError(f"{self.endpoint.name}: {_tls_fault(error)}")
        if not reached:
            return _PassingError(f"cannot be reached: {_network_fault(error)}")
        if isinstance(error, TimeoutError):
            return BackendError(
                f"{self.endpoint.name} took longer than {self.timeout_s:g} s: raise timeout_s, or choose a faster model"
            )
        what = "closed the connection" if isinstance(error, RemoteDisconnected) else "broke off the connection"
        return _PassingError(what)

    def _accepted(self, reply: Reply) -> Reply:
        """The reply if it is one to read; a fault that may pass, or an error, by its status."""
        name, status = self.endpoint.name, reply.status
        if status == TOO_MANY or status in SERVER_FAULTS:
            raise _PassingError(f"answered {status}", _seconds(reply.retry_after))
        if status in REDIRECTS:
            raise BackendError(
                f"{name} answered {status}, a redirect, which is not followed: give the final address as url"
            )
        if status != OK:
            raise BackendError(f"{name} answered {status}: {ADVICE.get(status, 'check url and model')}")
        if reply.encoding not in ("", "identity"):
            raise BackendError(f"{name} sent a compressed answer, which was not asked for: check url and proxies")
        if reply.content_type != "application/json":
            sent = reply.content_type if reply.content_type in COMMON_TYPES else "another content type"
            raise BackendError(f"{name} sent {sent} in place of application/json: check url")
        return reply


def _content(reply: Reply, name: str) -> str:
    """The content of the one choice, whole and not refused."""
    try:
        envelope = strict_json(reply.body.decode("utf-8"))
    except ValueError:
        raise BackendError(f"{name} sent a body that is not JSON: check url") from None
    choices = envelope.get("choices") if isinstance(envelope, dict) else None
    choice = choices[0] if isinstance(choices, list) and len(choices) == 1 else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise BackendError(f"{name} sent JSON without one choice and its message: check url, it is no chat completion")
    finished = choice.get("finish_reason")
    if finished == "length":
        raise BackendError(f"{name} ran out of tokens before the answer was whole: raise max_tokens")
    if message.get("refusal") or finished == "content_filter":
        raise BackendError(f"{name} refuses to judge this text: it stays unverified; another model may judge it")
    if finished != "stop" or not isinstance(message.get("content"), str):
        how = finished if finished in COMMON_ENDS else "something else"
        raise BackendError(f"{name} ended with {how} and not with a text: choose another model")
    content: str = message["content"]
    return content


def _seconds(retry_after: str | None) -> float:
    """What Retry-After asks for, as a number or a date; 0 where it says nothing that can be read."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _tls_fault(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({shown(error.verify_message, 60)}): install its CA, or name it in SSL_CERT_FILE"
    return "no encrypted connection can be made: check that url and port speak https"


def _network_fault(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "no connection in time"
    return str(error.args[0]) if len(error.args) == 1 else (error.strerror or type(error).__name__).lower()
