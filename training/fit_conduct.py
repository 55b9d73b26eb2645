"""Trains the classifiers of conduct (src/stillme/models/weights/conduct.npy) from the texts in training/conduct.

    python -m training.fit_conduct                prints what cross-validation says
    python -m training.fit_conduct --write        also writes the weights, and names, thresholds and hash in the manifest

Each class has a linear model on the embedding, the mean word vector and the marks of a text, and a cheap one without the embedding
(see `stillme.models.conduct`). Both are logistic regressions with a ridge, solved to the end by Newton's method, so that the same
texts give the same bytes. The thresholds come from cross-validation over five parts of the training texts, by the hash
of each text. What is held back (`training/conduct/held`) is not read here: `benchmarks/conduct.py` measures it.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from stillme.conduct.classifiers import marks
from stillme.models.bundle import WEIGHTS
from stillme.models.conduct import CLASSES, FILE, KIND, WIDTH, mean_vector
from stillme.models.embedding import embed
from stillme.text.tokens import Text

TEXTS: Final = Path(__file__).with_name("conduct")
FOLDS: Final = 5
# From 0.5 to 2 cross-validation sees hardly a difference.
RIDGE: Final = 1.0
RAREST_MARK: Final = 4
# Centred embeddings are short, marks are 0 or 1: on these scales one ridge fits all.
SCALES: Final = (5.0, 2.0, 0.5)
MOST_NEAR_MISSES: Final = {"asked": 0.025, "given": 0.03, "person": 0.05, "choice": 0.05, "sell": 0.03}
"""The share of the near misses of each class that may be flagged in cross-validation."""
MOST_OTHERS: Final = 0.005
MISSED_BY_CHEAP: Final = 0.01
# Unseen wordings lie lower than those of cross-validation.
CHEAP_MARGIN: Final = 0.1
DECIMALS: Final = 4
# One question costs one embedding, which similarity often needs as well: it is always looked at.
ALWAYS_READ: Final = frozenset({"asked"})
# A positive of one of these may well be one of another: 'as a Christian I prayed for you'.
EVERYDAY = "everyday"
OVERLAPPING: Final = frozenset({"person", "choice", "sell"})


@dataclass(frozen=True, slots=True)
class Example:
    """A text of one class's file, and whether it is of that class."""

    part: str
    label: bool
    lang: str
    text: str


