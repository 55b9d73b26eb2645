"""What a model is given to read: the identity, the rules of the layout, and untrusted texts that cannot leave their blocks.

Two things hold each text in its block, one of them enough: its tags carry a code that stands nowhere in the texts, and each of its
lines begins with a sign that no line of ours begins with. Besides, what a chat format would take for its own is written otherwise.
Only the copy in the prompt is changed: what is verified later is the passage as it was found.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from stillme.chat.identity import Identity, inject_identity
from stillme.contract import RetrievedPassage, Turn
from stillme.errors import InputError, shown
from stillme.languages import DEFAULT, compiled, is_served, language_of, languages, load
from stillme.llm.messages import Prompt, PromptMessage
from stillme.questions.answer_language import requested_language
from stillme.storage.knowledge.store import Context
from stillme.text.language import identify
from stillme.text.tokens import Text, fold_text

__all__ = ["PROMPT_VERSION", "build_prompt", "build_prompt_context", "neutralised"]

MOST_TURNS: Final = 12
MOST_CHARACTERS: Final = 6_000
GUTTER: Final = "| "
CODE_DIGITS: Final = 16
REACH_OF_A_CUT: Final = 80
UNSERVED: Final = ("auto", "other", "unknown")
SPEAKERS: Final = ("user", "assistant", "earlier")

OTHER_LINE_ENDS: Final = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
OTHER_SPACES: Final = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
# Control, zero-width, bidirectional and private characters, halves of characters, and letters that look like nothing.
UNSEEN: Final = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u2800\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
PICTURE_OF_NUL: Final = 0x2400
PICTURE_OF_DELETE: Final = "\u2421"
EMOJI_STYLE: Final = "\ufe0f"
# The signs and their wide and small forms, which some model servers take for the same. A less-than sign before a figure stays.
OPENING: Final = re.compile(r"<(?![ \t]{0,8}[\d=])|[＜﹤]")
CLOSING: Final = re.compile(r"(?<=[\w|｜/\"'>\]-])>(?![ \t]{0,8}[\d=])|[＞﹥]")
BRACKETED: Final = re.compile(r"[\[［【]([^\[\]［］【】\n]{1,60}+)[\]］】]")
CAPITALS: Final = re.compile(r"\s*+/?+\s*+[A-Za-z][A-Z][A-Z_ -]*+")
NUMBERED: Final = re.compile(r"[\w \t^#:.,;&–—-]++")
LETTERS: Final = re.compile(r"[^\W\d_]++")
ROLE_IN_JSON: Final = re.compile(
    r"(\brole[\"']?+[ \t]{0,8}+[:=][ \t]{0,8}+[\"']?+)(system|developer|assistant|user|tool)\b", re.IGNORECASE
)
ROLE_IN_CAPITALS: Final = re.compile(r"\b(SYSTEM|DEVELOPER|ASSISTANT|USER|HUMAN)(?=[ \t]{0,8}[:：])")


def _layout() -> str:
    patterns = [p.pattern for p in (UNSEEN, OPENING, CLOSING, BRACKETED, CAPITALS, ROLE_IN_JSON, ROLE_IN_CAPITALS)]
    return json.dumps(
        [{each.code: each.rules("prompt") for each in languages()}, patterns, GUTTER, "layout/1"], sort_keys=True
    )


PROMPT_VERSION: Final = hashlib.sha256(_layout().encode()).hexdigest()[:8]


def build_prompt(
    question: str,
    context_passages: Sequence[RetrievedPassage],
    conversation: Sequence[Turn] = (),
    language: str = "auto",
    identity: Identity | str | None = None,
    *,
    most_turns: int = MOST_TURNS,
    most_characters: int = MOST_CHARACTERS,
) -> Prompt:
    """The prompt for a question: the same request gives the same prompt, and `[n]` is the n-th of the passages.

    Of the conversation the latest turns are kept, within both bounds; what is left out is said. A turn of the role "earlier" is
    something said before that touches on the question.
    """
    if not question.strip():
        raise InputError(f"the question is blank ({shown(question)}): send the user's question")
    spoken = _language(question, conversation, language)
    kept = _Kept(conversation, most_turns, most_characters)
    words = _words(spoken)
    blocks = [*_sources(context_passages, words), *_conversation_block(kept, words)]
    asked = _PromptBlock("question", [_quoted(question, keeps_numbers=True)])
    ending = words["ask"].format(language=words["named" if is_served(spoken) else "unnamed"])
    rules = inject_identity(words["reading"], language=spoken, identity=identity)
    messages = (
        PromptMessage("system", rules),
        PromptMessage("user", f"{_written([*blocks, asked], words)}\n\n{ending}"),
    )
    return Prompt(question, messages, tuple(context_passages), kept.turns, language_of(spoken).code)


def build_prompt_context(context: Context, language: str = DEFAULT) -> str:
    """What was retrieved, as a prompt may hold it: numbered blocks, and what was said before in a block of its own."""
    words = _words(language)
    turns = [Turn(role="earlier", content=found.chunk.text) for found in context.conversation_docs]
    earlier = _conversation_block(_Kept(turns, MOST_TURNS, MOST_CHARACTERS), words)
    return _written([*_sources(context.passages, words), *earlier], words)


def _words(language: str) -> dict[str, str]:
    words: dict[str, str] = language_of(language).rules("prompt")["layout"]
    return words


def _language(question: str, conversation: Sequence[Turn], language: str) -> str:
    """The language to answer in: the one that is asked for, the given one, the question's, that of the latest turn that tells."""
    if language not in UNSERVED and not is_served(language):
        choices = ", ".join((UNSERVED[0], *(each.code for each in languages()), *UNSERVED[1:]))
        raise InputError(f"language must be one of {choices}, got {shown(language)}")
    query = Text(question)
    told = requested_language(query) or (language if language == "other" or is_served(language) else identify(query))
    if told != "unknown":
        return told
    latest = reversed(conversation[-MOST_TURNS:])
    return next((found for turn in latest if is_served(found := identify(Text(turn.content)))), "unknown")


