"""One form for all training material: a claim, a window of text, a label, and spans where known."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from training.text import Span, tidy

SUPPORTED = "supported"
CONTRADICTED = "contradicted"
UNSUPPORTED = "unsupported"
NOT_SUPPORTED = "not_supported"
LABELS = (SUPPORTED, CONTRADICTED, UNSUPPORTED, NOT_SUPPORTED)

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Example:
    """A claim against passages; `not_supported` means contradicted or unsupported, not known which.

    `spans` are the unsupported characters of the claim; None where they are not known.
    `group` names the document, so that a split never parts two claims of one document.
    """

    id: str
    dataset: str
    lang: str
    claim: str
    passages: tuple[str, ...]
    label: str
    spans: tuple[Span, ...] | None
    group: str

    def __post_init__(self) -> None:
        if self.label not in LABELS:
            raise ValueError(f"{self.id}: label must be one of {LABELS}, got {self.label!r}")


def write(path: Path, examples: Iterable[Example]) -> int:
    """Write examples, one JSON object a line; return how many."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for example in examples:
            file.write(json.dumps(asdict(example), ensure_ascii=False) + "\n")
            count += 1
    return count


def read(path: Path) -> Iterator[Example]:
    """Read what `write` wrote."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            spans = row["spans"]
            row["spans"] = None if spans is None else tuple((s, e) for s, e in spans)
            row["passages"] = tuple(row["passages"])
            yield Example(**row)


def rows(path: Path) -> Iterator[Row]:
    """The rows of a JSONL file."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def is_held_out(example: Example, share: float = 0.06) -> bool:
    """Whether the example's document belongs to the held-out split, decided by its name alone."""
    digest = hashlib.sha256(example.group.encode()).digest()
    return int.from_bytes(digest[:4], "big") < share * 2**32


def grounding_examples(path: Path) -> Iterator[Example]:
    """The examples of a set in the common grounding form, tidied as the set needs."""
    for row in rows(path):
        example = _plain(row)
        yield _ADJUST.get(row["dataset"], _as_is)(example, row)


def _plain(row: Row) -> Example:
    known = row["label"] == SUPPORTED
    spans = tuple((s, e) for s, e in row["spans"]) if row["spans"] is not None else None
    return Example(
        id=row["id"],
        dataset=row["dataset"],
        lang=row["lang"],
        claim=row["answer"],
        passages=tuple(part["text"] for part in row["context"]),
        label=SUPPORTED if known else NOT_SUPPORTED,
        spans=() if known else spans,
        group=row["context"][0]["text"][:200],
    )


def _as_is(example: Example, row: Row) -> Example:
    return example


def _tidied(example: Example, row: Row) -> Example:
    claim, spans = tidy(example.claim, example.spans or ())
    return replace(
        example,
        claim=claim,
        passages=tuple(tidy(passage)[0] for passage in example.passages),
        spans=None if example.spans is None else tuple(spans),
    )


def _lower_cased(example: Example, row: Row) -> Example:
    # The claims come without capitals; the article must not be told apart from them by its own.
    tidied = _tidied(example, row)
    return replace(tidied, claim=tidied.claim.lower(), passages=tuple(p.lower() for p in tidied.passages))


def _with_subtype(example: Example, row: Row) -> Example:
    labels = {"refute": CONTRADICTED, "irrelevant": UNSUPPORTED, "extrinsic": UNSUPPORTED}
    return replace(example, label=labels.get(row.get("subtype", ""), example.label))


_ADJUST: dict[str, Callable[[Example, Row], Example]] = {
    "q2": _tidied,
    "fever_nli": _tidied,
    "xsum_faith": _lower_cased,
    "factcheck_bench": _with_subtype,
    "defacto": _with_subtype,
}


def snli_examples(path: Path) -> Iterator[Example]:
    """Caption pairs of an SNLI file; pairs without a majority label are left out."""
    labels = {"entailment": SUPPORTED, "contradiction": CONTRADICTED, "neutral": UNSUPPORTED}
    for row in rows(path):
        label = labels.get(row["gold_label"])
        if label is None:
            continue
        yield Example(
            id=f"snli-{row['pairID']}",
            dataset="snli",
            lang="en",
            claim=row["sentence2"],
            passages=(row["sentence1"],),
            label=label,
            spans=() if label == SUPPORTED else None,
            group=row["sentence1"],
        )
