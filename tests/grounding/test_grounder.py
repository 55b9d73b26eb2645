"""Claims against passages: supported, contradicted or unsupported, and where."""

from __future__ import annotations

import pytest

from stillme.contract import RetrievedPassage
from stillme.evidence import Evidence
from stillme.grounding.grounder import MOST_STATEMENTS, Judgement, _Bench
from stillme.grounding.statements import Statement

LIBRARY = (
    "The Norwick public library opens at 9 a.m. and closes at 6 p.m. from Monday to Friday. A yearly card costs £12; students pay £5. "
    "Members may borrow up to ten books for three weeks. Reference books must not leave the building. Most computers were replaced in 2021. "
    "The library was designed by Christopher Wren and opened by Queen Victoria in 1887. The new reading room may open in spring 2027."
)
CLINIC = (
    "Doctor Joseph Lister leads the clinic and Doctor Louis Pasteur leads the laboratory. Patients with fever should drink water and rest. "
    "The vaccine is not recommended for children under two years. The clinic treated 1,240 patients in 2023, compared with 980 in 2022. "
    "Alcohol increases the effect of the tablets. The tablets are taken before meals, twice a day."
)
BANK = (
    "Ngân hàng Sao Biển miễn phí chuyển khoản trong nước cho mọi khách hàng. Lãi suất tiền gửi kỳ hạn 12 tháng là 5,2% mỗi năm. "
    "Khách hàng phải từ 18 tuổi trở lên mới được mở thẻ tín dụng. Hạn mức rút tiền tối đa là 50 triệu đồng mỗi ngày. "
    "Chi nhánh Hải Châu không làm việc vào Chủ nhật. Ông Nguyễn Bỉnh Khiêm là tổng giám đốc, bà Hồ Xuân Hương là giám đốc tài chính."
)
MUSEUM = (
    "Bảo tàng Dân tộc học được khởi công năm 1987 và khai trương ngày 12 tháng 11 năm 1997. Bảo tàng nằm trên đường Nguyễn Văn Huyên. "
    "Giá vé người lớn là 40.000 đồng, sinh viên được giảm 50%. Khách tham quan không được chạm vào hiện vật. "
    "Hầu hết hiện vật do người dân hiến tặng. Nhà trưng bày Trống Đồng cao ba tầng."
)


def judge(draft: str, *passages: str | RetrievedPassage, query: str = "q") -> list[Judgement]:
    """The judgements on the claims of a draft."""
    return Evidence.of(query, draft, list(passages)).judgements


@pytest.mark.parametrize(
    ("draft", "source"),
    [
        pytest.param("The Norwick public library closes at 6 p.m. [1].", LIBRARY, id="a part of a sentence"),
        pytest.param("The library is closed after 18:00 on weekdays, since it closes at 6 p.m. from Monday to Friday [1].", LIBRARY, id="a clock time in another form"),
        pytest.param("Students pay five pounds [1].", LIBRARY, id="a figure in words"),
        pytest.param("Up to 10 books may be borrowed by members for 3 weeks [1].", LIBRARY, id="passive voice"),
        pytest.param("Christopher Wren designed the library [1].", LIBRARY, id="active for passive"),
        pytest.param("The library was opened in 1887 by Queen Victoria [1].", LIBRARY, id="words in another order"),
        pytest.param("It was designed by Christopher Wren [1].", LIBRARY, id="a pronoun for the library"),
        pytest.param("Reference books must stay in the building and must not leave it [1].", LIBRARY, id="a negation kept"),
        pytest.param("The new reading room may open in spring 2027 [1].", LIBRARY, id="uncertainty kept"),
        pytest.param("The laboratory is led by Doctor Louis Pasteur [1].", CLINIC, id="the second of two names"),
        pytest.param("The clinic treated 1240 patients in 2023 [1].", CLINIC, id="without the separator"),
        pytest.param("In 2022 the clinic treated 980 patients [1].", CLINIC, id="the second of two years"),
        pytest.param("The tablets are taken twice daily before meals [1].", CLINIC, id="a synonym"),
        pytest.param("Children under two years should not get the vaccine: it is not recommended for them [1].", CLINIC, id="a longer wording of a prohibition"),
        pytest.param("Lãi suất kỳ hạn 12 tháng là 5,2%/năm [1].", BANK, id="Vietnamese with a slash"),
        pytest.param("Mỗi ngày khách hàng được rút tối đa 50.000.000 đồng [1].", BANK, id="Vietnamese money written out"),
        pytest.param("Chi nhánh Hải Châu nghỉ Chủ nhật, không làm việc vào ngày này [1].", BANK, id="Vietnamese negation kept"),
        pytest.param("Tổng giám đốc là ông Nguyễn Bỉnh Khiêm [1].", BANK, id="Vietnamese words in another order"),
        pytest.param("Bảo tàng Dân tộc học khai trương ngày 12/11/1997 [1].", MUSEUM, id="a Vietnamese date in figures"),
        pytest.param("Vé người lớn giá 40 nghìn đồng [1].", MUSEUM, id="a Vietnamese scale word"),
        pytest.param("Sinh viên được giảm một nửa giá vé, tức giảm 50% [1].", MUSEUM, id="a Vietnamese paraphrase"),
        pytest.param("The museum opened on 12 November 1997 [1].", MUSEUM, id="an English claim, a Vietnamese source"),
        pytest.param("Thư viện Norwick mở cửa lúc 9 giờ sáng [1].", LIBRARY, id="a Vietnamese claim, an English source"),
    ],
)  # fmt: skip
def test_supported(draft: str, source: str) -> None:
    """What the source says, in its words or in others."""
    assert [j.status for j in judge(draft, source)] == ["supported"]


