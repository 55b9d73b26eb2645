"""Whether a question can be answered as it stands: too broad, a reference that nothing resolves, or one name for several things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from stillme.grounding.passage import Passage
from stillme.grounding.passage_index import Library
from stillme.grounding.statements import Statement
from stillme.languages import compiled, load, word_rules, word_set
from stillme.text.lexicon import Lexicon
from stillme.text.names import Name, capitalised_words, find_names
from stillme.text.sentences import split
from stillme.text.tokens import Sentence, Text, fold

__all__ = ["Ambiguity", "Option", "find_ambiguity"]

ENOUGH_OF_QUESTION: Final = 0.6
MOST_OPTIONS: Final = 8
LONGEST_TITLE: Final = 2
SAYS_WHAT: Final = 2
"""A sentence with so many words of content says what it is about."""


@dataclass(frozen=True, slots=True)
class Option:
    """One of the things a question may mean: how to name it, and the words that tell it from the others."""

    label: str
    parts: tuple[str, ...]

    def named_in(self, text: Text) -> bool:
        """Whether the text names it: all the words that tell it from the others stand there."""
        words, parts = (text.lowers, self.parts) if text.accented else (text.folded, tuple(map(fold, self.parts)))
        return all(part in words for part in parts)


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """Why the question cannot be answered as it stands, and what it may mean."""

    kind: Literal["broad", "reference", "options", "namesakes", "readings"]
    options: tuple[Option, ...] = ()
    word: str = ""
    """The word of the question that could be any of the options."""


@compiled
def _lexicon() -> Lexicon:
    return Lexicon(load("ambiguity")["lists"])


def find_ambiguity(query: Text, conversation: Sequence[Text], library: Library) -> Ambiguity | None:
    """Why the question cannot be answered as it stands, if so."""
    cues = _lexicon().names(query)
    if "broad" in cues and not conversation and _is_broad(query) and not _names_in(query):
        return Ambiguity("broad")
    reference = _reference(query) if "reference" in cues and "expletive" not in cues else None
    if reference is not None and _mentions(conversation):
        return None
    if "several" in cues:
        return None
    options = _options(query, library, reference is not None)
    if options:
        word = reference or _shared_word(query, options)
        return Ambiguity("options" if reference is None else "reference", options, word)
    if reference is not None and not library.passages:
        return Ambiguity("reference", (), reference)
    return _namesakes(query, library.passages)


def _is_broad(query: Text) -> bool:
    """Whether it asks for everything, and no other sentence of it says what about: 'Please help! When do you open?' does."""
    matches = [
        m for m in _lexicon().find(query) if m.name == "broad" and any(w.word for w in query.words[m.first : m.last])
    ]
    others = [s for s in split(query) if not any(s.first <= m.first < s.last for m in matches)]
    return bool(matches) and all(sum(w.content for w in query.words[s.first : s.last]) < SAYS_WHAT for s in others)


def _names_in(query: Text) -> list[Name]:
    whole = Sentence(0, len(query), 0, len(query.raw))
    return find_names(query, [whole], capitalised_words([query]))


def _mentions(conversation: Sequence[Text]) -> bool:
    return any(any(w.content for w in turn.words) for turn in conversation)


def _reference(query: Text) -> str | None:
    """The pronoun that nothing in the question resolves: no name, and no noun phrase before it."""
    match = _lexicon().first(query, "reference")
    if match is None or _names_in(query):
        return None
    before = query.words[: match.first]
    if any(w.lower in word_set("ambiguity", "determiners") for w in before) or sum(w.content for w in before) >= 2:
        return None
    return query.slice(match.first, match.last) if query.words[match.last - 1].word else query.words[match.first].text


# several things of one kind


def _options(query: Text, library: Library, by_reference: bool) -> tuple[Option, ...]:
    """Things of one kind of which the passages say what the question asks, when the question names none of them."""
    asked = _asked(query, library)
    wanted = (asked - library.shared.titled) or asked
    kinds = _kinds(query)
    found: dict[tuple[str, ...], Option] = {}
    heads: dict[str, set[tuple[str, ...]]] = {}
    for place, count in _places(library, wanted, by_reference):
        passage, statement = library.places[place]
        is_asked = count >= ENOUGH_OF_QUESTION * len(wanted) or _completes(library, passage, statement, wanted)
        subject = _subject(statement) if is_asked or not count else None
        if subject is None or subject.first in statement.figured:
            continue
        head, option = _head_and_option(statement, subject, asked, kinds, by_reference)
        if option is not None:
            found.setdefault(option.parts, option)
            heads.setdefault(head, set()).add(option.parts)
    family = max(heads.values(), key=len, default=set())
    options = [o for parts, o in found.items() if parts in family]
    if len(options) < 2 or any(o.named_in(query) for o in options) or _asks_for_all(query, heads):
        return ()
    if not by_reference and not _speaks_of_kind(asked, heads, library):
        return ()
    return tuple(options[:MOST_OPTIONS])


def _places(library: Library, wanted: set[str], by_reference: bool) -> list[tuple[int, int]]:
    """Where statements stand that share words with the question, and how many; all of them where only a pronoun is asked about."""
    sharing = library.sharing(wanted)
    if by_reference and not sharing:
        return [(place, 0) for place in range(len(library.places))]
    return sorted(sharing.items())


def _completes(library: Library, passage: int, statement: Statement, wanted: set[str]) -> bool:
    """Whether a statement with a figure says the rest of what its passage opens with: 'The Gold ticket costs £410.'"""
    opening = library.readings[passage].statements[:1]
    if not statement.quantities or statement in opening:
        return False
    missing = {stem for stem in wanted - statement.stems if stem in library.index}
    return len(missing) < len(wanted) and all(missing <= first.stems for first in opening)


def _asked(query: Text, library: Library) -> set[str]:
    """The stems of the question's content; of Vietnamese typed without accents, those that the passages have with them."""
    stems = {w.stem for w in query.words if w.content and w.lower not in word_set("ambiguity", "addressed")}
    if query.accented:
        return stems
    typed = {w.folded for w in query.words if w.word and w.folded not in word_rules().stop_folded}
    meant = library.shared.typed_as(typed)
    return {*meant, *(stem for stem in stems if stem in library.index)} if meant else stems


