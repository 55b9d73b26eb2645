"""How well support is told from its absence, on any set of labelled examples, beside simpler ways of doing it.

    python -m benchmarks.grounding DATA [DATA ...] [--sets NAME ...] [--systems NAME ...] [--limit N] [--out RECORD.json]
    python -m benchmarks.grounding --speed [DATA ...] [--quick] [--out RECORD.json]

DATA is a JSONL file or a folder of them (or one that has them in `dev/`). A row has `id`, `lang` (en, vi), `kind`, `query`,
`context` (a list of `source_id` and `text`), `answer`, `label`, `spans`. Kind `grounding`: is the answer supported or
unsupported; kind `conflict`: are the passages consistent or conflicting. Files of other kinds are left out, and named.

Every example goes through `Evidence` as in `Guard`. It is called unsupported if one of its factual claims is not supported;
its score is 1 minus the least of its claims' probabilities. Where no sentence counts as a factual claim, those in the first
person are judged; without any it is supported with score 0. Examples without a factual claim are counted. An example that
raises is counted apart. Systems take turns on each example, and what the models remember of texts is dropped in between.
With `--out`, sets that are finished are kept and not run again as long as data, model, code, version and limit are the same.

`--half` takes half of the documents of each set, told apart by their hash: thresholds are chosen on the one half
(`training.fit_cascade`), and the figures of the other are those to believe.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

import stillme
from benchmarks.grounding_metrics import LABELS, Example, Said, Span, Tried, figures
from benchmarks.grounding_speed import Forgetting, measure_speed
from benchmarks.grounding_tables import show_set
from benchmarks.texts import request
from stillme import VerifyRequest
from stillme.contract import parse_request
from stillme.errors import InputError, StillMeError, nearest, shown
from stillme.evidence import Evidence
from stillme.grounding.claims import FACT, SELF
from stillme.grounding.grounder import ExactGrounder, Grounder, GroundingTask
from stillme.validators.chain import attempt
from stillme.validators.evidence_overlap import EvidenceOverlap

LANGUAGES: Final = ("en", "vi")
SYSTEMS: Final = {
    "grounding": ("majority", "overlap", "exact", "model", "cascade"),
    "conflict": ("majority", "conflicts", "relevant"),
}
OF_MODEL: Final = ("model", "cascade")
SAMPLE_SEED: Final = 11
HALVES: Final = ("choosing", "measuring")
AS_OF: Final = datetime(2026, 2, 1, tzinfo=UTC)
BINARY: Final = frozenset([".pyc", ".onnx", ".npy"])
PROGRESS_S: Final = 60.0
# Some sets have no question; `Guard` asks for one.
QUESTIONS: Final = {"en": "What does the text say?", "vi": "Văn bản nói gì?"}

Record = dict[str, Any]


System = Callable[[Example], Said]


# reading sets


def set_files(given: Iterable[Path]) -> list[Path]:
    """The files that are named, and those of the folders that are."""
    found: list[Path] = []
    for path in given:
        if not path.exists():
            raise InputError(f"there is no {path}: name a JSONL file or a folder of them")
        folder = path / "dev" if (path / "dev").is_dir() else path
        found += sorted(folder.glob("*.jsonl")) if path.is_dir() else [path]
    twice = [name for name, number in Counter(path.stem for path in found).items() if number > 1]
    if twice:
        raise InputError(f"two files are called {twice[0]!r}: run them with records of their own")
    if not found:
        raise InputError(f"no .jsonl file in {', '.join(map(str, given))}")
    return found


def chosen_files(files: Sequence[Path], wanted: Sequence[str] | None) -> list[Path]:
    """Those whose names are wanted, or all."""
    names = [path.stem for path in files]
    for name in wanted or ():
        if name not in names:
            close = nearest(name, names)
            raise InputError(f"there is no set {name!r}" + (f": did you mean {close!r}?" if close else f" in {names}"))
    return [path for path in files if not wanted or path.stem in wanted]


def rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each row with the name of its place; blank lines are none."""
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        where = f"{path.name} line {number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{where}: not a JSON object in UTF-8 ({error})") from None
        if not isinstance(row, dict):
            raise InputError(f"{where}: must be a JSON object, got {shown(row)}")
        yield where, row


def kind_of(path: Path) -> str | None:
    """The kind of a file's first row, or None for an empty file."""
    for where, row in rows(path):
        return text_of(row, "kind", where)
    return None


