"""The evidence packet: nothing recorded becomes markup, every claim is marked where it stands, and nobody misses what matters."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from base64 import b64encode
from dataclasses import dataclass, field, replace
from functools import cache
from html.parser import HTMLParser
from itertools import cycle, pairwise
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stillme.pages.packet
from stillme import Guard
from stillme.audit.review.cases import PacketContent, ReviewLine
from stillme.contract import Metadata, RetrievedPassage, Turn, Verdict, VerifyRequest, parse_request
from stillme.languages import language_of
from stillme.pages.packet import STATUSES, TONES, packet
from stillme.pages.rendering import BLANK, style
from tests.soak import examples

HERE = Path(stillme.pages.packet.__file__).parent
EXAMPLE = json.loads((Path(__file__).parents[2] / "examples" / "wrong-number.json").read_text(encoding="utf-8"))
RIGHT = EXAMPLE | {"draft_answer": "We accept returns of unused gear within 30 days of delivery [1]."}
VIETNAMESE = {
    "query": "Tiền được hoàn trong bao lâu?",
    "draft_answer": "Tiền được hoàn trong vòng 14 ngày kể từ khi kho nhận hàng [1]. Cảm ơn bạn đã hỏi!",
    "retrieved_context": [
        {
            "source_id": "hoan-tien",
            "title": "Quy định hoàn tiền",
            "text": "Tiền được hoàn trong vòng 7 ngày kể từ khi kho nhận hàng.",
            "similarity": 0.83,
        }
    ],
    "as_of": "2026-03-01T09:00:00Z",
}
DISAGREEING: dict[str, Any] = {
    "query": "When does the Leeds shop open on Saturdays?",
    "draft_answer": "The Leeds shop opens at 9 am on Saturdays [1].",
    "retrieved_context": [
        {"source_id": "shops", "text": "The Leeds shop opens at 9 am on Saturdays.", "similarity": 0.9},
        {"source_id": "leaflet", "text": "The Leeds shop opens at 10 am on Saturdays.", "similarity": 0.85},
    ],
    "as_of": "2026-03-01T09:00:00Z",
}
META = (
    "decision",
    "mode",
    "action",
    "source_required",
    "confidence_band",
    "reasons",
    "metrics",
    "verified",
    "language",
)
FACTS = {"trace id": "trace-7", "recorded at": "2026-03-01T09:00:01.482913Z", "record hash": "9f" * 32}
ATTRIBUTES = {"id", "class", "dir", "href", "lang", "role", "scope", "aria-labelledby"}
TAGS = """
html head meta title style body main header section article aside footer h1 h2 h3 p div span dl dt dd ul ol li
table thead tbody tr th td details summary a q bdi i code strong mark
"""
CLASSES = """
about alarm asked ask astray bad card care checks claim command contradicted decides detail draft facts figures gap good
key kicker label listing none not_factual notice number odd passage plain quote role rows said score stated supported tag
tile tiles trace turn unsupported warns word
"""


@dataclass
class Element:
    """An open element and what it says so far, the small labels within it left out."""

    tag: str
    attributes: dict[str, str | None]
    said: list[str] = field(default_factory=list)

    @property
    def classes(self) -> set[str]:
        return set((self.attributes.get("class") or "").split())

    @property
    def is_label(self) -> bool:
        return self.tag == "a" and "tag" in self.classes


class Reader(HTMLParser):
    """A page as a browser reads it: its elements, what each says, and how each character of the draft looks."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[Element] = []
        self.closed: list[Element] = []
        self.draft: list[tuple[str, frozenset[str]]] = []
        self.other: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        (self.closed if tag == "meta" else self.open).append(element)

    def handle_endtag(self, tag: str) -> None:
        element = self.open.pop()
        assert element.tag == tag
        self.closed.append(element)

    def handle_data(self, data: str) -> None:
        labels = [place for place, element in enumerate(self.open) if element.is_label]
        for element in self.open[labels[0] if labels else 0 :]:
            element.said.append(data)
        if any("draft" in element.classes for element in self.open) and not labels:
            looks = set().union(*(element.classes for element in self.open if element.tag == "span"))
            self.draft += [(char, frozenset(looks)) for char in data]

    def handle_decl(self, decl: str) -> None:
        self.other.append(decl)

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)

    def unknown_decl(self, data: str) -> None:
        self.other.append(data)

    def texts(self, *wanted: str) -> list[str]:
        """What the elements of these tags or classes say."""
        return ["".join(e.said) for e in self.closed if e.tag in wanted or e.classes & set(wanted)]

    def ids(self) -> list[str]:
        return [e.attributes["id"] or "" for e in self.closed if "id" in e.attributes]


