"""RetrievalCoverage: the names of the answer stand in the sources."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.validators.retrieval_coverage import RetrievalCoverage
from tests.validators.support import PASSED, SKIPPED, flagged, observe

TITAN = "Titan is the largest moon of Saturn. It was discovered by the Dutch astronomer Christiaan Huygens."
VAN_MIEU = "Văn Miếu ở Hà Nội được xây dựng năm 1070 dưới triều vua Lý Thánh Tông."
MISSING = flagged("entity_not_in_sources")


@pytest.mark.parametrize(
    ("draft", "source", "expected"),
    [
        pytest.param("It was found by Christiaan Huygens [1].", TITAN, PASSED, id="a name that is there"),
        pytest.param("It was found by Huygens [1].", TITAN, PASSED, id="a part of a name that is there"),
        pytest.param("It was found by Isaac Newton [1].", TITAN, MISSING, id="a name that is not"),
        pytest.param("It was found by a German [1].", TITAN, MISSING, id="a nationality that is not"),
        pytest.param(
            "Built in Hanoi under Lý Thánh Tông [1].", VAN_MIEU, PASSED, id="another spelling of the same name"
        ),
        pytest.param(
            "Văn Miếu được xây dưới triều vua Lê Lợi [1].", VAN_MIEU, MISSING, id="a Vietnamese name that is not there"
        ),
        pytest.param("Moons are round [1].", TITAN, SKIPPED, id="a capital at the start is no name"),
        pytest.param("", TITAN, SKIPPED, id="no draft"),
    ],
)
def test_names(draft: str, source: str, expected: list[tuple[str, str | None]]) -> None:
    """Names are looked for in all passages, without regard to accents."""
    assert observe(RetrievalCoverage(), Evidence.of("q", draft, [source])) == expected


def test_without_passages_it_is_skipped() -> None:
    """There is nothing to look in."""
    assert observe(RetrievalCoverage(), Evidence.of("q", "It was found by Isaac Newton.")) == SKIPPED


EN = (
    "The comet was first seen by the Danish astronomer Ole Winther in Warsaw in March 1921. The World Health Organization and the Ministry of "
    "Education of Japan sent Professor Hideo Tanaka to Moscow. Tran Van Binh of Vietnam met Albert Einstein at the Red Cross in Geneva."
)
VI = (
    "Sao chổi được nhà thiên văn người Đan Mạch Ole Winther nhìn thấy lần đầu ở Vác-sa-va vào tháng 3 năm 1921. Tổ chức Y tế Thế giới và Bộ Giáo dục "
    "Nhật Bản cử giáo sư Hideo Tanaka đến Mát-xcơ-va. Ông Trần Văn Bình của Việt Nam gặp Anh-xtanh tại Hội Chữ thập đỏ ở Giơ-ne-vơ."
)


@pytest.mark.parametrize(
    ("draft", "source"),
    [
        pytest.param("Nhà thiên văn người Đan Mạch Ole Winther thấy sao chổi ở Vác-sa-va vào Tháng Ba [1].", EN, id="a nationality, a city and a month in Vietnamese"),
        pytest.param("Tổ chức Y tế Thế giới đã cử Giáo sư Hideo Tanaka đến Mát-xcơ-va [1].", EN, id="an organisation and a title in Vietnamese"),
        pytest.param("Bộ Giáo dục Nhật Bản cử ông Tanaka đi [1].", EN, id="a ministry in Vietnamese"),
        pytest.param("Trần Văn Bình gặp Anh-xtanh ở Giơ-ne-vơ [1].", EN, id="a person without accents in the source, and one spelt as heard"),
        pytest.param("Hội Chữ thập đỏ ở Geneva đón Einstein [1].", EN, id="an association in Vietnamese"),
        pytest.param("Hội đồng Khoa học Quốc gia cử ông Tanaka đi [1].", EN, id="a body whose counterpart cannot be told"),
        pytest.param("The Danish astronomer Ole Winther saw the comet in Warsaw in March [1].", VI, id="a nationality, a city and a month in English"),
        pytest.param("The World Health Organization sent Professor Hideo Tanaka to Moscow [1].", VI, id="an organisation and a title in English"),
        pytest.param("The Ministry of Education of Japan sent Tanaka to them [1].", VI, id="a ministry in English"),
        pytest.param("Tran Van Binh met Einstein at the Red Cross in Geneva [1].", VI, id="a person without accents in the draft, and one spelt as heard in the source"),
        pytest.param("The National Science Council sent Tanaka to them [1].", VI, id="a body in English whose counterpart cannot be told"),
    ],
)  # fmt: skip
def test_a_name_in_the_other_language_is_found(draft: str, source: str) -> None:
    """Right answers on a source in the other language have no names that are missing."""
    assert observe(RetrievalCoverage(), Evidence.of("q", draft, [source])) == PASSED


@pytest.mark.parametrize(
    ("draft", "source", "missing"),
    [
        pytest.param("Nhà thiên văn Orsini thấy sao chổi ở Vác-sa-va [1].", EN, "Orsini", id="a foreign name in a Vietnamese answer"),
        pytest.param("Giáo sư Hideo Yamada được cử đến Mát-xcơ-va [1].", EN, "Hideo Yamada", id="another surname in a Vietnamese answer"),
        pytest.param("Nguyễn Thị Hoa gặp Anh-xtanh ở Giơ-ne-vơ [1].", EN, "Nguyễn Thị Hoa", id="another Vietnamese person"),
        pytest.param("Sao chổi được nhìn thấy lần đầu ở Bồ Đào Nha [1].", EN, "Bồ Đào Nha", id="another country in a Vietnamese answer"),
        pytest.param("The astronomer Orsini saw the comet in Warsaw [1].", VI, "Orsini", id="a foreign name in an English answer"),
        pytest.param("Professor Hideo Yamada was sent to Moscow [1].", VI, "Professor Hideo Yamada", id="another surname in an English answer"),
        pytest.param("The comet was first seen in Portugal [1].", VI, "Portugal", id="another country in an English answer"),
        pytest.param("The World Bank sent Tanaka to Moscow [1].", VI, "World Bank", id="another organisation that is known"),
    ],
)  # fmt: skip
def test_a_name_that_neither_language_has_there_is_flagged(draft: str, source: str, missing: str) -> None:
    """Another language is no excuse for a name that is written alike, or known, and stands nowhere."""
    found = RetrievalCoverage().run(Evidence.of("q", draft, [source]))

    assert (found.outcome, [draft[a:b] for a, b in found.spans]) == ("flagged", [missing])


def test_in_one_language_ordinary_words_are_no_excuse() -> None:
    """Where the source is in the language of the draft, a body of ordinary words that it does not have is missing."""
    draft = "The National Science Council sent Tanaka to Moscow [1]."

    assert observe(RetrievalCoverage(), Evidence.of("q", draft, [EN])) == MISSING
