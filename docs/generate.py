"""Writes what the documentation takes from the code: `python docs/generate.py`; with `--check`, only compares.

- `docs/cli.md`: the help of every command, and a page as `stillme verify --human` prints it
- `docs/reasons.md`: the table of reason codes, from the registry and the wording
- `docs/grounding.md`: how well and how fast, from `benchmarks/records/grounding.json`
- `docs/service-api.md`, `docs/models.md`: the settings, from the classes that read them; how fast, from `benchmarks/records/service.json`
- `docs/performance.md`: figures beside aims, from `benchmarks/records/{speed,service,audit}.json`
- `docs/console.md`: how fast its lists are, from `benchmarks/records/console.json`
- `docs/batch.md`: rows a second and memory, from `benchmarks/records/batch.json`
- `docs/stock-pipelines.md`: right questions that are refused, from `benchmarks/records/questions.json`
- `docs/worlds.md`: who reads, from `benchmarks/records/worlds.json`
- `docs/validators/EthicsAdapter.md`, `ContextInstructions.md`: what they find, from `benchmarks/records/safety.json`
- `docs/conduct.md`: what rules and classifiers of conduct find, from `benchmarks/records/conduct.json`
- `docs/security.md`: what wrappings do to a claim, from `benchmarks/records/disguises.json`
- `src/stillme/schemas/`: the JSON Schema of request, verdict and policy

In a page, only what stands between the markers of a part is written; the rest is prose.
"""

from __future__ import annotations

import argparse
import difflib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the benchmarks are no part of the package

from benchmarks.grounding_tables import parts
from benchmarks.performance_tables import tables

from stillme import Guard, Verdict, VerifyRequest
from stillme.catalogue import reason_rows
from stillme.chat.router import RouterSettings
from stillme.chat.settings import ChatSettings
from stillme.cli.commands import cli
from stillme.cli.terminal import Page
from stillme.models.bundle import manifest
from stillme.policy import policy_schema
from stillme.service.settings import ServiceSettings
from stillme.settings import rows as settings_of

DOCS = Path(__file__).resolve().parent
GROUNDING_RECORD = DOCS.parent / "benchmarks" / "records" / "grounding.json"
SAFETY_RECORD = DOCS.parent / "benchmarks" / "records" / "safety.json"
CONDUCT_RECORD = DOCS.parent / "benchmarks" / "records" / "conduct.json"
DISGUISES_RECORD = DOCS.parent / "benchmarks" / "records" / "disguises.json"
WORLDS_RECORD = DOCS.parent / "benchmarks" / "records" / "worlds.json"
QUESTIONS_RECORD = DOCS.parent / "benchmarks" / "records" / "questions.json"
BATCH_RECORD = DOCS.parent / "benchmarks" / "records" / "batch.json"
NOT_RECORDED = "No run is recorded yet."
CONSOLE_RECORD = DOCS.parent / "benchmarks" / "records" / "console.json"
SERVICE_RECORD = DOCS.parent / "benchmarks" / "records" / "service.json"
SCHEMAS = DOCS.parent / "src" / "stillme" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
WIDTH = 80


def main() -> int:
    """Write every generated file, or with --check say which ones differ; 1 if any does."""
    options = argparse.ArgumentParser(description="Write what the documentation takes from the code.")
    options.add_argument("--check", action="store_true", help="compare only; exit code 1 if a file differs")
    check = options.parse_args().check
    stale = [path for path, text in generated() if not is_current(path, text)]
    for path, text in generated():
        if check and path in stale:
            sys.stderr.write(difference(path, text))
        elif path in stale:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
    if check and stale:
        sys.stderr.write("run `python docs/generate.py` and commit what it writes\n")
    return int(check and bool(stale))


