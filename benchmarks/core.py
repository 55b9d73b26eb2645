"""Speed, memory and growth of the whole chain, side by side in one run.

    python -m benchmarks.core [--quick | --long] [--json FILE] [--section NAME]

Variants are interleaved (A B C A B C), so that noise of the machine hits all alike. Wall time says what a caller waits;
processor time says what the work costs, also where other programs take turns on the same core. Loops are processor time
in units of a fixed pure-Python loop that ran just before: they compare runs on different machines, and moments of one
machine. All ratios are taken from loops. What is being done is said on stderr; each section begins nothing more when its
minute is up, so that the whole ends within five, unless --long has it take its time.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, NamedTuple

import stillme
from benchmarks.texts import ANSWERS, LANGUAGES, PIECES, Answer, Size, mixed, prose, request, texts_hash, words_in
from stillme import Guard, Verdict, VerifyRequest
from stillme.grounding.passage import contents
from stillme.grounding.passage_index import indexes
from stillme.text.tokens import Text

ROOT: Final = Path(__file__).parents[1]
STATUS: Final = Path("/proc/self/status")
SIZES: Final[tuple[Size, ...]] = ("typical", "long")
PLACES: Final = ("passage", "draft")
KB: Final = 1024
# A request as small as they come, and what stands around a long text: question, draft and passage.
FRAMES: Final = {
    "en": ("What does the plan cost?", "The plan costs ${n} [1].", "The plan costs ${n}."),
    "vi": ("Gói cước này giá bao nhiêu?", "Gói cước này giá {n}.000 đồng [1].", "Gói cước này giá {n}.000 đồng."),
}
WORD: Final = re.compile(r"\w+")
RULES: Final = {"grounding": {"model": "none"}}
OUTSIDE: Final = "outside validators (parse, decide, say)"
WHOLE: Final = "all of it"

Request = dict[str, Any]
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    requests: int = 40
    rounds: int = 5
    warming: int = 4
    batch: int = 32
    batches: int = 5
    starts: int = 10
    verdicts: int = 200
    kilobytes: tuple[int, ...] = (1, 4, 16, 64, 256, 1024)
    repeats: tuple[int, ...] = (5, 5, 3, 1, 1, 1)
    """How many times each of these sizes is run."""
    pieces: tuple[str, ...] = tuple(PIECES)
    most_s: float = 15.0
    """A size that would take longer than this is not run, and the table says so."""
    section_s: float = 40.0
    """When so much time is up, a section begins nothing more."""
    compiles: bool = True
    """Whether fresh processes find all code compiled, as installed code is; compiling takes a while."""


USUAL: Final = Effort()
LONG: Final = Effort(warming=12, batch=64, verdicts=1000, most_s=60.0, section_s=math.inf)
QUICK: Final = Effort(
    requests=1, rounds=2, warming=0, batch=4, batches=1, starts=1, verdicts=4,
    kilobytes=(1,), repeats=(1,), pieces=("câu",), most_s=5.0, compiles=False,
)  # fmt: skip


# time

STARTED: Final = time.monotonic()


def progress(text: str) -> None:
    """Say what is being done, on stderr, with the seconds since the start."""
    print(f"[{time.monotonic() - STARTED:4.0f} s] {text}", file=sys.stderr, flush=True)


class Spent(NamedTuple):
    """What a call took: wall and processor time in nanoseconds, and processor time in loops."""

    wall: int
    cpu: int
    loops: float = 1.0


def timed(call: Callable[..., Any], *arguments: object, collect: bool = False) -> tuple[Spent, Any]:
    """The time of a call and what it returns; the garbage collector is off unless `collect`."""
    if not collect:
        gc.disable()
    try:
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        result = call(*arguments)
        return Spent(time.perf_counter_ns() - wall, time.process_time_ns() - cpu), result
    finally:
        gc.enable()


def fixed_loop() -> int:
    """Always the same work, of the kind the chain does: counting in a dictionary and comparing short strings."""
    seen: dict[str, int] = {}
    names = ("library", "museum", "clinic", "bakery", "garden", "ferry", "park")
    total = 0
    for i in range(8_000):
        name = names[i % 7]
        seen[name] = seen.get(name, 0) + 1
        if name == "ferry" or seen[name] > 1000:
            total += len(name)
    return total


class Loop:
    """The times of the fixed loop during one section."""

    def __init__(self) -> None:
        self.times: list[Spent] = []
        self.now = 0.0

    def tick(self, count: int = 3) -> None:
        """Run the loop and note its times: what is measured next is given in units of their median."""
        self.times += (timed(fixed_loop)[0] for _ in range(count))
        self.now = statistics.median(spent.cpu for spent in self.times[-count:])

    def timed(self, call: Callable[..., Any], *arguments: object, collect: bool = False) -> tuple[Spent, Any]:
        """The time of a call, also in loops, and what it returns."""
        spent, result = timed(call, *arguments, collect=collect)
        return spent._replace(loops=spent.cpu / self.now), result

    def of(self, nanoseconds: float) -> float:
        """A time in units of the section's median."""
        return nanoseconds / statistics.median(spent.cpu for spent in self.times)

    def record(self) -> Record:
        """The times of the loop itself."""
        return {**figures(self.times), "runs": len(self.times)}

    def __str__(self) -> str:
        found = self.record()
        wall = f"wall p50 {found['p50_ms']:.3f}, p95 {found['p95_ms']:.3f}, best {found['best_ms']:.3f}"
        return f"1 loop = {found['cpu_ms']:.3f} ms of processor time ({wall}; {found['runs']} runs)"


