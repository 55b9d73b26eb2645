"""Average the weights of checkpoints of one lineage: it keeps what the earlier one knew of other texts and what the later one learnt.

python -m training.average --checkpoints A/last.pt B/last.pt [--shares 0.5 0.5] --out FILE
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch


def averaged(states: Sequence[dict[str, Any]], shares: Sequence[float]) -> dict[str, Any]:
    """One checkpoint of the weighed mean of all weights, without the state of any optimiser."""
    if len(states) != len(shares) or abs(sum(shares) - 1) > 1e-6:
        raise ValueError(f"give one share for each of the {len(states)} checkpoints, 1 in all, got {list(shares)}")
    if any(state["shape"] != states[0]["shape"] for state in states):
        raise ValueError("the checkpoints are of different shapes")
    weighed = list(zip(states, shares, strict=True))
    model = {name: sum(state["model"][name] * share for state, share in weighed) for name in states[0]["model"]}
    return {"shape": states[0]["shape"], "model": model}


def main() -> None:
    """Read, average, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoints", type=Path, nargs="+", required=True)
    parser.add_argument("--shares", type=float, nargs="+", help="how much each counts; alike when not given")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    states = [torch.load(path, weights_only=False) for path in options.checkpoints]
    torch.save(averaged(states, options.shares or [1 / len(states)] * len(states)), options.out)


if __name__ == "__main__":
    main()
