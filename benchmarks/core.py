"""Speed, memory and growth of the whole chain, side by side in one run.

    python -m benchmarks.core [--quick] [--json FILE] [--section NAME]

Variants are interleaved (A B C A B C), so that noise of the machine hits all alike. Every time is also given in loops:
the time of a fixed pure-Python loop taken between the measurements of the same section, which lets runs on different or
busy machines be compared.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import stillme
from benchmarks.texts import ANSWERS, LANGUAGES, PIECES, Answer, Size, mixed, prose, request, texts_hash, words_in
from stillme import Guard, Verdict, VerifyRequest
from stillme.evidence.text import Text

ROOT: Final = Path(__file__).parents[1]
SIZES: Final[tuple[Size, ...]] = ("typical", "long")
KB: Final = 1024
PLACES: Final = ("passage", "draft")
BATCH: Final = 64
STATUS: Final = Path("/proc/self/status")
WORD: Final = re.compile(r"\w+")
Request = dict[str, Any]
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    requests: int = 60
    rounds: int = 3
    batches: int = 5
    starts: int = 10
    verdicts: int = 1000
    kilobytes: tuple[int, ...] = (1, 4, 16, 64, 256, 1024)
    pieces: tuple[str, ...] = tuple(PIECES)
    most_s: float = 60.0
    """A size that would take longer than this is not run, and the table says so."""


FULL: Final = Effort()
QUICK: Final = Effort(
    requests=4,
    rounds=2,
    batches=2,
    starts=2,
    verdicts=40,
    kilobytes=(1, 4),
    pieces=("brackets", "not", "câu"),
    most_s=5.0,
)


def fixed_loop() -> int:
    """Always the same work, of the kind the chain does: counting in a dictionary and comparing short strings."""
    seen: dict[str, int] = {}
    names = ("library", "museum", "clinic", "bakery", "garden", "ferry", "park")
    total = 0
    for i in range(5_000):
        name = names[i % 7]
        seen[name] = seen.get(name, 0) + 1
        if name == "ferry" or seen[name] > 700:
            total += len(name)
    return total


@dataclass(slots=True)
class Loop:
    """The times of the fixed loop during one section, in nanoseconds."""

    times: list[int] = field(default_factory=list)

    def tick(self, count: int = 1) -> None:
        """Run the loop and note its time."""
        for _ in range(count):
            self.times.append(timed(fixed_loop)[0])

    def of(self, nanoseconds: float) -> float:
        """A time in units of the loop's median."""
        return nanoseconds / statistics.median(self.times)

    def record(self) -> Record:
        """Best, median and 95th percentile in milliseconds."""
        return {**spread(self.times), "runs": len(self.times)}

    def __str__(self) -> str:
        r = self.record()
        return f"1 loop = {r['p50_ms']:.3f} ms here (best {r['best_ms']:.3f}, p95 {r['p95_ms']:.3f}, {r['runs']} runs)"


def timed(call: Callable[..., Any], *arguments: object) -> tuple[int, Any]:
    """How long a call takes, in nanoseconds, with the garbage collector off, and what it returns."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        start = time.perf_counter_ns()
        result = call(*arguments)
        return time.perf_counter_ns() - start, result
    finally:
        if was_on:
            gc.enable()


def percentile(values: Sequence[float], share: float) -> float:
    """The value that the given share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def spread(times: Sequence[float]) -> Record:
    """Best, median and 95th percentile of nanoseconds, in milliseconds."""
    return {
        "best_ms": round(min(times) / 1e6, 4),
        "p50_ms": round(statistics.median(times) / 1e6, 4),
        "p95_ms": round(percentile(times, 0.95) / 1e6, 4),
    }


def heading(text: str, loop: Loop | None = None) -> None:
    """The title of a section, with the loop of that section."""
    print(f"\n{text}" + (f"\n  {loop}" if loop else ""))


# 1 and 2: the chain, its validators, and the floor


@dataclass(slots=True)
class Case:
    """One kind of request: what was measured of it, a row for each round."""

    size: Size
    language: str
    answer: Answer
    rounds: list[list[int]] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    floor: dict[str, list[int]] = field(default_factory=dict)

    @property
    def times(self) -> list[int]:
        """All times of all rounds."""
        return [t for row in self.rounds for t in row]

    @property
    def best(self) -> list[int]:
        """For each request its shortest time."""
        return [min(row) for row in zip(*self.rounds, strict=True)]

    def request(self, seed: int) -> Request:
        """The request of that number."""
        return request(self.language, self.size, self.answer, seed)