@pytest.mark.parametrize(
    ("draft", "source"),
    [
        pytest.param("A yearly card costs £15 [1].", LIBRARY, id="another price"),
        pytest.param("Students pay £12 [1].", LIBRARY, id="the price of somebody else"),
        pytest.param("The library closes at 5 p.m. [1].", LIBRARY, id="another hour"),
        pytest.param("Members may borrow at least ten books [1].", LIBRARY, id="an upper bound made a lower one"),
        pytest.param("Reference books may leave the building [1].", LIBRARY, id="a prohibition dropped"),
        pytest.param("All computers were replaced in 2021 [1].", LIBRARY, id="most made all"),
        pytest.param("The library was designed by Queen Victoria [1].", LIBRARY, id="the other name"),
        pytest.param("The library was opened in 1978 [1].", LIBRARY, id="another year"),
        pytest.param("Doctor Joseph Lister leads the laboratory [1].", CLINIC, id="roles exchanged"),
        pytest.param("The vaccine is recommended for children under two years [1].", CLINIC, id="a negation dropped"),
        pytest.param("The clinic treated 980 patients in 2023 [1].", CLINIC, id="the figure of the other year"),
        pytest.param("Alcohol decreases the effect of the tablets [1].", CLINIC, id="an opposite verb"),
        pytest.param("The tablets are taken after meals [1].", CLINIC, id="after for before"),
        pytest.param("The tablets are taken three times a day [1].", CLINIC, id="thrice for twice"),
        pytest.param("Lãi suất kỳ hạn 12 tháng là 6,2% mỗi năm [1].", BANK, id="another Vietnamese rate"),
        pytest.param("Lãi suất kỳ hạn 6 tháng là 5,2% mỗi năm [1].", BANK, id="another Vietnamese term"),
        pytest.param(
            "Hạn mức rút tiền tối thiểu là 50 triệu đồng mỗi ngày [1].", BANK, id="a Vietnamese maximum made a minimum"
        ),
        pytest.param("Chi nhánh Hải Châu làm việc vào Chủ nhật [1].", BANK, id="a Vietnamese negation dropped"),
        pytest.param("Bà Hồ Xuân Hương là tổng giám đốc [1].", BANK, id="Vietnamese roles exchanged"),
        pytest.param("Hạn mức rút tiền tối đa là 50 nghìn đồng mỗi ngày [1].", BANK, id="another Vietnamese scale"),
        pytest.param("Bảo tàng khai trương ngày 11 tháng 12 năm 1997 [1].", MUSEUM, id="day and month exchanged"),
        pytest.param("Khách tham quan được chạm vào hiện vật [1].", MUSEUM, id="a Vietnamese prohibition dropped"),
        pytest.param("Tất cả hiện vật do người dân hiến tặng [1].", MUSEUM, id="Vietnamese most made all"),
        pytest.param("Nhà trưng bày Trống Đồng cao năm tầng [1].", MUSEUM, id="another Vietnamese number word"),
    ],
)
def test_not_supported(draft: str, source: str) -> None:
    """What the source says otherwise is never supported."""
    assert [j.supported for j in judge(draft, source)] == [False]


@pytest.mark.parametrize(
    ("draft", "source"),
    [
        pytest.param("The new reading room will open in spring 2027 [1].", LIBRARY, id="a possibility made a fact"),
        pytest.param(
            "The library lends skis to its members in winter [1].", LIBRARY, id="an invention with words of the source"
        ),
        pytest.param(
            "The library opens at 9 a.m. and offers free coffee to every visitor [1].",
            LIBRARY,
            id="an invention behind a fact",
        ),
        pytest.param(
            "Doctor Florence Nightingale leads the clinic's heart department [1].", CLINIC, id="a person nobody named"
        ),
        pytest.param("Patients with fever should take aspirin and antibiotics [1].", CLINIC, id="another advice"),
        pytest.param(
            "Ngân hàng Sao Biển tặng một chỉ vàng cho hội viên thân thiết [1].", BANK, id="a Vietnamese invention"
        ),
        pytest.param("Ngân hàng miễn phí chuyển khoản quốc tế sang Singapore [1].", BANK, id="a Vietnamese widening"),
        pytest.param("Bảo tàng có một nhà hàng Pháp trên sân thượng [1].", MUSEUM, id="another Vietnamese invention"),
        pytest.param("Dolphins sleep with one eye open [1].", LIBRARY, id="nothing in common"),
    ],
)
def test_unsupported(draft: str, source: str) -> None:
    """What the source does not say is unsupported, with the characters that lack support."""
    judged = judge(draft, source)

    assert [j.supported for j in judged] == [False]
    assert all(j.unsupported for j in judged)


