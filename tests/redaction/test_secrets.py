"""What is left of a secret elsewhere in a record is blanked too."""

from __future__ import annotations

import time

import pytest

from stillme.redaction import BLANK, Redactor
from tests.redaction.support import EVERYTHING


def test_a_secret_is_blanked_where_its_context_is_missing() -> None:
    """In any spacing; a long one also inside a longer number, a short one not."""
    long, short = Redactor.of({"id_number": True}), Redactor.of({"pin": "(?<=PIN )[0-9]{4}"})

    assert long.text("CMND 012345678. Số 012 345 678 này; 012.345.678; 9012345678.")[0] == (
        "CMND █████████. Số ███ ███ ███ này; ███████████; 9█████████."
    )
    assert short.text("PIN 1234, 12 34, 12345, 91234, a1234b")[0] == "PIN ████, ██ ██, 12345, 91234, a████b"


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        pytest.param("nguyen@mailhost.vn is his.", "██████████████████ is his.", id="cut at the beginning"),
        pytest.param("…uyen@mailhost.vn", "…████████████████", id="cut inside a word, marked"),
        pytest.param("Write to an.nguyen@mail", "Write to ██████████████", id="cut at the end"),
        pytest.param("Write to an.nguy… and call", "Write to ███████… and call", id="cut in the middle, marked"),
        pytest.param("AN.NGUYEN@MAILHOST.VN!", "█████████████████████!", id="in capitals"),
        pytest.param("an nguyen mailhost vn", "██ ██████ ████████ ██", id="without its marks"),
        pytest.param("An came.", "An came.", id="a word of it alone is no secret"),
        pytest.param("Write to an", "Write to an", id="two letters of it are no part"),
        pytest.param("Nguyen, of mailhost", "Nguyen, of mailhost", id="words of it apart"),
    ],
)
def test_parts_of_a_secret_in_a_quote(quote: str, expected: str) -> None:
    """What a quote cuts off is blanked from four letters on; words apart are not."""
    record = {"request": {"query": "an.nguyen@mailhost.vn"}, "claims": [{"quote": quote}]}

    assert Redactor.of({"email": True}).record(record).value["claims"][0]["quote"] == expected


def test_parts_are_looked_for_in_our_own_texts_only() -> None:
    """What a user sent is whole: a title that ends like a secret begins is a title."""
    record = {"request": {"query": "support@mailhost.vn", "metadata": {"team": "Customer support"}}}

    assert Redactor.of({"email": True}).record(record).value["request"]["metadata"] == {"team": "Customer support"}


def test_short_secrets_are_blanked_only_where_their_pattern_matches() -> None:
    """A grade is not every letter A."""
    assert Redactor.of({"grade": "(?<=grade )[A-F]"}).text("grade A, a man, A")[0] == "grade █, a man, A"


@pytest.mark.parametrize("text", ["2001:db8::7", "số 0903 111 222 của tôi", "mail: tran@host.example.vn"])
@pytest.mark.parametrize("glue", ["", "9", "x", "é"])
def test_a_secret_that_runs_into_another_is_blanked_too(text: str, glue: str) -> None:
    """Once alone and once glued to itself and to others, in both orders."""
    whole = f"{text}; {text}{glue}0912 345 678{glue}{text}, 0912 345 678"

    _, secrets = EVERYTHING.text(whole)
    redacted = EVERYTHING.record({"request": {"query": whole}}).value["request"]["query"]

    assert [s for s in secrets if s in redacted] == []


def test_a_chain_of_secrets_that_show_each_other_ends() -> None:
    """Each one that is blanked shows the next; what is not settled after a few rounds is blanked up to the white space around it."""
    redactor = Redactor.of({"short": "(?<![0-9])[0-9]{5}"})

    redacted, _ = redactor.text("Mã số " + "12345" * 4_000 + ", hết.")

    assert redacted == "Mã số " + BLANK * 20_001 + " hết."


def test_many_different_secrets_take_linear_time() -> None:
    """Each of thousands of secrets is looked for at once."""
    text = " ".join(f"user{n}.name@host{n % 97}.example.com" for n in range(2_000))
    started = time.process_time()

    redacted, secrets = EVERYTHING.text(text)

    assert (len(secrets), redacted.strip(f"{BLANK} ")) == (2_000, "")
    assert time.process_time() - started < 4
