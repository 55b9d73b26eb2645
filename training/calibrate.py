"""Fit probabilities and thresholds on held-out training documents.

python -m training.calibrate --model FILE --vocabulary FOLDER --held-out FILE --out FILE
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from training import examples, metrics
from training.evaluate import forward_of
from training.examples import SUPPORTED, Example
from training.scoring import PairMaker, PairScore, score_pairs
from training.vocabulary import load_vocabulary


def balanced_sample(found: Sequence[Example], each: int, seed: int = 7) -> list[Example]:
    """Of every set up to `each` examples of each of the two sides."""
    pools: dict[tuple[str, bool], list[Example]] = defaultdict(list)
    for example in found:
        pools[example.dataset, example.label == SUPPORTED].append(example)
    chance = random.Random(seed)
    sample: list[Example] = []
    for key in sorted(pools):
        sample += chance.sample(pools[key], min(each, len(pools[key])))
    return sample


def fit_logistic(margins: Sequence[float], lacking: Sequence[bool], steps: int = 200) -> tuple[float, float]:
    """Slope and offset such that 1 / (1 + exp(slope * margin + offset)) is the chance of lacking support.

    Both sides weigh the same, so that the sample's balance does not move the middle.
    """
    x, y = np.asarray(margins, float), np.asarray(lacking, float)
    weights = np.where(y == 1, 0.5 / max(y.sum(), 1), 0.5 / max((1 - y).sum(), 1))
    design = np.stack([x, np.ones_like(x)], axis=1)
    beta = np.array([1.0, 0.0])
    for _ in range(steps):
        supported = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        slope = design.T @ (weights * ((1 - y) - supported))
        curve = (design * (weights * supported * (1 - supported))[:, None]).T @ design
        move = np.linalg.solve(curve + 1e-6 * np.eye(2), slope)
        beta += move
        if np.abs(move).max() < 1e-9:
            break
    return float(beta[0]), float(beta[1])


def best_token_threshold(scores: Sequence[PairScore], sample: Sequence[Example]) -> float:
    """The token logit at which the character F1 over claims with known faults is highest."""
    known = [(s, e) for s, e in zip(scores, sample, strict=True) if e.spans]

    def f1(threshold: float) -> float:
        found = [[o for o, t in zip(s.pair.offsets, s.tokens, strict=True) if t > threshold] for s, _ in known]
        return metrics.span_f1([e.spans or () for _, e in known], found)

    return max((float(t) for t in np.arange(-3.0, 3.01, 0.25)), key=f1) if known else 0.0


def main() -> None:
    """Write the calibration beside the model and print the held-out figures of each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--held-out", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--each", type=int, default=75)
    parser.add_argument("--limit", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()

    tokenizer, _ = load_vocabulary(options.vocabulary)
    sample = balanced_sample(list(examples.read(options.held_out)), options.each)
    maker = PairMaker(tokenizer, options.limit, all_windows=False, split_claims=False)
    pairs = [pair for n, e in enumerate(sample) for pair in maker.pairs(n, e.claim, e.passages)]
    scores = score_pairs(forward_of(options.model, options.threads), pairs)
    margins = [score.margin for score in scores]
    lacking = [example.label != SUPPORTED for example in sample]
    slope, offset = fit_logistic(margins, lacking)
    calibration = {
        "slope": slope, "offset": offset, "threshold": 0.5,
        "token_threshold": best_token_threshold(scores, sample),
    }  # fmt: skip
    options.out.write_text(json.dumps(calibration, indent=2) + "\n")
    print(json.dumps(calibration))
    _print_sets(sample, margins, lacking, slope, offset)


def _print_sets(
    sample: Sequence[Example], margins: Sequence[float], lacking: Sequence[bool], slope: float, offset: float
) -> None:
    chances = [float(1 / (1 + np.exp(np.clip(slope * m + offset, -30, 30)))) for m in margins]
    for name in [*sorted({e.dataset for e in sample}), ""]:
        chosen = [i for i, e in enumerate(sample) if name in ("", e.dataset)]
        truth, scores = [lacking[i] for i in chosen], [chances[i] for i in chosen]
        print(
            f"{name or 'all':20} rows={len(chosen)} auc={metrics.roc_auc(truth, scores):.3f} "
            f"balanced_accuracy={metrics.balanced_accuracy(truth, [s >= 0.5 for s in scores]):.3f} "
            f"calibration_error={metrics.calibration_error(truth, scores):.3f}"
        )


if __name__ == "__main__":
    main()