def measure_chain(effort: Effort, loop: Loop) -> list[Case]:
    """Every kind of request, interleaved; each request of the first round has never been seen before."""
    guard = Guard()
    cases = [Case(size, language, answer) for size in SIZES for language in LANGUAGES for answer in ANSWERS]
    warm_up(guard, cases)
    for n in range(effort.rounds):
        for case in cases:
            case.rounds.append([])
        for seed in range(effort.requests):
            gc.collect()
            requests = [(case, case.request(seed)) for case in cases]
            loop.tick()
            at = seed % len(requests)  # none is always the first
            for case, given in requests[at:] + requests[:at]:
                spent, verdict = timed(guard.verify, given)
                case.rounds[n].append(spent)
                case.verdicts.append(verdict)
                if case.answer == "copied":
                    measure_floor(case, given)
    return cases


def warm_up(guard: Guard, cases: Sequence[Case]) -> None:
    """Load all rules and see all words once, with requests that are not measured."""
    for case in cases:
        for seed in range(10_000, 10_012):
            guard.verify(case.request(seed))


def measure_floor(case: Case, given: Request) -> None:
    """What reading all texts of the request costs by itself: with our tokeniser, and with the plainest pattern."""
    texts = [given["query"], given["draft_answer"], *(p["text"] for p in given["retrieved_context"])]
    for name, read in (("Text()", Text), ("re \\w+", WORD.findall)):
        spent, _ = timed(list, map(read, texts))
        case.floor.setdefault(name, []).append(spent)


def show_chain(cases: Sequence[Case], loop: Loop) -> list[Record]:
    """The table of the whole chain."""
    heading("1. The whole chain: Guard.verify(dict), one core, rules only", loop)
    print(
        f"  {'request':<9}{'lang':<6}{'answer':<14}{'p50 ms':>8}{'p95 ms':>8}{'best ms':>9}{'loops':>8}{'x copied':>10}"
        f"{'words':>7}{'supported':>11}{'answer':>8}{'refuse':>8}{'repaired':>10}"
    )
    rows: list[Record] = []
    for case in cases:
        base = next(c for c in cases if (c.size, c.language, c.answer) == (case.size, case.language, "copied"))
        row = chain_record(case, base, loop)
        rows.append(row)
        decided = row["decisions"]
        print(
            f"  {case.size:<9}{case.language:<6}{case.answer:<14}{row['p50_ms']:>8.3f}{row['p95_ms']:>8.3f}"
            f"{row['best_p50_ms']:>9.3f}{row['loops']:>8.2f}{row['against_copied']:>10.2f}{row['words']:>7}"
            f"{row['supported']:>11.0%}{decided.get('answer', 0):>8}{decided.get('refuse', 0):>8}{row['repaired']:>10}"
        )
    again = statistics.median(row["again"] for row in rows)
    print("  best ms: the median over requests of each one's shortest time. supported: share of the claims.")
    print(
        f"  A request seen before costs {again:.2f} of a new one: between requests only what is known of words is kept."
    )
    return rows


def chain_record(case: Case, base: Case, loop: Loop) -> Record:
    """The figures of one kind of request."""
    p50 = statistics.median(case.times)
    claims = [c.status for v in case.verdicts for c in v.claims if c.status != "not_factual"]
    later = [t for row in case.rounds[1:] for t in row] or case.rounds[0]
    return {
        "request": case.size,
        "language": case.language,
        "answer": case.answer,
        **spread(case.times),
        "best_p50_ms": round(statistics.median(case.best) / 1e6, 4),
        "loops": round(loop.of(p50), 3),
        "against_copied": round(p50 / statistics.median(base.times), 3),
        "again": round(statistics.median(later) / statistics.median(case.rounds[0]), 3),
        "words": request_words(case.request(0)),
        "supported": round(claims.count("supported") / max(1, len(claims)), 3),
        "decisions": dict(Counter(v.decision.value for v in case.verdicts)),
        "repaired": sum(any(f.repaired for f in v.findings) for v in case.verdicts),
        "runs": len(case.times),
    }


