"""What the model reads: every word of every passage, in windows that fit."""

from __future__ import annotations

import itertools

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stillme.contract import RetrievedPassage
from stillme.evidence import Evidence
from stillme.grounding.passage_windows import GATHERED_TOKENS, PIECE_TOKENS, Shelf
from stillme.models import WINDOW_TOKENS
from tests.soak import examples

TEXTS = st.text(st.sampled_from("ab é. Ngày\n\t!?…12|-*ộđ"), min_size=1, max_size=900)


def shelf(*passages: str | RetrievedPassage) -> Shelf:
    return Shelf(Evidence.of(passages=passages).library, 1000)


@settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(passages=st.lists(TEXTS, min_size=1, max_size=3))
def test_nothing_goes_unread(passages: list[str]) -> None:
    """The windows of a passage hold all its characters but white space, in order, and each fits the model."""
    read = [p for p in passages if p.strip()]
    made = shelf(*passages)

    for text, windows in zip(read, made.windows, strict=True):
        pieces = list(dict.fromkeys(piece for window in windows for piece in window.pieces))
        said = "".join(text[piece.start : piece.end] for piece in pieces)
        assert "".join(said.split()) == "".join(text.split())
        assert all(piece.ids for piece in pieces)
        assert all(len(window.ids) <= WINDOW_TOKENS for window in windows)
        assert all(len(piece.ids) <= PIECE_TOKENS for piece in pieces)


def test_a_long_passage_is_read_in_windows_that_share_a_piece() -> None:
    """What stands at the end of one window stands at the beginning of the next."""
    windows = shelf(
        " ".join(f"Sentence number {n} speaks of the harbour and of its {n} boats." for n in range(80))
    ).windows[0]

    assert len(windows) > 2
    assert all(a.pieces[-1] == b.pieces[0] for a, b in itertools.pairwise(windows))


def test_a_window_of_a_passage_does_not_depend_on_the_others() -> None:
    """Another passage changes nothing in how this one is read."""
    first = shelf("The ferry leaves at nine. It carries forty cars.").windows[0]
    second = shelf("The ferry leaves at nine. It carries forty cars.", "Cars pay ten pounds.").windows[0]

    assert [w.ids for w in first] == [w.ids for w in second]


def test_gathered_pieces_come_from_all_passages_with_what_stands_beside_them() -> None:
    """The best piece, its neighbours, and the piece elsewhere that says the rest; what shares nothing stays out."""
    evidence = Evidence.of(
        draft="The ferry carries forty cars and costs ten pounds.",
        passages=[
            "The harbour is old. The ferry carries forty cars. It was built in Oban. "
            + "Nothing else is said here. " * 40,
            "A ticket costs ten pounds.",
            "Bread is made of flour.",
        ],
    )
    made = Shelf(evidence.library, 1000)
    window = made.gathered(evidence.draft_reading.statements[0])

    assert window is not None
    texts = [evidence.passages[p.passage].text.raw[p.start : p.end].strip() for p in window.pieces]
    assert texts == [
        "The harbour is old.",
        "The ferry carries forty cars.",
        "It was built in Oban.",
        "A ticket costs ten pounds.",
    ]
    assert len(window.ids) <= GATHERED_TOKENS


def test_nothing_is_gathered_where_nothing_is_shared() -> None:
    """Then every window is read instead."""
    evidence = Evidence.of(draft="Zebras sleep.", passages=["Bread is made of flour."])

    assert Shelf(evidence.library, 1000).gathered(evidence.draft_reading.statements[0]) is None


def test_a_title_is_read_before_the_text_and_is_never_quoted() -> None:
    """It tells what a passage speaks of; its piece stands for no characters of the text."""
    titled = RetrievedPassage(source_id="a", text="It opened in 1887.", title="The Norwick library")
    pieces = shelf(titled).pieces[0]

    assert [(p.place, p.end > p.start) for p in pieces] == [(-1, False), (0, True)]


def test_a_window_is_paid_for_once_and_the_budget_holds() -> None:
    """Further claims against a window cost only themselves; what cannot be paid for is not read."""
    made = shelf("The ferry leaves at nine. It carries forty cars.")
    window = made.windows[0][0]
    affordable = Shelf(made.library, len(window.ids) + 15)

    assert [affordable.affords(window, cost) for cost in (10, 5, 1)] == [True, True, False]