# blocks


class _PromptBlock:
    """Lines between two tags, ours or quoted; `head` stands before the first tag."""

    def __init__(self, name: str, parts: Iterable[str], head: str = "") -> None:
        self.name, self.head = name, head
        self.text = "\n".join(parts)

    def with_code(self, code: str) -> str:
        """The block between tags that carry the code."""
        return f"{self.head}<{self.name}-{code}>\n{self.text}\n</{self.name}-{code}>"


def _written(blocks: Sequence[_PromptBlock], words: dict[str, str]) -> str:
    code = _code([block.text for block in blocks])
    shown_blocks = [block.with_code(code) for block in blocks]
    if not any(block.name == "source" for block in blocks):
        shown_blocks.insert(0, words["no_sources"])
    return "\n\n".join([words["boundary"].format(code=code), *shown_blocks])


def _code(texts: Sequence[str]) -> str:
    """Sixteen digits that follow from the texts and stand in none of them."""
    whole = "\0".join(texts)
    code = hashlib.sha256(whole.encode()).hexdigest()[:CODE_DIGITS]
    lowered = whole.lower()
    while code in lowered:  # nobody can aim at this, but a text may be unlucky
        code = hashlib.sha256(f"{code}\0{whole}".encode()).hexdigest()[:CODE_DIGITS]
    return code


def _sources(passages: Sequence[RetrievedPassage], words: dict[str, str]) -> list[_PromptBlock]:
    """A block for each passage that says something, under the number that citations and verification give it."""
    return [
        _PromptBlock("source", _source_lines(p, words), head=f"[{n}]\n")
        for n, p in enumerate(passages, 1)
        if p.text.strip()
    ]


def _source_lines(passage: RetrievedPassage, words: dict[str, str]) -> list[str]:
    about = [(words[name], getattr(passage, name)) for name in ("title", "url", "timestamp")]
    head = [f"{GUTTER}{label}: {_one_line(value)}" for label, value in about if value and value.strip()]
    return [*head, f"{GUTTER}{words['text']}:", _quoted(passage.text)]


def _conversation_block(kept: _Kept, words: dict[str, str]) -> list[_PromptBlock]:
    parts: list[str] = []
    if kept.dropped:
        parts.append(words["dropped"].format(count=kept.dropped))
    for turn, text in zip(kept.turns, kept.texts, strict=True):
        parts += [words[turn.role if turn.role in SPEAKERS else "other"], _quoted(text)]
        if len(text) < len(turn.content):
            parts.append(words["cut"].format(count=len(turn.content) - len(text)))
    return [_PromptBlock("conversation", parts)] if parts else []


def _quoted(text: str, *, keeps_numbers: bool = False) -> str:
    """A text behind the sign that no line of ours begins with."""
    lines = neutralised(text, keeps_numbers=keeps_numbers).strip("\n").split("\n")
    return "\n".join(f"{GUTTER}{line}".rstrip() for line in lines)


def _one_line(text: str) -> str:
    return " ".join(neutralised(text).split())


