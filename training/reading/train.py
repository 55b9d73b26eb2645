"""Train the reader on claims in two worlds, with other sets for breadth.

    python -m training.reading.train --start RUN/mean.pt --written training/written --data DATA/train --snli SNLI --out RUN/reader

`--start` is a checkpoint of the grounding model, one of a reader, or the folder of the shipped files (`src/stillme/models/weights`), to
go on from. Lower layers that stay as they are (`--lower` says how many do not) make the same of every text, which is computed once.
`--minutes` is time spent training: the rate falls to its last value exactly then. Checkpoint and curve are written every `--every` steps,
both of the running mean of the weights, which reads better than the weights of any one step.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from training.examples import LABELS, NOT_SUPPORTED, grounding_examples, is_held_out, snli_examples
from training.reading.batches import Batch, Pair, Step, collated, epoch, estranged
from training.reading.material import Read, marked, public, written
from training.reading.measuring import margins, measured
from training.reading.model import LIKE, LOWER, Reader
from training.reading.start import starting_reader
from training.reading.states import HALF, States

SETS = (
    "fever_nli", "factcheck_bench", "q2", "fool_me_twice_dev", "defacto", "defacto_edits", "factcg_cg2c", "xsum_faith",
)  # fmt: skip
MOST_OF_A_SET = {"fever_nli": 2500, "snli": 15000}
OTHERWISE_OF_A_SET = 800
HELD_DOCUMENTS = 64
WARM_UP_STEPS = 100
LAST_SHARE = 0.04
# How often a step reads claims of one document against another's window.
STRANGE = 0.08
NEW_PARTS = ("pair", "claim_marks", "of_kind", "question_head")
NEW_PARTS_RATE = 5.0
LOWER_RATE = 0.5
# How much of the running mean of the weights stays from one step to the next.
KEPT = 0.995
WEIGHTS = {"claim": 1.0, "rank": 1.0, "centre": 0.2, "token": 0.5, "question": 0.3}


def losses(reader: Reader, step: Step, states: States) -> dict[str, Tensor]:
    """What the reader gets wrong: labels of claims and questions, tokens that lack support, and claims ranked higher in the wrong world."""
    batch = collated(step.reads, states)
    with torch.autocast("cpu", HALF):
        rows = reader.finished(batch.rows, states.read, batch.texts)
        of_claims, of_questions, of_tokens = (logits.float() for logits in reader(rows))
    is_question = batch.rows.is_question
    is_claim = (batch.labels >= 0) & ~is_question
    found = {"claim": _claim_loss(of_claims, batch, is_claim)}
    if (asked := is_question & (batch.labels >= 0)).any():
        found["question"] = functional.cross_entropy(of_questions[asked], batch.labels[asked])
    if (known := batch.token_labels >= 0).any():
        labels = batch.token_labels[known].float()
        found["token"] = functional.binary_cross_entropy_with_logits(of_tokens[known], labels)
    if step.worlds:
        found |= _loss_over_worlds(margins(of_claims), batch, is_claim, step)
    return found


def _claim_loss(logits: Tensor, batch: Batch, is_claim: Tensor) -> Tensor:
    """Half for the label, half for support or none; the whole for the latter where no more is known."""
    chances = functional.log_softmax(logits, -1)
    three_way = -chances.gather(-1, batch.labels.clamp(0, 2).unsqueeze(-1)).squeeze(-1)
    two_way = -torch.where(batch.labels == 0, chances[..., 0], torch.logsumexp(chances[..., 1:], -1))
    known = batch.labels < LABELS.index(NOT_SUPPORTED)
    each = torch.where(known, 0.5 * three_way + 0.5 * two_way, two_way) * batch.weights
    return each[is_claim].sum() / batch.weights[is_claim].sum().clamp(min=1)


def _loss_over_worlds(margin: Tensor, batch: Batch, is_claim: Tensor, step: Step) -> dict[str, Tensor]:
    """Of claims that flip: ranked higher in the wrong world, and taken for likely or unlikely in both worlds together.

    What a claim scores in both worlds together says how it is worded and not what the sources say, and it costs as many claims as order.
    """
    ranks, centres = [], []
    for one, other in step.worlds:
        supported = batch.labels[one] == 0
        flipped = is_claim[one] & is_claim[other] & (supported != (batch.labels[other] == 0))
        lead = (margin[one] - margin[other]) * torch.where(supported, 1.0, -1.0)
        ranks.append(functional.softplus(-lead[flipped]))
        centres.append(((margin[one] + margin[other]) / 2)[flipped] ** 2)
    return {"rank": torch.cat(ranks).mean(), "centre": torch.cat(centres).mean()}


def other_sets(data: Path | None, snli: Path | None, chance: random.Random) -> Iterator[Read]:
    """Windows of the public sets, without the documents that are held back."""
    for name in SETS if data else ():
        found = [example for example in grounding_examples(data / f"{name}.jsonl") if not is_held_out(example)]  # type: ignore[operator]
        chance.shuffle(found)
        yield from public(found[: MOST_OF_A_SET.get(name, OTHERWISE_OF_A_SET)])
    if snli:
        yield from public([e for e in snli_examples(snli) if not is_held_out(e)][: MOST_OF_A_SET["snli"]])


def set_likeness(reader: Reader, documents: list[Pair], states: States) -> None:
    """Bring the likeness of states to mean zero and spread one, as new heads expect it."""
    batch = collated([read for pair in documents for read in pair if read], states)
    with torch.no_grad():
        rows = reader.finished(batch.rows, states.read, batch.texts)
        window = rows.window_ids.shape[1]
        likeness = reader.pairs(rows)[:, LIKE, :, :window][rows.ids.unsqueeze(2).expand(-1, -1, window) > 1]
        reader.like_mean.fill_(float(likeness.mean()))
        reader.like_scale.fill_(1.0 / float(likeness.std()))


def rate_of(name: str) -> float:
    """How much faster a weight learns than most: what is new faster, the lower layers slower."""
    if name.startswith("lower."):
        return LOWER_RATE
    return NEW_PARTS_RATE if any(part in name for part in NEW_PARTS) else 1.0


class Training:
    """A reader, its optimiser, and what is written of both."""

    def __init__(self, reader: Reader, states: States, out: Path, rate: float) -> None:
        self.reader, self.states, self.out, self.rate = reader, states, out, rate
        reader.lower.requires_grad_(False)
        reader.lower.layers[states.read :].requires_grad_(True)
        by_rate: dict[float, list[torch.nn.Parameter]] = defaultdict(list)
        for name, parameter in reader.named_parameters():
            if parameter.requires_grad:
                by_rate[rate_of(name)].append(parameter)
        self.parameters = [parameter for found in by_rate.values() for parameter in found]
        groups = [{"params": found, "scale": scale} for scale, found in by_rate.items()]
        self.optimiser = torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), weight_decay=0.02)
        self.mean = copy.deepcopy(reader).requires_grad_(False)
        self.steps, self.started = 0, time.time()
        self.sums: dict[str, list[float]] = defaultdict(list)

    def learn(self, step: Step, spent: float) -> None:
        """One step, at the rate that the share of the time spent says."""
        falling = LAST_SHARE + (1 - LAST_SHARE) * 0.5 * (1 + math.cos(math.pi * spent))
        rate = self.rate * min(1.0, (self.steps + 1) / WARM_UP_STEPS) * falling
        for group in self.optimiser.param_groups:
            group["lr"] = rate * group["scale"]
        found = losses(self.reader, step, self.states)
        self.optimiser.zero_grad()
        torch.stack([WEIGHTS[name] * value for name, value in found.items()]).sum().backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimiser.step()
        self.steps += 1
        with torch.no_grad():
            for mean, now in zip(self.mean.parameters(), self.reader.parameters(), strict=True):
                mean.lerp_(now, 1 - min(KEPT, self.steps / (self.steps + 10)))
        for name, value in found.items():
            self.sums[name if step.worlds else f"other {name}"].append(float(value.detach()))

    def tell(self, epochs: float, sets: dict[str, list[Pair]]) -> None:
        """Measure, add to the curve, and write a checkpoint that is whole or not there."""
        row: dict[str, Any] = {
            "step": self.steps,
            "epoch": round(epochs, 2),
            "minutes": round((time.time() - self.started) / 60, 1),
        }
        row |= {name: round(float(np.mean(values)), 4) for name, values in self.sums.items()}
        row |= {name: measured(self.mean, documents, self.states) for name, documents in sets.items()}
        self.sums.clear()
        with (self.out / "curve.jsonl").open("a", encoding="utf-8") as curve:
            curve.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)
        torch.save({"model": self.mean.state_dict(), "step": self.steps}, self.out / "new.pt")
        (self.out / "new.pt").rename(self.out / "last.pt")


def run(options: argparse.Namespace) -> None:
    """Prepare, then train until the time is over."""
    torch.manual_seed(options.seed)
    chance = random.Random(options.seed)
    reader, is_new = starting_reader(options.start)
    documents = [*written(options.written / "train.jsonl"), *written(options.written / "questions.jsonl")][
        : options.limit
    ]
    others = list(other_sets(options.data, options.snli, chance))
    sets = {"held": list(written(options.written / "held.jsonl", copies=False))[:HELD_DOCUMENTS]}
    reads = [read for pairs in (documents, *sets.values()) for pair in pairs for read in pair if read] + others
    for read in reads:
        marked(read)
    states = States(reader, LOWER - options.lower)
    states.add(reads)
    print(f"{len(documents)} documents, {len(others)} windows of other sets", flush=True)
    if is_new:
        set_likeness(reader, documents[:8], states)
    training = Training(reader.train(), states, options.out, options.rate)
    training.tell(0, sets)
    for number in range(1_000_000):
        steps = epoch(documents, others, options.size, options.others, chance)
        for n, step in enumerate(steps):
            spent = (time.time() - training.started) / (60 * options.minutes)
            if spent >= 1:
                training.tell(number + n / len(steps), sets)
                return
            is_strange = step.worlds and chance.random() < STRANGE
            training.learn(estranged(step, chance) if is_strange else step, spent)
            if training.steps % options.every == 0:
                training.tell(number + (n + 1) / len(steps), sets)


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", type=Path, required=True)
    parser.add_argument("--written", type=Path, required=True, help="folder of documents in two worlds")
    parser.add_argument("--data", type=Path, help="folder of the public training sets")
    parser.add_argument("--snli", type=Path, help="SNLI training file, JSONL")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=75)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--size", type=int, default=3, help="documents a step, each in both worlds")
    parser.add_argument("--others", type=int, default=4000, help="windows of other sets an epoch")
    parser.add_argument("--lower", type=int, default=0, help="how many of the lower layers are trained, too")
    parser.add_argument("--limit", type=int, help="only so many documents")
    parser.add_argument("--every", type=int, default=300)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(options.threads)
    run(options)


if __name__ == "__main__":
    main()
