"""What the judge is told (instructions.txt) and what it is given to read: one JSON document of untrusted texts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from stillme.grounding.claims import Claim
from stillme.grounding.grounder import GroundingTask
from stillme.grounding.passage import Passage
from stillme.grounding.statements import Reading

__all__ = ["INSTRUCTIONS", "PROMPT_VERSION", "SCHEMA", "messages"]

INSTRUCTIONS: Final = Path(__file__).with_name("instructions.txt").read_text(encoding="utf-8").removesuffix("\n")
SCHEMA: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("answer_schema.json").read_text(encoding="utf-8"))

# The signs that delimit the document and that chat templates are made of, and all that a reader would not see.
UNSAFE: Final = re.compile(
    "[<>\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)


def _layout() -> str:
    return json.dumps([INSTRUCTIONS, SCHEMA, UNSAFE.pattern, "document/1"], sort_keys=True)


PROMPT_VERSION: Final = hashlib.sha256(_layout().encode()).hexdigest()[:8]


def messages(task: GroundingTask, claims: Sequence[Claim]) -> list[dict[str, str]]:
    """The two messages that ask about some claims of a task; claims are numbered from 1, passages as markers number them."""
    document = {
        "question": task.query.raw,
        "conversation": [turn.raw for turn in task.conversation],
        "answer": _draft_words(task.draft, 0, len(task.draft.text)),
        "claims": [_claim(task, n, claim) for n, claim in enumerate(claims, 1)],
        "passages": [_passage(passage) for passage in task.library.passages],
    }
    written = UNSAFE.sub(_escape, json.dumps(document, ensure_ascii=False, separators=(",", ":")))
    return [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": f"<data>\n{written}\n</data>"}]


def _claim(task: GroundingTask, number: int, claim: Claim) -> dict[str, Any]:
    cites = [task.library.passages[i].number for i in claim.cited]
    return {"claim": number, "text": _draft_words(task.draft, claim.first, claim.last)} | (
        {"cites": cites} if cites else {}
    )


def _passage(passage: Passage) -> dict[str, Any]:
    given = passage.given
    besides = {"title": given.title, "url": given.url, "timestamp": given.timestamp}
    return {"passage": passage.number, **{key: value for key, value in besides.items() if value}, "text": given.text}


def _draft_words(draft: Reading, first: int, last: int) -> str:
    """The words of the draft from token `first` to `last` without citation markers and addresses, which say nothing themselves."""
    text = draft.text
    if not draft.skipped:
        return text.slice(first, last)
    pieces: list[str] = []
    for i in range(first, last):
        if i not in draft.skipped:
            pieces += (text.gaps[i] if pieces else "", text.words[i].text)
    return "".join(pieces)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return f"\\u{ord(character):04x}" if character in "<>\x7f" else json.dumps(character)[1:-1]
