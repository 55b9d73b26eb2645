"""Whether a question can be answered as it stands: too broad, a reference that nothing resolves, or one name for several things."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, takewhile
from typing import Final, Literal

from stillme.figures.comparing import agrees
from stillme.figures.quantity import Quantity
from stillme.figures.words import find_quantities
from stillme.grounding.passage import Passage
from stillme.grounding.passage_index import Library
from stillme.grounding.statements import Reading, Statement
from stillme.languages import compiled, load, word_set
from stillme.questions.answers import words_typed
from stillme.questions.side_by_side import Cell, Said, apart, is_beside, picked_cells
from stillme.text.lexicon import Lexicon
from stillme.text.names import Name, capitalised_words, find_names
from stillme.text.sentences import split
from stillme.text.tokens import CONTENT, LOWER, Sentence, Text, Word, fold

__all__ = ["Ambiguity", "Option", "asks_for_several", "find_ambiguity", "find_picked"]

ENOUGH_OF_QUESTION: Final = 0.6
MOST_OPTIONS: Final = 8
LONGEST_TITLE: Final = 2
DEFINED_WITHIN: Final = 8
DEFINING_WORDS: Final = 5
ONE_WORD: Final = 1
KIND_WORDS: Final = 3
"""So many words may stand before a name and say its kind."""
LONGEST_KIND: Final = 6
QUALIFIER: Final = 3
SAYS_WHAT: Final = 2
"""A sentence with so many words of content says what it is about."""


@dataclass(frozen=True, slots=True)
class Option:
    """One of the things a question may mean: how to name it, and the words that tell it from the others."""

    label: str
    parts: tuple[str, ...]
    any_part: bool = False
    """Whether each of the words names it, as those of a description do, and not only all of them together."""

    def named_in(self, text: Text) -> bool:
        """Whether the text names it: the words that tell it from the others stand there."""
        words, parts = (text.lowers, self.parts) if text.accented else (text.folded, tuple(map(fold, self.parts)))
        return bool(parts) and (any if self.any_part else all)(part in words for part in parts)


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
    if "several" in cues:
        return None
    reference = _reference(query) if "reference" in cues and "expletive" not in cues else None
    if reference is None:
        return _one_of(query, _options(query, library, by_reference=False)) or _namesakes(query, conversation, library)
    if any(turn.content() for turn in conversation):
        return None
    meant = _referred_to(reference, query, library, is_pointing="pointing" in cues)
    return meant or _namesakes(query, conversation, library)


def _referred_to(reference: str, query: Text, library: Library, *, is_pointing: bool) -> Ambiguity | None:
    """A pronoun may mean any of several things, or anything where there are no passages."""
    options = _options(query, library, by_reference=True) or (_named_alike(query, library) if is_pointing else ())
    return Ambiguity("reference", options, reference) if options or not library.passages else None


def asks_for_several(query: Text) -> bool:
    """Whether it asks for all of several things, or for the one of them that is first, best or most."""
    return "several" in _lexicon().names(query)


def _one_of(query: Text, options: Sequence[Option]) -> Ambiguity | None:
    """The question may mean any of several things, if there are any."""
    return Ambiguity("options", tuple(options), _shared_word(query, options)) if options else None


def _is_broad(query: Text) -> bool:
    """Whether it asks for everything, and no other sentence of it says what about: 'Please help! When do you open?' does."""
    matches = [match for match in _lexicon().find(query) if match.name == "broad"]
    asking = [match.first for match in matches if query.count_words(match.first, match.last)]
    others = [s for s in split(query) if not any(at in range(s.first, s.last) for at in asking)]
    return bool(asking) and all(len(query.content(s.first, s.last)) < SAYS_WHAT for s in others)


def _names_in(query: Text) -> list[Name]:
    whole = Sentence(0, len(query), 0, len(query.raw))
    return find_names(query, [whole], capitalised_words([query]))


def _reference(query: Text) -> str | None:
    """The pronoun that nothing in the question resolves: no name, and no noun phrase before it."""
    match = _lexicon().first(query, "reference")
    if match is None or _names_in(query):
        return None
    if query.has_any(word_set("ambiguity", "determiners"), 0, match.first) or len(query.content(0, match.first)) >= 2:
        return None
    return query.slice(match.first, match.last) if query.words[match.last - 1].word else query.words[match.first].text


def find_picked(query: Text, conversation: Sequence[Text], draft: Statement, library: Library) -> Ambiguity | None:
    """Which of several things the draft picks by its figures, although neither the question nor a turn before it names one."""
    cues = _lexicon().names(query)
    asked = draft.quantities and find_quantities(query, draft.reading.language)
    if "several" in cues or not draft.quantities or (asked and "reference" not in cues):
        return None
    options = tuple(_cell_option(cell, label) for cell, label in picked_cells(query, conversation, draft, library))
    return _one_of(query, tuple(dict.fromkeys(options))) or _picked_namesake(query, conversation, draft, library)


def _cell_option(cell: Cell, label: Said) -> Option:
    """The thing that a figure is given for."""
    words = cell.text.words
    first = next((i for i in cell.tokens if words[i].stem in label.words), cell.tokens[0])
    return Option(cell.text.slice(first, cell.tokens[-1] + 1), label.lowers)


# several things of one kind


def _options(query: Text, library: Library, *, by_reference: bool) -> tuple[Option, ...]:
    """Things of one kind of which the passages say what the question asks, when the question names none of them."""
    asked, kinds = _question_stems(query, library), _kinds(query)
    found: dict[tuple[str, ...], Option] = {}
    stating: dict[tuple[str, ...], Statement] = {}
    heads: dict[str, set[tuple[str, ...]]] = {}
    for statement, subject in _subjects(library, asked, by_reference):
        head, option = _head_and_option(statement, subject, asked, kinds, by_reference)
        if option is not None:
            found.setdefault(option.parts, option)
            stating.setdefault(option.parts, statement)
            heads.setdefault(head, set()).add(option.parts)
    family = max(heads.values(), key=len, default=set())
    options = [o for parts, o in found.items() if parts in family]
    if len(options) < 2 or any(o.named_in(query) for o in options) or _asks_for_all(query, heads):
        return ()
    statements = [stating[option.parts] for option in options]
    if _agree(statements) or _tell_apart(query, statements):
        return ()
    if not by_reference and not _speaks_of_kind(asked, heads, library):
        return ()
    return tuple(options[:MOST_OPTIONS])


def _agree(statements: Sequence[Statement]) -> bool:
    """Whether all of them state the same figures, so that it is the same which of them is meant."""
    first, *others = ([q for q in s.quantities if q.dimension != "label"] for s in statements)
    return first != [] and all(_same_figures(first, other) and _same_figures(other, first) for other in others)


def _tell_apart(query: Text, statements: Sequence[Statement]) -> bool:
    """Whether a figure of the question is said of some of the things and not of the others: 'the course on Wednesday'."""
    asked = find_quantities(query, statements[0].reading.language)
    said = [[any(agrees(q, other) for other in s.quantities) for s in statements] for q in asked]
    return any(any(row) and not all(row) for row in said)


def _same_figures(some: Sequence[Quantity], others: Sequence[Quantity]) -> bool:
    return all(any(agrees(one, other) for other in others) for one in some)


def _subjects(library: Library, asked: set[str], by_reference: bool) -> Iterator[tuple[Statement, Name]]:
    """The statements that say enough of the question, each with the name that opens it."""
    wanted = (asked - library.shared.titled) or asked
    for place, count in _places(library, wanted, by_reference):
        passage, statement = library.places[place]
        is_asked = count >= ENOUGH_OF_QUESTION * len(wanted) or _completes(library, passage, statement, wanted)
        subject = _subject(statement) if is_asked or not count else None
        if subject is not None and subject.first not in statement.figured:
            yield statement, subject


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


def _question_stems(query: Text, library: Library) -> set[str]:
    """The stems of the question's content; of Vietnamese typed without accents, those that the passages have with them."""
    stems = {word.stem for word in query.content() if word.lower not in word_set("ambiguity", "addressed")}
    if query.accented:
        return stems
    meant = library.shared.typed_as(words_typed(query))
    return {*meant, *(stems & library.index.keys())} if meant else stems


