"""The gate: text goes out claim by claim, each after it was verified, the same for any chunking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.contract import RetrievedPassage, VerifyRequest
from stillme.errors import InputError
from stillme.evidence import Evidence
from stillme.grounding.grounder import ExactGrounder, GroundingTask, Judgement
from stillme.grounding.statements import Statement
from stillme.guard import Guard
from stillme.service.openai.release import ClaimEnds, ClaimGate, Step
from stillme.validators.base import Finding
from stillme.verification.growing import Look
from tests.service.guarding import CAU_HOI, CONTEXT, FALSE, NGU_CANH, QUESTION, SAI, TRUE, UNCITED
from tests.soak import examples

PASSAGES = [RetrievedPassage.model_validate(passage) for passage in CONTEXT]
# The exact features alone: what is shown here does not depend on the model, and hundreds of examples do.
EXACT = {"grounding": {"model": "none"}}


def guard_of(mode: str = "enforce", validators: Sequence[Any] = (), **policy: Any) -> Guard:
    return Guard({"mode": mode, **EXACT, **policy}, validators=validators)


def gate_of(
    guard: Guard, question: str = QUESTION, context: Sequence[Mapping[str, Any]] = tuple(CONTEXT), hold: bool = False
) -> ClaimGate:
    request = VerifyRequest.model_validate({"query": question, "retrieved_context": list(context)})
    return ClaimGate(
        guard.growing(request).look,
        ClaimEnds(request.retrieved_context),
        most_characters=guard.policy.limits.draft_chars,
        hold=hold,
    )


def unseen(draft: str, *, is_complete: bool = False) -> Look:  # noqa: ARG001  (a look takes it)
    """A look that lets everything through."""
    return Look("deliver", draft)


def steps(gate: ClaimGate, pieces: Sequence[str]) -> list[Step]:
    """All that comes out of a gate that is fed these pieces."""
    out: list[Step] = []
    for piece in pieces:
        if gate.feed(piece):
            while (step := gate.step()) is not None:
                out.append(step)
    gate.close()
    while (step := gate.step()) is not None:
        out.append(step)
    return out


def texts(gate: ClaimGate, pieces: Sequence[str]) -> list[str]:
    return [step.text for step in steps(gate, pieces) if step.stopped is None]


def cut(text: str, at: Sequence[int]) -> list[str]:
    edges = [0, *sorted(n % (len(text) + 1) for n in at), len(text)]
    return [text[a:b] for a, b in pairwise(edges)]


# where claims end


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        pytest.param("It opens at 9 am [1]. It costs 12 euros [2].", ["It opens at 9 am [1].", " It costs 12 euros [2]."], id="two sentences"),
        pytest.param("It opens at nine. [1] It costs 12 euros. [2]", ["It opens at nine. [1]", " It costs 12 euros. [2]"], id="a marker behind the full stop belongs to the claim"),
        pytest.param("It opens at nine. (Source 1) It costs 12 euros.", ["It opens at nine. (Source 1)", " It costs 12 euros."], id="a worded marker with a blank in it, too"),
        pytest.param("It costs 12.50 euros, e.g. on Monday. Ask Dr. Smith about it.", ["It costs 12.50 euros, e.g. on Monday.", " Ask Dr. Smith about it."], id="decimals and abbreviations do not end a claim"),
        pytest.param("Vé giá 120.000 đồng ở TP. Huế. Bảo tàng mở cửa lúc 9 giờ.", ["Vé giá 120.000 đồng ở TP. Huế.", " Bảo tàng mở cửa lúc 9 giờ."], id="the same in Vietnamese"),
        pytest.param("Prices:\n- Adults pay 12 euros\n- Children pay nothing at all", ["Prices:\n- Adults pay 12 euros", "\n- Children pay nothing at all"], id="items of a list; a heading of one word goes with the first"),
        pytest.param("No. Dogs are not allowed here.", ["No. Dogs are not allowed here."], id="a bare no goes with what it denies"),
        pytest.param("Adults pay 12 euros; children under six pay nothing [2].", ["Adults pay 12 euros; children under six pay nothing [2]."], id="what stands before a semicolon shares the marker"),
        pytest.param("| Who | How much |\n|---|---|\n| All adults | 12 |\n\nThat is all there is.", ["| Who | How much |\n|---|---|\n| All adults | 12", " |\n\nThat is all there is."], id="a table goes out whole"),
        pytest.param("**Adults pay 45 euros.** Ask at the door.\nIt opens at nine.", ["**Adults pay 45 euros.** Ask at the door.", "\nIt opens at nine."], id="bold text is a heading only if the line ends with it"),
        pytest.param('The guide says "I am happy. I love it" to visitors. It opens at nine.', ['The guide says "I am happy. I love it" to visitors.', " It opens at nine."], id="a quotation goes out when it is closed"),
    ],
)  # fmt: skip
def test_claims_end_where_the_next_begins(text: str, claims: list[str]) -> None:
    """What goes out together is a claim and what is needed to understand it."""
    ends = ClaimEnds(PASSAGES).found(text, complete=True)

    assert [text[a:b] for a, b in zip([0, *ends], ends, strict=False)] == claims


def test_a_text_without_words_ends_where_it_ends() -> None:
    """There is one end at most in a text that says nothing."""
    ends = ClaimEnds()

    assert ends.found("", complete=True) == []
    assert ends.found(" \n ", complete=True) == [3]
    assert ends.found(" \n ", complete=False) == []


fragments = st.sampled_from([
    "The price is 3.5 euros", "No", "[1]", "[Source 2]", "(Source 1)", "(Nguồn: hours)", "[title](http://x.y/z)", ".", "!", "?",
    ";", "\n", "\n\n", "- ", "1. ", "**Bold.**", "| a | b |", "|---|", "```", "`a. B`", '"', "“", "”", "Dr", "e.g", "U.S", "v.v",
    "Hà Nội có 8 triệu dân", "A", "b", "p.m", "Monday", "…", "# Heading", "Sources:", ":", "[", "]", "(", ")", "【1】", "1", "2021",
    "—", "\u200b", "\u0301", "et al", "https://a.b/c.d",
])  # fmt: skip
jumbled = st.lists(st.tuples(fragments, st.sampled_from(["", " ", "\n"])), min_size=1, max_size=20).map(
    lambda parts: "".join(a + b for a, b in parts)
)


@given(jumbled, st.integers(0, 10_000))
@settings(max_examples=examples(200), deadline=None)
def test_an_end_that_was_found_never_moves(text: str, at: int) -> None:
    """What is found in the beginning of a text is what is found there in the whole."""
    ends = ClaimEnds(PASSAGES)
    early = ends.found(text[: at % (len(text) + 1)], complete=False)

    assert ends.found(text, complete=True)[: len(early)] == early


@given(jumbled, st.lists(st.integers(0, 10_000), max_size=12))
@settings(max_examples=examples(150), deadline=None)
def test_any_chunking_gives_the_same_pieces(text: str, at: list[int]) -> None:
    """The pieces are those of the text, however it arrives, and together they are the text."""

    def gate() -> ClaimGate:
        return ClaimGate(unseen, ClaimEnds(PASSAGES), most_characters=10_000)

    whole = texts(gate(), [text])

    assert texts(gate(), cut(text, at)) == whole == texts(gate(), list(text))
    assert "".join(whole) == text


# what goes out

SUPPORTED = [
    "The museum opens at 9 am [1].",
    "Admission costs 12 euros for adults [2].",
    "Admission is free for children under six [2].",
]
UNSUPPORTED = [
    "Admission costs 45 euros for adults [2].",
    "The museum opens at 11 pm [1].",
    "Dogs get a discount of 30 percent [2].",
]
joints = st.sampled_from([" ", "\n", "\n\n", "\n- ", "\n\n1. "])
answers = st.lists(st.tuples(st.sampled_from([*SUPPORTED, *UNSUPPORTED]), joints), min_size=1, max_size=5)
ENFORCING = Guard({"mode": "enforce", **EXACT})


@given(answers, st.lists(st.integers(0, 1_000), max_size=6))
@settings(max_examples=examples(25), deadline=None)
def test_enforce_lets_no_character_of_an_unsupported_claim_through(
    claims: list[tuple[str, str]], at: list[int]
) -> None:
    """Everything before the first unsupported claim goes out, and nothing from there on."""
    text = "".join(joint + claim for claim, joint in claims)
    bad = next((n for n, (claim, _) in enumerate(claims) if claim in UNSUPPORTED), None)

    out = steps(gate_of(ENFORCING), cut(text, at))

    assert "".join(step.text for step in out if step.stopped is None) == "".join(
        joint + claim for claim, joint in claims[:bad]
    )
    assert [step.stopped for step in out if step.stopped] == ([] if bad is None else ["block"])


@pytest.mark.parametrize(
    ("mode", "draft", "sent", "stopped"),
    [
        pytest.param("enforce", TRUE, ["The museum opens at 9 am [1].", " Admission costs 12 euros for adults [2]."], None, id="enforce lets supported claims through"),
        pytest.param("enforce", FALSE, ["The museum opens at 9 am [1]."], "block", id="enforce stops at a contradicted claim"),
        pytest.param("enforce", UNCITED, ["The museum opens at 9 am [1].", " Admission costs 12 euros for adults [2]."], None, id="enforce adds the marker that is missing"),
        pytest.param("warn", FALSE, ["The museum opens at 9 am [1].", " Admission costs 45 euros for adults [2].", " Children under six pay nothing [2]."], None, id="warn withholds nothing"),
        pytest.param("monitor", UNCITED, ["The museum opens at 9 am.", " Admission costs 12 euros for adults."], None, id="monitor changes nothing"),
        pytest.param("monitor", FALSE, ["The museum opens at 9 am [1].", " Admission costs 45 euros for adults [2].", " Children under six pay nothing [2]."], None, id="monitor withholds nothing"),
        pytest.param("enforce", "I am sorry, I could not find that.", ["I am sorry, I could not find that."], None, id="an answer that claims nothing goes out"),
        pytest.param("enforce", "The museum opens at 9 am [7]. It is large.", [], "block", id="a fabricated citation stops"),
    ],
)  # fmt: skip
def test_modes(mode: str, draft: str, sent: list[str], stopped: str | None) -> None:
    """What each mode lets through of a draft."""
    out = steps(gate_of(guard_of(mode)), list(draft))

    assert [step.text for step in out if step.stopped is None] == sent
    assert next((step.stopped for step in out if step.stopped), None) == stopped


def test_vietnamese() -> None:
    """A contradicted claim stops in Vietnamese as it does in English, and the refusal is Vietnamese."""
    out = steps(gate_of(guard_of(), CAU_HOI, NGU_CANH), list(SAI))

    assert [step.stopped for step in out] == [None, "block"]
    assert out[0].text == "Bảo tàng mở cửa lúc 9 giờ sáng [1]."
    assert "450.000" not in out[1].text
    assert "Tôi" in out[1].text


def test_nothing_follows_a_stop() -> None:
    """A gate that has stopped lets nothing more through, whatever it is fed."""
    gate = gate_of(guard_of())
    out = steps(gate, [FALSE])

    gate.feed(f" {TRUE} {TRUE}")
    assert gate.step() is None
    assert (out[-1].stopped, gate.released, gate.stopped_at) == ("block", 29, 70)


@dataclass(frozen=True)
class Refusing:
    """Answers as it is told to, and remembers what it was shown."""

    name: ClassVar[str] = "Refusing"
    stage: ClassVar[str] = "draft"
    at: str = ""
    seen: list[str] = field(default_factory=list)

    def run(self, evidence: Evidence) -> Finding:
        self.seen.append(evidence.draft.raw)
        if self.at in evidence.draft.raw:
            raise RuntimeError("it broke")
        return Finding("Refusing", "passed")


def test_an_errored_gate_never_releases() -> None:
    """A validator that breaks is a refusal under on_error: refuse, and what went before stays out."""
    out = steps(gate_of(guard_of(validators=[Refusing(at="12 euros")])), list(TRUE))

    assert [(step.text, step.stopped) for step in out][:1] == [("The museum opens at 9 am [1].", None)]
    assert out[1].stopped == "block"


def test_on_error_deliver_releases_what_could_not_be_checked() -> None:
    """The operator's other choice holds here too."""
    out = steps(gate_of(guard_of(validators=[Refusing(at="12 euros")], on_error="deliver")), list(TRUE))

    assert "".join(step.text for step in out) == TRUE


