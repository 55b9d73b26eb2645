"""`stillme ingest`: files and folders into the knowledge store.

What a command needs is imported when it runs, so that `--help` is instant.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stillme.cli.options import JSON, extra_needed
from stillme.cli.printing import Exit, complain, is_terminal, print_json, tell
from stillme.errors import InputError, shown

if TYPE_CHECKING:
    from stillme.chat.documents.ingest import IngestReport, Progress
    from stillme.storage.knowledge.base import KnowledgeStore

__all__ = ["KNOWLEDGE", "ingest", "knowledge_store"]

NAME_SHOWN = 40
WHAT = ("document", "chunk")
KNOWLEDGE = click.option(
    "--store",
    metavar="PATH|URL",
    envvar="STILLME_KNOWLEDGE",
    show_envvar=True,
    help="The knowledge store: a file, or postgresql://… Without: knowledge.db in the folder that STILLME_DATA names"
    " (stillme-data).",
)
NAME_HELP = "Calls one of the paths otherwise than by its last part, in the names of its documents. As often as needed."
REMOVE_HELP = "Also remove the documents whose files are gone from the given folders."


@click.command(short_help="Read files and folders into the knowledge store.")
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=click.Path())
@KNOWLEDGE
@click.option("--name", "names", metavar="PATH=NAME", multiple=True, help=NAME_HELP)
@click.option("--remove-missing", is_flag=True, help=REMOVE_HELP)
@JSON
@click.pass_context
def ingest(
    ctx: click.Context,
    /,
    paths: tuple[str, ...],
    store: str | None,
    names: tuple[str, ...],
    remove_missing: bool,
    as_json: bool,
) -> None:
    """Read Markdown, text, HTML and PDF files, and folders of them, into the knowledge store.

    Running it again does only what is left to do: unchanged files are skipped, changed ones replaced. A document of the folder
    `handbook` is called `handbook/…`, wherever that folder stands. Hidden files, links out of a folder and other kinds of files
    are passed over.

    \b
    Exit code:
       0  everything was read
       3  a file could not be read, and is named on stderr; the others were ingested all the same
    """
    from stillme.chat.documents.ingest import ingest as run
    from stillme.models.embedding import embed

    # pypdf logs every irregularity, and pages of it; what it cannot cope with is told by us.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)
    with closing(knowledge_store(store, make=True)) as opened, _followed() as on_progress:
        report = run(
            paths,
            opened,
            embed=embed,
            names=dict(map(_named, names)),
            remove_missing=remove_missing,
            on_progress=on_progress,
        )
        held = opened.counts("knowledge")
    for failure in report.failed:
        complain(f"{failure.path}: {failure.reason}")
    if as_json:
        print_json(asdict(report) | {"documents_in_store": held[0], "chunks_in_store": held[1]})
    else:
        tell(_lines(report, held))
    ctx.exit(Exit.INPUT if report.failed else Exit.ANSWER)


def knowledge_store(where: str | None, *, make: bool = False) -> KnowledgeStore:
    """The store of that name, or the one that the environment names, whose folder is made if `make` says so."""
    from stillme.chat.settings import ChatSettings

    if not where:
        settings = ChatSettings.from_environment(os.environ)
        where = settings.knowledge_store
        if make and not settings.knowledge:
            Path(settings.data).mkdir(parents=True, exist_ok=True, mode=0o700)
    with extra_needed("the knowledge store", "chat"):
        from stillme.storage.knowledge.engines import store_at

        return store_at(where)


def _named(given: str) -> tuple[str, str]:
    path, equals, name = given.rpartition("=")
    if not equals or not path:
        raise InputError(f"--name must be PATH=NAME, got {shown(given)}")
    return path, name


def _lines(report: IngestReport, held: tuple[int, int]) -> Iterator[str]:
    done = ("added", "replaced", "unchanged", "removed", "failed")
    yield ", ".join(f"{len(getattr(report, what)):,} {what}" for what in done)
    for note in report.noted:
        yield f"note: {note.path}: {note.reason}"
    if report.unsupported:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in report.unsupported.items())
        yield f"passed over, for they cannot be read: {kinds}"
    documents, chunks = (f"{count:,} {what}{'' if count == 1 else 's'}" for count, what in zip(held, WHAT, strict=True))
    yield f"the store holds {documents} in {chunks}"


@contextmanager
def _followed() -> Iterator[Callable[[Progress], None] | None]:
    """A bar on stderr where that is a terminal: it fills by bytes and tells which chunk of which document is being read."""
    if not is_terminal(sys.stderr):
        yield None
        return
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    from stillme.cli.terminal import console, visible

    where = console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Bar(*columns, console=where, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=1.0)

        def advance(progress: Progress) -> None:
            name = visible(progress.document.replace("\n", " "), where.encoding)
            short = name if len(name) <= NAME_SHOWN else f"…{name[1 - NAME_SHOWN :]}"
            chunk = f" {progress.chunk}/{progress.chunks}" if progress.chunks else ""
            bar.update(task, completed=progress.share, description=f"{short}{chunk}")

        yield advance
