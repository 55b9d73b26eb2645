"""A claim laid against the statements of one passage, and what every check asks of the two."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from stillme.figures.comparing import agrees, rivals
from stillme.figures.quantity import Quantity
from stillme.grounding.statements import Reading, Statement
from stillme.grounding.working import NOTHING, Working
from stillme.languages import word_set
from stillme.text.names import Name
from stillme.text.tokens import Text

__all__ = ["Alignment", "Objection", "are_close", "carries", "is_alike", "neighbours", "rival_names", "shared"]

# The share of the words that two statements about the same thing have in common.
CLOSE: Final = 0.6
# How far from a name or figure the words stand that say what it is about: before and behind it.
ABOUT_BEFORE: Final = 4
ABOUT_BEHIND: Final = 5
# Objections by which the source says something else, not merely nothing.
INCOMPATIBLE: Final = frozenset(
    {
        "figure",
        "figure apart",
        "name",
        "name elsewhere",
        "negation",
        "opposite",
        "roles",
        "quantifier",
        "binding",
        "owner",
    }
)


@dataclass(frozen=True, slots=True)
class Objection:
    """Why the source does not carry the claim: its kind, and the claim's tokens it concerns."""

    kind: str
    first: int
    last: int
    instead: str = ""
    """What the source says in that place."""


def _no_heading() -> Reading:
    return Reading(Text(""), (), "", frozenset())


@dataclass(slots=True)
class Alignment:
    """A claim against the statements of one passage, best statement first."""

    claim: Statement
    source: Reading
    statements: list[Statement]
    covered: set[int] = field(default_factory=set)
    """Content tokens of the claim that stand in the statements."""
    context: set[int] = field(default_factory=set)
    """Content tokens that stand in the heading or elsewhere in the passage only, as a name spoken of before may."""
    objections: list[Objection] = field(default_factory=list)
    verbatim: bool = False
    """The claim is a copy of the statement or of a part of it."""
    in_order: bool = False
    """The statement says it in the same words in the same order, and nothing besides that turns it."""
    heading: Reading = field(default_factory=_no_heading)
    """What the source says besides its text: title, address, date."""
    subjects: Sequence[Name] = ()
    """Names that the claim speaks of without repeating them."""
    working: Working = NOTHING
    """How figures of the claim follow from the source."""

    @property
    def best(self) -> Statement:
        """The statement that carries most of the claim."""
        return self.statements[0]

    @property
    def missing(self) -> list[int]:
        """Content tokens of the claim that stand nowhere."""
        return [i for i in self.claim.content if i not in self.covered and i not in self.context]

    @property
    def missing_in_best(self) -> list[int]:
        """Content tokens of the claim that the best statement alone does not carry."""
        if len(self.statements) == 1:
            return self.missing
        best, reading = self.best, self.claim.reading
        figures = [q for q in self.claim.quantities if any(agrees(q, t) for t in best.quantities)]
        carried = self.context.union(*(range(q.first, q.last) for q in figures))
        rest = [i for i in self.claim.content if i not in carried]
        words, meant = reading.text.words, reading.concepts
        known = best.stems | best.folded
        return [
            i for i in rest if known.isdisjoint((words[i].stem, words[i].folded)) and best.concepts.isdisjoint(meant[i])
        ]

    @property
    def incompatible(self) -> list[Objection]:
        """The objections by which the source says something else."""
        return [o for o in self.objections if o.kind in INCOMPATIBLE]

    def text_of(self, item: Name | Quantity | Statement) -> str:
        """What the source has at the place of a name, figure or statement of its own."""
        return self.source.text.slice(item.first, item.last)


def are_close(claim: Statement, source: Statement) -> bool:
    """Whether the two speak of the same thing: most of the one stands in the other. Only then does a difference object."""
    shared = len(claim.stems & source.stems)
    return shared >= CLOSE * min(len(claim.stems), len(source.stems)) and shared > 0


def neighbours(claim: Statement, item: Name | Quantity) -> list[int]:
    """The content words next to a name or figure: one before it, two behind it."""
    before, behind = bisect_left(claim.content, item.first), bisect_left(claim.content, item.last)
    return claim.content[max(0, before - 1) : before] + claim.content[behind : behind + 2]


def shared(claim: Statement, tokens: Iterable[int], source: Statement, place: range | None = None) -> list[int]:
    """The words of a claim that stand in a statement, or in a place of it, as such or in other words."""
    words, meant = claim.reading.text.words, claim.reading.concepts
    if place is None:
        stems, concepts = source.stems, source.concepts
    else:
        within, own = [i for i in range(source.first, source.last) if i in place], source.reading
        stems = frozenset(own.text.words[i].stem for i in within if own.text.words[i].content)
        concepts = frozenset(concept for i in within for concept in own.concepts[i])
    return [i for i in tokens if words[i].stem in stems or not concepts.isdisjoint(meant[i])]


def is_alike(alignment: Alignment, besides: Iterable[int]) -> bool:
    """Whether the claim but for some of its tokens stands in the best statement: what that has in their place is meant."""
    ignored = frozenset(besides)
    rest = [i for i in alignment.claim.content if i not in ignored]
    return len(shared(alignment.claim, rest, alignment.best)) >= CLOSE * len(rest)


def carries(alignment: Alignment, statement: Statement, item: Name | Quantity) -> bool:
    """Whether another statement says of a name or figure all that the best one says of its own in that place."""
    words = alignment.claim.reading.text.words
    near = {words[i].stem for i in neighbours(alignment.claim, item)}
    if near & alignment.best.stems - statement.stems:
        return False
    mine = alignment.claim.quantities
    foreign = [t for t in statement.quantities if not any(agrees(q, t) for q in mine)]
    others = [q for q in mine if q is not item]
    return not any(rivals(q, t) for q in others for t in foreign) and _speaks_of(alignment, statement, item)


def _speaks_of(alignment: Alignment, statement: Statement, item: Name | Quantity) -> bool:
    """Whether a statement that holds a name or figure also says what the claim says next to it."""
    content = alignment.claim.content
    first = bisect_left(content, item.first - ABOUT_BEFORE)
    around = content[first : bisect_left(content, item.last + ABOUT_BEHIND)]
    near = [i for i in around if not item.first <= i < item.last]
    return near != [] and len(shared(alignment.claim, near, statement)) >= len(near) / 2


def rival_names(source: Statement, mine: frozenset[str]) -> list[Name]:
    """Names of a statement that the claim does not have, but for adjectives and asides in parentheses."""
    foreign = [name for name in source.names if not mine.issuperset(name.parts)]
    return [name for name in foreign if not _is_aside(source, name) and not _is_adjective(source, name)]


def _is_aside(source: Statement, name: Name) -> bool:
    """Whether a name stands behind an open parenthesis."""
    return name.first > source.first and source.reading.text.words[name.first - 1].lower == "("


def _is_adjective(source: Statement, name: Name) -> bool:
    """Whether a name says what kind of thing follows it: the Dutch astronomer."""
    words = source.reading.text.words
    if len(name.parts) > 1 or name.first == source.first or name.last >= source.last:
        return False
    return words[name.last].content and words[name.first - 1].lower in word_set("grammar", "determiners")