def test_every_claim_is_looked_at_before_it_goes_out() -> None:
    """What goes out was in a draft that was verified before, and never more than one claim ahead."""
    watching = Refusing(at="never said")
    gate = gate_of(guard_of(validators=[watching]))
    for piece in TRUE:
        if gate.feed(piece) and (step := gate.step()) is not None:
            assert watching.seen[-1] == gate.sent == step.text

    assert watching.seen == ["The museum opens at 9 am [1]."]


def test_a_held_text_goes_out_at_the_end_or_not_at_all() -> None:
    """Where the end decides, nothing goes out before it."""
    assert texts(gate_of(guard_of(), hold=True), list(TRUE)) == [TRUE]
    assert texts(gate_of(guard_of(), hold=True), list(FALSE)) == []


def test_a_repair_of_what_is_gone_already_stops() -> None:
    """A text that no longer begins with what went out cannot go out."""

    def look(draft: str, *, is_complete: bool = False) -> Look:  # noqa: ARG001  (a look takes it)
        return Look("deliver", draft.replace("One", "Two") if len(draft) > 20 else draft)

    gate = ClaimGate(look, ClaimEnds(), most_characters=1_000)
    out = steps(gate, ["One is the number. Three is another. Four is the last."])

    assert [(step.text, step.stopped) for step in out] == [("One is the number.", None), ("", "block")]


