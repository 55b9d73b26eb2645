"""Chooses from which chance on a question counts as not answered or as open, and writes it beside the model.

    python -m training.fit_questions                 prints the figures
    python -m training.fit_questions --write         also writes them into the manifest

It runs the package as it is installed on the questions of `training/written/held.jsonl`, on which nothing is trained: the lowest
thresholds at which no more answerable questions are taken for either than `--clear` allows. The figures of `worlds.jsonl`, on which
nothing is chosen, are printed beside them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stillme.evidence import Evidence
from stillme.grounding.question_reading import QuestionReading, read_question
from stillme.models.bundle import WEIGHTS
from training.written_data import FILES, documents

ANSWERABLE, UNANSWERABLE, AMBIGUOUS = "answerable", "unanswerable", "ambiguous"
Read = tuple[str, QuestionReading]


def read_all(path: Path) -> list[Read]:
    """What the installed package makes of each question of a file, with its label."""
    found = []
    for document in documents(path):
        for question in document["questions"]:
            texts = [source["text"] for source in document["context"]]
            evidence = Evidence.of(query=question["query"], passages=texts)
            read = read_question(evidence.query, evidence.query_language, evidence.grounding_task.library)
            if read is not None:
                found.append((question["label"], read))
    return found


def threshold(clear: Sequence[float], share: float) -> float:
    """The lowest threshold, to two decimals, that no more than a share of the clear ones reach."""
    tried = (round(0.01 * n, 2) for n in range(30, 100))
    return next((at for at in tried if sum(value >= at for value in clear) <= share * len(clear)), 1.0)


def chosen(rows: Sequence[Read], share: float) -> dict[str, float]:
    """Both thresholds."""
    clear = [read for label, read in rows if label == ANSWERABLE]
    return {
        "unanswered_at": threshold([read.unanswered for read in clear], share),
        "open_at": threshold([read.open for read in clear], share),
    }


def shares(rows: Sequence[Read], found: dict[str, float]) -> dict[str, float]:
    """Of each kind of question the share that is refused or asked back, in per cent."""

    def share(label: str, *hits: str) -> float:
        own = [read for each, read in rows if each == label]
        seen = [
            ("unanswered" in hits and read.unanswered >= found["unanswered_at"])
            or ("open" in hits and read.open >= found["open_at"])
            for read in own
        ]
        return round(100 * sum(seen) / max(1, len(own)), 1)

    return {
        "answerable refused": share(ANSWERABLE, "unanswered"),
        "answerable asked back": share(ANSWERABLE, "open"),
        "unanswerable refused": share(UNANSWERABLE, "unanswered"),
        "ambiguous asked back": share(AMBIGUOUS, "open"),
        "unanswerable held": share(UNANSWERABLE, "unanswered", "open"),
        "ambiguous held": share(AMBIGUOUS, "unanswered", "open"),
    }


def main() -> None:
    """Choose, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--clear", type=float, default=0.04, help="share of answerable questions that may be taken for either"
    )
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    held = read_all(FILES["held"])
    found = chosen(held, options.clear)
    figures: dict[str, Any] = {"held": shares(held, found), "dev": shares(read_all(FILES["dev"]), found)}
    print(json.dumps({"thresholds": found, **figures}, indent=2))
    if options.write:
        path = WEIGHTS / "manifest.json"
        manifest = json.loads(path.read_text("utf-8"))
        manifest["questions"] = found
        path.write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
