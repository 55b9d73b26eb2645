"""What EthicsAdapter's built-in guard and ContextInstructions find: `python benchmarks/safety.py DATA_DIR`.

DATA_DIR holds `train/` and `dev/` of JSON lines. Tables: queries by their source; ordinary texts read as drafts, where
every flag is a false alarm; passages with and without a foreign instruction; ordinary passages, likewise; time each.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from stillme.evidence.instructions import find_instruction
from stillme.evidence.safety import find_dangers
from stillme.evidence.text import Text

# Texts that were written to inform: news, encyclopaedias, answers about them.
ORDINARY = ("xsum_faith", "defacto", "factcg_cg2c", "factcheck_bench", "fever_nli", "fool_me_twice_dev", "q2", "qa_contexts_en", "qa_contexts_vi")  # fmt: skip  # noqa: E501
TYPICAL_WORDS = {"query": 15, "draft": 60, "passage": 120}


def main(data: Path) -> None:
    """Print the tables."""
    _queries(data / "dev" / "safety_queries.jsonl")
    texts = {name: _passages(_rows(data / "train" / f"{name}.jsonl")) for name in ORDINARY}
    _table("ordinary texts as drafts (false alarms)", texts.items(), lambda text: bool(find_dangers(text, "draft")))
    _injections(data / "dev" / "bipia.jsonl")
    _table("ordinary passages (false alarms)", texts.items(), lambda text: find_instruction(text) is not None)
    _times(texts)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def _passages(rows: Iterable[dict[str, Any]]) -> list[str]:
    contexts = (row["context"] for row in rows)
    found = (text for context in contexts for text in ([context] if isinstance(context, str) else _texts(context)))
    return list(dict.fromkeys(found))


def _texts(context: list[dict[str, str]]) -> list[str]:
    return [passage["text"] for passage in context]


def _queries(path: Path) -> None:
    by_source: dict[str, list[str]] = {}
    caught: Counter[tuple[str, str]] = Counter()
    for row in _rows(path):
        by_source.setdefault(f"{row['label']:<8}{row['source']} {row['lang']}", []).append(row["query"])
        if row["label"] == "unsafe":
            caught.update((row["source"], danger.category) for danger in find_dangers(Text(row["query"]), "query")[:1])
    _table("queries", by_source.items(), lambda text: bool(find_dangers(text, "query")))
    sources = sorted({source for source, _ in caught})
    print(f"\n{'flagged unsafe queries by category':<46}" + "".join(f"{source:>15}" for source in sources))
    for category in sorted({category for _, category in caught}):
        print(f"  {category:<44}" + "".join(f"{caught[source, category]:>15}" for source in sources))


def _injections(path: Path) -> None:
    by_label: dict[str, list[str]] = {}
    for row in _rows(path):
        by_label.setdefault(f"{row['label']:<8}bipia {row['task']}", []).append("\n\n".join(_texts(row["context"])))
    _table(
        "passages with (unsafe) and without injection",
        by_label.items(),
        lambda t: find_instruction(t) is not None,
    )


def _table(title: str, groups: Iterable[tuple[str, list[str]]], flags: Callable[[Text], bool]) -> None:
    print(f"\n{title:<46}{'n':>7}{'flagged':>9}{'share':>9}")
    for name, texts in groups:
        flagged = sum(flags(Text(text)) for text in texts)
        print(f"  {name:<44}{len(texts):>7}{flagged:>9}{flagged / max(len(texts), 1):>9.2%}")


def _times(texts: dict[str, list[str]]) -> None:
    print(f"\n{'time each, one core, warm (µs)':<46}{'n':>7}{'mean':>9}")
    checks: dict[str, Callable[[Text], object]] = {
        "query": lambda text: find_dangers(text, "query"),
        "draft": lambda text: find_dangers(text, "draft"),
        "passage": find_instruction,
    }
    for language in ("en", "vi"):
        for name, check in checks.items():
            words = TYPICAL_WORDS[name]
            cut = [Text(" ".join(text.split()[:words])) for text in texts[f"qa_contexts_{language}"]]
            best = min(_seconds(cut, check) for _ in range(5))
            print(f"  {f'{name} of {words} words, {language}':<44}{len(cut):>7}{best / len(cut) * 1e6:>9.1f}")


def _seconds(texts: list[Text], check: Callable[[Text], object]) -> float:
    started = time.process_time()
    for text in texts:
        check(text)
    return time.process_time() - started


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
