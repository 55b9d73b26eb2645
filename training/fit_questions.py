"""Fits what tells an open question, chooses from where on a question counts as open or as not answered, and writes it beside the model.

    python -m training.fit_questions                 prints the figures
    python -m training.fit_questions --write         also writes them into the manifest
    python -m training.fit_questions --kept FOLDER   keeps what was read there, to fit again without reading

It runs the package as it is installed: what is fitted is what is shipped. Three steps, each on questions that it may be fitted on:

- How much each mark of `stillme.questions.openness` weighs: a logistic regression, open against answerable, on the questions of
  `train.jsonl` and `questions.jsonl`. The marks come of rules, so it is no harm that the model was trained on them; the model's own
  chances are too good there and are not looked at.
- How often answerable questions look open, to the marks (on those questions) and to the model (on `held.jsonl`, on which
  nothing is trained).
- The lowest thresholds at which no more answerable questions of `held.jsonl` are asked back, or refused, than `--clear` allows; those
  that the rules ask back by themselves count.

The figures of `held.jsonl` are cross-validated by document: each tenth is judged by what the other nine tenths give. The figures of
`worlds.jsonl`, by which nothing is fitted or chosen, are printed beside them.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from stillme.evidence import Evidence
from stillme.grounding.question_reading import read_question
from stillme.models.bundle import WEIGHTS
from stillme.questions.ambiguity import find_ambiguity
from stillme.questions.openness import MARKS, SHARES, Joining, Marked, find_plain, log_odds
from training.written_data import FILES, FOLDER, documents

ANSWERABLE, UNANSWERABLE, AMBIGUOUS = "answerable", "unanswerable", "ambiguous"
OPEN_OR_NOT: Final = (ANSWERABLE, AMBIGUOUS)
EVERY: Final = (ANSWERABLE, UNANSWERABLE, AMBIGUOUS)
FITTED_ON: Final = (FILES["train"], FOLDER / "questions.jsonl")
LANGUAGES: Final = ("en", "vi")
FOLDS: Final = 10
RIDGE: Final = 10.0
ROUNDS: Final = 30
DECIMALS: Final = 4
JUST_ABOVE: Final = 0.001
NEVER: Final = 99.0


@dataclass(frozen=True, slots=True)
class Row:
    """A question: what it is, what its marks are, and the chances that the model gives."""

    document: str
    lang: str
    label: str
    marks: tuple[float, ...]
    unanswered: float = 0.0
    open: float = 0.0
    by_rule: bool = False
    """Whether the rules ask back by themselves."""


@dataclass(frozen=True, slots=True)
class Found:
    """What is written: how an open question is told, and from which chance on a question counts as not answered."""

    joining: Joining
    unanswered_at: float

    def asks_back(self, row: Row) -> bool:
        """Whether the user is asked what is meant."""
        return row.by_rule or self.joining.is_open(_by_marks(row, self.joining), row.open)

    def refuses(self, row: Row) -> bool:
        """Whether it counts as not answered."""
        return row.unanswered >= self.unanswered_at


def rows_of(path: Path, labels: Sequence[str], *, is_read: bool) -> Iterator[Row]:
    """The questions of a file that have one of the labels; `is_read`: as the model reads them, too."""
    for line in documents(path) if is_read else map(json.loads, path.open(encoding="utf-8")):
        for question in line["questions"]:
            if question["label"] in labels:
                yield _row(line, question, is_read=is_read)


def _row(document: dict[str, Any], question: dict[str, Any], *, is_read: bool) -> Row:
    evidence = Evidence.of(query=question["query"], passages=[source["text"] for source in document["context"]])
    library = evidence.grounding_task.library
    marks = Marked(evidence.query, library).marks()
    read = read_question(evidence.query, evidence.query_language, library) if is_read else None
    chances = (read.unanswered, read.open) if read else (0.0, 0.0)
    plain = find_ambiguity(evidence.query, [], library) or find_plain(evidence.query, [], library, evidence.language)
    told = tuple(marks[name] for name in MARKS)
    return Row(document["id"], document["lang"], question["label"], told, *chances, by_rule=plain is not None)


def _by_marks(row: Row, joining: Joining) -> float:
    return joining.log_odds(dict(zip(MARKS, row.marks, strict=True)))


def weighed(rows: Sequence[Row]) -> Joining:
    """How much each mark weighs: a regression on marks of one scale, written for marks as they are."""
    marks = np.array([row.marks for row in rows])
    middle, spread = marks.mean(axis=0), marks.std(axis=0) + 1e-6
    design = np.column_stack([(marks - middle) / spread, np.ones(len(rows))])
    truth = np.array([row.label == AMBIGUOUS for row in rows], float)
    beta = np.zeros(design.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-design @ beta))
        slope = design.T @ (truth - chance) - RIDGE * beta
        curve = (design * (chance * (1 - chance))[:, None]).T @ design + RIDGE * np.eye(len(beta))
        beta += np.linalg.solve(curve, slope)
    weights = (beta[:-1] / spread).round(DECIMALS)
    bias = round(float(beta[-1] - weights @ middle), DECIMALS)
    joining = Joining(bias, dict(zip(MARKS, weights.tolist(), strict=True)), (), (), math.inf)
    return replace(joining, by_marks=_reached([_by_marks(row, joining) for row in rows if row.label == ANSWERABLE]))


def _reached(values: Sequence[float]) -> tuple[float, ...]:
    """What each of SHARES of the values reaches."""
    return tuple(round(float(np.quantile(values, 1 - share)), DECIMALS) for share in SHARES)


def chosen(joining: Joining, rows: Sequence[Row], clear: float) -> Found:
    """What the model's chances are worth and both thresholds, by the answerable questions among the rows."""
    answerable = [row for row in rows if row.label == ANSWERABLE]
    known = replace(joining, by_model=_reached([log_odds(row.open) for row in answerable]))
    surprises = [math.inf if row.by_rule else known.surprise(_by_marks(row, known), row.open) for row in answerable]
    return Found(
        replace(known, open_at=_threshold(surprises, clear)), _threshold([row.unanswered for row in answerable], clear)
    )


