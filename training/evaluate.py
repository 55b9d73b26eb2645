"""Measure an exported model on sets in the common grounding form.

python -m training.evaluate --model FOLDER --calibration FILE --sets FILE [FILE ...] [--sample 100]
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
from tokenizers import Tokenizer

from training import metrics
from training.batches import WINDOW_LIMIT, Batch, TextEncoder
from training.examples import Row, rows
from training.export import GROUNDING, TABLE, TOKENIZER
from training.scoring import AnswerScore, ClaimScore, Forward, Reader, combine, score_readings

Calibration = dict[str, Any]
PLAIN: Calibration = {"languages": {"en": {"slope": 1.0, "offset": 0.0}, "vi": {"slope": 1.0, "offset": 0.0}},
                      "threshold": 0.5, "token_threshold": 0.0}  # fmt: skip


def onnx_forward(folder: Path, threads: int) -> Forward:
    """The forward pass of an exported model over a batch."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(folder / GROUNDING), options, providers=["CPUExecutionProvider"])
    table = np.load(folder / TABLE)
    values, scales = table["values"], table["scales"]

    def forward(batch: Batch) -> Any:
        ids = batch.ids.numpy()
        given = {name: getattr(batch, name).numpy() for name in
                 ("positions", "segments", "groups", "claim_tokens", "claim_starts")}  # fmt: skip
        given["embeddings"] = values[ids].astype(np.float32) * scales[ids][..., None]
        return tuple(session.run(None, given))

    return forward


def reader_for(folder: Path, limit: int) -> Reader:
    """A reader with the exported tokenizer."""
    return Reader(TextEncoder(Tokenizer.from_file(str(folder / TOKENIZER)), limit))


def sampled(found: list[Row], size: int) -> list[Row]:
    """At most `size` rows, the same ones each time; all when `size` is 0."""
    if not size or len(found) <= size:
        return found
    return random.Random(5).sample(found, size)


def chance_of_lacking(margin: float, lang: str, calibration: Calibration) -> float:
    """The calibrated probability that a claim of this margin lacks support."""
    curve = calibration["languages"][lang]
    return float(1 / (1 + math.exp(np.clip(curve["slope"] * margin + curve["offset"], -30, 30))))


def threshold_margin(lang: str, calibration: Calibration) -> float:
    """The margin at which the calibrated probability reaches the threshold."""
    curve = calibration["languages"][lang]
    return float((math.log(1 / calibration["threshold"] - 1) - curve["offset"]) / curve["slope"])


def figures(found: Sequence[Row], answers: Sequence[AnswerScore], calibration: Calibration) -> dict[str, float]:
    """The figures of one set; the positive class is unsupported."""
    positive = [row["label"] == "unsupported" for row in found]
    scores = [chance_of_lacking(a.margin, row["lang"], calibration) for a, row in zip(answers, found, strict=True)]
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


def scored_rows(found: Sequence[Row], forward: Forward, reader: Reader) -> list[list[ClaimScore]]:
    """The scores of each row's claims against each of its windows."""
    readings = [
        reading
        for number, row in enumerate(found)
        for reading in reader.readings(number, row["answer"], [part["text"] for part in row["context"]])
    ]
    of_row: list[list[ClaimScore]] = [[] for _ in found]
    for score in score_readings(forward, readings):
        of_row[score.place.answer].append(score)
    return of_row


def evaluate_set(
    path: Path, forward: Forward, reader: Reader, sample: int, calibration: Calibration
) -> dict[str, float]:
    """Score a set and return its figures, with the milliseconds an example takes."""
    found = sampled(list(rows(path)), sample)
    began = time.perf_counter()
    of_row = scored_rows(found, forward, reader)
    answers = [
        combine(scores, threshold_margin(row["lang"], calibration), calibration["token_threshold"])
        for scores, row in zip(of_row, found, strict=True)
    ]
    result = figures(found, answers, calibration)
    result["ms"] = 1000 * (time.perf_counter() - began) / len(found)
    return result


def main() -> None:
    """Print one line of figures a set, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder of the exported files")
    parser.add_argument("--sets", type=Path, nargs="+", required=True)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--limit", type=int, default=WINDOW_LIMIT)
    parser.add_argument("--gathered-only", action="store_true", help="read only the gathered window")
    parser.add_argument("--whole-answers", action="store_true", help="do not split answers")
    parser.add_argument("--calibration", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()

    calibration = json.loads(options.calibration.read_text()) if options.calibration else PLAIN
    reader = reader_for(options.model, options.limit)
    reader.all_windows = not options.gathered_only
    reader.split_claims = not options.whole_answers
    forward = onnx_forward(options.model, options.threads)
    results = {}
    for path in options.sets:
        results[path.stem] = evaluate_set(path, forward, reader, options.sample, calibration)
        shown = " ".join(f"{name}={value:.3f}" for name, value in results[path.stem].items())
        print(f"{path.stem:22} {shown}", flush=True)
    if options.out:
        options.out.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
