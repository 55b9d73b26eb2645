"""Texts in characters that can be seen, addresses that may be followed, moments in UTC."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest

from stillme.chat.documents.extracts import clean, iso_moment, web_address


@pytest.fixture(autouse=True)
def _quiet_parser(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL + 1, logger="pypdf")


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        pytest.param("a\r\nb\rc\u2028d\x0ce", "a\nb\nc\nd\ne", id="one kind of line end"),
        pytest.param("a\u200bb\u00adc\ufeff\u2066d\U000e0041", "abcd", id="nothing that cannot be seen"),
        pytest.param("a\x00b\x1bc\x9fd", "a b c d", id="no control characters"),
        pytest.param("a\ud800b", "a\ufffdb", id="no half characters"),
        pytest.param("Hà Nội", "Hà Nội", id="composed accents"),
        pytest.param("क्\u200dष", "क्\u200dष", id="joiners that spell a word stay"),
        pytest.param("e\u0301 " * 600, "é " * 600, id="a long text is composed throughout"),
    ],
)
def test_a_text_is_in_characters_that_can_be_seen(text: str, cleaned: str) -> None:
    """What a person reads is what is searched, quoted and shown to a model."""
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        pytest.param("2026-02-01", "2026-02-01", id="a day"),
        pytest.param("2026-02-01T09:00:00", "2026-02-01T09:00:00Z", id="a time without a zone is UTC"),
        pytest.param(datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00Z", id="the first day there is"),
        pytest.param("0001-01-01T00:00:00+14:00", None, id="a day before it"),
        pytest.param("next week", None, id="words"),
        pytest.param(2026, None, id="a number"),
        pytest.param(None, None, id="nothing"),
    ],
)
def test_moments_are_iso_8601_in_utc(value: object, moment: str | None) -> None:
    """Or none at all."""
    assert iso_moment(value) == moment


@pytest.mark.parametrize("value", ["https://[x", "ftp://example.org", "https:///a", "https://a b.org", "x" * 3000, 5])
def test_what_is_no_web_address_is_none(value: object) -> None:
    """Nothing is made of it."""
    assert web_address(value) is None
