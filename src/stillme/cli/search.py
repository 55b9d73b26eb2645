"""`stillme search`: what retrieval finds for a question, before any model sees it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from stillme.cli.ingest import KNOWLEDGE, knowledge_store
from stillme.cli.options import JSON
from stillme.cli.printing import print_json, tell

if TYPE_CHECKING:
    from stillme.storage.knowledge.store import Found

__all__ = ["search"]

INDENT = "   "


@click.command(short_help="Show what retrieval finds for a question.")
@click.argument("query")
@KNOWLEDGE
@click.option("--most", type=click.IntRange(1, 50), default=5, show_default=True, help="At most so many chunks.")
@JSON
def search(query: str, store: str | None, most: int, as_json: bool) -> None:
    """Show the chunks that a chat would answer QUERY from: rank, similarity, id, title and text, the best first.

    Similarity is on the scale of the policy's thresholds. Nothing found is no error.
    """
    from stillme.chat.retrieval import Retriever

    with closing(knowledge_store(store)) as opened:
        chunks = Retriever(opened).retrieve_context(query, most=most).knowledge_docs
        documents = opened.counts("knowledge")[0]
    if as_json:
        for place, each in enumerate(chunks, 1):
            figures = {"place": place, "rank": each.rank, "similarity": each.similarity}
            print_json(figures | asdict(each.chunk))
        return
    tell(_lines(chunks, documents))


def _lines(chunks: tuple[Found, ...], documents: int) -> Iterator[str]:
    if not chunks:
        yield f"nothing found in {documents:,} documents" if documents else "the store is empty: run `stillme ingest`"
    for place, each in enumerate(chunks, 1):
        chunk = each.chunk
        yield f"{place}. {chunk.id}  similarity {each.similarity:.2f}, rank {each.rank:.4f}"
        about = ", ".join(said for said in (chunk.title, chunk.url, chunk.timestamp) if said)
        if about:
            yield f"{INDENT}{about}"
        yield from (f"{INDENT}{line}" if line else "" for line in ["", *chunk.text.splitlines(), ""])
