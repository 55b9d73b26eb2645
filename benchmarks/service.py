"""What HTTP adds: verification over the wire beside the call in the same process, and beside a bare echo of the same bytes.

    python -m benchmarks.service [--quick] [--json FILE]

Servers are processes of their own on loopback, started as an operator starts them, with the audit record durable; the load comes
from one process beside them, so that on two cores load and server have one each. The echoes are a FastAPI route that takes and
gives JSON, and a bare Starlette route on the same server (uvicorn), with bodies as long as ours. No verdict is given again.
"rules" is a policy without the model, "full" the default. All servers stand at the same time and are asked in turn, round by round,
so that whatever else the machine does hits all alike; the processor time that a server took for a request says what the work costs
where other programs take turns with it.
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
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import psutil

from benchmarks.core import Record, heading, machine, percentile, progress
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

    seconds: float = 2.0
    rounds: int = 3
    warm: int = 150
    samples: int = 100
    requests: int = 2_000


def requests(count: int, first: int) -> list[bytes]:
    """Typical requests, English and Vietnamese in turn and of all kinds of answers, no two alike."""
    return [json.dumps(given).encode() for given in mixed(count, first)]


# one connection that asks and waits, and many of them


@dataclass(slots=True)
class Load:
    """What the callers saw, and what it cost the server."""

    times: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    rates: list[float] = field(default_factory=list)
    """Answers a second, round by round."""
    processor_s: float = 0.0

    def milliseconds(self, share: float) -> float | None:
        """The time within which that share was answered; None where nobody was."""
        return round(percentile(self.times, share) * 1000, 2) if self.times else None

    def record(self, name: str, connections: int) -> Record:
        """The figures of this load."""
        return {
            "what": name,
            "connections": connections,
            "per_s": round(statistics.median(self.rates), 1),
            "rates": [round(rate, 1) for rate in self.rates],
            "p50_ms": self.milliseconds(0.5),
            "p99_ms": self.milliseconds(0.99),
            "processor_ms": round(1000 * self.processor_s / max(1, sum(self.statuses.values())), 3),
            "turned_away": self.statuses.get(429, 0),
            "failed": sum(n for status, n in self.statuses.items() if status not in (200, 429)),
        }


@dataclass(frozen=True, slots=True)
class Way:
    """A path of a server that is asked, and with what."""

    name: str
    server: Server
    path: str
    bodies: Iterator[bytes]

    def ask(self, connections: int, seconds: float, load: Load) -> None:
        """One round over so many connections at once."""
        answered, spent, started = load.statuses.get(200, 0), self.server.processor_s, time.perf_counter()

        async def together() -> None:
            until = time.perf_counter() + seconds
            port = self.server.port
            await asyncio.gather(*(asked(port, self.path, self.bodies, until, load) for _ in range(connections)))

        asyncio.run(together())
        load.rates.append((load.statuses.get(200, 0) - answered) / (time.perf_counter() - started))
        load.processor_s += self.server.processor_s - spent


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


# the servers


@dataclass(frozen=True, slots=True)
class Server:
    """A server process that accepts connections."""

    port: int
    process: psutil.Process

    @property
    def processor_s(self) -> float:
        """The processor time that it has taken so far."""
        times = self.process.cpu_times()
        return float(times.user + times.system)


@contextmanager
def server(command: Sequence[str], port: int, **environment: str) -> Iterator[Server]:
    """A server process, once it accepts connections."""
    process = subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                asyncio.run(_open(port))
                break
            except OSError:
                if time.monotonic() > deadline or process.poll() is not None:
                    raise
                time.sleep(0.05)
        yield Server(port, psutil.Process(process.pid))
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


def measure(ways: Sequence[Way], effort: Effort) -> list[Record]:
    """Warm up, then each number of connections, all ways in turn in every round."""
    for way in ways:
        progress(f"{way.name}: warming up")
        way.ask(4, effort.seconds, Load())
    found = []
    for connections in CONNECTIONS:
        loads = [Load() for _ in ways]
        for number in range(effort.rounds):
            progress(f"{connections} connections: round {number + 1} of {effort.rounds}")
            for way, load in zip(ways, loads, strict=True):
                way.ask(connections, effort.seconds, load)
        found += [load.record(way.name, connections) for way, load in zip(ways, loads, strict=True)]
        for row in found[-len(ways) :]:
            show(row)
    return found


def held_up(way: Way, effort: Effort) -> Record:
    """The times of short requests alone, and while a request as large as the limits allow is being verified."""
    progress("one long request beside short ones")
    alone, beside, stop = Load(), Load(), threading.Event()
    way.ask(1, effort.seconds, alone)

    def keep_asking() -> None:
        large = Way("large", way.server, way.path, cycle([json.dumps(largest()).encode()]))
        while not stop.is_set():
            large.ask(1, 0.001, Load())

    asking = threading.Thread(target=keep_asking)
    asking.start()
    for _ in range(effort.rounds):
        way.ask(1, effort.seconds, beside)
    stop.set()
    asking.join()
    found = {"alone": alone.record("short", 1), "beside": beside.record("short", 1)}
    print(f"  alone p50 {found['alone']['p50_ms']} ms, beside one long request {found['beside']['p50_ms']} ms")
    return found


def largest() -> dict[str, Any]:
    """A request near the limit of work: many claims against many sentences, all different."""
    said = [
        f"Flight {n} leaves gate {n % 40} at {n % 12 + 1}:{n % 60:02} and carries {n + 60} people." for n in range(180)
    ]
    passages = [{"source_id": f"p{k}", "text": " ".join(said[k::16])} for k in range(16)]
    return {"query": "When do the flights leave?", "draft_answer": " ".join(said), "retrieved_context": passages}


def in_process(policy: Any, effort: Effort, folder: Path) -> float:
    """The median of the same call without HTTP, with its record durable, in milliseconds."""
    with AuditStore(folder / f"alone-{policy is None}.db") as store:
        guard = Guard(policy, audit=store)
        given = [json.loads(body) for body in requests(effort.samples + 20, 7_000_000)]
        times = []
        for each in given:
            started = time.perf_counter()
            guard.verify(each).model_dump_json()
            times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times[20:])


def show(row: Record) -> None:
    """One line of the table."""
    print(
        f"  {row['what']:<22} {row['connections']:>4} {row['per_s']:>9,.0f}/s  p50 {row['p50_ms'] or '-':>8} ms  "
        f"p99 {row['p99_ms'] or '-':>8} ms  {row['processor_ms']:>8.3f} ms of processor time  "
        f"turned away {row['turned_away']:>6}  failed {row['failed']}"
    )


def compare(rows: Sequence[Record], alone: dict[str, float]) -> Record:
    """Ratios and the overhead per request."""
    by = {(row["what"], row["connections"]): row for row in rows}
    echo, found = by["echo, FastAPI", 32], Record()
    for kind, own in alone.items():
        ours = by[f"verify, {kind}", 32]
        over = by[f"verify, {kind}", 1]["p50_ms"] - own
        found[f"overhead_{kind}_ms"] = round(over, 2)
        found[f"share_of_echo_{kind}"] = round(ours["per_s"] / echo["per_s"], 3)
        found[f"processor_share_{kind}"] = round(echo["processor_ms"] / ours["processor_ms"], 3)
        print(
            f"  {kind}: in process p50 {own:.2f} ms, over HTTP {over:+.2f} ms; at 32 connections "
            f"{found[f'share_of_echo_{kind}']:.1%} of a bare FastAPI echo, by processor time {found[f'processor_share_{kind}']:.1%}"
        )
    return found


def run(effort: Effort, folder: Path) -> Record:
    """All servers at the same time."""
    answer, policy, echo = folder / "answer.json", folder / "rules.yaml", folder / "echo.py"
    answer.write_text(Guard(RULES).verify(json.loads(requests(1, 1)[0])).model_dump_json(), encoding="utf-8")
    policy.write_text("grounding:\n  model: none\n", encoding="utf-8")
    echo.write_text(ECHO, encoding="utf-8")
    bodies = requests(effort.requests, 1_000_000)
    with ExitStack() as servers:
        port = free_port()
        echoing = servers.enter_context(server([sys.executable, str(echo), str(port), str(answer)], port))
        ways = [
            Way("echo, Starlette", echoing, "/starlette", cycle(bodies)),
            Way("echo, FastAPI", echoing, "/fastapi", cycle(bodies)),
        ]
        for kind, environment in (("rules", {"STILLME_POLICY": str(policy)}), ("full", {})):
            data = {"STILLME_DATA": str(folder / kind), "STILLME_VERDICT_CACHE": "0", **environment}
            command = [sys.executable, "-m", "stillme", "serve", "--port", str(port := free_port())]
            serving = servers.enter_context(server(command, port, **data))
            ways.append(Way(f"verify, {kind}", serving, "/v1/verify", cycle(bodies)))
        heading("Requests a second and times, by connections")
        rows = measure(ways, effort)
        heading("A request as large as the limits allow, beside short ones")
        beside = held_up(ways[2], effort)
    alone = {kind: in_process(given, effort, folder) for kind, given in (("rules", RULES), ("full", None))}
    heading("What HTTP adds")
    return {"loads": rows, "held_up": beside, "in_process_ms": alone, **compare(rows, alone)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write the record if asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a second for each load: shows that it works")
    parser.add_argument("--json", type=Path, help="write the record there")
    chosen = parser.parse_args(arguments)
    effort = Effort(0.5, 1, 30, 40, 200) if chosen.quick else Effort()
    with tempfile.TemporaryDirectory() as folder:
        record = {**machine(quick=chosen.quick), **run(effort, Path(folder))}
    if chosen.json:
        chosen.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
