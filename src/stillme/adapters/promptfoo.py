"""StillMe as a Python assertion of promptfoo: a test passes where the guard would answer and the answer is verified.

assert: [{type: python, value: "file://grounded.py"}], and in grounded.py: from stillme.adapters.promptfoo import get_assert
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from stillme.adapters.guarding import judged, passage_of
from stillme.errors import InputError, shown
from stillme.guard import Guard

__all__ = ["get_assert"]

QUERY, CONTEXT = "query", "context"
"""The variables of a test that hold the question and the passages, unless the assertion's config names others."""


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """Whether the output passes, the share of its supported claims, and why; what was not judged does not pass."""
    config, variables = context.get("config") or {}, context.get("vars") or {}
    query = _variable(variables, str(config.get("query") or QUERY))
    given = _variable(variables, str(config.get("context") or CONTEXT))
    texts = given if isinstance(given, list) else [given]
    passages = [_passage(text, number) for number, text in enumerate(texts, 1)]
    found = judged(_guard(config.get("policy")), str(query), str(output or ""), passages)
    return {"pass": found.passes, "score": found.score or 0.0, "reason": found.why}


def _variable(variables: Mapping[str, Any], name: str) -> Any:
    if name not in variables:
        known = ", ".join(map(str, variables)) or "none"
        raise InputError(
            f"the test has no variable {shown(name)}, there are: {known}; name it in `config` of the assertion"
        )
    return variables[name]


def _passage(given: Any, number: int) -> dict[str, Any]:
    """A passage from a text, or from an object with `text` and more."""
    if not isinstance(given, Mapping):
        return passage_of(str(given), number)
    about = {key: value for key, value in given.items() if key not in ("text", "source_id", "similarity")}
    return passage_of(str(given.get("text", "")), number, given.get("source_id"), given.get("similarity"), **about)


@cache
def _guard(policy: str | None) -> Guard:
    return Guard(policy)
