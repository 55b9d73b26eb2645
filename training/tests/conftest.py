"""A tiny vocabulary and a tiny model, so that tests need no base weights."""

from __future__ import annotations

import string

import pytest
import torch
from tokenizers import Tokenizer

from training.encoder import GroundingModel, Shape
from training.vocabulary import SPECIALS, build_tokenizer


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    """One piece a character, and the word mark."""
    pieces = [*SPECIALS, "▁", *string.ascii_letters, *string.digits, *".,!?…'\"", *"àáâãèéêìíòóôõùúýăđĩũơưạảấầệộ"]
    return build_tokenizer(pieces, [0.0] * 4 + [-5.0] * (len(pieces) - 4))


@pytest.fixture
def model() -> GroundingModel:
    """A model of two narrow layers with fixed random weights."""
    torch.manual_seed(0)
    return GroundingModel(Shape(hidden=24, layers=2, heads=2, feed_forward=32, positions=512)).eval()


@pytest.fixture(scope="session")
def table(tokenizer: Tokenizer) -> torch.Tensor:
    """Random word embeddings."""
    torch.manual_seed(1)
    return torch.randn(tokenizer.get_vocab_size(), 24)
