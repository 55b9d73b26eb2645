"""What a record says is hashed without room for two readings, and can be written to any database."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillme.audit.chain.record import (
    COLUMNS,
    ZERO,
    Body,
    Entry,
    Head,
    Record,
    chained,
    compact,
    from_word,
    instant,
    link,
    one_word,
    sha256,
    storable,
)

ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=20)
VALUES = st.none() | ANY_TEXT | st.integers(-(2**63), 2**63 - 1)
LISTS = st.lists(VALUES, min_size=len(COLUMNS), max_size=len(COLUMNS))


def entry_with(values: list[Any]) -> Entry:
    return Entry(**dict(zip(COLUMNS, values, strict=True)))


@given(LISTS, LISTS)
def test_other_values_have_another_digest(one: list[Any], other: list[Any]) -> None:
    """No two records that say different things have one digest."""
    assert (entry_with(one).digest == entry_with(other).digest) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"ref": "a", "label": "bc"}, {"ref": "ab", "label": "c"}, id="a letter moved to the next column"),
        pytest.param({"ref": None}, {"ref": ""}, id="nothing and an empty text"),
        pytest.param({"ref": None}, {"ref": "-"}, id="nothing and a dash"),
        pytest.param({"ref": "1"}, {"ref": 1}, id="a text and a number"),
        pytest.param({"ref": "a,1:b"}, {"ref": "a", "label": "b"}, id="a text that looks like two"),
        pytest.param({"ref": "\ud800"}, {"ref": "\\ud800"}, id="a lone surrogate and its code"),
        pytest.param({"ref": "é"}, {"ref": "e\u0301"}, id="two ways to write an accent"),
        pytest.param({"ref": b"a"}, {"ref": "a"}, id="bytes and a text"),
    ],
)
def test_values_that_look_alike_are_told_apart(one: dict[str, Any], other: dict[str, Any]) -> None:
    """The digest is over each value with its length, in its place."""
    base = Entry("verdict", "trace-1", "2026-02-01T00:00:00.000000Z", "{}")

    assert replace(base, **one).digest != replace(base, **other).digest


def test_every_column_is_hashed() -> None:
    """All that an entry has is in its digest, but for the two that have digests of their own."""
    assert [field.name for field in fields(Entry)] == [*COLUMNS, "body", "policy_text"]


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_a_body_cannot_be_divided_otherwise(salt: str, text: str, other_salt: str, other_text: str) -> None:
    """No part of a text can be moved into its salt."""
    same = Body(text, salt).digest == Body(other_text, other_salt).digest

    assert same == ((salt, text) == (other_salt, other_text))
    assert text == "" or Body(text, salt).digest != Body(text[1:], salt + text[0]).digest


def test_every_body_has_a_salt_of_its_own() -> None:
    """The same text kept twice does not show that it is the same."""
    one, other = Body.of("a text"), Body.of("a text")

    assert one.digest != other.digest
    assert len(one.salt) == 32


# the chain


def chain(count: int, head: Head | None = None) -> list[Record]:
    entries = [Entry("verdict", f"trace-{n}", "2026-02-01T00:00:00.000000Z", "{}") for n in range(count)]
    linked = link(head or Head(), entries)
    return [*linked[:-1], replace(linked[-1], seal="a seal")]


def test_records_follow_one_another() -> None:
    """Each record's hash follows from the one before it, from the very first on, over several commits."""
    first = chain(3)
    records = [*first, *chain(2, first[-1].head)]

    assert [record.seq for record in records] == [1, 2, 3, 4, 5]
    assert records[0].follows(ZERO)
    assert all(record.follows(before.hash) for before, record in pairwise(records))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"seq": 3}, id="another place"),
        pytest.param({"digest": ZERO}, id="another digest"),
        pytest.param({"hash": ZERO}, id="another hash"),
        pytest.param({"seal": None}, id="its seal taken away"),
    ],
)
def test_what_a_hash_is_over_cannot_change(change: dict[str, Any]) -> None:
    """The place, the digest, and whether it is sealed are all in the hash of a record."""
    first, last = chain(2)

    assert last.follows(first.hash)
    assert not replace(last, **change).follows(first.hash)
    assert not last.follows(ZERO)


def test_a_seal_cannot_be_added_either() -> None:
    """A record inside a commit has no seal, and its hash says so."""
    first, _ = chain(2)

    assert first.follows(ZERO)
    assert not replace(first, seal="a seal").follows(ZERO)
    assert chained(1, ZERO, first.digest, sealed=True) != chained(1, ZERO, first.digest, sealed=False)


# texts


@given(st.recursive(st.none() | st.booleans() | st.integers() | ANY_TEXT, lambda x: st.lists(x) | st.dictionaries(ANY_TEXT, x), max_leaves=10))  # fmt: skip
def test_compact_json_can_be_written_and_read(value: Any) -> None:
    """Whatever is in it, lone surrogates and NUL too, it is one line of UTF-8 that reads as it was."""
    text = compact(value)

    assert json.loads(text.encode().decode()) == value
    assert "\n" not in text
    assert "\0" not in text


def test_compact_json_keeps_letters_readable() -> None:
    """Vietnamese stands in a store as it is written."""
    assert compact({"a": "Đổi trả"}) == '{"a":"Đổi trả"}'


@given(ANY_TEXT)
def test_storable_text_can_be_written(text: str) -> None:
    """No NUL and no lone surrogate is left, and ordinary text is untouched."""
    stored = storable(text)

    assert "\0" not in stored
    assert stored.encode().decode() == stored
    assert stored == text or "\0" in text or any("\ud800" <= c <= "\udfff" for c in text)


@given(st.lists(ANY_TEXT.filter(bool)))
def test_words_of_a_list_come_back(texts: list[str]) -> None:
    """Whatever a reason code holds, spaces and surrogates too, a list of them is divided where it was joined."""
    joined = " ".join(map(one_word, texts))

    assert [from_word(word) for word in joined.split(" ") if word] == texts
    assert joined.split() == [word for word in joined.split(" ") if word]
    assert joined.encode().decode() == joined


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        pytest.param(datetime(2026, 2, 1, tzinfo=UTC), "2026-02-01T00:00:00.000000Z", id="midnight has its zeros"),
        pytest.param(datetime(2026, 2, 1, 7, 0, 0, 5, timezone(timedelta(hours=7))), "2026-02-01T00:00:00.000005Z", id="a time in Vietnam"),
        pytest.param(datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00.000000Z", id="a year with zeros sorts as text"),
    ],
)  # fmt: skip
def test_a_point_in_time(moment: datetime, text: str) -> None:
    """Records write times in UTC, all of one length, so that they sort as text."""
    assert instant(moment) == text


def test_sha256_takes_any_text() -> None:
    """A lone surrogate is hashed as itself."""
    assert len({sha256("\ud800"), sha256("\udfff"), sha256("?"), sha256("")}) == 4
