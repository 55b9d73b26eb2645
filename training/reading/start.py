"""Where a reader's training starts: from the weights of a grounding model, or from the files that were shipped before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from training.encoder import Shape
from training.reading.export import LOWER as LOWER_FILE
from training.reading.export import UPPER as UPPER_FILE
from training.reading.export import reader_of
from training.reading.model import LIKE, LOWER, MARKS, Reader

# What heads add at first for a pair of tokens of each kind; training moves it.
FIRST_ADDED = {LIKE: 0.5}
OTHERWISE_ADDED = 2.0
BEST_SENTENCE = MARKS + 3


def starting_reader(where: Path) -> tuple[Reader, bool]:
    """The reader of a checkpoint or of a folder of shipped files; a new one over the weights of a grounding model.

    Also says whether it is new.
    """
    if where.is_dir():
        return shipped_reader(where), False
    weights = torch.load(where, weights_only=True)["model"]
    if any(name.startswith("upper.") for name in weights):
        return reader_of(where), False
    return new_reader(weights), True


def shipped_reader(folder: Path) -> Reader:
    """The reader that was exported into a folder, as its int8 weights give it back."""
    found: dict[str, Tensor] = {}
    for file in (LOWER_FILE, UPPER_FILE):
        stored = {t.name: numpy_helper.to_array(t) for t in onnx.load(str(folder / file)).graph.initializer}
        stored = {name.removeprefix("reader."): value for name, value in stored.items()}
        for name, value in stored.items():
            if name.endswith(".int8"):
                found[name.removesuffix(".int8")] = _tensor(value * stored[name.replace(".int8", ".scale")])
            elif not name.endswith(".scale"):
                found[name] = _tensor(value)
    reader = Reader(Shape(layers=12))
    own = reader.state_dict()
    for name in own:
        # A matrix that is multiplied from the right is stored the other way round.
        own[name] = found[name] if name in found else found[f"{name}.turned"].T
    reader.load_state_dict(own)
    return reader


def _tensor(value: np.ndarray) -> Tensor:
    return torch.from_numpy(np.array(value, dtype=np.float32))


def new_reader(weights: dict[str, Tensor]) -> Reader:
    """A reader whose layers are those of a grounding model; what it has beside them is new."""
    reader = Reader(Shape(layers=12))
    own = reader.state_dict()
    own.update({_renamed(name): value for name, value in weights.items() if not name.startswith("pooler.weight")})
    own["pooler.weight"][:, : reader.shape.hidden] = weights["pooler.weight"]
    reader.load_state_dict(own)
    with torch.no_grad():
        for number, layer in enumerate(reader.upper):
            for head in range(reader.shape.heads):
                kind = (head + number % 2) % (LIKE + 1)
                layer.pair[head, kind] = FIRST_ADDED.get(kind, OTHERWISE_ADDED)
                layer.pair[head, BEST_SENTENCE] = float(head % 3 == 0)
        reader.pooler.weight[:, reader.shape.hidden :] = 0.01 * torch.randn(
            reader.shape.hidden, 2 * reader.shape.hidden
        )
        nn.init.normal_(reader.of_kind.weight, std=0.01)
        nn.init.normal_(reader.claim_marks.weight, std=0.02)
        nn.init.normal_(reader.question_head.weight, std=0.02)
    return reader


def _renamed(name: str) -> str:
    """What a weight of a grounding model is called in a reader."""
    if not name.startswith("encoder.layers."):
        return name.replace("encoder.", "lower.")
    _, _, number, rest = name.split(".", 3)
    return f"lower.layers.{number}.{rest}" if int(number) < LOWER else f"upper.{int(number) - LOWER}.{rest}"