def request_words(given: Request) -> int:
    """How many words a request has in all."""
    texts = [given["query"], given["draft_answer"], *(p["text"] for p in given["retrieved_context"])]
    return sum(map(words_in, texts))


def show_validators(cases: Sequence[Case], loop: Loop) -> dict[str, Record]:
    """A table of the median time of each validator, for copied answers, with its share of the whole."""
    copied = [case for case in cases if case.answer == "copied"]
    columns = {f"{case.size} {case.language}": by_validator(case) for case in copied}
    heading(
        "   By validator (p50 of findings' elapsed_ms, copied answers): µs, thousandths of a loop, share of the chain"
    )
    print(f"  {'':<38}" + "".join(f"{name:>22}" for name in columns))
    for row in next(iter(columns.values())):
        print(f"  {row:<38}" + "".join(validator_cell(spent, row, loop) for spent in columns.values()))
    print("  Evidence is computed once and shared: the validator that asks first is charged for it.")
    return {
        name: {row: {"us": round(us, 1), "share": round(us / spent["the whole chain"], 4)} for row, us in spent.items()}
        for name, spent in columns.items()
    }


def validator_cell(spent: dict[str, float], row: str, loop: Loop) -> str:
    us = spent.get(row, 0.0)
    return f"{us:>8.0f}{loop.of(us * 1e3) * 1e3:>7.0f}{us / spent['the whole chain']:>7.1%}"


def by_validator(case: Case) -> dict[str, float]:
    """The median microseconds of each validator in the order of the chain, of the rest, and of the whole."""
    spent: dict[str, list[float]] = {}
    rest: list[float] = []
    for nanoseconds, verdict in zip(case.times, case.verdicts, strict=True):
        own: dict[str, float] = {}
        for f in verdict.findings:
            name = f"{f.validator} (query)" if f.stage == "query" else f.validator
            own[name] = own.get(name, 0.0) + f.elapsed_ms * 1e3
        for name, us in own.items():
            spent.setdefault(name, []).append(us)
        rest.append(nanoseconds / 1e3 - sum(own.values()))
    medians = {name: statistics.median(times) for name, times in spent.items()}
    medians["outside validators (parse, decide, say)"] = statistics.median(rest)
    medians["the whole chain"] = statistics.median(case.times) / 1e3
    return medians


def show_floor(cases: Sequence[Case], loop: Loop) -> list[Record]:
    """How far the chain is above merely reading the text."""
    heading("2. The floor: reading every text of the same requests, and how many times that the chain costs")
    print(f"  {'request':<9}{'lang':<6}{'reading':<10}{'p50 µs':>8}{'loops':>8}{'ns/word':>9}{'chain / it':>12}")
    rows: list[Record] = []
    for case in cases:
        for name, times in case.floor.items():
            p50 = statistics.median(times)
            row = {
                "request": case.size,
                "language": case.language,
                "reading": name,
                "p50_us": round(p50 / 1e3, 1),
                "loops": round(loop.of(p50), 4),
                "ns_per_word": round(p50 / request_words(case.request(0)), 1),
                "chain_ratio": round(statistics.median(case.times) / p50, 2),
            }
            rows.append(row)
            print(
                f"  {case.size:<9}{case.language:<6}{name:<10}{row['p50_us']:>8}{row['loops']:>8.3f}"
                f"{row['ns_per_word']:>9}{row['chain_ratio']:>12}"
            )
    return rows


def measure_new_words(effort: Effort) -> list[Record]:
    """Typical requests with nothing known of any word, against the same with all words known."""
    heading("   What is kept between requests: for each spelling its Word, its concepts, its vote for a language")
    guard, loop, rows = Guard(), Loop(), []
    warm_up(guard, [Case("typical", language, "copied") for language in LANGUAGES])
    times: dict[str, list[tuple[int, int]]] = {language: [] for language in LANGUAGES}
    for seed in range(effort.requests):
        for language in LANGUAGES:
            given = request(language, "typical", "copied", seed)
            loop.tick()
            forget_words()
            unknown, _ = timed(guard.verify, given)
            times[language].append((unknown, timed(guard.verify, given)[0]))
    for language, pairs in times.items():
        unknown, known = (statistics.median(column) for column in zip(*pairs, strict=True))
        row = {"language": language, "new_ms": round(unknown / 1e6, 3), "known_ms": round(known / 1e6, 3)}
        rows.append({**row, "loops": round(loop.of(unknown), 2), "ratio": round(unknown / known, 2)})
        print(
            f"  typical {language}, copied: {row['new_ms']} ms ({loop.of(unknown):.2f} loops) where every word is new, "
            f"{row['known_ms']} ms ({loop.of(known):.2f}) where all are known: {unknown / known:.2f} times"
        )
    return rows


