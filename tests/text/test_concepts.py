"""Words and phrases that mean the same share a concept, in one language and across both; opposites never do."""

from __future__ import annotations

import unicodedata
from collections import Counter
from importlib.resources import files
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.languages import word_rules
from stillme.text.concepts import concepts_of, opposite_stems
from stillme.text.tokens import Text, fold, stem
from tests.soak import examples

LANGUAGES = ("en", "vi")


def rows(name: str) -> dict[int, list[str]]:
    """The lines of a table that are not comments, by their numbers."""
    lines = files("stillme.languages").joinpath(f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return {number: line.split("\t") for number, line in enumerate(lines, start=1) if not line.startswith("#")}


CONCEPTS = rows("concepts")
OPPOSITES = rows("opposites")
ACCENTED_ONLY = {entry[:-1] for _, column in CONCEPTS.values() for entry in column.split("|") if entry.endswith("*")}
ENTRIES = [
    (number, language, entry.removesuffix("*"))
    for number, columns in CONCEPTS.items()
    for language, column in zip(LANGUAGES, columns, strict=True)
    for entry in column.split("|")
    if entry
]


def name(number: int) -> str:
    """The first word of a concept, to speak of it in a test."""
    return next(entry for column in CONCEPTS[number] for entry in column.split("|") if entry)


def found(raw: str) -> list[tuple[int, str, tuple[str, ...]]]:
    """Index, spelling and concepts of each token that has any."""
    text = Text(raw)
    return [(i, text.words[i].text, tuple(map(name, ids))) for i, ids in enumerate(concepts_of(text)) if ids]


def shared(one: str, other: str) -> bool:
    """Whether the whole of one text and the whole of the other mean the same."""
    sets = [set.intersection(*map(set, concepts_of(Text(raw)))) for raw in (one, other)]
    return bool(sets[0] & sets[1])


def opposite_key(entry: str, language: str) -> str:
    """How the table of opposites names an entry."""
    return " ".join(stem(word.lower) if language == "en" else word.lower for word in Text(entry).words)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param("", [], id="nothing in nothing"),
        pytest.param("Zorblax 17 ...", [], id="an unknown word, a number and punctuation mean nothing"),
        pytest.param("It shrank", [(1, "shrank", ("shrink",))], id="an irregular form is found by its base"),
        pytest.param("They denied it", [(1, "denied", ("deny",))], id="so is a regular one"),
        pytest.param(
            "the parcel turns up today",
            [
                (1, "parcel", ("package",)),
                (2, "turns", ("arrive",)),
                (3, "up", ("arrive",)),
                (4, "today", ("today", "today")),
            ],
            id="a phrase covers its stop words, and a word may have two senses",
        ),
        pytest.param(
            "of sending it back.",
            [(1, "sending", ("return",)), (2, "it", ("return",)), (3, "back", ("return",))],
            id="a pronoun may part a verb from its particle",
        ),
        pytest.param(
            "two gift cards, a gift",
            [(1, "gift", ("gift card",)), (2, "cards", ("gift card",)), (5, "gift", ("gift",))],
            id="the last word of a phrase may be plural, and its first word means itself elsewhere",
        ),
        pytest.param(
            "He is a part-time tailor",
            [
                (3, "part", ("part-time",)),
                (4, "-", ("part-time",)),
                (5, "time", ("part-time",)),
                (6, "tailor", ("tailor",)),
            ],
            id="a phrase with a hyphen covers the hyphen",
        ),
        pytest.param(
            "She is part time", [(2, "part", ("part-time",)), (3, "time", ("part-time",))], id="or has a space"
        ),
        pytest.param(
            "the world war I bomb",
            [
                *((i, token, ("first world war",)) for i, token in enumerate(["world", "war", "I"], 1)),
                (4, "bomb", ("bomb",)),
            ],
            id="the longest phrase wins",
        ),
        pytest.param("turn\u00adip the up", [], id="words that only look like the start of a phrase begin none"),
        pytest.param("Japan's", [(0, "Japan's", ("japan",))], id="a possessive"),
    ],
)
def test_english_words_and_phrases(raw: str, expected: list[tuple[int, str, tuple[str, ...]]]) -> None:
    """English is found in its inflected forms, phrases with all their tokens."""
    assert found(raw) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(
            "Hàng chưa sử dụng",
            [(0, "Hàng", ("goods",)), (1, "chưa", ("unused",)), (2, "sử", ("unused",)), (3, "dụng", ("unused",))],
            id="the longest phrase wins over the word inside it",
        ),
        pytest.param(
            "được đổi trả", [(1, "đổi", ("return",)), (2, "trả", ("return",))], id="a phrase of two syllables"
        ),
        pytest.param(
            "máy bay và máy",
            [(0, "máy", ("plane",)), (1, "bay", ("plane",)), (3, "máy", ("machine",))],
            id="a syllable means itself only outside the phrase",
        ),
        pytest.param(
            "hang da chua su dung",
            [(2, "chua", ("unused",)), (3, "su", ("unused",)), (4, "dung", ("unused",))],
            id="without accents phrases are found and single syllables are not",
        ),
        pytest.param("la tu do", [], id="without accents a phrase that looks like little words is none"),
        pytest.param(
            "cây bút mua ở đây",
            [(0, "cây", ("plant", "tree")), (2, "mua", ("buy",))],
            id="a bare word in accented text",
        ),
        pytest.param(
            unicodedata.normalize("NFD", "đã kết thúc rồi"),
            [(1, "kết", ("end", "terminate")), (2, "thúc", ("end", "terminate"))],
            id="decomposed letters are the same letters",
        ),
        pytest.param("sao Hoả", [(0, "sao", ("mars",)), (1, "Hoả", ("mars",))], id="the tone mark on the other vowel"),
        pytest.param("kĩ sư", [(0, "kĩ", ("engineer",)), (1, "sư", ("engineer",))], id="i for y"),
        pytest.param(
            "nước Nhật và chủ nhật",
            [(0, "nước", ("japan",)), (1, "Nhật", ("japan",)), (3, "chủ", ("sunday",)), (4, "nhật", ("sunday",))],
            id="a name inside another word is not that name",
        ),
        pytest.param(
            "tiêm vắc xin",
            [(i, token, ("vaccinate",)) for i, token in enumerate(["tiêm", "vắc", "xin"])],
            id="a hyphen may be left out",
        ),
    ],
)
def test_vietnamese_words_and_phrases(raw: str, expected: list[tuple[int, str, tuple[str, ...]]]) -> None:
    """Vietnamese is found with and without accents, composed and decomposed, in the spellings in use."""
    assert found(raw) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("start", "commenced", id="start and commence"),
        pytest.param("uses", "utilised", id="use and utilise"),
        pytest.param("dùng", "sử dụng", id="dùng and sử dụng"),
        pytest.param("xây", "xây dựng", id="xây and xây dựng"),
        pytest.param("unused", "chưa sử dụng", id="unused and chưa sử dụng"),
        pytest.param("returned", "trả lại", id="return and trả lại"),
        pytest.param("return", "đổi trả", id="return and đổi trả"),
        pytest.param("deliveries", "giao hàng", id="delivery and giao hàng"),
        pytest.param("prices", "giá", id="price and giá"),
        pytest.param("Mars", "Sao Hỏa", id="Mars and Sao Hỏa"),
        pytest.param("Japan", "Nhật Bản", id="Japan and Nhật Bản"),
        pytest.param("Japanese", "nhat ban", id="a nationality and the country typed without accents"),
        pytest.param("not allowed", "nghiêm cấm", id="a negation and its word"),
        pytest.param("optional", "không bắt buộc", id="a word and its negation in the other language"),
        pytest.param("free of charge", "miễn phí", id="free and miễn phí"),
        pytest.param("up to", "tối đa", id="up to and tối đa"),
        pytest.param("Ho Chi Minh City", "TP. Hồ Chí Minh", id="a city and its abbreviation"),
        pytest.param("colour", "color", id="two spellings of one word"),
        pytest.param("U.S", "Hoa Kỳ", id="an abbreviation with full stops"),
        pytest.param("WHO", "Tổ chức Y tế Thế giới", id="an abbreviation in capitals"),
    ],
)
def test_the_same_is_found_to_be_the_same(one: str, other: str) -> None:
    """Synonyms and translations share a concept."""
    assert shared(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("planes", "plan", id="plane and plan"),
        pytest.param("caring", "car", id="care and car"),
        pytest.param("wine", "win", id="wine and win"),
        pytest.param("university", "universe", id="university and universe"),
        pytest.param("police", "policy", id="police and policy"),
        pytest.param("station", "state", id="station and state"),
        pytest.param("news", "new", id="news and new"),
        pytest.param("goods", "good", id="goods and good"),
        pytest.param("business", "busy", id="business and busy"),
        pytest.param("turkey", "Thổ Nhĩ Kỳ", id="the bird and the country"),
        pytest.param("us", "Hoa Kỳ", id="the pronoun and the country"),
        pytest.param("who", "Tổ chức Y tế Thế giới", id="the pronoun and the organisation"),
        pytest.param("dog", "động vật", id="a kind is not the whole"),
        pytest.param("hàn quốc", "triều tiên", id="two countries with one English name"),
        pytest.param("quận", "huyện", id="two districts with one English name"),
        pytest.param("lose", "defeated", id="losing and defeating"),
        pytest.param("buy", "sell", id="buying and selling"),
        pytest.param("cho vay", "vay", id="lending and borrowing"),
        pytest.param("used", "unused", id="used and unused"),
        pytest.param("được phép", "không được phép", id="allowed and not allowed"),
    ],
)
def test_what_differs_is_not_found_to_be_the_same(one: str, other: str) -> None:
    """Neither like spelling nor a near meaning makes two words one."""
    assert not shared(one, other)


