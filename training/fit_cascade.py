"""Fits how exact features and model are joined, on held-out training claims, and writes it beside the model.

    python -m training.fit_cascade --held-out WORK/held_out.jsonl            prints the figures
    python -m training.fit_cascade --held-out WORK/held_out.jsonl --write    also writes them into the manifest

It runs the package as it is installed: what is fitted is what is shipped. Every set counts the same, and within a set both sides do, so
that neither the size nor the balance of a set moves the middle. Only claims written by people count: made ones are easier than life.
Claims that exact features refute tell nothing of the model and are left out; from which score on they settle a claim is read off the
same claims.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stillme.evidence.cascade import LEAST_EXACT, CascadeGrounder, Joining, is_refuted, joining
from stillme.evidence.evidence import Evidence
from stillme.models.bundle import WEIGHTS
from training import examples, metrics
from training.examples import SUPPORTED, Example

SETTLED_PRECISION = 0.8
LEAST_SETTLED = 40
EXACT_WEIGHTS = [round(0.05 * n, 2) for n in range(2, 21)]
ABOUT_EQUAL = 0.01
SYNTHETIC = ("synthetic", "premises")


@dataclass(frozen=True, slots=True)
class Point:
    """A held-out claim: what exact features and the model say of it, and whether it is supported."""

    dataset: str
    lang: str
    exact: float
    settled: bool
    """Refuted by a figure: the model is not asked."""
    margin: float
    supported: bool
    lacking: tuple[tuple[int, int], ...] | None
    tokens: tuple[tuple[tuple[int, int], float], ...]


def sample(path: Path, each: int, seed: int = 7) -> list[Example]:
    """Of every set up to `each` examples of each side, the same ones each time."""
    pools: dict[tuple[str, str, bool], list[Example]] = defaultdict(list)
    for example in examples.read(path):
        pools[example.dataset, example.lang, example.label == SUPPORTED].append(example)
    chance = random.Random(seed)
    return [e for key in sorted(pools) for e in chance.sample(pools[key], min(each, len(pools[key])))]


def points(found: Sequence[Example]) -> Iterator[Point]:
    """What the installed package sees of each example; an example of several sentences counts by its weakest one."""
    grounder = CascadeGrounder(exact_first=False)
    for example in found:
        evidence = Evidence.of(draft=example.claim, passages=example.passages)
        read = grounder.readings(evidence.grounding_task)
        if read:
            weakest = min(read, key=lambda r: (not is_refuted(r.exact), r.margin))
            yield Point(
                example.dataset, example.lang, weakest.exact.score, is_refuted(weakest.exact),
                weakest.margin, example.label == SUPPORTED, example.spans, tuple(t for r in read for t in r.tokens),
            )  # fmt: skip


def weights(rows: Sequence[Point]) -> Any:
    """Each set, and within it each side, weighs the same."""
    count: dict[tuple[str, str, bool], int] = defaultdict(int)
    for row in rows:
        count[row.dataset, row.lang, row.supported] += 1
    given = np.array([1 / count[row.dataset, row.lang, row.supported] for row in rows])
    return given / given.sum()


def fit(rows: Sequence[Point]) -> tuple[float, float, float]:
    """Weights of the exact score and of the margin, and the bias.

    The margin's weight and the bias are those of a logistic regression. Of the exact score's weights that tell the two sides apart about
    equally well, the highest is taken: what exact features say can be shown to a person.
    """
    tried = {weight: _fit_rest(rows, weight) for weight in EXACT_WEIGHTS}
    right = {weight: _balanced(rows, Joining(weight, *rest, 1.0, 0.0)) for weight, rest in tried.items()}
    chosen = max(weight for weight in tried if right[weight] >= max(right.values()) - ABOUT_EQUAL)
    return chosen, *tried[chosen]


def _fit_rest(rows: Sequence[Point], weight: float) -> tuple[float, float]:
    exact = np.clip([row.exact for row in rows], LEAST_EXACT, 1 - LEAST_EXACT)
    given = weight * np.log(exact / (1 - exact))
    design = np.stack([[row.margin for row in rows], np.ones(len(rows))], axis=1)
    truth, share = np.array([float(row.supported) for row in rows]), weights(rows)
    beta = np.zeros(2)
    for _ in range(100):
        chance = 1 / (1 + np.exp(-np.clip(given + design @ beta, -30, 30)))
        slope = design.T @ (share * (truth - chance)) - 1e-4 * beta
        curve = (design * (share * chance * (1 - chance))[:, None]).T @ design + 1e-4 * np.eye(2)
        beta += np.linalg.solve(curve, slope)
    return float(max(beta[0], 0.0)), float(beta[1])


def _balanced(rows: Sequence[Point], joined: Joining) -> float:
    """The share that is told right, every set and both sides counting the same."""
    share = weights(rows)
    return float(sum(
        part for part, row in zip(share, rows, strict=True)
        if (joined.probability(row.exact, row.margin) >= joined.support_at) is row.supported
    ))  # fmt: skip


def settled(rows: Sequence[Point]) -> tuple[float, float]:
    """From which exact score on claims are supported, and down from which they are not, as surely as is asked for."""
    share = weights(rows)

    def first(scores: Sequence[float], wanted: bool, falling: bool, default: float) -> float:
        for at in sorted(set(scores), reverse=not falling):
            chosen = [n for n, row in enumerate(rows) if (row.exact <= at if not falling else row.exact >= at)]
            good = sum(share[n] for n in chosen if rows[n].supported is wanted)
            if len(chosen) >= LEAST_SETTLED and good >= SETTLED_PRECISION * sum(share[n] for n in chosen):
                return at
        return default

    scores = [row.exact for row in rows]
    return first(scores, wanted=True, falling=True, default=1.0), first(
        scores, wanted=False, falling=False, default=0.0
    )


def token_threshold(rows: Sequence[Point]) -> float:
    """The token logit at which the characters that lack support are found best."""
    known = [row for row in rows if row.lacking and not row.supported]

    def f1(at: float) -> float:
        marked = [[span for span, lacks in row.tokens if lacks > at] for row in known]
        return metrics.span_f1([row.lacking or () for row in known], marked)

    return max((float(at) for at in np.arange(-3.0, 3.01, 0.25)), key=f1) if known else 0.0


def fitted(rows: Sequence[Point]) -> Joining:
    """Everything that the cascade needs to know."""
    natural = [row for row in rows if not row.dataset.startswith(SYNTHETIC) and not row.settled]
    exact, margin, bias = (round(value, 4) for value in fit(natural))
    above, below = settled(natural)
    return Joining(exact, margin, bias, above, below, 0.5, token_threshold(rows))


def report(rows: Sequence[Point], found: Joining) -> None:
    """Held-out figures of each set."""
    print(found)
    for name in sorted({(row.dataset, row.lang) for row in rows}):
        chosen = [row for row in rows if (row.dataset, row.lang) == name]
        lacking = [not row.supported for row in chosen]
        scores = [1 - (0.0 if r.settled else found.probability(r.exact, r.margin)) for r in chosen]
        by = {
            "exact": [1 - row.exact for row in chosen],
            "model": [-row.margin for row in chosen],
            "joined": scores,
        }
        aucs = " ".join(f"{key} {metrics.roc_auc(lacking, values):.3f}" for key, values in by.items())
        right = metrics.balanced_accuracy(lacking, [s > 0.5 for s in scores])
        print(f"{'/'.join(name):22} rows {len(chosen):4} auc: {aucs}  balanced accuracy {right:.3f}")


def read(options: argparse.Namespace) -> list[Point]:
    """What was read before, or is now."""
    if not options.points.exists():
        found = list(points(sample(options.held_out, options.each)))
        options.points.write_text(json.dumps([asdict(row) for row in found]), "utf-8")
    return [Point(**row) for row in json.loads(options.points.read_text("utf-8"))]


def main() -> None:
    """Fit, report, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", type=Path, required=True)
    parser.add_argument("--each", type=int, default=60)
    parser.add_argument("--points", type=Path, help="keep what was read, to fit again without reading")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()

    rows = read(options) if options.points else list(points(sample(options.held_out, options.each)))
    found = fitted(rows)
    report(rows, found)
    print("shipped:", joining())
    if options.write:
        path = WEIGHTS / "manifest.json"
        manifest = json.loads(path.read_text("utf-8"))
        manifest["grounding"] = {name: getattr(found, name) for name in Joining.__slots__}
        path.write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