def _kinds(query: Text) -> set[str]:
    """What the question calls the thing it asks about: the noun behind an article, 'plan' of 'the mobile plan'."""
    determiners = word_set("ambiguity", "determiners")
    places = [i for i, lower in enumerate(query.lowers) if lower in determiners]
    nouns = (takewhile(CONTENT, query.words[i + 1 : i + 5]) for i in places)
    return set(map(LOWER, chain.from_iterable(nouns)))


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
    if start != first or start + 1 >= statement.last:
        return None
    opening, follows = text.words[start : start + 2]
    is_name = opening.capital and not opening.stop and follows.content
    return Name(start, start + 1, (opening.folded,)) if is_name else None


def _named_alike(query: Text, library: Library) -> tuple[Option, ...]:
    """What 'that one' may point at where nothing was said before: names beside one word that open statements, as in 'the Flex plan'."""
    families: dict[str, dict[tuple[str, ...], Option]] = {}
    for _, statement in library.places:
        subject = _subject(statement)
        for head, option in _of_kinds(statement, subject) if subject else ():
            families.setdefault(head, {}).setdefault(option.parts, option)
    family = max((tuple(own.values()) for own in families.values()), key=len, default=())
    return family[:MOST_OPTIONS] if len(family) > 1 and not any(option.named_in(query) for option in family) else ()


