"""Whether a sentence or a clause only talks, by the classifier."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from stillme.grounding.similarity import Embed
from stillme.models.talk import talk_model
from stillme.text.tokens import Sentence, Text

__all__ = ["is_remark", "only_talks"]

LONGEST_REMARK: Final = 40


def only_talks(embed: Embed, text: str, apart: bool) -> bool:
    """Whether a text greets, thanks, offers help or speaks about the answer, and states nothing.

    `apart`: it shares no word with the question and the sources, which is a sign of talk by itself.
    """
    model = talk_model()
    return model.score(text, embed) >= (model.apart_at if apart else model.talk_at)


def is_remark(embed: Embed, draft: Text, sentence: Sentence, matter: Collection[str]) -> bool:
    """Whether a sentence is as likely talk as a statement, and no part of the answer: it counts nothing and says little of the matter.

    That is too little to let it pass unchecked, and enough to leave it out.
    """
    words = draft.words[sentence.first : sentence.last]
    if len(words) > LONGEST_REMARK or any(word.number for word in words):
        return False
    content = [word.stem for word in words if word.content]
    named = [stem for stem in content if stem in matter]
    if 2 * len(named) > len(content):
        return False
    model = talk_model()
    return model.score(draft.slice(sentence.first, sentence.last), embed) >= (
        model.apart_at if named and not draft.accented else model.remark_at
    )
