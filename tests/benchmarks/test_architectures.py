"""The encoders that speed is compared with have the published sizes and run."""

from __future__ import annotations

import pytest
from benchmarks.architectures import MODERNBERT_BASE, SEVEN_LAYERS, TINY, Attention, encoder, model_bytes, parameters

pytest.importorskip("onnxruntime")


def test_they_have_as_many_weights_as_published() -> None:
    """149 million and 16.8 million, and the graph is given just as many, besides positions and labels."""
    _, sizes = model_bytes(SEVEN_LAYERS, "full")
    last = SEVEN_LAYERS.width * 2
    positions = 2 * 4096 * 32
    drawn = sum(size[0] * (size[1] if len(size) > 1 else 1) for size in sizes.values())

    assert round(parameters(MODERNBERT_BASE) / 1e6) == 149
    assert round(parameters(SEVEN_LAYERS) / 1e6, 1) == 16.8
    assert drawn - last - positions == parameters(SEVEN_LAYERS)


@pytest.mark.parametrize("attention", ["full", "blocks"])
@pytest.mark.parametrize("tokens", [pytest.param(1, id="one token"), pytest.param(64, id="one block"), pytest.param(130, id="blocks and a rest")])  # fmt: skip
def test_a_pass_reads_every_token(attention: Attention, tokens: int) -> None:
    """Two figures a token, all of them finite, whatever the length."""
    found = encoder(TINY, attention, 1)(tokens)

    assert found.shape == (1, tokens, 2)
    assert bool((abs(found) < 1e6).all())


def test_blocks_and_full_attention_agree_where_everything_is_near() -> None:
    """With one layer, which attends to the whole text in both, the graphs give the same."""
    shape = type(TINY)("one layer", 1, 64, 96, 2, 512)

    full, blocks = (encoder(shape, attention, 1)(40) for attention in ("full", "blocks"))

    assert abs(full - blocks).max() < 1e-5
