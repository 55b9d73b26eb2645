"""Export a checkpoint to ONNX with int8 weights, one scale a channel, computed with in float32.

    python -m training.export --checkpoint FILE --out FILE

Only the stored weights are int8. Activations stay float32, so the score of a pair does not depend on
what else is in its batch, as it would with dynamic quantisation.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from training.encoder import GroundingModel
from training.train import load_model

INPUTS = ("ids", "kinds", "mask")
OUTPUTS = ("claim_logits", "token_logits")
SMALLEST = 4096

Quantised = tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]


def quantise(weights: npt.NDArray[np.float32], axis: int) -> Quantised:
    """Symmetric int8 values and the scale of each channel along `axis`."""
    others = tuple(i for i in range(weights.ndim) if i != axis)
    peaks = np.abs(weights).max(axis=others, keepdims=True)
    scales = np.where(peaks == 0, 1.0, peaks / 127.0).astype(np.float32)
    return np.clip(np.rint(weights / scales), -127, 127).astype(np.int8), scales


def export_float(model: GroundingModel, path: Path) -> None:
    """Write the model as it is, with free batch size and length."""
    example = (torch.ones(2, 9, dtype=torch.long), torch.zeros(2, 9, dtype=torch.long), torch.ones(2, 9))
    axes = {name: {0: "batch", 1: "length"} for name in (*INPUTS, OUTPUTS[1])} | {OUTPUTS[0]: {0: "batch"}}
    torch.onnx.export(
        model, example, str(path), input_names=list(INPUTS), output_names=list(OUTPUTS),
        dynamic_axes=axes, opset_version=17, dynamo=False, do_constant_folding=True,
    )  # fmt: skip


def store_int8(graph: onnx.GraphProto) -> None:
    """Replace the large weights of a graph by int8 values that the graph turns back into float32."""
    users: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    front: list[onnx.NodeProto] = []
    for tensor in list(graph.initializer):
        weights = numpy_helper.to_array(tensor)
        if weights.dtype != np.float32 or weights.ndim != 2 or weights.size < SMALLEST:
            continue
        node = users[tensor.name][0]
        if node.op_type == "Gather":
            _store_table(graph, tensor, node, weights)
        else:
            transposed = any(a.name == "transB" and a.i for a in node.attribute)
            front += _store_matrix(graph, tensor, weights, axis=0 if transposed else 1)
    nodes = [*front, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def _store_matrix(
    graph: onnx.GraphProto, tensor: onnx.TensorProto, weights: npt.NDArray[np.float32], axis: int
) -> list[onnx.NodeProto]:
    """A matrix used whole: turned back once, when the model is loaded."""
    name = tensor.name
    values, scales = quantise(weights, axis)
    _replace(graph, tensor, values, scales)
    return [
        helper.make_node("Cast", [f"{name}.int8"], [f"{name}.cast"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{name}.cast", f"{name}.scale"], [name]),
    ]


def _store_table(
    graph: onnx.GraphProto, tensor: onnx.TensorProto, node: onnx.NodeProto, weights: npt.NDArray[np.float32]
) -> None:
    """A table used by rows: only the rows looked up are turned back."""
    name, result, ids = tensor.name, node.output[0], node.input[1]
    values, scales = quantise(weights, 0)
    _replace(graph, tensor, values, scales)
    made = [
        helper.make_node("Gather", [f"{name}.int8", ids], [f"{result}.rows"], axis=0),
        helper.make_node("Cast", [f"{result}.rows"], [f"{result}.cast"], to=TensorProto.FLOAT),
        helper.make_node("Gather", [f"{name}.scale", ids], [f"{result}.scales"], axis=0),
        helper.make_node("Mul", [f"{result}.cast", f"{result}.scales"], [result]),
    ]
    place = list(graph.node).index(node)
    nodes = list(graph.node)
    nodes[place : place + 1] = made
    del graph.node[:]
    graph.node.extend(nodes)


def _replace(
    graph: onnx.GraphProto, tensor: onnx.TensorProto, values: npt.NDArray[np.int8], scales: npt.NDArray[np.float32]
) -> None:
    name = tensor.name
    graph.initializer.remove(tensor)
    graph.initializer.append(numpy_helper.from_array(values, f"{name}.int8"))
    graph.initializer.append(numpy_helper.from_array(scales, f"{name}.scale"))


def export(model: GroundingModel, out: Path) -> None:
    """Write `model` with int8 weights to `out`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "float.onnx"
        export_float(model, path)
        loaded = onnx.load(str(path))
    store_int8(loaded.graph)
    onnx.checker.check_model(loaded)
    out.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(loaded, str(out))


def main() -> None:
    """Export and tell the size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    export(load_model(options.checkpoint), options.out)
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