def _of_kinds(statement: Statement, subject: Name) -> Iterator[tuple[str, Option]]:
    """What the subject is, told by the word behind it, before it or at its beginning, and the subject with its number."""
    text, words = statement.reading.text, statement.reading.text.words
    last = next((q.last for q in statement.quantities if q.first < subject.last <= q.last), subject.last)
    for head in (last, statement.first):
        first, end = min(head, subject.first), max(last, head + 1)
        parts = tuple(text.lowers[i] for i in range(subject.first, last) if i != head)
        if parts and head < statement.last and words[head].content and words[head].word:
            is_beside = end - first <= LONGEST_KIND
            yield words[head].stem, Option(text.slice(*((first, end) if is_beside else (subject.first, last))), parts)


def _head_and_option(
    statement: Statement, subject: Name, asked: set[str], kinds: set[str], by_reference: bool
) -> tuple[str, Option | None]:
    """The kind of thing the subject is ('plan' of 'the Starter plan'), and what tells it from others."""
    text, words, last = statement.reading.text, statement.reading.text.words, subject.last
    inside = [i for i in range(subject.first, last) if words[i].word or words[i].number]
    if by_reference:
        return "", Option(text.slice(subject.first, last), tuple(words[i].lower for i in inside))
    head: int | None
    if last < statement.last and words[last].lower in kinds and not words[last].capital:
        head, last = last, last + 1
    else:
        head = _head_of_name(statement, subject, inside, asked)
    parts = tuple(words[i].lower for i in inside if i != head)
    if head is None or not parts:
        return "", None
    return words[head].stem, Option(text.slice(subject.first, last), parts)


def _head_of_name(statement: Statement, subject: Name, inside: Sequence[int], asked: set[str]) -> int | None:
    """The word of a name, or before it, that the question uses; else its first word, where it has several."""
    words = statement.reading.text.words
    before = range(statement.first, subject.first)
    own = inside[0] if len(inside) > 1 else None
    return next((i for i in chain(inside, before) if words[i].stem in asked), own)


def _asks_for_all(query: Text, heads: dict[str, set[tuple[str, ...]]]) -> bool:
    """'How much do the plans cost?' asks for all of them, 'which plan' and 'gói nào' for the one that fits."""
    kinds = [i for i, word in enumerate(query.words) if word.stem in heads]
    return any(_is_plural(query.words[i]) or _is_asked_which(query, i) for i in kinds)


def _is_plural(word: Word) -> bool:
    return word.lower.endswith("s") and word.stem != word.lower


def _is_asked_which(query: Text, at: int) -> bool:
    """Whether 'which' stands before a noun, or a word such as 'nào' soon behind it."""
    asking = word_set("ambiguity", "asking")
    return query.has_any(asking, max(0, at - 1), at) or query.has_any(asking, at + 1, at + 3)


def _shared_word(query: Text, options: Sequence[Option]) -> str:
    labels = {part for o in options for part in Text(o.label).folded}
    return next((w.text for w in query.words if w.content and w.folded in labels), "")


