"""Redaction: what is taken, what is left, that no character moves, and that no text and no pattern can stall it."""

from __future__ import annotations

import copy
import json
import re
import time
import types
import typing
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from stillme import Guard
from stillme.contract import Verdict, VerifyRequest
from stillme.errors import InputError, PolicyError
from stillme.redaction import BLANK, KINDS, RECORD_FIELDS, Field, Redacted, Redactor, patterns
from tests.soak import examples

EVERYTHING = Redactor.of(dict.fromkeys(KINDS, True))
UUID = "1f2a0912-1111-4222-8333-091234567812"


def taken(entries: dict[str, str | bool], text: str) -> list[str]:
    """What is blanked in a text, in order."""
    redacted, _ = Redactor.of(entries).text(text)
    spans = re.finditer(rf"{BLANK}(?:[{BLANK}\s]*{BLANK})?", redacted)
    return [text[m.start() : m.end()] for m in spans]


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        pytest.param("email", "Write to an.nguyen+x@mail.example.com.", ["an.nguyen+x@mail.example.com"], id="email: the dot ends the sentence"),
        pytest.param("email", "Thư: nguyễn.huệ@ví-dụ.vn, 'b@c.org'", ["nguyễn.huệ@ví-dụ.vn", "b@c.org"], id="email: Vietnamese letters, quotes"),
        pytest.param("email", "mailto:a@b.vn?subject=x a@b.vn.123", ["a@b.vn", "a@b.vn"], id="email: in an address, before a figure"),
        pytest.param("email", "numpy@1.26.4, root@localhost, @handle, a @ b.c, @", [], id="email: versions, handles and bare hosts are left"),
        pytest.param("phone", "Gọi 0912345678, 0912.345.678; 091-234-5678", ["0912345678", "0912.345.678", "091-234-5678"], id="phone: Vietnamese mobiles"),
        pytest.param("phone", "(024) 3825 1234 / 0123 456 7890 / 09 1234 5678", ["024) 3825 1234", "0123 456 7890", "09 1234 5678"], id="phone: landlines, old mobiles, short first group"),
        pytest.param("phone", "+84 912 345 678 25 tuổi, (+84) 0912345678", ["+84 912 345 678", "+84) 0912345678"], id="phone: with the country code, an age behind it"),
        pytest.param("phone", "SĐT0912345678 - 0987654321/0987654322", ["0912345678", "0987654321", "0987654322"], id="phone: after letters, several"),
        pytest.param("phone", "+1 415 555 2671 25 people; +44 20 7946 0958", ["+1 415 555 2671", "+44 20 7946 0958"], id="phone: abroad"),
        pytest.param("phone", "0044 20 7946 0958; 00442079460958; 0084912345678", ["0044 20 7946 0958", "00442079460958", "0084912345678"], id="phone: with zeros for the plus"),
        pytest.param("phone", "84912345678", ["84912345678"], id="phone: a bare country code"),
        pytest.param("phone", "84.912.345.678 đồng, 84 912 345 678", [], id="phone: amounts that begin with 84 are left"),
        pytest.param("phone", "+5.000.000.000 đồng, +12.5%, 0.912345678, 3,0912345678", [], id="phone: signed amounts and decimals are left"),
        pytest.param("phone", "03-12-2024 10:30, 05.08.2024 15 giờ, 1900 1234, 113", [], id="phone: days and hours, hotlines are left"),
        pytest.param("phone", f"001099012345, 09123456789, {UUID}, 0912345678abcdef00", [], id="phone: codes and longer numbers are left"),
        pytest.param("card", "4111 1111 1111 1111, 5500-0000-0000-0004, 378282246310005", ["4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005"], id="card: groups, dashes, none"),
        pytest.param("card", "2024 3782 822463 10005 12/26", ["3782 822463 10005"], id="card: between other figures"),
        pytest.param("card", "Thẻ 9704 0000 0000 0018", ["9704 0000 0000 0018"], id="card: the Vietnamese network"),
        pytest.param("card", "4111 1111 1111 1112, 2019 2020 2021 2022, 1234567812345670, 41 11 11 11 11 11 11 11", [], id="card: a wrong digit, years, no network, small groups"),
        pytest.param("card", "4" * 40 + " a4111111111111111ffff0 4500 5200 6100 4800", [], id="card: long runs, codes and a row of figures are left"),
        pytest.param("iban", "GB82 WEST 1234 5698 7654 32 IS MINE; de89370400440532013000", ["GB82 WEST 1234 5698 7654 32", "de89370400440532013000"], id="iban: capitals behind it, small letters"),
        pytest.param("iban", "GB82 WEST 1234 5698 7654 33, VN12 3456 7890 1234 5678, AB12 CDEF", [], id="iban: a wrong digit, a country without"),
        pytest.param("ip", "Từ 192.168.1.77, rồi 10.0.0.5:8080.", ["192.168.1.77", "10.0.0.5"], id="ip: version 4"),
        pytest.param("ip", "2001:db8::7334. [fe80::1]:443 ip:2001:db8::1, ::ffff:192.0.2.1", ["2001:db8::7334", "fe80::1", "2001:db8::1", "::ffff:192.0.2.1"], id="ip: version 6"),
        pytest.param("ip", "v1.2.3.4, mục 1.2.3.4, Section 1.2.3.4, phiên bản 4.3.2.1", [], id="ip: versions and sections are left"),
        pytest.param("ip", "999.1.1.1, 1.2.3.4.5, 12:30:45, std::vector, add::, ::1, 1:2:3:4:5:6:7", [], id="ip: what only looks like one is left"),
        pytest.param("id_number", "001099012345, 079 201 012 345", ["001099012345", "079 201 012 345"], id="id: a CCCD has a structure"),
        pytest.param("id_number", "CMND số 012345678 cấp 15/05/2010; chung minh nhan dan: 012 345 679", ["012345678", "012 345 679"], id="id: a CMND after its word, with or without accents"),
        pytest.param("id_number", "Chứng minh thư 012345678 và 023456789", ["012345678", "023456789"], id="id: two after one word"),
        pytest.param("id_number", "CMND 9 số: 012345678 15 05 2010", ["012345678"], id="id: other figures around it"),
        pytest.param("id_number", "national ID 123456789012, hộ chiếu B1234567, passport no. 123456789", ["123456789012", "B1234567", "123456789"], id="id: in English, passports"),
        pytest.param("id_number", "Doanh thu 250000000 đồng, dân số 100.000.000, mã 123456789012", [], id="id: amounts are left"),
        pytest.param("id_number", f"order ID 123456789, 0.001099012345, 097099012345, 001999012345, {UUID}", [], id="id: orders, decimals, no province, no century, codes"),
    ],
)  # fmt: skip
def test_built_in_kinds(kind: str, text: str, found: list[str]) -> None:
    """Each kind takes what it says and leaves ordinary figures alone."""
    assert taken({kind: True}, text) == found


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_finds_nothing_in_nothing(kind: str) -> None:
    """Empty texts, spaces and words stay as they are."""
    assert [Redactor.of({kind: True}).text(t) for t in ("", " \n", "Hà Nội")] == [
        (t, frozenset()) for t in ("", " \n", "Hà Nội")
    ]


