"""Windows read everything, and gathered windows hold what bears on the claim."""

from __future__ import annotations

from training.windows import consecutive, gather, joined, split


def count(text: str) -> int:
    return len(text.split())


FILLER = " ".join(f"Filler sentence number {n} says nothing of note." for n in range(40))


def test_consecutive_windows_hold_every_sentence_and_fit() -> None:
    """Nothing goes unread whatever the length."""
    found = split([FILLER, "A second passage. It is short."], count, 20)

    windows = consecutive(found, 30)

    assert {s for window in windows for s in window} == set(found)
    assert all(sum(s.tokens for s in window) <= 30 for window in windows)
    assert all(len({s.passage for s in window}) == 1 for window in windows)


def test_a_sentence_too_long_for_a_window_is_cut() -> None:
    """Every word of an overlong sentence is in some piece."""
    text = " ".join(f"w{n}" for n in range(100))

    found = split([text], count, 20)

    assert " ".join(s.text for s in found) == text
    assert max(s.tokens for s in found) <= 20


def test_short_text_is_kept_whole() -> None:
    """What fits is not chosen from."""
    found = split(["One here. Two there."], count, 20)

    assert gather("anything", found, 50) == found


def test_gather_finds_both_halves_of_a_claim() -> None:
    """Sentences far apart that each bear half of the claim come into one window."""
    text = f"Ada Quill founded the Tern Institute. {FILLER} The Tern Institute won the Vance Prize."
    found = split([text], count, 30)

    window = joined(gather("The institute Ada Quill founded won the Vance Prize.", found, 40))

    assert "Ada Quill founded" in window
    assert "won the Vance Prize" in window
    assert count(window) <= 40


def test_joined_marks_gaps() -> None:
    """Where sentences were left out, the text says so."""
    found = split(["A one. B two. C three."], count, 20)

    assert joined([found[0], found[1]]) == "A one. B two."
    assert joined([found[0], found[2]]) == "A one. … C three."
