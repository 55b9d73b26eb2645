"""Export a reader as the two files that the package runs: what reads a text by itself, and what reads claims beside a window.

python -m training.reading.export --checkpoint RUN/last.pt --out SHIP
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import Tensor, nn

from stillme.models.matches import CLAIM_MARKS, WINDOW_MARKS
from training.encoder import Shape
from training.export import export_int8
from training.reading.model import Reader, Rows

LOWER, UPPER = "reading_lower.onnx", "reading_upper.onnx"
LOWER_INPUTS = ("embeddings", "positions", "kinds")
UPPER_INPUTS = (
    "window_states", "window_ids", "states", "ids", "owners", "marks", "window_marks", "is_question", "places",
)  # fmt: skip
UPPER_OUTPUTS = ("claim_logits", "question_logits", "token_logits")


class _Lower(nn.Module):
    """One text, without padding, to the states of its tokens."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.lower = reader.lower

    def forward(self, embeddings: Tensor, positions: Tensor, kinds: Tensor) -> Tensor:
        bias = torch.zeros_like(positions, dtype=torch.float32)[:, None, None, :]
        return self.lower(embeddings, positions, kinds, bias)


class _Upper(nn.Module):
    """One window with its claims to logits."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, *inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.reader(Rows(*inputs))


def reader_of(checkpoint: Path) -> Reader:
    """The reader of a checkpoint."""
    reader = Reader(Shape(layers=12))
    reader.load_state_dict(torch.load(checkpoint, weights_only=True)["model"])
    return reader.eval()


def example() -> tuple[Tensor, ...]:
    """Inputs of the right form: a window of seven tokens, two claims of five and four."""
    return (
        torch.randn(1, 7, 384), torch.arange(7).unsqueeze(0) + 5, torch.randn(1, 9, 384), torch.arange(9).unsqueeze(0) + 4,
        torch.tensor([[0] * 5 + [1] * 4]), torch.zeros(1, 9, CLAIM_MARKS), torch.zeros(1, 2, WINDOW_MARKS, 7),
        torch.zeros(1, 2, dtype=torch.bool), torch.tensor([[[0, 1, 2, 3, 4], [5, 6, 7, 8, -1]]]),
    )  # fmt: skip


def export(reader: Reader, out: Path) -> None:
    """Write both files, with int8 weights computed with in float32."""
    hidden = torch.zeros(1, 7, dtype=torch.long)
    export_int8(
        _Lower(reader), (torch.randn(1, 7, 384), hidden, hidden), out / LOWER, input_names=list(LOWER_INPUTS),
        output_names=["states"], dynamic_axes={name: {1: "tokens"} for name in (*LOWER_INPUTS, "states")},
    )  # fmt: skip
    window, tokens, claims = {1: "window"}, {1: "tokens"}, {1: "claims"}
    axes = {
        "window_states": window, "window_ids": window, "states": tokens, "ids": tokens, "owners": tokens, "marks": tokens,
        "window_marks": {1: "claims", 3: "window"}, "is_question": claims, "places": {1: "claims", 2: "longest"},
        "claim_logits": claims, "question_logits": claims, "token_logits": tokens,
    }  # fmt: skip
    export_int8(
        _Upper(reader), example(), out / UPPER, input_names=list(UPPER_INPUTS), output_names=list(UPPER_OUTPUTS), dynamic_axes=axes
    )  # fmt: skip


def main() -> None:
    """Export and tell the sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    export(reader_of(options.checkpoint), options.out)
    for name in (LOWER, UPPER):
        print(f"{name}: {(options.out / name).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