def generated() -> Iterator[tuple[Path, str]]:
    """Every generated file with what it must hold."""
    cli_page = filled(DOCS / "cli.md", "help", "\n".join(command_help(cli, "stillme")))
    yield DOCS / "cli.md", between(cli_page, "page", sample_page())
    yield DOCS / "reasons.md", filled(DOCS / "reasons.md", "reasons", "\n".join(reasons_table()))
    yield DOCS / "grounding.md", grounding_page()
    settings = (ServiceSettings, ChatSettings)
    service = filled(DOCS / "service-api.md", "settings", "\n".join(settings_table(*settings)))
    yield DOCS / "service-api.md", between(service, "speed", "\n".join(service_speed()))
    yield DOCS / "performance.md", performance_page()
    yield DOCS / "console.md", filled(DOCS / "console.md", "lists", "\n".join(console_lists()))
    yield DOCS / "batch.md", filled(DOCS / "batch.md", "measured", "\n".join(batch_tables()))
    stock = DOCS / "stock-pipelines.md"
    yield stock, filled(stock, "questions", "\n".join(questions_table()))
    yield DOCS / "worlds.md", filled(DOCS / "worlds.md", "compared", "\n".join(worlds_table()))
    yield DOCS / "models.md", filled(DOCS / "models.md", "settings", "\n".join(settings_table(RouterSettings)))
    for name, rows in SAFETY_ROWS.items():
        page = DOCS / "validators" / f"{name}.md"
        yield page, filled(page, "measured", "\n".join(measured(rows)))
    yield DOCS / "conduct.md", filled(DOCS / "conduct.md", "measured", "\n".join(conduct_tables()))
    yield DOCS / "security.md", filled(DOCS / "security.md", "disguises", "\n".join(disguises_table()))
    yield SCHEMAS / "request.json", schema("StillMe request", VerifyRequest.model_json_schema())
    yield SCHEMAS / "verdict.json", schema("StillMe verdict", Verdict.model_json_schema(mode="serialization"))
    yield SCHEMAS / "policy.json", schema("StillMe policy", policy_schema())


def grounding_page() -> str:
    """The page on grounding with the tables of the last run."""
    found = parts(json.loads(GROUNDING_RECORD.read_text(encoding="utf-8")))
    page = (DOCS / "grounding.md").read_text(encoding="utf-8")
    for part in ("calibration", "quality", "systems", "conflicts", "speed"):
        page = between(page, part, found[part] or "The record of the last run has no figures for this.")
    return between(page, "precision", "\n".join(precision_table()))


def performance_page() -> str:
    """The page on performance with the tables of the last runs."""
    page = (DOCS / "performance.md").read_text(encoding="utf-8")
    for part, text in tables(DOCS.parent / "benchmarks" / "records").items():
        page = between(page, part, text or NOT_RECORDED)
    return page


def precision_table() -> Iterator[str]:
    """How often claims that are called supported are right, by what they stand on."""
    names = {
        "verbatim": "a sentence of the source says it word for word",
        "in order": "a sentence of the source says it in its words and order",
        "whole": "the rules find every word of it in the source",
        "partial": "the rules find enough of it",
    }
    found = manifest()["precision"]
    yield "| the claim | right | of |"
    yield "|---|---|---|"
    for name, count in sorted(found["cases"].items(), key=lambda case: -found["right"][case[0]]):
        told = names.get(name) or f"the model supports it with {name.removeprefix('model ')} and above"
        yield f"| {told} | {found['right'][name]:.0%} | {count:,} |"


def disguises_table() -> Iterator[str]:
    """How many claims a wrapping changed the fate of, by half and language."""
    record = json.loads(DISGUISES_RECORD.read_text(encoding="utf-8"))
    sound = record["pairs"] - record["pairs_left_out"]
    yield f"{record['wrappings']} wrappings, {record['sample']} pairs of a true and a false claim each, of the {sound} of"
    yield f"{record['pairs']} pairs that are judged right without one (version {record['version']}):\n"
    yield "| wrappings | language | false claims that escape | true claims refused |"
    yield "|---|---|---:|---:|"
    for row in record["rows"]:
        if row["kind"] == "all":
            escaped = f"{row['escaped']} of {row['false']} ({row['escaped'] / row['false']:.1%})"
            refused = f"{row['refused']} of {row['true']} ({row['refused'] / row['true']:.1%})"
            yield f"| {row['part']} | {row['lang']} | {escaped} | {refused} |"