def read_set(path: Path, kind: str) -> list[Example]:
    """The examples of a file, all of one kind, each with an id of its own."""
    found: dict[str, Example] = {}
    for where, row in rows(path):
        if row.get("kind") != kind:
            raise wrong(where, "kind", f"{kind!r} as in the first row", row.get("kind"))
        example = example_of(row, kind, where)
        if example.id in found:
            raise wrong(where, "id", "unique in the file", example.id)
        found[example.id] = example
    return list(found.values())


def wrong(where: str, field: str, wanted: str, value: object) -> InputError:
    """What is wrong with a row, and what it should be."""
    return InputError(f"{where}: {field} must be {wanted}, got {shown(value)}")


def text_of(row: Mapping[str, Any], field: str, where: str, *, within: str = "") -> str:
    """A field that must be a text."""
    value = row.get(field)
    if not isinstance(value, str):
        raise wrong(where, within + field, "a text", value)
    return value


def example_of(row: Mapping[str, Any], kind: str, where: str) -> Example:
    """A row, checked."""
    given = request_of(row, kind, where)
    lang, label = text_of(row, "lang", where), text_of(row, "label", where)
    if lang not in LANGUAGES:
        raise wrong(where, "lang", "en or vi", lang)
    if label not in LABELS[kind]:
        raise wrong(where, "label", " or ".join(LABELS[kind]), label)
    return Example(
        text_of(row, "id", where),
        lang,
        given,
        label == LABELS[kind][1],
        spans_of(row.get("spans"), len(given.draft_answer or ""), where),
        hashlib.sha256("\0".join(p.text for p in given.retrieved_context).encode()).hexdigest(),
    )


def request_of(row: Mapping[str, Any], kind: str, where: str) -> VerifyRequest:
    """What a row gives to verify; a set may have no questions, and only one of kind `conflict` no answers."""
    context = row.get("context")
    if not isinstance(context, list) or not all(isinstance(part, dict) for part in context):
        raise wrong(where, "context", "a list of objects with source_id and text", context)
    passages = [
        {key: text_of(part, key, where, within=f"context[{n}].") for key in ("source_id", "text")}
        for n, part in enumerate(context)
    ]
    values = {
        "query": text_of(row, "query", where) if row.get("query") is not None else "",
        "draft_answer": text_of(row, "answer", where) if kind == "grounding" or row.get("answer") is not None else None,
        "retrieved_context": passages,
        "as_of": AS_OF,
    }
    try:
        return VerifyRequest.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        field = (
            ".".join(map(str, first["loc"])).replace("retrieved_context", "context").replace("draft_answer", "answer")
        )
        raise InputError(f"{where}: {field}: {first['msg']}, got {shown(first['input'])}") from None


def spans_of(given: object, length: int, where: str) -> tuple[Span, ...] | None:
    """Character ranges of the answer, or None where the set has no labels."""
    if given is None:
        return None
    if not isinstance(given, list):
        raise wrong(where, "spans", "a list of [start, end] or null", given)
    for n, span in enumerate(given):
        sound = isinstance(span, list) and len(span) == 2 and all(type(place) is int for place in span)
        if not sound or not 0 <= span[0] <= span[1] <= length:
            raise wrong(where, f"spans[{n}]", f"[start, end] within the {length} characters of the answer", span)
    return tuple((start, end) for start, end in given)


def sample(examples: Sequence[Example], limit: int | None, name: str) -> list[Example]:
    """So many of them, the same ones each time and in their order; all without a limit."""
    if limit is None or limit >= len(examples):
        return list(examples)
    drawn = random.Random(f"{SAMPLE_SEED} {name}").sample(range(len(examples)), limit)
    return [examples[n] for n in sorted(drawn)]


def half(examples: Sequence[Example], name: str | None) -> list[Example]:
    """The examples of that half of the documents, or all."""
    if name is None:
        return list(examples)
    return [e for e in examples if HALVES[int(e.document[:8], 16) % 2] == name]


# systems


def grounder(name: str) -> Grounder:
    """The grounder of that name; the model is imported when it is asked for."""
    if name not in OF_MODEL:
        return ExactGrounder()
    from stillme.grounding.cascade import CascadeGrounder  # noqa: PLC0415

    return CascadeGrounder(exact_first=name == "cascade")


@cache
def missing_model() -> str | None:
    """Why the model cannot be asked, if so; asking loads it, so that no example pays for that."""
    given = parse_request(request("en", "typical", "paraphrased", 0))
    return attempt(lambda: Evidence(given, AS_OF, grounder("model")).judgements)[1]


