"""Phrases match whole words, with gaps, options and sentence starts, with and without accents."""

from __future__ import annotations

import pytest

from stillme.text.lexicon import Lexicon, Match
from stillme.text.tokens import Text

LEXICON = Lexicon(
    {
        "joy": ["i (really|so) feel ~2 @glad", "tôi ~2 vui"],
        "opening": ["^ dear ~2 customer"],
        "deed": ["make|put_together a plan"],
    },
    {"glad": ["happy|very_glad", "cheerful"]},
)


@pytest.mark.parametrize(
    ("raw", "matches"),
    [
        pytest.param("I feel happy", [Match("joy", 0, 3)], id="the plain phrase"),
        pytest.param(
            "I really feel so very glad", [Match("joy", 0, 6)], id="an optional word, a gap and an option of two words"
        ),
        pytest.param("I feel a b c happy", [], id="a gap that is too wide"),
        pytest.param("I feel. Happy days", [], id="a gap does not cross a sentence"),
        pytest.param("Unhappy I feelings", [], id="parts of words do not count"),
        pytest.param(
            "Dear valued customer", [Match("opening", 0, 3)], id="the start of the text is the start of a sentence"
        ),
        pytest.param("Yes. Dear customer", [Match("opening", 2, 4)], id="so is the word behind a full stop"),
        pytest.param("my dear customer", [], id="the middle of a sentence is not"),
        pytest.param("Put together a plan", [Match("deed", 0, 4)], id="an option may have several words"),
        pytest.param("Tôi rất vui", [Match("joy", 0, 3)], id="Vietnamese with accents"),
        pytest.param("toi rat vui", [Match("joy", 0, 3)], id="Vietnamese typed without accents"),
        pytest.param("Tối rất vui", [], id="other accents make other words"),
        pytest.param("", [], id="nothing in nothing"),
    ],
)
def test_find(raw: str, matches: list[Match]) -> None:
    """Each match is found once, by the first token it begins with."""
    assert list(LEXICON.find(Text(raw))) == matches


@pytest.mark.parametrize(
    ("first", "last", "names"),
    [
        pytest.param(0, None, {"joy", "deed"}, id="the whole text"),
        pytest.param(0, 4, {"joy"}, id="its beginning"),
        pytest.param(1, 6, set(), id="a range that cuts both phrases"),
        pytest.param(3, None, {"deed"}, id="its end"),
    ],
)
def test_names_are_those_of_the_lists_that_match_in_a_range(first: int, last: int | None, names: set[str]) -> None:
    """Each list once, however many of its phrases match."""
    text = Text("I feel happy; make a plan, put together a plan")

    assert LEXICON.names(text, first, last) == names == {m.name for m in LEXICON.find(text, first, last)}


def test_find_stays_within_its_range() -> None:
    """Tokens outside the given range are not looked at."""
    text = Text("I feel happy and I feel happy")

    assert list(LEXICON.find(text, 4)) == [Match("joy", 4, 7)]
    assert list(LEXICON.find(text, 0, 2)) == []


def test_a_phrase_that_begins_with_a_gap_is_refused() -> None:
    """A phrase needs a word to be found by."""
    with pytest.raises(ValueError, match="must begin with a word"):
        list(Lexicon({"bad": ["~2 word"]}).find(Text("word")))


def test_an_unknown_class_is_refused() -> None:
    """A misspelt class is an error when the rules are loaded, not a rule that never matches."""
    with pytest.raises(ValueError, match="no list is called 'gald'"):
        Lexicon({"joy": ["i feel @gald"]})
