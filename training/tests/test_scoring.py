"""The best window speaks for a claim, the weakest claim for the answer, and all text is read."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from training.batches import TextEncoder
from training.calibrate import fit_logistic, telling
from training.encoder import GroundingModel
from training.examples import SUPPORTED, Example
from training.scoring import ClaimScore, Place, Reader, claims_of, combine, score_readings, shared, torch_forward


def scored(span: tuple[int, int], logits: list[float], tokens: list[float]) -> ClaimScore:
    offsets = tuple((span[0] + n, span[0] + n + 1) for n in range(len(tokens)))
    return ClaimScore(Place(0, span, offsets), np.array(logits, np.float32), np.array(tokens, np.float32))


def test_the_best_window_speaks_for_the_claim() -> None:
    """More windows never lower a claim's support."""
    poor, good = scored((0, 4), [0.0, 1.0, 1.0], [1.0] * 4), scored((0, 4), [3.0, 0.0, 0.0], [1.0] * 4)

    assert combine([poor, good]).margin == combine([good]).margin
    assert combine([poor, good]).spans == ()


def test_the_weakest_claim_speaks_for_the_answer() -> None:
    """One unsupported claim makes the answer unsupported, and only its characters are marked."""
    good, bad = scored((0, 4), [5.0, 0.0, 0.0], [2.0] * 4), scored((5, 9), [0.0, 0.0, 5.0], [-1.0, 2.0, 2.0, -1.0])

    answer = combine([good, bad])

    assert answer.margin == bad.margin
    assert answer.spans == ((6, 8),)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param("It opened in the year 1901. The building is tall and old.", 2, id="two claims"),
        pytest.param("It opened in the year 1901. Yes.", 1, id="a very short sentence joins the one before"),
        pytest.param("", 0, id="nothing claimed"),
    ],
)
def test_claims_of(answer: str, expected: int) -> None:
    """Answers are cut into sentences."""
    assert len(claims_of(answer)) == expected


def test_every_sentence_of_the_passages_is_in_some_window(tokenizer: Tokenizer) -> None:
    """Whatever the length, nothing goes unread."""
    passage = " ".join(f"Sentence number {n} says word{n}." for n in range(60))

    readings = Reader(TextEncoder(tokenizer)).readings(0, "Sentence number 7 says word7.", [passage])

    read = " ".join(tokenizer.decode(list(reading.group.window)) for reading in readings)
    assert all(f"word{n}." in read for n in range(60))


def test_packing_changes_no_score(model: GroundingModel, table: torch.Tensor, tokenizer: Tokenizer) -> None:
    """The same claim scores the same in any company."""
    reader = Reader(TextEncoder(tokenizer))
    readings = [
        r
        for n in range(5)
        for r in reader.readings(n, f"Claim {n} is here." + " More." * n, ["Some text. Other text."])
    ]
    forward = torch_forward(model, table)

    together = {(s.place.answer, s.place.span): s.logits for s in score_readings(forward, readings)}
    alone = {(s.place.answer, s.place.span): s.logits for r in readings for s in score_readings(forward, [r])}

    assert together.keys() == alone.keys()
    assert all(np.allclose(together[key], alone[key], atol=1e-5) for key in alone)


def test_equal_windows_are_read_once(tokenizer: Tokenizer) -> None:
    """Answers to the same passages share their window; no claim is lost."""
    reader = Reader(TextEncoder(tokenizer))
    readings = [r for n in range(4) for r in reader.readings(n, f"Claim {n} is here.", ["Some text."])]

    [together] = shared(readings)

    assert [place.answer for place in together.places] == [0, 1, 2, 3]
    assert len(shared(readings, most=40)) == 2


def test_fit_logistic_finds_the_slope_and_the_middle() -> None:
    """Chances drawn from a known curve are recovered."""
    chance = np.random.default_rng(0)
    margins = chance.normal(0, 3, 20_000)
    supported = chance.random(20_000) < 1 / (1 + np.exp(-(0.5 * margins)))

    slope, offset = fit_logistic(margins.tolist(), (~supported).tolist())

    assert slope == pytest.approx(0.5, abs=0.05)
    assert offset == pytest.approx(0.0, abs=0.08)


def test_claims_written_by_people_tell_how_sure_to_be() -> None:
    """Synthetic ones do so only in a language that has no others."""
    sets = [("snli", "en"), ("synthetic_en", "en"), ("premises_vi", "vi")]
    sample = [Example(name, name, lang, "claim", ("text",), SUPPORTED, (), "g") for name, lang in sets]

    assert [sample[n].dataset for n in telling(sample)] == ["snli", "premises_vi"]
