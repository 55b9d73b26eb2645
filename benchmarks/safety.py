"""What EthicsAdapter's built-in guard and ContextInstructions find: `python benchmarks/safety.py DATA_DIR`.

DATA_DIR holds `train/` and `dev/` of JSON lines. Tables: queries by their source; ordinary texts read as drafts, where
every flag is a false alarm; passages with and without a foreign instruction; ordinary passages, likewise; time each.
With `--json FILE` the counts are written as a run record, from which the tables of the docs are generated.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from stillme.conduct.instructions import find_instruction
from stillme.conduct.safety import find_dangers
from stillme.text.tokens import Text
from stillme.version import __version__

# Texts that were written to inform: news, encyclopaedias, answers about them.
ORDINARY = ("xsum_faith", "defacto", "factcg_cg2c", "factcheck_bench", "fever_nli", "fool_me_twice_dev", "q2", "qa_contexts_en", "qa_contexts_vi")  # fmt: skip  # noqa: E501
TYPICAL_WORDS = {"query": 15, "draft": 60, "passage": 120}


Counts = dict[str, list[int]]


def main(data: Path, record: Path | None) -> None:
    """Print the tables, and write the record if a file is named."""
    files = [data / "dev" / "safety_queries.jsonl", data / "dev" / "bipia.jsonl"]
    files += [data / "train" / f"{name}.jsonl" for name in ORDINARY]
    texts = {path.stem: _passages(_rows(path)) for path in files[2:]}
    tables = {
        "queries": _queries(files[0]),
        "drafts": _table("ordinary texts as drafts (false alarms)", texts.items(), _dangerous_draft),
        "injections": _injections(files[1]),
        "passages": _table("ordinary passages (false alarms)", texts.items(), _instructs),
    }
    _times(texts)
    if record is not None:
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
        body = {"version": __version__, "data_sha256": digest, "tables": tables}
        record.write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _dangerous_draft(text: Text) -> bool:
    return bool(find_dangers(text, "draft"))


def _instructs(text: Text) -> bool:
    return find_instruction(text) is not None


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def _passages(rows: Iterable[dict[str, Any]]) -> list[str]:
    contexts = (row["context"] for row in rows)
    found = (text for context in contexts for text in ([context] if isinstance(context, str) else _texts(context)))
    return list(dict.fromkeys(found))


def _texts(context: list[dict[str, str]]) -> list[str]:
    return [passage["text"] for passage in context]


def _queries(path: Path) -> Counts:
    by_source: dict[str, list[str]] = {}
    caught: Counter[tuple[str, str]] = Counter()
    for row in _rows(path):
        by_source.setdefault(f"{row['label']:<8}{row['source']} {row['lang']}", []).append(row["query"])
        if row["label"] == "unsafe":
            caught.update((row["source"], danger.category) for danger in find_dangers(Text(row["query"]), "query")[:1])
    counts = _table("queries", by_source.items(), lambda text: bool(find_dangers(text, "query")))
    sources = sorted({source for source, _ in caught})
    print(f"\n{'flagged unsafe queries by category':<46}" + "".join(f"{source:>15}" for source in sources))
    for category in sorted({category for _, category in caught}):
        print(f"  {category:<44}" + "".join(f"{caught[source, category]:>15}" for source in sources))
    return counts


def _injections(path: Path) -> Counts:
    by_label: dict[str, list[str]] = {}
    for row in _rows(path):
        by_label.setdefault(f"{row['label']:<8}bipia {row['task']}", []).append("\n\n".join(_texts(row["context"])))
    return _table("passages with (unsafe) and without injection", by_label.items(), _instructs)


def _table(title: str, groups: Iterable[tuple[str, list[str]]], flags: Callable[[Text], bool]) -> Counts:
    """Print how many of each group are flagged, and return it as [n, flagged] by group."""
    counts: Counts = {}
    print(f"\n{title:<46}{'n':>7}{'flagged':>9}{'share':>9}")
    for name, texts in groups:
        flagged = sum(flags(Text(text)) for text in texts)
        counts[" ".join(name.split())] = [len(texts), flagged]
        print(f"  {name:<44}{len(texts):>7}{flagged:>9}{flagged / max(len(texts), 1):>9.2%}")
    return counts


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
    options = argparse.ArgumentParser(description="What the safety guard and the instruction detector find.")
    options.add_argument("data", type=Path)
    options.add_argument("--json", type=Path, metavar="FILE", help="write the counts as a run record")
    given = options.parse_args()
    main(given.data, given.json)
