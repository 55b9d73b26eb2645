"""The tables of a grounding run: as the benchmark prints them, and as Markdown for the docs, from the run record alone.

    parts(json.loads(record))  →  {"quality": "| set | …", "systems": …, "conflicts": …, "calibration": …, "data": …, "speed": …}

A part that the record has nothing for is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from benchmarks.grounding_metrics import LABELS, PROBABILISTIC, calibration_error

__all__ = ["markdown", "parts", "show_set"]

Record = dict[str, Any]
DEFAULT: Final = "cascade"
"""What the package does unless told otherwise; where it was not run, the last system that was stands in."""

# what is printed

COLUMNS: Final = [
    ("bal.acc", "balanced_accuracy", 9, ".3f"),
    ("AUC", "auc", 7, ".3f"),
    ("prec", "precision", 7, ".3f"),
    ("recall", "recall", 8, ".3f"),
    ("F1", "f1", 7, ".3f"),
    ("span F1", "span_f1", 9, ".3f"),
    ("ECE", "calibration_error", 7, ".3f"),
    ("p50 ms", "p50_ms", 9, ".2f"),
    ("p95 ms", "p95_ms", 9, ".2f"),
    ("settled", "settled", 9, ".1%"),
]


def show_set(name: str, found: Record) -> None:
    """One table for each language of a set."""
    for lang in languages(found):
        by_system = {system: of_lang[lang] for system, of_lang in found["systems"].items() if lang in of_lang}
        first = max(by_system.values(), key=lambda figures: figures["rows"])
        negative, positive = LABELS[found["kind"]]
        print(
            f"\n{name}, {lang}: {first['rows']} rows of {first['documents']} contexts, {first['positive']} {positive}, "
            f"{first['rows'] - first['positive']} {negative}; data {found['sha256'][:12]}"
            + (f", a sample of at most {found['limit']}" if found["limit"] is not None else "")
        )
        headings = [f"{title:>{width}}" + f"{'95 %':>14}" * (title == "bal.acc") for title, _, width, _ in COLUMNS]
        print(f"  {'system':<11}" + "".join(headings))
        for system_name, row in by_system.items():
            print(f"  {system_name:<11}" + "".join(cells(row)) + remarks(row))


def cells(row: Record) -> Iterator[str]:
    """The figures of a line, a dash where there is none."""
    for _, key, width, form in COLUMNS:
        yield f"{'-' if row[key] is None else format(row[key], form):>{width}}"
        if key == "balanced_accuracy":
            low, high = row["interval"] or (None, None)
            yield f"{'-' if low is None else f'{low:.3f}-{high:.3f}':>14}"


def remarks(row: Record) -> str:
    """What is not in the averages: examples that raised, and those without a claim."""
    found = [f"{number} raised {error}" for error, number in sorted(row["errors"].items())]
    found += [f"{row['without_claims']} without factual claims"] if row["without_claims"] else []
    return "  " + "; ".join(found) if found else ""


# Markdown


def parts(record: Record) -> dict[str, str]:
    """Each table by its name."""
    made: dict[str, Callable[[Record], Iterable[str]]] = {
        "quality": quality,
        "systems": systems,
        "conflicts": conflicts,
        "calibration": pooled_calibration,
        "data": data,
        "speed": speed,
    }
    return {name: "\n".join(make(record)) for name, make in made.items()}


def markdown(record: Record) -> str:
    """All parts, one below the other, below what was measured."""
    return "\n\n".join([provenance(record), *(text for text in parts(record).values() if text)])


def provenance(record: Record) -> str:
    """Version, model and machine in one sentence."""
    model = f"model `{record['model']['id']}`" if record["model"] else "without a model"
    return (
        f"Version {record['version']} (code `{record['code_sha256'][:12]}`), {model}, Python {record['python']} "
        f"on {record['machine']}."
    )


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], texts: int) -> Iterator[str]:
    """A Markdown table whose first columns are texts and the others figures; nothing if there are no rows."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if lines:
        yield f"| {' | '.join(titles)} |"
        yield f"|{'---|' * texts}{'---:|' * (len(titles) - texts)}"
        yield from lines


def shown(value: float | None, form: str = ".3f") -> str:
    """A figure, or a dash where there is none."""
    return "-" if value is None else format(value, form)


def each(record: Record, kind: str) -> Iterator[tuple[str, str, Record]]:
    """For each set of a kind and language, the figures of the systems."""
    for name, found in record["sets"].items():
        if found["kind"] == kind:
            for lang in languages(found):
                yield name, lang, {system: row[lang] for system, row in found["systems"].items() if lang in row}


def languages(found: Record) -> list[str]:
    """The languages that a set has."""
    return sorted({lang for of_lang in found["systems"].values() for lang in of_lang})


def accuracy(row: Record) -> str:
    """Balanced accuracy with its interval."""
    low, high = row["interval"] or (None, None)
    return shown(row["balanced_accuracy"]) + (f" ({low:.3f}–{high:.3f})" if low is not None else "")