def test_a_text_keeps_its_length_and_its_white_space() -> None:
    """Every other character of a match becomes one block, and the secrets are told."""
    text = "Gọi 0912\u00a0345 678\nhoặc a@b.vn!"

    assert EVERYTHING.text(text) == (
        "Gọi ████\u00a0███ ███\nhoặc ██████!",
        frozenset({"0912\u00a0345 678", "a@b.vn"}),
    )


def test_a_secret_is_blanked_where_its_context_is_missing() -> None:
    """In any spacing; a long one also inside a longer number, a short one not."""
    long, short = Redactor.of({"id_number": True}), Redactor.of({"pin": "(?<=PIN )[0-9]{4}"})

    assert long.text("CMND 012345678. Số 012 345 678 này; 012.345.678; 9012345678.")[0] == (
        "CMND █████████. Số ███ ███ ███ này; ███████████; 9█████████."
    )
    assert short.text("PIN 1234, 12 34, 12345, 91234, a1234b")[0] == "PIN ████, ██ ██, 12345, 91234, a████b"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(
    "entries",
    [
        pytest.param({"name": "Nguyễn [A-ZĐ][a-zệ]{1,8}+"}, id="a pattern"),
        pytest.param({"name": unicodedata.normalize("NFD", "Nguyễn Huệ")}, id="a decomposed pattern"),
    ],
)
def test_composed_and_decomposed_vietnamese_are_matched_alike(
    form: typing.Literal["NFC", "NFD"], entries: dict[str, str]
) -> None:
    """The place is found in the text as it is; marks are blanked with their letters."""
    text, name = (unicodedata.normalize(form, t) for t in ("Ông Nguyễn Huệ đến Huế.", "Nguyễn Huệ"))

    assert taken(dict(entries), text) == [name]


