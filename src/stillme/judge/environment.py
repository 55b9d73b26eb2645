"""A judge as the environment describes it: for the command line and for services."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from stillme.errors import InputError, nearest, shown
from stillme.grounding.grounder import Grounder
from stillme.judge.grounder import JudgeGrounder

__all__ = ["judge_from_environment"]

PREFIX: Final = "STILLME_JUDGE_"
SETTINGS: Final = {"URL": "url", "MODEL": "model", "API_KEY": "api_key", "TIMEOUT_S": "timeout_s", "CACHE": "cache"}


def judge_from_environment(base: Grounder, environ: Mapping[str, str] | None = None) -> JudgeGrounder | None:
    """The judge that STILLME_JUDGE_URL and its companions describe, or None where they name none; half a description is an error."""
    source = os.environ if environ is None else environ
    given = {name.removeprefix(PREFIX): value for name, value in source.items() if name.startswith(PREFIX) and value}
    if "URL" not in given and "MODEL" not in given:
        return None
    for needed, has in (("URL", "MODEL"), ("MODEL", "URL")):
        if needed not in given:
            raise InputError(f"{PREFIX}{has} is set and {PREFIX}{needed} is not: set both to use a judge, or neither")
    for name in given:
        if name not in SETTINGS:
            like = nearest(name, SETTINGS)
            hint = f"; {PREFIX}{like}?" if like else f": there are {', '.join(PREFIX + known for known in SETTINGS)}"
            raise InputError(f"{PREFIX}{shown(name)[1:-1]} is not a setting of the judge{hint}")
    values: dict[str, Any] = {SETTINGS[name]: value for name, value in given.items()}
    if "timeout_s" in values:
        values["timeout_s"] = _seconds(values["timeout_s"])
    try:
        return JudgeGrounder(base, **values)
    except InputError as error:
        raise InputError(f"the judge of {PREFIX}*: {error}") from None


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{PREFIX}TIMEOUT_S must be a number of seconds, got {shown(text)}") from None