@cache
def case_of(request: str, policy: str) -> PacketContent:
    """A request as the guard judges it."""
    guard = Guard({"extends": policy})
    parsed = parse_request(json.loads(request))
    return PacketContent(guard.verify(parsed), parsed, guard.policy.to_yaml(), FACTS)


def judged(request: dict[str, Any], policy: str = "strict") -> PacketContent:
    return case_of(json.dumps(request), policy)


def without_texts(case: PacketContent, **changes: Any) -> PacketContent:
    """The case as the store knows it where texts are not kept."""
    assert isinstance(case.verdict, Verdict)
    whole = case.verdict.model_dump(mode="json")
    known = {key: whole[key] for key in META}
    known["claims"] = [{key: claim[key] for key in ("status", "score", "decided_by")} for claim in whole["claims"]]
    known["findings"] = [
        {key: finding[key] for key in ("validator", "outcome", "gate", "stage", "reason", "repaired", "elapsed_ms")}
        for finding in whole["findings"]
    ]
    known |= {"conflicts": len(whole["conflicts"]), "citations": len(whole["citations"])}
    return replace(case, request=None, verdict=known | changes)


def seen(text: str) -> str:
    """The text as a reader sees it: line ends as such, what cannot be seen as its code."""
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    return "".join(
        f"U+{ord(c):04X}" if c not in "\n\t" and (unicodedata.category(c) in hidden or ord(c) in BLANK) else c
        for c in text.replace("\r\n", "\n")
    )


# what cannot be injected

HOSTILE = (
    "<script>alert(1)</script>", "</div></bdi></main>", "</title></style>", "<!--", "-->", "]]>", "<![CDATA[", "<?x", "&lt;",
    "&#60;", '" onload="x', "' href='javascript:x", "<img src=x>", "\u202e", "\u2066", "\x00", "\r\n", "\r", "\u200b", "\ud800",
    "\ufe0f", "\u2028", "{number}", "{0}", "%s", "<i>U+0041</i>", "Zoë", "ngày", "\U0001f9d1\u200d\U0001f680", "\\", "`",
)  # fmt: skip
CHARACTERS = st.sampled_from(HOSTILE) | st.characters(exclude_categories=())
TEXTS = st.lists(st.lists(CHARACTERS, max_size=4).map("".join), min_size=1, max_size=7)