def test_the_words_before_an_identity_number_in_both_forms() -> None:
    """Căn cước in NFD is căn cước."""
    text = unicodedata.normalize("NFD", "Căn cước: 123456789")

    assert taken({"id_number": True}, text) == ["123456789"]


# patterns of the operator's own


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        pytest.param("KH-[0-9]{6}", "KH-123456, kh-123457, KH-12", ["KH-123456"], id="a fixed count"),
        pytest.param("(?i)kh-[0-9]{4,8}+", "kh-1234567", ["kh-1234567"], id="a possessive repetition, a flag"),
        pytest.param(r"\d{1,4}/\d{1,4}-[A-Z]{2}", "12/3456-AB", ["12/3456-AB"], id="short repetitions of characters"),
        pytest.param("(?:[0-9]{3} ){3}x", "123 456 789 x", ["123 456 789 x"], id="a group a fixed number of times"),
        pytest.param("(?>ab|cd){1,9}+!", "abcdab!", ["abcdab!"], id="atomic alternatives"),
        pytest.param(
            "(?<=PIN )[0-9]{4}(?![0-9])",
            "PIN 1234, 1234, 12345",
            ["1234", "1234"],
            id="a look-around; the context once is enough",
        ),
        pytest.param("hồ sơ [0-9]{2,6}+", "Hồ sơ 12, hồ sơ 123", ["hồ sơ 123"], id="Vietnamese"),
        pytest.param("(?x) A [0-9]{3}  # a comment+", "A123", ["A123"], id="the verbose form"),
        pytest.param("(a|b)c", "ac bc", ["ac bc"], id="a capture that nothing repeats"),
    ],
)
def test_patterns_that_are_taken(pattern: str, text: str, found: list[str]) -> None:
    """A pattern of one's own blanks what it matches."""
    assert taken({"own": pattern}, text) == found