# one name for several things


def _namesakes(query: Text, conversation: Sequence[Text], library: Library) -> Ambiguity | None:
    """A name of the question that two sources give to different things, when nothing else in the question tells which."""
    if len(library.passages) < 2:
        return None
    for name in _names_in(query):
        things = _things(name, library)
        is_open = len({p.source_id for p, _ in things}) > 1
        if is_open and not _is_told_which(query, name, conversation, things, library):
            return Ambiguity("namesakes", _described_options(name, things, library), query.slice(name.first, name.last))
    return None


def _described_options(name: Name, things: Sequence[tuple[Passage, Said]], library: Library) -> tuple[Option, ...]:
    """Each of the things by what is said of it alone."""
    labels = apart([said for _, said in things])
    found = (
        Option(_label(passage, _reading(library, passage), name, " ".join(said.lowers)), label.lowers, any_part=True)
        for (passage, said), label in zip(things, labels, strict=True)
    )
    return tuple(dict.fromkeys(found))[:MOST_OPTIONS]


def _things(name: Name, library: Library) -> list[tuple[Passage, Said]]:
    """The passages that say what the name is, if at least two of them say that it is something else."""
    read = zip(library.passages, library.readings, strict=True)
    holders = [(p, said) for p, reading in read if (said := _described(p, reading, name)).words]
    for n, (passage, said) in enumerate(holders):
        others = [(p, d) for p, d in holders[n + 1 :] if _are_different(said, d)]
        if others:
            return [(passage, said), *others]
    return []


def _are_different(one: Said, other: Said) -> bool:
    """Whether two descriptions have nothing in common, or are of two places of one kind."""
    shared = one.shared(other)
    if one.placed or other.placed:
        return one.placed and other.placed and 0 < shared < min(len(one.words), len(other.words))
    return shared == 0


def _is_told_which(
    query: Text,
    name: Name,
    conversation: Sequence[Text],
    things: Sequence[tuple[Passage, Said]],
    library: Library,
    spare: int = 0,
) -> bool:
    """Whether one of the passages has more of the other words of the question, or a turn tells which of the things is meant."""
    said_of_all = _taken_in(query, [_reading(library, p) for p, _ in things])
    left_out = said_of_all.union(range(name.first, name.last), _asked_kind(query))
    rest = Said.by(query, [i for i in range(len(query)) if i not in left_out])
    shared = [rest.shared(_all_said(passage)) for passage, _ in things]
    if max(shared) - min(shared) > spare:
        return True
    labels = apart([said for _, said in things])
    turns = [rest, *(Said.by(turn, range(len(turn))) for turn in conversation)]
    return any(label.shared(turn) for label in labels for turn in turns)


def _all_said(passage: Passage) -> Said:
    """What a passage says, its title included."""
    text, heading = passage.text, passage.heading
    return Said.by(text, range(len(text))).joined([Said.by(heading, range(len(heading)))])


def _asked_kind(query: Text) -> Iterator[int]:
    """The tokens beside a word that asks, as 'days' of 'which days': they say what the answer is, not what it is about."""
    asking = word_set("ambiguity", "asking")
    return (at for i, lower in enumerate(query.lowers) if lower in asking for at in (i - 1, i + 1))


def _taken_in(query: Text, readings: Sequence[Reading]) -> frozenset[int]:
    """The tokens of figures of the question that every reading states, or takes in as 'Monday to Friday' does a Tuesday."""
    asked = find_quantities(query, readings[0].language)
    common = (q for q in asked if all(_takes_in(reading, q) for reading in readings))
    return frozenset(i for q in common for i in range(q.first, q.last))


def _takes_in(reading: Reading, asked: Quantity) -> bool:
    """Whether a text states a figure, or two of its kind, joined to a range, between which it lies."""
    if any(agrees(asked, q) for q in reading.quantities):
        return True
    joints, lowers = word_set("numbers", "ranges"), reading.text.lowers
    return any(
        one.dimension == other.dimension == asked.dimension
        and not joints.isdisjoint(lowers[one.last : other.first])
        and one.values < asked.values < other.values
        for one, other in pairwise(reading.quantities)
        if other.first - one.last == 1
    )


