"""Figures of one kind that the passages give to several things, of which a draft states one although the question names none.

'A day ticket costs £7 and a weekly ticket £26': what tells the two apart is the label of each; a question that says a word of a
label, in any language, says which is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final
from weakref import WeakKeyDictionary

from stillme.figures.comparing import agrees, rivals
from stillme.figures.filing import Key, filed_under, looked_up_under
from stillme.figures.quantity import Quantity
from stillme.grounding.passage_index import Library
from stillme.grounding.statements import Statement
from stillme.languages import has
from stillme.lazy import lazy
from stillme.text.concepts import text_concepts
from stillme.text.language import identify
from stillme.text.tokens import Text, word_of

__all__ = ["Cell", "Said", "apart", "is_beside", "picked_cells"]

NEIGHBOURS: Final = 3
LONGEST_LABEL: Final = 5
LEAST_SHARED: Final = 1
LEAST_SHARED_APART: Final = 2
MOST_CELLS: Final = 8
MOST_PLACES: Final = 24
EACH: Final = 2
OPENING: Final = 4
KNOWN: Final = frozenset({-1})
UNKNOWN: Final[frozenset[int]] = frozenset()
ANY: Final[Key] = ("any", "")
NAMING: Final = frozenset(("label", "ordinal"))


@dataclass(frozen=True)
class Said:
    """What some tokens say: the stems of their content words, each with its concepts."""

    words: dict[str, frozenset[int]]
    lowers: tuple[str, ...] = ()
    placed: bool = False
    """Whether it says where something is."""

    @classmethod
    def by(cls, text: Text, tokens: Sequence[int], placed: bool = False) -> Said:
        """What the tokens of a text say."""
        concepts, content = text_concepts(text), [i for i in tokens if text.words[i].content]
        words = {text.words[i].stem: frozenset(concepts[i]) for i in content}
        return cls(words, tuple(text.lowers[i] for i in content), placed)

    @lazy
    def concepts(self) -> frozenset[int]:
        """All that its words mean."""
        return frozenset(chain.from_iterable(self.words.values()))

    def without(self, others: Sequence[Said]) -> Said:
        """The words that none of the others says or means."""
        said = frozenset(chain.from_iterable(other.words for other in others))
        meant = frozenset(chain.from_iterable(other.concepts for other in others))
        words = {w: ids for w, ids in self.words.items() if w not in said and meant.isdisjoint(ids)}
        return Said(words, tuple(lower for lower in self.lowers if word_of(lower).stem in words))

    def joined(self, others: Iterable[Said]) -> Said:
        """All that it and the others say."""
        return Said({word: ids for one in (self, *others) for word, ids in one.words.items()})

    def shared(self, other: Said) -> int:
        """How many of its words the other says or means."""
        said, meant = other.words, other.concepts
        return sum(word in said or not meant.isdisjoint(ids) for word, ids in self.words.items())


@dataclass(frozen=True)
class Cell:
    """A figure of a statement, the tokens before it that say what it holds of, and the others that belong to it."""

    statement: Statement
    figure: Quantity
    tokens: tuple[int, ...]
    rest: tuple[int, ...] = ()

    @property
    def text(self) -> Text:
        """The text that it stands in."""
        return self.statement.reading.text

    @lazy
    def said(self) -> Said:
        """What is said before the figure."""
        return Said.by(self.text, self.tokens)

    @property
    def said_around(self) -> Said:
        """What is said before the figure and behind it."""
        return Said.by(self.text, (*self.tokens, *self.rest))


def picked_cells(
    query: Text, conversation: Sequence[Text], draft: Statement, library: Library
) -> list[tuple[Cell, Said]]:
    """Figures side by side of which the draft states some but not all, each with what tells it from the others.

    None where the question, a turn before it or the draft itself says which.
    """
    turns = [Said.by(text, range(len(text))) for text in (query, *conversation, draft.reading.text)]
    stated = _Stated(draft.quantities)
    for cells in _rows_of(library).holding(stated.figures):
        if all(stated.holds(cell.figure) for cell in cells) or not _asks_for(query, draft, cells, library):
            continue
        if not any(_is_told(turn, cells) for turn in turns):
            return list(zip(cells, labels_of(cells), strict=True))
    return []


class _Stated:
    """The figures of a draft, each once, however often it is said."""

    def __init__(self, figures: Iterable[Quantity]) -> None:
        self.figures = list({figure.said: figure for figure in figures}.values())
        self._filed: dict[Key, list[Quantity]] = {}
        self._asking: dict[Key, list[Quantity]] = {}
        for figure in self.figures:
            for key in filed_under(figure):
                self._filed.setdefault(key, []).append(figure)
            for key in looked_up_under(figure) or (ANY,):
                self._asking.setdefault(key, []).append(figure)

    def holds(self, figure: Quantity) -> bool:
        """Whether the draft states a figure, or the figure states one of the draft's."""
        keys = looked_up_under(figure)
        stating = self.figures if keys is None else chain.from_iterable(self._filed.get(key, ()) for key in keys)
        if any(agrees(figure, own) for own in stating):
            return True
        asking = chain.from_iterable(self._asking.get(key, ()) for key in (ANY, *filed_under(figure)))
        return any(agrees(own, figure) for own in asking)