@pytest.mark.parametrize(
    ("raw", "unwanted"),
    [
        pytest.param("It ends in an hour and may in fact end early", "print", id="English 'in an' is not in ấn"),
        pytest.param("He may in time be free", "printer", id="English 'may in' is not máy in"),
        pytest.param("The café sells a tin of fish", "news", id="English 'tin' beside an accent is no news"),
        pytest.param("hai đường thẳng song song với nhau", "song", id="Vietnamese song is no song"),
        pytest.param("ban giám đốc của công ty", "forbid", id="Vietnamese ban forbids nothing"),
        pytest.param("ban co the song o day duoc khong", "song", id="nor does it sing without accents"),
    ],
)
def test_a_word_of_the_other_language_is_not_seen(raw: str, unwanted: str) -> None:
    """The little words around a word tell whose it is."""
    assert unwanted not in {concept for _, _, concepts in found(raw) for concept in concepts}


def test_a_range_is_read_as_a_text_of_its_own() -> None:
    """The result has one place for each token of the range, and no phrase reaches out of it."""
    text = Text("We turn up, they turn up")

    assert concepts_of(text, 1, 3) == concepts_of(Text("turn up"))
    assert concepts_of(text, 5) == concepts_of(text, 5, 7)
    assert len(concepts_of(text, 1, 2)) == 1
    assert concepts_of(text, 1, 2) != concepts_of(text, 1, 3)[:1]
    assert concepts_of(text, 4, 4) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_entry_is_found(language: str) -> None:
    """Each word and phrase of the table, alone beside a word of its language, has its concept on all its tokens."""
    before = {"en": "this is of", "vi": "đây là của"}[language]
    missed = [
        (number, entry)
        for number, side, entry in ENTRIES
        if side == language and not all(number in ids for ids in concepts_of(Text(f"{before} : {entry}"))[4:])
    ]

    assert missed == []


