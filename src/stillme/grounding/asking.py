"""Sentences that ask whether something is so: 'Is parking free? No.' says nothing of the kind, 'Is parking free? Yes.' does."""

from __future__ import annotations

from typing import Final

from stillme.grounding.wrapping import claim_lexicon, denies_assent
from stillme.languages import compiled, word_set
from stillme.text.tokens import Sentence, Text, fold

__all__ = ["asks_in_vain"]

MARKS: Final = frozenset("?？")
CLOSERS: Final = frozenset("\"”’»)]'*_`】")
LABEL_REACH: Final = 4
"""A label before a question or an answer, as 'Q:' or 'Câu hỏi 2:', ends within so many tokens."""
REPLY_REACH: Final = 3


def asks_in_vain(text: Text, sentence: Sentence, following: Sentence | None) -> bool:
    """Whether a sentence asks for a yes or a no, and the one behind it does not say yes."""
    end = next(
        (i for i in range(sentence.last - 1, sentence.first, -1) if text.tokens[i] not in CLOSERS), sentence.first
    )
    if text.tokens[end] not in MARKS:
        return False
    names = claim_lexicon().names(_unlabelled(text, sentence))
    if "wants_yes_or_no" not in names or "tells_by_asking" in names:
        return False
    return following is None or not _says_yes(_unlabelled(text, following))


def _says_yes(reply: Text) -> bool:
    last = min(REPLY_REACH, len(reply))
    assents = "assent" in claim_lexicon().names(reply, 0, last)
    return assents and not denies_assent(reply, 0, last) and reply.folded[0] not in _no()


@compiled
def _no() -> frozenset[str]:
    """The words of a no, as somebody types them who leaves accents away."""
    return frozenset(map(fold, word_set("claims", "saying_no")))


def _unlabelled(text: Text, sentence: Sentence) -> Text:
    """A sentence without the label before it, read for itself."""
    reach = range(sentence.first, min(sentence.first + LABEL_REACH, sentence.last))
    first = next((i + 1 for i in reach if text.tokens[i] == ":"), sentence.first)
    first = next((i for i in range(first, sentence.last) if text.tokens[i] not in CLOSERS), sentence.first)
    return Text(text.raw[text.starts[first] : sentence.end])
