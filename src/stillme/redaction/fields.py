"""The fields of a record: which are kept, which are texts, and which may hold parts of a secret."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from stillme.errors import InputError
from stillme.redaction.places import UUID

__all__ = ["RECORD_FIELDS", "Field", "Leaf", "Node", "leaves_of", "tree_of"]

LARGEST_INTEGER: Final = 10**4000  # Python writes out no integer that is much longer


class Field(Enum):
    """How a field of a record is redacted."""

    WHOLE = "a text as it was sent: matches and occurrences of secrets"
    CUT = "a text of ours that quotes others and may cut a secret: also its beginning or its end"
    WORDS = "a sentence of ours that lists single words and figures: also every word of a secret"
    ID = "kept if it is a UUID or a hexadecimal digest, otherwise WHOLE"
    TIME = "kept if it is an ISO 8601 time, otherwise WHOLE"
    KEPT = "never changed: enumerations, codes, versions, hashes and figures that we made"


_REQUEST_FIELDS: Final = {
    "request_id": Field.ID,
    "as_of": Field.TIME,
    "generation_confidence": Field.KEPT,
    "metadata.language": Field.KEPT,
    "metadata.session_id": Field.ID,
    "retrieved_context[].source_id": Field.ID,
    "retrieved_context[].timestamp": Field.TIME,
    "retrieved_context[].similarity": Field.KEPT,
}
_VERDICT_FIELDS: Final = {
    "request_id": Field.ID,
    **dict.fromkeys(("decision", "mode", "action", "confidence_band", "reasons", "validator_trace_id"), Field.KEPT),
    **dict.fromkeys(("metrics", "language", "as_of", "policy_hash", "model_id", "version"), Field.KEPT),
    "safe_response": Field.CUT,
    "warning": Field.CUT,
    "citations": Field.CUT,
    "citations[].source_id": Field.ID,
    "citations[].timestamp": Field.TIME,
    "claims": Field.CUT,
    **dict.fromkeys((f"claims[].{key}" for key in ("start", "end", "status", "score", "decided_by")), Field.KEPT),
    "claims[].source_ids": Field.ID,
    "claims[].unsupported_spans": Field.KEPT,
    "claims[].detail": Field.WORDS,
    "findings": Field.WORDS,
    **dict.fromkeys((f"findings[].{key}" for key in ("validator", "outcome", "gate", "stage", "reason")), Field.KEPT),
    "findings[].detail": Field.WORDS,
    "findings[].spans": Field.KEPT,
    "findings[].elapsed_ms": Field.KEPT,
    "conflicts": Field.CUT,
    "conflicts[].source_ids": Field.ID,
    "conflicts[].about": Field.WORDS,
    "conflicts[].statements[].source_id": Field.ID,
    "conflicts[].statements[].value": Field.WORDS,
}
RECORD_FIELDS: Final[Mapping[str, Field]] = MappingProxyType(
    {f"request.{path}": rule for path, rule in _REQUEST_FIELDS.items()}
    | _VERDICT_FIELDS
    | {f"verdict.{path}": rule for path, rule in _VERDICT_FIELDS.items()}
)
"""The fields of a request (under `request`) and of its verdict (under `verdict`, or beside the request) that are not plain
texts. What is not named takes the rule of what it stands in, at the top WHOLE: titles, addresses, domains, ids that are no
UUIDs, and every extra key of metadata and passages are texts that somebody wrote, numbers among them included."""


@dataclass(frozen=True, slots=True)
class Leaf:
    holder: Any
    key: Any
    text: str
    rule: Field


class Node:
    """A place in the tree of fields: its rule, and the places below it (None: the items of a list)."""

    __slots__ = ("below", "rule")

    def __init__(self) -> None:
        self.rule: Field | None = None
        self.below: dict[str | None, Node] = {}


UNNAMED: Final = Node()


@lru_cache(maxsize=16)
def tree_of(fields: tuple[tuple[str, Field], ...]) -> Node:
    root = Node()
    for path, rule in fields:
        node = root
        for key in path.replace("[]", ".[]").split("."):
            node = node.below.setdefault(None if key == "[]" else key, Node())
        node.rule = rule
    return root


def leaves_of(value: Any, root: Node) -> tuple[list[Any], list[Leaf]]:
    """A copy of a structure (in a list of one) and its texts and numbers that may be redacted; depth is no limit."""
    copy = [value]
    leaves: list[Leaf] = []
    waiting: list[tuple[Any, Any, Node, Field]] = [(copy, 0, root, Field.WHOLE)]
    while waiting:
        holder, key, node, inherited = waiting.pop()
        item, rule = holder[key], node.rule or inherited
        if isinstance(item, Mapping):
            holder[key] = inner = dict(item)
            waiting += [(inner, name, node.below.get(name, UNNAMED), rule) for name in reversed(inner)]
        elif isinstance(item, list | tuple):
            holder[key] = items = list(item)
            waiting += [(items, n, node.below.get(None, node), rule) for n in reversed(range(len(items)))]
        elif rule is not Field.KEPT:
            leaves += _leaf(holder, key, item, rule)
    return copy, leaves


def _leaf(holder: Any, key: Any, item: object, rule: Field) -> list[Leaf]:
    """The leaf of a text or number that may hold a secret, or none."""
    text = _leaf_text(item)
    if not text or FORMS.get(rule, _no_form)(text):
        return []
    return [Leaf(holder, key, text, rule if isinstance(item, str) else Field.WHOLE)]


def _leaf_text(item: object) -> str:
    if item is None or isinstance(item, bool):
        return ""
    if isinstance(item, str):
        return item
    if isinstance(item, float) or (isinstance(item, int) and abs(item) < LARGEST_INTEGER):
        return repr(item)
    raise InputError(
        f"a record holds texts, numbers, lists and objects, got {type(item).__name__} "
        "(or a number too large to be written): write it as text"
    )


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_identifier(text: str) -> bool:
    return IDENTIFIER.fullmatch(text) is not None


def _no_form(_: str) -> bool:
    return False


IDENTIFIER: Final = re.compile(rf"(?:req-|trace-)?+{UUID}|[0-9A-Fa-f]{{32,128}}+")
FORMS: Final[Mapping[Field, Callable[[str], bool]]] = {Field.ID: _is_identifier, Field.TIME: _is_time}
