"""Whether a sentence or a clause only talks, by the classifier."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from stillme.grounding.similarity import Embed
from stillme.grounding.wrapping import bounds, denies, denies_itself, exchange_words, polite_words, turns
from stillme.languages import word_set
from stillme.models.talk import talk_model
from stillme.text.tokens import Text, Word

__all__ = [
    "behind_foreign_lead",
    "behind_remark",
    "beside_denial",
    "find_directions",
    "is_manners",
    "is_remark",
    "names_an_element",
    "only_talks",
    "run_on_talk",
]

Span = tuple[int, int]

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
# What a denial on one side of these does not reach stands on the other.
PARTING: Final = frozenset(':—–,|()[]{}<>*"“”»«')
# What tells a speaker how to say a line, in brackets or between asterisks.
DIRECTION: Final = re.compile(
    r"\[[^\[\]\n]{2,60}+\](?![(:\[])|【[^【】\n]{2,60}+】|\([^()\n]{2,60}+\)|\{[^{}\n]{2,60}+\}|<[^<>\n]{2,60}+>"
    r"|(?<![*\w])\*[^*\s][^*\n]{0,58}+\*(?![*\w])"
)
LONGEST_DIRECTION: Final = 8
BEFORE_DIRECTION: Final = '.!?…:;"”’»)]}>】*'
ELEMENT: Final = re.compile(r"[<\[]/?+([^\W\d][\w:.-]{0,40}+)/?+[>\]]")
NAME_JOINTS: Final = re.compile(r"[\W_]++|(?<=[a-z])(?=[A-Z])")


def only_talks(embed: Embed, text: str, apart: bool) -> bool:
    """Whether a text greets, thanks, offers help or speaks about the answer, and states nothing.

    `apart`: it shares no word with the question and the sources, which is a sign of talk by itself.
    """
    model = talk_model()
    return model.score(text, embed) >= (model.apart_at if apart else model.talk_at)


def is_remark(embed: Embed, draft: Text, first: int, last: int, matter: Collection[str], least: float = 0.0) -> bool:
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
    return model.score(draft.slice(first, last), embed) >= max(sure, least)


def behind_remark(embed: Embed, draft: Text, first: int, last: int, matter: Collection[str]) -> int | None:
    """The token behind a leading clause that is such a remark and turns nothing: 'The leaflet puts it like so: …'.

    A colon parts more than a comma, a comma more than a word that joins, and a later mark more than an earlier one.
    """
    reach = range(first + 1, min(last - LEAST_BEHIND, first + LONGEST_LEAD))
    ends, joining = LEAD_ENDS | word_set("grammar", "topic_mark"), word_set("grammar", "lead_joints")
    found = [i for i in reach if draft.lowers[i] in ends or draft.lowers[i] in joining]
    marks = sorted(found, key=lambda i: (draft.words[i].text != ":", draft.lowers[i] in joining, -i))
    for mark in marks[:MOST_MARKS]:
        least = EVEN if draft.lowers[mark] in joining else 0.0
        bound = turns(draft, first, mark) and not denies_itself(draft, first, mark)
        if not bound and is_remark(embed, draft, first, mark, matter, least):
            joints = word_set("grammar", "behind_lead")
            behind = next(i for i in range(mark + 1, last) if draft.lowers[i] not in joints or i == last - 1)
            return behind if _stands(draft, behind, last) else None
    return None


def _stands(draft: Text, first: int, last: int) -> bool:
    """Whether what a lead-in leaves says enough to be a sentence, and is none that hangs on it: '…, who opens accounts'."""
    return draft.lowers[first] not in word_set("grammar", "relative") and _states_enough(draft, first, last)


def find_directions(embed: Embed, draft: Text, matter: Collection[str]) -> Iterator[Span]:
    """What at the edge of a sentence tells how it is to be said, in brackets or between asterisks: '[pause]', '(in a calm voice)'.

    It is likely talk, counts and turns nothing, and has no word of the matter; '[on Mondays]' and '[not]' belong to what is said.
    """
    for match in DIRECTION.finditer(draft.raw):
        first, last = draft.token_at(match.start() + 1), draft.token_at(match.end() - 1)
        words = draft.words[first:last]
        if (
            not 0 < len(words) <= LONGEST_DIRECTION
            or not _is_at_an_edge(draft.raw, *match.span())
            or any(word.number or word.stem in matter for word in words if word.content or word.number)
            or turns(draft, first, last)
            or bounds(draft, first, last)
        ):
            continue
        if talk_model().score(draft.slice(first, last), embed) >= EVEN:
            yield match.span()


def _is_at_an_edge(raw: str, start: int, end: int) -> bool:
    """Whether characters open a line, stand between two sentences, or, in brackets that no aside has, end a line."""
    before, behind = raw[:start].rstrip(" \t"), raw[end:].lstrip(" \t")
    if not before or before[-1] == "\n":
        return True
    if not behind or behind[0] == "\n":
        return before[-1] in BEFORE_DIRECTION or raw[start] not in "(*"
    return before[-1] in BEFORE_DIRECTION and not behind[0].islower()


def beside_denial(
    draft: Text, first: int, last: int, silent: Collection[int], is_known: Callable[[int], bool]
) -> tuple[int, int] | None:
    """What of a claim a denial at its edge does not reach, since it denies something that no source speaks of: 'Never mind the rumours,
    pens are allowed', '[stop] Pens are allowed', 'No joke, …', '…, no strings attached'; None where no denial stands beside the matter."""
    denials = [i for i in range(first, last) if i not in silent and denies(draft, i, i + 1)]
    content = [i for i in range(first, last) if draft.words[i].content and i not in silent]
    known = [i for i in content if is_known(i)] if denials else []
    if not known:
        return None
    begin = _behind_mark(draft, first, last, denials, is_known) or first
    if begin == first and _denies_another(draft, known[0], denials, content):
        begin = known[0]
    behind = [i for i in denials if i > known[-1]]
    marks = (i for i in range(known[-1] + 1, behind[0]) if draft.words[i].text in PARTING) if behind else iter(())
    end = next(marks, behind[0]) if behind else last
    return (begin, end) if (begin, end) != (first, last) and _states_enough(draft, begin, end) else None


