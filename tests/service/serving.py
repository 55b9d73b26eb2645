"""An ASGI application served over real HTTP on loopback, in a thread, for as long as a test needs it.

with served(app) as url:
    httpx.get(f"{url}/healthz")
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

__all__ = ["served"]

START_S = 600.0


class _Server(uvicorn.Server):
    """Says when it stands, and how it ended."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.settled = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.settled.set()


@contextmanager
def served(app: Any, **options: Any) -> Iterator[str]:
    """The address of the app while it stands; leaving shuts it down as a signal would, and waits for it."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, **{"log_level": "warning", "timeout_graceful_shutdown": 5, "ws": "none", **options})
    server = _Server(config)
    failed: list[BaseException] = []
    thread = threading.Thread(target=_run, args=(server, listening, failed), name="served")
    thread.start()
    try:
        if not server.settled.wait(START_S) or failed:
            raise RuntimeError("the app did not start") from (failed[0] if failed else None)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def _run(server: _Server, listening: socket.socket, failed: list[BaseException]) -> None:
    try:
        server.run(sockets=[listening])
    except BaseException as error:  # an app that cannot start ends uvicorn with SystemExit: the test is to hear of it
        failed.append(error)
    finally:
        server.settled.set()
