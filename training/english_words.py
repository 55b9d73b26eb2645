"""Writes the English words that tell English from languages that no list knows (src/stillme/evidence/rules/english_words.txt).

    python training/english_words.py TRAIN             prints how many there are
    python training/english_words.py TRAIN --write     also writes the file

A word counts if so many of the passages in `TRAIN/*.jsonl` that are in English write it in lower case, and if it is no Vietnamese
syllable, which another list weighs.
"""

from __future__ import annotations

import argparse
import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from stillme.evidence.language import syllables

LEAST_PASSAGES = 3
WORD = re.compile(r"(?<![\w'’-])[a-z]{3,}(?![\w'’])")
OUTPUT = Path(__file__).parents[1] / "src/stillme/evidence/rules/english_words.txt"
HEADING = "# English words, each written in lower case by several passages; made by training/english_words.py."


def main() -> None:
    """Count, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    for text in dict.fromkeys(_passages(arguments.train)):
        counts.update(set(WORD.findall(text)))
    words = sorted(word for word, count in counts.items() if count >= LEAST_PASSAGES and word not in syllables())
    print(f"{len(words)} words")
    if arguments.write:
        lines = textwrap.wrap(" ".join(words), 140, break_long_words=False, break_on_hyphens=False)
        OUTPUT.write_text("\n".join([HEADING, *lines]) + "\n", encoding="utf-8")


def _passages(train: Path) -> Iterator[str]:
    """The passages of every English row, in the order of the files."""
    for path in sorted(train.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row["lang"] == "en":
                given = row["context"]
                yield from [given] if isinstance(given, str) else (passage["text"] for passage in given)


if __name__ == "__main__":
    main()
