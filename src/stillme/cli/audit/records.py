"""The audit commands that read: find records, show one, write them to a file, count them."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stillme.cli.files import check_new, whole_file
from stillme.cli.options import (
    FORM,
    JSON,
    KEYS,
    LABELS,
    STORE,
    Wanted,
    entry_named,
    journal_option,
    keyring_of,
    opened,
    takes_filters,
    takes_store,
)
from stillme.cli.printing import Exit, complain, draw, human_wanted, print_json, tell
from stillme.errors import InputError, nearest, shown
from stillme.reasons import Reason

if TYPE_CHECKING:
    from stillme.audit import AuditStore, Filter
    from stillme.audit.chain.record import Entry, Record

__all__ = ["export", "list_", "show", "stats"]

KINDS = ("verdict", "opening", "review", "appeal", "erasure", "tombstone", "promotion", "policy", "store", "all")
FORMATS = ("jsonl", "csv", "parquet")
STDOUT = "-"


@click.command("list", short_help="Find records.")
@click.option("--kind", type=click.Choice(KINDS), help="Without: verdicts, and answers that are unfinished.")
@click.option("--label", type=click.Choice(LABELS), help="Verdicts that a reviewer gave this label.")
@click.option("--unreviewed", is_flag=True, help="Verdicts that nobody has reviewed.")
@click.option(
    "-n", "--limit", type=click.IntRange(min=0), default=50, show_default=True, help="At most so many; 0 is all."
)
@FORM
@takes_store()
@takes_filters
def list_(
    store: AuditStore,
    kind: str | None,
    label: str | None,
    unreviewed: bool,
    limit: int,
    as_json: bool | None,
    wanted: Wanted,
) -> None:
    """List records, the newest first: those that fulfil every option given.

    On a terminal a table; its short ids are enough for the other commands. Else one JSON object a line. An answer is
    unfinished that began to go out and of which no verdict was recorded: it still does, or the service was killed.
    """
    from stillme.audit.review.listing import newest, row_of, unfinished

    begun = unfinished(store)
    chosen = wanted.filter if kind in (None, "all") else replace(wanted.filter, kind=kind)
    kept = _kept(store, label, unreviewed)
    if kind is None:
        kept = _of_answers(frozenset() if kept else begun, kept)
    rows = (row_of(record, begun) for record in newest(store, chosen, limit or None, kept))
    number = _print_table(list(rows)) if human_wanted(as_json) else _print_rows(rows)
    if not number:
        complain(f"no record matches{_hint(wanted.filter.reason)}")
    elif limit and number == limit and human_wanted(as_json):
        click.echo(f"the newest {limit}; --limit 0 shows all", err=True)


def _kept(store: AuditStore, label: str | None, unreviewed: bool) -> Callable[[Record], bool] | None:
    """What is asked of the reviews of a verdict."""
    from stillme.audit.review.listing import labels

    if not label and not unreviewed:
        return None
    given = labels(store)

    def keep(record: Record) -> bool:
        own = given.get(record.entry.id, set()) if record.entry else set()
        return not (unreviewed and own) and (label is None or label in own)

    return keep


def _of_answers(begun: Collection[str], kept: Callable[[Record], bool] | None) -> Callable[[Record], bool]:
    """Verdicts that are kept, and those openings among the given ones."""

    def keep(record: Record) -> bool:
        entry = record.entry
        if entry is None or entry.kind != "verdict":
            return entry is not None and entry.kind == "opening" and entry.id in begun
        return kept is None or kept(record)

    return keep


def _hint(reason: str | None) -> str:
    """A reason code may be a plugin's; one that nothing was flagged with may be misspelt."""
    guess = nearest(reason, [code.value for code in Reason]) if reason else None
    return f": did you mean --reason {guess}?" if guess and guess != reason else ""


def _print_rows(rows: Iterator[dict[str, Any]]) -> int:
    number = 0
    for number, row in enumerate(rows, 1):  # noqa: B007  (the last number is how many there were)
        print_json(row)
    return number


def _print_table(rows: list[dict[str, Any]]) -> int:
    from stillme.cli.audit.pages import records_table

    if rows:
        draw(partial(records_table, rows))
    return len(rows)


@click.command(short_help="Show one record, or write its evidence packet.")
@click.argument("trace")
@STORE
@KEYS
@click.option(
    "--html", "packet_file", metavar="FILE", help="Write an evidence packet: one HTML page to attach to a review."
)
@click.option("--force", is_flag=True, help="Overwrite FILE if it is there.")
@click.option("--json", "as_json", is_flag=True, help="The verdict, the request and the record as one JSON object.")
@click.option("--all-findings", is_flag=True, help="The page also shows what passed and what was skipped.")
@click.pass_context
def show(
    ctx: click.Context, /, trace: str, store: str | None, keys: tuple[str, ...], packet_file: str | None, **how: bool
) -> None:
    """Show the record of a TRACE (a trace id, its beginning, or a request id) with its reviews and its place in the chain.

    The record and its links up to the next seal are checked first; one that was changed is not shown (exit code 6).
    """
    from stillme.audit.review.cases import case_of, facts_of, standing_of

    ring = keyring_of(keys, store)
    with opened(store, seals=False) as found:
        entry, record = entry_named(found, trace), found.find(trace)
        standing = standing_of(found, record, ring)
        if standing.fault is not None:
            complain(f"{standing.fault}; run `stillme audit verify`")
            ctx.exit(Exit.TAMPERED)
        facts = dict(facts_of(found, record, standing))
        if packet_file is not None:
            from stillme.pages.packet import packet

            check_new(packet_file, how["force"])
            with whole_file(packet_file) as part:
                part.write_bytes(packet(case_of(found, record, ring)).encode())
            tell([f"evidence packet of {entry.id} written to {packet_file}"])
        elif how["as_json"]:
            print_json(_record_object(found, record, entry, facts))
        else:
            _print_record(found, record, entry, facts, how["all_findings"])


