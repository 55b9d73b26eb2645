"""Fits how exact features and model are joined, and writes it beside the model.

    python -m training.fit_cascade --choose DATA/dev            prints the figures
    python -m training.fit_cascade --choose DATA/dev --write    also writes them into the manifest

It runs the package as it is installed: what is fitted is what is shipped.

Nothing it is fitted on was trained on: the held-back documents in two worlds (`training/written/held.jsonl`), and rows of public sets,
of the half of their documents that `benchmarks.grounding --half choosing` names. Every set counts the same; the documents in two worlds
are three sets, by the languages of claim and sources, and count five times: what reads in them reads elsewhere, and the sets gain, too.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.grounding import AS_OF, chosen_files, half, judged_claims, kind_of, read_set, sample, set_files

from stillme.contract import RetrievedPassage, VerifyRequest
from stillme.evidence import Evidence
from stillme.grounding.cascade import (
    LEAST_EXACT,
    CascadeGrounder,
    Joining,
    is_lacking,
    is_objected,
    is_refuted,
    is_settled,
)
from stillme.grounding.grounder import GroundingTask
from stillme.models.bundle import WEIGHTS
from stillme.models.grounding import thresholds
from training import metrics
from training.written_data import FILES, Judged, documents, judged

ABOUT_EQUAL = 0.004
LANGUAGES = ("en", "vi")
WRITTEN = "written"
WRITTEN_COUNTS = 5.0
WEIGHED = ("exact", "margin", "objected", "lacking", "across", "bias", "bias_vi")


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
    settled: bool
    """A source says it word for word: the model is not asked."""
    objected: bool
    """The rules have something against it."""
    without: bool
    """A figure or a name of it stands in no source."""
    across: bool
    """Claim and source are in two languages."""
    lacking: tuple[tuple[int, int], ...] | None
    tokens: tuple[tuple[tuple[int, int], float], ...]


def written_points(limit: int | None) -> Iterator[Point]:
    """What the installed package sees of the held-back documents in two worlds."""
    for document in islice(documents(FILES["held"]), limit):
        for each in judged(document):
            task = judged_claims(Evidence(_asked(each), AS_OF))
            own = each.claim_lang if each.claim_lang == each.lang else "across"
            yield from point(task, f"{WRITTEN} {own}", each.claim_lang, each.supported, _lacking(document, each))


def _asked(each: Judged) -> VerifyRequest:
    """A claim as the draft of a request that asks for it."""
    sources = [RetrievedPassage(source_id=name, text=text) for name, text in each.context]
    return VerifyRequest(query=f"{each.claim.rstrip('.')}?", draft_answer=each.claim, retrieved_context=sources)


def _lacking(document: dict[str, Any], each: Judged) -> tuple[tuple[int, int], ...] | None:
    """The characters that lack support, which writers marked in the first world."""
    spans = document["claims"][each.number]["spans"]
    return tuple((start, end) for start, end in spans) if each.world == 0 else None


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
        weakest = min(read, key=lambda r: (not is_refuted(r.exact), is_settled(r.exact), r.margin))
        exact = weakest.exact
        tokens = tuple(t for r in read for t in r.tokens)
        yield Point(
            dataset, lang, exact.score, weakest.margin, supported, is_refuted(exact), is_settled(exact),
            is_objected(exact), is_lacking(exact), weakest.is_across, spans, tokens,
        )  # fmt: skip


def _log_odds(rows: Sequence[Point]) -> Any:
    exact = np.clip([row.exact for row in rows], LEAST_EXACT, 1 - LEAST_EXACT)
    return np.log(exact / (1 - exact))


def weights(rows: Sequence[Point]) -> Any:
    """What exact features, the model, objections, what is missing and languages weigh: a regression in which every set counts the same."""
    count: dict[str, int] = defaultdict(int)
    for row in rows:
        count[row.dataset] += 1
    share = np.array([_counts(row) / count[row.dataset] for row in rows])
    share *= len(rows) / share.sum()
    marks = [[row.margin, row.objected, row.without, row.across] for row in rows]
    languages = [[row.lang == lang for row in rows] for lang in LANGUAGES]
    design = np.stack([_log_odds(rows), *zip(*marks, strict=True), *languages], axis=1).astype(float)
    truth = np.array([float(row.supported) for row in rows])
    beta = np.zeros(design.shape[1])
    for _ in range(100):
        chance = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        slope = design.T @ (share * (truth - chance)) - beta
        curve = (design * (share * chance * (1 - chance))[:, None]).T @ design + np.eye(len(beta))
        beta += np.linalg.solve(curve, slope)
    return beta


def _counts(row: Point) -> float:
    return WRITTEN_COUNTS if row.dataset.startswith(WRITTEN) else 1.0


def support_threshold(rows: Sequence[Point], found: Joining) -> float:
    """The probability from which on a claim counts as supported: where most of both sides is told right, over all sets."""
    by_set: dict[str, list[Point]] = defaultdict(list)
    for row in rows:
        by_set[row.dataset].append(row)

    def right(at: float) -> float:
        shares = [
            metrics.balanced_accuracy([r.supported for r in own], [probability(r, found) >= at for r in own])
            for own in by_set.values()
        ]
        return float(np.average(shares, weights=[_counts(own[0]) for own in by_set.values()]))

    tried = {round(0.01 * n, 2): right(0.01 * n) for n in range(25, 61)}
    good = [at for at, share in tried.items() if share >= max(tried.values()) - ABOUT_EQUAL]
    return good[len(good) // 2]


def probability(row: Point, found: Joining) -> float:
    """That the example is supported."""
    if row.settled:
        return row.exact
    return (
        0.0
        if row.refuted
        else found.probability(
            row.exact, row.margin, row.lang, objected=row.objected, lacking=row.without, across=row.across
        )
    )


def token_threshold(rows: Sequence[Point]) -> float:
    """The token logit at which the characters that lack support are found best."""
    known = [row for row in rows if row.lacking and not row.supported]

    def f1(at: float) -> float:
        marked = [[span for span, lacks in row.tokens if lacks > at] for row in known]
        return metrics.span_f1([row.lacking or () for row in known], marked)

    return max((float(at) for at in np.arange(-3.0, 3.01, 0.25)), key=f1) if known else 0.0


def fitted(rows: Sequence[Point]) -> Joining:
    """Everything that the cascade needs to know."""
    found = weights([row for row in rows if not row.refuted and not row.settled])
    values = dict(zip(WEIGHED, (round(float(value), 4) for value in found), strict=True))
    made = Joining(**values, token_at=token_threshold(rows))
    return replace(made, support_at=support_threshold(rows, made))


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
    parser.add_argument("--choose", type=Path, required=True, help="folder of sets that nothing was trained on")
    parser.add_argument("--rows", type=int, default=100, help="examples of each set to choose on")
    parser.add_argument("--documents", type=int, help="only so many held-back documents")
    parser.add_argument("--points", type=Path, help="folder to keep what was read in, to fit again without reading")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()

    folder = options.points
    rows = kept(folder and folder / "choosing.json", lambda: choosing_points(options.choose, options.rows))
    rows += kept(folder and folder / "written.json", lambda: written_points(options.documents))
    found = fitted(rows)
    report(rows, found)
    print(f"fitted:  {found}\nshipped: {thresholds()}")
    if options.write:
        path = WEIGHTS / "manifest.json"
        manifest = json.loads(path.read_text("utf-8"))
        manifest["grounding"] = {name: getattr(found, name) for name in Joining.__slots__}
        path.write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