def read(folder: Path) -> list[Example]:
    """The examples of a folder, in the order of the file names and lines."""
    found = []
    for path in sorted(folder.glob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            found += [Example(path.stem, row["label"] == "1", row["lang"], row["text"]) for row in rows]
    return found


def digest(folder: Path) -> str:
    """The hash of the training texts, by which a test sees that the weights were made from them."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.glob("*.tsv")))).hexdigest()


def target(example: Example, name: str) -> bool | None:
    """What an example says of a class: of it, not of it, or nothing."""
    if example.part == name:
        return example.label
    if example.part == EVERYDAY:
        return False if name == "asked" else None
    if example.label:
        unclear = name == "asked" or example.part == "asked" or {example.part, name} <= OVERLAPPING
        return None if unclear else False
    return None if name == "asked" and example.part not in ("given", "plain") else False


class Features:
    """What the models read of each example."""

    def __init__(self, examples: list[Example]) -> None:
        texts = [example.text for example in examples]
        touched = [marks(Text(text)) for text in texts]
        counts = Counter(mark for own in touched for mark in own)
        self.marks = sorted(mark for mark, count in counts.items() if count >= RAREST_MARK)
        flags = np.array([[mark in own for mark in self.marks] for own in touched], "float64")
        blocks = [embed(texts, KIND).astype("float64"), np.stack([mean_vector(text) for text in texts]), flags]
        self.means = np.concatenate([block.mean(axis=0) for block in blocks[:2]] + [np.zeros(len(self.marks))])
        self.scales = np.concatenate([np.full(b.shape[1], s) for b, s in zip(blocks, SCALES, strict=True)])
        self.rows = (np.hstack(blocks) - self.means) * self.scales

    def raw(self, solved: Any, first: int) -> Any:
        """A solution as weights of the unscaled features, the bias last; those before `first` are 0."""
        weights = np.zeros(len(self.means) + 1)
        weights[first:-1] = solved[:-1] * self.scales[first:]
        weights[-1] = solved[-1] - weights[:-1] @ self.means
        return weights.round(DECIMALS)


def solve(rows: Any, labels: Any, start: Any = None, exact: float = 1e-10) -> Any:
    """The weights of a logistic regression in which both labels weigh the same, the bias last."""
    x = np.hstack([rows, np.ones((len(rows), 1))])
    share = labels.mean()
    weight = np.where(labels, 0.5 / share, 0.5 / (1 - share))
    penalty = np.full(x.shape[1], RIDGE)
    penalty[-1] = 1e-6
    found = np.zeros(x.shape[1]) if start is None else start.copy()
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ found))
        gradient = x.T @ (weight * (p - labels)) + penalty * found
        z = x * np.sqrt(weight * p * (1 - p))[:, None]
        step = np.linalg.solve(z.T @ z + np.diag(penalty), gradient)
        found -= step
        if np.abs(step).max() < exact:
            break
    return found


def predict(rows: Any, solved: Any) -> Any:
    """Probabilities."""
    return 1 / (1 + np.exp(-(rows @ solved[:-1] + solved[-1])))


def crossed(rows: Any, labels: Any, folds: Any) -> tuple[Any, Any]:
    """For each example the probability by a model that was not trained on its part; and the weights by all examples."""
    whole = solve(rows, labels)
    found = np.zeros(len(labels))
    for fold in range(FOLDS):
        held = folds == fold
        # The objective is convex: where the search starts changes its length and not its end.
        found[held] = predict(rows[held], solve(rows[~held], labels[~held], whole, 1e-3))
    return found, whole


def threshold(scores: Any, labels: Any, own: Any, near_misses: float) -> float:
    """The lowest at which few enough negatives, near misses and others, are flagged."""
    for step in range(50, 100):
        at = step / 100
        near, others = scores[own & ~labels] >= at, scores[~own & ~labels] >= at
        if near.mean() <= near_misses and (not len(others) or others.mean() <= MOST_OTHERS):
            return at
    return 0.99


@dataclass(frozen=True, slots=True)
class Trained:
    """The two models of a class with their thresholds, and what cross-validation said."""

    full: Any
    cheap: Any
    flag_at: float
    look_at: float
    said: str


def train(name: str, examples: list[Example], features: Features) -> Trained:
    """One class."""
    targets = [target(example, name) for example in examples]
    used = [n for n, label in enumerate(targets) if label is not None]
    labels = np.array([bool(targets[n]) for n in used])
    own = np.array([examples[n].part == name for n in used])
    folds = np.array([hashlib.sha256(examples[n].text.encode()).digest()[0] % FOLDS for n in used])
    rows = features.rows[used]
    scores, full = crossed(rows, labels, folds)
    cheap, cheap_weights = crossed(rows[:, WIDTH:], labels, folds)
    flag_at = threshold(scores, labels, own, MOST_NEAR_MISSES[name])
    flagged = labels & (scores >= flag_at)
    look_at = float(np.floor((np.quantile(cheap[flagged], MISSED_BY_CHEAP) - CHEAP_MARGIN) * 100) / 100)
    look_at = 0.0 if name in ALWAYS_READ else look_at
    caught, wrong = (flagged & (cheap >= look_at)), ~labels & (scores >= flag_at)
    said = (
        f"{name}: {labels.sum()} of {len(labels)}, flags at {flag_at}, looks at {look_at}; recall "
        f"{caught.sum() / labels.sum():.3f}, near misses flagged {wrong[own].sum()} of {(own & ~labels).sum()}, others "
        f"{wrong[~own].sum()} of {(~own).sum()}, looked at {(cheap >= look_at)[~own].mean():.3f} of others"
        f"\n    recall/near misses flagged: {trade(scores, labels, own)}"
    )
    return Trained(features.raw(full, 0), features.raw(cheap_weights, WIDTH), flag_at, look_at, said)


def trade(scores: Any, labels: Any, own: Any) -> str:
    """What other thresholds would give."""
    steps = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
    return ", ".join(
        f"{at} {(scores[labels] >= at).mean():.2f}/{(scores[own & ~labels] >= at).mean():.3f}" for at in steps
    )


def main() -> None:
    """Train, tell, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--weights", type=Path, default=WEIGHTS, help="folder of the weights and the manifest")
    options = parser.parse_args()
    examples = read(TEXTS)
    features = Features(examples)
    trained = {name: train(name, examples, features) for name in CLASSES}
    for one in trained.values():
        print(one.said)
    if options.write:
        write(options.weights, features.marks, trained)


def write(folder: Path, names: list[str], trained: dict[Any, Trained]) -> None:
    """The weights, and what belongs to them in the manifest."""
    stacked = np.stack([t.full for t in trained.values()] + [t.cheap for t in trained.values()]).astype("float32")
    np.save(folder / FILE, stacked)
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    files = {**manifest["files"], FILE: hashlib.sha256((folder / FILE).read_bytes()).hexdigest()}
    manifest["files"] = dict(sorted(files.items()))
    manifest["conduct"] = {
        "flag_at": {name: t.flag_at for name, t in trained.items()},
        "look_at": {name: t.look_at for name, t in trained.items()},
        "marks": names,
        "texts_sha256": digest(TEXTS),
    }
    path.write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
