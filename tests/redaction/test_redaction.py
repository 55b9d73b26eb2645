"""A redactor blanks texts and records for good, in linear time, and moves no character."""

from __future__ import annotations

import json
import re
import time
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings

from stillme import Guard
from stillme.redaction import BLANK, Redactor
from tests.redaction.support import EVERYTHING, MESSY, REQUEST, taken


def test_a_text_keeps_its_length_and_its_white_space() -> None:
    """Every other character of a match becomes one block, and the secrets are told."""
    text = "Gọi 0912\u00a0345 678\nhoặc a@b.vn!"

    assert EVERYTHING.text(text) == (
        "Gọi ████\u00a0███ ███\nhoặc ██████!",
        frozenset({"0912\u00a0345 678", "a@b.vn"}),
    )


def test_redactors_are_values() -> None:
    """Equal entries make equal redactors; an entry set to false is off; a pattern may take the name of a kind."""
    assert Redactor.of({"email": True, "ip": True}) == Redactor.of({"ip": True, "email": True})
    assert len({Redactor.of({"email": True}), Redactor.of({"email": True}), Redactor.of({})}) == 2
    assert (bool(Redactor.of({})), bool(Redactor.of({"email": False})), bool(EVERYTHING)) == (False, False, True)
    assert taken({"email": "[a-z]{1,9}+ at b"}, "a@b.vn, a at b") == ["a at b"]


@pytest.mark.parametrize("shape", ["verdict", "beside"])
def test_nothing_of_a_secret_is_left_in_a_real_record(shape: str) -> None:
    """Neither whole nor in the pieces in which findings and claims name it."""
    verdict = json.loads(Guard({"extends": "strict"}).verify(REQUEST).model_dump_json())
    record = {"request": REQUEST, **({"verdict": verdict} if shape == "verdict" else verdict)}

    written = json.dumps(EVERYTHING.record(record).value, ensure_ascii=False).lower()

    pieces = [
        "tran.",
        "hung@",
        "mailhost",
        "4111",
        "west",
        "5698",
        "912 345",
        "345 679",
        "001099012346",
        "192.168",
        "012345678",
        "654 321",
    ]
    assert [piece for piece in pieces if piece in written] == []


def test_nothing_to_redact_gives_the_record_back() -> None:
    """Without entries, or without a secret, it is the same object."""
    record = {"request": {"query": "Hà Nội có gì?"}, "verdict": {"as_of": datetime(2026, 1, 1, tzinfo=UTC)}}

    assert Redactor.of({}).record(record).value is record
    assert EVERYTHING.record(record).value is record
    assert EVERYTHING.record(record).places == 0


@settings(max_examples=100, deadline=None)
@given(MESSY)
@example("fe80::1 0912 345 678fe80::10912 345 678")
@example("10.0.0.1 +8491234567810.0.0.1+84912345678 x")
@example("CMND 012345678 a.b@c.vn012345678a.b@c.vn")
@example("e\u0301fe80::1;fe80::1")
def test_no_character_moves(text: str) -> None:
    """As long as before, white space in its place, every character either kept or blanked, no secret left as whole words."""
    redacted, secrets = EVERYTHING.text(text)

    assert len(redacted) == len(text)
    assert all(new == old or (new == BLANK and not old.isspace()) for old, new in zip(text, redacted, strict=True))
    whole = unicodedata.normalize("NFC", redacted)  # a letter with its mark behind it is a letter
    words = {unicodedata.normalize("NFC", s) for s in secrets}
    assert [s for s in words if re.search(rf"(?<![^\W_]){re.escape(s)}(?![^\W_])", whole)] == []
    assert (redacted == text) == (not secrets)


@settings(max_examples=200, deadline=None)
@given(MESSY)
@example("fe80::1 0912 345 678fe80::10912 345 678")
@example("0912 345 678fe80::1")
@example("x10.0.0.1a.b@c.vn10.0.0.1")
@example("a.b@c.vna.b@c.vn")
def test_what_is_redacted_is_so_for_good(text: str) -> None:
    """Blanking one secret never shows another: there is nothing to find in what is left, neither by kind nor as a known secret."""
    redacted, secrets = EVERYTHING.text(text)
    record = EVERYTHING.record({"request": {"query": redacted, "draft_answer": " ; ".join(sorted(secrets))}}).value

    assert EVERYTHING.text(redacted) == (redacted, frozenset())
    assert record["request"]["query"] == redacted


@pytest.mark.parametrize("unit", [
    "a", "1", "0", "@", "a@", "a@a.", "+1", "00 ", "0912 345 678 ", "4444 ", "abcd:", ":", "1.", "1.1.1.1 ", "CMND 012345678 ",
    "GB82 WEST ", "deadbeef0", "chứng minh nhân ", "e\u0302\u0301 ", "…a", "-", "a.b@c.vn",
])  # fmt: skip
def test_hostile_texts_take_linear_time(unit: str) -> None:
    """Ten times the text takes about ten times as long; a quadratic search would take a hundred times."""
    record = {"request": {"query": "a.b@c.vn 0912 345 678 "}, "verdict": {"safe_response": (unit * 20_000)[:20_000]}}
    started = time.process_time()

    EVERYTHING.record(record)

    assert time.process_time() - started < 4
