"""Whether a sentence or a clause only talks, by the classifier."""

from __future__ import annotations

from stillme.grounding.similarity import Embed
from stillme.models.talk import talk_model

__all__ = ["only_talks"]


def only_talks(embed: Embed, text: str, apart: bool) -> bool:
    """Whether a text greets, thanks, offers help or speaks about the answer, and states nothing.

    `apart`: it shares no word with the question and the sources, which is a sign of talk by itself.
    """
    model = talk_model()
    return model.score(text, embed) >= (model.apart_at if apart else model.talk_at)
