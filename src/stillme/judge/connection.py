"""One HTTP exchange that ends in time, however slowly the other side speaks, and that reads no more than it was told to."""

from __future__ import annotations

import io
import queue
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http.client import HTTPResponse
from typing import Any, Final, cast

from stillme.judge.endpoint import Endpoint, Proxy

__all__ = ["Deadline", "Reply", "TooLargeError", "connected", "posted"]

MOST_BYTES: Final = 1_000_000


class TooLargeError(Exception):
    """The other side sent more than anybody reads."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in time after which nothing is waited for."""

    until: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """So many seconds from now."""
        return cls(time.monotonic() + seconds)

    def sooner(self, seconds: float) -> Deadline:
        """So many seconds from now, but not later than this one."""
        return Deadline(min(self.until, time.monotonic() + seconds))

    @property
    def left(self) -> float:
        """Seconds left; 0 or less when it is over."""
        return self.until - time.monotonic()

    def wait_s(self) -> float:
        """Seconds left, as a time limit for a socket."""
        left = self.left
        if left <= 0:
            raise TimeoutError("out of time")
        return left


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: status, headers that matter, body."""

    status: int
    content_type: str
    encoding: str
    retry_after: str | None
    body: bytes


class _TimedReader(io.RawIOBase):
    """Reads a socket; each read gets what is left of the time, and all reads together no more than `MOST_BYTES`."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline
        self._room = MOST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(self._deadline.wait_s())
        count = self._sock.recv_into(buffer)
        self._room -= count
        if self._room < 0:
            raise TooLargeError
        return count


class _TimedSocket:
    """As much of a socket as `HTTPResponse` needs."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._reader = _TimedReader(sock, deadline)

    def makefile(self, mode: str) -> io.BufferedReader:  # noqa: ARG002  (always "rb")
        return io.BufferedReader(self._reader)


@contextmanager
def connected(endpoint: Endpoint, deadline: Deadline) -> Iterator[socket.socket]:
    """A connection to the endpoint, through its proxy if it has one, encrypted and verified for https."""
    proxy = endpoint.proxy
    sock = _opened(proxy.host, proxy.port, deadline) if proxy else _opened(endpoint.host, endpoint.port, deadline)
    try:
        if endpoint.scheme == "https":
            if proxy:
                _tunnel(sock, endpoint, proxy, deadline)
            sock.settimeout(deadline.wait_s())  # a handshake as a whole keeps to the time limit of its socket
            sock = _tls().wrap_socket(sock, server_hostname=endpoint.host)
        yield sock
    finally:
        sock.close()


def posted(sock: socket.socket, endpoint: Endpoint, body: bytes, deadline: Deadline) -> Reply:
    """What the endpoint answers to a body."""
    headers = {
        "Host": endpoint.authority,
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Connection": "close",
    }
    if endpoint.api_key is not None:
        headers["Authorization"] = f"Bearer {endpoint.api_key}"
    target = endpoint.path
    if endpoint.proxy and endpoint.scheme == "http":
        target = endpoint.url
        if endpoint.proxy.authorization:
            headers["Proxy-Authorization"] = endpoint.proxy.authorization
    sock.settimeout(deadline.wait_s())
    sock.sendall(_head(f"POST {target}", headers) + body)
    with _response(sock, "POST", deadline) as response:
        return Reply(
            response.status,
            response.headers.get_content_type(),
            response.headers.get("Content-Encoding", "identity").strip().lower(),
            response.headers.get("Retry-After"),
            _whole(response),
        )


def _whole(response: HTTPResponse) -> bytes:
    body = response.read(MOST_BYTES)
    if response.length:
        raise ConnectionResetError("the body ended early")
    return body


def _head(start: str, headers: Mapping[str, str]) -> bytes:
    lines = [f"{start} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("ascii")


def _response(sock: socket.socket, method: str, deadline: Deadline) -> HTTPResponse:
    response = HTTPResponse(cast("socket.socket", _TimedSocket(sock, deadline)), method=method)
    response.begin()
    return response


def _tunnel(sock: socket.socket, endpoint: Endpoint, proxy: Proxy, deadline: Deadline) -> None:
    """Ask the proxy for a way through; it sees where to, and nothing of what is said."""
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    target = f"{host}:{endpoint.port}"
    headers = {"Host": target}
    if proxy.authorization:
        headers["Proxy-Authorization"] = proxy.authorization
    sock.settimeout(deadline.wait_s())
    sock.sendall(_head(f"CONNECT {target}", headers))
    with _response(sock, "CONNECT", deadline) as response:
        if response.status != 200:
            raise ConnectionRefusedError(f"the proxy answered {response.status}")


def _opened(host: str, port: int, deadline: Deadline) -> socket.socket:
    """A connection to one of the host's addresses; each gets its share of the time."""
    addresses = _addresses(host, port, deadline)
    problem: OSError = ConnectionRefusedError("the host has no address")
    for n, (family, kind, protocol, _, where) in enumerate(addresses):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(deadline.wait_s() / (len(addresses) - n))
            sock.connect(where)
        except OSError as error:
            sock.close()
            problem = error
        else:
            return sock
    raise problem


def _addresses(host: str, port: int, deadline: Deadline) -> list[Any]:
    """The addresses of a host; looked up in a thread of its own, because a resolver knows no time limit."""
    found: queue.SimpleQueue[list[Any] | OSError] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            found.put(list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))
        except (OSError, UnicodeError):
            found.put(ConnectionRefusedError("unknown host"))

    threading.Thread(target=look_up, daemon=True, name="stillme-judge-lookup").start()
    try:
        result = found.get(timeout=deadline.wait_s())
    except queue.Empty:
        raise TimeoutError("the host name was not resolved in time") from None
    if isinstance(result, OSError):
        raise result
    return result


@cache
def _tls() -> ssl.SSLContext:
    """The system's certificates (or those that SSL_CERT_FILE names), hostname and chain checked."""
    return ssl.create_default_context()
