"""Encoders of published shapes with random weights, to compare speed with: what a pass costs does not depend on the weights.

The graphs are ONNX, written with the few fields of the format that they need, so that nothing but ONNX Runtime has to be
installed. Both follow ModernBERT: rotated positions, GeGLU, no biases, a norm before each half of a layer. As published,
two layers of three attend to the 128 tokens around a token. Libraries run those on a processor as full attention with a
mask (`full`); computed in blocks they cost less (`blocks`). Both use the fused attention of ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

__all__ = ["MODERNBERT_BASE", "SEVEN_LAYERS", "TINY", "Attention", "Shape", "encoder", "model_bytes", "parameters"]

Attention = Literal["full", "blocks"]

FLOAT, INT64 = 1, 7
MOST_TOKENS: Final = 4096
BLOCK: Final = 64
LABELS: Final = 2
SEED: Final = 20
OURS: Final = "com.microsoft"
END: Final = 2**62


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of an encoder."""

    name: str
    layers: int
    width: int
    feed_forward: int
    heads: int
    vocabulary: int = 50_368
    global_every: int = 3
    """One layer of so many attends to the whole text."""


MODERNBERT_BASE: Final = Shape("ModernBERT-base", 22, 768, 1152, 12)
SEVEN_LAYERS: Final = Shape("7 layers, 256 wide", 7, 256, 384, 4)
TINY: Final = Shape("2 layers, 64 wide", 2, 64, 96, 2, 512)


# the format: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto


def _varint(number: int) -> bytes:
    found = bytearray()
    number &= 2**64 - 1
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _message(*fields: tuple[int, int | str | bytes]) -> bytes:
    """Fields by their number, each a whole number, a text or a message."""
    parts: list[bytes] = []
    for number, value in fields:
        if isinstance(value, int):
            parts += [_varint(number << 3), _varint(value)]
        else:
            content = value.encode() if isinstance(value, str) else value
            parts += [_varint(number << 3 | 2), _varint(len(content)), content]
    return b"".join(parts)


def _attribute(name: str, value: int) -> bytes:
    return _message((1, name), (3, value), (20, 2))


def _value(name: str, kind: int, dimensions: Sequence[int | str]) -> bytes:
    """An input or output; a dimension that is not fixed has a name."""
    shape = b"".join(
        _message((1, _message((1, d) if isinstance(d, int) else (2, d)))) for d in dimensions
    )  # TensorShapeProto.dim
    return _message((1, name), (2, _message((1, _message((1, kind), (2, shape))))))


def _given(name: str, kind: int, dimensions: Sequence[int], raw: bytes | None) -> bytes:
    """A tensor with its bytes, or one whose values are handed over when the graph is loaded."""
    sizes = [(1, d) for d in dimensions]
    where: tuple[tuple[int, int | str | bytes], ...] = (
        ((9, raw),) if raw is not None else ((13, _message((1, "location"), (2, name))), (14, 1))
    )
    return _message(*sizes, (2, kind), (8, name), *where)


# the graphs


@dataclass(slots=True)
class _Graph:
    """Nodes in order, and by name the weights that they use."""

    shape: Shape
    nodes: list[bytes] = field(default_factory=list)
    weights: dict[str, tuple[int, ...]] = field(default_factory=dict)
    constants: dict[str, tuple[int, ...]] = field(default_factory=dict)
    count: int = 0

    def node(self, kind: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: int) -> list[str]:
        """Add a node; the names of what it gives."""
        names = [f"x{self.count + n}" for n in range(outputs)]
        self.count += outputs
        self.nodes.append(
            _message(
                *((1, name) for name in inputs),
                *((2, name) for name in names),
                (4, kind),
                *((5, _attribute(name, value)) for name, value in attributes.items()),
                (7, domain),
            )
        )
        return names

    def one(self, kind: str, *inputs: str, domain: str = "", **attributes: int) -> str:
        """Add a node that gives one tensor."""
        return self.node(kind, *inputs, domain=domain, **attributes)[0]

    def weight(self, *dimensions: int) -> str:
        """A new weight."""
        name = f"w{len(self.weights)}"
        self.weights[name] = dimensions
        return name

    def constant(self, *numbers: int) -> str:
        """A list of whole numbers."""
        name = "_".join(["c", *map(str, numbers)])
        self.constants[name] = numbers
        return name

    def linear(self, given: str, width: int, wanted: int) -> str:
        """A matrix without bias."""
        return self.one("MatMul", given, self.weight(width, wanted))

    def norm(self, given: str) -> str:
        """A norm without bias."""
        return self.one("LayerNormalization", given, self.weight(self.shape.width), axis=-1)

    def slice(self, given: str, start: int, end: int) -> str:
        """Some of the tokens."""
        return self.one("Slice", given, self.constant(start), self.constant(end), self.constant(1))


def _attend(graph: _Graph, query: str, key: str, value: str) -> str:
    return graph.one("MultiHeadAttention", query, key, value, domain=OURS, num_heads=graph.shape.heads)


