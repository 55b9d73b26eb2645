"""Writes the words that texts write in small letters (small_words.txt in src/stillme/languages/en and vi).

    python training/small_words.py TRAIN             prints how many there are
    python training/small_words.py TRAIN --write     also writes the files

An English word counts if a few passages in `TRAIN/*.jsonl` write it in small letters and it is no Vietnamese syllable, which another
list weighs: it tells English from languages that no list knows. A Vietnamese syllable counts if it is hardly ever part of a name.
"""

from __future__ import annotations

import argparse
import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from stillme.text.language import syllables
from stillme.text.tokens import fold

LEAST_PASSAGES = 3
LEAST_SMALL = 0.95
ENGLISH = re.compile(r"(?<![\w'’-])[a-z]{3,}(?![\w'’])")
INSIDE = re.compile(r"(?<=[\w,] )[^\W\d_]{2,}(?!\w)")
RULES = Path(__file__).parents[1] / "src/stillme/languages"


def main() -> None:
    """Count, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    for name, words in (("en", _english(arguments.train)), ("vi", _vietnamese(arguments.train))):
        print(f"{name}: {len(words)} words")
        if arguments.write:
            lines = textwrap.wrap(" ".join(words), 140, break_long_words=False, break_on_hyphens=False)
            heading = "# Words that texts write in small letters; made by training/small_words.py."
            (RULES / name / "small_words.txt").write_text("\n".join([heading, *lines]) + "\n", encoding="utf-8")


def _english(train: Path) -> list[str]:
    counts: Counter[str] = Counter()
    for text in dict.fromkeys(_passages(train, "en")):
        counts.update(set(ENGLISH.findall(text)))
    return sorted(word for word, count in counts.items() if count >= LEAST_PASSAGES and word not in syllables())


def _vietnamese(train: Path) -> list[str]:
    small, every = Counter[str](), Counter[str]()
    for text in dict.fromkeys(_passages(train, "vi")):
        found = [word for word in INSIDE.findall(text) if fold(word) in syllables()]
        every.update({word.lower() for word in found})
        small.update({word for word in found if word.islower()})
    return sorted(w for w, n in small.items() if n >= LEAST_PASSAGES and n >= LEAST_SMALL * every[w])


def _passages(train: Path, language: str) -> Iterator[str]:
    """The passages of every row in a language, in the order of the files."""
    for path in sorted(train.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row["lang"] == language:
                given = row["context"]
                yield from [given] if isinstance(given, str) else (passage["text"] for passage in given)


if __name__ == "__main__":
    main()