def recorded(said: list[str]) -> tuple[PacketContent, list[str]]:
    """A case with a text of its own in every field, and the texts that its page must say in a place of their own."""
    texts = (f"{n} {text}" for n, text in enumerate(cycle(said)))
    shown: list[str] = []

    def text(*, own_place: bool = True) -> str:
        new = next(texts)
        if own_place:
            shown.append(new)
        return new

    passage = RetrievedPassage.model_construct(
        source_id=text(), text=text(), title=text(), url=text(), timestamp=text(), similarity=0.5
    )
    extra = text(own_place=False)
    request = VerifyRequest.model_construct(
        request_id=None,
        query=text(),
        draft_answer=text(),
        retrieved_context=(passage,),
        metadata=Metadata.model_construct(domain=text(), session_id=text(), extra=extra),
        generation_confidence=0.5,
        conversation=(Turn.model_construct(role=text(), content=text()),),
    )
    shown.append(json.dumps({"extra": extra}, ensure_ascii=False))
    claim = {
        "text": text(), "status": text(), "quote": text(), "source_ids": [text()], "detail": text(), "decided_by": text(),
        "start": 0, "end": 1, "score": 0.5, "unsupported_spans": [],
    }  # fmt: skip
    gate, stage = text(own_place=False), text(own_place=False)
    shown.append(f"{gate}, {stage}")
    finding = {"validator": text(), "outcome": text(), "gate": gate, "stage": stage, "reason": text(), "detail": text()}
    statement = {"source_id": text(), "quote": text(), "value": text(own_place=False)}
    verdict = {
        "decision": text(), "action": text(), "mode": text(), "confidence_band": text(), "reasons": [text()],
        "safe_response": text(), "claims": [claim], "findings": [finding], "request_id": text(), "policy_hash": text(),
        "conflicts": [{"about": text(), "source_ids": [], "statements": [statement]}], "model_id": text(), "version": text(),
        "validator_trace_id": text(), "language": text(), "as_of": text(), "metrics": text(own_place=False),
        "citations": [{"source_id": text(own_place=False), "title": text(own_place=False)}], "verified": text(own_place=False),
    }  # fmt: skip
    facts = {text(): text(), "trace id": text()}
    review = ReviewLine(text(), text(), text(), text())
    return PacketContent(verdict, request, text(), facts, (review,), text()), shown


@settings(max_examples=examples(40), deadline=None)
@given(TEXTS)
def test_no_recorded_text_becomes_markup(said: list[str]) -> None:
    """Whatever is recorded, the page has only our elements, attributes and links, and says every text as it was."""
    case, shown = recorded(said)

    page = Reader(packet(case))

    heads = ["".join(e.said) for e in page.closed if e.tag in ("title", "style")]
    assert page.other == ["DOCTYPE html"]
    assert {e.tag for e in page.closed} <= set(TAGS.split())
    assert {name for e in page.closed if e.tag != "meta" for name in e.attributes} <= ATTRIBUTES
    assert set().union(*(e.classes for e in page.closed)) <= set(CLASSES.split())
    assert {e.attributes["href"] for e in page.closed if "href" in e.attributes} <= {f"#{name}" for name in page.ids()}
    assert len(page.ids()) == len(set(page.ids()))
    assert {e.attributes["lang"] for e in page.closed if "lang" in e.attributes} <= {"en", "vi"}
    assert not any("U+" in head for head in heads)
    assert {seen(text) for text in shown} <= set(page.texts("bdi", "said", "detail"))


@settings(max_examples=examples(20), deadline=None)
@given(TEXTS)
def test_a_page_can_be_written_down(said: list[str]) -> None:
    """Lone surrogates and control characters do not keep a page from being a UTF-8 file."""
    page = packet(recorded(said)[0])

    assert page.encode("utf-8").decode("utf-8") == page
    assert {c for c in page if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} <= {"\n", "\t"}


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["status", "start", "end", "text"]), inner)
    ),
    max_leaves=6,
)


@settings(max_examples=examples(50), deadline=None)
@given(st.dictionaries(st.sampled_from(list(Verdict.model_fields)), JSON_VALUES), st.booleans())
def test_a_verdict_in_any_shape_has_a_page(verdict: dict[str, Any], kept: bool) -> None:
    """A damaged record is shown as far as it can be read, and is never called verified unless it says so."""
    request = parse_request(EXAMPLE) if kept else None

    page = Reader(packet(PacketContent(verdict, request)))

    said_so = verdict.get("verified") is True or (type(verdict.get("verified")) is int and verdict["verified"] == 1)
    assert ("NOT VERIFIED" in page.texts("word") or "CHƯA KIỂM CHỨNG" in page.texts("word")) is not said_so


# what is marked

PLACES = st.integers(0, 10) | st.integers(-2, 14)
BROKEN = st.tuples(st.none() | st.floats(0, 9) | st.booleans() | PLACES, st.none() | PLACES)
SPANS = st.tuples(PLACES, PLACES).map(sorted) | BROKEN.map(list)


