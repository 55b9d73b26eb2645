"""The answer of a judge, checked: every claim once, a known status, and a quote that stands in the passage it names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from stillme.conduct.instructions import find_instruction
from stillme.errors import BackendError
from stillme.grounding.grounder import Quote, Status
from stillme.grounding.passage import Passage
from stillme.judge.quote import Quotable
from stillme.llm.strict_json import strict_json
from stillme.text.tokens import Text

__all__ = ["JudgeAnswer", "read_answers", "written"]

STATUSES: Final[dict[str, Status]] = {s: s for s in ("supported", "contradicted", "unsupported")}
KEYS: Final = frozenset({"claim", "status", "passage", "quote"})


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """What the judge says of one claim, and where the passage says it."""

    status: Status
    quote: Quote | None = None


def read_answers(content: str, count: int, passages: Sequence[Passage], name: str) -> list[JudgeAnswer]:
    """The answers on claims 1 to `count`, in order; anything but that is an error, never a pass."""
    return _AnswerReader(count, passages, name).answers(content)


def written(content: str) -> str:
    """A checked answer in the one form that is kept: ASCII, without anything but its values."""
    return json.dumps(strict_json(content), sort_keys=True, separators=(",", ":"))


class _AnswerReader:
    """Reads one answer about so many claims and these passages."""

    def __init__(self, count: int, passages: Sequence[Passage], name: str) -> None:
        self.count = count
        self.passages = passages
        self.name = name
        self.index = {passage.number: i for i, passage in enumerate(passages)}
        self.texts = [Quotable(passage.given.text) for passage in passages]

    def answers(self, content: str) -> list[JudgeAnswer]:
        try:
            value = strict_json(content)
        except ValueError:
            self._refuse("is not JSON")
        given = value.get("claims") if isinstance(value, dict) and set(value) == {"claims"} else None
        if not isinstance(given, list):
            self._refuse("is not an object with a list of claims")
        found: dict[int, JudgeAnswer] = {}
        for entry in given:
            number = self._number(entry)
            if number in found:
                self._refuse(f"judges claim {number} twice")
            found[number] = self._answer(entry, number)
        missing = [n for n in range(1, self.count + 1) if n not in found]
        if missing:
            self._refuse(f"leaves out claim {missing[0]}")
        return [found[n] for n in range(1, self.count + 1)]

    def _number(self, entry: Any) -> int:
        """The number of the claim that an entry is about; the entry has all keys and no other."""
        if not isinstance(entry, dict) or set(entry) != KEYS:
            self._refuse("has an entry without exactly claim, status, passage and quote")
        number = entry["claim"]
        if type(number) is not int or not 1 <= number <= self.count:
            self._refuse(f"speaks of a claim that was not asked about; there are {self.count}")
        return number

    def _answer(self, entry: dict[str, Any], number: int) -> JudgeAnswer:
        status = STATUSES.get(entry["status"]) if isinstance(entry["status"], str) else None
        if status is None:
            self._refuse(f"gives claim {number} a status that does not exist")
        quote = self._quote(entry["passage"], entry["quote"], number)
        if status == "unsupported":
            return JudgeAnswer(status)
        if quote is None:
            self._refuse(f"calls claim {number} {status} without a quote")
        if status == "supported" and self._steers(quote):
            self._refuse(f"rests claim {number} on words that speak to a machine")
        return JudgeAnswer(status, quote)

    def _quote(self, passage: Any, quote: Any, number: int) -> Quote | None:
        """Where the quote stands; whatever is given is checked, also where it is not needed."""
        if passage is not None and (type(passage) is not int or passage not in self.index):
            self._refuse(f"names for claim {number} a passage that was not given")
        if quote is not None and not isinstance(quote, str):
            self._refuse(f"gives claim {number} a quote that is no text")
        if not quote:
            return None
        if passage is None:
            self._refuse(f"quotes no passage in particular for claim {number}")
        place = self.texts[self.index[passage]].find(quote)
        if place is None:
            self._refuse(f"quotes for claim {number} what passage {passage} does not say")
        return Quote(self.index[passage], *place)

    def _steers(self, quote: Quote) -> bool:
        """Whether the quoted words are an instruction to a machine: that is no support for anything."""
        passage = self.passages[quote.passage]
        place = find_instruction(passage.text)
        if place is None:
            return False
        overlaps = place[0] < quote.end and quote.start < place[1]
        return overlaps or find_instruction(Text(passage.given.text[quote.start : quote.end])) is not None

    def _refuse(self, what: str) -> NoReturn:
        raise BackendError(
            f"the answer of {self.name} {what}: it judges nothing; choose a model that keeps to the form"
        )