def test_low_confidence_in_the_words_so_far_stops() -> None:
    """Gate 3 judges by the words that the claim was written with."""
    request = VerifyRequest.model_validate({"query": QUESTION, "retrieved_context": CONTEXT})
    guard = guard_of()
    sure = {29: 0.9, 70: 0.2}
    gate = ClaimGate(guard.growing(request, sure.get).look, ClaimEnds(PASSAGES), most_characters=1_000)

    assert [step.stopped for step in steps(gate, [TRUE])] == [None, "block"]


def test_a_text_over_the_limit_is_an_error() -> None:
    """A draft that the policy would not take is not let through in part and cut unsaid."""
    gate = gate_of(guard_of(limits={"draft_chars": 40}))

    assert gate.feed(TRUE[:40])
    assert gate.step() == Step("The museum opens at 9 am [1].", 29)
    with pytest.raises(InputError, match=r"limits\.draft_chars"):
        gate.feed(TRUE[40:])


# long answers


class Counted(ClaimEnds):
    """Counts the characters it is asked to read."""

    characters = 0

    def found(self, raw: str, *, complete: bool) -> list[int]:
        self.characters += len(raw)
        return super().found(raw, complete=complete)


class CountingGrounder:
    """The exact features, with a count of what they judge and of what is read for it."""

    id = "counting"

    def __init__(self) -> None:
        self.judged = 0
        self.statements: set[Statement] = set()

    @property
    def read(self) -> int:
        """How many statements were read: one that is read again is another object."""
        return len(self.statements)

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        self.judged += sum(len(task.claims) for task in tasks)
        self.statements.update(statement for task in tasks for statement in task.draft.statements)
        return ExactGrounder().judge(tasks)


