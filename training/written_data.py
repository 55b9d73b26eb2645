"""The written documents in two worlds: read, checked, and counted for the data card.

    python -m training.written_data            # checks every file and writes the counts into training/written/README.md

A document is one JSON object a line: `id`, `lang` (of its sources), `domain`, `context` (a list of `{source_id, text}`),
`questions`, `claims` (`{text, lang, label, kind, spans}`, where spans are the characters that are wrong or without support), and
`world`: changed sources with the same ids (`context`) and the label of each claim, in order, against them (`labels`).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from stillme.evaluation.worlds.documents import worlds_file

FOLDER: Final = Path(__file__).with_name("written")
FILES: Final = {"train": FOLDER / "train.jsonl", "held": FOLDER / "held.jsonl", "dev": worlds_file()}
LABELS: Final = ("supported", "contradicted", "unsupported")
MARKS: Final = ("<!-- counts -->\n", "<!-- /counts -->")


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim against the sources of one world."""

    document: str
    world: int
    number: int
    claim: str
    claim_lang: str
    lang: str
    kind: str
    label: str
    context: tuple[tuple[str, str], ...]
    """Name and text of each source."""

    @property
    def supported(self) -> bool:
        """Whether the sources support it."""
        return self.label == "supported"


def documents(path: Path) -> Iterator[dict[str, Any]]:
    """The documents of a file, each checked."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            document = json.loads(line)
            if problems := list(problems_of(document)):
                raise ValueError(f"{path.name}: {document.get('id')}: {problems[0]}")
            yield document


def problems_of(document: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the form of a document."""
    claims = document["claims"]
    for claim in claims:
        if claim["label"] not in LABELS:
            yield f"no such label: {claim['label']!r}"
        if (claim["label"] == "supported") == bool(claim["spans"]):
            yield f"only claims that lack support have spans: {claim['text']!r}"
        if any(not 0 <= start < end <= len(claim["text"]) for start, end in claim["spans"]):
            yield f"a span lies outside its claim: {claim['text']!r}"
    world = document.get("world")
    if world is not None:
        if [s["source_id"] for s in world["context"]] != [s["source_id"] for s in document["context"]]:
            yield "the second world has other sources"
        if len(world["labels"]) != len(claims) or not set(world["labels"]) <= set(LABELS):
            yield "the second world does not label each claim"


def judged(document: dict[str, Any]) -> Iterator[Judged]:
    """Every claim of a document in every world that it has."""
    worlds = [(document["context"], [c["label"] for c in document["claims"]])]
    if "world" in document:
        worlds.append((document["world"]["context"], document["world"]["labels"]))
    for number, (context, labels) in enumerate(worlds):
        sources = tuple((s["source_id"], s["text"]) for s in context)
        for place, (claim, label) in enumerate(zip(document["claims"], labels, strict=True)):
            yield Judged(
                document["id"], number, place, claim["text"], claim["lang"], document["lang"], claim["kind"], label, sources
            )  # fmt: skip


def counts() -> str:
    """The table of the data card."""
    rows = [
        "| part | documents (en / vi) | with a second world | claims | supported / contradicted / unsupported, first world "
        "| across languages | claims that change sides | questions |",
        "|---|---|---:|---:|---|---:|---:|---:|",
    ]
    for name, path in FILES.items():
        found = list(documents(path))
        labels = Counter(c["label"] for d in found for c in d["claims"])
        langs = Counter(d["lang"] for d in found)
        across = sum(c["lang"] != d["lang"] for d in found for c in d["claims"])
        turned = sum(
            (c["label"] == "supported") != (label == "supported")
            for d in found
            if "world" in d
            for c, label in zip(d["claims"], d["world"]["labels"], strict=True)
        )
        rows.append(
            f"| {name} | {len(found)} ({langs['en']} / {langs['vi']}) | {sum('world' in d for d in found)} | {sum(labels.values())} "
            f"| {' / '.join(str(labels[label]) for label in LABELS)} | {across} | {turned} | {sum(len(d['questions']) for d in found)} |"
        )
    return "\n".join(rows) + "\n"


def main() -> int:
    """Check the files; write the counts into the card, or with --check say whether they are current."""
    card = FOLDER / "README.md"
    before, _, rest = card.read_text(encoding="utf-8").partition(MARKS[0])
    text = before + MARKS[0] + counts() + MARKS[1] + rest.partition(MARKS[1])[2]
    if "--check" in sys.argv:
        return int(text != card.read_text(encoding="utf-8"))
    card.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
