"""What HTTP adds: verification over the wire beside the call in the same process, and beside a bare echo of the same bytes.

    python -m benchmarks.service [--quick] [--json FILE]

Servers are processes of their own on loopback, started as an operator starts them, with the audit record durable; the load comes
from one process beside them, so that on two cores load and server have one each. The echoes are a FastAPI route that takes and
gives JSON, and a bare Starlette route on the same server (uvicorn), with bodies as long as ours. Every request is different: no
verdict is given again. "rules" is a policy without the model, "full" the default.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from benchmarks.core import Record, heading, machine, percentile
from benchmarks.texts import mixed
from stillme import Guard
from stillme.audit import AuditStore

CONNECTIONS: Final = (1, 32, 256)
RULES: Final = {"grounding": {"model": "none"}}
ECHO: Final = """
import sys, uvicorn
from fastapi import FastAPI, Request
from starlette.responses import Response
from starlette.routing import Route
app = FastAPI()
answer = open(sys.argv[2], "rb").read()
@app.post("/fastapi")
async def fastapi(body: dict) -> dict:
    return body
async def starlette(request: Request) -> Response:
    await request.body()
    return Response(answer, media_type="application/json")
app.router.routes.insert(0, Route("/starlette", starlette, methods=["POST"]))
uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False)
"""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    seconds: float = 6.0
    warm: int = 150
    samples: int = 300


def requests(count: int, first: int) -> list[bytes]:
    """Typical requests, English and Vietnamese in turn and of all kinds of answers, no two alike."""
    return [json.dumps(given).encode() for given in mixed(count, first)]


# one connection that asks and waits, and many of them


@dataclass(slots=True)
class Load:
    """What the callers saw."""

    times: list[float]
    statuses: dict[int, int]
    seconds: float

    def record(self, name: str, connections: int) -> Record:
        """The figures of this load."""
        good = self.statuses.get(200, 0)
        return {
            "what": name,
            "connections": connections,
            "per_s": round(good / self.seconds, 1),
            "p50_ms": round(percentile(self.times, 0.5) * 1000, 2),
            "p99_ms": round(percentile(self.times, 0.99) * 1000, 2),
            "turned_away": self.statuses.get(429, 0),
            "failed": sum(n for status, n in self.statuses.items() if status not in (200, 429)),
        }


async def asked(port: int, path: str, bodies: Iterator[bytes], until: float, load: Load) -> None:
    """Ask over one connection, one request after the other."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ".encode()
    while time.perf_counter() < until:
        body = next(bodies)
        started = time.perf_counter()
        writer.write(head + str(len(body)).encode() + b"\r\n\r\n" + body)
        status, length = 0, 0
        for line in (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n"):
            if line.startswith(b"HTTP/1.1 "):
                status = int(line[9:12])
            elif line.lower().startswith(b"content-length:"):
                length = int(line[15:])
        await reader.readexactly(length)
        load.statuses[status] = load.statuses.get(status, 0) + 1
        if status == 200:
            load.times.append(time.perf_counter() - started)
    writer.close()


def loaded(port: int, path: str, bodies: Iterator[bytes], connections: int, seconds: float) -> Load:
    """Many connections at once, for some seconds."""
    load = Load([], {}, seconds)

    async def together() -> None:
        until = time.perf_counter() + seconds
        await asyncio.gather(*(asked(port, path, bodies, until, load) for _ in range(connections)))

    started = time.perf_counter()
    asyncio.run(together())
    load.seconds = time.perf_counter() - started
    return load


# the servers


@contextmanager
def server(command: Sequence[str], port: int, **environment: str) -> Iterator[int]:
    """A server process, once it accepts connections."""
    process = subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                asyncio.run(_open(port))
                break
            except OSError:
                if time.monotonic() > deadline or process.poll() is not None:
                    raise
                time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(30)


async def _open(port: int) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def measure(name: str, port: int, path: str, effort: Effort, first: int) -> list[Record]:
    """Warm up, then each number of connections."""
    bodies = iter(requests(effort.warm, first))
    loaded(port, path, cycle(bodies), 4, 1.0)
    found = []
    for n, connections in enumerate(CONNECTIONS, 1):
        fresh = cycle(requests(20_000 if effort.seconds > 2 else 2_000, first + n * 100_000))
        found.append(loaded(port, path, fresh, connections, effort.seconds).record(name, connections))
        show(found[-1])
    return found


def in_process(policy: Any, effort: Effort, folder: Path) -> float:
    """The median of the same call without HTTP, with its record durable, in milliseconds."""
    with AuditStore(folder / "alone.db") as store:
        guard = Guard(policy, audit=store)
        given = [json.loads(body) for body in requests(effort.samples + 50, 7_000_000)]
        times = []
        for each in given:
            started = time.perf_counter()
            guard.verify(each).model_dump_json()
            times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times[50:])


