"""Fits how exact features and model are joined, and writes it beside the model.

    python -m training.fit_cascade --held-out WORK/held_out.jsonl --choose DATA/dev            prints the figures
    python -m training.fit_cascade --held-out WORK/held_out.jsonl --choose DATA/dev --write    also writes them into the manifest

It runs the package as it is installed: what is fitted is what is shipped.

What exact features weigh beside the model, from which score on they settle a claim alone, and which tokens lack support is fitted on
held-out training claims written by people (made ones are easier than life). Where the middle lies and how steeply probability rises
around it cannot be: on sets that the model was not trained on it doubts more. Those three numbers are chosen on rows of sets that
nothing was trained on, of the half of their documents that `benchmarks.grounding --half choosing` names; figures are given on the
other half. Every set counts the same.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.grounding import AS_OF, chosen_files, half, judged_claims, kind_of, read_set, sample, set_files

from stillme.evidence import Evidence
from stillme.grounding.cascade import LEAST_EXACT, CascadeGrounder, Joining, is_refuted, is_whole, joining
from stillme.grounding.grounder import GroundingTask
from stillme.models.bundle import WEIGHTS
from training import examples, metrics
from training.examples import SUPPORTED, Example

SETTLED_PRECISION = 0.8
LEAST_SETTLED = 40
EXACT_WEIGHTS = [round(0.05 * n, 2) for n in range(31)]
ABOUT_EQUAL = 0.004
SYNTHETIC = ("synthetic", "premises")
LANGUAGES = ("en", "vi")


@dataclass(frozen=True, slots=True)
class Point:
    """An example by its weakest claim: one that exact features refute, else the one that the model supports least."""

    dataset: str
    lang: str
    exact: float
    margin: float
    supported: bool
    refuted: bool
    """Exact features speak against it: the model is not asked."""
    whole: bool
    """Every word of it stands in a source: the model is not asked if the exact score is high."""
    lacking: tuple[tuple[int, int], ...] | None
    tokens: tuple[tuple[tuple[int, int], float], ...]


def held_out(path: Path, each: int, seed: int = 7) -> list[Example]:
    """Of every set up to `each` examples of each side, the same ones each time."""
    pools: dict[tuple[str, str, bool], list[Example]] = defaultdict(list)
    for example in examples.read(path):
        pools[example.dataset, example.lang, example.label == SUPPORTED].append(example)
    chance = random.Random(seed)
    return [e for key in sorted(pools) for e in chance.sample(pools[key], min(each, len(pools[key])))]


def training_points(found: Iterable[Example]) -> Iterator[Point]:
    """What the installed package sees of held-out training examples."""
    for e in found:
        task = Evidence.of(draft=e.claim, passages=e.passages).grounding_task
        yield from point(task, e.dataset, e.lang, e.label == SUPPORTED, e.spans)


def choosing_points(folder: Path, each: int) -> Iterator[Point]:
    """What it sees of the choosing half of sets that nothing was trained on."""
    for path in chosen_files(set_files([folder]), None):
        if kind_of(path) != "grounding":
            continue
        found = half(read_set(path, "grounding"), "choosing")
        if len({e.positive for e in found}) == 1:
            continue
        for e in sample(found, each, path.stem):
            evidence = Evidence(e.request, AS_OF)
            yield from point(judged_claims(evidence), path.stem, e.lang, not e.positive, e.spans)


def point(
    task: GroundingTask, dataset: str, lang: str, supported: bool, spans: tuple[tuple[int, int], ...] | None
) -> Iterator[Point]:
    """An example by its weakest claim; none if there is nothing to read."""
    read = CascadeGrounder(exact_first=False).readings(task)
    if read:
        weakest = min(read, key=lambda r: (not is_refuted(r.exact), is_whole(r.exact), r.margin))
        exact = weakest.exact
        tokens = tuple(t for r in read for t in r.tokens)
        yield Point(
            dataset, lang, exact.score, weakest.margin, supported, is_refuted(exact), is_whole(exact), spans, tokens
        )  # fmt: skip


def _log_odds(rows: Sequence[Point]) -> Any:
    exact = np.clip([row.exact for row in rows], LEAST_EXACT, 1 - LEAST_EXACT)
    return np.log(exact / (1 - exact))


def exact_weight(rows: Sequence[Point]) -> float:
    """What exact features weigh where the model weighs 1.

    Of the weights that order the two sides about equally well, the highest: what exact features say can be shown to a person.
    """
    by_set: dict[tuple[str, str], list[Point]] = defaultdict(list)
    for row in rows:
        by_set[row.dataset, row.lang].append(row)
    both = [own for own in by_set.values() if len({row.supported for row in own}) == 2]

    def order(weight: float) -> float:
        return float(np.mean([
            metrics.roc_auc([row.supported for row in own], weight * _log_odds(own) + [row.margin for row in own]) for own in both
        ]))  # fmt: skip

    tried = {weight: order(weight) for weight in EXACT_WEIGHTS}
    return max(weight for weight, found in tried.items() if found >= max(tried.values()) - ABOUT_EQUAL)


def middle(rows: Sequence[Point], exact: float) -> tuple[float, float, float]:
    """How steeply the probability rises, and the bias of each language: a logistic regression, every set counting the same."""
    count: dict[str, int] = defaultdict(int)
    for row in rows:
        count[row.dataset] += 1
    share = np.array([1 / count[row.dataset] for row in rows])
    joined = exact * _log_odds(rows) + np.array([row.margin for row in rows])
    design = np.stack([joined, *([row.lang == lang for row in rows] for lang in LANGUAGES)], axis=1).astype(float)
    truth = np.array([float(row.supported) for row in rows])
    beta = np.zeros(1 + len(LANGUAGES))
    for _ in range(100):
        chance = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        slope = design.T @ (share * (truth - chance)) - 1e-4 * beta
        curve = (design * (share * chance * (1 - chance))[:, None]).T @ design + 1e-4 * np.eye(len(beta))
        beta += np.linalg.solve(curve, slope)
    return float(max(beta[0], 0.01)), float(beta[1]), float(beta[2])


def support_threshold(rows: Sequence[Point], found: Joining) -> float:
    """The probability from which on a claim counts as supported: where most of both sides is told right, over all sets."""
    by_set: dict[str, list[Point]] = defaultdict(list)
    for row in rows:
        by_set[row.dataset].append(row)

    def right(at: float) -> float:
        return float(np.mean([
            metrics.balanced_accuracy([r.supported for r in own], [probability(r, found) >= at for r in own])
            for own in by_set.values()
        ]))  # fmt: skip

    tried = {round(0.01 * n, 2): right(0.01 * n) for n in range(25, 61)}
    good = [at for at, share in tried.items() if share >= max(tried.values()) - ABOUT_EQUAL]
    return good[len(good) // 2]


def probability(row: Point, found: Joining) -> float:
    """That the example is supported."""
    if row.whole and row.exact >= found.settled_above:
        return row.exact
    return 0.0 if row.refuted else found.probability(row.exact, row.margin, row.lang)


def settled(rows: Sequence[Point]) -> tuple[float, float]:
    """From which exact score on whole claims are supported, and down from which claims are not, as surely as is asked for."""
    count: dict[tuple[str, str, bool], int] = defaultdict(int)
    for row in rows:
        count[row.dataset, row.lang, row.supported] += 1
    share = [1 / count[row.dataset, row.lang, row.supported] for row in rows]

    def first(at: Iterable[float], chosen: Callable[[Point, float], bool], wanted: bool, default: float) -> float:
        for bound in at:
            found = [n for n, row in enumerate(rows) if chosen(row, bound)]
            good = sum(share[n] for n in found if rows[n].supported is wanted)
            if len(found) >= LEAST_SETTLED and good >= SETTLED_PRECISION * sum(share[n] for n in found):
                return bound
        return default

    scores = sorted({row.exact for row in rows})
    above = first(scores, lambda row, bound: row.whole and row.exact >= bound, True, 1.0)
    below = first(scores[::-1], lambda row, bound: row.exact < bound, False, 0.0)
    return above, below


def token_threshold(rows: Sequence[Point]) -> float:
    """The token logit at which the characters that lack support are found best."""
    known = [row for row in rows if row.lacking and not row.supported]

    def f1(at: float) -> float:
        marked = [[span for span, lacks in row.tokens if lacks > at] for row in known]
        return metrics.span_f1([row.lacking or () for row in known], marked)

    return max((float(at) for at in np.arange(-3.0, 3.01, 0.25)), key=f1) if known else 0.0


def fitted(of_training: Sequence[Point], of_choosing: Sequence[Point]) -> Joining:
    """Everything that the cascade needs to know."""
    natural = [row for row in of_training if not row.dataset.startswith(SYNTHETIC) and not row.refuted]
    above, below = settled(natural)

    def asked(rows: Sequence[Point]) -> list[Point]:
        return [row for row in rows if not row.refuted and not (row.whole and row.exact >= above)]

    weight = exact_weight(asked(natural))
    steep, bias, bias_vi = (round(value, 4) for value in middle(asked(of_choosing), weight))
    made = Joining(round(weight * steep, 4), steep, bias, bias_vi, above, below, token_at=token_threshold(of_training))
    return replace(made, support_at=support_threshold(of_choosing, made))


def report(rows: Sequence[Point], found: Joining) -> None:
    """The figures of each set, and how probabilities fare over all of them."""
    for name in sorted({(row.dataset, row.lang) for row in rows}):
        chosen = [row for row in rows if (row.dataset, row.lang) == name]
        lacking = [not row.supported for row in chosen]
        scores = [1 - probability(row, found) for row in chosen]
        by = {
            "exact": [1 - row.exact for row in chosen],
            "model": [-row.margin for row in chosen],
            "joined": scores,
        }
        aucs = " ".join(f"{key} {metrics.roc_auc(lacking, values):.3f}" for key, values in by.items())
        right = metrics.balanced_accuracy(lacking, [s > 1 - found.support_at for s in scores])
        off = metrics.calibration_error(lacking, scores)
        print(
            f"{'/'.join(name):24} rows {len(chosen):4} auc: {aucs}  balanced accuracy {right:.3f}  calibration error {off:.3f}"
        )
    lacking, scores = [not row.supported for row in rows], [1 - probability(row, found) for row in rows]
    print(f"all: calibration error {metrics.calibration_error(lacking, scores):.3f}")


def kept(path: Path | None, made: Callable[[], Iterable[Point]]) -> list[Point]:
    """What was read before, or is now."""
    if path is None:
        return list(made())
    if not path.exists():
        path.write_text(json.dumps([asdict(row) for row in made()]), "utf-8")
    return [Point(**row) for row in json.loads(path.read_text("utf-8"))]


def main() -> None:
    """Fit, report, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", type=Path, required=True, help="held-out training examples")
    parser.add_argument("--choose", type=Path, required=True, help="folder of sets that nothing was trained on")
    parser.add_argument("--each", type=int, default=60, help="examples of each side of a training set")
    parser.add_argument("--rows", type=int, default=100, help="examples of each set to choose on")
    parser.add_argument("--points", type=Path, help="folder to keep what was read in, to fit again without reading")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()

    folder = options.points
    of_choosing = kept(folder and folder / "choosing.json", lambda: choosing_points(options.choose, options.rows))
    of_training = kept(
        folder and folder / "training.json", lambda: training_points(held_out(options.held_out, options.each))
    )
    found = fitted(of_training, of_choosing)
    print("held-out training examples")
    report(of_training, found)
    print("examples that were chosen on")
    report(of_choosing, found)
    print(f"fitted:  {found}\nshipped: {joining()}")
    if options.write:
        path = WEIGHTS / "manifest.json"
        manifest = json.loads(path.read_text("utf-8"))
        manifest["grounding"] = {name: getattr(found, name) for name in Joining.__slots__}
        path.write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
