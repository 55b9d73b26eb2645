"""The classifiers of conduct: a score belongs to its text alone, the weights fit their manifest, and a changed file is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest

from stillme.conduct.classifiers import marks
from stillme.errors import BackendError
from stillme.models import bundle
from stillme.models.conduct import CLASSES, FILE, ConductModel, conduct_model, mean_vector
from stillme.models.embedding import Kind, embed
from stillme.text.tokens import Text

TEXTS = [
    "I missed you while the server was down.",
    "The museum opens at nine.",
    "Bạn là người tôi yêu quý nhất.",
    "Vote for the Liberals.",
    "9",
]


def scores(texts: Sequence[str]) -> list[dict[Any, float]]:
    """What the model says of texts, all classes."""
    return conduct_model().scores(texts, [marks(Text(text)) for text in texts], CLASSES, embed)


def test_a_score_does_not_depend_on_what_else_is_asked() -> None:
    """One by one, together and in another order: the same."""
    together = scores(TEXTS)

    assert [scores([text])[0] for text in TEXTS] == together
    assert scores(TEXTS[::-1]) == together[::-1]


def test_scores_are_probabilities_to_three_decimals() -> None:
    """Between 0 and 1, so that a finding can be compared with a threshold."""
    found = [score for row in scores(TEXTS) for score in row.values()]

    assert found
    assert all(0 <= score <= 1 and score == round(score, 3) for score in found)


def test_what_the_cheap_models_exclude_is_not_embedded() -> None:
    """The sentences that may be something are embedded in one call, the others not at all."""
    calls: list[list[str]] = []

    def counting(texts: Sequence[str], kind: Kind) -> Any:
        calls.append(list(texts))
        return embed(texts, kind)

    drafts = ["The museum opens at nine and is closed on Mondays.", TEXTS[0], "My mother taught me to sew."]
    conduct_model().scores(drafts, [marks(Text(d)) for d in drafts], ("person",), counting)

    assert calls == [drafts[1:]]


def test_every_class_has_thresholds() -> None:
    """A class that could never or always flag would be a mistake in training."""
    model = conduct_model()

    assert set(model.flag_at) == set(model.look_at) == set(CLASSES)
    assert all(0.5 <= at < 1 for at in model.flag_at.values())
    assert all(0 <= at < 1 for at in model.look_at.values())


def test_the_weights_were_made_from_the_texts_in_the_repository() -> None:
    """Whoever changes a text trains again: `python -m training.fit_conduct --write`."""
    texts = sorted((Path(__file__).parents[2] / "training" / "conduct").glob("*.tsv"))

    digest = hashlib.sha256(b"".join(path.read_bytes() for path in texts)).hexdigest()

    assert bundle.manifest()["conduct"]["texts_sha256"] == digest


def test_a_text_without_words_has_no_direction() -> None:
    """Zeros, not a division by zero."""
    assert not mean_vector("").any()


def test_a_changed_weights_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """The weights are those whose hash the manifest has, or none."""
    numpy.save(tmp_path / FILE, numpy.load(bundle.WEIGHTS / FILE) + 1)
    (tmp_path / "manifest.json").write_bytes((bundle.WEIGHTS / "manifest.json").read_bytes())
    monkeypatch.setattr(bundle, "WEIGHTS", tmp_path)
    bundle.checked.cache_clear()

    with pytest.raises(BackendError, match=r"conduct\.npy is not the one that was shipped"):
        ConductModel()

    bundle.checked.cache_clear()
