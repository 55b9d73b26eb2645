"""Connections before anybody is known: bounded in number, and in how many bytes and how much time their headers may take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from stillme.service.problems import Problem, wire

__all__ = ["Bounds", "Connection", "headers_too_large"]

Base: Final[Any] = AutoHTTPProtocol


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a connection may take before its request is read."""

    header_bytes: int
    header_timeout_s: float
    connections: int


def headers_too_large(most: int) -> Problem:
    """What a request with too many headers is told."""
    detail = f"request line and headers may have {most} bytes: send less, or raise STILLME_MAX_HEADER_BYTES"
    return Problem(431, detail, {"connection": "close"})


class Connection(Base):  # type: ignore[misc]  # whichever of the server's protocols is installed
    """The server's own protocol for a connection, within bounds.

    Where all connections are taken, the one that has waited longest for its headers makes room: whoever means to ask sends them
    at once. The rest of a body that was answered before its end has no more time, and makes room too: nobody reads it.
    """

    def __init__(self, *arguments: Any, bounds: Bounds, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._bounds = bounds
        self._head_bytes = 0
        self._overdue: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take a connection in, if there is room for it."""
        super().connection_made(transport)
        if len(self.connections) > self._bounds.connections:
            waiting = [c for c in self.connections if c is not self and c.waiting_until is not None]
            leaving = min(waiting, key=_waiting_until, default=self)
            leaving.drop()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of it."""
        self._arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes in; headers that are too long are answered, and no more is read."""
        if self.transport.is_closing():
            return
        before = self.cycle
        in_headers = before is None or not before.more_body
        super().data_received(data)
        body_ended = not in_headers and not before.more_body and before.response_complete
        if self.cycle is not before or body_ended:
            self._arrived()
        elif in_headers:
            self._head_bytes += len(data)
            self._wait()
            if self._head_bytes > self._bounds.header_bytes and not self.transport.is_closing():
                self.transport.write(wire(headers_too_large(self._bounds.header_bytes)))
                self.transport.close()

    def on_response_complete(self) -> None:
        """Go on to the next request; what is missing of the body of this one is waited for as headers are."""
        answered = self.cycle
        super().on_response_complete()
        if self.cycle is answered and answered.more_body:
            self._wait()

    @property
    def waiting_until(self) -> float | None:
        """When its headers, or the rest of a body that was answered, are overdue; None where they have arrived."""
        return self._overdue.when() if self._overdue is not None else None

    def drop(self) -> None:
        """Close it without a word: nothing was asked yet."""
        self._arrived()
        self.transport.abort()

    def _wait(self) -> None:
        if self._overdue is None and not self.transport.is_closing():
            self._overdue = self.loop.call_later(self._bounds.header_timeout_s, self.drop)

    def _arrived(self) -> None:
        self._head_bytes = 0
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None


_waiting_until: Final[Callable[[Any], Any]] = lambda connection: connection.waiting_until  # noqa: E731