def _attend_in_blocks(graph: _Graph, query: str, key: str, value: str) -> str:
    """Each block of tokens attends to itself and to the blocks beside it; zeros stand before the first and behind the last."""
    width = graph.shape.width
    blocks = graph.constant(-1, BLOCK, width)
    queries = graph.one("Reshape", graph.one("Pad", query, "fill"), blocks)
    sides: list[str] = []
    for given in (key, value):
        padded = graph.one("Pad", graph.one("Pad", given, "fill"), graph.constant(0, BLOCK, 0, 0, BLOCK, 0))
        near = [(0, -2 * BLOCK), (BLOCK, -BLOCK), (2 * BLOCK, END)]
        cut = [graph.one("Reshape", graph.slice(padded, start, end), blocks) for start, end in near]
        sides.append(graph.one("Concat", *cut, axis=1))
    joined = graph.one("Reshape", _attend(graph, queries, *sides), graph.constant(1, -1, width))
    return graph.one("Slice", joined, graph.constant(0), "length", graph.constant(1))


def _layer(graph: _Graph, given: str, attend: Callable[..., str]) -> str:
    shape = graph.shape
    read = graph.linear(graph.norm(given), shape.width, 3 * shape.width)
    query, key, value = graph.node("Split", read, outputs=3, axis=2, num_outputs=3)
    turned = [graph.one("RotaryEmbedding", part, "positions", "cosines", "sines", domain=OURS) for part in (query, key)]
    given = graph.one("Add", given, graph.linear(attend(graph, *turned, value), shape.width, shape.width))
    wide = graph.linear(graph.norm(given), shape.width, 2 * shape.feed_forward)
    half, gate = graph.node("Split", wide, outputs=2, axis=2, num_outputs=2)
    gated = graph.one("Mul", graph.one("Gelu", half), gate)
    return graph.one("Add", given, graph.linear(gated, shape.feed_forward, shape.width))


def _graph(shape: Shape, attention: Attention) -> tuple[_Graph, str]:
    graph = _Graph(shape)
    found = graph.norm(graph.one("Gather", graph.weight(shape.vocabulary, shape.width), "ids"))
    for n in range(shape.layers):
        local = attention == "blocks" and n % shape.global_every
        found = _layer(graph, found, _attend_in_blocks if local else _attend)
    return graph, graph.linear(graph.norm(found), shape.width, LABELS)


def parameters(shape: Shape) -> int:
    """How many weights an encoder of this shape has, without the two labels at its end."""
    layer = 4 * shape.width**2 + 3 * shape.width * shape.feed_forward + 2 * shape.width
    return shape.vocabulary * shape.width + shape.layers * layer + 2 * shape.width


def model_bytes(shape: Shape, attention: Attention) -> tuple[bytes, dict[str, tuple[int, ...]]]:
    """An ONNX model, and the sizes of the weights that it has to be given."""
    graph, last = _graph(shape, attention)
    turning = (MOST_TOKENS, shape.width // shape.heads // 2)
    weights = {**graph.weights, "cosines": turning, "sines": turning}
    inputs = [_value("ids", INT64, (1, "n")), _value("positions", INT64, (1, "n"))]
    if attention == "blocks":
        inputs += [_value("fill", INT64, (6,)), _value("length", INT64, (1,))]
    content = _message(
        *((1, node) for node in graph.nodes),
        (2, "encoder"),
        *((5, _given(name, FLOAT, size, None)) for name, size in weights.items()),
        *((5, _given(name, INT64, (len(held),), _raw(held))) for name, held in graph.constants.items()),
        *((11, given) for given in inputs),
        (12, _value(last, FLOAT, (1, "n", LABELS))),
    )
    opsets = [(8, _message((1, ""), (2, 20))), (8, _message((1, OURS), (2, 1)))]
    return _message((1, 9), (7, content), *opsets), weights


def _raw(numbers: Sequence[int]) -> bytes:
    return b"".join(number.to_bytes(8, "little", signed=True) for number in numbers)


def encoder(shape: Shape, attention: Attention, threads: int) -> Callable[[int], Any]:
    """A function that runs one pass over so many tokens; the weights are drawn when this is called."""
    import numpy  # noqa: PLC0415  (with ONNX Runtime, only where speed is compared)
    import onnxruntime  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # as the shipped model is run
    model, weights = model_bytes(shape, attention)
    held = {name: onnxruntime.OrtValue.ortvalue_from_numpy(values) for name, values in _drawn(weights)}
    options.add_external_initializers(list(held), list(held.values()))
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    draw = numpy.random.default_rng(SEED)

    def run(tokens: int) -> Any:
        given = {
            "ids": draw.integers(0, shape.vocabulary, (1, tokens)),
            "positions": numpy.arange(tokens)[None],
        }
        if attention == "blocks":
            given |= {"fill": numpy.array([0, 0, 0, 0, -tokens % BLOCK, 0]), "length": numpy.array([tokens])}
        return session.run(None, given)[0]

    return run


def _drawn(weights: dict[str, tuple[int, ...]]) -> Iterator[tuple[str, Any]]:
    import numpy  # noqa: PLC0415

    draw = numpy.random.default_rng(SEED)
    for name, size in weights.items():
        values = draw.standard_normal(size, dtype="float32")
        yield name, numpy.ones_like(values) if len(size) == 1 else values * numpy.float32(0.02)