def service_speed() -> Iterator[str]:
    """What the last run of `make bench-service` measured."""
    record = json.loads(SERVICE_RECORD.read_text(encoding="utf-8"))
    yield f"Version {record['version']}, {record['machine']}, Python {record['python']}; one worker, the audit record durable.\n"
    yield "| | connections | a second | p50 ms | p99 ms | turned away |"
    yield "|---|---:|---:|---:|---:|---:|"
    for row in record["loads"]:
        times = " | ".join("-" if row[key] is None else f"{row[key]:,.1f}" for key in ("p50_ms", "p99_ms"))
        figures = f"{row['per_s']:,.0f} | {times} | {row['turned_away']:,}"
        yield f"| {row['what']} | {row['connections']} | {figures} |"
    yield ""
    for kind, own in record["in_process_ms"].items():
        over, share = record[f"overhead_{kind}_ms"], record[f"share_of_echo_{kind}"]
        yield f"- {kind}: {own:.2f} ms in process (p50), {over:+.2f} ms over HTTP; {share:.1%} of a bare FastAPI echo at 32 connections."


def console_lists() -> Iterator[str]:
    """What the last run of `make bench-console` measured."""
    if not CONSOLE_RECORD.is_file():
        yield "No run is recorded yet: `make bench-console RECORD=benchmarks/records/console.json` records one."
        return
    record = json.loads(CONSOLE_RECORD.read_text(encoding="utf-8"))
    engines = record["engines"]
    where = f"{record['machine']}, Python {record['python']}, load average {record['load']:.1f} before it began"
    sizes = ", ".join(
        f"{each['records']:,} verdicts in {engine}, {each['signed_share']:.0%} of them signed"
        for engine, each in engines.items()
    )
    yield f"{sizes}; version {record['version']}, {where}. Milliseconds on the server for the first page of 50 and,"
    yield "behind it, how many times a bare look-up of as many records by primary key in the same run that is:\n"
    yield "| filter | rows |" + "".join(f" {engine} |" for engine in engines)
    yield "|---|---:|" + "---:|" * len(engines)
    for name, first in next(iter(engines.values()))["filters"].items():
        cells = [each["filters"][name] for each in engines.values()]
        yield f"| {name} | {first['rows']:.0f} |" + "".join(
            f" {cell['ms']:,.1f} ({cell['ratio']:.1f}) |" for cell in cells
        )
    signatures = ", ".join(f"{each['signatures_mb']:,.0f} MB in {engine}" for engine, each in engines.items())
    yield f"\nSignatures take {signatures}."


def batch_tables() -> Iterator[str]:
    """What the last runs of `make bench-batch` measured."""
    if not BATCH_RECORD.is_file():
        yield "No run is recorded yet: `make bench-batch RECORD=benchmarks/records/batch.json` records one."
        return
    record = json.loads(BATCH_RECORD.read_text(encoding="utf-8"))
    yield f"Version {record['version']}, {record['machine']}, Python {record['python']}; one thread a worker.\n"
    if speed := record.get("speed"):
        yield f"Load average {speed['load']:.1f} before it began:\n"
        yield "| | rows | engine | workers | rows a second | efficiency | processor ms a row |"
        yield "|---|---:|---|---:|---:|---:|---:|"
        for row in speed["ways"]:
            figures = f"{row['rows_per_s']:,.1f} | {row['efficiency']:.2f} | {row['processor_ms_a_row']:,.1f}"
            yield f"| {row['model']} | {row['rows']:,} | {row['engine']} | {row['workers']} | {figures} |"
        yield "\nEfficiency is the rate over that of one worker and their number. Other programs on the machine count against it, not"
        yield "against processor time. Starting is not counted: a rate is that of the middle four fifths of the rows."
    if long := record.get("long"):
        yield f"\n{long['rows']:,} short rows without a model ({long['input_mb']:,.0f} MiB), load average {long['load']:.1f} before:"
        first = f"{long['peak_mb_first_tenth']:,.0f} MiB in the first tenth"
        yield f"all of them together had at most {long['peak_mb']:,.0f} MiB in memory, {first}."


