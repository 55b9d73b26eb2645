"""A streamed answer over HTTP: what goes out is what the guard delivers, and no claim is judged twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from stillme.grounding.grounder import ExactGrounder, GroundingTask, Judgement
from stillme.guard import Guard
from tests.chat.upstream import stream
from tests.service.guarding import Kept, guarding
from tests.service.openai.test_chat_completions import follow, said
from tests.verification.test_growing import HALDEN, HALDENS_DRAFT


class Counting:
    """The exact features, with what they judged."""

    id = "counting"

    def __init__(self) -> None:
        self.judged: list[str] = []

    def judge(self, tasks: Sequence[GroundingTask]) -> list[list[Judgement]]:
        self.judged += [t.draft.text.raw[c.start : c.end] for t in tasks for c in t.claims]
        return ExactGrounder().judge(tasks)


CLAIMS = [
    "The engineer of the bridge was Orsini [1].",
    "The bridge is 40 metres long [1].",
    "It spans the river Aare [1].",
]
CAU = ["Cây cầu dài 40 mét [1].", "Cây cầu do kỹ sư Orsini thiết kế [1].", "Cây cầu bắc qua sông Aare [1]."]
EN = ("Who designed the bridge, and how long is it?", "The engineer of the bridge was Orsini. The bridge is 40 metres long. It spans the river Aare.")  # fmt: skip
VI = ("Ai thiết kế cây cầu và nó dài bao nhiêu?", "Cây cầu dài 40 mét. Cây cầu do kỹ sư Orsini thiết kế. Cây cầu bắc qua sông Aare.")  # fmt: skip


def asked(query: str, text: str) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": query}],
        "extra_body": {"stillme": {"context": [{"source_id": "b", "text": text, "similarity": 0.9}]}},
    }


@pytest.mark.parametrize(("claims", "source"), [(CLAIMS, EN), (CAU, VI)], ids=["en", "vi"])
@pytest.mark.parametrize("mode", ["enforce", "monitor"])
def test_every_claim_of_a_stream_is_judged_once(mode: str, claims: list[str], source: tuple[str, str]) -> None:
    """The last one too: the look that lets it out is the verdict that is recorded."""
    grounder, kept = Counting(), Kept()
    guard = Guard({"mode": mode, "grounding": {"model": "none"}}, grounder=grounder, audit=kept)

    with guarding(stream(*" ".join(claims)), guard=guard) as guarded:
        out = said(follow(guarded, **asked(*source)))

    assert "".join(out) == " ".join(claims)
    assert grounder.judged == claims
    assert [o.verdict.metrics.claims_supported for o in kept.occurrences] == [3]


def test_a_stopped_stream_judges_nothing_twice_for_its_record() -> None:
    """What is recorded of the claim that stopped it rests on the look that stopped it."""
    grounder, kept = Counting(), Kept()
    guard = Guard({"mode": "enforce", "grounding": {"model": "none"}}, grounder=grounder, audit=kept)
    claims = [CLAIMS[0], "The bridge is 90 metres long [1].", CLAIMS[2]]

    with guarding(stream(*" ".join(claims)), guard=guard) as guarded:
        follow(guarded, **asked(*EN))

    assert grounder.judged == claims[:2]
    assert [o.verdict.decision for o in kept.occurrences] == ["refuse"]


def test_what_the_guard_refuses_of_a_draft_does_not_go_out() -> None:
    """The name that an earlier claim brings is known to the stream as it is to the guard."""
    guard = Guard({"mode": "enforce", "grounding": {"model": "none"}}, audit=Kept())
    context = [{**passage, "similarity": 0.9} for passage in HALDEN["retrieved_context"]]
    given = {
        "messages": [{"role": "user", "content": HALDEN["query"]}],
        "extra_body": {"stillme": {"context": context}},
    }

    with guarding(stream(*HALDENS_DRAFT), guard=guard) as guarded:
        out = said(follow(guarded, **given))

    assert out[0] == "The engineer Halden was there [1]."
    assert "Halden designed" not in "".join(out)