ENDLESS = "audit.redact.own: the repetition `{}` has no upper bound: write `{}`, got {!r}"
GIVES_BACK = "audit.redact.own: the repetition `{}` of a group can give back what it took: write `{}`, got {!r}"
STEPS = "audit.redact.own may take {} steps at each character, at most 256: lower the bounds, make repetitions possessive (`{{1,16}}+`) and alternatives atomic (`(?>…|…)`), got {!r}"
SWALLOWS = "audit.redact.own: the repetition `{}` also takes the `{}` that must follow it, so that nothing matches: leave that out of the repetition, or write `{}` if the bound is small, got {!r}"
EMPTY = "audit.redact.own matches the empty text: let it begin with something that must be there, got {!r}"
UNREADABLE = "audit.redact.own: it is no regular expression that Python reads ({}): correct it, got {!r}"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        pytest.param(r"\d+", ENDLESS.format(r"\d+", r"\d{1,64}+", r"\d+"), id="no bound"),
        pytest.param(r"a[\w.-]*+b", ENDLESS.format(r"[\w\.\-]*+", r"[\w\.\-]{0,64}+", r"a[\w.-]*+b"), id="possessive without a bound"),
        pytest.param("(?:ab){3,}", ENDLESS.format("(?:ab){3,}", "(?:ab){3,64}+", "(?:ab){3,}"), id="a group without a bound"),
        pytest.param("(?:ab){1,3}", GIVES_BACK.format("(?:ab){1,3}", "(?:ab){1,3}+", "(?:ab){1,3}"), id="a group that gives back"),
        pytest.param("x(?:ab){1,3}?y", GIVES_BACK.format("(?:ab){1,3}?", "(?:ab){1,3}+", "x(?:ab){1,3}?y"), id="a lazy group"),
        pytest.param("x(?:ab)?", GIVES_BACK.format("(?:ab)?", "(?:ab)?+", "x(?:ab)?"), id="an optional group"),
        pytest.param("(?:a{1,9}){1,9}", GIVES_BACK.format("(?:a{1,9}){1,9}", "(?:a{1,9}){1,9}+", "(?:a{1,9}){1,9}"), id="nested"),
        pytest.param(r"\w{1,20}\d{1,20}!", STEPS.format("841", r"\w{1,20}\d{1,20}!"), id="two that can share the text in many ways"),
        pytest.param("(?:a|aa){30}b", STEPS.format("billions of", "(?:a|aa){30}b"), id="alternatives that overlap"),
        pytest.param("(?:a|b|ab)" * 12 + "c", STEPS.format("2,391,481", "(?:a|b|ab)" * 12 + "c")[:40], id="alternatives in a row"),
        pytest.param("a{1,999}+b", STEPS.format("1,000", "a{1,999}+b"), id="too large a bound"),
        pytest.param(r"(a)\1", r"audit.redact.own: `\1` refers back to a group: write what it repeats once more, got '(a)\\1'", id="a back-reference"),
        pytest.param("(?P<n>a)b(?P=n)", r"audit.redact.own: `\1` refers back to a group: write what it repeats once more, got '(?P<n>a)b(?P=n)'", id="a named back-reference"),
        pytest.param("(a)?+(?(1)b|c)d", "audit.redact.own: `(a)` captures inside a possessive part: write (?:…) for (…), got '(a)?+(?(1)b|c)d'", id="a capture in a possessive part"),
        pytest.param("(?=[0-9]{3})[0-9]", "audit.redact.own: `[0-9]{3}` repeats inside a look-around: write the characters out, such as `[0-9][0-9]`, got '(?=[0-9]{3})[0-9]'", id="a repetition in a look-around"),
        pytest.param(r"\w{1,30}+[0-9]", SWALLOWS.format(r"\w{1,30}+", "[0-9]", r"\w{1,30}", r"\w{1,30}+[0-9]"), id="a repetition that takes all that follows"),
        pytest.param(r"[\w.]{1,30}+(?:\.vn)", SWALLOWS.format(r"[\w\.]{1,30}+", r"\.", r"[\w\.]{1,30}", r"[\w.]{1,30}+(?:\.vn)"), id="the same before a group"),
        pytest.param("", EMPTY.format(""), id="nothing"),
        pytest.param("a?", EMPTY.format("a?"), id="something that may be missing"),
        pytest.param(r"\b|x", EMPTY.format(r"\b|x"), id="a place"),
        pytest.param("(?=a)", EMPTY.format("(?=a)"), id="a look-around"),
        pytest.param("(", UNREADABLE.format("missing ), unterminated subpattern at position 0", "("), id="an open group"),
        pytest.param("[[a]b]", UNREADABLE.format("Possible nested set at position 1", "[[a]b]"), id="what Python may read otherwise"),
        pytest.param("a{99999999999}", UNREADABLE.format("the repetition number is too large", "a{99999999999}"), id="a number too large"),
        pytest.param("a" * 501, "audit.redact.own has 501 characters, at most 500: split it into several names", id="too long"),
    ],
)  # fmt: skip
def test_patterns_that_are_refused(pattern: str, message: str) -> None:
    """What is wrong, in which part, and what to write instead."""
    with pytest.raises(PolicyError) as error:
        Redactor.of({"own": pattern})

    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        pytest.param({"emial": True}, "audit.redact.emial is no built-in kind: did you mean email? built in are email, phone, card, iban, ip, id_number; any other name needs a pattern", id="a slip"),
        pytest.param({"staff": False}, "audit.redact.staff is no built-in kind: built in are email, phone, card, iban, ip, id_number; any other name needs a pattern", id="no kind"),
        pytest.param({"a b": 3}, "audit.redact.'a b' must be true, false or a pattern, got 3", id="a number"),
        pytest.param({"x": None}, "audit.redact.x must be true, false or a pattern, got None", id="null"),
        pytest.param(["email"], "audit.redact must map names to true or to a pattern, got ['email']", id="a list"),
        pytest.param({f"n{i}": "a" for i in range(33)}, "audit.redact has 33 entries, at most 32: join some by `|`", id="too many"),
        pytest.param({f"n{i}": "a{1,200}+b" for i in range(3)}, "audit.redact: the patterns may take 606 steps at each character, at most 512: lower the bounds of their repetitions", id="too much in all"),
    ],
)  # fmt: skip
def test_entries_that_are_refused(entries: Any, message: str) -> None:
    """The key, the value, and the valid choices."""
    with pytest.raises(PolicyError) as error:
        Redactor.of(entries)

    assert str(error.value) == message


