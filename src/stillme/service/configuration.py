"""A file of settings beside the environment: the same names in YAML, and what the environment says comes before it."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, Final

import yaml

from stillme.chat.router import RouterSettings
from stillme.chat.settings import ChatSettings
from stillme.errors import InputError, shown, way_out
from stillme.judge.environment import JudgeVariables
from stillme.service.settings import ServiceSettings
from stillme.settings import FILE, rows

__all__ = ["CONFIG", "configure"]

CONFIG: Final = "STILLME_CONFIG"
MOST_BYTES: Final = 1024 * 1024
ELSEWHERE: Final = ("STILLME_AUDIT_KEY_FILE",)
"""What is read by other parts than the classes of settings."""
OTHERS: Final = "OTEL_"


def configure(environment: MutableMapping[str, str]) -> None:
    """Add what the file that STILLME_CONFIG names says of settings that the environment does not name."""
    name = environment.get(CONFIG, "").strip()
    if not name:
        return
    for variable, value in _read(name).items():
        if not environment.get(variable) and not environment.get(_twin(variable)):
            environment[variable] = value


def _twin(variable: str) -> str:
    """The other of the two ways to give a setting: by its value, or by a file that holds it."""
    return variable.removesuffix(FILE) if variable.endswith(FILE) else variable + FILE


def _read(name: str) -> dict[str, str]:
    try:
        with Path(name).open("rb") as stream:
            found = yaml.safe_load(stream.read(MOST_BYTES).decode("utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{CONFIG}: {shown(name)} cannot be read: {reason}") from None
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        raise InputError(f"{CONFIG}: {shown(name)} is not YAML: {problem}") from None
    if not isinstance(found, dict):
        raise InputError(f"{CONFIG}: {shown(name)} has to hold lines such as STILLME_PORT: 8000, got {shown(found)}")
    return {_known(name, variable): _text(name, str(variable), value) for variable, value in found.items()}


def _known(name: str, variable: object) -> str:
    known = [*(row.variable for row in rows(ServiceSettings, ChatSettings, RouterSettings, JudgeVariables)), *ELSEWHERE]
    text = str(variable)
    if text not in known and text.removesuffix(FILE) not in known and not text.startswith(OTHERS):
        raise InputError(f"{name}: {shown(text)} is no setting: {way_out(text, known, 'settings are')}")
    return text


def _text(name: str, variable: str, value: Any) -> str:
    """The value as the environment would hold it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(each, str | int | float) for each in value):
        return ",".join(map(str, value))
    raise InputError(f"{name}: {variable} has to be a text, a number, true or false, or a list, got {shown(value)}")
