"""How well conduct is judged on wordings that nothing was trained on: `python benchmarks/conduct.py DATA_DIR [--json FILE]`.

Three tables, each with the rules alone and with the classifiers joined, as the validators join them: the texts held back in
`training/conduct/held` by class and language; the queries of `DATA_DIR/dev/safety_queries.jsonl` by source; ordinary passages of
`DATA_DIR/train` read as drafts, where every flag is a false alarm. Last, the time of a typical request with and without classifiers.
With `--json FILE` the counts are written as a run record, from which the tables of the docs are generated.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the training texts are no part of the package

from training.fit_conduct import TEXTS, read

from stillme import Guard
from stillme.contract import VerifyRequest
from stillme.evidence import NO_TIME, Evidence
from stillme.models.bundle import manifest
from stillme.models.conduct import CLASSES, FILE
from stillme.models.embedding import embed
from stillme.validators import (
    EgoNeutralityValidator,
    EthicsAdapter,
    IdentityCheckValidator,
    ReligiousChoiceValidator,
)
from stillme.validators.base import Finding, Observer
from stillme.version import __version__

ORDINARY = ("xsum_faith", "factcheck_bench", "q2", "qa_contexts_en", "qa_contexts_vi")
PASSAGES = 60
JUDGES: dict[str, tuple[Observer, str]] = {
    "asked": (EthicsAdapter(target="query"), "policy_block_unsafe_content"),
    "given": (EthicsAdapter(), "policy_block_unsafe_content"),
    "person": (EgoNeutralityValidator(), "policy_block_anthropomorphic_roleplay"),
    "choice": (ReligiousChoiceValidator(), "policy_block_religious_choice"),
    "sell": (IdentityCheckValidator(), "identity_promotional_tone"),
}
REQUEST = {
    "query": "How long can I return unused gear, and who pays the postage?",
    "draft_answer": "Unused gear can be returned within 30 days of delivery [1]. You pay the return postage yourself [1]. "
    "Gift cards are not refundable, but they never expire [1]. I hope this helps!",
    "retrieved_context": [
        {
            "source_id": "returns",
            "text": "Larkfield Outdoor accepts returns of unused gear within 30 days of delivery. The customer pays the return "
            "postage. Gift cards are not refundable, but they never expire.",
        }
    ],
}
ROUNDS = 40


def flags(name: str, text: str, *, classifiers: bool) -> bool:
    """Whether the validator of a class flags the text, as a question or as a draft."""
    judge, reason = JUDGES[name]
    given = {"query": text} if name == "asked" else {"query": "?", "draft_answer": text}
    found = judge.run(Evidence(VerifyRequest(**given), NO_TIME, embed=embed if classifiers else None))
    return any(
        f.outcome == "flagged" and f.reason == reason for f in ([found] if isinstance(found, Finding) else found)
    )


def both(name: str, texts: Iterable[str]) -> list[int]:
    """How many texts there are, how many the rules flag, and how many rules and classifiers flag."""
    listed = list(texts)
    return [len(listed), *(sum(flags(name, text, classifiers=on) for text in listed) for on in (False, True))]


def held() -> dict[str, dict[str, list[int]]]:
    """By class and language, of the positives and of the near misses: n, flagged by rules, flagged by both."""
    examples = read(TEXTS / "held")
    found: dict[str, dict[str, list[int]]] = {}
    for name in CLASSES:
        for lang in ("en", "vi"):
            own = [e for e in examples if e.part == name and e.lang == lang]
            found[f"{name} {lang}"] = {
                "positives": both(name, (e.text for e in own if e.label)),
                "near misses": both(name, (e.text for e in own if not e.label)),
            }
    return found


def queries(path: Path) -> dict[str, list[int]]:
    """By label, source and language: n, flagged by rules, flagged by both."""
    by_source: dict[str, list[str]] = {}
    for row in _rows(path):
        by_source.setdefault(f"{row['label']} {row['source']} {row['lang']}", []).append(row["query"])
    return {source: both("asked", texts) for source, texts in by_source.items()}


def ordinary(folder: Path) -> dict[str, list[int]]:
    """Passages of news and encyclopaedias as drafts, by class: n, flagged by rules, flagged by both."""
    texts = [text for name in ORDINARY for text in _passages(folder / f"{name}.jsonl")]
    return {name: both(name, texts) for name in CLASSES if name != "asked"}


def times() -> dict[str, float]:
    """The median of `verify` on a typical request that is new each time, in milliseconds."""
    classifying = Guard()
    # Both serve with the grounding model; the first has no validator that would ask a classifier.
    names = ("EthicsAdapter", "EgoNeutralityValidator", "IdentityCheckValidator", "ReligiousChoiceValidator")
    without = Guard({"validators": {name: {"enabled": False} for name in names}})
    taken: dict[str, list[float]] = {"without the conduct validators": [], "with them": []}
    for n in range(ROUNDS):
        for (name, found), guard in zip(taken.items(), (without, classifying), strict=True):
            text = f"{REQUEST['draft_answer']} Your case number is {name} {n}."
            request = {**REQUEST, "query": f"{REQUEST['query']} ({name}, case {n})", "draft_answer": text}
            started = time.perf_counter()
            guard.verify(request)
            found.append((time.perf_counter() - started) * 1000)
    return {name: round(statistics.median(found[3:]), 1) for name, found in taken.items()}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def _passages(path: Path) -> list[str]:
    contexts = (row["context"] for row in _rows(path))
    texts = (t for c in contexts for t in ([c] if isinstance(c, str) else [p["text"] for p in c]))
    return list(dict.fromkeys(texts))[:PASSAGES]


def main(data: Path, record: Path | None) -> None:
    """Print the tables, and write the record if a file is named."""
    path = data / "dev" / "safety_queries.jsonl"
    made: dict[str, Callable[[], Any]] = {
        "held": held,
        "queries": lambda: queries(path),
        "ordinary": lambda: ordinary(data / "train"),
        "ms": times,
    }
    tables = {}
    for name, make in made.items():
        tables[name] = make()
        print(f"{name}:")
        for row, counts in tables[name].items():
            print(f"  {row:<32} {counts}")
    if record is not None:
        files = [path, *(data / "train" / f"{name}.jsonl" for name in ORDINARY)]
        digest = hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()
        body = {"version": __version__, "data_sha256": digest, "model_sha256": manifest()["files"][FILE], **tables}
        record.write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="How well conduct is judged on unseen wordings.")
    options.add_argument("data", type=Path)
    options.add_argument("--json", type=Path, metavar="FILE", help="write the counts as a run record")
    chosen = options.parse_args()
    main(chosen.data, chosen.json)