@pytest.mark.parametrize(
    ("parser", "message"),
    [
        pytest.param(types.SimpleNamespace(), "patterns cannot be checked", id="no parser"),
        pytest.param(types.SimpleNamespace(parse=lambda _: [7]), "patterns cannot be checked", id="another tree"),
        pytest.param(types.SimpleNamespace(parse=lambda _: [("NEW", 7)]), r"not known here \(NEW\)", id="another part"),
        pytest.param(
            types.SimpleNamespace(parse=lambda _: [("AT", "NEW")]), "patterns cannot be checked", id="another place"
        ),
    ],
)
def test_patterns_are_refused_where_the_parser_is_another(
    monkeypatch: pytest.MonkeyPatch, parser: object, message: str
) -> None:
    """The private parser of the standard library may change: then no pattern is trusted, the built-in kinds still work."""
    monkeypatch.setattr(patterns, "import_module", lambda _: parser)

    with pytest.raises(PolicyError, match=message):
        Redactor.of({"own": "unseen-[0-9]{3}"})
    assert Redactor.of({"email": True, "phone": True}).text("a@b.vn")[0] == "██████"


def test_redactors_are_values() -> None:
    """Equal entries make equal redactors; an entry set to false is off; a pattern may take the name of a kind."""
    assert Redactor.of({"email": True, "ip": True}) == Redactor.of({"ip": True, "email": True})
    assert len({Redactor.of({"email": True}), Redactor.of({"email": True}), Redactor.of({})}) == 2
    assert (bool(Redactor.of({})), bool(Redactor.of({"email": False})), bool(EVERYTHING)) == (False, False, True)
    assert taken({"email": "[a-z]{1,9}+ at b"}, "a@b.vn, a at b") == ["a at b"]


PIECES = st.lists(st.sampled_from(["a", "b", "(?:", "(", ")", "|", "?", "*", "+", "{1,3}", "{2}", "[ab]", r"\w", r"\1", "(?=", "(?<!", "(?>", "^", "."]), max_size=12)  # fmt: skip


@settings(max_examples=examples(150), deadline=None)
@given(PIECES.map("".join))
def test_any_pattern_is_either_refused_or_harmless(pattern: str) -> None:
    """Never another exception; and what is taken matches something and ends soon on a hostile text."""
    try:
        redactor = Redactor.of({"own": pattern})
    except PolicyError:
        return
    text = "a" * 3_000 + "!"
    started = time.process_time()

    redacted, secrets = redactor.text(text)

    assert (len(redacted), "" in secrets) == (len(text), False)
    assert time.process_time() - started < 2


# records