def _asks_for(query: Text, draft: Statement, cells: Sequence[Cell], library: Library) -> bool:
    """Whether the question is about what the cells say, and about nothing else that the passages tell of."""
    wanted = Said.by(query, range(len(query)))
    near = Said({}).joined(_said_near(cells, library))
    missing = wanted.without([near])
    elsewhere = [w for w, ids in missing.words.items() if w in library.index or not ids.isdisjoint(library.meanings)]
    known = len(wanted.words) - len(missing.words)
    is_about = known or Said.by(draft.reading.text, draft.content).shared(near)
    return is_about > 0 and known >= len(elsewhere) and not _is_narrowed(query, missing)


def _said_near(cells: Sequence[Cell], library: Library) -> Iterator[Said]:
    """What the statements of the cells say, the opening of the passage and its heading."""
    first = cells[0].statement.reading
    for statement in dict.fromkeys((*(cell.statement for cell in cells), first.statements[0])):
        yield Said.by(statement.reading.text, range(statement.first, statement.last))
    heading = next(h.text for h, reading in zip(library.headings, library.readings, strict=True) if reading is first)
    yield Said.by(heading, range(len(heading)))


def _is_narrowed(query: Text, missing: Said) -> bool:
    """Whether a word that the passages do not explain narrows one that they do: 'double' of 'a double room'."""
    step = 1 if has(identify(query), "describes_behind") else -1
    content = {i: word.stem for i, word in enumerate(query.words) if word.content}
    explained = (i for i, stem in content.items() if stem not in missing.words)
    return any(missing.words.get(content.get(i + step, ""), KNOWN) == UNKNOWN for i in explained)


def labels_of(cells: Sequence[Cell]) -> list[Said]:
    """For each cell what tells it from the others."""
    return apart([cell.said for cell in cells])


def apart(said: Sequence[Said]) -> list[Said]:
    """For each what none of the others says or means."""
    return [one.without([other for other in said if other is not one]) for one in said]


def _is_told(wanted: Said, cells: Sequence[Cell]) -> bool:
    """Whether one of the labels is named; the first may hold the verb that the others leave out."""
    first, *rest = apart([cell.said_around for cell in cells])
    if any(label.shared(wanted) for label in rest):
        return True
    if cells[0].statement is not cells[1].statement:
        return first.shared(wanted) > 0
    return EACH * first.shared(wanted) > len(first.words)


def is_beside(own: Quantity, other: Quantity) -> bool:
    """Whether a figure says another value of the same kind, and is no number that names something."""
    return own.dimension not in NAMING and own.kind == other.kind and rivals(own, other)


def _in_a_row(statement: Statement, row: Sequence[Quantity]) -> list[Cell]:
    """The figures of one statement, each with the words before it or, where the statement begins with a figure, behind it."""
    cells = [_cell(statement, figure, bounds) for figure, bounds in zip(row, _bounds(statement, row), strict=True)]
    return cells if all(0 < len(label.words) <= LONGEST_LABEL for label in labels_of(cells)) else []


def _bounds(statement: Statement, row: Sequence[Quantity]) -> list[tuple[int, int]]:
    """Where the words stand that say what each figure of a statement holds of."""
    words = statement.reading.text.words
    if not any(words[i].content for i in range(statement.first, row[0].first)):
        return list(pairwise([*(q.last for q in row), statement.last])) if len(row) > 1 else []
    found = pairwise([statement.first, *(q.last for q in row)])
    return [
        (_behind_mark(statement, start, figure.first), figure.first)
        for (start, _), figure in zip(found, row, strict=True)
    ]


def _behind_mark(statement: Statement, start: int, end: int) -> int:
    """Where a part of a row begins: behind what belongs to the figure before it, and behind a colon."""
    words = statement.reading.text.words
    if start != statement.first:
        return next((i for i in range(start, end) if statement.segment(i) != statement.segment(start - 1)), start)
    return next((i + 1 for i in range(end - 1, start - 1, -1) if words[i].text == ":"), start)


