"""Right questions that the first check refuses, and questions about another matter that it lets through, at the default thresholds.

    python -m benchmarks.questions [--json FILE] [--all]

`data/questions.tsv` holds 100 questions that their passage answers, in other words, behind greetings, with typing errors, without accents
or in the other language, and 100 beside a passage of another matter, of which a third share a word with it on purpose ("battery",
"bridge"). The last 40 of each were written after the map of similarity was fitted, and nothing was chosen by them. No passage has a
similarity. `--all` prints every question that is not treated as it should be.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from stillme.guard import Guard, grounder_for
from stillme.reasons import Decision
from stillme.version import __version__

DATA: Final = Path(__file__).with_name("data") / "questions.tsv"
RECORD: Final = Path(__file__).with_name("records") / "questions.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; with --json also write the record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--json", metavar="FILE", help="write the record there")
    parser.add_argument("--all", action="store_true", help="print each question that is not treated as it should be")
    options = parser.parse_args(arguments)
    record = measured(show=options.all)
    for row in record["rows"]:
        print(f"{row['matter']:<6}{row['languages']:<7}{row['refused']:>3} of {row['questions']:>3} refused")
    if options.json:
        Path(options.json).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


def measured(*, show: bool = False) -> dict[str, Any]:
    """How many questions of each kind are refused."""
    guard, total, refused = Guard(), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    with DATA.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            key = row["matter"], row["languages"]
            is_refused = _is_refused(guard, row["query"], row["passage"])
            total[key] += 1
            refused[key] += is_refused
            if show and is_refused == (row["matter"] == "right"):
                print(f"{'refused' if is_refused else 'let through':<12}{row['query']} | {row['passage']}")
    return {
        "version": __version__,
        "data_sha256": hashlib.sha256(DATA.read_bytes()).hexdigest(),
        "grounder": grounder_for(guard.policy).id,
        "rows": [
            {"matter": matter, "languages": spoken, "questions": count, "refused": refused[matter, spoken]}
            for (matter, spoken), count in total.items()
        ],
    }


def _is_refused(guard: Guard, query: str, passage: str) -> bool:
    verdict = guard.precheck({"query": query, "retrieved_context": [{"source_id": "a", "text": passage}]})
    return verdict.decision is Decision.REFUSE


if __name__ == "__main__":
    raise SystemExit(main())
