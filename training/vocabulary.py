"""Keep the vocabulary rows that English and Vietnamese use, and build the tokenizer over them."""

from __future__ import annotations

import itertools
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from training.base_weights import BaseWeights

SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")
BOS, PAD, EOS, UNK = range(4)

ONSETS = (
    "", "b", "c", "ch", "d", "đ", "g", "gh", "gi", "h", "k", "kh", "l", "m", "n", "ng", "ngh", "nh",
    "p", "ph", "qu", "r", "s", "t", "th", "tr", "v", "x",
)  # fmt: skip
NUCLEI = (
    "a", "ă", "â", "e", "ê", "i", "o", "ô", "ơ", "u", "ư", "y", "ai", "ao", "au", "ay", "âu", "ây",
    "eo", "êu", "ia", "iê", "iu", "oa", "oă", "oe", "oi", "ôi", "ơi", "oo", "ua", "uâ", "uê", "ui",
    "uô", "uơ", "uy", "uyê", "ưa", "ươ", "ưi", "ưu", "yê", "oai", "oay", "uây", "uôi", "ươi", "ươu",
    "iêu", "yêu", "uya", "uyu", "oao", "oeo",
)  # fmt: skip
CODAS = ("", "c", "ch", "m", "n", "ng", "nh", "p", "t")
TONES = ("", "\u0301", "\u0300", "\u0309", "\u0303", "\u0323")

# Latin with Vietnamese, Greek, and the punctuation, currency and letter-like signs of ordinary text.
CHARACTER_BLOCKS = ((0x20, 0x24F), (0x370, 0x3FF), (0x1E00, 0x1EFF), (0x2010, 0x214F), (0x2190, 0x22FF))


def vietnamese_syllables() -> Iterator[str]:
    """Every written syllable that onset, nucleus, coda and tone can form, well-formed or not."""
    for onset, nucleus, coda in itertools.product(ONSETS, NUCLEI, CODAS):
        for place, tone in itertools.product(range(len(nucleus)), TONES):
            toned = nucleus[: place + 1] + tone + nucleus[place + 1 :]
            yield unicodedata.normalize("NFC", onset + toned + coda)


def build_tokenizer(pieces: list[str], scores: list[float]) -> Tokenizer:
    """A unigram tokenizer over `pieces`, with offsets into the text as given."""
    tokenizer = Tokenizer(models.Unigram(list(zip(pieces, scores, strict=True)), unk_id=UNK))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def full_tokenizer(base: BaseWeights) -> Tokenizer:
    """The tokenizer over all pieces of the base weights."""
    return build_tokenizer(base.pieces, base.scores)


def rows_in_use(base: BaseWeights, texts: Iterable[str], common: int = 40_000) -> list[int]:
    """Rows of the base vocabulary to keep: pieces seen, syllables, characters, common Latin pieces."""
    tokenizer = full_tokenizer(base)
    row_of = {piece: row for row, piece in enumerate(base.pieces)}
    keep = {row_of[piece] for piece in SPECIALS}
    for encoding in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False):
        keep.update(encoding.ids)
    for syllable in set(vietnamese_syllables()):
        for form in (syllable, syllable.capitalize()):
            keep.update(row_of[p] for p in (form, "▁" + form) if p in row_of)
    for first, last in CHARACTER_BLOCKS:
        for code in range(first, last + 1):
            keep.update(row_of[p] for p in (chr(code), "▁" + chr(code)) if p in row_of)
    latin = re.compile(r"▁?[A-Za-z]+")
    keep.update(row for row in range(common) if latin.fullmatch(base.pieces[row]))
    return [row_of[p] for p in SPECIALS] + sorted(keep - {row_of[p] for p in SPECIALS})


def pruned_tokenizer(base: BaseWeights, rows: list[int]) -> Tokenizer:
    """The tokenizer over the kept rows, in their order."""
    return build_tokenizer([base.pieces[row] for row in rows], [base.scores[row] for row in rows])


def save_vocabulary(folder: Path, tokenizer: Tokenizer, rows: list[int]) -> None:
    """Write the tokenizer and the rows it keeps."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "rows.json").write_text(json.dumps(rows))


def load_vocabulary(folder: Path) -> tuple[Tokenizer, list[int]]:
    """Read what `save_vocabulary` wrote."""
    rows = json.loads((folder / "rows.json").read_text())
    return Tokenizer.from_file(str(folder / "tokenizer.json")), rows