def _cell(statement: Statement, figure: Quantity, bounds: tuple[int, int]) -> Cell:
    return Cell(statement, figure, _content(statement, *bounds))


def _content(statement: Statement, first: int, last: int) -> tuple[int, ...]:
    """The tokens of a part of a statement that carry content and belong to no figure."""
    words = statement.reading.text.words
    return tuple(i for i in range(first, last) if words[i].content and i not in statement.figured)


_ROWS: Final[WeakKeyDictionary[Library, _Rows]] = WeakKeyDictionary()


def _rows_of(library: Library) -> _Rows:
    found = _ROWS.get(library)
    if found is None:
        found = _ROWS[library] = _Rows(library)
    return found


class _Rows:
    """The rows of figures side by side in the passages, read once for all drafts of a request."""

    def __init__(self, library: Library) -> None:
        self._places, self._index = library.places, library.shared
        self._held: dict[tuple[object, ...], list[tuple[int, Quantity]]] = {}
        self._around: dict[tuple[int, Quantity], list[Cell]] = {}
        self._whole: dict[tuple[int, Quantity], Cell] = {}

    def holding(self, figures: Iterable[Quantity]) -> Iterator[list[Cell]]:
        """The rows that hold one of the figures, each once."""
        places = dict.fromkeys(chain.from_iterable(map(self._held_at, figures)))
        return (cells for at, own in places if len(cells := self._row(at, own)) > 1)

    def _held_at(self, figure: Quantity) -> list[tuple[int, Quantity]]:
        """Where the passages state a figure, and what they write."""
        if figure.said not in self._held:
            stating = ((at, self._places[at][1].quantities) for at in self._index.stating(figure)[:MOST_PLACES])
            self._held[figure.said] = [(at, next(q for q in stated if agrees(figure, q))) for at, stated in stating]
        return self._held[figure.said]

    def _row(self, at: int, own: Quantity) -> list[Cell]:
        """The row that a figure stands in, within its statement or among those beside it; a number that names something has none."""
        if own.dimension in NAMING:
            return []
        if (at, own) not in self._around:
            statement = self._places[at][1]
            row = [q for q in statement.quantities if q is own or is_beside(own, q)]
            cells = _in_a_row(statement, row) if len(row) > 1 else self._in_neighbours(at, own)
            self._around[at, own] = cells[:MOST_CELLS]
        return self._around[at, own]

    def _in_neighbours(self, at: int, own: Quantity) -> list[Cell]:
        """The figures of statements worded alike, near each other or in other passages."""
        mine, passage = self._cell(at, own), self._places[at][0]
        cells, stems = [mine], mine.said.words.keys()
        for n, figures in self._index.of_kind.get(own.kind, ()):
            other_passage, other = self._places[n]
            if n == at or (passage == other_passage and abs(n - at) > NEIGHBOURS):
                continue
            if stems.isdisjoint(other.stems) and mine.said.concepts.isdisjoint(other.concepts):
                continue
            row = figures if len(figures) == 1 else [q for q in figures if is_beside(own, q)]
            if len(row) != 1:
                continue
            cell = self._cell(n, row[0])
            if _are_parallel(mine, cell, apart=passage != other_passage) and is_beside(own, cell.figure):
                cells.append(cell)
        return cells if all(label.words for label in labels_of(cells)) else []

    def _cell(self, at: int, figure: Quantity) -> Cell:
        """A figure with all that its statement says before it, and behind it."""
        key = at, figure
        if key not in self._whole:
            statement = self._places[at][1]
            before, behind = (statement.first, figure.first), (figure.last, statement.last)
            self._whole[key] = Cell(statement, figure, _content(statement, *before), _content(statement, *behind))
        return self._whole[key]


def _are_parallel(mine: Cell, other: Cell, apart: bool) -> bool:
    """Whether two statements open with different things and say the same of them."""
    one, two = mine.said, other.said
    if one.words.keys() == two.words.keys():
        return False
    shared = one.shared(two)
    if shared < (LEAST_SHARED_APART if apart else LEAST_SHARED):
        return False
    if not all(0 < left <= LONGEST_LABEL for left in (len(one.words) - shared, len(two.words) - two.shared(one))):
        return False
    return _opens(mine, one.without([two])) and _opens(other, two.without([one]))


def _opens(cell: Cell, label: Said) -> bool:
    """Whether the label stands at the beginning of the statement."""
    words = cell.statement.reading.text.words
    return any(words[i].stem in label.words for i in cell.tokens[:OPENING])