def _behind_mark(
    draft: Text, first: int, last: int, denials: Sequence[int], is_known: Callable[[int], bool]
) -> int | None:
    """The token behind the last mark that parts a denial, beside the matter, from what is said."""
    for mark in range(min(last, first + LONGEST_LEAD) - 1, first, -1):
        if draft.words[mark].text in PARTING and denials[0] < mark:
            said = [i for i in range(first, mark) if draft.words[i].content]
            if 2 * sum(map(is_known, said)) <= len(said):
                return mark + 1
    return None


def _denies_another(draft: Text, begin: int, denials: Sequence[int], content: Sequence[int]) -> bool:
    """Whether something stands between what denies before a token and the token: a word of its own, or a mark that parts them."""
    before = [i for i in denials if i < begin]
    between = range(before[-1] + 1, begin) if before else range(0)
    return any(i in between for i in content) or any(draft.words[i].text in PARTING for i in between)


def _states_enough(draft: Text, first: int, last: int) -> bool:
    return sum(word.word or word.number for word in draft.words[first:last]) >= LEAST_STATEMENT


def _is_foreign(draft: Text, first: int, last: int, matter: Collection[str]) -> bool:
    """Whether at most half of what tokens say is the matter's."""
    said = [
        word for word in draft.words[first:last] if word.number or (word.content and word.lower not in exchange_words())
    ]
    named = [word for word in said if word.number or word.stem in matter]
    return 2 * len(named) <= len(said)


def behind_foreign_lead(draft: Text, first: int, last: int, matter: Collection[str]) -> int | None:
    """The token behind a leading clause that a colon or dash ends and that speaks of something else than the matter, where a statement
    follows."""
    mark = next(
        (i for i in range(first + 1, min(last, first + LONGEST_LEAD)) if draft.words[i].text in APART_ENDS), None
    )
    if mark is None or not _states_enough(draft, mark + 1, last):
        return None
    return mark + 1 if _is_foreign(draft, first, mark, matter) else None


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
    apart = not any(word.stem in matter for word in own)
    return (apart or draft.accented) and only_talks(embed, draft.slice(first, last), apart=apart)
