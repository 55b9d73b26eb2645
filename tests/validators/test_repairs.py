"""Repairs are applied from the end, verified once more, and dropped when they do not help."""

from __future__ import annotations

from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stillme.evidence import Evidence
from stillme.reasons import Gate
from stillme.validators.base import Finding, Repair
from stillme.validators.chain import ValidatorChain
from stillme.validators.citation_relevance import CitationRelevance
from stillme.validators.citation_required import CitationRequired
from stillme.validators.repairs import apply, left_out, repair, without_lead


@pytest.mark.parametrize(
    ("draft", "repairs", "expected"),
    [
        pytest.param("abc", [], "abc", id="nothing to do"),
        pytest.param("abc.", [Repair(3, 3, " [1]")], "abc [1].", id="an insertion"),
        pytest.param("ab cd", [Repair(2, 2, "!"), Repair(5, 5, "?")], "ab! cd?", id="two insertions"),
        pytest.param("abc [1].", [Repair(4, 7, "[2]")], "abc [2].", id="a replacement"),
        pytest.param("abcdef", [Repair(0, 4, "X"), Repair(2, 6, "Y")], "Xef", id="of two that overlap only the first"),
        pytest.param("abc", [Repair(1, 1, "-"), Repair(1, 1, "-")], "a-bc", id="the same edit twice is one"),
        pytest.param("ab.", [Repair(2, 2, " [1]"), Repair(2, 2, " (likely)")], "ab (likely) [1].", id="two insertions at one place both count"),
    ],
)  # fmt: skip
def test_apply(draft: str, repairs: list[Repair], expected: str) -> None:
    """Offsets are those of the original draft."""
    assert apply(draft, repairs) == expected


@given(
    st.text(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5), st.text(max_size=3)), max_size=5)
)
def test_apply_never_loses_what_no_edit_touches(draft: str, edits: list[tuple[int, int, str]]) -> None:
    """Insertions alone keep every character of the draft, in order."""
    inserted = apply(draft, [Repair(min(a, len(draft)), min(a, len(draft)), "\u2603") for a, _, _ in edits])

    assert inserted.replace("\u2603", "") == draft.replace("\u2603", "")


def test_two_kinds_of_repair_at_once() -> None:
    """A missing marker is added and a wrong one replaced, and the patched draft has neither flag."""
    chain = ValidatorChain([CitationRequired(), CitationRelevance()])
    evidence = Evidence.of("q", "Tea is hot. Ice is cold [1].", ["Tea is hot.", "Ice is cold."])

    findings, patched = repair(chain, evidence, chain.observe(evidence))

    assert patched == "Tea is hot [1]. Ice is cold [2]."
    assert all(f.repaired for f in findings if f.outcome == "flagged")


def test_a_patch_that_leaves_a_claim_uncited_is_not_a_repair() -> None:
    """One claim is supported, the other is not: the finding stays."""
    chain = ValidatorChain([CitationRequired()])
    evidence = Evidence.of("q", "Tea is hot. Dragons sleep in caves of gold.", ["Tea is hot."])

    findings, patched = repair(chain, evidence, chain.observe(evidence))

    assert (patched, [f.repaired for f in findings]) == (None, [False])


def test_a_warning_whose_repair_does_not_hold_costs_no_answer_its_citation() -> None:
    """The repairs of hard findings are tried alone where all together bring up something new."""

    class Shouting:
        """Proposes, for a warning, an edit that makes the draft worse."""

        name: ClassVar[str] = "Shouting"

        def run(self, evidence: Evidence) -> Finding:
            """Flag, and propose to put a marker that points nowhere in front."""
            return Finding(self.name, "flagged", gate=Gate.SOFT, reason="loud", repairs=(Repair(0, 0, "[9] "),))

    chain = ValidatorChain([CitationRequired(), CitationRelevance(), Shouting()])
    evidence = Evidence.of("q", "Tea is hot.", ["Tea is hot."])

    findings, patched = repair(chain, evidence, chain.observe(evidence))

    assert patched == "Tea is hot [1]."
    assert [(f.validator, f.repaired) for f in findings if f.outcome == "flagged"] == [
        ("CitationRequired", True),
        ("Shouting", False),
    ]


@pytest.mark.parametrize(
    ("draft", "sentence", "rest"),
    [
        pytest.param("One. Two. Three.", "Two.", "One. Three.", id="with the space behind it"),
        pytest.param("One. Two.", "Two.", "One.", id="the last one with the space before it"),
        pytest.param("- One.\n- Two.\n- Three.", "Two.", "- One.\n- Three.", id="with its line"),
        pytest.param("One. Two.\nThree.", "Two.", "One. \nThree.", id="the line of another stays"),
    ],
)
def test_a_sentence_is_left_out(draft: str, sentence: str, rest: str) -> None:
    """Nothing of the others goes with it."""
    start = draft.index(sentence)

    assert apply(draft, [left_out(draft, start, start + len(sentence))]) == rest


