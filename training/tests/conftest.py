"""A tiny vocabulary and a tiny model, so that tests need no base weights; without torch, the tests that need none."""

from __future__ import annotations

import string
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from tokenizers import Tokenizer

from training.vocabulary import SPECIALS, build_tokenizer

if TYPE_CHECKING:
    import torch

    from training.encoder import GroundingModel

NAMES = ("average", "batches", "card", "encoder", "export", "install", "scoring", "train")
NEEDS_TORCH = [*(f"test_{name}.py" for name in NAMES), "reading"]
collect_ignore = [] if find_spec("torch") else NEEDS_TORCH


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out."""
    if collect_ignore:
        terminalreporter.write_line(f"not run, since torch is not installed: {', '.join(collect_ignore)}")


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    """One piece a character, and the word mark."""
    pieces = [*SPECIALS, "▁", *string.ascii_letters, *string.digits, *".,!?…'\"", *"àáâãèéêìíòóôõùúýăđĩũơưạảấầệộ"]
    return build_tokenizer(pieces, [0.0] * 4 + [-5.0] * (len(pieces) - 4))


@pytest.fixture
def model() -> GroundingModel:
    """A model of two narrow layers with fixed random weights."""
    import torch

    from training.encoder import GroundingModel, Shape

    torch.manual_seed(0)
    return GroundingModel(Shape(hidden=24, layers=2, heads=2, feed_forward=32, positions=512)).eval()


@pytest.fixture(scope="session")
def table(tokenizer: Tokenizer) -> torch.Tensor:
    """Random word embeddings."""
    import torch

    torch.manual_seed(1)
    return torch.randn(tokenizer.get_vocab_size(), 24)