def forget_words() -> None:
    """Empty every bounded cache of the package: those hold what is known of single words. Rules stay compiled."""
    for name, module in list(sys.modules.items()):
        if name.startswith("stillme."):
            for value in vars(module).values():
                parameters = getattr(value, "cache_parameters", None)
                if callable(parameters) and parameters()["maxsize"] is not None:
                    value.cache_clear()


# 3: throughput


def measure_batches(effort: Effort) -> list[Record]:
    """64 different requests one by one, as a batch, and one by one with the garbage collector on as in service."""
    guard, loop = Guard(), Loop()
    ways: dict[str, Callable[[list[Request]], object]] = {
        "one by one": lambda requests: [guard.verify(r) for r in requests],
        "verify_batch": guard.verify_batch,
    }
    times: dict[str, list[int]] = {
        name: [] for name in (*ways, "one by one, collector on", "verify_batch, collector on")
    }
    for n in range(-1, effort.batches):
        requests = list(mixed(BATCH, first=BATCH * (n + 1)))
        for name, way in ways.items():
            gc.collect()
            loop.tick(5)
            spent, _ = timed(way, requests)
            start = time.perf_counter_ns()
            way(requests)
            collected = time.perf_counter_ns() - start
            if n >= 0:  # the first round warms up
                times[name].append(spent)
                times[f"{name}, collector on"].append(collected)
    heading(f"3. Throughput: {BATCH} different requests, English and Vietnamese, all kinds of answers, typical", loop)
    return [batch_record(name, row, times["one by one"], loop) for name, row in times.items()]


def batch_record(name: str, times: Sequence[int], base: Sequence[int], loop: Loop) -> Record:
    """Requests a second, and the ratio to one by one."""
    p50, best = statistics.median(times), min(times)
    row = {
        "way": name,
        "per_second_p50": round(BATCH * 1e9 / p50),
        "per_second_best": round(BATCH * 1e9 / best),
        "loops_each": round(loop.of(p50 / BATCH), 3),
        "time_ratio": round(best / min(base), 3),
    }
    print(
        f"  {name:<28}{row['per_second_p50']:>7} requests/s (best {row['per_second_best']}), "
        f"{row['loops_each']:.2f} loops each, {row['time_ratio']:.2f} of the time of one by one"
    )
    return row


# 4 and 5: fresh processes

