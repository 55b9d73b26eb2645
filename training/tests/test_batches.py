"""Packed rows carry the right labels for the right tokens, in a fixed order."""

from __future__ import annotations

import itertools
import random

from tokenizers import Tokenizer

from training.batches import (
    NO_TOKEN_LABEL,
    WINDOW_START,
    Bundle,
    Claim,
    Group,
    TextEncoder,
    bundled,
    collate,
    drawn,
    groups_of,
    packed,
    side_weights,
    stream,
)  # fmt: skip
from training.examples import NOT_SUPPORTED, SUPPORTED, Example
from training.vocabulary import BOS, EOS, PAD


def example(label: str = NOT_SUPPORTED, number: int = 0, dataset: str = "d", passage: str = "Ann ran.") -> Example:
    spans = () if label == SUPPORTED else ((8, 12),)
    return Example(f"{dataset}-{number}", dataset, "en", "Ann ran fast.", (passage,), label, spans, "g")


def group(window: int, *claims: int) -> Group:
    made = tuple(Claim("", tuple(range(10, 10 + n)), 0, (1,) * n) for n in claims)
    return Group(tuple(range(50, 50 + window)), made)


def test_token_labels_mark_the_tokens_of_the_span(tokenizer: Tokenizer) -> None:
    """Exactly the pieces of the unsupported word are marked."""
    claim = TextEncoder(tokenizer).claim(example())

    assert claim.token_labels is not None
    marked = [tokenizer.id_to_token(i) for i, on in zip(claim.ids, claim.token_labels, strict=True) if on]
    assert "".join(map(str, marked)).strip("▁") == "fast"


def test_a_row_holds_window_and_claims_each_with_its_own_positions() -> None:
    """Window, then claims, each between its marks; windows and claims count from their own start."""
    batch = collate([[group(3, 1, 2)]])

    assert batch.ids[0].tolist() == [BOS, 50, 51, 52, EOS, BOS, 10, EOS, BOS, 10, 11, EOS]
    assert batch.segments[0].tolist() == [0] * 5 + [1] * 3 + [2] * 4
    first = WINDOW_START
    assert batch.positions[0].tolist() == [*range(first, first + 5), 0, 1, 2, 0, 1, 2, 3]
    assert batch.claim_tokens[0].tolist() == [5, 6, 7, 8, 9, 10, 11]
    assert batch.claim_starts.tolist() == [0, 3]
    assert batch.token_labels[0].tolist() == [-1, 1, -1, -1, 1, 1, -1]


def test_padding_has_group_zero_and_no_labels() -> None:
    """Where a shorter row ends, groups and token labels say so."""
    batch = collate([[group(3, 2), group(2, 1)], [group(1, 1)]])

    assert batch.groups[0].tolist() == [1] * 9 + [2] * 7
    assert batch.groups[1].tolist() == [1] * 6 + [0] * 10
    assert batch.ids[1, 6:].eq(PAD).all()
    assert batch.token_labels[1, 3:].eq(NO_TOKEN_LABEL).all()
    assert batch.claim_starts.tolist() == [0, 4, 7]


def test_packed_rows_keep_the_limit_and_every_group() -> None:
    """Nothing is lost, and no row is longer than allowed."""
    groups = [group(n % 30 + 5, 4, 6) for n in range(50)]

    rows = packed(groups, 100)

    assert sorted(len(g) for row in rows for g in row) == sorted(map(len, groups))
    assert all(sum(map(len, row)) <= 100 for row in rows)


def test_claims_of_the_same_passages_come_together(tokenizer: Tokenizer) -> None:
    """A set's claims on one text make one bundle; another set's make another."""
    found = [example(number=1), example(SUPPORTED, 2), example(number=3, dataset="e"), example(passage="Bo sat.")]

    bundles = bundled(found, TextEncoder(tokenizer), {})

    assert sorted((b.dataset, b.passages, len(b.claims)) for b in bundles) == [
        ("d", ("Ann ran.",), 2), ("d", ("Bo sat.",), 1), ("e", ("Ann ran.",), 1),
    ]  # fmt: skip


def test_sides_of_a_family_weigh_the_same_within_limits() -> None:
    """A rare side weighs more; a set of one side is evened out by its family; alone it weighs as it is."""
    found = [example(SUPPORTED, n) for n in range(10)] + [example(NOT_SUPPORTED, n) for n in range(30)]
    found += [example(SUPPORTED, n, "more") for n in range(20)] + [example(NOT_SUPPORTED, 1, "lone")]

    weights = side_weights(found, {"more": "d"})

    assert weights["d", True] == weights["d", False] == weights["more", True] == 1.0
    assert weights["lone", False] == 1.0
    assert side_weights(found[:40], {})["d", True] == 2.0


def test_drawn_fills_the_quota_by_claims() -> None:
    """Bundles come until enough claims are there, again only after all others."""
    claims = tuple(group(1, 2, 3).claims)
    bundles = [Bundle("a", (f"passage {n}",), claims) for n in range(10)] + [Bundle("b", ("x",), claims)]

    sample = drawn(bundles, {"a": 30, "b": 2}, random.Random(1))

    assert sum(len(b.claims) for b in sample if b.dataset == "a") == 30
    assert len({b.passages for b in sample[:10]}) == 10
    assert sum(b.dataset == "b" for b in sample) == 1


def test_groups_fit_a_row_and_hold_every_claim(tokenizer: Tokenizer) -> None:
    """Whatever the length of the passages."""
    claims = tuple(Claim("some words", tuple(range(4, 4 + n))) for n in (20, 40, 60, 5))
    encoder = TextEncoder(tokenizer, limit=120)

    for passage in ("Short one.", "Sentence here with words. " * 60):
        groups = list(groups_of(Bundle("a", (passage,), claims), encoder, 200, random.Random(2)))

        assert all(len(g) <= 200 and len(g.window) <= 120 for g in groups)
        assert [c for g in groups for c in g.claims] == list(claims)


def test_stream_is_fixed_by_its_seed(tokenizer: Tokenizer) -> None:
    """The same seed gives the same batches."""
    encoder = TextEncoder(tokenizer)
    bundles = bundled([example(number=n, passage=f"Ann ran {n} times.") for n in range(40)], encoder, {})

    first, second = (list(itertools.islice(stream(bundles, {"d": 30}, encoder, 3, 128, 2), 20)) for _ in range(2))

    assert first == second
    assert all(len(batch) <= 2 for batch in first)