def _threshold(clear: Sequence[float], share: float) -> float:
    """The lowest threshold that no more than a share of the clear ones reach, halfway to the next one below it."""
    ranked = sorted(clear, reverse=True)
    last = int(share * len(ranked))
    above = ranked[last - 1] if last else math.inf
    at = (above + ranked[last]) / 2 if ranked[last] < above < math.inf else ranked[last] + JUST_ABOVE
    return round(min(at, NEVER), DECIMALS)


def cross_validated(joining: Joining, rows: Sequence[Row], clear: float) -> list[tuple[Row, Found]]:
    """Each question with what the documents of the other folds give."""
    names = sorted({row.document for row in rows})
    fold = {name: n % FOLDS for n, name in enumerate(names)}
    found = [chosen(joining, [row for row in rows if fold[row.document] != n], clear) for n in range(FOLDS)]
    return [(row, found[fold[row.document]]) for row in rows]


def shares(rows: Iterable[tuple[Row, Found]]) -> dict[str, dict[str, float]]:
    """Of each kind of question the share that is asked back or refused, in per cent, in all and by language."""
    judged = list(rows)

    def share(label: str, lang: str, seen: Callable[[Row, Found], bool]) -> float:
        own = [seen(row, found) for row, found in judged if row.label == label and lang in ("all", row.lang)]
        return round(100 * sum(own) / max(1, len(own)), 1)

    def asked(row: Row, found: Found) -> bool:
        return found.asks_back(row)

    def refused(row: Row, found: Found) -> bool:
        return found.refuses(row)

    return {
        lang: {
            "ambiguous asked back": share(AMBIGUOUS, lang, asked),
            "answerable asked back": share(ANSWERABLE, lang, asked),
            "unanswerable asked back": share(UNANSWERABLE, lang, asked),
            "unanswerable refused": share(UNANSWERABLE, lang, refused),
            "answerable refused": share(ANSWERABLE, lang, refused),
            "ambiguous refused": share(AMBIGUOUS, lang, refused),
        }
        for lang in ("all", *LANGUAGES)
    }


def kept(folder: Path | None, name: str, made: Callable[[], Iterable[Row]]) -> list[Row]:
    """What was read before, or is now."""
    path = folder and folder / f"{name}.json"
    if path is None or not path.exists():
        rows = list(made())
        if path is not None:
            path.write_text(json.dumps([asdict(row) for row in rows]), "utf-8")
        return rows
    return [Row(**row | {"marks": tuple(row["marks"])}) for row in json.loads(path.read_text("utf-8"))]


def written(found: Found, figures: dict[str, Any]) -> dict[str, Any]:
    """What the manifest holds of questions."""
    open_ = asdict(found.joining)
    return {"unanswered_at": found.unanswered_at, "open": open_, "figures": figures}


def main() -> None:
    """Fit, choose, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--clear", type=float, default=0.05, help="share of answerable questions that may be asked back, or refused"
    )
    parser.add_argument("--kept", type=Path, help="folder to keep what was read in")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    fitted_on = [
        row
        for path in FITTED_ON
        for row in kept(options.kept, path.stem, partial(rows_of, path, OPEN_OR_NOT, is_read=False))
    ]
    held = kept(options.kept, "held", partial(rows_of, FILES["held"], EVERY, is_read=True))
    dev = kept(options.kept, "dev", partial(rows_of, FILES["dev"], EVERY, is_read=True))
    joining = weighed(fitted_on)
    found = chosen(joining, held, options.clear)
    figures = {
        "held, cross-validated": shares(cross_validated(joining, held, options.clear)),
        "dev": shares((row, found) for row in dev),
    }
    print(json.dumps(written(found, figures), indent=2))
    if options.write:
        path = WEIGHTS / "manifest.json"
        manifest = json.loads(path.read_text("utf-8"))
        manifest["questions"] = written(found, figures)
        path.write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