@pytest.mark.xfail(reason="exact features count words; whether the one that is missing carries the claim takes a model")
@pytest.mark.parametrize(
    ("draft", "source"),
    [
        pytest.param(
            "Ngân hàng Sao Biển tặng vàng cho khách hàng mới [1].", BANK, id="one invented verb among known words"
        ),
        pytest.param("The library was designed and paid for by Christopher Wren [1].", LIBRARY, id="one invented deed"),
    ],
)
def test_known_limits(draft: str, source: str) -> None:
    """An invention that hides in one word passes."""
    assert [j.supported for j in judge(draft, source)] == [False]


def test_a_contradicted_claim_quotes_what_the_source_says() -> None:
    """The quote is copied from the passage and found there by its offsets."""
    (judged,) = judge("A yearly card costs £15 [1].", LIBRARY)

    assert judged.status == "contradicted"
    assert judged.quote is not None
    assert "A yearly card costs £12" in LIBRARY[judged.quote.start : judged.quote.end]


def test_more_context_never_takes_support_away() -> None:
    """A claim that one passage supports stays supported, whatever stands beside it, even where another disagrees."""
    claim = "A yearly card costs £12 [1]."

    alone = judge(claim, LIBRARY)
    with_noise = judge(claim, CLINIC, BANK, LIBRARY, MUSEUM)
    with_dissent = judge(claim, "A yearly card costs £15.", LIBRARY)

    assert [j.status for j in alone + with_noise + with_dissent] == ["supported"] * 3
    assert with_noise[0].passages == (2,)


def test_a_claim_is_judged_alone() -> None:
    """What else the draft says changes neither status nor score."""
    alone = judge("Students pay £5 [1].", LIBRARY)
    among = judge("Dolphins sleep a lot [1]. Students pay £5 [1]. A card costs £99 [1].", LIBRARY)

    assert (alone[0].status, alone[0].score) == (among[1].status, among[1].score)


@pytest.mark.parametrize(
    ("query", "draft", "status"),
    [
        pytest.param("How much do students pay?", "£5 [1].", "supported", id="a bare figure, right"),
        pytest.param("How much do students pay?", "£12 [1].", "contradicted", id="a bare figure of something else"),
        pytest.param("May reference books leave the building?", "No [1].", "supported", id="a bare no, right"),
        pytest.param("May reference books leave the building?", "Yes [1].", "contradicted", id="a bare yes, wrong"),
    ],
)
def test_short_answers_are_read_with_the_question(query: str, draft: str, status: str) -> None:
    """An elliptic answer claims what the question asks."""
    assert [j.status for j in judge(draft, LIBRARY, query=query)] == [status]


def test_titles_count_as_said_by_the_source() -> None:
    """A name that only the title gives supports a claim about it."""
    passage = RetrievedPassage(
        source_id="a", title="Harbour Hotel Lisbon", text="Breakfast is served from 7 a.m. to 10 a.m. in the garden."
    )

    assert [j.status for j in judge("At the Harbour Hotel Lisbon, breakfast is served from 7 a.m. [1].", passage)] == [
        "supported"
    ]


def test_nothing_to_stand_on() -> None:
    """Without passages every claim is unsupported."""
    assert [(j.status, j.score) for j in judge("Mars has two moons.")] == [("unsupported", 0.0)]


class Looked(list[tuple[int, Statement]]):
    """The sentences of all passages; which of them were looked at."""

    def __init__(self, places: list[tuple[int, Statement]]) -> None:
        super().__init__(places)
        self.at: list[int] = []

    def __getitem__(self, place: int) -> tuple[int, Statement]:  # type: ignore[override]
        self.at.append(place)
        return super().__getitem__(place)


def test_a_claim_does_not_go_through_every_sentence_that_shares_a_word() -> None:
    """Sentences are looked at best first, until no passage takes more."""
    long = " ".join(f"The harbour office of quay {n} sells day tickets for boats." for n in range(200))
    task = Evidence.of("q", "The harbour office sells day tickets for boats.", [long]).grounding_task
    bench = _Bench(task)
    looked = bench.library.places = Looked(bench.library.places)

    found = bench._candidates(task.draft.statements[0])

    assert [(c.passage, len(c.statements)) for c in found] == [(0, 2 * MOST_STATEMENTS)]
    assert len(looked.at) == 2 * MOST_STATEMENTS