def judged(by: Grounder, example: Example) -> Said:
    """What a grounder makes of the claims."""
    evidence = Evidence(example.request, AS_OF, by)
    if not evidence.has_draft:
        return Said(False, 0.0)
    found = by.judge([judged_claims(evidence)])[0]
    lacking = [judgement for judgement in found if not judgement.supported]
    return Said(
        bool(lacking),
        round(1 - min((judgement.score for judgement in found), default=1.0), 6),
        tuple(span for judgement in lacking for span in judgement.unsupported),
        len(found),
        sum(judgement.decided_by != "model" for judgement in found),
        bool(evidence.factual_claims),
    )


def judged_claims(evidence: Evidence) -> GroundingTask:
    """The factual claims of an answer; where there is none, what it says in the first person.

    For `Guard` that is the assistant speaking of itself, which sources say nothing of. In a set of sentences it is anyone.
    """
    task = evidence.grounding_task
    return (
        task
        if task.claims
        else replace(task, claims=[replace(c, kind=FACT) for c in evidence.claims if c.kind == SELF])
    )


def overlap(example: Example) -> Said:
    """What EvidenceOverlap makes of the answer at its default of 0.08; what it skips passes."""
    validator, evidence = EvidenceOverlap(), Evidence(example.request, AS_OF, ExactGrounder())
    finding = validator.run(evidence)
    claims = len(evidence.factual_claims)
    if finding.outcome == "skipped":
        return Said(False, 0.0, claims=claims, factual=bool(claims))
    return Said(
        finding.outcome == "flagged", round(1 - validator.share(evidence), 6), claims=claims, factual=bool(claims)
    )


def conflicting(example: Example, *, relevant: bool) -> Said:
    """Whether the passages disagree, on anything or on what the question is about."""
    evidence = Evidence(example.request, AS_OF)
    found = evidence.relevant_conflicts if relevant else evidence.conflicts
    return Said(bool(found), float(bool(found)))


def majority(examples: Sequence[Example]) -> System:
    """Always the label that most examples of the set and language have."""
    shares = {
        lang: statistics.mean(e.positive for e in examples if e.lang == lang) for lang in {e.lang for e in examples}
    }
    return lambda example: Said(shares[example.lang] >= 0.5, shares[example.lang])


def system(name: str, examples: Sequence[Example]) -> System:
    """The system of that name for these examples."""
    if name == "majority":
        return majority(examples)
    if name == "overlap":
        return overlap
    if name in ("conflicts", "relevant"):
        return partial(conflicting, relevant=name == "relevant")
    return partial(judged, grounder(name))


# measuring


def run_systems(examples: Sequence[Example], systems: Mapping[str, System]) -> dict[str, list[Tried]]:
    """Every system on every example, in turns, none always first."""
    names = list(systems)
    tried: dict[str, list[Tried]] = {name: [] for name in names}
    reported = time.monotonic()
    forget = Forgetting()
    for n, example in enumerate(examples):
        at = n % max(1, len(names))
        for name in names[at:] + names[:at]:
            forget()
            started = time.perf_counter()
            said, problem = attempt(partial(systems[name], example))
            tried[name].append(Tried(example, said, problem, (time.perf_counter() - started) * 1e3))
        if time.monotonic() - reported > PROGRESS_S:
            reported = time.monotonic()
            print(f"  … {n + 1} of {len(examples)} examples", file=sys.stderr, flush=True)
    return tried


# the record


def package_hash() -> str:
    """One number for every rule, text and line of code of the package; weights have hashes of their own."""
    folder, digest = Path(stillme.__file__).parent, hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in BINARY:
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def model_record() -> Record | None:
    """The model's id and the hashes of its files, or None where it cannot be asked."""
    if missing_model() is not None:
        return None
    from stillme.models.bundle import manifest  # noqa: PLC0415

    return {"id": grounder("cascade").id, "files": manifest()["files"]}


def new_record() -> Record:
    """What is measured, with which model, and on what kind of machine."""
    return {
        "version": stillme.__version__,
        "code_sha256": package_hash(),
        "model": model_record(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "sets": {},
    }


def resumed(path: Path | None, record: Record) -> Record:
    """The record with what was measured before by the same code and model."""
    if path is None or not path.exists():
        return record
    try:
        before = json.loads(path.read_text("utf-8"))
        same = all(before[key] == record[key] for key in ("version", "code_sha256", "model"))
        kept = {key: before[key] for key in ("sets", "speed") if key in before}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path} is not a run record of this benchmark: name another file with --out") from None
    if not same:
        print(f"{path} is of another version, code or model: everything is measured again")
        return record
    return record | kept


def save(record: Record, path: Path | None) -> None:
    """Replace the record in one step, so that a run that is cut leaves a whole one."""
    if path is not None:
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        beside.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        beside.replace(path)


