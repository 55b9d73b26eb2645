"""Fits the curve from shared content to similarity (src/stillme/evidence/rules/similarity.yaml).

    python training/fit_similarity.py DATA_DIR            prints the curve
    python training/fit_similarity.py DATA_DIR --write    also writes similarity.yaml

Each question of `qa_contexts_{en,vi}.jsonl` is paired with its own passage, with another passage of the same article and with one
of another article. The similarity of a share is the probability that a passage with that share is the question's own, when own,
sibling and foreign passages are equally frequent; it is made to rise, and to end at 0.02 and 0.97.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

from stillme.contract import RetrievedPassage
from stillme.evidence import similarity
from stillme.evidence.language import identify
from stillme.evidence.passage import Passage
from stillme.evidence.text import Text

KNOTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MOST = 1500


def shares(folder: Path) -> list[tuple[float, bool]]:
    """For each question and passage the share of the question that the passage speaks of, and whether it is its own."""
    found: list[tuple[float, bool]] = []
    for language in ("en", "vi"):
        rows = [json.loads(line) for line in (folder / f"qa_contexts_{language}.jsonl").open(encoding="utf-8")]
        rng = random.Random(language)
        siblings = defaultdict(list)
        for row in rows:
            siblings[row["title"]].append(row["context"])
        everything = sorted({row["context"] for row in rows})
        for row in rng.sample(rows, min(MOST, len(rows))):
            query = Text(row["question"])
            terms = similarity.query_terms(query, identify(query))
            near = [c for c in siblings[row["title"]] if c != row["context"]]
            others = [rng.choice(near)] if near else []
            others.append(rng.choice([c for c in rng.sample(everything, 3) if c != row["context"]]))
            for context, own in [(row["context"], True), *((c, False) for c in others)]:
                passage = Passage(1, RetrievedPassage(source_id="a", text=context))
                if terms:
                    found.append((similarity.share(query, terms, passage), own))
    return found


def curve(found: list[tuple[float, bool]]) -> list[tuple[float, float]]:
    """The probability at each knot, from the pairs around it, made to rise."""
    points: list[tuple[float, float]] = []
    for knot in KNOTS:
        near = [own for value, own in found if abs(value - knot) <= 0.06]
        points.append((knot, sum(near) / len(near) if near else 0.0))
    for k, _ in enumerate(points):
        points[k] = (points[k][0], max(p for _, p in points[: k + 1]))
    inner = [(x, round(min(0.95, max(0.03, y)), 2)) for x, y in points[1:-1]]
    rising = [(0.0, 0.02), *inner, (1.0, 0.97)]
    return [
        (x, max(y, previous + 0.01)) if k else (x, y)
        for k, ((_, previous), (x, y)) in enumerate(pairwise([(0, 0.0), *rising]))
    ]


def main() -> None:
    """Fit, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    found = shares(options.folder)
    points = [(x, round(y, 2)) for x, y in curve(found)]
    for x, y in points:
        print(f"{x:.1f}  {y:.2f}")
    for least in (0.45, 0.5, 0.7):
        hits = [own for value, own in found if similarity.curve(value, points) >= least]
        owns = sum(own for _, own in found)
        print(
            f"at {least}: own passages kept {sum(hits) / owns:.3f}, others kept {(len(hits) - sum(hits)) / (len(found) - owns):.3f}"
        )
    if options.write:
        target = Path(similarity.__file__).with_name("rules") / "similarity.yaml"
        lines = [
            "# Share of the question that a passage speaks of (left) and the similarity it is worth (right); linear between.",
            f"# Fitted by training/fit_similarity.py on {len(found)} pairs of question and passage.",
            "curve:",
            *(f"  - [{x}, {y}]" for x, y in points),
        ]
        target.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