@pytest.mark.parametrize(
    ("draft", "behind", "rest"),
    [
        pytest.param("By the way: tea is hot.", "tea", "Tea is hot.", id="a clause"),
        pytest.param("(By the way): tea is hot.", "tea", "Tea is hot.", id="with its brackets"),
        pytest.param("**By the way: tea is hot.**", "tea", None, id="half of a pair of marks"),
        pytest.param("(By the way: tea is hot.)", "tea", None, id="half of the brackets"),
    ],
)
def test_a_lead_in_is_left_out(draft: str, behind: str, rest: str | None) -> None:
    """What follows it opens the sentence; marks keep their other half."""
    edit = without_lead(draft, 0, draft.index(behind))

    assert (apply(draft, [edit]) if edit else None) == rest


def test_what_an_edit_uncovers_is_repaired_too() -> None:
    """Behind a lead-in that is left out stands a claim that lacks its citation."""

    class Leading:
        """Proposes to leave out what stands before a colon."""

        name: ClassVar[str] = "Leading"

        def run(self, evidence: Evidence) -> Finding:
            """Flag a colon."""
            at = evidence.draft.raw.find(": ")
            if at < 0:
                return Finding(self.name, "passed")
            return Finding(self.name, "flagged", gate=Gate.HARD, reason="led", repairs=(Repair(0, at + 2, ""),))

    chain = ValidatorChain([CitationRequired(), Leading()])
    evidence = Evidence.of("q", "Gnomes of Zurich whisper: Tea is hot.", ["Tea is hot."])

    findings, patched = repair(chain, evidence, chain.observe(evidence))

    assert patched == "Tea is hot [1]."
    assert all(f.repaired for f in findings if f.outcome == "flagged")


@pytest.mark.parametrize(
    ("gate", "patch"),
    [pytest.param(Gate.SOFT, "Tea is hot, maybe.", id="a warning"), pytest.param(Gate.HARD, None, id="an objection")],
)
def test_a_warning_that_a_lead_in_hid_costs_no_answer_its_repair(gate: Gate, patch: str | None) -> None:
    """What comes to light behind it stands among the findings, and is repaired in its turn; an objection keeps the answer back."""

    class Leading:
        """Objects to what stands before a colon."""

        name: ClassVar[str] = "Leading"

        def run(self, evidence: Evidence) -> Finding:
            """Flag a colon."""
            at = evidence.draft.raw.find(": ")
            if at < 0:
                return Finding(self.name, "passed")
            return Finding(self.name, "flagged", gate=Gate.HARD, reason="led", repairs=(Repair(0, at + 2, ""),))

    class Shy:
        """Wants a hedge in a draft without a colon."""

        name: ClassVar[str] = "Shy"

        def run(self, evidence: Evidence) -> Finding:
            """Flag its absence."""
            draft = evidence.draft.raw
            if ": " in draft or "maybe" in draft:
                return Finding(self.name, "passed")
            hedge = Repair(len(draft) - 1, len(draft) - 1, ", maybe")
            return Finding(self.name, "flagged", gate=gate, reason="bold", repairs=(hedge,))

    chain = ValidatorChain([Leading(), Shy()])
    evidence = Evidence.of("q", "Gnomes of Zurich whisper: Tea is hot.", ["Tea is hot."])

    findings, patched = repair(chain, evidence, chain.observe(evidence))

    assert patched == patch
    assert [(f.validator, f.outcome, f.repaired) for f in findings] == (
        [("Leading", "flagged", True), ("Shy", "passed", False)]
        if patch
        else [("Leading", "flagged", False), ("Shy", "passed", False)]
    )


def test_a_warning_that_cannot_be_repaired_stays_among_the_findings() -> None:
    """The answer goes out with it."""

    class Leading:
        """Objects to what stands before a colon, and warns behind it."""

        name: ClassVar[str] = "Leading"

        def run(self, evidence: Evidence) -> Finding:
            """Flag either."""
            at = evidence.draft.raw.find(": ")
            if at < 0:
                return Finding(self.name, "flagged", gate=Gate.SOFT, reason="short")
            return Finding(self.name, "flagged", gate=Gate.HARD, reason="led", repairs=(Repair(0, at + 2, ""),))

    chain = ValidatorChain([Leading()])
    evidence = Evidence.of("q", "Gnomes of Zurich whisper: Tea is hot.", ["Tea is hot."])

    findings, patched = repair(chain, evidence, chain.observe(evidence))

    assert patched == "Tea is hot."
    assert [(f.reason, f.repaired) for f in findings] == [("led", True), ("short", False)]
