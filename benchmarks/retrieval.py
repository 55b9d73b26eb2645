"""How well retrieval finds the passage a question was written for: `python -m benchmarks.retrieval DATA [PASSAGES] [QUESTIONS]`.

DATA holds `train/qa_contexts_en.jsonl` and `train/qa_contexts_vi.jsonl`, whose rows have `context`, `question`, `answerable` and `id`.
Passages of both languages are put into a store, each a document of one chunk, and answerable questions are asked: in English, in
Vietnamese, in Vietnamese without accents, and, where the same question is there in both languages, across them (the passages of the
question's own language are then left out). Printed are the shares whose passage comes first and among the first five, the mean of
1/rank (0 beyond the fifth), and the time a question takes, for each way of searching. The first way asks the model for the vector of each
question; the ways below it in the table find that remembered.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stillme.chat.retrieval import SEARCHED, Query, Retriever, fused, query_words, read_query
from stillme.models.embedding import embed
from stillme.storage.knowledge.base import KnowledgeStore
from stillme.storage.knowledge.engines import store_at
from stillme.storage.knowledge.store import Chunk, Document
from stillme.text.tokens import fold_text

LOOKED_AT = 5
Ask = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the chunk it was written for."""

    question: str
    answer: str


def main(data: Path, passages: int = 600, questions: int = 200) -> None:
    """Print a line for each set of questions and way of searching."""
    rows = {language: _rows(data / "train" / f"qa_contexts_{language}.jsonl", passages) for language in ("en", "vi")}
    with tempfile.TemporaryDirectory() as folder:
        stores = {name: store_at(Path(folder) / f"{name}.db") for name in ("en", "vi", "both")}
        for language, found in rows.items():
            _fill([stores[language], stores["both"]], found)
        print(f"{'questions':<22}{'n':>5}  {'searched by':<16}{'first':>8}{'of five':>9}{'1/rank':>8}{'ms':>8}")
        for name, store, asked in _sets(rows, stores, questions):
            for way, ask in _ways(store).items():
                _report(name, way, asked, ask)
        for store in stores.values():
            store.close()


def _rows(path: Path, passages: int) -> list[dict[str, Any]]:
    """The answerable rows of so many passages: those of parallel questions first, then by chance that is the same each time."""
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    contexts = list(dict.fromkeys(row["context"] for row in found))
    random.Random(1).shuffle(contexts)
    parallel = {row["context"] for row in found if row["dataset"] == "xquad"}
    kept = set(sorted(contexts, key=lambda context: context not in parallel)[:passages])
    return [row for row in found if row["context"] in kept and row["answerable"]]


def _fill(stores: list[KnowledgeStore], rows: list[dict[str, Any]]) -> None:
    for text in dict.fromkeys(row["context"] for row in rows):
        name = _name(text)
        vectors = embed([text], "passage")
        for store in stores:
            store.put("knowledge", Document(name, text, "1"), [Chunk(name, name, 0, text, 0, len(text))], vectors)


def _name(text: str) -> str:
    return f"{random.Random(text).getrandbits(64):016x}"  # the same text has the same name


def _sets(
    rows: dict[str, list[dict[str, Any]]], stores: dict[str, KnowledgeStore], most: int
) -> Iterator[tuple[str, KnowledgeStore, list[Asked]]]:
    drawn = {language: random.Random(2).sample(found, min(most, len(found))) for language, found in rows.items()}
    for language, found in drawn.items():
        yield language, stores["both"], [Asked(row["question"], _name(row["context"])) for row in found]
    unaccented = [Asked(fold_text(row["question"]), _name(row["context"])) for row in drawn["vi"]]
    yield "vi without accents", stores["both"], unaccented
    for one, other in (("en", "vi"), ("vi", "en")):
        answers = {_question_id(row): _name(row["context"]) for row in rows[other] if row["dataset"] == "xquad"}
        asked = [
            Asked(row["question"], answers[_question_id(row)]) for row in rows[one] if _question_id(row) in answers
        ]
        yield f"{one}, passages in {other}", stores[other], random.Random(3).sample(asked, min(most, len(asked)))


def _question_id(row: dict[str, Any]) -> str:
    return str(row["id"]).rpartition("-")[2]


def _ways(store: KnowledgeStore) -> dict[str, Ask]:
    retriever = Retriever(store, most_knowledge=LOOKED_AT)

    def near(query: Query) -> list[str]:
        return [key for key, _ in store.near("knowledge", embed([query.text.raw], "query")[0], SEARCHED)]

    def matching(query: Query) -> list[str]:
        return [key for key, _ in store.matching("knowledge", query_words(query), SEARCHED)]

    return {
        "vector": lambda question: near(read_query(question)[0]),
        "text": lambda question: matching(read_query(question)[0]),
        "both, fused": lambda question: list(fused((1.0, way(read_query(question)[0])) for way in (near, matching))),
        "retriever": lambda question: [found.chunk.id for found in retriever.retrieve_context(question).knowledge_docs],
    }


def _report(name: str, way: str, asked: list[Asked], ask: Ask) -> None:
    ranks, times = [], []
    for one in asked:
        start = time.perf_counter()
        found = ask(one.question)[:LOOKED_AT]
        times.append(time.perf_counter() - start)
        ranks.append(found.index(one.answer) + 1 if one.answer in found else 0)
    total = max(len(ranks), 1)
    first, five = sum(rank == 1 for rank in ranks) / total, sum(0 < rank <= 5 for rank in ranks) / total
    mean = sum(1 / rank for rank in ranks if rank) / total
    middle = statistics.median(times or [0.0]) * 1000
    print(f"{name:<22}{len(asked):>5}  {way:<16}{first:>8.3f}{five:>9.3f}{mean:>8.3f}{middle:>8.1f}")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4:
        sys.exit("usage: python -m benchmarks.retrieval DATA [PASSAGES] [QUESTIONS]")
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