def percentile(values: Sequence[float], share: float) -> float:
    """The value that the given share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def figures(times: Sequence[Spent]) -> Record:
    """Wall time (median, 95th percentile, best), median processor time, and that in loops."""
    wall = [spent.wall for spent in times]
    return {
        "p50_ms": round(statistics.median(wall) / 1e6, 4),
        "p95_ms": round(percentile(wall, 0.95) / 1e6, 4),
        "best_ms": round(min(wall) / 1e6, 4),
        "cpu_ms": round(statistics.median(spent.cpu for spent in times) / 1e6, 4),
        "loops": round(loops(times), 4),
    }


def loops(times: Sequence[Spent]) -> float:
    """The median in loops."""
    return statistics.median(spent.loops for spent in times)


def heading(text: str, loop: Loop | None = None) -> None:
    """The title of a section, with the loop of that section."""
    print(f"\n{text}" + (f"\n  {loop}" if loop else ""))


# 1 and 2: the chain, its validators, and the floor


@dataclass(slots=True)
class Case:
    """One kind of request and what was measured of it: for each request the times of all rounds."""

    size: Size
    language: str
    answer: Answer
    times: dict[int, list[Spent]] = field(default_factory=dict)
    validators: dict[int, list[dict[str, float]]] = field(default_factory=dict)
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    floor: dict[str, list[Spent]] = field(default_factory=dict)
    small: list[Spent] = field(default_factory=list)
    seen: list[Spent] = field(default_factory=list)
    """With passages that came before."""

    @property
    def every(self) -> list[Spent]:
        """All times."""
        return [spent for row in self.times.values() for spent in row]

    def request(self, seed: int) -> Request:
        """The request of that number."""
        return request(self.language, self.size, self.answer, seed)

    def measure(self, guard: Guard, seed: int, given: Request, loop: Loop) -> None:
        """Verify a request whose passages are new once and note what it took."""
        forget_passages()
        spent, verdict = loop.timed(guard.verify, given)
        self.times.setdefault(seed, []).append(spent)
        self.validators.setdefault(seed, []).append(by_validator(verdict, spent))
        self.verdicts[seed] = verdict
        if self.answer == "copied":
            self.seen.append(loop.timed(guard.verify, given)[0])
            texts = [given["query"], given["draft_answer"], *(p["text"] for p in given["retrieved_context"])]
            for name, read in (("Text()", Text), ("re \\w+", WORD.findall)):
                self.floor.setdefault(name, []).append(loop.timed(list, map(read, texts))[0])
            self.small.append(loop.timed(guard.verify, smallest(self.language, seed))[0])


def smallest(language: str, number: int) -> Request:
    """One short claim that copies one short passage."""
    query, draft, passage = (text.format(n=number) for text in FRAMES[language])
    sources = [{"source_id": "a", "text": passage}]
    return {"query": query, "draft_answer": draft, "retrieved_context": sources, "as_of": "2026-02-01T09:00:00Z"}


def by_validator(verdict: Verdict, spent: Spent) -> dict[str, float]:
    """The microseconds of each validator, in the order of the chain, and of the rest."""
    own: dict[str, float] = {}
    for f in verdict.findings:
        name = f"{f.validator} (query)" if f.stage == "query" else f.validator
        own[name] = own.get(name, 0.0) + f.elapsed_ms * 1e3
    return {**own, OUTSIDE: spent.wall / 1e3 - sum(own.values())}


def measure_chain(effort: Effort, loop: Loop) -> list[Case]:
    """Every kind of request, interleaved; in the first round no request has been seen before."""
    guard = Guard(RULES)
    cases = [Case(size, language, answer) for size in SIZES for language in LANGUAGES for answer in ANSWERS]
    progress("the whole chain: warming up")
    warm_up(guard, cases, effort)
    gc.freeze()  # what is loaded stays: collecting between measurements need not look at it
    started = time.monotonic()
    seeds = range(effort.requests)
    for number in range(effort.rounds):
        if number > 1 and time.monotonic() - started > effort.section_s:
            break  # two rounds tell a new request from one seen before
        progress(f"the whole chain: round {number + 1} of {effort.rounds}, {len(seeds) * len(cases)} requests")
        for seed in seeds:
            if number == 0 and seed > 0 and time.monotonic() - started > effort.section_s / 2:
                seeds = range(seed)
                break
            gc.collect()
            requests = [(case, case.request(seed)) for case in cases]
            loop.tick()
            at = seed % len(requests)  # none is always the first
            for case, given in requests[at:] + requests[:at]:
                case.measure(guard, seed, given, loop)
    gc.unfreeze()
    return cases


def warm_up(guard: Guard, cases: Sequence[Case], effort: Effort) -> None:
    """Load all rules and see the words of every topic, with requests that are not measured."""
    for case in cases:
        for seed in range(10_000, 10_000 + effort.warming):
            guard.verify(case.request(seed))


def show_chain(cases: Sequence[Case], loop: Loop) -> list[Record]:
    """The table of the whole chain."""
    heading("1. The whole chain: Guard.verify(dict), one core, rules only (grounding.model: none)", loop)
    print(
        f"  {'request':<9}{'lang':<6}{'answer':<14}{'p50 ms':>8}{'p95 ms':>8}{'best ms':>9}{'cpu ms':>8}{'loops':>8}"
        f"{'x copied':>10}{'words':>7}{'supported':>11}{'answered':>10}{'repaired':>10}"
    )
    rows: list[Record] = []
    for case in cases:
        base = next(c for c in cases if (c.size, c.language, c.answer) == (case.size, case.language, "copied"))
        row = chain_record(case, base)
        rows.append(row)
        print(
            f"  {case.size:<9}{case.language:<6}{case.answer:<14}{row['p50_ms']:>8.3f}{row['p95_ms']:>8.3f}"
            f"{row['best_ms']:>9.3f}{row['cpu_ms']:>8.3f}{row['loops']:>8.2f}{row['x_copied']:>10.2f}{row['words']:>7}"
            f"{row['supported']:>11.0%}{row['answered']:>10.0%}{row['repaired']:>10.0%}"
        )
    again = statistics.median(row["again"] for row in rows)
    print("  best: median over the requests of each one's shortest wall time. supported: of the claims; others: of")
    print(f"  the requests. A request seen before costs {again:.2f} of a new one: no verdict is kept.")
    return rows


def chain_record(case: Case, base: Case) -> Record:
    """The figures of one kind of request."""
    verdicts = list(case.verdicts.values())
    claims = [c.status for v in verdicts for c in v.claims if c.status != "not_factual"]
    first, *later = zip(*case.times.values(), strict=True)
    return {
        "request": case.size,
        "language": case.language,
        "answer": case.answer,
        **figures(case.every),
        "best_ms": round(statistics.median(min(s.wall for s in row) for row in case.times.values()) / 1e6, 4),
        "x_copied": round(loops(case.every) / loops(base.every), 3),
        "again": round(loops([s for row in later for s in row]) / loops(first), 3),
        "words": round(statistics.mean(request_words(case.request(seed)) for seed in case.times)),
        "supported": round(claims.count("supported") / max(1, len(claims)), 3),
        "answered": round(statistics.mean(v.decision.value == "answer" for v in verdicts), 3),
        "repaired": round(statistics.mean(any(f.repaired for f in v.findings) for v in verdicts), 3),
        "decisions": dict(Counter(v.decision.value for v in verdicts)),
        "runs": len(case.every),
    }


def request_words(given: Request) -> int:
    """How many words a request has in all."""
    texts = [given["query"], given["draft_answer"], *(p["text"] for p in given["retrieved_context"])]
    return sum(map(words_in, texts))


def show_validators(cases: Sequence[Case], loop: Loop) -> dict[str, Record]:
    """The time of each validator, for copied answers, with its share of the whole."""
    columns = {f"{case.size} {case.language}": usual(case) for case in cases if case.answer == "copied"}
    heading("   By validator, copied answers: p50 µs (findings' elapsed_ms), thousandths of a loop, share of the chain")
    print(f"  {'':<40}" + "".join(f"{name:>22}" for name in columns))
    for row in next(iter(columns.values())):
        cells = [(us := spent[row], loop.of(us * 1e3) * 1e3, us / spent[WHOLE]) for spent in columns.values()]
        print(f"  {row:<40}" + "".join(f"{us:>8.0f}{loops:>7.0f}{share:>7.1%}" for us, loops, share in cells))
    print(
        "  Of each request the shortest of its rounds counts. Evidence is computed once and shared: the validator that"
    )
    print("  asks first is charged for it.")
    return {
        name: {row: {"us": round(us, 1), "share": round(us / spent[WHOLE], 4)} for row, us in spent.items()}
        for name, spent in columns.items()
    }


def usual(case: Case) -> dict[str, float]:
    """For each validator the median over the requests of its shortest time, and their sum."""
    names = next(iter(case.validators.values()))[0]
    medians = {
        name: statistics.median(min(row.get(name, 0.0) for row in rows) for rows in case.validators.values())
        for name in names
    }
    return {**medians, WHOLE: sum(medians.values())}


def show_floor(cases: Sequence[Case]) -> list[Record]:
    """How far the chain is above merely reading the text."""
    heading("2. The floor: reading every text of the same requests, and how many times that the chain costs")
    print(
        f"  {'request':<9}{'lang':<6}{'reading':<10}{'p50 µs':>8}{'cpu µs':>8}{'loops':>8}{'ns/word':>9}{'chain / it':>12}"
        f"{'passages seen':>15}"
    )
    rows: list[Record] = []
    for case in cases:
        for name, times in case.floor.items():
            row = {"request": case.size, "language": case.language, "reading": name, **figures(times)}
            row["ns_per_word"] = round(row["cpu_ms"] * 1e6 / request_words(case.request(0)), 1)
            row["chain_ratio"] = round(loops(case.every) / loops(times), 2)
            row["seen_ratio"] = round(loops(case.seen) / loops(times), 2)
            rows.append(row)
            print(
                f"  {case.size:<9}{case.language:<6}{name:<10}{row['p50_ms'] * 1e3:>8.0f}{row['cpu_ms'] * 1e3:>8.0f}"
                f"{row['loops']:>8.3f}{row['ns_per_word']:>9.0f}{row['chain_ratio']:>12}{row['seen_ratio']:>15}"
            )
    print(
        "  passages seen: how many times it the chain costs where the passages came before and only the draft is new."
    )
    for case in cases:
        if case.small and case.size == "typical":
            row = {"request": "smallest", "language": case.language, "reading": "chain", **figures(case.small)}
            row["chain_ratio"] = round(loops(case.every) / loops(case.small), 2)
            rows.append(row)
            print(
                f"  The whole chain on one claim of a few words ({case.language}): {row['cpu_ms']:.3f} ms cpu "
                f"({row['loops']:.2f} loops); the typical request costs {row['chain_ratio']} times that."
            )
    return rows


def measure_new_words(effort: Effort) -> list[Record]:
    """Typical requests with nothing known of any word, against the same with all words known."""
    guard, loop, rows = Guard(RULES), Loop(), []
    warm_up(guard, [Case("typical", language, "copied") for language in LANGUAGES], effort)
    progress("the whole chain: what is kept between requests")
    times: dict[str, tuple[list[Spent], list[Spent]]] = {language: ([], []) for language in LANGUAGES}
    until = time.monotonic() + effort.section_s / 4
    for seed in range(effort.requests):
        if seed > 0 and time.monotonic() > until:
            break
        for language, (new, known) in times.items():
            given = request(language, "typical", "copied", seed)
            loop.tick()
            forget_words()
            new.append(loop.timed(guard.verify, given)[0])
            forget_passages()
            known.append(loop.timed(guard.verify, given)[0])
    heading("   What is kept between requests: of each spelling its Word, its meaning, its vote for a language", loop)
    for language, (new, known) in times.items():
        one, other = figures(new), figures(known)
        ratio = round(one["loops"] / other["loops"], 2)
        rows.append({"language": language, "new": one, "known": other, "ratio": ratio})
        print(
            f"  typical {language}, copied: {one['cpu_ms']:.3f} ms cpu ({one['loops']:.2f} loops) if every word is new, "
            f"{other['cpu_ms']:.3f} ({other['loops']:.2f}) if all are known: {ratio} times"
        )
    return rows


def forget_passages() -> None:
    """Empty what was read of passages."""
    contents.cache_clear()
    indexes.cache_clear()


def forget_words() -> None:
    """Empty every bounded cache of the package: those hold what is known of single words. Rules stay compiled."""
    forget_passages()
    for name, module in list(sys.modules.items()):
        if name.startswith("stillme."):
            for value in vars(module).values():
                parameters = getattr(value, "cache_parameters", None)
                if callable(parameters) and parameters()["maxsize"] is not None:
                    value.cache_clear()


# 3: throughput


def measure_batches(effort: Effort) -> list[Record]:
    """Different requests one by one and as a batch, without and with the garbage collector, which service has on."""
    guard, loop = Guard(RULES), Loop()
    ways: dict[str, Callable[[list[Request]], object]] = {
        "one by one": lambda requests: [guard.verify(r) for r in requests],
        "verify_batch": guard.verify_batch,
    }
    times: dict[tuple[str, bool], list[Spent]] = {(name, on): [] for on in (False, True) for name in ways}
    until = time.monotonic() + effort.section_s
    for n in range(effort.batches + 1):
        if n > 1 and time.monotonic() > until:
            break
        progress(f"throughput: batch {n + 1} of {effort.batches + 1}, {effort.batch} requests in {len(times)} ways")
        requests = list(mixed(effort.batch, first=effort.batch * n))
        for (name, on), row in times.items():
            forget_passages()
            gc.collect()
            loop.tick(9)
            row.append(loop.timed(ways[name], requests, collect=on)[0])
    heading(
        f"3. Throughput: {effort.batch} different requests, English and Vietnamese, all kinds of answers, typical", loop
    )
    base = loops(times["one by one", False][1:])
    rows: list[Record] = []
    for (name, on), row in times.items():  # the first batch was there to warm up
        found = figures(row[1:])
        ratio = round(found["loops"] / base, 3)
        rates = {key: round(effort.batch * 1e3 / found[f"{key}_ms"]) for key in ("p50", "best", "cpu")}
        rows.append(
            {
                "way": name,
                "collector": on,
                "per_second": rates,
                "loops_each": found["loops"] / effort.batch,
                "cpu_ratio": ratio,
            }
        )
        print(
            f"  {name:<14}collector {'on ' if on else 'off'} {rates['p50']:>6}/s (best {rates['best']}, by processor time "
            f"{rates['cpu']}), {found['loops'] / effort.batch:.2f} loops each, {ratio:.2f} of the processor time of one by one"
        )
    return rows


# 4 and 5: fresh processes

STARTS: Final[dict[str, Record | None]] = {"rules": RULES, "as shipped": None}
START_SCRIPT: Final = """
import time
t = [(time.perf_counter_ns(), time.process_time_ns())]
def tick(): t.append((time.perf_counter_ns(), time.process_time_ns()))
import stillme
tick()
from stillme import Guard
tick()
guard = Guard({policy})
tick()
guard.verify({first})
tick()
guard.verify({second})
tick()
print(*(f"{{b[0] - a[0]}},{{b[1] - a[1]}}" for a, b in zip(t, t[1:])), f"0,{{t[0][1]}}", f"0,{{t[-1][1]}}")
"""

MEMORY_SCRIPT: Final = """
import json
from benchmarks.texts import mixed
def resident():
    with open({status!r}) as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
