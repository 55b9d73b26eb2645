"""Settings that the environment gives: each is a field with the name of its variable, and a bad value names both."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from stillme.errors import InputError, nearest, shown

__all__ = ["Row", "choice", "from_environment", "named", "number", "rows", "setting", "switch", "text", "words"]

Settings = TypeVar("Settings")
Read = Callable[[str, str], Any]
SWITCHES: Final = {
    "true": True,
    "1": True,
    "yes": True,
    "on": True,
    "false": False,
    "0": False,
    "no": False,
    "off": False,
}


def setting(default: Any, variable: str, meaning: str, read: Read) -> Any:
    """A field of a settings class: its default, its variable, what it means, how its text is read."""
    return dataclasses.field(default=default, metadata={"variable": variable, "meaning": meaning, "read": read})


def from_environment(cls: type[Settings], environment: Mapping[str, str]) -> Settings:
    """The settings as the environment gives them; an empty variable counts as not set."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]  # every settings class is a dataclass
        variable = field.metadata.get("variable")
        given = environment.get(variable, "").strip() if variable else ""
        if given:
            values[field.name] = field.metadata["read"](variable, given)
    return cls(**values)


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One setting, as the reference page shows it."""

    variable: str
    default: str
    meaning: str


def rows(*classes: type[Any]) -> list[Row]:
    """Every setting of these classes, in order."""
    return [
        Row(field.metadata["variable"], _written(field.default), field.metadata["meaning"])
        for cls in classes
        for field in dataclasses.fields(cls)
        if "variable" in field.metadata
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


def number(least: float, most: float, *, whole: bool = False) -> Read:
    """A number within bounds."""

    def read(variable: str, given: str) -> float | int:
        try:
            found = int(given) if whole else float(given)
        except ValueError:
            found = float("nan")
        if not least <= found <= most:
            kind = "whole number" if whole else "number"
            raise InputError(f"{variable} must be a {kind} from {least:g} to {most:g}, got {shown(given)}")
        return found

    return read


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