def rooms(count: int, language: str, *, lines: bool) -> tuple[str, list[dict[str, str]]]:
    """An answer of so many true claims, and the passages it stands on."""
    says = "Room {} costs {} euros a night" if language == "en" else "Phòng {} có giá {} euro mỗi đêm"
    stated = [says.format(n, 40 + n % 7) for n in range(100, 100 + count)]
    join = "\n- " if lines else " "
    answer = join.join(f"{sentence} [{1 + n % 4}]." for n, sentence in enumerate(stated))
    texts_ = [" ".join(f"{sentence}." for sentence in stated[k::4]) for k in range(4)]
    return answer, [{"source_id": f"s{k}", "text": text} for k, text in enumerate(texts_)]


def streamed(count: int, language: str, *, lines: bool) -> tuple[int, int, int, int]:
    """Claims that went out, claims judged while they did, statements and characters read for it."""
    answer, context = rooms(count, language, lines=lines)
    grounder, ends = CountingGrounder(), Counted()
    asked = "How much is a night in each room?" if language == "en" else "Mỗi phòng giá bao nhiêu một đêm?"
    request = VerifyRequest.model_validate({"query": asked, "retrieved_context": context})
    guard = Guard({"mode": "enforce", **EXACT, "limits": {"work": 100_000_000}}, grounder=grounder)
    gate = ClaimGate(guard.growing(request).look, ends, most_characters=64_000)
    out = texts(gate, [word + " " for word in answer.split(" ")])
    assert "".join(out).strip() == answer
    return len(out), grounder.judged, grounder.read, ends.characters


@pytest.mark.parametrize("lines", [False, True], ids=["one paragraph", "a list"])
@pytest.mark.parametrize("language", ["en", "vi"])
def test_a_streamed_answer_twice_as_long_takes_twice_the_work(language: str, lines: bool) -> None:
    """Each claim is judged once, and what is read for it does not grow with what went out before."""
    out, judged, read, characters = streamed(20, language, lines=lines)
    out2, judged2, read2, characters2 = streamed(40, language, lines=lines)

    assert (out, out2) == (20, 40)
    assert (judged, judged2) == (20, 40)
    assert read2 <= 2.5 * read
    assert characters2 <= 2.5 * characters


