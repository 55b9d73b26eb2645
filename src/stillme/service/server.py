"""Runs the application: binds, serves, and on SIGTERM or Ctrl-C finishes what it accepted."""

from __future__ import annotations

import gc
import logging
import os
import socket
import tempfile
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp

from stillme.errors import InputError
from stillme.service.app import create_app, parts_from
from stillme.service.auth import Keys
from stillme.service.configuration import configure
from stillme.service.connections import Bounds, Connection
from stillme.service.logs import logging_config
from stillme.service.metrics import SHARED
from stillme.service.settings import ServiceSettings

__all__ = ["application", "connection_options", "serve", "settle"]

LOOK_S: Final = 0.05
# So many objects are made before the collector looks for circles among them, and so many times until it looks at older ones too: a
# request makes thousands, most of which end with it, and what is kept of passages is no circle that anybody waits for.
COLLECT_EVERY: Final = (50_000, 20, 20)
log = logging.getLogger("stillme.service")


def application() -> ASGIApp:
    """The application as the environment describes it, for one of several processes or for another server."""
    configure(os.environ)
    return create_app(parts_from(os.environ), settle)


def settle() -> None:
    """Have the collector leave alone what was loaded for good, and look less often at what requests make."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_EVERY)


def serve(environment: Mapping[str, str], on_start: Callable[[str], None]) -> None:
    """Serve until told to stop; `on_start` hears the address once requests are accepted."""
    settings = ServiceSettings.from_environment(environment)
    if not settings.is_loopback and not Keys(settings.keys_file).are_needed:
        raise InputError(
            f"{settings.host} can be reached from elsewhere, and there are no API keys: "
            "make one with `stillme keys create NAME --scope verify`, or listen on 127.0.0.1"
        )
    if settings.workers > 1 and not settings.port:
        raise InputError("several workers need a port of their own choice: --port 8000, for example")
    listening = _bound(settings)
    address = _address(settings, listening)
    options: dict[str, Any] = {
        "log_config": logging_config(settings.log_format),
        "access_log": False,
        "server_header": False,
        "date_header": True,
        "timeout_keep_alive": 30,
        "timeout_graceful_shutdown": round(settings.grace_s),
        "lifespan": "on",
        **connection_options(settings),
    }
    if settings.workers > 1:
        listening.close()  # it was free, and the processes share another
        _serve_together(settings, options, lambda: on_start(address))
        return
    with listening:
        app = create_app(parts_from(environment, settings), settle)
        _Server(uvicorn.Config(app, **options), lambda: on_start(address)).run(sockets=[listening])


def connection_options(settings: ServiceSettings) -> dict[str, Any]:
    """What the server is told of connections: their bounds, and which proxies may say who asks."""
    bounds = Bounds(settings.most_header_bytes, settings.header_timeout_s, settings.most_connections)
    return {
        "http": partial(Connection, bounds=bounds),
        "ws": "none",
        "proxy_headers": bool(settings.proxies),
        "forwarded_allow_ips": list(settings.proxies),
    }


class _Server(uvicorn.Server):
    """Tells when it accepts requests."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_start()


def _serve_together(settings: ServiceSettings, options: dict[str, Any], on_start: Callable[[], None]) -> None:
    """Several processes on one port; their figures come together in a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="stillme-metrics-") as shared:
        os.environ[SHARED] = shared
        where: dict[str, Any] = {"host": settings.host, "port": settings.port, "workers": settings.workers}
        is_over = threading.Event()
        threading.Thread(target=_tell_when_reached, args=(settings, is_over, on_start), daemon=True).start()
        try:
            uvicorn.run("stillme.service.server:application", factory=True, **where, **options)
        finally:
            is_over.set()


def _tell_when_reached(settings: ServiceSettings, is_over: threading.Event, on_start: Callable[[], None]) -> None:
    """Wait until one of the processes accepts connections: none does before it has loaded what it serves."""
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104  (compared, not bound)
    while not is_over.wait(LOOK_S):
        try:
            socket.create_connection((here, settings.port), timeout=1).close()
        except OSError:
            continue
        on_start()
        return


def _bound(settings: ServiceSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        where = f"{settings.host}:{settings.port}"
        raise InputError(
            f"{where} cannot be listened on ({error.strerror}): choose another with --host or --port"
        ) from None
    return listening


def _address(settings: ServiceSettings, listening: socket.socket) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{listening.getsockname()[1]}"
