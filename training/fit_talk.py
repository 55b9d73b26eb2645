"""Trains the classifier of talk (src/stillme/models/weights/talk.npy) from the texts in training/talk.

    python -m training.fit_talk                prints what cross-validation and the held-back texts say
    python -m training.fit_talk --write        also writes the weights, and threshold and hash in the manifest

A logistic regression with a ridge on the embedding, the mean word vector and the words and pairs of words. The threshold is the
lowest at which cross-validation takes few enough statements for talk: what is taken for talk goes unchecked.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack

from stillme.models.bundle import WEIGHTS
from stillme.models.conduct import WIDTH
from stillme.models.embedding import embed
from stillme.models.talk import BUCKETS, FILE, dense_features, plain_form, word_features
from training.fit_conduct import FOLDS, Example, read

TEXTS: Final = Path(__file__).with_name("talk")
# Centred embeddings are short, a text has some ten words: on these scales one ridge fits all.
SCALES: Final = (5.0, 2.0)
WORD_SCALE: Final = 3.0
RIDGE: Final = 1.0
DECIMALS: Final = 3
MOST_STATEMENTS: Final = {"talk_at": 0.01, "apart_at": 0.025, "remark_at": 0.1}
"""The share of statements that cross-validation may take for talk, of any text, and of one that shares no word with question and
sources; the training texts have as many that sound like talk as they can. What is taken for a remark is left out, not let pass."""


def digest(folder: Path) -> str:
    """The hash of the training texts, by which a test sees that the weights were made from them."""
    return hashlib.sha256((folder / "talk.tsv").read_bytes()).hexdigest()


def dense_rows(examples: list[Example]) -> Any:
    """Embedding and mean word vector of each example."""
    return np.stack([dense_features(plain_form(example.text), embed) for example in examples])


def word_rows(examples: list[Example]) -> Any:
    """The words and pairs of words of each example, as a sparse matrix whose rows have length 1."""
    found = [word_features(plain_form(example.text)) for example in examples]
    places = ([n for n, own in enumerate(found) for _ in own], [bucket for own in found for bucket in own])
    return csr_matrix(([1 / len(own) ** 0.5 for own in found for _ in own], places), (len(found), BUCKETS))


def solve(rows: Any, labels: Any) -> Any:
    """The weights of the regression, the bias last."""
    signs = np.where(labels, 1.0, -1.0)

    def loss(weights: Any) -> tuple[float, Any]:
        margins = signs * (rows @ weights[:-1] + weights[-1])
        slope = -signs / (1 + np.exp(np.clip(margins, -30, 30)))
        penalty = RIDGE * weights[:-1]
        value = np.logaddexp(0, -margins).sum() + 0.5 * penalty @ weights[:-1]
        return float(value), np.append(rows.T @ slope + penalty, slope.sum())

    found = minimize(
        loss, np.zeros(rows.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 2000, "gtol": 1e-5}
    )
    return found.x


def predict(rows: Any, weights: Any) -> Any:
    """Probabilities."""
    return 1 / (1 + np.exp(-(rows @ weights[:-1] + weights[-1])))


def crossed(rows: Any, labels: Any, examples: list[Example]) -> Any:
    """For each example the probability by a model that was not trained on its part."""
    folds = np.array([hashlib.sha256(e.text.encode()).digest()[0] % FOLDS for e in examples])
    found = np.zeros(len(labels))
    for fold in range(FOLDS):
        held = np.flatnonzero(folds == fold)
        rest = np.flatnonzero(folds != fold)
        found[held] = predict(rows[held], solve(rows[rest], labels[rest]))
    return found


def threshold(scores: Any, labels: Any, most: float) -> float:
    """The lowest at which few enough statements are taken for talk."""
    return next((n / 100 for n in range(20, 100) if (scores[~labels] >= n / 100).mean() <= most), 0.99)


def figures(name: str, scores: Any, examples: list[Example], at: float) -> None:
    """Of both languages the share of talk that is seen, and of statements that are taken for it."""
    for lang in ("en", "vi"):
        own = [(score >= at, e.label) for score, e in zip(scores, examples, strict=True) if e.lang == lang]
        talk, stated = ([flagged for flagged, label in own if label is wanted] for wanted in (True, False))
        print(
            f"{name} {lang}: talk seen {sum(talk)} of {len(talk)}, statements taken for it {sum(stated)} of {len(stated)}"
        )


def main() -> None:
    """Train, tell, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--weights", type=Path, default=WEIGHTS, help="folder of the weights and the manifest")
    options = parser.parse_args()
    examples, held = read(TEXTS), read(TEXTS / "held")
    labels, dense = np.array([e.label for e in examples]), dense_rows(examples)
    means, scales = dense.mean(axis=0), np.repeat(SCALES, WIDTH)

    def rows_of(dense: Any, own: list[Example]) -> Any:
        return hstack([csr_matrix((dense - means) * scales), WORD_SCALE * word_rows(own)]).tocsr()

    rows = rows_of(dense, examples)
    scores, solved = crossed(rows, labels, examples), solve(rows, labels)
    found = {name: threshold(scores, labels, most) for name, most in MOST_STATEMENTS.items()}
    held_scores = predict(rows_of(dense_rows(held), held), solved)
    for name, at in found.items():
        print(f"{name} {at}")
        figures("cross-validation", scores, examples, at)
        figures("held back", held_scores, held, at)
    if options.write:
        plain = solved[: 2 * WIDTH] * scales
        bias = solved[-1] - plain @ means
        write(
            options.weights, np.concatenate([plain, solved[2 * WIDTH : -1] * WORD_SCALE, [bias]]).round(DECIMALS), found
        )


def write(folder: Path, weights: Any, thresholds: dict[str, float]) -> None:
    """The weights, and what belongs to them in the manifest."""
    np.save(folder / FILE, weights.astype("float16"))
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    files = {**manifest["files"], FILE: hashlib.sha256((folder / FILE).read_bytes()).hexdigest()}
    manifest["files"] = dict(sorted(files.items()))
    manifest["talk"] = {**thresholds, "texts_sha256": digest(TEXTS)}
    path.write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
