"""Names of fields in JSON, YAML, TOML and XML that only say what follows them, in any spelling of programs: 'cau_tra_loi', 'quickReplies'.

A name that says anything else is text, and so is what stands behind it; of values only those are no text that tell a state of the
exchange behind a name of states: one of a few words, true and false, or a number behind the name of a code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from stillme.languages import compiled, word_set
from stillme.text.tokens import fold_text

__all__ = ["find_keys", "find_lines", "names_a_field", "tells_a_state"]

Span = tuple[int, int]

VALUE: Final = r"[\w .:/-]{1,40}+"
LITERAL: Final = r"(?:true|false|null|none|-?+\d{1,12}+(?:\.\d{1,6}+)?+)(?![\w.])"
KEY: Final = re.compile(rf"[{{,]\s*+\"([\w .@-]{{1,40}}+)\"\s*+:\s*+(?:\"({VALUE})\"|({LITERAL}))?+")
LINE: Final = re.compile(
    r"^[ \t]*+(?:-[ \t]++)?+([^\W\d]\w{0,40}+):(?:[ \t]++\"?+([\w ]{1,20}+)\"?+[ \t]*+$|(?=\s))", re.MULTILINE
)
SETTING: Final = re.compile(
    rf"^[ \t]*+(?:\[{{1,2}}+([^\W\d][\w.-]{{0,40}}+)\]{{1,2}}+[ \t]*+$"
    rf"|([^\W\d][\w.-]{{0,40}}+)[ \t]*+(=)[ \t]*+(?:\"({VALUE})\"[ \t]*+$|({LITERAL})[ \t]*+$|(?=[\"'])))",
    re.MULTILINE,
)
HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
JOINTS: Final = re.compile(r"[\W_]++")
LONGEST_PHRASE: Final = 4
LEAST_LINES: Final = 2


@compiled
def _phrases(*names: str) -> frozenset[str]:
    """The phrases of these lists, joined by underscores; those of several syllables written as one word too."""
    found = frozenset(fold_text(phrase) for name in names for phrase in word_set("markup", name))
    return found | {phrase.replace("_", "") for phrase in found}


def find_keys(raw: str) -> Iterator[Span]:
    """The keys of JSON that say nothing, and the values behind them that only tell a state."""
    for match in KEY.finditer(raw):
        yield from _silent(match, 1)


def find_lines(raw: str) -> list[tuple[int, list[Span]]]:
    """The lines of YAML and TOML, each by its start, with what of them says nothing; of YAML none unless its keys are spelt as
    programs do: with an underscore, or small in several lines."""
    found = [(match, spans) for match in LINE.finditer(raw) if (spans := list(_silent(match, 1)))]
    small = [match for match, _ in found if match.group(1)[0].islower()]
    spelt = any("_" in _joined(match.group(1)) for match, _ in found) or LEAST_LINES <= len(small) == len(found)
    settings = [(m.start(), s) for m in SETTING.finditer(raw) if (s := list(_silent(m, 1 if m.group(1) else 2)))]
    return sorted([*((match.start(), spans) for match, spans in found if spelt), *settings])


def names_a_field(name: str) -> bool:
    """Whether a name only says what kind of thing follows."""
    return _consists(_joined(name), _phrases("keys", "states", "codes"))


def tells_a_state(name: str, value: str) -> bool:
    """Whether a value behind a name only tells a state of the exchange."""
    named, said = _joined(name), _joined(value)
    if _consists(said, _phrases("values")):
        return _consists(named, _phrases("states", "codes"))
    return _consists(named, _phrases("codes")) and not any(c.isalpha() for c in said)


def _silent(match: re.Match[str], group: int) -> Iterator[Span]:
    if not names_a_field(match.group(group)):
        return
    yield match.span(group)
    for own in range(group + 1, len(match.groups()) + 1):
        said = match.group(own)
        if said and (said == "=" or tells_a_state(match.group(group), said)):
            yield match.span(own)


def _joined(name: str) -> str:
    """A name with its words in small letters, without accents, joined by underscores."""
    return fold_text("_".join(JOINTS.split(HUMP.sub("_", name).strip("_ .-"))))


def _consists(name: str, phrases: frozenset[str]) -> bool:
    """Whether a name is nothing but phrases of a list, the longest first."""
    parts = name.split("_")
    while parts:
        sizes = (n for n in range(min(LONGEST_PHRASE, len(parts)), 0, -1) if "_".join(parts[:n]) in phrases)
        size = next(sizes, 0)
        if not size:
            return False
        parts = parts[size:]
    return True