@st.composite
def claims_over_a_draft(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Claims that fit, overlap or cannot be placed."""
    statuses, missing = st.sampled_from(STATUSES), st.lists(SPANS, max_size=3)
    spans = draw(st.lists(SPANS, min_size=1, max_size=5))
    return [{"start": a, "end": b, "status": draw(statuses), "unsupported_spans": draw(missing)} for a, b in spans]


def fits(start: Any, end: Any, length: int) -> bool:
    return type(start) is int and type(end) is int and 0 <= start < end <= length


@settings(max_examples=examples(100), deadline=None)
@given(st.text("ab ế<&\n", min_size=8, max_size=12).filter(str.strip), claims_over_a_draft())
def test_marks_cover_exactly_the_claims(draft: str, claims: list[dict[str, Any]]) -> None:
    """Each character wears the statuses of the claims over it; overlapping and broken offsets change nothing else."""
    expected = []
    for place, char in enumerate(draft):
        over = [c for c in claims if fits(c["start"], c["end"], len(draft)) and c["start"] <= place < c["end"]]
        missing = any(
            type(a) is int and type(b) is int and a <= place < b
            for claim in over
            for a, b in claim["unsupported_spans"]
        )
        looks = {claim["status"] for claim in over} | ({"claim"} if over else set()) | ({"gap"} if missing else set())
        expected.append((char, frozenset(looks)))

    page = Reader(packet(PacketContent({"claims": claims}, VerifyRequest(query="?", draft_answer=draft))))

    placed = [n for n, c in enumerate(claims, start=1) if fits(c["start"], c["end"], len(draft))]
    assert page.draft == expected
    assert sorted(name for name in page.ids() if name.startswith("mark-")) == sorted(f"mark-{n}" for n in placed)


def test_a_claim_that_is_not_where_it_says_is_listed_and_not_marked() -> None:
    """Where the recorded text and its place do not agree, the page says so and colours nothing."""
    claim = {"text": "Free.", "start": 0, "end": 4, "status": "supported", "quote": "Gratis", "source_ids": ["a", "z"]}
    passages = [{"source_id": "a", "text": "It is free."}]

    page = Reader(
        packet(
            PacketContent(
                {"claims": [claim]}, VerifyRequest(query="?", draft_answer="Paid.", retrieved_context=passages)
            )
        )
    )

    assert page.draft == [(char, frozenset()) for char in "Paid."]
    assert page.texts("astray") == [
        "The recorded position does not fit the draft answer: this claim is not marked there.",
        "These words do not stand in the recorded text of the named source.",
        "(not among the passages)",
    ]


def test_the_quotes_are_marked_in_their_passages() -> None:
    """What the verdict quotes stands marked in the passage, and the rest of the passage stands around it."""
    page = Reader(packet(judged(EXAMPLE)))

    text = EXAMPLE["retrieved_context"][0]["text"]
    assert page.texts("mark") == [
        "We accept returns of unused gear within 30 days of delivery.",
        "Gift cards are not refundable, but they never expire.",
    ]
    assert text in page.texts("said")


def test_a_quote_of_two_claims_and_a_conflict_is_marked_once() -> None:
    """Overlapping quotes do not repeat the text; each leaves its own label."""
    page = packet(judged(DISAGREEING))

    labels = re.findall(r'<a href="#(\S+)" class="tag', page)
    assert Reader(page).texts("mark") == [p["text"] for p in DISAGREEING["retrieved_context"]]
    assert labels == ["claim-1", "conflict-1", "conflict-1"]


# what a reader sees first


@pytest.mark.parametrize(
    ("case", "words"),
    [
        pytest.param(judged(EXAMPLE), ["Refuse", "Block", "Verified"], id="a refusal that is acted on"),
        pytest.param(
            judged(EXAMPLE, "lite"),
            ["Refuse", "Deliver all the same", "Verified"],
            id="a refusal that monitor lets through",
        ),
        pytest.param(judged(RIGHT), ["Answer", "Deliver", "Verified"], id="a clean answer"),
        pytest.param(judged(DISAGREEING), ["Ask back", "Ask the user", "Verified"], id="a question back"),
        pytest.param(judged(VIETNAMESE), ["Từ chối", "Chặn lại", "Đã kiểm chứng"], id="a Vietnamese refusal"),
        pytest.param(
            judged(RIGHT | {"draft_answer": None}), ["Answer", "Go on", "Verified"], id="Pattern B: nothing written yet"
        ),
        pytest.param(
            judged({"query": "How tall is Mont Blanc?"}, "lite"),
            ["Refuse", "Go on all the same", "Verified"],
            id="Pattern B: a refusal that monitor lets through",
        ),
        pytest.param(without_texts(judged(EXAMPLE)), ["Refuse", "Block", "Verified"], id="a refusal without texts"),
        pytest.param(
            without_texts(judged(RIGHT), verified=0, reasons=["validator_error"]),
            ["Answer, with warnings", "Deliver", "NOT VERIFIED"],
            id="a check that did not run",
        ),
        pytest.param(
            without_texts(judged(EXAMPLE), mode="warn", action="deliver_with_warning"),
            ["Refuse", "Deliver with a warning", "Verified"],
            id="a refusal that warn lets through with a note",
        ),
        pytest.param(PacketContent({}), ["NOT VERIFIED"], id="nothing known is not verified"),
    ],
)
def test_the_headline(case: PacketContent, words: list[str]) -> None:
    """Decision, action and verification stand first, in words, in the language of the verdict."""
    assert [word for word in Reader(packet(case)).texts("word") if word] == words


@pytest.mark.parametrize(
    ("case", "outline"),
    [
        pytest.param(
            judged(EXAMPLE),
            ["Reasons", "Question", "Draft answer, claim by claim", "Response given instead of the answer", "Claims",
             "Passages given as sources", "Checks", "Reviews", "Identifiers and hashes", "How to check this record", "Policy"],
            id="English",
        ),
        pytest.param(
            judged(VIETNAMESE),
            ["Lý do", "Câu hỏi", "Câu trả lời nháp, từng ý một", "Phản hồi được đưa ra thay cho câu trả lời", "Các ý",
             "Các đoạn tài liệu làm nguồn", "Các bước kiểm tra", "Đánh giá", "Định danh và mã băm", "Cách kiểm tra bản ghi này",
             "Chính sách"],
            id="Vietnamese",
        ),
        pytest.param(
            judged(DISAGREEING | {"draft_answer": ""}),
            ["Reasons", "Question", "Draft answer, claim by claim", "Passages given as sources", "Sources that disagree",
             "Checks", "Reviews", "Identifiers and hashes", "How to check this record", "Policy"],
            id="Pattern B has no claims",
        ),
        pytest.param(
            without_texts(judged(EXAMPLE)),
            ["Reasons", "Claims", "Checks", "Reviews", "Identifiers and hashes", "How to check this record", "Policy"],
            id="without texts",
        ),
    ],
)  # fmt: skip
def test_the_outline(case: PacketContent, outline: list[str]) -> None:
    """One page title, then the sections in order; no heading skips a level."""
    page = Reader(packet(case))

    levels = [int(e.tag[1]) for e in page.closed if e.tag in ("h1", "h2", "h3")]
    assert page.texts("h1") == [page.texts("title")[0].removeprefix("StillMe: ").split(",")[0]]
    assert page.texts("h2") == outline
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


def test_a_claim_without_its_texts_keeps_status_score_and_method() -> None:
    """Where texts are not kept the claims are a table of what is."""
    case = judged(EXAMPLE)
    page = packet(without_texts(case))

    assert case.verdict is not None
    cells = re.findall(r"<td>(.*?)</td>", page.partition('id="claims"')[2].partition("</table>")[0])
    assert [re.sub(r"<[^>]{1,80}>", "", cell) for cell in cells] == [
        "1", "contradicted", "0.00", "exact",
        "2", "supported", f"{case.verdict.claims[1].score:.2f}", "model",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("case", "notice"),
    [
        pytest.param(
            without_texts(judged(EXAMPLE)),
            ["The texts are not here. The store holds no texts for this record: the audit policy in force did not keep them (audit.content), or they have been erased since. The decision, its reasons, the scores and the hashes are always kept and stand below."],
            id="not kept",
        ),
        pytest.param(
            replace(without_texts(judged(VIETNAMESE)), notice="Đã xóa ngày 2026-04-02 (yêu cầu DP-118)."),
            ["Không có nội dung văn bản. Đã xóa ngày 2026-04-02 (yêu cầu DP-118)."],
            id="erased, in Vietnamese",
        ),
        pytest.param(replace(judged(RIGHT), notice="Two names were blanked."), ["Notice: Two names were blanked."], id="redacted"),
        pytest.param(judged(RIGHT), [], id="all there"),
    ],
)  # fmt: skip
def test_the_notice(case: PacketContent, notice: list[str]) -> None:
    """The page says plainly why a text is missing or changed."""
    assert Reader(packet(case)).texts("aside") == notice


@pytest.mark.parametrize(
    ("case", "commands"),
    [
        pytest.param(judged(EXAMPLE), ["stillme audit verify", "stillme audit replay trace-7"], id="with its texts"),
        pytest.param(
            without_texts(judged(EXAMPLE)), ["stillme audit verify"], id="without texts it cannot be run again"
        ),
        pytest.param(
            replace(judged(EXAMPLE), facts={"trace id": "x; echo gone"}),
            ["stillme audit verify", "stillme audit replay TRACE"],
            id="a trace id that a shell would read is not put into a command",
        ),
    ],
)
def test_the_commands(case: PacketContent, commands: list[str]) -> None:
    """What to run to check the record can be copied as it stands."""
    assert Reader(packet(case)).texts("command") == commands


@pytest.mark.parametrize(
    ("policy", "draft", "title"),
    [
        pytest.param("strict", EXAMPLE["draft_answer"], "Response given instead of the answer", id="a refusal"),
        pytest.param(
            "strict", "Unused gear can be returned within 30 days of delivery.",
            "Repaired answer, given instead of the draft", id="a repaired draft",
        ),
    ],
)  # fmt: skip
def test_what_was_delivered(policy: str, draft: str, title: str) -> None:
    """The text that took the draft's place stands under a title that says what it is."""
    case = judged(EXAMPLE | {"draft_answer": draft}, policy)
    assert isinstance(case.verdict, Verdict)

    page = Reader(packet(case))

    assert title in page.texts("h2")
    assert case.verdict.safe_response in page.texts("said")


def test_a_note_of_warn_is_no_replacement() -> None:
    """In warn the safe response is a note beside the draft, and the page calls it that."""
    guard = Guard({"mode": "warn"})

    page = Reader(packet(PacketContent(guard.verify(EXAMPLE), parse_request(EXAMPLE))))

    assert "Note to be shown with the answer" in page.texts("h2")


def test_reviews_facts_and_policy_are_shown_in_order() -> None:
    """Identifiers keep their order, what the verdict has otherwise is said, the policy stands there in full."""
    case = replace(
        judged(VIETNAMESE), reviews=[ReviewLine("wrong_reason", "reviewer-2", "2026-03-02T08:11:40Z", "Không rõ.")]
    )
    assert isinstance(case.verdict, Verdict)

    page = packet(case)

    record = page.partition('id="record"')[2].partition("</section>")[0]
    assert Reader(record.partition(">")[2]).texts("dt") == [
        "Mã bản ghi", "Ghi lúc", "Mã băm bản ghi", "Mã bản ghi, theo kết luận", "Mã yêu cầu", "Mã băm chính sách", "Mã mô hình", "Phiên bản gói",
    ]  # fmt: skip
    assert "sai lý do wrong_reason" in Reader(page).texts("h3")
    assert "reviewer-2, 2026-03-02 08:11:40 UTC" in Reader(page).texts("role")
    assert case.policy_text in Reader(page).texts("listing")


def test_characters_that_cannot_be_seen_are_named() -> None:
    """The codes on the page are explained at its end."""
    page = Reader(packet(PacketContent({}, VerifyRequest(query="a\u202eb\u200b?"))))

    assert "aU+202EbU+200B?" in page.texts("asked")
    assert page.texts("footer") == [
        "Characters that cannot be seen, or that change the direction of writing, are shown as their codes: U+200B ZERO WIDTH SPACE, U+202E RIGHT-TO-LEFT OVERRIDE."
    ]


# the page as a file


def test_the_page_loads_and_runs_nothing() -> None:
    """Its own style, known by its hash, is all that the page may use; a passage's address is text."""
    page = packet(judged(EXAMPLE))

    digest = b64encode(hashlib.sha256(style().encode()).digest()).decode()
    guard = next(e for e in Reader(page).closed if e.attributes.get("http-equiv") == "Content-Security-Policy")
    assert (
        guard.attributes["content"]
        == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert Reader(page).texts("style") == [style()]
    assert not re.search(r"url\(|@import|</", style())
    assert "https://help.example/returns" in Reader(page).texts("bdi")
    assert not re.search(r'(?:href|src)="(?!#)', page)


def test_the_same_case_gives_the_same_page() -> None:
    """Two renderings are equal, also of a case that was read back from JSON."""
    case = judged(DISAGREEING)
    assert isinstance(case.verdict, Verdict)
    again = replace(case, verdict=Verdict.model_validate_json(case.verdict.model_dump_json()), facts=dict(FACTS))

    assert packet(case) == packet(again)


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [pytest.param(0, id="light"), pytest.param(1, id="dark")])
def test_every_ink_is_readable_on_its_fill(scheme: int) -> None:
    """Text has a contrast of at least 4.5 in both colour schemes."""
    blocks = re.findall(r":root \{([^}]*)\}", style())
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", blocks[scheme]))
    fills = ["page", "paper", *(name for name in colours if name.endswith("-fill"))]
    on = [(name.removesuffix("-fill"), name) for name in fills if name.endswith("-fill")]
    on += [("ink", name) for name in fills if name != "alarm-fill"]
    on += [(ink, fill) for ink in ("soft", "link", "bad") for fill in ("page", "paper")]
    on += [("link", "bad-fill"), ("link", "care-fill")]

    def contrast(ink: str, fill: str) -> float:
        dark, light = sorted((luminance(colours[ink]), luminance(colours[fill])))
        return (light + 0.05) / (dark + 0.05)

    assert {pair: round(contrast(*pair), 2) for pair in on if contrast(*pair) < 4.5} == {}


# the words


def words_of(language: str) -> dict[str, str]:
    """Every interface word of a language."""
    return language_of(language).rules("pages")


def test_every_word_has_both_languages() -> None:
    """English and Vietnamese say the same things with the same slots."""
    english, vietnamese = (
        {key: sorted(name for _, name, _, _ in Formatter().parse(text) if name) for key, text in words.items() if text}
        for words in (words_of("en"), words_of("vi"))
    )

    assert english == vietnamese


def test_every_word_that_the_page_asks_for_exists() -> None:
    """A key in a template or in packet.py is among the words, and so is every value that the contract knows."""
    sources = [HERE / "packet.py", *(HERE / "templates").glob("*.html")]
    asked = {
        key for path in sources for key in re.findall(r'\bsay\("([a-z_.]+)"[),]', path.read_text(encoding="utf-8"))
    }
    values = [
        ("decision", TONES),
        ("status", STATUSES),
        ("mode", ("monitor", "warn", "enforce")),
        ("band", ("low", "medium", "high")),
        ("outcome", ("passed", "flagged", "skipped", "errored")),
        ("gate", ("hard", "soft")),
        ("stage", ("query", "draft")),
        ("action", ("deliver", "deliver_with_warning", "block", "clarify")),
        ("review", ("correct", "false_refusal", "missed_hallucination", "wrong_reason", "unclear")),
    ]

    known = {f"{group}.{value}" for group, names in values for value in names}
    assert len(asked) > 50
    assert (asked | known) - set(words_of("en")) == set()
