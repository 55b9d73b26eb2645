"""A look at a draft as far as it is written is what the guard would say of the same words, for any draft cut at any claim."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme import Finding, Gate, Guard, Observer
from stillme.contract import VerifyRequest
from stillme.evidence import Evidence
from stillme.grounding.grounder import ExactGrounder, GroundingTask, Judgement
from stillme.service.openai.release import ClaimEnds, ClaimGate
from stillme.verification.growing import GrowingDraft
from tests.soak import examples

EXACT: dict[str, Any] = {"grounding": {"model": "none"}}
HALDEN: dict[str, Any] = {
    "query": "Who designed the bridge over the river?",
    "retrieved_context": [
        {
            "source_id": "bridge",
            "text": "The engineer halden was there. The bridge over the river was designed by Orsini. The bridge is 40 metres long.",
        }
    ],
}
HALDENS_DRAFT = "The engineer Halden was there [1]. Halden designed the bridge over the river [1]. The bridge is 40 metres long [1]."
LIGHTHOUSE = {
    "query": "What should I know about the lighthouse at Skarvik?",
    "retrieved_context": [
        {
            "source_id": "history",
            "text": "The lighthouse at Skarvik was built in 1871 by Marta Lindqvist. It is 34 metres tall. The keeper was called olsen.",
        },
        {
            "source_id": "visit",
            "text": "Visitors may climb the tower from May to September. A ticket costs 8 euros. Dogs have to stay outside.",
        },
    ],
}
SAID = [
    "The lighthouse at Skarvik was built in 1871 [1].",
    "It is 34 metres tall [1].",
    "A ticket costs 8 euros [2].",
    "Visitors may climb the tower from May to September [2].",
    "Dogs have to stay outside.",
    "The tower was built by Marta Lindqvist.",
    "A ticket costs 80 euros [2].",
    "It was painted by the mayor's cousin [1].",
    "The lighthouse at Skarvik was built in 1925 [1].",
    "The ferry to the island leaves at noon.",
    "Dogs have to stay outside [1].",
    "The keeper Olsen lived there [1].",
    "Olsen built the lighthouse [1].",
    "Happy to help!",
    "Yes, that is right.",
    "Let me know if you need anything else.",
    "I could not find that in the sources.",
    "**Tickets** cost 8 euros [2].",
    "- It is 34 metres tall [1]",
    "| Ticket | 8 euros |",
    "`ticket = 8`",
    "Sources: [1] history, [2] visit.",
    "See [7].",
    "I feel so proud of this lighthouse.",
    "Vé có giá 8 euro [2].",
    "Ngọn hải đăng cao 34 mét [1].",
    "Chó phải ở bên ngoài.",
]
NGON_HAI_DANG = {
    "query": "Ngọn hải đăng cao bao nhiêu và vé giá bao nhiêu?",
    "retrieved_context": [
        {"source_id": "a", "text": "Ngọn hải đăng cao 34 mét. Nó được xây năm 1871."},
        {"source_id": "b", "text": "Vé vào cửa giá 90.000 đồng. Chó phải ở bên ngoài."},
    ],
}
DA_NOI = [
    "Ngọn hải đăng cao 34 mét [1].",
    "Vé vào cửa giá 90.000 đồng [2].",
    "Nó được xây năm 1871 [1].",
    "Vé vào cửa giá 900.000 đồng [2].",
    "Chó phải ở bên ngoài.",
    "Rất vui được giúp bạn!",
    "Đúng vậy.",
    "Ông Lâm đã xây ngọn hải đăng [1].",
    "- Vé vào cửa giá 90.000 đồng [2]",
    "The lighthouse is 34 metres tall [1].",
]
joints = st.sampled_from([" ", " ", "\n", "\n\n"])


def drafts(pool: Sequence[str], most: int) -> st.SearchStrategy[str]:
    """Drafts of up to so many sentences of a pool."""
    parts = st.lists(st.tuples(st.sampled_from(pool), joints), min_size=1, max_size=most)
    return parts.map(lambda chosen: "".join(said + joint for said, joint in chosen).strip())


def claim_ends(request: dict[str, Any], draft: str) -> list[int]:
    passages = VerifyRequest.model_validate(request).retrieved_context
    return ClaimEnds(passages).found(draft, complete=True)


def delivered(guard: Guard, request: dict[str, Any], draft: str) -> str | None:
    """What the guard delivers of a draft, without the warning behind it; None where it delivers something else."""
    verdict = guard.verify({**request, "draft_answer": draft})
    if verdict.action in ("block", "clarify"):
        return None
    text = verdict.delivered(draft)
    return text.removesuffix(f"\n\n{verdict.warning}") if verdict.warning else text


def streamed(guard: Guard, request: dict[str, Any], draft: str) -> tuple[ClaimGate, list[tuple[int, str]]]:
    """A gate that a draft went through word by word, and at each claim that went out how much of the draft that was, and what was out."""
    parsed = VerifyRequest.model_validate(request)
    growing = guard.growing(parsed)
    gate = ClaimGate(
        growing.look, ClaimEnds(parsed.retrieved_context), most_characters=64_000, hold=growing.holds_to_the_end
    )
    out: list[tuple[int, str]] = []

    def step() -> None:
        while (taken := gate.step()) is not None and taken.stopped is None:
            out.append((gate.released, gate.sent))

    for piece in re.findall(r"\S+\s*", draft):
        if gate.feed(piece):
            step()
    gate.close()
    step()
    return gate, out


def holds_for(guard: Guard, request: dict[str, Any], draft: str) -> None:
    """The property: at every claim that went out, what is out is what the guard delivers of the draft so far; where the stream stopped,
    the guard delivers nothing that could still follow.

    What is out cannot be changed. Where the guard would take a repair back that is out already, it is what the guard delivers of what is
    out with the new claim behind it.
    """
    gate, out = streamed(guard, request, draft)

    for (before, was_out), (end, sent) in pairwise([(0, ""), *out]):
        expected = delivered(guard, request, draft[:end]) if end else ""
        if expected is not None and not expected.startswith(was_out):
            expected = delivered(guard, request, was_out + draft[before:end])
        assert sent == expected
    if gate.stopped_at is not None:
        instead = delivered(guard, request, draft[: gate.stopped_at])
        assert instead is None or not instead.startswith(gate.sent)
    else:
        assert gate.released == len(draft)


def test_the_name_that_a_draft_brings_is_known_to_the_stream_too() -> None:
    """A claim that the guard refuses because an earlier one made a word a name does not go out."""
    guard = Guard({"mode": "enforce", **EXACT})
    first = HALDENS_DRAFT.index(" Halden designed")

    gate = streamed(guard, HALDEN, HALDENS_DRAFT)[0]

    assert delivered(guard, HALDEN, HALDENS_DRAFT[:81]) is None
    assert (gate.sent, gate.stopped_at) == (HALDENS_DRAFT[:first], 81)
    holds_for(guard, HALDEN, HALDENS_DRAFT)


@pytest.mark.parametrize("mode", ["enforce", "warn", "monitor"])
@given(draft=drafts(SAID, 7))
@settings(max_examples=examples(15), deadline=None)
def test_the_stream_releases_what_the_guard_delivers(mode: str, draft: str) -> None:
    """For any draft cut at any claim, in every mode."""
    holds_for(Guard({"mode": mode, **EXACT}), LIGHTHOUSE, draft)


@given(draft=drafts(DA_NOI, 7))
@settings(max_examples=examples(15), deadline=None)
def test_the_stream_releases_what_the_guard_delivers_in_vietnamese(draft: str) -> None:
    """The same in Vietnamese."""
    holds_for(Guard({"mode": "enforce", **EXACT}), NGON_HAI_DANG, draft)


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param({"validators": {"CitationRequired": {"allowed_uncited": 2}}}, id="some claims may go uncited"),
        pytest.param(
            {"validators": {"EvidenceOverlap": {"gate": "hard", "threshold": 0.3}}}, id="a share of the answer"
        ),
        pytest.param({"extends": "strict"}, id="strict"),
        pytest.param({"behavior": {"allow_soft_answer_with_warning": True}}, id="weak evidence is forgiven"),
        pytest.param({"validators": {"CitationRequired": {"gate": "soft"}}}, id="citations are wished for"),
    ],
)
@given(draft=drafts([*SAID[:6], *SAID[11:16]], 8))
@settings(max_examples=examples(10), deadline=None)
def test_the_stream_releases_what_the_guard_delivers_under_other_policies(policy: dict[str, Any], draft: str) -> None:
    """Where validators count over the whole answer, too."""
    holds_for(Guard({"mode": "enforce", **EXACT, **policy}), LIGHTHOUSE, draft)


@given(draft=drafts(SAID, 30))
@settings(max_examples=4, deadline=None)
def test_the_stream_releases_what_the_guard_delivers_of_long_drafts(draft: str) -> None:
    """What was read before is read as it would be now: monitor lets all of it through."""
    guard = Guard({"mode": "monitor", **EXACT})
    growing = guard.growing({**LIGHTHOUSE, "as_of": "2026-01-01T00:00:00Z"})

    for end in claim_ends(LIGHTHOUSE, draft):
        request = VerifyRequest.model_validate(
            {**LIGHTHOUSE, "draft_answer": draft[:end], "as_of": "2026-01-01T00:00:00Z"}
        )
        growing.look(draft[:end])
        assert _lasting(growing.verdict(request)) == _lasting(guard.verify(request))


def _lasting(verdict: Any) -> dict[str, Any]:
    """A verdict without ids and times."""
    kept = verdict.model_dump(mode="json", exclude={"request_id", "validator_trace_id", "metrics"})
    for finding in kept["findings"]:
        del finding["elapsed_ms"]
    return dict(kept)


@given(draft=drafts([*SAID, *DA_NOI[:2]], 5))
@settings(max_examples=examples(6), deadline=None)
def test_the_stream_releases_what_the_guard_delivers_with_the_model(draft: str) -> None:
    """The default grounder, too."""
    holds_for(WITH_MODEL, LIGHTHOUSE, draft)


WITH_MODEL = Guard({"mode": "enforce"})


def test_the_name_that_a_draft_brings_is_known_with_the_model_too() -> None:
    """The example without the model, with it."""
    holds_for(WITH_MODEL, HALDEN, HALDENS_DRAFT)


# what it costs


class Counting:
    """The exact features, with a count of the claims that they judge."""

    id = "counting"

    def __init__(self) -> None:
        self.claims: list[str] = []

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        self.claims += [t.draft.text.raw[c.start : c.end] for t in tasks for c in t.claims]
        return ExactGrounder().judge(tasks)


@dataclass(frozen=True)
class Watching:
    """A validator of another package: it sees every draft, and passes it."""

    name: ClassVar[str] = "Watching"
    seen: list[str] = field(default_factory=list)

    def run(self, evidence: Evidence) -> Finding:
        self.seen.append(evidence.draft.raw)
        return Finding("Watching", "passed")


def answer_of(count: int, cited: bool) -> tuple[dict[str, Any], list[str]]:
    """A question about lockers, and so many true claims."""
    places = itertools.product(("red", "blue", "green", "white", "black"), ("door", "lift", "desk", "stairs", "exit"))
    said = [f"The {colour} locker stands beside the {place}" for colour, place in itertools.islice(places, count)]
    request = {
        "query": "Where does each locker stand?",
        "retrieved_context": [{"source_id": "l", "text": ". ".join(said) + "."}],
    }
    return request, [f"{claim} [1]." if cited else f"{claim}." for claim in said]


@pytest.mark.parametrize(
    ("policy", "added", "cited"),
    [
        pytest.param({}, False, True, id="nothing added"),
        pytest.param({"validators": {"CitationRequired": {"allowed_uncited": 50}}}, False, False, id="uncited claims are allowed"),
        pytest.param({}, True, True, id="a validator of another package"),
    ],
)  # fmt: skip
def test_each_claim_of_a_stream_is_judged_once(policy: dict[str, Any], added: bool, cited: bool) -> None:
    """However long the answer is that it stands in; the last one, and for the record, too."""
    request, claims = answer_of(25, cited)
    grounder, watching = Counting(), Watching()
    guard = Guard({"mode": "enforce", **EXACT, **policy}, validators=[watching] if added else [], grounder=grounder)
    growing = guard.growing(request)
    gate = ClaimGate(growing.look, ClaimEnds(), most_characters=64_000)

    for claim in claims:
        if gate.feed(f"{claim} "):
            gate.step()
    gate.close()
    while gate.step() is not None:
        pass
    draft = gate.text
    occurrence = guard.examine({**request, "draft_answer": draft}, growing=growing)

    assert gate.sent == draft
    assert grounder.claims == claims
    assert occurrence.verdict.decision == "answer"
    assert len(watching.seen) == (len(claims) if added else 0)


def test_a_claim_is_judged_again_when_a_word_of_it_turns_out_to_be_a_name() -> None:
    """What was judged is given again only as long as it is read the same."""
    grounder = Counting()
    growing = Guard({"mode": "enforce", **EXACT}, grounder=grounder).growing(HALDEN)
    opening = "Halden designed the bridge over the river [1]."

    growing.look(opening)
    growing.look(f"{opening} The engineer Halden was there [1].")

    assert grounder.claims == [opening, opening, "The engineer Halden was there [1]."]


def test_sentences_are_read_once_as_a_draft_grows() -> None:
    """What stands before the last sentences is the same reading, look after look."""
    seen: list[Any] = []

    @dataclass(frozen=True)
    class Reading:
        name: ClassVar[str] = "Reading"

        def run(self, evidence: Evidence) -> Finding:
            seen.append(evidence.draft_reading.statements)
            return Finding("Reading", "passed")

    request, claims = answer_of(12, cited=False)
    growing = Guard({"mode": "enforce", **EXACT}, validators=[Reading()]).growing(request)
    for count in range(1, len(claims) + 1):
        growing.look(" ".join(claims[:count]))

    read = {id(statement) for statements in seen for statement in statements}

    # Each is read in the draft and in the repaired draft, and again while it is among the last.
    assert len(read) <= 2 * 4 * len(claims)


# what is held back


@pytest.mark.parametrize(
    ("policy", "holds"),
    [
        pytest.param({}, False, id="nothing is required"),
        pytest.param({"SchemaFormat": {"required_sections": ["Answer"]}}, True, id="a section is required"),
        pytest.param({"SchemaFormat": {"required_sections": ["Answer"], "gate": "soft"}}, False, id="a section is wished for"),
        pytest.param({"VerbosityValidator": {"gate": "hard"}}, True, id="padding is refused"),
    ],
)  # fmt: skip
def test_what_only_the_end_can_show_holds_the_text(policy: dict[str, Any], holds: bool) -> None:
    """A hard gate that reads whole answers."""
    assert Guard({"validators": policy}).growing(HALDEN).holds_to_the_end is holds


@dataclass(frozen=True, slots=True)
class Signed(Observer):
    """A validator of another package: an answer has to be signed at its end."""

    name: ClassVar[str] = "Signed"
    gates: ClassVar[Any] = {"unsigned": Gate.HARD}
    whole_answer: ClassVar = True

    def run(self, evidence: Evidence) -> Finding:
        """Flag an answer that is not signed."""
        signed = evidence.draft.raw.endswith("Your library")
        return self.passed() if signed else Finding(self.name, "flagged", "draft", Gate.HARD, "unsigned")


def test_a_validator_of_another_package_may_read_whole_answers() -> None:
    """What it declares is honoured: the text is held, and goes out if it is signed."""
    guard = Guard({"mode": "enforce", **EXACT}, validators=[Signed()])
    draft = "A ticket costs 8 euros [2]."

    assert [sent for _, sent in streamed(guard, LIGHTHOUSE, f"{draft}\n\nYour library")[1]] == [
        f"{draft}\n\nYour library"
    ]
    assert streamed(guard, LIGHTHOUSE, draft)[0].sent == ""


def test_a_bare_yes_waits_for_what_it_leads_in_to() -> None:
    """With a fact behind it, it needs no marker of its own: it goes out with that."""
    growing: GrowingDraft = Guard({"mode": "enforce", **EXACT}).growing(
        {"query": "Does a ticket cost 8 euros?", "retrieved_context": LIGHTHOUSE["retrieved_context"]}
    )

    assert growing.look("Yes, it does.").waits
    assert growing.look("Yes, it does. A ticket costs 8 euros [2].").text == "Yes, it does. A ticket costs 8 euros [2]."