def _picked_namesake(query: Text, conversation: Sequence[Text], draft: Statement, library: Library) -> Ambiguity | None:
    """A name of the question that two sources give to different things, each with a figure of the kind that the draft states."""
    for name in _names_in(query):
        things = [(p, said) for p, said in _things(name, library) if _has_kind(draft, library, p)]
        is_open = len({p.source_id for p, _ in things}) > 1
        if is_open and not _is_told_which(query, name, conversation, things, library, ONE_WORD):
            return Ambiguity("namesakes", _described_options(name, things, library), query.slice(name.first, name.last))
    return None


def _has_kind(draft: Statement, library: Library, passage: Passage) -> bool:
    """Whether a passage states a figure of the draft, or another of its kind."""
    stated = _reading(library, passage).quantities
    return any(agrees(q, other) or is_beside(q, other) for q in draft.quantities for other in stated)


def _described(passage: Passage, reading: Reading, name: Name) -> Said:
    """What a passage says the name is: the qualifier of its title, the words of its definition, or the rest of a longer name."""
    qualifier = _qualifier(passage.heading, name)
    if qualifier:
        return Said.by(passage.heading, qualifier)
    told = (_defined(passage.text, sentence, name) for sentence in passage.sentences[:2])
    return next((said for said in told if said.words), _said_longer(reading, name))


def _said_longer(reading: Reading, name: Name) -> Said:
    """What stands before it in the one longer name that ends with it, if that is no title: 'Anna' of 'Anna Weber'."""
    own = _longer(reading, name)
    before = range(own.first, own.last - len(name.parts)) if own else range(0)
    is_person = bool(before) and reading.text.lowers[before[0]] in word_set("names", "surnames")
    is_title = any(reading.concepts[i] for i in before) and not is_person
    return Said({}) if is_title else Said.by(reading.text, before)


def _longer(reading: Reading, name: Name) -> Name | None:
    """The one longer name that ends with it."""
    found = [n for s in reading.statements for n in s.names if n.parts[-len(name.parts) :] == name.parts]
    longer = {n.parts: n for n in found if len(n.parts) > len(name.parts)}
    return next(iter(longer.values())) if len(longer) == 1 else None


def _defined(text: Text, sentence: Sentence, name: Name) -> Said:
    """What a sentence that opens with the name says it is, or where."""
    start = sentence.first + (text.words[sentence.first].lower in word_set("ambiguity", "determiners"))
    behind = next((i + len(name.parts) for i in range(start, start + KIND_WORDS) if _stands_at(text, i, name)), 0)
    if not behind:
        return Said({})
    found = [m for m in _lexicon().find(text, behind, sentence.last) if m.name in ("definition", "placed")]
    match = min(found, key=lambda m: m.first, default=None)
    if match is None or match.first - behind > DEFINED_WITHIN:
        return Said({})
    content = [i for i in range(match.last, sentence.last) if text.words[i].content]
    return Said.by(text, content[:DEFINING_WORDS], placed=match.name == "placed")


def _stands_at(text: Text, at: int, name: Name) -> bool:
    return tuple(text.folded[at : at + len(name.parts)]) == name.parts


def _qualifier(heading: Text, name: Name) -> range:
    """The tokens of 'Illinois' in 'Springfield, Illinois', of 'planet' in 'Mercury (planet)'."""
    size = len(name.parts)
    behind = next((i + size for i in range(LONGEST_KIND) if _stands_at(heading, i, name)), 0)
    if not behind or len(heading) <= behind + 1 or heading.words[behind].text not in ",(":
        return range(0)
    return range(behind + 1, min(behind + 1 + QUALIFIER, len(heading)))


def _label(passage: Passage, reading: Reading, name: Name, described: str) -> str:
    """How a thing is called: by its title, by its longer name, or by the name and what is said of it."""
    title = (passage.given.title or "").strip()
    if title and _qualifier(passage.heading, name):
        return title
    longer = _longer(reading, name)
    if longer:
        return reading.text.slice(longer.first, longer.last)
    return f"{' '.join(map(str.capitalize, name.parts))} ({described})"


def _reading(library: Library, passage: Passage) -> Reading:
    return library.readings[library.passages.index(passage)]
