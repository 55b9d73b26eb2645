"""The passages of a request, indexed by word."""

from __future__ import annotations

import gc

from stillme.evidence import Evidence
from stillme.text.tokens import stem

TEXTS = ["The mill burned. The mill was rebuilt.", "The bridge burned."]


def test_statements_are_found_by_their_words() -> None:
    """By stem, with how many of the words each shares."""
    library = Evidence.of("q", passages=list(TEXTS)).library
    mill, burned = stem("mill"), stem("burned")

    assert (library.index[mill], library.index[burned]) == ((0, 1), (0, 2))
    assert library.sharing([mill, burned]) == {0: 2, 1: 1, 2: 1}
    assert [number for number, _ in library.places] == [0, 0, 1]


def test_a_library_is_told_from_another_by_its_passages() -> None:
    """The same passages in the same order have the same digest."""
    one, same, other = (Evidence.of("q", passages=list(texts)).library for texts in (TEXTS, TEXTS, TEXTS[::-1]))

    assert one.digest == same.digest != other.digest


def test_the_collector_of_garbage_leaves_alone_what_is_kept_of_every_word() -> None:
    """Rows that it looked at again and again took half of a server's time once many passages were kept."""
    library = Evidence.of("q", passages=list(TEXTS)).library
    rows = [*library.index.values(), *library.meanings.values()]

    gc.collect()

    assert rows
    assert not any(map(gc.is_tracked, rows))
