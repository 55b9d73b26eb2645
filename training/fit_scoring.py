"""Fits the weights of the exact features (src/stillme/languages/scoring.yaml) on a folder of labelled claims.

    python training/fit_scoring.py DATA_DIR            prints the weights and how well they separate a held-out tenth
    python training/fit_scoring.py DATA_DIR --write    also writes scoring.yaml

Reads the grounding sets of DATA_DIR (JSON lines with `context`, `answer`, `label`) and makes Vietnamese examples from
`qa_contexts_vi.jsonl`: sentences of a passage are supported by it, the same sentences with a changed figure or from another passage
are not.

Objections are rules, not opinions of the data: a claim with another figure than its source must not pass however well the rest fits. Their
weights are set (OBJECTIONS), and the weights of the other features are fitted on the claims that raise no objection. Words missing in a row
weigh more than words missing here and there, because an addition is what a generator invents and a synonym is what it varies; the
summaries we fit on do not show that, so this weight is set too. A weight whose sign contradicts what its feature means is held at zero.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from stillme.contract import RetrievedPassage
from stillme.grounding import scoring
from stillme.grounding.claims import Claim
from stillme.grounding.grounder import GroundingTask, _Bench
from stillme.grounding.passage import Passage
from stillme.grounding.passage_index import Library
from stillme.grounding.statements import Reading
from stillme.text.names import capitalised_words
from stillme.text.sentences import Sentence, split
from stillme.text.tokens import Text

SETS = ("fever_nli", "fool_me_twice_dev", "q2", "factcheck_bench", "defacto", "defacto_edits", "factcg_cg2c")
MOST_ROWS = 1200
RISING = {"covered", "context", "core", "across_languages"}
FREE = {"bias", "statements"}
OBJECTIONS = {"incompatible": -8.0, "missing_figures": -8.0, "certainty": -6.0, "exclusivity": -1.5}
HELD = {**OBJECTIONS, "longest_missing": -1.5}
RIDGE = 0.00002
Row = tuple[str, list[str], bool, str]
Example = tuple[tuple[float, ...], bool, float]


def rows(folder: Path) -> Iterator[tuple[str, Row]]:
    """Examples as (set, (claim, passages, supported, language)), a bounded number of each set and label."""
    for name in SETS:
        lines = [json.loads(line) for line in (folder / f"{name}.jsonl").open(encoding="utf-8")]
        random.Random(name).shuffle(lines)
        taken = {True: 0, False: 0}
        for line in lines:
            supported = line["label"] == "supported"
            if taken[supported] < MOST_ROWS // 2 and line["answer"]:
                taken[supported] += 1
                yield name, (line["answer"], [c["text"] for c in line["context"]], supported, "en")
    for row in _vietnamese(folder / "qa_contexts_vi.jsonl"):
        yield "qa_contexts_vi", row


def _vietnamese(path: Path) -> Iterator[Row]:
    contexts = sorted({json.loads(line)["context"] for line in path.open(encoding="utf-8")})
    rng = random.Random("vi")
    rng.shuffle(contexts)
    for context, other in pairwise(contexts[: MOST_ROWS // 3]):
        text = Text(context)
        sentences = [context[s.start : s.end] for s in split(text) if s.last - s.first >= 8]
        if not sentences:
            continue
        claim = rng.choice(sentences)
        yield claim, [context], True, "vi"
        yield claim, [other], False, "vi"
        digits = [i for i, c in enumerate(claim) if c.isdigit()]
        if digits:
            at = rng.choice(digits)
            yield claim[:at] + str((int(claim[at]) + rng.randint(1, 8)) % 10) + claim[at + 1 :], [context], False, "vi"


def best_features(row: Row) -> tuple[float, ...] | None:
    """The features of the alignment that the current weights like best."""
    claim, contexts, _, language = row
    draft = Text(claim)
    passages = [
        Passage(n, RetrievedPassage(source_id=str(n), text=text)) for n, text in enumerate(contexts, 1) if text.strip()
    ]
    known = capitalised_words([draft, *(p.text for p in passages)])
    whole = Claim(0, len(draft), 0, len(claim), "fact")
    reading = Reading(draft, [Sentence(0, len(draft), 0, len(claim))], language, known)
    bench = _Bench(GroundingTask(reading, [whole], Library(passages, known), Text(""), []))
    statement = reading.statements[0]
    aligned = [bench._align(statement, c, ()) for c in bench._candidates(statement)]
    if not aligned:
        return None
    return max((scoring.features(a) for _, a in aligned), key=lambda x: _logit(x, scoring._weights()[0]))


def _logit(x: tuple[float, ...], weights: tuple[float, ...]) -> float:
    return sum(w * v for w, v in zip(weights, x, strict=True))


def fit(examples: list[Example]) -> dict[str, float]:
    """Weighted logistic regression by Newton's method over the features that are not held; signs that make no sense are dropped."""
    free = [name for name in scoring.FEATURES if name not in HELD]
    while True:
        weights = _newton(examples, [scoring.FEATURES.index(name) for name in free])
        fitted = dict(zip(free, weights, strict=True))
        wrong = [n for n, w in fitted.items() if n not in FREE and (w < 0 if n in RISING else w > 0)]
        if not wrong:
            return {name: round(fitted.get(name, HELD.get(name, 0.0)), 3) for name in scoring.FEATURES}
        free = [name for name in free if name not in wrong]