def show(row: Record) -> None:
    """One line of the table."""
    print(
        f"  {row['what']:<22} {row['connections']:>4} {row['per_s']:>9,.0f}/s  p50 {row['p50_ms']:>8.2f} ms  "
        f"p99 {row['p99_ms']:>8.2f} ms  turned away {row['turned_away']:>6}  failed {row['failed']}"
    )


def compare(rows: Sequence[Record], alone: dict[str, float]) -> Record:
    """Ratios and the overhead per request."""
    by = {(row["what"], row["connections"]): row for row in rows}
    found: Record = {}
    for kind, own in alone.items():
        over = by[f"verify, {kind}", 1]["p50_ms"] - own
        found[f"overhead_{kind}_ms"] = round(over, 2)
        found[f"share_of_echo_{kind}"] = round(by[f"verify, {kind}", 32]["per_s"] / by["echo, FastAPI", 32]["per_s"], 3)
        print(
            f"  {kind}: in process p50 {own:.2f} ms, over HTTP {over:+.2f} ms; at 32 connections "
            f"{found[f'share_of_echo_{kind}']:.1%} of a bare FastAPI echo"
        )
    return found


def run(effort: Effort, folder: Path) -> Record:
    """Every server in turn."""
    answer, policy = folder / "answer.json", folder / "rules.yaml"
    answer.write_text(Guard(RULES).verify(json.loads(requests(1, 1)[0])).model_dump_json(), encoding="utf-8")
    policy.write_text("grounding:\n  model: none\n", encoding="utf-8")
    rows: list[Record] = []
    heading("Requests a second and times, by connections")
    echo = folder / "echo.py"
    echo.write_text(ECHO, encoding="utf-8")
    with server([sys.executable, str(echo), str(port := free_port()), str(answer)], port):
        rows += measure("echo, Starlette", port, "/starlette", effort, 1_000_000)
        rows += measure("echo, FastAPI", port, "/fastapi", effort, 2_000_000)
    alone: dict[str, float] = {}
    for kind, environment in (("rules", {"STILLME_POLICY": str(policy)}), ("full", {})):
        data = {"STILLME_DATA": str(folder / kind), "STILLME_VERDICT_CACHE": "0", **environment}
        command = [sys.executable, "-m", "stillme", "serve", "--port", str(port := free_port())]
        with server(command, port, **data):
            rows += measure(f"verify, {kind}", port, "/v1/verify", effort, 3_000_000)
        alone[kind] = in_process(RULES if kind == "rules" else None, effort, folder)
    heading("What HTTP adds")
    return {"loads": rows, "in_process_ms": alone, **compare(rows, alone)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write the record if asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a second for each load: shows that it works")
    parser.add_argument("--json", type=Path, help="write the record there")
    chosen = parser.parse_args(arguments)
    effort = Effort(1.0, 30, 40) if chosen.quick else Effort()
    with tempfile.TemporaryDirectory() as folder:
        record = {**machine(quick=chosen.quick), **run(effort, Path(folder))}
    if chosen.json:
        chosen.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
