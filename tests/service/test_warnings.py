"""The warning of Gate 2 through the OpenAI-compatible guard: once, below the answer, streamed or whole."""

from __future__ import annotations

import openai
import pytest

from tests.chat.upstream import completion, stream
from tests.service.guarding import Guarding, guarding

ASKING = [{"role": "user", "content": "When does the Silverton library open on Saturdays?"}]
GYM = {"source_id": "gym", "text": "The gym is open from 6 am to 10 pm on weekdays.", "similarity": 0.82}
CITED = "The gym is open from 6 am to 10 pm on weekdays [1]."
UNCITED = "The gym is open from 6 am to 10 pm on weekdays."


def said(guard: Guarding, *, streams: bool) -> str:
    """What the official client gets to read."""
    extra = {"stillme": {"context": [GYM]}}
    with openai.OpenAI(base_url=guard.base_url, api_key="any", max_retries=0, timeout=10) as client:
        if not streams:
            answer = client.chat.completions.create(model="m", messages=ASKING, extra_body=extra)  # type: ignore[arg-type]
            return answer.choices[0].message.content or ""
        pieces = client.chat.completions.create(model="m", messages=ASKING, extra_body=extra, stream=True)  # type: ignore[arg-type]
        return "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("draft", [CITED, UNCITED], ids=["cited", "citation repaired"])
@pytest.mark.parametrize("mode", ["warn", "enforce"])
def test_the_warning_stands_below_the_answer_once(mode: str, draft: str, streams: bool) -> None:
    """Sources that do not speak of what was asked are told to the user in warn and in enforce."""
    script = stream(*draft) if streams else completion(draft)
    with guarding(script, policy={"mode": mode}) as guard:
        text = said(guard, streams=streams)

    above, _, below = text.partition("\n\n")
    assert above == CITED
    assert below.count("do not mention the key words") == 1


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_monitor_changes_no_text(streams: bool) -> None:
    """The warning is in the verdict only."""
    with guarding(stream(*CITED) if streams else completion(CITED), policy={"mode": "monitor"}) as guard:
        text = said(guard, streams=streams)

    assert text == CITED
    assert "do not mention the key words" in (guard.kept.occurrences[0].verdict.warning or "")
