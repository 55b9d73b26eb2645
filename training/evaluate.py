"""Measure a checkpoint or an exported model on sets in the common grounding form.

python -m training.evaluate --model FILE --vocabulary FOLDER --sets FILE [FILE ...] [--sample 100]
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from training import metrics
from training.examples import Row, rows
from training.scoring import AnswerScore, Forward, PairMaker, combine, score_pairs, torch_forward
from training.train import load_model
from training.vocabulary import load_vocabulary


def onnx_forward(path: Path, threads: int) -> Forward:
    """The forward pass of an exported model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def forward(ids: Any, kinds: Any, mask: Any) -> Any:
        return tuple(session.run(None, {"ids": ids, "kinds": kinds, "mask": mask}))

    return forward


def forward_of(path: Path, threads: int) -> Forward:
    """The forward pass of a checkpoint (.pt) or an exported model (.onnx)."""
    if path.suffix == ".onnx":
        return onnx_forward(path, threads)
    torch.set_num_threads(threads)
    return torch_forward(load_model(path))


def sampled(found: list[Row], size: int) -> list[Row]:
    """At most `size` rows, the same ones each time; all when `size` is 0."""
    if not size or len(found) <= size:
        return found
    return random.Random(5).sample(found, size)


def figures(found: Sequence[Row], answers: Sequence[AnswerScore], calibration: dict[str, float]) -> dict[str, float]:
    """The figures of one set; the positive class is unsupported."""
    positive = [row["label"] == "unsupported" for row in found]
    scores = [
        1 / (1 + math.exp(np.clip(calibration["slope"] * a.margin + calibration["offset"], -30, 30))) for a in answers
    ]
    predicted = [score >= calibration["threshold"] for score in scores]
    best = metrics.best_threshold(positive, scores)
    precision, recall, f1 = metrics.precision_recall_f1(positive, predicted)
    result = {
        "rows": len(found),
        "balanced_accuracy": metrics.balanced_accuracy(positive, predicted),
        "balanced_accuracy_best": metrics.balanced_accuracy(positive, [s >= best for s in scores]),
        "best_threshold": best,
        "auc": metrics.roc_auc(positive, scores),
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "calibration_error": metrics.calibration_error(positive, scores),
    }
    if found[0]["spans"] is not None:
        result["span_f1"] = metrics.span_f1([row["spans"] for row in found], [a.spans for a in answers])
    return result


def evaluate_set(
    path: Path, forward: Forward, maker: PairMaker, sample: int, calibration: dict[str, float]
) -> dict[str, float]:
    """Score a set and return its figures, with the milliseconds an example takes."""
    found = sampled(list(rows(path)), sample)
    began = time.perf_counter()
    pairs = [
        pair
        for number, row in enumerate(found)
        for pair in maker.pairs(number, row["answer"], [part["text"] for part in row["context"]])
    ]
    scored = score_pairs(forward, pairs)
    of_row: list[list[Any]] = [[] for _ in found]
    for score in scored:
        of_row[score.pair.answer].append(score)
    margin = (math.log(1 / calibration["threshold"] - 1) - calibration["offset"]) / calibration["slope"]
    answers = [combine(scores, margin, calibration["token_threshold"]) for scores in of_row]
    result = figures(found, answers, calibration)
    result["ms"] = 1000 * (time.perf_counter() - began) / len(found)
    result["pairs"] = len(pairs) / len(found)
    return result


PLAIN = {"slope": 1.0, "offset": 0.0, "threshold": 0.5, "token_threshold": 0.0}


def main() -> None:
    """Print one line of figures a set, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a checkpoint or an ONNX file")
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--sets", type=Path, nargs="+", required=True)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--limit", type=int, default=256)
    parser.add_argument("--gathered-only", action="store_true", help="read only the gathered window")
    parser.add_argument("--whole-answers", action="store_true", help="do not split answers")
    parser.add_argument("--calibration", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()

    calibration = json.loads(options.calibration.read_text()) if options.calibration else PLAIN
    tokenizer, _ = load_vocabulary(options.vocabulary)
    maker = PairMaker(
        tokenizer, options.limit, all_windows=not options.gathered_only, split_claims=not options.whole_answers
    )
    forward = forward_of(options.model, options.threads)
    results = {}
    for path in options.sets:
        results[path.stem] = evaluate_set(path, forward, maker, options.sample, calibration)
        shown = " ".join(f"{name}={value:.3f}" for name, value in results[path.stem].items())
        print(f"{path.stem:22} {shown}", flush=True)
    if options.out:
        options.out.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
