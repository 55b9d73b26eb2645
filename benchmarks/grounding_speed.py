"""What verification with the grounding model costs: requests, batches and a fresh process, beside encoder passes.

Requests are composed by `benchmarks.texts` in English and Vietnamese; the kinds of answers say how much of an answer is
verbatim, which exact features settle, and how much is said in other words, which the encoder has to read. The encoders
they are compared with have random weights (`benchmarks.architectures`): what a pass costs does not depend on them. They
read as many tokens as the shipped tokenizer makes of the same passages and answer, in one pass, with as many threads.
What the models remember of texts is dropped before every measurement: no figure comes from memory.
"""

from __future__ import annotations

import gc
import itertools
import json
import re
import statistics
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from benchmarks.architectures import MODERNBERT_BASE, SEVEN_LAYERS, TINY, Attention, Shape, encoder, parameters
from benchmarks.core import KB, STATUS, Loop, Spent, figures, heading, loops, run_python
from benchmarks.texts import LANGUAGES, Size, request, texts_hash, words_in
from stillme import Guard, InputError, Verdict, VerifyRequest
from stillme.contract import parse_request
from stillme.errors import BackendError
from stillme.evidence import Evidence
from stillme.grounding.grounder import ExactGrounder, Grounder
from stillme.guard import check_limits
from stillme.models.recent import Recent
from stillme.validators.chain import attempt

__all__ = ["KINDS", "QUICK", "Effort", "Forgetting", "composed", "measure_speed"]

