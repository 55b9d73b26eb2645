"""Documents with claims in two worlds, one JSON object a line.

`context` is the first world's sources, `world` the second's with the labels that the same claims have there. Only reading the sources
tells the two apart: whoever looks at the claim alone is right in one world and wrong in the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from stillme.errors import InputError, shown

__all__ = ["LABELS", "WORLDS", "WorldClaim", "WorldDocument", "read_documents", "worlds_file"]

WORLDS: Final = "worlds"
LABELS: Final = ("supported", "contradicted", "unsupported")
Source = dict[str, str]


@dataclass(frozen=True, slots=True)
class WorldClaim:
    """One sentence about the sources: its language, what kind of claim it is, and its label in each world."""

    text: str
    language: str
    kind: str
    labels: tuple[str, ...]

    @property
    def is_flipped(self) -> bool:
        """Whether one world supports it and the other does not."""
        return len({label == LABELS[0] for label in self.labels}) > 1


@dataclass(frozen=True, slots=True)
class WorldDocument:
    """Sources in one world or two, and the claims about them."""

    id: str
    language: str
    worlds: tuple[tuple[Source, ...], ...]
    claims: tuple[WorldClaim, ...]


def worlds_file() -> Path:
    """The documents that come with the package."""
    return Path(__file__).with_name("worlds.jsonl")


def read_documents(path: str | Path) -> Iterator[WorldDocument]:
    """The documents of a file, in order; a line that is none is an error that names it."""
    try:
        with Path(path).open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _document(line, f"{shown(str(path))} line {number}")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the documents of {shown(str(path))}: {error}") from error


def _document(line: str, place: str) -> WorldDocument:
    try:
        row = json.loads(line)
        second = row.get("world")
        contexts = [row["context"], *([second["context"]] if second else [])]
        labels = [[claim["label"] for claim in row["claims"]], *([second["labels"]] if second else [])]
        return WorldDocument(
            str(row["id"]),
            str(row["lang"]),
            tuple(tuple(_source(source) for source in context) for context in contexts),
            tuple(_claim(claim, own) for claim, own in zip(row["claims"], zip(*labels, strict=True), strict=True)),
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{place} is no document with claims (docs/worlds.md tells the form): {error!r}") from error


def _source(source: dict[str, Any]) -> Source:
    return {"source_id": str(source["source_id"]), "text": str(source["text"])}


def _claim(claim: dict[str, Any], labels: tuple[str, ...]) -> WorldClaim:
    unknown = set(labels) - set(LABELS)
    if unknown:
        raise ValueError(f"label {sorted(unknown)[0]!r} is none of {', '.join(LABELS)}")
    return WorldClaim(str(claim["text"]), str(claim["lang"]), str(claim["kind"]), labels)