def worlds_table() -> Iterator[str]:
    """What each system reaches on claims in two worlds."""
    if not WORLDS_RECORD.exists():
        yield "No run is recorded yet: `make bench-worlds` records one."
        return
    record = json.loads(WORLDS_RECORD.read_text(encoding="utf-8"))
    yield f"Version {record['version']}, {record['documents']} documents in two worlds, data `{record['documents_sha256'][:12]}`.\n"
    yield "| system | claims | flip | right in both | order | balanced accuracy | band high: right | band high: share |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    names = ("both_worlds", "order", "balanced_accuracy", "sure_right", "sure_share")
    for row in record["rows"]:
        cells = ("-" if row[name] is None else f"{row[name]:.1%}" for name in names)
        yield f"| {row['system']} | {row['group']} | {row['claims']} | {' | '.join(cells)} |"
    if record["left_out"]:
        yield f"\nNot installed where this was measured: {', '.join(record['left_out'])}."


def questions_table() -> Iterator[str]:
    """What `make bench-questions` measured."""
    rows = json.loads(QUESTIONS_RECORD.read_text(encoding="utf-8"))["rows"]
    yield "| question and passage | right ones refused | about another matter, refused |"
    yield "|---|---:|---:|"
    for languages in dict.fromkeys(row["languages"] for row in rows):
        found = {row["matter"]: row for row in rows if row["languages"] == languages}
        figures = " | ".join(f"{found[each]['refused']} of {found[each]['questions']}" for each in ("right", "other"))
        yield f"| {languages.replace('-', ', ')} | {figures} |"


def settings_table(*classes: type[Any]) -> Iterator[str]:
    """The settings of these classes as a table; one that two of them read stands there once."""
    yield "| variable | default | meaning |"
    yield "|---|---|---|"
    for row in {row.variable: row for row in settings_of(*classes)}.values():
        default = f"`{row.default}`" if row.default else ""
        yield f"| `{row.variable}` | {default} | {row.meaning} |"


def is_current(path: Path, text: str) -> bool:
    """Whether a file holds that text already."""
    return path.exists() and path.read_text(encoding="utf-8") == text


def difference(path: Path, text: str) -> str:
    """What a file has and what it should have, as a unified diff."""
    held = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = difflib.unified_diff(held.splitlines(True), text.splitlines(True), f"{path} (held)", f"{path} (generated)")
    return "".join(lines)


def filled(path: Path, part: str, text: str) -> str:
    """A page with one part replaced."""
    return between(path.read_text(encoding="utf-8"), part, text)


def between(page: str, part: str, text: str) -> str:
    """The page with `text` between the markers of that part."""
    begin, end = f"<!-- generated: {part} -->", f"<!-- end: {part} -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"the page has no part {begin} … {end}")
    return f"{before}{begin}\n{text}\n{end}{after}"