def quality(record: Record) -> Iterator[str]:
    """All figures of the default on each set."""
    titles = ["set", "language", "rows", "unsupported", "balanced accuracy (95 %)", "AUC", "precision", "recall", "F1"]
    titles += [
        "span F1",
        "calibration error",
        "p50 ms",
        "p95 ms",
        "settled without the encoder",
        "without claims",
        "errors",
    ]
    keys = ["auc", "precision", "recall", "f1", "span_f1", "calibration_error"]
    rows = []
    for name, lang, by_system in each(record, "grounding"):
        row = by_system.get(DEFAULT, list(by_system.values())[-1])
        figures = [*(shown(row[key]) for key in keys), shown(row["p50_ms"], ".1f"), shown(row["p95_ms"], ".1f")]
        last = [shown(row["settled"], ".1%"), shown(row["without_claims"], "d"), str(sum(row["errors"].values()))]
        rows.append([name, lang, str(row["rows"]), str(row["positive"]), accuracy(row), *figures, *last])
    yield from table(titles, rows, 2)
    limits = sorted({found["limit"] for found in record["sets"].values() if found["limit"] is not None})
    halves = sorted({found["half"] for found in record["sets"].values() if found.get("half")})
    of_half = f" of the {' and the '.join(halves)} half" if halves else ""
    if limits and rows:
        yield f"\nMeasured on samples{of_half} of at most {', '.join(map(str, limits))} rows a set."
    elif halves and rows:
        yield f"\nMeasured on all rows{of_half} of each set."


def systems(record: Record) -> Iterator[str]:
    """Balanced accuracy and area under the curve of every system, side by side."""
    found = list(each(record, "grounding"))
    names = list(dict.fromkeys(system for _, _, by_system in found for system in by_system))
    rows = [
        [name, lang, *(both(by_system[system]) if system in by_system else "-" for system in names)]
        for name, lang, by_system in found
    ]
    yield from table(["balanced accuracy / AUC", "language", *names], rows, 2)


def both(row: Record) -> str:
    """Balanced accuracy and area under the curve."""
    return f"{shown(row['balanced_accuracy'])} / {shown(row['auc'])}"


def conflicts(record: Record) -> Iterator[str]:
    """Sets on whether passages contradict each other."""
    titles = [
        "set",
        "language",
        "system",
        "rows",
        "conflicting",
        "balanced accuracy (95 %)",
        "precision",
        "recall",
        "F1",
    ]
    rows = [
        [name, lang, system, str(row["rows"]), str(row["positive"]), accuracy(row)]
        + [shown(row[key]) for key in ("precision", "recall", "f1")]
        + [shown(row["p50_ms"], ".1f"), str(sum(row["errors"].values()))]
        for name, lang, by_system in each(record, "conflict")
        for system, row in by_system.items()
    ]
    yield from table([*titles, "p50 ms", "errors"], rows, 3)


def pooled_calibration(record: Record) -> Iterator[str]:
    """The calibration error over the examples of all sets together: each example counts once."""
    found: dict[tuple[str, str], list[tuple[int, int, float]]] = {}
    for _, lang, by_system in each(record, "grounding"):
        for system in PROBABILISTIC:
            for key in ((system, lang), (system, "all")) if system in by_system else ():
                bins = by_system[system]["calibration_bins"]
                before = found.get(key, [(0, 0, 0.0)] * len(bins))
                found[key] = [(n + a, k + b, s + c) for (n, k, s), (a, b, c) in zip(before, bins, strict=True)]
    rows = [
        [system, lang, str(sum(n for n, _, _ in bins)), shown(calibration_error(bins))]
        for (system, lang), bins in sorted(
            found.items(), key=lambda item: (PROBABILISTIC.index(item[0][0]), item[0][1])
        )
    ]
    yield from table(["system", "language", "examples", "calibration error"], rows, 2)


def data(record: Record) -> Iterator[str]:
    """What was measured on, by hash."""
    rows = [
        [name, found["kind"], f"`{found['sha256']}`", "all" if found["limit"] is None else str(found["limit"])]
        for name, found in record["sets"].items()
    ]
    yield from table(["set", "kind", "SHA-256", "rows used"], rows, 3)


def speed(record: Record) -> Iterator[str]:
    """Requests, ratios to the encoders, throughput and a fresh process."""
    found = record.get("speed")
    if not found:
        return
    if found["quick"]:
        yield "A quick run, with small comparison encoders: not for comparing.\n"
    requests = [
        [row["request"], row["way"], row["answer"], row["language"]]
        + [shown(row[key], ".1f") for key in ("p50_ms", "p95_ms", "cpu_ms")]
        + [shown(row["settled"], ".1%"), f"{row['context_tokens']} + {row['answer_tokens']}"]
        for row in found["requests"]
    ]
    titles = [
        "request",
        "way",
        "answer",
        "language",
        "p50 ms",
        "p95 ms",
        "cpu ms",
        "settled without the encoder",
        "tokens",
    ]
    yield from table(titles, requests, 4)
    yield ""
    ratios = [
        [row["request"], row["encoder"], row["way"], shown(row["wall"], ".1f"), shown(row["cpu"], ".1f")]
        for row in found["ratios"]
    ]
    yield from table(["request", "encoder", "against", "times its p50", "times its processor time"], ratios, 3)
    yield ""
    yield from throughput(found)


def throughput(found: Record) -> Iterator[str]:
    """Batches and fresh processes."""
    batches = [
        [row["requests"], row["way"], shown(row["per_second"], ".1f"), shown(row["settled"], ".1%")]
        for row in found["batch"]
    ]
    yield from table(["requests", "way", "per second", "settled without the encoder"], batches, 2)
    yield ""
    starts = [
        [
            row["grounder"],
            *(
                shown(row[key], ".0f")
                for key in ("import_ms", "verdict_ms", "total_ms", "best_ms", "cpu_ms", "peak_mb")
            ),
        ]
        for row in found["start"]
    ]
    yield from table(
        ["fresh process", "import ms", "first verdict ms", "both", "best", "processor ms", "peak MB"], starts, 1
    )
