"""How likely a short text is conduct that has no place in a question or an answer, by small classifiers on the embedder.

Each class has two linear models. The cheap one reads the mean of the word vectors and the marks of the text, and excludes what is
clearly something else; the full one reads the embedding as well, and is asked only about the rest. A score belongs to its text
alone: what else is asked for at the same time does not change it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import exp
from typing import TYPE_CHECKING, Any, Final, Literal

from stillme.errors import BackendError
from stillme.models.bundle import checked, loaded_once, manifest
from stillme.models.words import words

if TYPE_CHECKING:
    from stillme.models.embedding import Kind

__all__ = ["CLASSES", "FILE", "KIND", "WIDTH", "Class", "ConductModel", "conduct_model", "mean_vector", "probability"]

Class = Literal["asked", "given", "person", "choice", "sell"]
CLASSES: Final[tuple[Class, ...]] = ("asked", "given", "person", "choice", "sell")
FILE: Final = "conduct.npy"
KIND: Final[Kind] = "query"
WIDTH: Final = 384
DECIMALS: Final = 6
SCORE_DECIMALS: Final = 3


class ConductModel:
    """The classifiers with their thresholds; safe to share between threads."""

    def __init__(self) -> None:
        import numpy  # noqa: PLC0415  (loaded with the model)

        figures = manifest()["conduct"]
        self.marks: dict[str, int] = {mark: n for n, mark in enumerate(figures["marks"])}
        self.flag_at: dict[str, float] = figures["flag_at"]
        self.look_at: dict[str, float] = figures["look_at"]
        weights = numpy.load(checked(FILE))
        if weights.shape != (2 * len(CLASSES), 2 * WIDTH + len(self.marks) + 1):
            raise BackendError(f"the model file {FILE} does not fit its manifest: install it again")
        self._full = {name: weights[n].astype("float64") for n, name in enumerate(CLASSES)}
        self._cheap = {name: weights[len(CLASSES) + n, WIDTH:].astype("float64") for n, name in enumerate(CLASSES)}

    def scores(
        self, texts: Sequence[str], marks: Sequence[Collection[str]], classes: Sequence[Class], embed: Any
    ) -> list[dict[Class, float]]:
        """For each text the probability of each class that the cheap models could not exclude."""
        cheap = [self._cheap_row(text, own) for text, own in zip(texts, marks, strict=True)]
        open_ = [[name for name in classes if self._possible(name, row)] for row in cheap]
        asked = [n for n, names in enumerate(open_) if names]
        vectors = dict(zip(asked, embed([texts[n] for n in asked], KIND), strict=True)) if asked else {}
        return [{name: self._full_score(name, vectors[n], cheap[n]) for name in names} for n, names in enumerate(open_)]

    def _cheap_row(self, text: str, marks: Collection[str]) -> Any:
        """What the cheap models read: word vectors, marks, and 1 for the bias."""
        import numpy  # noqa: PLC0415

        row = numpy.zeros(WIDTH + len(self.marks) + 1)
        row[:WIDTH] = mean_vector(text)
        for mark in marks:
            if mark in self.marks:
                row[WIDTH + self.marks[mark]] = 1.0
        row[-1] = 1.0
        return row

    def _possible(self, name: Class, row: Any) -> bool:
        return probability(float(self._cheap[name] @ row)) >= self.look_at[name]

    def _full_score(self, name: Class, vector: Any, row: Any) -> float:
        weights = self._full[name]
        return probability(float(weights[:WIDTH] @ vector.astype("float64")) + float(weights[WIDTH:] @ row))


def probability(logit: float) -> float:
    """The probability of log odds, to three decimals so that it is the same on every machine."""
    return round(1 / (1 + exp(-max(-30.0, min(30.0, logit)))), SCORE_DECIMALS)


def mean_vector(text: str) -> Any:
    """The direction of the mean of a text's word vectors; zeros for a text without words."""
    import numpy  # noqa: PLC0415

    ids = words().ids(text)
    if not ids:
        return numpy.zeros(WIDTH)
    mean = words().vectors(numpy.array(ids, "int64")).mean(axis=0, dtype="float64")
    norm = float(numpy.linalg.norm(mean))
    return (mean / norm).round(DECIMALS) if norm else mean


@loaded_once
def conduct_model() -> ConductModel:
    """The one set of classifiers of this process, loaded when first asked for."""
    return ConductModel()
