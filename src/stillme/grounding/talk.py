"""Whether a sentence or a clause only talks, by the classifier."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from stillme.grounding.similarity import Embed
from stillme.grounding.wrapping import exchange_words, polite_words, turns
from stillme.languages import word_set
from stillme.models.talk import talk_model
from stillme.text.tokens import Text, Word

__all__ = [
    "behind_foreign_lead",
    "behind_remark",
    "is_manners",
    "is_remark",
    "names_an_element",
    "only_talks",
    "run_on_talk",
]

LONGEST_REMARK: Final = 40
# What names something of the matter has to be talk more likely than not.
EVEN: Final = 0.5
LONGEST_LEAD: Final = 24
LEAST_BEHIND: Final = 3
LEAST_RUN_ON: Final = 2
LEAD_ENDS: Final = frozenset(",:—–")
MOST_MARKS: Final = 3
LEAST_STATEMENT: Final = 4
APART_ENDS: Final = frozenset(":—–")
ELEMENT: Final = re.compile(r"</?+([A-Za-z][\w:.-]{0,40}+)/?+>")
NAME_JOINTS: Final = re.compile(r"[\W_]++|(?<=[a-z])(?=[A-Z])")


def only_talks(embed: Embed, text: str, apart: bool) -> bool:
    """Whether a text greets, thanks, offers help or speaks about the answer, and states nothing.

    `apart`: it shares no word with the question and the sources, which is a sign of talk by itself.
    """
    model = talk_model()
    return model.score(text, embed) >= (model.apart_at if apart else model.talk_at)


def is_remark(embed: Embed, draft: Text, first: int, last: int, matter: Collection[str]) -> bool:
    """Whether tokens are as likely talk as a statement, and no part of the answer: they say little of the matter unless they surely talk,
    and if they count something, nothing at all ('Press 1 for more').

    That is too little to let them pass unchecked, and enough to leave them out.
    """
    words = draft.words[first:last]
    counts = any(word.number for word in words)
    content = [word.stem for word in words if word.content and word.lower not in exchange_words()]
    named = [stem for stem in content if stem in matter]
    if len(words) > LONGEST_REMARK or (counts and named):
        return False
    model = talk_model()
    sure = model.apart_at if counts else EVEN if named and not draft.accented else model.remark_at
    if 2 * len(named) > len(content):
        sure = model.talk_at
    return model.score(draft.slice(first, last), embed) >= sure


def behind_remark(embed: Embed, draft: Text, first: int, last: int, matter: Collection[str]) -> int | None:
    """The token behind a leading clause that is such a remark and turns nothing: 'The leaflet puts it like so: …'.

    A colon parts more than a comma, and a later mark more than an earlier one.
    """
    reach = range(first + 1, min(last - LEAST_BEHIND, first + LONGEST_LEAD))
    ends = LEAD_ENDS | word_set("grammar", "topic_mark")
    marks = sorted((i for i in reach if draft.words[i].text in ends), key=lambda i: (draft.words[i].text != ":", -i))
    for mark in marks[:MOST_MARKS]:
        if not turns(draft, first, mark) and is_remark(embed, draft, first, mark, matter):
            joints = word_set("grammar", "behind_lead")
            return next(i for i in range(mark + 1, last) if draft.lowers[i] not in joints or i == last - 1)
    return None


def behind_foreign_lead(draft: Text, first: int, last: int, matter: Collection[str]) -> int | None:
    """The token behind a leading clause that a colon or dash ends and that speaks of something else than the matter, where a statement
    follows."""
    mark = next(
        (i for i in range(first + 1, min(last, first + LONGEST_LEAD)) if draft.words[i].text in APART_ENDS), None
    )
    if mark is None or sum(word.word or word.number for word in draft.words[mark + 1 : last]) < LEAST_STATEMENT:
        return None
    lead = [
        word for word in draft.words[first:mark] if word.number or (word.content and word.lower not in exchange_words())
    ]
    named = [word for word in lead if word.number or word.stem in matter]
    return None if 2 * len(named) > len(lead) else mark + 1


def names_an_element(draft: Text, start: int, end: int, matter: Collection[str]) -> bool:
    """Whether characters are the tag of an element of XML whose name counts nothing, turns nothing and says nothing of the matter."""
    tag = ELEMENT.fullmatch(draft.raw, start, end)
    if tag is None:
        return False
    name = Text(" ".join(NAME_JOINTS.split(tag.group(1))))
    return not turns(name, 0, len(name.words)) and not any(word.number or word.stem in matter for word in name.words)


def run_on_talk(embed: Embed, draft: Text, first: int, last: int, matter: Collection[str]) -> int | None:
    """The first token of talk that runs on behind a statement without a stop: '… on Mondays Hope that helps!'; None without any.

    It opens with the last capital that two words or more follow, or that is a whole courtesy; capitals alone are a name.
    """
    words, speakers = draft.words, word_set("grammar", "first_person")
    for start in range(last - 1, max(first + LEAST_BEHIND, last - LONGEST_LEAD), -1):
        spoken = [word for word in words[start:last] if word.word]
        if (
            not words[start].capital
            or words[start].lower in speakers
            or ((len(spoken) < LEAST_RUN_ON or all(word.capital for word in spoken)) and not _greets(spoken))
        ):
            continue
        named = [word for word in spoken if word.content and word.stem in matter]
        shared = len(named) > (len(spoken) // 2 if draft.accented else 0)  # syllables are shared by chance
        if shared or any(word.number for word in words[start:last]):
            return None
        return start if only_talks(embed, draft.slice(start, last), apart=not named) else None
    return None


def _greets(spoken: Sequence[Word]) -> bool:
    return all(word.lower in polite_words() for word in spoken)


def is_manners(embed: Embed, draft: Text, first: int, last: int, matter: Collection[str]) -> bool:
    """Whether tokens are surely talk, to the reader or about the exchange, and say nothing of the matter: 'I love how you put it!'"""
    words = [word for word in draft.words[first:last] if word.word or word.number]
    told = word_set("conduct", "reader") | exchange_words()
    own = [word for word in words if word.content and word.lower not in exchange_words()]
    if not words or any(word.number for word in words) or not any(word.lower in told for word in words):
        return False
    apart = draft.accented or not any(word.stem in matter for word in own)
    return apart and only_talks(embed, draft.slice(first, last), apart=False)