long_jumbles = st.lists(st.tuples(fragments, st.sampled_from([" ", " ", "\n"])), min_size=40, max_size=90).map(
    lambda parts: "".join(a + b for a, b in parts)
)


@given(long_jumbles)
@settings(max_examples=examples(100))
def test_a_long_text_goes_out_in_the_same_claims_as_a_whole_one(text: str) -> None:
    """Where reading begins anew is seen by nobody."""
    gate = ClaimGate(unseen, ClaimEnds(PASSAGES), most_characters=64_000)

    ends = [step.end for step in steps(gate, [text[n : n + 7] for n in range(0, len(text), 7)])]

    assert ends == ClaimEnds(PASSAGES).found(text, complete=True)


@pytest.mark.parametrize("place", [0, 11, 29])
@pytest.mark.parametrize(
    ("language", "wrong"),
    [("en", "Room 7 costs 900 euros a night [1]."), ("vi", "Phòng 7 có giá 900 euro mỗi đêm [1].")],
)
def test_a_false_claim_stops_a_long_answer_wherever_it_stands(place: int, language: str, wrong: str) -> None:
    """Nothing of it goes out, and everything before it does."""
    answer, context = rooms(30, language, lines=True)
    context[0]["text"] += " Room 7 costs 9 euros a night." if language == "en" else " Phòng 7 có giá 9 euro mỗi đêm."
    claims = answer.split("\n- ")
    claims.insert(place, wrong)
    question = "How much is a night in each room?" if language == "en" else "Mỗi phòng giá bao nhiêu một đêm?"

    found = steps(gate_of(guard_of(), question, context), ["\n- ".join(claims)])

    assert [step.stopped for step in found] == [None] * place + ["block"]
    assert "".join(step.text for step in found[:-1]).split("\n- ") == (claims[:place] or [""])


def test_a_claim_that_needs_what_went_out_long_before_is_looked_at_with_all_of_it() -> None:
    """What would stop at the end of the draft alone is tried once more as a whole before it stops."""

    @dataclass(frozen=True)
    class Opened:
        """A validator that asks for a word at the start of every answer."""

        name: ClassVar[str] = "Opened"
        stage: ClassVar[str] = "draft"

        def run(self, evidence: Evidence) -> Finding:
            return Finding("Opened", "passed" if evidence.draft.raw.startswith("Room 100") else "errored")

    answer, context = rooms(20, "en", lines=False)

    found = steps(gate_of(guard_of(validators=[Opened()]), "How much is a night in each room?", context), [answer])

    assert {step.stopped for step in found} == {None}


def test_a_streamed_answer_over_the_work_limit_is_told_so() -> None:
    """The claims within the limit go out; the first one over it is an error that names the limit."""
    answer, context = rooms(20, "en", lines=False)
    gate = gate_of(guard_of(limits={"work": 100}), "How much is a night in each room?", context)

    with pytest.raises(InputError, match=r"limits\.work is 100"):
        steps(gate, [answer])

    assert not gate.fits
    assert gate.released > 0


def test_a_courtesy_goes_out_with_the_first_claim_that_is_judged() -> None:
    """Alone it answers nothing: the gate keeps it until something that was checked can follow, and an answer of nothing else is refused."""
    guard = Guard({"mode": "enforce", "grounding": {"model": "none"}})
    request = VerifyRequest.model_validate(
        {
            "query": "When does the ferry sail?",
            "retrieved_context": [{"source_id": "f", "text": "The ferry sails at 7 a.m.", "similarity": 0.9}],
        }
    )

    def sent(answer: str) -> list[str]:
        gate = gate_of(guard, request.query, [p.model_dump() for p in request.retrieved_context])
        steps = []
        for word in answer.split(" "):
            gate.feed(word + " ")
            while (step := gate.step()) is not None:
                steps.append(step)
        gate.close()
        while (step := gate.step()) is not None:
            steps.append(step)
        return [f"{step.stopped or 'out'}: {step.text.strip()}" for step in steps if step.text.strip()]

    assert sent("Sure! Happy to help. The ferry sails at 7 a.m. [1]. Have a nice day!") == [
        "out: Sure! Happy to help. The ferry sails at 7 a.m. [1].",
        "out: Have a nice day!",
    ]
    assert [line.partition(":")[0] for line in sent("Sure! Happy to help.")] == ["block"]