def body() -> dict[str, Any]:
    """A request and a verdict in which one phone number stands in every shape it can take."""
    return {
        "request": {
            "request_id": f"req-{UUID}",
            "query": "Ai có số 0912 345 678?",
            "draft_answer": "Số 0912345678 là của Lê Lợi.",
            "as_of": "2026-11-12T09:00:00+00:00",
            "generation_confidence": 0.912345678,
            "metadata": {"language": "vi", "session_id": "0912345678", "phone": 84912345678, "turn": 3, "vip": True},
            "retrieved_context": [
                {
                    "source_id": "crm/0912345678",
                    "title": "Khách 0912.345.678",
                    "url": "https://a.example/0912345678",
                    "text": "Gọi 0912 345 678.",
                    "timestamp": "2026-01-01",
                    "similarity": 0.5,
                }
            ],
        },
        "verdict": {
            "request_id": f"req-{UUID}",
            "decision": "answer",
            "validator_trace_id": f"trace-{UUID}",
            "policy_hash": "0912345678",
            "version": "0912345678",
            "reasons": ["x_0912345678"],
            "safe_response": "A nói: “Gọi 0912 34…”",
            "claims": [
                {
                    "text": "Số 0912345678 là của Lê Lợi.",
                    "start": 0,
                    "end": 28,
                    "source_ids": ["crm/0912345678", UUID],
                    "quote": "345 678.",
                    "detail": "figure missing: '345', 345 678",
                    "unsupported_spans": [[3, 13]],
                }
            ],
            "findings": [{"validator": "N0912345678", "detail": "in no source: 0912, 345, 678, 12", "elapsed_ms": 0.1}],
        },
    }


def test_a_record_is_blanked_everywhere_and_its_codes_are_kept() -> None:
    """Texts, ids that are no codes, numbers, cut quotes and single figures; the record given stays as it was."""
    given_ = body()
    redacted = Redactor.of({"phone": True}).record(given_)

    assert given_ == body()
    assert redacted == Redacted(
        {
            "request": {
                "request_id": f"req-{UUID}",
                "query": "Ai có số ████ ███ ███?",
                "draft_answer": "Số ██████████ là của Lê Lợi.",
                "as_of": "2026-11-12T09:00:00+00:00",
                "generation_confidence": 0.912345678,
                "metadata": {
                    "language": "vi",
                    "session_id": "██████████",
                    "phone": "███████████",
                    "turn": 3,
                    "vip": True,
                },
                "retrieved_context": [
                    {
                        "source_id": "crm/██████████",
                        "title": "Khách ████████████",
                        "url": "https://a.example/██████████",
                        "text": "Gọi ████ ███ ███.",
                        "timestamp": "2026-01-01",
                        "similarity": 0.5,
                    }
                ],
            },
            "verdict": {
                "request_id": f"req-{UUID}",
                "decision": "answer",
                "validator_trace_id": f"trace-{UUID}",
                "policy_hash": "0912345678",
                "version": "0912345678",
                "reasons": ["x_0912345678"],
                "safe_response": "A nói: “Gọi ████ ██…”",
                "claims": [
                    {
                        "text": "Số ██████████ là của Lê Lợi.",
                        "start": 0,
                        "end": 28,
                        "source_ids": ["crm/██████████", UUID],
                        "quote": "███ ███.",
                        "detail": "figure missing: '███', ███ ███",
                        "unsupported_spans": [[3, 13]],
                    }
                ],
                "findings": [
                    {"validator": "N0912345678", "detail": "in no source: █████ ████ ███, 12", "elapsed_ms": 0.1}
                ],
            },
        },
        places=16,
    )


