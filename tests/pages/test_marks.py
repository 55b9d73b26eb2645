"""A text is cut where its marks begin and end, and is whole when its parts are put together."""

from __future__ import annotations

from stillme.pages.marks import Mark, Note, Stretch, stretches


def test_marks_may_overlap() -> None:
    """Each stretch has the looks of all marks over it, and a note stands where its mark ends."""
    note = Note("1", "good", "claim-1")

    parts = stretches("abcdef", [Mark(0, 4, "claim", note), Mark(2, 6, "gap")])

    assert parts == [Stretch("ab", "claim", []), Stretch("cd", "claim gap", [note]), Stretch("ef", "gap", [])]


def test_a_text_without_marks_is_one_stretch() -> None:
    """Nothing is marked, nothing is lost."""
    assert stretches("abc", []) == [Stretch("abc", "", [])]
