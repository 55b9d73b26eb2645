"""Fit probabilities and thresholds on held-out training documents.

python -m training.calibrate --model FOLDER --held-out FILE --out FILE
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
from training.batches import WINDOW_LIMIT
from training.evaluate import Calibration, chance_of_lacking, onnx_forward, reader_for
from training.examples import SUPPORTED, Example
from training.scoring import ClaimScore, Forward, Reader, best_readings, marked_spans, score_readings


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


def best_token_threshold(scores: Sequence[ClaimScore], sample: Sequence[Example]) -> float:
    """The token logit at which the character F1 over claims with known faults is highest."""
    known = [(s, e) for s, e in zip(scores, sample, strict=True) if e.spans]

    def f1(threshold: float) -> float:
        found = [marked_spans(score, threshold) for score, _ in known]
        return metrics.span_f1([example.spans or () for _, example in known], found)

    return max((float(t) for t in np.arange(-3.0, 3.01, 0.25)), key=f1) if known else 0.0


def scored(sample: Sequence[Example], forward: Forward, reader: Reader) -> list[ClaimScore]:
    """Each example's claim, whole, against the window that supports it most."""
    readings = [r for number, e in enumerate(sample) for r in reader.readings(number, e.claim, e.passages)]
    of_example: list[list[ClaimScore]] = [[] for _ in sample]
    for score in score_readings(forward, readings):
        of_example[score.place.answer].append(score)
    return [best_readings(scores)[0] for scores in of_example]


def is_synthetic(example: Example) -> bool:
    """Whether the claim was made by this recipe."""
    return example.dataset.startswith(("synthetic", "premises"))


def telling(sample: Sequence[Example]) -> list[int]:
    """Which examples tell how sure to be: those written by people, where a language has any."""
    natural = {example.lang for example in sample if not is_synthetic(example)}
    return [n for n, example in enumerate(sample) if example.lang not in natural or not is_synthetic(example)]


def fitted(sample: Sequence[Example], scores: Sequence[ClaimScore]) -> Calibration:
    """A curve for each language, and the thresholds."""
    curves = {}
    chosen = telling(sample)
    for lang in sorted({example.lang for example in sample}):
        of_lang = [n for n in chosen if sample[n].lang == lang]
        slope, offset = fit_logistic(
            [scores[n].margin for n in of_lang], [sample[n].label != SUPPORTED for n in of_lang]
        )
        curves[lang] = {"slope": round(slope, 4), "offset": round(offset, 4)}
    tokens = best_token_threshold([scores[n] for n in chosen], [sample[n] for n in chosen])
    return {"languages": curves, "threshold": 0.5, "token_threshold": tokens}


def main() -> None:
    """Write the calibration beside the model and print the held-out figures of each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder of the exported files")
    parser.add_argument("--held-out", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--each", type=int, default=75)
    parser.add_argument("--limit", type=int, default=WINDOW_LIMIT)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()

    sample = balanced_sample(list(examples.read(options.held_out)), options.each)
    reader = reader_for(options.model, options.limit)
    reader.split_claims = False
    scores = scored(sample, onnx_forward(options.model, options.threads), reader)
    calibration = fitted(sample, scores)
    options.out.write_text(json.dumps(calibration, indent=2) + "\n")
    print(json.dumps(calibration))
    _print_sets(sample, scores, calibration)


def _print_sets(sample: Sequence[Example], found: Sequence[ClaimScore], calibration: Calibration) -> None:
    lacking = [example.label != SUPPORTED for example in sample]
    chances = [chance_of_lacking(s.margin, e.lang, calibration) for s, e in zip(found, sample, strict=True)]
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