@pytest.mark.parametrize("entries", [{"digits": "[0-9]{9}"}, {"hex": "[0-9a-f]{4,8}+"}, {"word": "[a-z_]{3,20}+"}])
def test_no_pattern_reaches_what_is_kept(entries: dict[str, str | bool]) -> None:
    """Enumerations, hashes, versions, times and figures of ours stay, whatever a pattern would match in them."""
    verdict = json.loads(Guard().verify({"query": "What is 2 + 2?", "draft_answer": "It is 4 [1]."}).model_dump_json())
    redacted = Redactor.of(entries).record({"request": {"as_of": verdict["as_of"], "query": "q"}, "verdict": verdict})
    kept = [
        path.removeprefix("verdict.")
        for path, rule in RECORD_FIELDS.items()
        if rule is Field.KEPT and path.count(".") == 1
    ]

    assert redacted.value["request"]["as_of"] == verdict["as_of"]
    assert {key: redacted.value["verdict"][key] for key in kept if key in verdict} == {
        key: verdict[key] for key in kept if key in verdict
    }
    assert [(f["validator"], f["reason"], f["elapsed_ms"]) for f in redacted.value["verdict"]["findings"]] == [
        (f["validator"], f["reason"], f["elapsed_ms"]) for f in verdict["findings"]
    ]


TEXTS = {
    "request.query", "request.draft_answer", "request.metadata.domain", "request.retrieved_context[].text",
    "request.retrieved_context[].title", "request.retrieved_context[].url", "request.conversation[].role",
    "request.conversation[].content", "verdict.citations[].title", "verdict.citations[].url", "verdict.claims[].text",
    "verdict.claims[].quote", "verdict.conflicts[].statements[].quote",
}  # fmt: skip


def fields_of(model: type[BaseModel], path: str) -> Iterator[str]:
    """The path of every field of a model that is a text or a number."""
    for name, field in model.model_fields.items():
        yield from _fields_in(field.annotation, f"{path}.{name}")


def _fields_in(annotation: Any, path: str) -> Iterator[str]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from fields_of(annotation, path)
        return
    origin, inner = (
        typing.get_origin(annotation),
        [a for a in typing.get_args(annotation) if a not in (type(None), Ellipsis)],
    )
    if origin in (list, tuple):
        models = [a for a in inner if isinstance(a, type) and issubclass(a, BaseModel)]
        yield from _fields_in(models[0], f"{path}[]") if models else [path]
    elif origin in (typing.Union, types.UnionType, typing.Annotated):
        yield from _fields_in(inner[0], path)
    elif annotation is not bool:
        yield path


def test_every_field_of_the_contract_has_its_rule() -> None:
    """A new field of the contract has to say whether it is a text."""
    contract = {*fields_of(VerifyRequest, "request"), *fields_of(Verdict, "verdict")}
    named = {path for path in RECORD_FIELDS if path.startswith(("request.", "verdict."))}
    groups = {"verdict.citations", "verdict.claims", "verdict.findings", "verdict.conflicts", "verdict.metrics"}
    covered = {path for path in contract if path.startswith("verdict.metrics.")}

    assert contract - covered == (named - groups) | TEXTS
    assert {
        path.removeprefix("verdict."): rule for path, rule in RECORD_FIELDS.items() if path.startswith("verdict.")
    } == {path: rule for path, rule in RECORD_FIELDS.items() if not path.startswith(("request.", "verdict."))}


REQUEST = {
    "query": "Who is tran.hung@mailhost.vn, card 4111 1111 1111 1111, account GB82 WEST 1234 5698 7654 32?",
    "draft_answer": "Tran.Hung@Mailhost.vn has +84 912 345 679 [1]. His CCCD is 001099012346. He used 192.168.1.77.",
    "retrieved_context": [
        {"source_id": "a", "text": "The phone of Hung is 0912 345 678. CMND 012345678.", "similarity": 0.8},
        {"source_id": "b", "text": "The phone of Hung is 0987 654 321. Mail tran.hung@mailhost.vn.", "similarity": 0.8},
    ],
}


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


def test_claims_still_stand_where_they_say() -> None:
    """The text of a claim is the part of the draft between its offsets, before and after."""
    verdict = json.loads(Guard().verify(REQUEST).model_dump_json())

    redacted = EVERYTHING.record({"request": REQUEST, "verdict": verdict}).value

    draft = redacted["request"]["draft_answer"]
    assert [c["text"] for c in redacted["verdict"]["claims"]] == [
        draft[c["start"] : c["end"]] for c in verdict["claims"]
    ]
    assert BLANK in draft