seen = {{"python and sample texts": resident()}}
from stillme import Guard
seen["Guard imported"] = resident()
guard = Guard({policy})
requests = mixed({count})
guard.verify(next(requests))
seen["first verdict (en)"] = resident()
guard.verify(next(requests))
seen["second verdict (vi)"] = resident()
for request in requests:
    guard.verify(request)
seen["{count} verdicts"] = resident()
print(json.dumps(seen))
"""


def run_python(script: str, compiled: str | None) -> tuple[int, str]:
    """How long a fresh interpreter takes for a script, in nanoseconds, and what it prints.

    Compiled code is kept in the folder `compiled`, as an installed package has it, whatever the environment says.
    """
    environment = dict(os.environ)
    if compiled:
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = compiled
    command = [sys.executable, "-c", script]
    start = time.perf_counter_ns()
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment)
    return time.perf_counter_ns() - start, done.stdout


def measure_start(effort: Effort) -> Record:
    """Import and first verdict in fresh processes, by rules and as shipped, each language first in every other one."""
    loop = Loop()
    times: dict[str, list[Spent]] = {}
    compiled = compiled_folder() if effort.compiles else None
    progress(f"a fresh process: {effort.starts * 2} starts")
    for kind in STARTS if compiled else ():
        start_once(kind, "en", "vi", compiled)
    until = time.monotonic() + effort.section_s
    for n in range(effort.starts * 2):
        if n > 1 and time.monotonic() > until:
            break
        loop.tick(5)
        first, second = LANGUAGES if n % 2 == 0 else LANGUAGES[::-1]
        for kind in STARTS:
            for name, spent in start_once(kind, first, second, compiled).items():
                times.setdefault(name, []).append(spent._replace(loops=spent.cpu / loop.now))
    heading(
        "4. A fresh process: import and first verdict, by rules and as shipped; code compiled, files in the disk cache",
        loop,
    )
    print(f"  {'':<54}{'best ms':>9}{'median ms':>11}{'best cpu ms':>13}{'loops':>8}")
    parts: Record = {}
    for name, row in times.items():
        parts[name] = {**figures(row), "best_cpu_ms": round(min(spent.cpu for spent in row) / 1e6, 3)}
        found = parts[name]
        print(
            f"  {name:<54}{found['best_ms']:>9.1f}{found['p50_ms']:>11.1f}{found['best_cpu_ms']:>13.1f}{found['loops']:>8.1f}"
        )
    return {"parts": parts, "loop": loop.record()}


@cache
def compiled_folder() -> str:
    """Where processes of this run keep compiled code, so that it is compiled once; it goes with the run."""
    folder = mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def start_once(kind: str, first: str, second: str, compiled: str | None) -> dict[str, Spent]:
    """The parts of one fresh process that verifies a request in each language, by rules or as shipped."""
    samples = {language: request(language, "typical", "copied", 1) for language in LANGUAGES}
    empty, _ = run_python("pass", compiled)
    whole, out = run_python(
        START_SCRIPT.format(policy=STARTS[kind], first=samples[first], second=samples[second]), compiled
    )
    parts = [Spent(*map(int, part.split(","))) for part in out.split()]
    package, names, guard, verified, then, before, after = parts
    return {
        "python -c pass, whole process": Spent(empty, before.cpu),
        "import stillme": package,
        "from stillme import Guard": names,
        f"Guard(), {kind}": guard,
        f"first verify, {kind}, {first}": verified,
        f"import + Guard() + first verify, {kind}, {first}": Spent(
            sum(part.wall for part in parts[:4]), sum(part.cpu for part in parts[:4])
        ),
        f"then the first in {second}, {kind}": then,
        f"whole process, both languages, {kind}": Spent(whole, after.cpu),
    }


def measure_memory(effort: Effort) -> Record:
    """Resident memory along the life of a process, and the size of what has to be installed."""
    progress(f"memory: a process that verifies {effort.verdicts} requests")
    heading("5. Memory of a fresh process, and size of the base environment")
    found: Record = {"resident_mb": None}
    if STATUS.exists():
        script = MEMORY_SCRIPT.format(status=str(STATUS), count=effort.verdicts, policy=RULES)
        compiled = compiled_folder() if effort.compiles else None
        if compiled:
            run_python("from stillme import Guard", compiled)  # compiling takes memory of its own
        seen = json.loads(run_python(script, compiled)[1])
        found["resident_mb"] = {name: round(kilobytes / KB, 1) for name, kilobytes in seen.items()}
        for name, megabytes in found["resident_mb"].items():
            print(f"  {name:<28}{megabytes:>8.1f} MB resident")
    else:
        print(f"  resident memory: skipped, this system has no {STATUS}")
    sizes = {name: distribution_bytes(name) for name in sorted(needed("stillme"))}
    found["installed_mb"] = {name: round(size / 1e6, 2) for name, size in sizes.items()}
    found["installed_total_mb"] = round(sum(sizes.values()) / 1e6, 1)
    parts = ", ".join(f"{name} {size / 1e6:.1f}" for name, size in sorted(sizes.items(), key=lambda item: -item[1]))
    print(f"  installed, without Python itself: {found['installed_total_mb']} MB ({parts})")
    return found


def needed(name: str, seen: frozenset[str] = frozenset()) -> frozenset[str]:
    """The installed distributions that one needs at run time, itself included; extras are not."""
    seen |= {name}
    for requirement in metadata.distribution(name).requires or ():
        wanted = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0].lower().replace("_", "-")
        if "extra ==" not in requirement and wanted not in seen and installed(wanted):
            seen = needed(wanted, seen)
    return seen


def installed(name: str) -> bool:
    """Whether a distribution is there; one that only another system needs is not."""
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def distribution_bytes(name: str) -> int:
    """The size of a distribution's files, as installed; our own without what Python compiles, as a wheel has it."""
    if name == "stillme":
        paths = [path for path in Path(stillme.__file__).parent.rglob("*") if path.suffix != ".pyc"]
    else:
        paths = [Path(str(file.locate())) for file in metadata.distribution(name).files or ()]
    return sum(path.stat().st_size for path in paths if path.is_file())