THREADS: Final = 2
KINDS: Final = {
    "verbatim": "every sentence copied from a passage",
    "half": "every other sentence in other words",
    "paraphrased": "every sentence in other words",
    "wrong figure": "copied, one figure changed",
}
SENTENCE_END: Final = re.compile(r"(?<=\]\.) ")
WHOLE: Final = "Guard"
RULES: Final = "Guard, exact grounding only"
ALONE: Final = "grounder alone"

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured; `passes` says on how many of the requests the comparison encoders run, too."""

    sizes: tuple[Size, ...] = ("typical", "long")
    kinds: tuple[str, ...] = tuple(KINDS)
    requests: tuple[int, ...] = (10, 5)
    passes: tuple[int, ...] = (16, 4)
    batch: int = 64
    rounds: int = 3
    starts: int = 7
    shapes: tuple[tuple[Shape, Attention], ...] = (
        (MODERNBERT_BASE, "full"),
        (MODERNBERT_BASE, "blocks"),
        (SEVEN_LAYERS, "full"),
    )
    compiles: bool = True
    """Whether fresh processes find all code compiled, as installed code is; compiling takes a while."""


FULL: Final = Effort()
QUICK: Final = Effort(
    ("typical",), ("verbatim", "half"), (1,), (1,), 2, 1, 1, ((TINY, "full"), (TINY, "blocks")), compiles=False
)


# what is remembered


class Forgetting:
    """Empties what the models remember of texts: else whoever comes second on a text would be served from memory."""

    def __init__(self) -> None:
        """Finds the models that are loaded."""
        self._kept = [found for found in gc.get_objects() if isinstance(found, Recent)]

    def __call__(self) -> None:
        for kept in self._kept:
            kept.clear()

    def __len__(self) -> int:
        return sum(kept.counts.entries for kept in self._kept)


# requests


def composed(language: str, size: Size, kind: str, seed: int) -> VerifyRequest:
    """A request whose answer is of that kind; kinds share their passages."""
    if kind != "half":
        return parse_request(request(language, size, _ANSWERS[kind], seed))
    copied, otherwise = (request(language, size, answer, seed) for answer in ("copied", "paraphrased"))
    pairs = zip(*(SENTENCE_END.split(given["draft_answer"]) for given in (copied, otherwise)), strict=True)
    draft = " ".join(pair[n % 2] for n, pair in enumerate(pairs))
    return parse_request({**copied, "draft_answer": draft})


_ANSWERS: Final[dict[str, Any]] = {
    "verbatim": "copied",
    "paraphrased": "paraphrased",
    "wrong figure": "wrong figure",
}


class Tokens(NamedTuple):
    """The length of a request."""

    context: int
    answer: int


def counter() -> tuple[str, Callable[[str], int]]:
    """How tokens are counted: by the shipped tokenizer, or where there is none by words."""
    found, problem = attempt(_tokenizer)
    return ("tokens", found) if problem is None else ("words, as there is no tokenizer", words_in)


def _tokenizer() -> Callable[[str], int]:
    from stillme.models.words import words  # noqa: PLC0415

    table = words()
    return lambda text: len(table.encode(text).ids)


def length(given: VerifyRequest, tokens_in: Callable[[str], int]) -> Tokens:
    """The tokens of passages and answer."""
    return Tokens(sum(tokens_in(p.text) for p in given.retrieved_context), tokens_in(given.draft_answer or ""))


# time


@dataclass(slots=True)
class Case:
    """Requests of one size, language and kind, and what was measured of them."""

    size: Size
    language: str
    kind: str
    lengths: list[Tokens] = field(default_factory=list)
    times: dict[str, list[Spent]] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)

    def note(self, way: str, spent: Spent) -> None:
        """One more measurement."""
        self.times.setdefault(way, []).append(spent)


class Claims(NamedTuple):
    """How many claims were judged, and how many of them without the encoder."""

    judged: int
    settled: int

    @property
    def share(self) -> float | None:
        """Settled without the encoder."""
        return round(self.settled / self.judged, 4) if self.judged else None


def claims(verdicts: Iterable[Verdict]) -> Claims:
    """What decided the factual claims."""
    by = [claim.decided_by for verdict in verdicts for claim in verdict.claims if claim.decided_by is not None]
    return Claims(len(by), sum(name != "model" for name in by))


def measure_requests(
    effort: Effort, n_size: int, grounder: Grounder | None, encoders: dict[str, Callable[[int], Any]]
) -> tuple[list[Case], Loop, str]:
    """Every kind of request in turn, each way of verifying it in turn; encoder passes on the first of them."""
    size, count, passes = effort.sizes[n_size], effort.requests[n_size], effort.passes[n_size]
    loop, (unit, tokens_in) = Loop(), counter()
    guards = {RULES: Guard(grounder=ExactGrounder()), **({WHOLE: Guard(grounder=grounder)} if grounder else {})}
    cases = [Case(size, language, kind) for kind in effort.kinds for language in LANGUAGES]
    for language, guard in itertools.product(LANGUAGES, guards.values()):
        guard.verify(composed(language, "typical", "half", 10_000))  # loads all rules and models
    forget = Forgetting()
    turn = [(seed, case) for seed in range(count) for case in cases]
    for n, (seed, case) in enumerate(turn):
        given = composed(case.language, size, case.kind, seed)
        case.lengths.append(length(given, tokens_in))
        gc.collect()
        loop.tick()
        ways = list(guards.items())
        for way, guard in ways[n % len(ways) :] + ways[: n % len(ways)]:
            forget()
            spent, verdict = loop.timed(guard.verify, given)
            case.note(way, spent)
            if way == WHOLE or grounder is None:
                case.verdicts.append(verdict)
        if grounder is not None:
            task = Evidence(given, given.as_of, grounder).grounding_task  # type: ignore[arg-type]
            forget()
            case.note(ALONE, loop.timed(grounder.judge, [task])[0])
        if n < passes:
            for name, run in encoders.items():
                if n == 0:
                    run(sum(case.lengths[-1]))
                case.note(name, loop.timed(run, sum(case.lengths[-1]))[0])
    return cases, loop, unit


def show_requests(cases: Sequence[Case], loop: Loop, unit: str, title: str) -> list[Record]:
    """By kind and language, and all together with the ratios to the encoders."""
    every = Case(cases[0].size, "all", "all")
    for case in cases:
        every.lengths += case.lengths
        every.verdicts += case.verdicts
        for way, times in case.times.items():
            every.times.setdefault(way, []).extend(times)
    context, answer = (round(statistics.mean(column)) for column in zip(*every.lengths, strict=True))
    heading(f"{title}: {context} {unit} of context and {answer} of answer on average", loop)
    print(f"  {'way':<34}{'answer':<14}{'lang':<6}{'p50 ms':>9}{'p95 ms':>9}{'cpu ms':>9}{'runs':>6}{'settled':>9}")
    found: list[Record] = []
    for case in [*cases, every]:
        found += [show_way(case, way) for way in case.times if way in (WHOLE, RULES, ALONE) or case is every]
    return found


def show_way(case: Case, way: str) -> Record:
    """One line, and what it says."""
    times = case.times[way]
    judged = claims(case.verdicts) if way == WHOLE else None
    row: Record = {
        "request": case.size,
        "language": case.language,
        "answer": case.kind,
        "way": way,
        **figures(times),
        "runs": len(times),
        "context_tokens": round(statistics.mean(tokens.context for tokens in case.lengths)),
        "answer_tokens": round(statistics.mean(tokens.answer for tokens in case.lengths)),
        "settled": judged.share if judged else None,
    }
    settled = "-" if row["settled"] is None else f"{row['settled']:.1%}"
    print(
        f"  {way:<34}{case.kind:<14}{case.language:<6}{row['p50_ms']:>9.2f}{row['p95_ms']:>9.2f}{row['cpu_ms']:>9.2f}"
        f"{row['runs']:>6}{settled:>9}"
    )
    return row


def show_ratios(rows: Sequence[Record], encoders: Iterable[str]) -> list[Record]:
    """How many times what we take the encoders take: medians of wall time, and of processor time."""
    found: list[Record] = []
    of_all = {row["way"]: row for row in rows if row["answer"] == "all"}
    for name, ours in itertools.product(encoders, (WHOLE, ALONE, RULES)):
        if ours not in of_all or name not in of_all:
            continue
        own, other = of_all[ours], of_all[name]
        ratio = {
            "request": own["request"],
            "encoder": name,
            "way": ours,
            "wall": round(other["p50_ms"] / own["p50_ms"], 2),
            "cpu": round(other["loops"] / own["loops"], 2),
        }
        found.append(ratio)
        print(f"  {name} / {ours}: {ratio['wall']} times at p50, {ratio['cpu']} times the processor time")
    return found


# throughput


def measure_batches(effort: Effort, grounder: Grounder | None, texts: Sequence[VerifyRequest]) -> list[Record]:
    """Requests one by one and as a batch: the composed ones, and those of the sets that were named."""
    guard, loop = Guard(grounder=grounder or ExactGrounder()), Loop()
    kinds = [(kind, language) for kind in effort.kinds for language in LANGUAGES]
    groups = {
        f"{effort.batch} composed requests": [
            composed(language, "typical", kind, 100 + seed)
            for seed, (kind, language) in zip(range(effort.batch), itertools.cycle(kinds), strict=False)
        ]
    }
    within = [given for given in texts if _is_within(given, guard)]
    if within:
        left = f", {len(texts) - len(within)} over the limits left out" if len(within) < len(texts) else ""
        groups[f"{len(within)} of the data{left}"] = within
    found = [row for name, requests in groups.items() for row in _batched(guard, name, requests, effort, loop)]
    heading(f"{len(effort.sizes) + 2}. Throughput of the whole chain", loop)
    for row in found:
        settled = "no claims" if row["settled"] is None else f"{row['settled']:.1%} of {row['claims']} claims settled"
        print(
            f"  {row['requests']:<34}{row['way']:<14}{row['per_second']:>8.1f}/s, {row['cpu_ms_each']:>8.2f} ms of processor "
            f"time each; {settled} without the encoder"
        )
    return found


def _is_within(given: VerifyRequest, guard: Guard) -> bool:
    try:
        check_limits(given, guard.policy)
    except InputError:
        return False
    return True


def _batched(guard: Guard, name: str, requests: list[VerifyRequest], effort: Effort, loop: Loop) -> list[Record]:
    ways: dict[str, Callable[[list[VerifyRequest]], list[Verdict]]] = {
        "one by one": lambda given: [guard.verify(each) for each in given],
        "verify_batch": guard.verify_batch,
    }
    times: dict[str, list[Spent]] = {way: [] for way in ways}
    judged = claims(guard.verify_batch(requests))  # warms up, too
    forget = Forgetting()
    for _ in range(effort.rounds):
        for way, call in ways.items():
            gc.collect()
            forget()
            loop.tick()
            times[way].append(loop.timed(call, requests)[0])
    return [
        {
            "requests": name,
            "way": way,
            "per_second": round(len(requests) * 1e9 / statistics.median(spent.wall for spent in row), 2),
            "cpu_ms_each": round(statistics.median(spent.cpu for spent in row) / 1e6 / len(requests), 3),
            "loops_each": round(loops(row) / len(requests), 3),
            "claims": judged.judged,
            "settled": judged.share,
        }
        for way, row in times.items()
    ]


# a fresh process

START_SCRIPT: Final = """
import json, time
started, cpu = time.perf_counter(), time.process_time()
from stillme import Guard
imported = time.perf_counter()
{grounder}
verdict = Guard(grounder=grounder).verify({given!r})
done = time.perf_counter()
def peak():
    try:
        with open({status!r}) as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    except OSError:
        return None