def test_every_vietnamese_phrase_is_found_without_accents() -> None:
    """But for those that are marked as needing their accents."""
    missed = [
        (number, entry)
        for number, side, entry in ENTRIES
        if side == "vi"
        and sum(word.word for word in Text(entry).words) > 1
        and (entry in ACCENTED_ONLY)
        == all(number in ids for ids in concepts_of(Text(f"day la cua : {fold(entry)}"))[4:])
    ]

    assert missed == []


def test_the_table_of_concepts_is_well_formed() -> None:
    """Two columns, two members or more, no empty or repeated entry, composed letters, capitals only in single words."""
    for number, columns in CONCEPTS.items():
        assert len(columns) == 2, number
        members = [entry for column in columns if column for entry in column.split("|")]
        assert len(members) > 1, number
        assert len(set(members)) == len(members), number
        for entry in members:
            assert entry == " ".join(entry.split()) == unicodedata.normalize("NFC", entry), (number, entry)
            assert entry, number
            assert entry.islower() or entry.isalpha(), (number, entry)
            assert entry not in ACCENTED_ONLY, (number, entry)
    assert [line for line, count in Counter(map(tuple, CONCEPTS.values())).items() if count > 1] == []


def test_no_single_word_of_the_table_is_a_stop_word() -> None:
    """A little word means too many things to be a concept by itself."""
    stop = word_rules().stop

    assert [entry for _, _, entry in ENTRIES if entry in stop] == []