class _Kept:
    """The latest turns of a conversation, oldest first, within a number of turns and of characters; the rest is counted."""

    def __init__(self, conversation: Sequence[Turn], most_turns: int, most_characters: int) -> None:
        if most_turns < 0 or most_characters < 0:
            raise InputError(f"most_turns and most_characters are at least 0, got {most_turns} and {most_characters}")
        spoken = [turn for turn in conversation if turn.content.strip()]
        turns: list[Turn] = []
        texts: list[str] = []
        left = most_characters
        for turn in reversed(spoken[len(spoken) - min(most_turns, len(spoken)) :]):
            text = turn.content if len(turn.content) <= left else "" if turns else _cut(turn.content, left)
            if not text:
                break
            turns.append(turn)
            texts.append(text)
            left = left - len(text) if len(text) == len(turn.content) else 0
        self.turns, self.texts = tuple(reversed(turns)), texts[::-1]
        self.dropped = len(spoken) - len(turns)


def _cut(text: str, most: int) -> str:
    """The beginning of a text, up to the last white space before the bound where there is one near it."""
    head = text[:most]
    near = max(head.rfind(space, max(0, most - REACH_OF_A_CUT)) for space in " \n")
    return head[:near] if near > 0 else head


# untrusted text


def neutralised(text: str, *, keeps_numbers: bool = False) -> str:
    """The text with what cannot be seen, what opens a tag or a role, and what looks like a source number written otherwise, visibly.

    `keeps_numbers` leaves bracketed numbers as they are: a user may ask about [2].
    """
    plain = OTHER_SPACES.sub(" ", OTHER_LINE_ENDS.sub("\n", text))
    seen = UNSEEN.sub(_picture, plain)
    untagged = CLOSING.sub("›", OPENING.sub("‹", seen))
    unnumbered = BRACKETED.sub(_unbracketed_token if keeps_numbers else _unbracketed, untagged)
    marked = _role_line().sub(_marked_role, unnumbered)
    return ROLE_IN_CAPITALS.sub(r"‹\1›", ROLE_IN_JSON.sub(r"\1‹\2›", marked))


def _picture(match: re.Match[str]) -> str:
    """A sign that stands for a character that cannot be seen; the one that makes an emoji of a symbol stays."""
    character, start = match.group(), match.start()
    if character < " ":
        return chr(PICTURE_OF_NUL + ord(character))
    if character == "\x7f":
        return PICTURE_OF_DELETE
    if character == EMOJI_STYLE and start and unicodedata.category(match.string[start - 1]) == "So":
        return character
    return "\ufffd"


def _marked_role(match: re.Match[str]) -> str:
    before, words = match.group(1) or match.group(3) or "", match.group(2) or match.group(4)
    return f"{before}‹{words}›"


def _unbracketed(match: re.Match[str]) -> str:
    inner = match.group(1)
    return f"⟦{inner}⟧" if _numbers_a_source(inner) else _unbracketed_token(match)


def _unbracketed_token(match: re.Match[str]) -> str:
    inner = match.group(1)
    named = fold_text(inner).strip(" \t/").replace("_", " ")
    return f"⟦{inner}⟧" if CAPITALS.fullmatch(inner) or named in _role_words() else match.group()


def _numbers_a_source(inner: str) -> bool:
    """1, 1-3, ^2, #4, '1 and 2', 'Source 2', 'Source: 3', '1†source'."""
    figures = fold_text(inner.partition("†")[0])
    if not NUMBERED.fullmatch(figures) or not any(c.isdigit() for c in figures):
        return False
    return all(word in _source_words() for word in LETTERS.findall(figures))


@compiled
def _source_words() -> frozenset[str]:
    rules = load("prompt")
    return frozenset(part for word in (*rules["sources"], *rules["joining"]) for part in fold_text(word).split())


@compiled
def _role_words() -> frozenset[str]:
    return frozenset({"inst", *map(fold_text, load("prompt")["roles"])})


@compiled
def _role_line() -> re.Pattern[str]:
    """A line that opens like a speaker's or a source's: the words, then a colon or the end of the line."""
    rules = load("prompt")
    number = r"[ \t]{0,8}+[#:]?+[ \t]{0,8}+\d{1,6}+"
    spoken = rf"[^\w\n]*+)((?:{_spellings(rules['sources'])}){number}|{_spellings(rules['roles'])}"
    headed = rf"[^\w\n#]*+#[^\w\n]*+)({_spellings(rules['headings'])}"
    behind = r"(?!\w)(?=[^\w\n:：]{0,40}+(?:[:：]|$))"
    return re.compile(rf"^(?:({spoken})|({headed})){behind}", re.IGNORECASE | re.MULTILINE)


def _spellings(written: list[str]) -> str:
    """The words as alternatives, longest first: as written, in decomposed letters, and without accents."""
    words = set(written)
    every = words | {unicodedata.normalize("NFD", word) for word in words} | {fold_text(word) for word in words}
    ordered = sorted(every, key=lambda word: (-len(word), word))
    return "|".join(r"[ \t_]{1,4}+".join(map(re.escape, word.split())) for word in ordered)
