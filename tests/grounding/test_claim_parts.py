"""Claims as the model reads them."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.grounding.claim_parts import claim_parts
from stillme.models import CLAIM_TOKENS, words

SOURCE = "Tools are lent for three weeks."


def ids_of(draft: str) -> list[tuple[int, ...]]:
    task = Evidence.of("How long?", draft, [SOURCE]).grounding_task
    return [part.ids for part in claim_parts(task, task.claims[0])]


@pytest.mark.parametrize(
    ("draft", "read"),
    [
        pytest.param("Tools are lent for a month", "Tools are lent for a month .", id="a stop"),
        pytest.param("tools are **lent** for a month [1].", "Tools are lent for a month .", id="markers, markup and a small letter"),
        pytest.param("Tools are lent for 21 days.", "Tools are lent for three weeks .", id="a measure as the source writes it"),
    ],
)  # fmt: skip
def test_what_is_read(draft: str, read: str) -> None:
    """A sentence of its own, however it is laid out."""
    assert ids_of(draft) == [words().encode(read).ids]


@pytest.mark.parametrize(
    ("draft", "read"),
    [
        pytest.param(
            "The small room costs 40 euros [1], while the large one costs 90 [2].",
            ["The small room costs 40 euros .", "The large one costs 90 ."],
            id="two things beside each other",
        ),
        pytest.param(
            "Phòng nhỏ giá 40 nghìn đồng [1], còn phòng lớn giá 90 nghìn đồng.",
            ["Phòng nhỏ giá 40 nghìn đồng .", "Phòng lớn giá 90 nghìn đồng ."],
            id="in Vietnamese",
        ),
        pytest.param(
            "The small room is let to members, but not on Sundays or holidays.",
            ["The small room is let to members, but not on Sundays or holidays ."],
            id="what has no subject stays with its clause",
        ),
        pytest.param(
            "The room is free for members while stocks of keys last.",
            ["The room is free for members while stocks of keys last ."],
            id="a condition stays",
        ),
        pytest.param(
            "The small room costs 40 euros [1] and the large one costs 90 [1].",
            ["The small room costs 40 euros .", "The large one costs 90 ."],
            id="two things with a source each",
        ),
        pytest.param(
            "Phòng nhỏ giá 40 nghìn đồng [1], phòng lớn giá 90 nghìn đồng [1].",
            ["Phòng nhỏ giá 40 nghìn đồng .", "Phòng lớn giá 90 nghìn đồng ."],
            id="two things with a source each in Vietnamese",
        ),
        pytest.param(
            "The small room can be booked by members [1] and used until the evening [1].",
            ["The small room can be booked by members and used until the evening ."],
            id="a second verb stays with its subject",
        ),
        pytest.param("Cheap, but the large one costs 90.", ["Cheap, but the large one costs 90 ."], id="a clause of one word"),
    ],
)  # fmt: skip
def test_clauses(draft: str, read: list[str]) -> None:
    """Two clauses that each say something are read one by one, each as a sentence."""
    assert ids_of(draft) == [words().encode(each).ids for each in read]


def test_a_long_claim_is_read_in_parts() -> None:
    """Nothing of it goes unread, and no part is longer than the model takes."""
    found = ids_of("Tools are lent " + "to the people of the village and " * 40 + "nobody else.")

    assert len(found) > 1
    assert all(len(ids) <= CLAIM_TOKENS for ids in found)


def test_each_token_has_its_place_in_the_draft() -> None:
    """The characters of a measure that is read otherwise are those of the draft."""
    draft = "Tools are lent for 21 days."
    task = Evidence.of("How long?", draft, [SOURCE]).grounding_task

    places = claim_parts(task, task.claims[0])[0].offsets

    assert all(0 <= start <= end <= len(draft) for start, end in places)
    assert {draft[start:end] for start, end in places if draft[start:end].startswith("21")} == {"21 days"}
