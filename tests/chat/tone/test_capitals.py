"""Capitals that shout become small; those that mean something stay."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.chat.tone.tone import STYLES, align_tone
from tests.chat.tone.test_tone import STOPS, held


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param("THE REFUND TAKES FOURTEEN DAYS [1].", "The refund takes fourteen days [1].", id="a sentence"),
        pytest.param("Refunds are slow [1]. PLEASE WAIT FOR FOURTEEN DAYS!!!", "Refunds are slow [1]. Please wait for fourteen days.", id="one sentence of two"),
        pytest.param("You must know: DO NOT EVER SEND THE CARD BY POST, please.", "You must know: do not ever send the card by post, please.", id="many words in a row"),
        pytest.param("NASA LAUNCHED THE ORBITER IN 1989 [1].", "NASA launched the orbiter in 1989 [1].", id="an acronym stays"),
        pytest.param("WHO SAYS THE VACCINE IS SAFE [1].", "WHO says the vaccine is safe [1].", id="an acronym that is a word stays"),
        pytest.param("PLEASE SEND THE SHOES TO ORSINI. The address of Orsini is here.", "Please send the shoes to Orsini. The address of Orsini is here.", id="a name is written as elsewhere"),
        pytest.param("GERMANY IS A COUNTRY OF 16 STATES [1].", "GERMANY is a country of 16 states [1].", id="a name that stands nowhere else stays"),
        pytest.param("I'M SURE THAT THE PRICE IS $5.", "I'm sure that the price is $5.", id="the first person stays large"),
        pytest.param("- READ THE TERMS FIRST [1].\n- Then pay.", "- Read the terms first [1].\n- Then pay.", id="an item of a list"),
        pytest.param("TIỀN ĐƯỢC HOÀN TRONG VÒNG 14 NGÀY [1]!!!", "Tiền được hoàn trong vòng 14 ngày [1].", id="a sentence in Vietnamese"),
        pytest.param("HÀ NỘI LÀ THỦ ĐÔ CỦA VIỆT NAM [1].", "HÀ NỘI là thủ đô của VIỆT NAM [1].", id="places in Vietnamese stay"),
        pytest.param("NGUYỄN VĂN AN LÀ GIÁM ĐỐC CỦA CÔNG TY [1].", "NGUYỄN VĂN AN là giám đốc của công ty [1].", id="a person in Vietnamese stays"),
    ],
)  # fmt: skip
def test_capitals_that_shout_become_small(answer: str, expected: str) -> None:
    """Ordinary words only, and never where a name or an acronym could stand."""
    assert align_tone(answer) == expected


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("HDMI, USB, VGA and DVI are ports [1].", id="acronyms in a row"),
        pytest.param("The NATO, EU and UN offices are in Brussels [1].", id="acronyms in a sentence"),
        pytest.param("You must NOT open it [1].", id="one word with weight"),
        pytest.param("SELECT NAME FROM USERS WHERE AGE IS NULL", id="a query outside of code"),
        pytest.param("Run `DROP ALL THE TABLES NOW` first [1].", id="code in a line"),
        pytest.param("The sign reads “KEEP OFF THE GRASS” there [1].", id="a quotation"),
        pytest.param("> DO NOT FEED THE BEARS\n\nIt stands at the gate [1].", id="a block quote"),
        pytest.param("Set MAX_RETRY_COUNT and DB_HOST_NAME [1].", id="identifiers"),
        pytest.param("The STOP sign is red [1].", id="a sign"),
        pytest.param("See [THE LIST OF ALL PORTS](https://a.example/LIST_OF_PORTS) [1].", id="a link"),
    ],
)  # fmt: skip
def test_capitals_that_mean_something_stay(answer: str, style: str) -> None:
    """Acronyms, code, quotations, addresses, identifiers and single words."""
    assert align_tone(answer, style).startswith(answer)


CALM = [
    "Refunds are paid within 14 days [1]",
    "The Team plan costs $29.50 per month [1, 2]",
    "The page https://docs.example.com/a?b=1 lists 3 plans",
    "Run `pip install stillme` with Python 3.11 [2]",
    "The sign reads “You idiot, STOP” at the gate",
    "NASA and the EU signed it with Orsini in 1994 [1]",
    "Tiền được hoàn trong vòng 14 ngày [1]",
    "Gói Team có giá 1.290.000 đồng mỗi tháng [2]",
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(CALM), min_size=1, max_size=4), st.sampled_from(STYLES))
def test_a_shouted_answer_says_the_same_words(facts: list[str], style: str) -> None:
    """Figures, markers, addresses, code, quotations and words are those of the shouted answer; only their capitals are fewer."""
    shouted = " ".join(f"{shout(fact)}!!!" for fact in facts)
    calm = align_tone(shouted, style).partition("\n\n")[0]

    assert STOPS.sub("", calm).casefold() == STOPS.sub("", shouted).casefold()
    kept = ("numbers", "citations", "quotations", "code", "addresses")
    assert {k: held(calm)[k] for k in kept} == {k: held(shouted)[k] for k in kept}
    assert sum(map(str.isupper, calm)) <= sum(map(str.isupper, shouted))


def shout(fact: str) -> str:
    """A fact in capitals, but for its address, its code and its quotation."""
    return "".join(
        part if k % 2 else part.upper() for k, part in enumerate(re.split(r"(https?://\S+|`[^`]+`|“[^”]+”)", fact))
    )
