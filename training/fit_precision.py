"""Measures how often what is called supported is right, and writes it beside the model.

    python -m training.fit_precision                 prints the table
    python -m training.fit_precision --write         also writes it into the manifest

It runs the package as it is installed on documents that come in two worlds, and judges each claim in both: the model on
`training/written/held.jsonl`, on which nothing is trained, though the joining is fitted on it; the rules, which learn nothing from
written claims, also on the first documents of `train.jsonl`, since few claims are said word for word. Half a case of each kind is
added, so that few cases promise little, and a higher score of the model never promises less.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from stillme.evidence import Evidence
from stillme.grounding.cascade import CascadeGrounder
from stillme.grounding.grounder import ExactGrounder, Grounder, Judgement
from stillme.grounding.precision import standing
from stillme.models.bundle import WEIGHTS

WRITTEN: Final = Path(__file__).with_name("written")
TENTHS: Final = [n / 10 for n in range(11)]
Counts = dict[str, list[int]]


def judgements(document: dict[str, Any], grounder: Grounder, decider: str) -> Iterator[tuple[Judgement, bool]]:
    """What of a document's claims the decider calls supported in either world, and whether that is right."""
    texts = [claim["text"].replace("\n", " ") for claim in document["claims"]]
    starts = [sum(len(text) + 1 for text in texts[:n]) for n in range(len(texts))]
    first = document["context"], [claim["label"] for claim in document["claims"]]
    for sources, labels in (first, (document["world"]["context"], document["world"]["labels"])):
        task = Evidence.of(draft="\n".join(texts), passages=[source["text"] for source in sources]).grounding_task
        own = [max(n for n, start in enumerate(starts) if start <= claim.start) for claim in task.claims]
        for number, judged in zip(own, grounder.judge([task])[0], strict=True):
            if own.count(number) == 1 and judged.supported and judged.decided_by == decider:
                yield judged, labels[number] == "supported"


def counted(folder: Path, limit: int | None, of_train: int) -> Counts:
    """For each standing how many supported claims were wrong and right."""
    found: Counts = defaultdict(lambda: [0, 0])
    held, train = ((folder / f"{name}.jsonl").read_text("utf-8").splitlines() for name in ("held", "train"))
    tasks: list[tuple[str, Grounder, str]] = [(line, CascadeGrounder(), "model") for line in held[:limit]]
    tasks += [(line, ExactGrounder(), "exact") for line in held[:limit] + train[:of_train]]
    for number, (line, grounder, decider) in enumerate(tasks, 1):
        for judged, right in judgements(json.loads(line), grounder, decider):
            found[standing(judged)][right] += 1
        print(f"\r{number} of {len(tasks)} readings", end="", flush=True)
    print()
    return found


def table(found: Counts) -> dict[str, float]:
    """The share that is right by standing; of the model never falling with the score."""
    right = {name: (yes + 0.5) / (yes + no + 1) for name, (no, yes) in found.items()}
    for name in ("verbatim", "in order", "whole", "partial"):
        right.setdefault(name, 0.5)
    highest = 0.0
    for tenth in TENTHS:
        highest = max(highest, right.get(f"model {tenth}", 0.0))
        right[f"model {tenth}"] = highest or 0.5
    return {name: round(share, 3) for name, share in sorted(right.items())}


def main() -> None:
    """Count, tell, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--written", type=Path, default=WRITTEN, help="folder of documents in two worlds")
    parser.add_argument("--limit", type=int, help="only so many held-back documents")
    parser.add_argument("--of-train", type=int, default=400, help="so many further documents for the rules")
    parser.add_argument("--weights", type=Path, default=WEIGHTS, help="folder of the manifest")
    options = parser.parse_args()
    found = counted(options.written, options.limit, options.of_train)
    shares = table(found)
    for name, share in shares.items():
        no, yes = found.get(name, [0, 0])
        print(f"{name:12} right {yes} of {yes + no}: {share}")
    if options.write:
        path = options.weights / "manifest.json"
        manifest = json.loads(path.read_text("utf-8"))
        cases = {name: sum(counts) for name, counts in sorted(found.items())}
        manifest["precision"] = {"right": shares, "cases": cases}
        path.write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
