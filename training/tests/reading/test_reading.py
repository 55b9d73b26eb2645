"""The reader: what it is trained on, what it looks at, and that its export says what it says."""

from __future__ import annotations

import json
import random
from dataclasses import fields
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from training.encoder import Shape
from training.examples import LABELS
from training.reading.batches import Pair, collated, epoch, estranged
from training.reading.export import LOWER, UPPER, example, export
from training.reading.material import marked, with_some_made, written
from training.reading.measuring import measured
from training.reading.model import Reader, Rows
from training.reading.start import new_reader, shipped_reader
from training.reading.states import States
from training.reading.train import Training, losses

pytestmark = pytest.mark.filterwarnings("ignore")

DOCUMENT = {
    "id": "a", "lang": "en", "domain": "ferries",
    "context": [{"source_id": "s", "text": "The ferry leaves at nine. Dogs travel free."}],
    "questions": [{"label": "answerable", "query": "When does the ferry leave?", "answers": ["nine"]}],
    "claims": [
        {"text": "It sets off at nine.", "lang": "en", "label": "supported", "kind": "paraphrase", "spans": []},
        {"text": "Dogs pay a fare.", "lang": "en", "label": "contradicted", "kind": "role", "spans": [[5, 15]]},
    ],
    "world": {
        "context": [{"source_id": "s", "text": "The ferry leaves at ten. For dogs a fare has to be paid, every time."}],
        "labels": ["contradicted", "supported"],
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def reader() -> Reader:
    """A whole one, of random weights."""
    torch.manual_seed(3)
    made = Reader(Shape(layers=12)).eval()
    with torch.no_grad():
        for parameter in made.parameters():  # no two alike: an export would store one of them
            parameter.add_(0.02 * torch.randn(parameter.shape))
    return made


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    """Three documents in two worlds."""
    path = tmp_path_factory.mktemp("written") / "train.jsonl"
    path.write_text("\n".join(json.dumps(DOCUMENT | {"id": name}) for name in "abc"), "utf-8")
    found = list(written(path))
    for pair in found:
        for read in pair:
            assert read is not None
            marked(read)
    return found


@pytest.fixture(scope="module")
def states(reader: Reader, documents: list[Pair]) -> States:
    found = States(reader)
    found.add([read for pair in documents for read in pair if read])
    return found


def test_the_same_places_hold_the_same_claims_in_both_worlds(documents: list[Pair]) -> None:
    """With the labels of their world; a sentence of each world is a claim in both; questions are asked in the first."""
    one, other = documents[0]
    assert other is not None
    claims = [asked for asked in one.asked if not asked.is_question]

    assert [asked.ids for asked in claims] == [asked.ids for asked in other.asked]
    assert [LABELS[a.label] for a in claims[:2]] == ["supported", "contradicted"]
    assert [LABELS[a.label] for a in other.asked[:2]] == ["contradicted", "supported"]
    assert [asked.is_question for asked in one.asked][-1]
    made = [(LABELS[a.label], LABELS[b.label]) for a, b in zip(claims, other.asked, strict=True) if a.is_made]
    assert {("supported", "not_supported"), ("not_supported", "supported")} < set(made)


def test_two_claims_in_one_are_supported_where_both_are(documents: list[Pair]) -> None:
    """One that holds beside one that does not is contradicted, in either world."""
    one, other = documents[0]
    assert other is not None
    pairs = [(LABELS[a.label], LABELS[b.label]) for a, b in zip(one.asked, other.asked, strict=False) if a.is_made]

    assert [pair for pair in pairs if "not_supported" not in pair] == [("contradicted", "contradicted")] * 2


def test_what_is_made_of_claims_is_drawn_anew_for_each_epoch(documents: list[Pair]) -> None:
    """At most so many, the same in both worlds, everything that was written beside them."""
    one, other = with_some_made(documents[0], 2, random.Random(1))
    assert other is not None
    whole = documents[0][0]

    assert sum(asked.is_made for asked in one.asked) == 2 < sum(asked.is_made for asked in whole.asked)
    assert [asked.ids for asked in one.asked if not asked.is_question] == [asked.ids for asked in other.asked]
    assert [asked for asked in one.asked if not asked.is_made] == [asked for asked in whole.asked if not asked.is_made]
    assert len(one.marks) == len(one.asked)


def test_tokens_without_support_are_known_where_the_writer_marked_them(documents: list[Pair]) -> None:
    """Marked in the first world, none where the claim is supported, unknown where only the second world contradicts it."""
    one, other = documents[0]
    assert other is not None

    assert not any(token > 0 for token in one.asked[0].tokens or [])
    assert any(token > 0 for token in one.asked[1].tokens or [])
    assert other.asked[0].tokens is None


def test_an_epoch_reads_every_document_once(documents: list[Pair]) -> None:
    """Both worlds of a document in the same step."""
    steps = epoch(documents, [], size=2, wanted=0, chance=random.Random(1))

    assert sorted(read.document for step in steps for read in step.reads) == sorted("aabbcc")
    assert all(step.reads[a].document == step.reads[b].document for step in steps for a, b in step.worlds)


def test_claims_against_another_document_are_unsupported(documents: list[Pair], states: States) -> None:
    """And never against the other world of their own, which may support them."""
    step = epoch(documents, [], size=3, wanted=0, chance=random.Random(1))[0]

    strange = estranged(step, random.Random(1))

    assert not strange.worlds
    assert {LABELS[asked.label] for read in strange.reads for asked in read.asked} == {"unsupported"}
    keys = [{read.key for read in step.reads if read.document == own.document} for own in step.reads]
    assert all(read.key not in own for read, own in zip(strange.reads, keys, strict=True))


def test_a_claim_sees_neither_other_claims_nor_padding(reader: Reader, documents: list[Pair], states: States) -> None:
    """Its logits are the same alone, beside others, and in a wider row."""
    one, other = documents[0]
    assert other is not None
    alone = type(other)(other.ids, other.sentences, other.asked[:1], key=other.key, marks=other.marks[:1])
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        of_alone, of_beside = reader(collated([alone], states).rows)[0], reader(collated([one, other], states).rows)[0]

    assert of_alone[0, 0].tolist() == pytest.approx(of_beside[1, 0].tolist(), abs=0.02)


def test_a_step_learns_and_is_measured(documents: list[Pair], tmp_path: Path) -> None:
    """The loss falls on the documents that are read again and again, and checkpoint and curve are written."""
    torch.manual_seed(4)
    reader = Reader(Shape(layers=12), dropout=0.0)
    found = States(reader)
    found.add([read for pair in documents for read in pair if read])
    training = Training(reader.train(), found, tmp_path, 1e-3)
    step = epoch(documents, [], size=3, wanted=0, chance=random.Random(1))[0]
    before = float(losses(reader, step, found)["claim"].detach())
    lower = {name: value.clone() for name, value in reader.lower.state_dict().items()}

    for _ in range(12):
        training.learn(step, 0.0)
    training.tell(1.0, {"held": documents})

    assert float(losses(reader, step, found)["claim"].detach()) < before
    assert all(torch.equal(value, lower[name]) for name, value in reader.lower.state_dict().items())
    row = json.loads((tmp_path / "curve.jsonl").read_text("utf-8"))
    assert row["held"]["all"] == measured(training.mean, documents, found)["all"]
    assert torch.load(tmp_path / "last.pt", weights_only=True)["step"] == training.steps


def test_the_export_says_what_the_reader_says_and_gives_it_back(reader: Reader, tmp_path: Path) -> None:
    """Up to what int8 weights explain; what is read back from the files is what runs."""
    export(reader, tmp_path)
    back = shipped_reader(tmp_path).eval()
    torch.manual_seed(7)
    inputs = example()
    names = [f.name for f in fields(Rows)]
    upper = onnxruntime.InferenceSession(str(tmp_path / UPPER), providers=["CPUExecutionProvider"])
    lower = onnxruntime.InferenceSession(str(tmp_path / LOWER), providers=["CPUExecutionProvider"])

    ran = upper.run(None, {name: value.numpy() for name, value in zip(names, inputs, strict=True)})
    text, places = torch.randn(1, 11, 384), torch.arange(11).unsqueeze(0)
    states = lower.run(None, {"embeddings": text.numpy(), "positions": places.numpy(), "kinds": (places * 0).numpy()})[
        0
    ]

    with torch.no_grad():
        for theirs, ours, exact in zip(ran, back(Rows(*inputs)), reader(Rows(*inputs)), strict=True):
            assert np.allclose(theirs, ours.numpy(), atol=1e-3)
            assert np.abs(theirs - exact.numpy()).mean() < 0.3
        seen = back.lower(text, places, places * 0, torch.zeros(1, 1, 1, 11))
        assert np.allclose(states, seen.numpy(), atol=1e-3)


def test_a_new_reader_has_the_layers_of_a_grounding_model() -> None:
    """The lower six as they are, the upper six below what is new."""
    from training.encoder import GroundingModel

    torch.manual_seed(5)
    model = GroundingModel(Shape(layers=12))

    made = new_reader(model.state_dict())

    assert torch.equal(made.lower.layers[5].q.weight, model.encoder.layers[5].q.weight)
    assert torch.equal(made.upper[0].fo.weight, model.encoder.layers[6].fo.weight)
    assert torch.equal(made.pooler.weight[:, :384], model.pooler.weight)
    assert made.upper[0].pair.abs().sum() > 0
