"""The best window speaks for a claim, the weakest claim for the answer, and all text is read."""

from __future__ import annotations

import numpy as np
import pytest
from tokenizers import Tokenizer

from training.calibrate import fit_logistic
from training.encoder import GroundingModel
from training.scoring import Pair, PairMaker, PairScore, claims_of, combine, score_pairs, torch_forward


def scored(span: tuple[int, int], logits: list[float], tokens: list[float]) -> PairScore:
    offsets = tuple((span[0] + n, span[0] + n + 1) for n in range(len(tokens)))
    pair = Pair(0, span, tuple(range(len(tokens))), offsets, (), True)
    return PairScore(pair, np.array(logits, np.float32), np.array(tokens, np.float32))


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


def test_every_sentence_of_the_passages_is_in_some_pair(tokenizer: Tokenizer) -> None:
    """Whatever the length, nothing goes unread."""
    passage = " ".join(f"Sentence number {n} says word{n}." for n in range(60))

    pairs = PairMaker(tokenizer).pairs(0, "Sentence number 7 says word7.", [passage])

    read = " ".join(tokenizer.decode(list(pair.window_ids)) for pair in pairs)
    assert all(f"word{n}." in read for n in range(60))


def test_order_and_batch_size_change_no_score(model: GroundingModel, tokenizer: Tokenizer) -> None:
    """The same pair scores the same in any company."""
    maker = PairMaker(tokenizer)
    pairs = [
        p for n in range(5) for p in maker.pairs(n, f"Claim {n} is here." + " More." * n, ["Some text. Other text."])
    ]
    forward = torch_forward(model)

    together = score_pairs(forward, pairs, size=16)
    alone = [score_pairs(forward, [pair])[0] for pair in pairs]

    assert [s.pair for s in together] == pairs
    assert all(np.allclose(a.logits, b.logits, atol=1e-5) for a, b in zip(together, alone, strict=True))


def test_fit_logistic_finds_the_slope_and_the_middle() -> None:
    """Chances drawn from a known curve are recovered."""
    chance = np.random.default_rng(0)
    margins = chance.normal(0, 3, 20_000)
    supported = chance.random(20_000) < 1 / (1 + np.exp(-(0.5 * margins)))

    slope, offset = fit_logistic(margins.tolist(), (~supported).tolist())

    assert slope == pytest.approx(0.5, abs=0.05)
    assert offset == pytest.approx(0.0, abs=0.08)
