"""Fits the weights of the exact features (src/stillme/evidence/rules/scoring.yaml) on a folder of labelled claims.

    python training/fit_scoring.py DATA_DIR            prints the weights and how well they separate a held-out tenth
    python training/fit_scoring.py DATA_DIR --write    also writes scoring.yaml

Reads the grounding sets of DATA_DIR (JSON lines with `context`, `answer`, `label`) and makes Vietnamese examples from
`qa_contexts_vi.jsonl`: sentences of a passage are supported by it, the same sentences with a changed figure or from another passage
are not. Weights whose sign would contradict what a feature means are held at zero.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
from collections.abc import Iterator
from pathlib import Path

from stillme.contract import RetrievedPassage
from stillme.evidence import scoring
from stillme.evidence.claims import Claim
from stillme.evidence.grounding import GroundingTask, _Bench
from stillme.evidence.library import Library
from stillme.evidence.names import capitalised_words
from stillme.evidence.passage import Passage
from stillme.evidence.reading import Reading
from stillme.evidence.sentences import Sentence, split
from stillme.evidence.text import Text

SETS = ("fever_nli", "fool_me_twice_dev", "q2", "factcheck_bench", "defacto", "defacto_edits", "factcg_cg2c")
MOST_ROWS = 1200
RISING = {"covered", "context", "across_languages"}
FREE = {"bias", "statements"}
Row = tuple[str, list[str], bool, str]


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
    for context, other in zip(contexts[: MOST_ROWS // 3], contexts[1:], strict=False):
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
    passages = [Passage(n, RetrievedPassage(source_id=str(n), text=text)) for n, text in enumerate(contexts, 1) if text.strip()]
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


def fit(examples: list[tuple[tuple[float, ...], bool, float]], steps: int = 400, rate: float = 0.5) -> list[float]:
    """Weighted logistic regression by gradient descent, with a small penalty and the signs that the features mean."""
    size = len(scoring.FEATURES)
    weights = [0.0] * size
    total = sum(w for _, _, w in examples)
    for _ in range(steps):
        gradient = [0.0005 * w for w in weights]
        for x, supported, importance in examples:
            p = 1 / (1 + math.exp(-max(-30.0, min(30.0, sum(w * v for w, v in zip(weights, x, strict=True))))))
            error = importance * (p - supported) / total
            for k in range(size):
                gradient[k] += error * x[k]
        for k, name in enumerate(scoring.FEATURES):
            weights[k] -= rate * 8 * gradient[k]
            if name in RISING:
                weights[k] = max(0.0, weights[k])
            elif name not in FREE:
                weights[k] = min(0.0, weights[k])
    return weights


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
    train = [(x, row[2], 1 / counts[name, row[2]]) for (name, row, x), h in zip(data, held, strict=True) if x is not None and not h]
    weights = fit(train)
    for name in dict.fromkeys(name for name, _, _ in data):
        found = [
            (1 / (1 + math.exp(-_logit(x, tuple(weights)))) if x is not None else 0.0, row[2])
            for (n, row, x), h in zip(data, held, strict=True)
            if h and n == name
        ]
        report(name, found)
    fitted = dict(zip(scoring.FEATURES, (round(w, 3) for w in weights), strict=True))
    print(json.dumps(fitted, indent=1))
    if options.write:
        digest = hashlib.sha256("".join(f"{p.name}{p.stat().st_size}" for p in sorted(options.folder.glob("*.jsonl"))).encode()).hexdigest()[:12]
        target = Path(scoring.__file__).with_name("rules") / "scoring.yaml"
        lines = [f"# Weights of the exact features, fitted by training/fit_scoring.py on {len(train)} examples (data {digest}); see scoring.py.", "weights:"]
        lines += [f"  {name}: {value}" for name, value in fitted.items()]
        target.write_text("\n".join([*lines, "ceiling: 0.99", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