START_SCRIPT: Final = """
import time
t = [time.perf_counter_ns()]
import stillme
t.append(time.perf_counter_ns())
from stillme import Guard
t.append(time.perf_counter_ns())
guard = Guard()
t.append(time.perf_counter_ns())
guard.verify({first})
t.append(time.perf_counter_ns())
guard.verify({second})
t.append(time.perf_counter_ns())
print(*(b - a for a, b in zip(t, t[1:])))
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
guard = Guard()
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


def run_python(script: str) -> tuple[int, str]:
    """How long a fresh interpreter takes for a script, and what it prints."""
    start = time.perf_counter_ns()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return time.perf_counter_ns() - start, done.stdout


def measure_start(effort: Effort) -> Record:
    """Import and first verdict in fresh processes, each language first in every other one."""
    loop = Loop()
    samples = {language: request(language, "typical", "copied", 1) for language in LANGUAGES}
    times: dict[str, list[float]] = {}
    for n in range(effort.starts * 2):
        loop.tick(3)
        first, second = LANGUAGES if n % 2 == 0 else LANGUAGES[::-1]
        times.setdefault("python -c pass (whole process)", []).append(run_python("pass")[0])
        whole, out = run_python(START_SCRIPT.format(first=samples[first], second=samples[second]))
        parts = [int(part) for part in out.split()]
        names = ("import stillme", "from stillme import Guard", "Guard()", f"first verify, {first}")
        for name, part in zip(names, parts, strict=False):
            times.setdefault(name, []).append(part)
        times.setdefault(f"then the first in {second}", []).append(parts[4])
        times.setdefault(f"import + Guard() + first verify, {first}", []).append(sum(parts[:4]))
        times.setdefault("whole process, both languages", []).append(whole)
    heading("4. A fresh process: import and first verdict, files in the disk cache", loop)
    print(f"  {'':<42}{'best ms':>9}{'median ms':>11}{'loops':>8}")
    found: Record = {}
    for name, row in times.items():
        best, p50 = min(row), statistics.median(row)
        found[name] = {"best_ms": round(best / 1e6, 2), "p50_ms": round(p50 / 1e6, 2), "loops": round(loop.of(p50), 1)}
        print(f"  {name:<42}{best / 1e6:>9.1f}{p50 / 1e6:>11.1f}{loop.of(p50):>8.1f}")
    return {"parts": found, "loop": loop.record()}


def measure_memory(effort: Effort) -> Record:
    """Resident memory along the life of a process, and the size of what has to be installed."""
    heading("5. Memory of a fresh process, and size of the base environment")
    found: Record = {"resident_mb": None}
    if STATUS.exists():
        seen = json.loads(run_python(MEMORY_SCRIPT.format(status=str(STATUS), count=effort.verdicts))[1])
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
    """The size of a distribution's files; of an editable install, of the package it points at."""
    if name == "stillme":
        paths = [path for path in Path(stillme.__file__).parent.rglob("*") if path.suffix != ".pyc"]
    else:
        paths = [Path(str(file.locate())) for file in metadata.distribution(name).files or ()]
    return sum(path.stat().st_size for path in paths if path.is_file())


# 6: growth

# What stands around a long text: question, draft and passage.
FRAMES: Final = {
    "en": ("What does the plan cost?", "The plan costs $9 [1].", "The plan costs $9."),
    "vi": ("Gói cước này giá bao nhiêu?", "Gói cước này giá 9.000 đồng [1].", "Gói cước này giá 9.000 đồng."),
}


