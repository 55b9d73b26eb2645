"""Whether a sentence or a clause only talks, by the classifier."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from stillme.grounding.similarity import Embed
from stillme.grounding.wrapping import exchange_words, turns
from stillme.models.talk import talk_model
from stillme.text.tokens import Text

__all__ = ["behind_remark", "is_remark", "only_talks"]

LONGEST_REMARK: Final = 40
LONGEST_LEAD: Final = 24
LEAST_BEHIND: Final = 3
LEAD_ENDS: Final = frozenset(",:—–")
MOST_MARKS: Final = 3


def only_talks(embed: Embed, text: str, apart: bool) -> bool:
    """Whether a text greets, thanks, offers help or speaks about the answer, and states nothing.

    `apart`: it shares no word with the question and the sources, which is a sign of talk by itself.
    """
    model = talk_model()
    return model.score(text, embed) >= (model.apart_at if apart else model.talk_at)


def is_remark(embed: Embed, draft: Text, first: int, last: int, matter: Collection[str]) -> bool:
    """Whether tokens are as likely talk as a statement, and no part of the answer: they count nothing and say little of the matter.

    That is too little to let them pass unchecked, and enough to leave them out.
    """
    words = draft.words[first:last]
    if len(words) > LONGEST_REMARK or any(word.number for word in words):
        return False
    content = [word.stem for word in words if word.content and word.lower not in exchange_words()]
    named = [stem for stem in content if stem in matter]
    if 2 * len(named) > len(content):
        return False
    model = talk_model()
    return model.score(draft.slice(first, last), embed) >= (
        model.apart_at if named and not draft.accented else model.remark_at
    )


def behind_remark(embed: Embed, draft: Text, first: int, last: int, matter: Collection[str]) -> int | None:
    """The token behind a leading clause that is such a remark and turns nothing: 'The leaflet puts it like so: …'.

    A colon parts more than a comma, and a later mark more than an earlier one.
    """
    reach = range(first + 1, min(last - LEAST_BEHIND, first + LONGEST_LEAD))
    marks = sorted(
        (i for i in reach if draft.words[i].text in LEAD_ENDS), key=lambda i: (draft.words[i].text != ":", -i)
    )
    for mark in marks[:MOST_MARKS]:
        if not turns(draft, first, mark) and is_remark(embed, draft, first, mark, matter):
            return mark + 1
    return None