def _kinds(query: Text) -> set[str]:
    """What the question calls the thing it asks about: the noun behind an article, 'plan' of 'the mobile plan'."""
    found: set[str] = set()
    for i, word in enumerate(query.words):
        if word.lower in word_set("ambiguity", "determiners"):
            run = query.words[i + 1 : i + 5]
            length = next((k for k, w in enumerate(run) if not w.content), len(run))
            found.update(w.lower for w in run[:length])
    return found


def _speaks_of_kind(asked: set[str], heads: dict[str, set[tuple[str, ...]]], library: Library) -> bool:
    """Whether the question names the kind of thing: by its own word ('the Pro plan'), or by one that the source has for all of them."""
    family = max(heads, key=lambda head: len(heads[head]))
    if family in asked:
        return True
    said = {stem for _, s in library.places if family in s.stems and s.quantities for stem in s.stems}
    elsewhere = (stem for stem in asked if stem in library.index or stem in library.shared.titled)
    return any(stem not in said for stem in elsewhere)


def _subject(statement: Statement) -> Name | None:
    """The name that opens the statement, behind an article at the most."""
    text, first = statement.reading.text, statement.first
    start = first + 1 if text.words[first].lower in word_set("ambiguity", "determiners") else first
    name = next((n for n in statement.names if n.first - start <= LONGEST_TITLE), None)
    if name is not None:
        return name
    opening = text.words[start] if start < statement.last else None
    follows = text.words[start + 1] if start + 1 < statement.last else None
    if (
        opening is not None
        and opening.capital
        and not opening.stop
        and follows is not None
        and follows.content
        and start == first
    ):
        return Name(start, start + 1, (opening.folded,))
    return None