@dataclass(slots=True)
class Row:
    """One kind of text in one place of the request; times by size, in nanoseconds."""

    name: str
    language: str
    place: str
    piece: str = ""
    """What the text repeats; without it the text is prose."""
    times: dict[int, int] = field(default_factory=dict)
    late: set[int] = field(default_factory=set)
    """Sizes at which a validator overran its time limit."""

    def request(self, characters: int) -> VerifyRequest:
        """A small request with the text as its draft or its passage."""
        long = (self.piece * characters)[:characters] if self.piece else prose(self.language, characters)
        query, draft, passage = FRAMES[self.language]
        given = {"query": query, "draft_answer": draft, "as_of": "2026-02-01T09:00:00Z"}
        if self.place == "draft":
            given["draft_answer"] = long
        sources = [{"source_id": "a", "text": long if self.place == "passage" else passage}]
        return VerifyRequest.model_validate({**given, "retrieved_context": sources})

    def may_run(self, kilobytes: int, most_s: float) -> bool:
        """Whether the next size will be done in time if it costs what the last step lets expect."""
        if not self.times:
            return True
        last = max(self.times)
        if last != kilobytes // 4:
            return False  # a smaller size was left out already
        grown = self.times[last] / self.times[last // 4] if last // 4 in self.times else 4.0
        return self.times[last] / 1e9 * max(4.0, grown) <= most_s


def rows_of(effort: Effort) -> list[Row]:
    """Prose in both languages and repeated pieces, each as passage and as draft."""
    rows = [Row("prose", language, place) for language in LANGUAGES for place in PLACES]
    for name in effort.pieces:
        language = "vi" if name == "câu" else "en"
        rows += [Row(f"{name}, repeated", language, place, PIECES[name]) for place in PLACES]
    return rows


def measure_growth(effort: Effort) -> Record:
    """The cost of one long text, from 1 KB to 1 MB; a KB is 1024 characters."""
    guard = Guard({"limits": {"draft_chars": 2 * KB * KB, "passage_chars": 2 * KB * KB}})
    loop, rows = Loop(), rows_of(effort)
    for row in rows:
        guard.verify(row.request(KB))
    for kilobytes in effort.kilobytes:
        running = [row for row in rows if row.may_run(kilobytes, effort.most_s)]
        for _ in range(5 if kilobytes <= 4 else 3 if kilobytes <= 64 else 1):
            for row in running:
                loop.tick()
                measure_one(guard, row, kilobytes)
    heading("6. Cost against size: µs per KB, and how many times the four times smaller size (4 is linear)", loop)
    show_growth(rows, effort, loop)
    return {"rows": [growth_record(row, loop) for row in rows], "loop": loop.record()}


def measure_one(guard: Guard, row: Row, kilobytes: int) -> None:
    """Time one size of a row once; the shortest time counts."""
    given = row.request(kilobytes * KB)
    gc.collect()
    spent, verdict = timed(guard.verify, given)
    row.times[kilobytes] = min(spent, row.times.get(kilobytes, spent))
    if any(f.outcome == "errored" for f in verdict.findings):
        row.late.add(kilobytes)


def show_growth(rows: Sequence[Row], effort: Effort, loop: Loop) -> None:
    """The table of growth."""
    print(
        f"  {'text':<25}{'lang':<6}{'as':<9}"
        + "".join(f"{f'{k} KB':>14}" for k in effort.kilobytes)
        + f"{'loops/KB':>10}"
    )
    for row in rows:
        last = max(row.times)
        cells = "".join(f"{growth_cell(row, k):>14}" for k in effort.kilobytes)
        print(f"  {row.name:<25}{row.language:<6}{row.place:<9}{cells}{loop.of(row.times[last] / last):>10.3f}")
    print(f"  -: not run, it would take more than {effort.most_s:.0f} s. !: a validator overran its time limit.")


def growth_cell(row: Row, kilobytes: int) -> str:
    """Microseconds per KB, and the ratio to the size before."""
    if kilobytes not in row.times:
        return "-"
    smaller = row.times.get(kilobytes // 4)
    ratio = f" x{row.times[kilobytes] / smaller:.1f}" if smaller else ""
    return f"{row.times[kilobytes] / 1e3 / kilobytes:.0f}{ratio}{'!' if kilobytes in row.late else ''}"


def growth_record(row: Row, loop: Loop) -> Record:
    """A row of the table of growth."""
    return {
        "text": row.name,
        "language": row.language,
        "place": row.place,
        "us_per_kb": {str(k): round(t / 1e3 / k, 1) for k, t in row.times.items()},
        "ratio": {str(k): round(t / row.times[k // 4], 2) for k, t in row.times.items() if k // 4 in row.times},
        "loops_per_kb": {str(k): round(loop.of(t / k), 4) for k, t in row.times.items()},
        "late": sorted(row.late),
    }


# the run


def chain_sections(effort: Effort) -> Record:
    """Sections 1 and 2, which share their measurements."""
    loop = Loop()
    cases = measure_chain(effort, loop)
    return {
        "chain": show_chain(cases, loop),
        "validators": show_validators(cases, loop),
        "new_words": measure_new_words(effort),
        "floor": show_floor(cases, loop),
        "chain_loop": loop.record(),
    }


SECTIONS: Final[dict[str, Callable[[Effort], Record]]] = {
    "chain": chain_sections,
    "batch": lambda effort: {"batch": measure_batches(effort)},
    "start": lambda effort: {"start": measure_start(effort)},
    "memory": lambda effort: {"memory": measure_memory(effort)},
    "growth": lambda effort: {"growth": measure_growth(effort)},
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write the run record if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.core", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few runs and small sizes: to see that it works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the run record there")
    parser.add_argument("--section", action="append", choices=SECTIONS, help="only this one (may be repeated)")
    options = parser.parse_args(arguments)
    effort = QUICK if options.quick else FULL
    record = machine(quick=options.quick)
    for name in options.section or SECTIONS:
        record |= SECTIONS[name](effort)
    if options.json:
        options.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


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
        "policy_hash": verdict.policy_hash,
        "model_id": verdict.model_id,
        "texts_hash": texts_hash(),
        "quick": quick,
        "loop": loop.record(),
    }
    print(f"stillme {record['version']}, {record['model_id']}, texts {record['texts_hash']}")
    print(f"policy {record['policy_hash']}")
    print(f"Python {record['python']} on {record['platform']}, {record['machine']}")
    print(f"calibration: {loop}")
    print("Times are wall clock with the garbage collector off unless said; p50 and p95 are over all runs.")
    return record


if __name__ == "__main__":
    main()