def measure_set(path: Path, kind: str, options: argparse.Namespace, before: Record | None) -> Record:
    """The record of one set, with those systems of the record before that are still good."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    key = {"kind": kind, "sha256": digest, "limit": options.limit, "half": options.half}
    found = before if before is not None and {name: before.get(name) for name in key} == key else {**key, "systems": {}}
    wanted = [name for name in SYSTEMS[kind] if name in options.systems]
    absent = missing_model() if not set(wanted).isdisjoint(OF_MODEL) else None
    usable = [name for name in wanted if absent is None or name not in OF_MODEL]
    left = [name for name in usable if name not in found["systems"]]
    if left:
        examples = sample(half(read_set(path, kind), options.half), options.limit, path.stem)
        tried = run_systems(examples, {name: system(name, examples) for name in left})
        for name in left:
            of_lang: dict[str, list[Tried]] = {}
            for t in tried[name]:
                of_lang.setdefault(t.example.lang, []).append(t)
            found["systems"][name] = {lang: figures(name, of_lang[lang], kind) for lang in sorted(of_lang)}
    order = [name for name in SYSTEMS[kind] if name in found["systems"]]
    return {**found, "systems": {name: found["systems"][name] for name in order}}


# the run


def measure_quality(options: argparse.Namespace, record: Record) -> None:
    """Every set: printed, and saved as soon as it is done."""
    kinds = {path: kind_of(path) for path in chosen_files(set_files(options.data), options.sets)}
    left = [f"{path.stem} ({kind or 'empty'})" for path, kind in kinds.items() if kind not in LABELS]
    if left:
        print(f"left out, of other kinds: {', '.join(left)}")
    for path, kind in kinds.items():
        if kind is None or kind not in LABELS:
            continue
        record["sets"][path.stem] = measure_set(path, kind, options, record["sets"].get(path.stem))
        save(record, options.out)
        show_set(path.stem, record["sets"][path.stem])
        sys.stdout.flush()
    print(
        "\nbal.acc: the mean recall of both classes, of the one that a set has if it has one. 95 %: by drawing contexts with"
    )
    print(
        "replacement. AUC, precision, recall, F1: of unsupported (conflicting). ECE: of the probability of support, 10 bins."
    )
    print("ms: one example at a time, from request to judgement. settled: claims decided without the encoder.")


def dev_requests(options: argparse.Namespace) -> list[VerifyRequest]:
    """Drafts of the named sets with their passages, for throughput."""
    found: list[VerifyRequest] = []
    for path in chosen_files(set_files(options.data), options.sets) if options.data else ():
        if kind_of(path) == "grounding":
            for example in sample(read_set(path, "grounding"), options.limit or 8, path.stem):
                question = example.request.query.strip() or QUESTIONS[example.lang]
                found.append(example.request.model_copy(update={"query": question}))
    return found


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = argparse.ArgumentParser(prog="python -m benchmarks.grounding", description=(__doc__ or "").splitlines()[0])
    found.add_argument("data", type=Path, nargs="*", metavar="DATA", help="JSONL files, or folders of them")
    found.add_argument("--sets", nargs="+", metavar="NAME", help="only these, by file name without .jsonl")
    every = sorted({name for names in SYSTEMS.values() for name in names})
    found.add_argument("--systems", nargs="+", choices=every, default=every, help="only these")
    found.add_argument("--limit", type=int, metavar="N", help="a sample of N examples of each set, always the same")
    found.add_argument("--half", choices=HALVES, help="only this half of the documents of each set")
    found.add_argument(
        "--out", type=Path, metavar="FILE", help="the run record; what it holds already is not run again"
    )
    found.add_argument("--speed", action="store_true", help="measure speed, with DATA for throughput on its texts")
    found.add_argument("--quick", action="store_true", help="with --speed: few runs and small comparison encoders")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write the run record; 2 if the data or the options cannot be used, 1 if something else failed."""
    options = parser().parse_args(arguments)
    try:
        if not options.data and not options.speed:
            raise InputError("name the data: a JSONL file or a folder of them")
        if options.limit is not None and options.limit < 1:
            raise InputError(f"--limit must be at least 1, got {options.limit}")
        record = resumed(options.out, new_record())
        absent = missing_model()
        print(
            f"stillme {record['version']}, code {record['code_sha256'][:12]}, Python {record['python']} on {record['machine']}"
        )
        print(record["model"]["id"] if record["model"] else f"model and cascade are missing: {absent}")
        if options.speed:
            record["speed"] = measure_speed(
                None if absent else grounder("cascade"), dev_requests(options), quick=options.quick
            )
            save(record, options.out)
        else:
            measure_quality(options, record)
    except StillMeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