print(json.dumps({{
    "import_ms": (imported - started) * 1e3,
    "verdict_ms": (done - imported) * 1e3,
    "total_ms": (done - started) * 1e3,
    "cpu_ms": (time.process_time() - cpu) * 1e3,
    "peak_kb": peak(),
    "by_model": sum(claim.decided_by == "model" for claim in verdict.claims),
}}))
"""
WITH_MODEL: Final = "with the model"
GROUNDERS: Final = {
    "exact grounding only": "from stillme.grounding.grounder import ExactGrounder\ngrounder = ExactGrounder()",
    WITH_MODEL: "from stillme.grounding.cascade import CascadeGrounder\ngrounder = CascadeGrounder()",
}


def measure_start(effort: Effort, *, model: bool) -> list[Record]:
    """Import and first verdict in fresh processes, on a request of which the model has to read claims."""
    heading(
        "1. A fresh process: import and first verdict on a paraphrased request; code compiled, files in the disk cache"
    )
    ways = {name: way for name, way in GROUNDERS.items() if model or name != WITH_MODEL}
    given = composed("en", "typical", "paraphrased", 1).model_dump(mode="json")
    scripts = {name: START_SCRIPT.format(grounder=way, given=given, status=str(STATUS)) for name, way in ways.items()}
    starts: dict[str, list[Record]] = {name: [] for name in ways}
    with TemporaryDirectory() as folder:
        compiled = folder if effort.compiles else None
        for script in scripts.values() if compiled else ():
            started_once(script, compiled)
        for _, (name, script) in itertools.product(range(effort.starts), scripts.items()):
            starts[name].append(started_once(script, compiled))
    return [show_start(start_record(name, row)) for name, row in starts.items()]


def show_start(row: Record) -> Record:
    """One line, and what it says."""
    memory = "not known on this system" if row["peak_mb"] is None else f"{row['peak_mb']:.0f} MB"
    print(
        f"  {row['grounder']:<22}import {row['import_ms']:.0f} ms + first verdict {row['verdict_ms']:.0f} ms = "
        f"{row['total_ms']:.0f} ms (best {row['best_ms']:.0f}, processor {row['cpu_ms']:.0f}), peak memory {memory}, "
        f"{row['by_model']} claims read by the model"
    )
    return row


def started_once(script: str, compiled: str | None) -> Record:
    """What a fresh process says of itself."""
    try:
        found: Record = json.loads(run_python(script, compiled)[1])
    except subprocess.CalledProcessError as error:
        raise BackendError(f"a fresh process gave no verdict: {str(error.stderr).strip().splitlines()[-1]}") from None
    return found


def start_record(name: str, starts: Sequence[Record]) -> Record:
    """The medians of some fresh processes, and the most memory that one of them took."""
    medians = {
        key: round(statistics.median(start[key] for start in starts), 1)
        for key in ("import_ms", "verdict_ms", "total_ms", "cpu_ms")
    }
    peaks = [start["peak_kb"] for start in starts if start["peak_kb"] is not None]
    return {
        "grounder": name,
        **medians,
        "best_ms": round(min(start["total_ms"] for start in starts), 1),
        "peak_mb": round(max(peaks) / KB, 1) if peaks else None,
        "by_model": starts[0]["by_model"],
        "runs": len(starts),
    }


# the run


def named(shape: Shape, attention: Attention) -> str:
    """What a comparison encoder is called."""
    return f"{shape.name} ({attention})"


def measure_speed(grounder: Grounder | None, texts: Sequence[VerifyRequest], *, quick: bool) -> Record:
    """All sections; without a grounder, what the rules alone take."""
    effort = QUICK if quick else FULL
    print(
        f"Two threads; texts {texts_hash()}. Answers: " + "; ".join(f"{name}: {what}" for name, what in KINDS.items())
    )
    for shape, attention in effort.shapes:
        size = f"{parameters(shape) / 1e6:.1f}M weights" if parameters(shape) > 1e6 else f"{parameters(shape)} weights"
        print(f"{named(shape, attention)}: {size}, drawn at random (speed does not depend on them)")
    if grounder is None:
        print("the model is missing: only exact grounding is measured")
    start = measure_start(
        effort, model=grounder is not None
    )  # first, before this process takes memory for the encoders
    encoders = {named(*each): encoder(*each, THREADS) for each in effort.shapes}
    record: Record = {"quick": quick, "threads": THREADS, "texts_hash": texts_hash(), "requests": [], "ratios": []}
    for n, size_name in enumerate(effort.sizes):
        cases, loop, unit = measure_requests(effort, n, grounder, encoders)
        rows = show_requests(cases, loop, unit, f"{n + 2}. {size_name.capitalize()} requests")
        record["requests"] += rows
        record["ratios"] += show_ratios(rows, encoders)
    encoders.clear()
    return {**record, "batch": measure_batches(effort, grounder, texts), "start": start}