def test_findings_may_be_sentences_alone() -> None:
    """A body that keeps only the texts of a verdict is redacted by the same rules."""
    record = {
        "request": {"query": "a.b@mailhost.vn"},
        "findings": ["not in the context: mailhost", None],
        "claims": [{"quote": "b@mailhost.vn"}],
    }

    assert Redactor.of({"email": True}).record(record) == Redacted(
        {
            "request": {"query": "███████████████"},
            "findings": ["not in the context: ████████", None],
            "claims": [{"quote": "█████████████"}],
        },
        places=3,
    )


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


def test_nothing_to_redact_gives_the_record_back() -> None:
    """Without entries, or without a secret, it is the same object."""
    record = {"request": {"query": "Hà Nội có gì?"}, "verdict": {"as_of": datetime(2026, 1, 1, tzinfo=UTC)}}

    assert Redactor.of({}).record(record).value is record
    assert EVERYTHING.record(record).value is record
    assert EVERYTHING.record(record).places == 0


def test_depth_is_no_limit() -> None:
    """A structure nested more deeply than Python recurses is redacted."""
    deep: Any = "a@b.vn"
    for _ in range(5_000):
        deep = [deep]

    inner = EVERYTHING.record({"request": {"metadata": {"x": deep}}}).value["request"]["metadata"]["x"]

    for _ in range(5_000):
        (inner,) = inner
    assert inner == "██████"


@pytest.mark.parametrize("value", [pytest.param(datetime(2026, 1, 1, tzinfo=UTC), id="a time"), pytest.param(b"x", id="bytes"), pytest.param(10**5000, id="a number that cannot be written")])  # fmt: skip
def test_what_is_no_json_is_refused(value: object) -> None:
    """What cannot be read cannot be redacted, and is not let through."""
    with pytest.raises(InputError, match="a record holds texts, numbers, lists and objects, got"):
        EVERYTHING.record({"request": {"metadata": {"x": value}}})


def test_keys_are_never_changed() -> None:
    """Only values are."""
    assert EVERYTHING.record({"a@b.vn": "a@b.vn"}).value == {"a@b.vn": "██████"}


# properties

SCRAPS = st.sampled_from([
    "0912 345 678", "+84912345678", "a.b@c.vn", "4111 1111 1111 1111", "GB82WEST12345698765432", "10.0.0.1", "fe80::1", "CMND ",
    "012345678", "001099012345", " ", "\n", ",", "…", "Đặng ", unicodedata.normalize("NFD", "Đặng "), "e\u0301", "x", "7", "-", BLANK,
])  # fmt: skip
MESSY = st.lists(SCRAPS | st.text(max_size=4), max_size=14).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | MESSY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["request", "verdict", "claims", "detail", "findings", "x"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=examples(100), deadline=None)
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


@settings(max_examples=examples(200), deadline=None)
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


@settings(max_examples=examples(100), deadline=None)
@given(JSON)
def test_a_record_keeps_its_shape(value: Any) -> None:
    """Same keys, same lengths; the record given is not changed; places are counted if and only if something was blanked."""
    before = copy.deepcopy(value)
    redacted = EVERYTHING.record(value)

    assert repr(value) == repr(before)
    assert list(_shape(redacted.value)) == list(_shape(value))
    assert (repr(redacted.value) == repr(value)) == (redacted.places == 0)


def _shape(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands, and how long it is."""
    if isinstance(value, dict | list):
        yield (*path, type(value), len(value))
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _shape(inner, (*path, key))
    else:
        yield (*path, len(str(value)))


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


def test_many_different_secrets_take_linear_time() -> None:
    """Each of thousands of secrets is looked for at once."""
    text = " ".join(f"user{n}.name@host{n % 97}.example.com" for n in range(2_000))
    started = time.process_time()

    redacted, secrets = EVERYTHING.text(text)

    assert (len(secrets), redacted.strip(f"{BLANK} ")) == (2_000, "")
    assert time.process_time() - started < 4
