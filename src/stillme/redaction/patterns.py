"""Patterns of the operator's own: only those that no text can stall."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Final

from stillme.errors import PolicyError, shown

__all__ = ["MOST_STEPS_IN_ALL", "checked_pattern", "key_of"]

LONGEST_PATTERN: Final = 500
# What a pattern may cost at one character of a text, counted in characters tried: a megabyte takes seconds at worst.
MOST_STEPS: Final = 256
MOST_STEPS_IN_ALL: Final = 512


@dataclass(frozen=True, slots=True)
class _PatternPart:
    """A part of a pattern, in our own words: the parser of the standard library is private and may change."""

    kind: str  # character, place, group, atomic, choice, repeat, look, reference
    written: str
    inner: tuple[tuple[_PatternPart, ...], ...] = ()
    low: int = 1
    high: int | None = 1
    possessive: bool = False
    captures: bool = False
    bare: str = ""  # a repetition without the sign that makes it lazy or possessive


@dataclass(frozen=True, slots=True)
class _Cost:
    """What a part may cost at one place: the least it matches, in how many ways it can end, and characters tried."""

    least: int
    ways: int
    steps: int


def key_of(name: object) -> str:
    return f"audit.redact.{name if isinstance(name, str) and name.isidentifier() else shown(name)}"


def checked_pattern(name: str, pattern: str) -> tuple[re.Pattern[str], int]:
    """A pattern that no text can stall, compiled, and its steps at each character; otherwise a PolicyError."""
    where = key_of(name)
    if len(pattern) > LONGEST_PATTERN:
        raise PolicyError(
            f"{where} has {len(pattern)} characters, at most {LONGEST_PATTERN}: split it into several names"
        )
    try:
        parts, compiled = _parsed(pattern)
        cost = _cost(parts)
    except _UnfitError as error:
        raise PolicyError(f"{where}: {error}, got {shown(pattern)}") from None
    if cost.least == 0:
        raise PolicyError(
            f"{where} matches the empty text: let it begin with something that must be there, got {shown(pattern)}"
        )
    if cost.steps > MOST_STEPS:
        raise PolicyError(
            f"{where} may take {_many(cost.steps)} steps at each character, at most {MOST_STEPS}: lower the bounds, make "
            f"repetitions possessive (`{{1,16}}+`) and alternatives atomic (`(?>…|…)`), got {shown(pattern)}"
        )
    return compiled, cost.steps


class _UnfitError(Exception):
    """A pattern that cannot be used; the message names the part and what to write instead."""


def _parsed(pattern: str) -> tuple[tuple[_PatternPart, ...], re.Pattern[str]]:
    """A pattern as parts; the only place that touches the private parser, and what it does not know is refused."""
    try:
        parser: Any = import_module("re._parser")
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python may read otherwise in future is not read at all
            compiled = re.compile(pattern)
            return _parts(parser.parse(pattern)), compiled
    except (re.error, ValueError, OverflowError, Warning) as error:
        raise _UnfitError(f"it is no regular expression that Python reads ({error}): correct it") from None
    except RecursionError:
        raise _UnfitError("its groups are nested too deeply: write it flat") from None
    except (ImportError, AttributeError, TypeError, KeyError) as error:
        raise _UnfitError(
            f"this Python has another parser, patterns cannot be checked ({type(error).__name__}): use the built-in kinds"
        ) from None


def _parts(tree: Any) -> tuple[_PatternPart, ...]:
    return tuple(_part(str(code), value) for code, value in tree)


def _part(code: str, value: Any) -> _PatternPart:
    if code not in PARTS:
        raise _UnfitError(f"it has a part that is not known here ({code}): write it without")
    return PARTS[code](value)


def _group(kind: str, opening: str, *options: Any, captures: bool = False) -> _PatternPart:
    inner = tuple(map(_parts, options))
    return _PatternPart(kind, f"({opening}{'|'.join(map(_written, inner))})", inner, captures=captures)


def _look(signs: str, value: Any) -> _PatternPart:
    direction, tree = value
    return _group("look", f"?{'<' * (direction < 0)}{signs}", tree)


def _repeat(sign: str, value: Any) -> _PatternPart:
    low, high, tree = value
    inner = _parts(tree)
    most = None if str(high) == "MAXREPEAT" else int(high)
    exact = f"{{{low}}}" if low == most else f"{{{low},{'' if most is None else most}}}"
    bare = _body(inner) + COUNTS.get((low, most), exact)
    return _PatternPart("repeat", bare + sign, (inner,), low, most, possessive=sign == "+", bare=bare)


COUNTS: Final = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def _body(inner: Sequence[_PatternPart]) -> str:
    return _written(inner) if len(inner) == 1 and inner[0].kind != "repeat" else f"(?:{_written(inner)})"


def _written(parts: Sequence[_PatternPart]) -> str:
    return "".join(part.written for part in parts)


def _literal(code: int) -> str:
    return re.escape(chr(code))


def _character(code: str, value: Any) -> _PatternPart:
    return _PatternPart("character", CHARACTERS[code](value))


def _set(items: Any) -> str:
    members = [MEMBERS[str(code)](value) for code, value in items]
    alone = len(members) == 1 and members[0] in CATEGORIES.values()
    return members[0] if alone else f"[{''.join(members)}]"


CATEGORIES: Final = {
    f"CATEGORY_{negated}{name}": f"\\{letter.upper() if negated else letter}"
    for name, letter in (("DIGIT", "d"), ("SPACE", "s"), ("WORD", "w"))
    for negated in ("", "NOT_")
}
MEMBERS: Final[Mapping[str, Callable[[Any], str]]] = {
    "NEGATE": lambda _: "^",
    "LITERAL": _literal,
    "RANGE": lambda ends: f"{_literal(ends[0])}-{_literal(ends[1])}",
    "CATEGORY": lambda category: CATEGORIES[str(category)],
}
CHARACTERS: Final[Mapping[str, Callable[[Any], str]]] = {
    "LITERAL": _literal,
    "NOT_LITERAL": lambda code: f"[^{_literal(code)}]",
    "ANY": lambda _: ".",
    "IN": _set,
}
PLACES: Final = {
    "AT_BEGINNING": "^", "AT_BEGINNING_STRING": r"\A", "AT_END": "$", "AT_END_STRING": r"\Z",
    "AT_BOUNDARY": r"\b", "AT_NON_BOUNDARY": r"\B",
}  # fmt: skip
PARTS: Final[Mapping[str, Callable[[Any], _PatternPart]]] = {
    **{code: partial(_character, code) for code in CHARACTERS},
    "AT": lambda place: _PatternPart("place", PLACES[str(place)]),
    "MAX_REPEAT": partial(_repeat, ""),
    "MIN_REPEAT": partial(_repeat, "?"),
    "POSSESSIVE_REPEAT": partial(_repeat, "+"),
    "BRANCH": lambda value: _group("choice", "?:", *value[1]),
    "SUBPATTERN": lambda value: _group("group", "?:" * (value[0] is None), value[3], captures=value[0] is not None),
    "ATOMIC_GROUP": lambda tree: _group("atomic", "?>", tree),
    "ASSERT": partial(_look, "="),
    "ASSERT_NOT": partial(_look, "!"),
    "GROUPREF": lambda number: _PatternPart("reference", f"\\{number}"),
    "GROUPREF_EXISTS": lambda value: _PatternPart("reference", f"(?({value[0]})…)"),
}


def _cost(parts: Sequence[_PatternPart], *, kept: bool = False, looking: bool = False) -> _Cost:
    """What a sequence costs: each part is tried again for every way in which those before it can end."""
    least, ways, steps = 0, 1, 0
    for n, part in enumerate(parts):
        cost = _part_cost(part, kept=kept, looking=looking)
        if part.kind == "repeat" and part.possessive:
            _leaves_what_follows(part, parts[n + 1 :])
        steps = min(steps + ways * cost.steps, BEYOND)
        ways = min(ways * cost.ways, BEYOND)
        least += cost.least
    return _Cost(least, ways, steps)


BEYOND: Final = 10**9
LONGEST_QUOTED: Final = 60


def _many(steps: int) -> str:
    return f"{steps:,}" if steps < BEYOND else "billions of"


def _part_cost(part: _PatternPart, *, kept: bool, looking: bool) -> _Cost:
    if part.captures and kept:
        raise _UnfitError(f"{_quoted(part)} captures inside a possessive part: write (?:…) for (…)")
    if part.kind in SIMPLE:
        return SIMPLE[part.kind]
    if part.kind == "reference":
        raise _UnfitError(f"{_quoted(part)} refers back to a group: write what it repeats once more")
    if part.kind == "repeat":
        return _repeat_cost(part, kept=kept, looking=looking)
    return _group_cost(part, kept=kept or part.kind == "atomic", looking=looking or part.kind == "look")


def _group_cost(part: _PatternPart, *, kept: bool, looking: bool) -> _Cost:
    """What a group or a choice costs: a look takes no characters, and what is atomic ends in one way only."""
    costs = [_cost(inner, kept=kept, looking=looking) for inner in part.inner]
    steps = min(sum(cost.steps for cost in costs) + len(costs), BEYOND)
    if part.kind == "look":
        return _Cost(0, 1, steps)
    least = min(cost.least for cost in costs)
    if part.kind == "atomic":
        return _Cost(least, 1, steps)
    return _Cost(least, min(sum(cost.ways for cost in costs), BEYOND), steps)


SIMPLE: Final = {"character": _Cost(1, 1, 1), "place": _Cost(0, 1, 1)}


def _repeat_cost(part: _PatternPart, *, kept: bool, looking: bool) -> _Cost:
    high = _checked_bound(part, looking=looking)
    cost = _cost(part.inner[0], kept=kept or part.possessive)
    powers = [min(cost.ways**count, BEYOND) for count in range(min(high, MOST_STEPS) + 1)]
    ways = 1 if part.possessive else min(max(sum(powers[part.low :]), 1), BEYOND)
    steps = min(max(1 + cost.steps * sum(powers[:high]), high), BEYOND)
    return _Cost(part.low * cost.least, ways, steps)


def _checked_bound(part: _PatternPart, *, looking: bool) -> int:
    """How often a part is repeated at most; an error where that is too often, or where it can give back what it took."""
    inner = part.inner[0]
    if looking:
        raise _UnfitError(
            f"{_quoted(part)} repeats inside a look-around: write the characters out, such as `[0-9][0-9]`"
        )
    if part.high is None:
        sample = f"{_body(inner)}{{{part.low},{max(64, part.low)}}}+"
        raise _UnfitError(f"the repetition {_quoted(part)} has no upper bound: write `{sample}`")
    single = len(inner) == 1 and inner[0].kind == "character"
    if not (single or part.possessive or part.low == part.high):
        raise _UnfitError(f"the repetition {_quoted(part)} of a group can give back what it took: write `{part.bare}+`")
    return part.high


def _leaves_what_follows(part: _PatternPart, following: Sequence[_PatternPart]) -> None:
    """Refuse a possessive repetition that takes all that must follow it: such a pattern would quietly match nothing."""
    taken = _sampled(part.inner[0])
    needed = _sampled(following)
    if part.low != part.high and needed and needed <= taken:
        raise _UnfitError(
            f"the repetition {_quoted(part)} also takes the {_quoted(following[0])} that must follow it, so that nothing "
            f"matches: leave that out of the repetition, or write `{part.bare}` if the bound is small"
        )


def _sampled(parts: Sequence[_PatternPart]) -> frozenset[str]:
    """Which characters of a sample a sequence can begin with; none where that is not told by its first part."""
    first = parts[0] if parts else NOTHING
    if first.low and first.kind in ("repeat", "group", "atomic"):
        return _sampled(first.inner[0])
    told = first.low and first.kind == "character"
    return frozenset(filter(re.compile(first.written, re.DOTALL).fullmatch, SAMPLE)) if told else frozenset()


NOTHING: Final = _PatternPart("place", "")
# Letters with the accents of the languages served.
ACCENTED: Final = (
    0x103, 0xE2, 0x111, 0xEA, 0xF4, 0x1A1, 0x1B0, 0xE1, 0xE0, 0x1EA3, 0xE3, 0x1EA1, 0x1EC7, 0x1ED1,
    0x1EEF, 0x102, 0xC2, 0x110, 0xCA, 0xD4, 0x1A0, 0x1AF,
)  # fmt: skip
SAMPLE: Final = "".join(map(chr, (*range(32, 127), *ACCENTED))) + "–…“”"


def _quoted(part: _PatternPart) -> str:
    """A part as a message shows it, cut where it is long."""
    written = part.written
    return f"`{written}`" if len(written) <= LONGEST_QUOTED else f"`{written[: LONGEST_QUOTED - 1]}…`"