# 6: growth


@dataclass(slots=True)
class Row:
    """One kind of text in one place of the request, and by size what it took, for each run."""

    name: str
    language: str
    place: str
    piece: str = ""
    """What the text repeats; without it the text is prose."""
    times: dict[int, list[Spent]] = field(default_factory=dict)
    late: set[int] = field(default_factory=set)
    """Sizes at which a validator overran its time limit."""

    def request(self, characters: int) -> VerifyRequest:
        """A small request with the text as its passage, its draft or both."""
        long = (self.piece * characters)[:characters] if self.piece else prose(self.language, characters)
        given = smallest(self.language, 9)
        if self.place != "passage":
            given["draft_answer"] = long
        if self.place != "draft":
            given["retrieved_context"][0]["text"] = long
        return VerifyRequest.model_validate(given)

    def expected_s(self, kilobytes: int) -> float:
        """What the next size will take if it costs what the last step lets expect."""
        if not self.times:
            return 0.0
        last = max(self.times)
        if last != kilobytes // 4:
            return math.inf  # a smaller size was left out already
        return min(spent.wall for spent in self.times[last]) / 1e9 * max(4.0, self.ratio(last) or 0.0)

    def ratio(self, kilobytes: int) -> float | None:
        """How many times the four times smaller size it costs."""
        smaller = self.times.get(kilobytes // 4)
        return loops(self.times[kilobytes]) / loops(smaller) if smaller else None

    def us_per_kb(self, kilobytes: int) -> float:
        """Processor time."""
        return statistics.median(spent.cpu for spent in self.times[kilobytes]) / 1e3 / kilobytes

    def measure(self, guard: Guard, kilobytes: int, loop: Loop) -> None:
        """Time one size once; the loop runs before and behind it, since a long text takes a while."""
        given = self.request(kilobytes * KB)
        forget_passages()
        gc.collect()
        loop.tick()
        spent, verdict = timed(guard.verify, given)
        before = loop.now
        loop.tick()
        around = (before + loop.now) / 2
        self.times.setdefault(kilobytes, []).append(spent._replace(loops=spent.cpu / around))
        if any(f.outcome == "errored" for f in verdict.findings):
            self.late.add(kilobytes)

    def cell(self, kilobytes: int) -> str:
        """Microseconds per KB, and the ratio to the size before."""
        if kilobytes not in self.times:
            return "-"
        ratio = self.ratio(kilobytes)
        grown = f" x{ratio:.1f}" if ratio else ""
        return f"{self.us_per_kb(kilobytes):.0f}{grown}{'!' if kilobytes in self.late else ''}"

    def record(self) -> Record:
        """What the table shows."""
        return {
            "text": self.name,
            "language": self.language,
            "place": self.place,
            "us_per_kb": {str(k): round(self.us_per_kb(k), 1) for k in self.times},
            "loops_per_kb": {str(k): round(loops(times) / k, 4) for k, times in self.times.items()},
            "ratio": {str(k): round(ratio, 2) for k in self.times if (ratio := self.ratio(k)) is not None},
            "late": sorted(self.late),
        }


MOST: Final = 2 * KB * KB
# Whatever the sizes ask for: the limits of a policy would refuse a long draft beside a long passage.
UNLIMITED: Final = {"limits": {"draft_chars": MOST, "passage_chars": MOST, "context_chars": MOST, "work": MOST**2}}


def rows_of(effort: Effort) -> list[Row]:
    """Prose and repeated pieces, each as passage and as draft; prose also as both, a draft that copies its passage."""
    rows = [Row("prose", language, place) for language in LANGUAGES for place in (*PLACES, "both")]
    for name in effort.pieces:
        language = "vi" if name == "câu" else "en"
        rows += [Row(f"{name}, repeated", language, place, PIECES[name]) for place in PLACES]
    return rows


def affordable(rows: Sequence[Row], kilobytes: int, times: int, effort: Effort, left_s: float) -> list[Row]:
    """The rows whose next size can be run so many times in the time that is left."""
    chosen: list[Row] = []
    for row in rows:
        expected = row.expected_s(kilobytes)
        if expected <= effort.most_s and expected * times <= left_s:
            chosen.append(row)
            left_s -= expected * times
    return chosen


def measure_growth(effort: Effort) -> Record:
    """The cost of one long text, from 1 KB to 1 MB; a KB is 1024 characters."""
    guard = Guard(RULES | UNLIMITED)
    loop, rows = Loop(), rows_of(effort)
    progress(f"cost against size: warming up with {len(rows)} kinds of text")
    for row in rows if effort.warming else ():
        guard.verify(row.request(KB))
    gc.freeze()
    until = time.monotonic() + effort.section_s
    for kilobytes, times in zip(effort.kilobytes, effort.repeats, strict=True):
        running = affordable(rows, kilobytes, times, effort, until - time.monotonic())
        progress(f"cost against size: {kilobytes} KB, {len(running)} of {len(rows)} kinds of text")
        for _ in range(times):
            for row in running:
                row.measure(guard, kilobytes, loop)
    gc.unfreeze()
    heading("6. Cost against size: processor µs per KB, and times the four times smaller size (4 is linear)", loop)
    print(
        f"  {'text':<22}{'lang':<6}{'as':<9}"
        + "".join(f"{f'{k} KB':>14}" for k in effort.kilobytes)
        + f"{'loops/KB':>10}"
    )
    for row in rows:
        cells = "".join(f"{row.cell(k):>14}" for k in effort.kilobytes)
        last = max(row.times)
        print(f"  {row.name:<22}{row.language:<6}{row.place:<9}{cells}{loops(row.times[last]) / last:>10.3f}")
    print("  loops/KB: of the largest size. -: not run, it would take too long here (--long runs more).")
    print("  !: a validator overran its time limit, and the verdict says so.")
    return {"rows": [row.record() for row in rows], "loop": loop.record()}


# the run


def measure_chain_and_floor(effort: Effort) -> Record:
    """Sections 1 and 2, which share their measurements."""
    loop = Loop()
    cases = measure_chain(effort, loop)
    return {
        "chain": show_chain(cases, loop),
        "validators": show_validators(cases, loop),
        "new_words": measure_new_words(effort),
        "floor": show_floor(cases),
        "chain_loop": loop.record(),
    }


SECTIONS: Final[dict[str, Callable[[Effort], Record]]] = {
    "chain": measure_chain_and_floor,
    "batch": lambda effort: {"batch": measure_batches(effort)},
    "start": lambda effort: {"start": measure_start(effort)},
    "memory": lambda effort: {"memory": measure_memory(effort)},
    "growth": lambda effort: {"growth": measure_growth(effort)},
}


def machine(*, quick: bool) -> Record:
    """What is measured and where, and the calibration of the machine."""
    verdict = Guard().verify(request("en", "typical", "copied", 0))
    loop = Loop()
    loop.tick(20 if quick else 200)
    record: Record = {
        "version": stillme.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load": round(os.getloadavg()[0], 1),
        "policy_hash": verdict.policy_hash,
        "model_id": verdict.model_id,
        "texts_hash": texts_hash(),
        "quick": quick,
        "loop": loop.record(),
    }
    print(f"stillme {record['version']}, {record['model_id']}, texts {record['texts_hash']}")
    print(f"policy {record['policy_hash']}")
    print(
        f"Python {record['python']} on {record['platform']}, {record['machine']}, load average {record['load']} before it began"
    )
    print(f"calibration: {loop}")
    print("The garbage collector is off while time is taken, unless said.")
    return record


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write the run record if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.core", description=(__doc__ or "").splitlines()[0])
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quick", action="store_true", help="few runs and small sizes: to see that it works")
    how.add_argument("--long", action="store_true", help="every size and every round, however long it takes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the run record there")
    parser.add_argument("--section", action="append", choices=SECTIONS, help="only this one (may be repeated)")
    options = parser.parse_args(arguments)
    effort = QUICK if options.quick else LONG if options.long else USUAL
    record = machine(quick=options.quick)
    for name in options.section or SECTIONS:
        record |= SECTIONS[name](effort)
    progress("done")
    if options.json:
        options.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
