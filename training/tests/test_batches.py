"""Batches carry the right labels for the right tokens, in a fixed order."""

from __future__ import annotations

import itertools

import pytest
from tokenizers import Tokenizer

from training.batches import NO_TOKEN_LABEL, Encoded, PairEncoder, collate, drawn, stream, thinned, varied
from training.examples import LABELS, NOT_SUPPORTED, SUPPORTED, Example
from training.vocabulary import BOS, EOS, PAD


def example(label: str = NOT_SUPPORTED, claim: str = "Ann ran fast.", number: int = 0, dataset: str = "d") -> Example:
    spans = () if label == SUPPORTED else ((8, 12),)
    return Example(f"{dataset}-{number}", dataset, "en", claim, ("Ann ran. Bo sat.",), label, spans, "g")


def test_token_labels_mark_the_tokens_of_the_span(tokenizer: Tokenizer) -> None:
    """Exactly the pieces of the unsupported word are marked."""
    encoded = PairEncoder(tokenizer, 200).encode(example())

    claim_ids = encoded.ids[1 : 1 + encoded.claim_length]
    assert encoded.token_labels is not None
    marked = [tokenizer.id_to_token(i) for i, on in zip(claim_ids, encoded.token_labels, strict=True) if on]
    assert "".join(map(str, marked)).strip("▁") == "fast"


def test_layout(tokenizer: Tokenizer) -> None:
    """One opening mark, claim, end, window, end; kinds tell the two apart."""
    encoded = PairEncoder(tokenizer, 200).encode(example())

    batch = collate([encoded])

    assert encoded.ids[0] == BOS
    assert encoded.ids[encoded.claim_length + 1] == EOS
    assert encoded.ids[-1] == EOS
    assert batch.kinds[0].tolist() == [0] * (encoded.claim_length + 2) + [1] * (len(encoded) - encoded.claim_length - 2)


def test_padding_has_no_labels(tokenizer: Tokenizer) -> None:
    """Where a shorter row ends, the mask and the token labels say so."""
    encoder = PairEncoder(tokenizer, 200)
    long, short = encoder.encode(example()), encoder.encode(example(claim="Ann ran", label=SUPPORTED))

    batch = collate([long, short])

    assert batch.mask.sum(1).tolist() == [len(long), len(short)]
    assert batch.ids[1, len(short) :].eq(PAD).all()
    assert batch.token_labels[1, 1 + short.claim_length :].eq(NO_TOKEN_LABEL).all()
    assert batch.labels.tolist() == [LABELS.index(NOT_SUPPORTED), LABELS.index(SUPPORTED)]


def test_an_example_fits_the_limit(tokenizer: Tokenizer) -> None:
    """Claim and window together are never longer than the limit."""
    long = Example("x", "d", "en", "claim words " * 60, ("Sentence here. " * 300,), SUPPORTED, (), "g")

    assert len(PairEncoder(tokenizer, 256).encode(long, 120)) <= 256


def item(dataset: str, label: str, length: int) -> Encoded:
    return Encoded(dataset, LABELS.index(label), tuple(range(length)), 1, None)


def test_drawn_balances_each_set() -> None:
    """Half of a quota is supported where both labels exist; a set of one label gives all of it."""
    items = [item("a", SUPPORTED, 5)] * 50 + [item("a", NOT_SUPPORTED, 5)] * 500 + [item("b", SUPPORTED, 5)] * 90

    sample = drawn(items, {"a": 40, "b": 30}, seed=1)

    assert sum(i.dataset == "a" and i.label == 0 for i in sample) == 20
    assert sum(i.dataset == "a" for i in sample) == 40
    assert sum(i.dataset == "b" for i in sample) == 30


def test_stream_is_fixed_by_its_seed_and_keeps_its_limits() -> None:
    """The same seed gives the same batches; none is larger than allowed."""
    items = [item("a", SUPPORTED, n % 60 + 5) for n in range(300)]

    first = list(itertools.islice(stream(items, {"a": 200}, 3, size=8, tokens=200), 120))
    second = list(itertools.islice(stream(items, {"a": 200}, 3, size=8, tokens=200), 120))

    assert first == second
    assert all(len(batch) <= 8 and max(map(len, batch)) * len(batch) <= 200 for batch in first)


def test_thinned_keeps_what_the_quota_needs() -> None:
    """A set without quota goes, a small set stays whole."""
    found = [example(number=n, dataset=d) for d, size in (("a", 900), ("b", 20), ("c", 5)) for n in range(size)]

    kept = [e.dataset for e in thinned(found, {"a": 100, "b": 100})]

    assert 230 < kept.count("a") < 370
    assert kept.count("b") == 20
    assert "c" not in kept


@pytest.mark.parametrize("number", range(40))
def test_varied_keeps_spans_valid(number: int) -> None:
    """Lower case changes no offsets, and the limit stays within bounds."""
    changed, limit = varied(example(number=number), 256)

    assert len(changed.claim) == len(example().claim)
    assert 102 <= limit <= 256