def _newton(examples: list[Example], columns: list[int], rounds: int = 25) -> list[float]:
    size = len(columns)
    total = sum(importance for _, _, importance in examples)
    weights = [0.0] * size
    for _ in range(rounds):
        gradient = [RIDGE * w for w in weights]
        hessian = [[RIDGE * (i == j) for j in range(size)] for i in range(size)]
        for features, supported, importance in examples:
            x = [features[c] for c in columns]
            p = 1 / (1 + math.exp(-max(-30.0, min(30.0, sum(w * v for w, v in zip(weights, x, strict=True))))))
            share = importance / total
            for i in range(size):
                gradient[i] += share * (p - supported) * x[i]
                for j in range(size):
                    hessian[i][j] += share * p * (1 - p) * x[i] * x[j]
        weights = [w - step for w, step in zip(weights, _solve(hessian, gradient), strict=True)]
    return weights


def _solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Gaussian elimination with pivoting, for a handful of unknowns."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for k in range(size):
        pivot = max(range(k, size), key=lambda r: abs(rows[r][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for r in range(size):
            if r != k:
                factor = rows[r][k] / rows[k][k]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[k], strict=True)]
    return [row[size] / row[k] for k, row in enumerate(rows)]


def report(name: str, found: list[tuple[float, bool]]) -> None:
    """Balanced accuracy at 0.5 and the area under the curve of one set."""
    yes, no = [p for p, s in found if s], [p for p, s in found if not s]
    if not yes or not no:
        print(f"{name:20} {len(found):6}  one class only")
        return
    balanced = (sum(p >= 0.5 for p in yes) / len(yes) + sum(p < 0.5 for p in no) / len(no)) / 2
    area = sum((a > b) + 0.5 * (a == b) for a in yes for b in no) / len(yes) / len(no)
    print(f"{name:20} {len(found):6}  balanced accuracy {balanced:.3f}  AUC {area:.3f}")


def main() -> None:
    """Fit, report, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    data = [(name, row, best_features(row)) for name, row in rows(options.folder)]
    counts: dict[tuple[str, bool], int] = {}
    for name, row, _ in data:
        counts[name, row[2]] = counts.get((name, row[2]), 0) + 1
    held = [k % 10 == 0 for k in range(len(data))]
    objecting = [scoring.FEATURES.index(name) for name in OBJECTIONS]
    train = [
        (x, row[2], 1 / counts[name, row[2]])
        for (name, row, x), h in zip(data, held, strict=True)
        if x is not None and not h and not any(x[k] for k in objecting)
    ]
    fitted = fit(train)
    weights = tuple(fitted[name] for name in scoring.FEATURES)
    for name in dict.fromkeys(name for name, _, _ in data):
        found = [
            (1 / (1 + math.exp(-max(-30.0, _logit(x, weights)))) if x is not None else 0.0, row[2])
            for (n, row, x), h in zip(data, held, strict=True)
            if h and n == name
        ]
        report(name, found)
    print(json.dumps(fitted, indent=1))
    if options.write:
        digest = hashlib.sha256(
            "".join(f"{p.name}{p.stat().st_size}" for p in sorted(options.folder.glob("*.jsonl"))).encode()
        ).hexdigest()[:12]
        target = Path(scoring.__file__).with_name("rules") / "scoring.yaml"
        lines = [
            f"# Weights of the exact features, fitted by training/fit_scoring.py on {len(train)} examples (data {digest}); see scoring.py.",
            "weights:",
        ]
        lines += [f"  {name}: {value}" for name, value in fitted.items()]
        target.write_text("\n".join([*lines, "ceiling: 0.99", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