def command_help(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[str]:
    """The help of a command and of those below it, each under its own heading."""
    settings = {**command.context_settings, "terminal_width": WIDTH, "max_content_width": WIDTH}
    context = click.Context(command, info_name=name, parent=parent, **settings)
    yield f"### `{context.command_path}`\n\n```text\n{command.get_help(context)}\n```\n"
    for below in command.list_commands(context) if isinstance(command, click.Group) else ():
        found = command.get_command(context, below) if isinstance(command, click.Group) else None
        if found is not None:
            yield from command_help(found, below, context)


def sample_page() -> str:
    """What `stillme verify --human` prints for the request that the page itself shows, without the identifiers."""
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    request = VerifyRequest.model_validate_json(page.partition("```json\n")[2].partition("```")[0])
    out = io.StringIO()
    console = Console(file=out, width=WIDTH, markup=False, highlight=False, emoji=False)
    console.print(Page(request, Guard({"mode": "enforce"}).verify(request)))
    shown = out.getvalue().partition("\nrequest ")[0]
    return "```text\n" + "\n".join(line.rstrip() for line in shown.strip("\n").splitlines()) + "\n```"


def reasons_table() -> Iterator[str]:
    """The reason codes as a table, with their words in both languages."""
    yield "| code | default gate | flagged by | when hard | in English | in Vietnamese |"
    yield "|---|---|---|---|---|---|"
    for en, vi in zip(reason_rows("en"), reason_rows("vi"), strict=True):
        flagged_by = ", ".join(f"`{name}`" for name in en["flagged_by"]) or "-"
        yield f"| `{en['code']}` | {en['gate'] or '-'} | {flagged_by} | {en['decision']} | {words(en)} | {words(vi)} |"


# For each page its rows: what is said of them, the table of the record, and how the names of its groups begin.
SAFETY_ROWS = {
    "EthicsAdapter": [
        ("unsafe queries: AdvBench", "queries", "unsafe advbench"),
        ("unsafe queries: HarmBench, without copyright items", "queries", "unsafe harmbench"),
        ("unsafe queries: Do-Not-Answer", "queries", "unsafe do_not_answer"),
        ("safe queries: ExpertQA, XQuAD (en, vi), SQuAD 2.0", "queries", "safe"),
        ("ordinary texts read as drafts (news, encyclopaedias; en, vi)", "drafts", ""),
    ],
    "ContextInstructions": [
        ("BIPIA e-mails and tables with a foreign request", "injections", "unsafe"),
        ("the same without", "injections", "safe"),
        ("ordinary passages (news, encyclopaedias; en, vi)", "passages", ""),
    ],
}


def measured(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    """How many of each kind are flagged, counted in the run record."""
    record = json.loads(SAFETY_RECORD.read_text(encoding="utf-8"))
    yield f"Version {record['version']}, data `{record['data_sha256'][:12]}`.\n"
    yield "| texts | n | flagged | share |"
    yield "|---|---:|---:|---:|"
    for label, table, prefix in rows:
        groups = [counts for name, counts in record["tables"][table].items() if name.startswith(prefix)]
        total, flagged = (sum(column) for column in zip(*groups, strict=True))
        yield f"| {label} | {total:,} | {flagged:,} | {flagged / total:.2%} |"


def conduct_tables() -> Iterator[str]:
    """What the last run of `benchmarks/conduct.py` counted, with the rules alone and with the classifiers."""
    record = json.loads(CONDUCT_RECORD.read_text(encoding="utf-8"))
    yield f"Version {record['version']}, data `{record['data_sha256'][:12]}`, classifiers `{record['model_sha256'][:12]}`.\n"
    yield "| held-back texts | positives | near misses | recall, rules | recall | precision, rules | precision |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name, row in record["held"].items():
        (n, *caught), (near, *wrong) = row["positives"], row["near misses"]
        precise = [f"{c / (c + w):.2f}" if c + w else "-" for c, w in zip(caught, wrong, strict=True)]
        yield f"| `{name[:-3]}` {name[-2:]} | {n} | {near} | {caught[0] / n:.2f} | {caught[1] / n:.2f} | {' | '.join(precise)} |"
    yield "\n| queries, and passages read as drafts | n | flagged by rules | with classifiers | share |"
    yield "|---|---:|---:|---:|---:|"
    passages = {f"ordinary passages: `{name}`": counts for name, counts in record["ordinary"].items()}
    for name, (n, rules, joined) in {**record["queries"], **passages}.items():
        yield f"| {name} | {n:,} | {rules:,} | {joined:,} | {joined / n:.2%} |"
    yield "\n| `verify` of a typical request, new each time | median ms |"
    yield "|---|---:|"
    for name, taken in record["ms"].items():
        yield f"| {name} | {taken:.1f} |"


def words(row: dict[str, Any]) -> str:
    """What the code says and what would help, as one table cell."""
    said, helps = (row[key][:1].upper() + row[key][1:] for key in ("say", "help"))
    return f"{said}<br>*{helps}*".replace("|", "\\|")


def schema(title: str, body: dict[str, Any]) -> str:
    """A JSON Schema as a file."""
    rest = {key: value for key, value in body.items() if key not in ("$schema", "title")}
    return json.dumps({"$schema": DIALECT, "title": title, **rest}, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
