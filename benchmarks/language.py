"""Accuracy and speed of language identification: `python benchmarks/language.py DATA_DIR`.

DATA_DIR holds `train/` and `dev/` of JSON lines. Each row of the table is a set of texts of one known language.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from stillme.text.language import identify
from stillme.text.tokens import Text, fold

# file, what to read of it, language
SOURCES = (
    ("train/qa_contexts_en.jsonl", "question", "en"),
    ("train/qa_contexts_en.jsonl", "context", "en"),
    ("train/qa_contexts_vi.jsonl", "question", "vi"),
    ("train/qa_contexts_vi.jsonl", "context", "vi"),
    ("dev/xnli_en_dev.jsonl", "context", "en"),
    ("dev/xnli_en_dev.jsonl", "answer", "en"),
    ("dev/xnli_vi_dev.jsonl", "context", "vi"),
    ("dev/xnli_vi_dev.jsonl", "answer", "vi"),
    ("dev/clamber_dev.jsonl", "query", "en"),
    ("dev/viambig_dev.jsonl", "query", "vi"),
)
PREFIXES = (0, 5, 3)


def main(data: Path) -> None:
    """Print a line for each set of texts: how many, the share told right, what the rest was taken for, time each."""
    print(f"{'texts':<46}{'n':>7}{'right':>9}{'en':>7}{'vi':>7}{'other':>7}{'unknown':>9}{'µs each':>9}")
    for file, field, language in SOURCES:
        texts = list(dict.fromkeys(_texts(data / file, field)))
        forms = [("", texts)] if language == "en" else [("", texts), (" unaccented", [fold(text) for text in texts])]
        for form, spelt in forms:
            for words in PREFIXES if field != "context" else (0,):
                name = f"{Path(file).stem} {field}{form}" + (f", first {words} words" if words else "")
                _report(name, _cut(spelt, words), language)


def _texts(path: Path, field: str) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        value = json.loads(line).get(field)
        for text in value if isinstance(value, list) else [value]:
            yield text["text"] if isinstance(text, dict) else text or ""


def _cut(texts: list[str], words: int) -> list[str]:
    """The texts, or the different beginnings of so many words that they have."""
    if not words:
        return [text for text in texts if text.strip()]
    return list(dict.fromkeys(" ".join(text.split()[:words]) for text in texts if len(text.split()) >= words))


def _report(name: str, texts: list[str], language: str) -> None:
    read = [Text(text) for text in texts]
    for text in read:
        identify(text)  # the votes of words are remembered; time is taken warm, as in service
    start = time.perf_counter()
    found = Counter(identify(text) for text in read)
    each = (time.perf_counter() - start) / max(len(read), 1) * 1e6
    wrong = "".join(f"{found[other] if other != language else '-':>7}" for other in ("en", "vi", "other"))
    print(
        f"{name:<46}{len(read):>7}{found[language] / max(len(read), 1):>9.2%}{wrong}{found['unknown']:>9}{each:>9.1f}"
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