def _head_and_option(
    statement: Statement, subject: Name, asked: set[str], kinds: set[str], by_reference: bool
) -> tuple[str, Option | None]:
    """The kind of thing the subject is ('plan' of 'the Starter plan'), and what tells it from others."""
    text = statement.reading.text
    words = text.words
    inside = [i for i in range(subject.first, subject.last) if words[i].word or words[i].number]
    last = subject.last
    if by_reference:
        return "", Option(text.slice(subject.first, last), tuple(words[i].lower for i in inside))
    head = next((i for i in inside if words[i].stem in asked), None)
    if last < statement.last and words[last].lower in kinds and not words[last].capital:
        head, last = last, last + 1
    if head is None:  # the kind of thing stands before the name
        head = next((i for i in range(statement.first, subject.first) if words[i].stem in asked), None)
    if head is None and len(inside) < 2:
        return "", None
    head = inside[0] if head is None else head
    parts = tuple(words[i].lower for i in inside if i != head)
    return words[head].stem, Option(text.slice(subject.first, last), parts) if parts else None


def _asks_for_all(query: Text, heads: dict[str, set[tuple[str, ...]]]) -> bool:
    """'How much do the plans cost?' asks for all of them, 'which plan' and 'gói nào' for the one that fits."""
    lowers, asking = query.lowers, word_set("ambiguity", "asking")
    for i, word in enumerate(query.words):
        if word.stem in heads:
            plural = word.lower.endswith("s") and word.stem != word.lower
            if plural or (i and lowers[i - 1] in asking) or not asking.isdisjoint(lowers[i + 1 : i + 3]):
                return True
    return False


def _shared_word(query: Text, options: Sequence[Option]) -> str:
    labels = {part for o in options for part in Text(o.label).folded}
    return next((w.text for w in query.words if w.content and w.folded in labels), "")


# one name for several things


def _namesakes(query: Text, passages: Sequence[Passage]) -> Ambiguity | None:
    """A name of the question that two sources give to different things, when nothing else in the question tells which."""
    if len(passages) < 2:
        return None
    for name in _names_in(query):
        holders = [(p, d) for p in passages if (d := _described(p, name))]
        if len({d for _, d in holders}) < 2 or len({p.source_id for p, _ in holders}) < 2:
            continue
        rest = {w.stem for i, w in enumerate(query.words) if w.content and not name.first <= i < name.last}
        shares = [len(rest & {w.stem for w in p.text.words}) for p, _ in holders]
        if len(set(shares)) == 1:
            options = tuple(dict.fromkeys(Option(_label(p, name, d), tuple(d.split())) for p, d in holders))
            return Ambiguity("namesakes", options[:MOST_OPTIONS], query.slice(name.first, name.last))
    return None


def _described(passage: Passage, name: Name) -> str:
    """What a passage says the name is: the qualifier of its title, or the words of its definition; '' if it does not say."""
    qualifier = _qualifier(passage.heading, name)
    if qualifier:
        return qualifier
    text = passage.text
    for sentence in passage.sentences[:2]:
        size = len(name.parts)
        start = sentence.first + (text.words[sentence.first].lower in word_set("ambiguity", "determiners"))
        if tuple(text.folded[start : start + size]) != name.parts:
            continue
        match = _lexicon().first(text, "definition", start + size, sentence.last)
        if match is not None and match.first - start - size <= 8:
            return " ".join(w.folded for w in text.words[match.last : match.last + 5] if w.content)
    return ""


def _qualifier(heading: Text, name: Name) -> str:
    """'Illinois' of 'Springfield, Illinois'; 'planet' of 'Mercury (planet)'."""
    size = len(name.parts)
    if tuple(heading.folded[:size]) != name.parts or len(heading) <= size + 1 or heading.words[size].text not in ",(":
        return ""
    return " ".join(w.folded for w in heading.words[size + 1 : size + 4] if w.word)


def _label(passage: Passage, name: Name, described: str) -> str:
    title = (passage.given.title or "").strip()
    return (
        title
        if _qualifier(passage.heading, name) and title
        else f"{' '.join(p.capitalize() for p in name.parts)} ({described})"
    )