def _record_object(store: AuditStore, record: Record, entry: Entry, facts: dict[str, str]) -> dict[str, Any]:
    from stillme.audit.content import verdict_in
    from stillme.audit.review.cases import request_of, reviews_of, text_words
    from stillme.audit.review.listing import row_of, unfinished

    request = request_of(entry) if entry.kind in ("verdict", "opening") else None
    return {
        "record": row_of(record, unfinished(store)),
        "facts": facts,
        "notice": text_words(store, record),
        "meta": json.loads(entry.meta),
        "verdict": verdict_in(entry) if entry.kind == "verdict" else None,
        "request": request.model_dump(mode="json", exclude_unset=True) if request else None,
        "reviews": [asdict(review) for review in reviews_of(store, entry.id)],
    }


def _print_record(store: AuditStore, record: Record, entry: Entry, facts: dict[str, str], all_findings: bool) -> None:
    from stillme.audit.review.cases import request_of, reviews_of, text_words, verdict_of
    from stillme.cli.audit.pages import record_page

    is_verdict = entry.kind == "verdict"
    known = ("trace id", "request id") if is_verdict else ()  # they stand on the page of a verdict
    shown_facts = {name: value for name, value in facts.items() if name not in known}
    draw(
        partial(
            record_page,
            request_of(entry) if is_verdict else None,
            verdict_of(entry) if is_verdict else None,
            shown_facts if is_verdict else _content_of(store, record, entry) | shown_facts,
            reviews_of(store, entry.id),
            text_words(store, record),
            all_findings,
        )
    )


def _content_of(store: AuditStore, record: Record, entry: Entry) -> dict[str, str]:
    """What a record that is no verdict says."""
    from stillme.audit.review.listing import row_of, unfinished

    note = json.loads(entry.body.text).get("note") if entry.body else None
    row = row_of(record, unfinished(store))
    named = {"kind": entry.kind, "state": row.get("state"), "question": row["query"]}
    named |= {"of": entry.ref, "label": entry.label, "note": note}
    meta = {name: json.dumps(value, ensure_ascii=False) for name, value in json.loads(entry.meta).items()}
    return {name: str(value) for name, value in named.items() if value} | meta


@click.command(short_help="Write records to a file: JSON lines, CSV or Parquet.")
@click.argument("file", metavar="FILE|-")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Without: by the ending of FILE, else jsonl.")
@click.option("--force", is_flag=True, help="Overwrite FILE if it is there.")
@takes_store(seals=True)
@takes_filters
def export(store: AuditStore, file: str, form: str | None, force: bool, wanted: Wanted) -> None:
    """Write the whole store, or the records that the filters choose, to FILE (- is standard output).

    JSON lines without a filter are the whole chain: `stillme audit verify FILE` checks it without the database and
    `stillme audit restore FILE` makes a store of it. CSV and Parquet hold one flat row a record, for analysis, and get a
    sealed manifest beside them. Exports hold texts as the store does: an erasure does not reach them.
    """
    chosen = form or _form_of(file)
    if file == STDOUT:
        _export_to_stdout(store, chosen, wanted)
        return
    check_new(file, force)
    with whole_file(file) as part:
        number = _export(store, chosen, part, wanted.filter)
    tell(_written(store, file, chosen, number, wanted))


def _form_of(file: str) -> str:
    ending = Path(file).suffix.lower().removeprefix(".")
    if file == STDOUT or ending in ("", "json", "ndjson"):
        return "jsonl"
    if ending not in FORMATS:
        raise InputError(
            f"{shown(file)} does not say which format: end it with .jsonl, .csv or .parquet, or give --format"
        )
    return ending


def _export_to_stdout(store: AuditStore, form: str, wanted: Wanted) -> None:
    from stillme.audit.export import export_csv, export_jsonl

    if form == "parquet":
        raise InputError("Parquet needs a file: name one, or choose --format jsonl or csv")
    out = sys.stdout.buffer
    if form == "jsonl":
        export_jsonl(store, out, wanted.filter)
        return
    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    try:
        export_csv(store, text, wanted.filter)
    finally:
        text.detach()  # stdout stays open for whoever comes after


def _export(store: AuditStore, form: str, part: Path, wanted: Filter) -> int:
    from stillme.audit.export import export_csv, export_jsonl, export_parquet

    if form == "parquet":
        return export_parquet(store, str(part), wanted)
    if form == "jsonl":
        with part.open("wb") as out:
            return export_jsonl(store, out, wanted)
    with part.open("w", encoding="utf-8", newline="") as table:
        return export_csv(store, table, wanted)


def _written(store: AuditStore, file: str, form: str, number: int, wanted: Wanted) -> Iterator[str]:
    what = "record" if number == 1 else "records"
    yield f"{number:,} {what} written to {file}{'' if wanted.is_given else ', the whole store'}"
    if form != "jsonl":
        from stillme.audit.export import manifest_of

        yield f"manifest written to {manifest_of(store, file, number)}"
    yield f"check it: stillme audit verify {file}"


@click.command(short_help="Count what the store holds.")
@JSON
@journal_option
@takes_store()
def stats(store: AuditStore, as_json: bool) -> None:
    """Count records by kind, decision, reason and month; bytes; erased and removed ones; seals; what waits in the journal."""
    from stillme.audit.stats import stats_of

    counted = stats_of(store)
    if as_json:
        print_json(asdict(counted))
        return
    from stillme.cli.audit.pages import stats_lines

    tell(stats_lines(counted))