def test_few_words_have_many_senses() -> None:
    """A word may stand in three concepts at most, nine words in ten in one."""
    senses = Counter((language, entry) for _, language, entry in ENTRIES)

    assert max(senses.values()) == 3
    assert sum(count == 1 for count in senses.values()) > 0.9 * len(senses)


def test_no_concept_holds_opposites() -> None:
    """A line with two words that the other table calls opposites would let a false claim pass."""
    opposites = opposite_stems()
    contradictions = [
        (number, one, other)
        for number, columns in CONCEPTS.items()
        for language, column in zip(LANGUAGES, columns, strict=True)
        for one, other in combinations(filter(None, column.split("|")), 2)
        if opposite_key(other, language) in opposites.get(opposite_key(one, language), ())
    ]

    assert contradictions == []


def test_no_opposites_share_a_concept() -> None:
    """Nor may two opposites mean the same by way of their inflected forms."""
    contradictions = [
        (one, other)
        for _, left, right in OPPOSITES.values()
        for one in left.split("|")
        for other in right.split("|")
        if shared(one, other)
    ]

    assert contradictions == []


def test_the_table_of_opposites_is_well_formed() -> None:
    """A language and two sides, composed lower-case letters, at least 150 pairs of each language."""
    pairs: Counter[str] = Counter()
    for number, columns in OPPOSITES.items():
        language, left, right = columns
        assert language in LANGUAGES, number
        entries = [*left.split("|"), *right.split("|")]
        assert len(set(entries)) == len(entries), number
        for entry in entries:
            assert entry == unicodedata.normalize("NFC", " ".join(entry.lower().split())), (number, entry)
            assert entry, number
        pairs[language] += len(left.split("|")) * len(right.split("|"))
    assert min(pairs[language] for language in LANGUAGES) >= 150


def test_opposites_are_mutual() -> None:
    """Each word is an opposite of its opposites, and none is its own."""
    opposites = opposite_stems()

    assert [key for key, others in opposites.items() if key in others] == []
    assert [(key, other) for key, others in opposites.items() for other in others if key not in opposites[other]] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("increase", "decreas", id="verbs by their stems"),
        pytest.param("larger", "smaller", id="comparatives"),
        pytest.param("turn on", "turn off", id="English phrases by their stems"),
        pytest.param("tối đa", "tối thiểu", id="Vietnamese phrases as they are"),
        pytest.param("bắt buộc", "tự nguyện", id="bắt buộc and tự nguyện"),
        pytest.param("khoẻ", "ốm", id="either place of the tone mark"),
    ],
)
def test_opposites_are_looked_up_by_stem_or_spelling(one: str, other: str) -> None:
    """The key is what `Word.stem` and `Word.lower` give."""
    key = one if one in opposite_stems() else stem(one)

    assert other in opposite_stems()[key]


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.sampled_from([entry for _, _, entry in ENTRIES[::40]] + ["the", "không", ".", "\n", "𝒳", "-", "3"])),
    st.text(max_size=20),
)
def test_any_text_is_read(parts: list[str], tail: str) -> None:
    """One tuple of line numbers in rising order for each token, the same each time, in any case and composition."""
    raw = " ".join([*parts, tail])
    text = Text(raw)

    result = concepts_of(text)

    assert len(result) == len(text)
    assert all(ids == tuple(sorted(set(ids))) and set(ids) <= CONCEPTS.keys() for ids in result)
    assert concepts_of(Text(raw)) == result
    assert text.lowers == [word.lower for word in text.words]


def test_a_megabyte_of_unfinished_phrases_is_read() -> None:
    """Words that keep beginning phrases without ending them cost no more than others."""
    text = Text("no no no fewer state bank of " * 35_000)

    result = concepts_of(text)

    assert len(result) == len(text)
    assert {ids for word, ids in zip(text.words, result, strict=True) if word.lower == "no"} == {()}
