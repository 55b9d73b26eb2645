"""Settings that the environment gives: each is a field with the name of its variable, and a bad value names both."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Self

from stillme.errors import InputError, nearest, shown

__all__ = [
    "FILE", "EnvironmentSettings", "Row", "checked_number", "checked_whole", "choice", "named", "number", "rows", "setting",
    "switch", "text", "whole", "words",
]  # fmt: skip

Read = Callable[[str, str], Any]
FILE: Final = "_FILE"
"""A variable with this behind its name names a file that holds its value: how secrets are mounted."""
MOST_BYTES: Final = 64 * 1024
SWITCHES: Final = dict.fromkeys(("true", "1", "yes", "on"), True) | dict.fromkeys(("false", "0", "no", "off"), False)


def setting(default: Any, variable: str, meaning: str, read: Read | None = None) -> Any:
    """A field of a settings class: its default, its variable, what it means, how its text is read if not as its default is."""
    known: dict[type, Read] = {bool: switch, tuple: words}
    chosen = read or known.get(type(default), text)
    return dataclasses.field(default=default, metadata={"variable": variable, "meaning": meaning, "read": chosen})


class EnvironmentSettings:
    """The base of every settings class, which is a dataclass of settings."""

    __slots__ = ()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """The settings as the environment, or files that it names, give them, or an InputError that names the variable.

        An empty variable is not set.
        """
        values: dict[str, Any] = {}
        for field in _settings(cls):
            variable = field.metadata["variable"]
            given = _given(environment, variable)
            if given:
                values[field.name] = field.metadata["read"](variable, given)
        return cls(**values)


def _given(environment: Mapping[str, str], variable: str) -> str:
    """The text of a variable, or of the file that its twin names."""
    given, file = (environment.get(name, "").strip() for name in (variable, variable + FILE))
    if not file:
        return given
    if given:
        raise InputError(f"{variable} and {variable}{FILE} are both set: keep one of them")
    try:
        with Path(file).open("rb") as stream:
            held = stream.read(MOST_BYTES).decode("utf-8").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(f"{variable}{FILE}: {shown(file)} cannot be read: {reason}") from None
    if not held:
        raise InputError(f"{variable}{FILE}: {shown(file)} is empty: write the value of {variable} into it")
    return held


def _settings(cls: type[EnvironmentSettings]) -> list[dataclasses.Field[Any]]:
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]  # every settings class is a dataclass
    return [field for field in fields if "variable" in field.metadata]


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One setting, as the reference page shows it."""

    variable: str
    default: str
    meaning: str


def rows(*classes: type[EnvironmentSettings]) -> list[Row]:
    """Every setting of these classes, in order."""
    return [
        Row(field.metadata["variable"], _written(field.default), field.metadata["meaning"])
        for cls in classes
        for field in _settings(cls)
    ]


def _written(default: object) -> str:
    if default is None or default == () or default == "":
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return ",".join(map(str, default))
    return str(default)


# how texts are read


def switch(variable: str, given: str) -> bool:
    """true or false, in the usual spellings."""
    found = SWITCHES.get(given.lower())
    if found is None:
        raise InputError(f"{variable} must be true or false, got {shown(given)}")
    return found


def text(_: str, given: str) -> str:
    """Any text."""
    return given


def words(_: str, given: str) -> tuple[str, ...]:
    """A list with commas between its words."""
    return tuple(word.strip() for word in given.split(",") if word.strip())


def number(least: float, most: float) -> Read:
    """A number within bounds."""
    return lambda variable, given: checked_number(variable, _parsed(given, float), least, most, given)


def whole(least: int, most: int) -> Read:
    """A whole number within bounds."""
    return lambda variable, given: checked_whole(variable, _parsed(given, int), least, most, given)


def _parsed(given: str, kind: type[float]) -> float | None:
    try:
        return kind(given)
    except ValueError:
        return None


def checked_number(name: str, value: object, least: float, most: float, given: object = None) -> float:
    """The value, if it is a number within bounds; an error shows what was `given`, if that was its text."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        told = shown(value if given is None else given)
        raise InputError(f"{name} must be a number from {least:g} to {most:g}, got {told}")
    return value


def checked_whole(name: str, value: object, least: int, most: int, given: object = None) -> int:
    """The value, if it is a whole number within bounds; an error shows what was `given`, if that was its text."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        told = shown(value if given is None else given)
        raise InputError(f"{name} must be a whole number from {least} to {most}, got {told}")
    return value


def choice(*choices: str) -> Read:
    """One of these words."""

    def read(variable: str, given: str) -> str:
        if given.lower() not in choices:
            guess = nearest(given.lower(), choices)
            hint = f" (did you mean {guess}?)" if guess else ""
            raise InputError(f"{variable} must be one of {', '.join(choices)}, got {shown(given)}{hint}")
        return given.lower()

    return read


def named(choices: Callable[[], tuple[str, ...]]) -> Read:
    """A list of names that are known, told apart by case."""

    def read(variable: str, given: str) -> tuple[str, ...]:
        known = choices()
        found = words(variable, given)
        for name in found:
            if name not in known:
                guess = nearest(name, known)
                hint = f"did you mean {guess}?" if guess else f"known: {', '.join(known)}"
                raise InputError(f"{variable} names {shown(name)}, which is unknown: {hint}")
        return found

    return read
