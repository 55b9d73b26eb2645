"""A judge as the environment describes it: for the command line and for services."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from stillme.errors import InputError, nearest, shown
from stillme.grounding.grounder import Grounder
from stillme.judge.grounder import JudgeGrounder
from stillme.judge.settings import LONGEST_WAIT_S, SHORTEST_WAIT_S
from stillme.settings import FILE, EnvironmentSettings, number, rows, setting

__all__ = ["JudgeVariables", "judge_from_environment"]

PREFIX: Final = "STILLME_JUDGE_"


@dataclass(frozen=True, slots=True, repr=False)
class JudgeVariables(EnvironmentSettings):
    """The settings of a judge that have a variable; it holds a key and is never shown."""

    url: str | None = setting(None, "STILLME_JUDGE_URL", "`url`; needs a model")
    model: str | None = setting(None, "STILLME_JUDGE_MODEL", "`model`; needs an address")
    api_key: str | None = setting(None, "STILLME_JUDGE_API_KEY", "`api_key`")
    timeout_s: float | None = setting(
        None, "STILLME_JUDGE_TIMEOUT_S", "`timeout_s`", number(SHORTEST_WAIT_S, LONGEST_WAIT_S)
    )
    cache: str | None = setting(None, "STILLME_JUDGE_CACHE", "`cache`")


def judge_from_environment(base: Grounder, environ: Mapping[str, str] | None = None) -> JudgeGrounder | None:
    """The judge that STILLME_JUDGE_URL and its companions describe, or None where they name none; half a description is an error."""
    source = os.environ if environ is None else environ
    given = JudgeVariables.from_environment(source)
    if given.url is None and given.model is None:
        return None
    if given.url is None or given.model is None:
        has, needed = ("URL", "MODEL") if given.url else ("MODEL", "URL")
        raise InputError(f"{PREFIX}{has} is set and {PREFIX}{needed} is not: set both to use a judge, or neither")
    _check_names(source)
    try:
        return JudgeGrounder(base, **{name: value for name, value in asdict(given).items() if value is not None})
    except InputError as error:
        raise InputError(f"the judge of {PREFIX}*: {error}") from None


def _check_names(source: Mapping[str, str]) -> None:
    known = [row.variable + end for row in rows(JudgeVariables) for end in ("", FILE)]
    for name in source:
        if name.startswith(PREFIX) and source[name] and name not in known:
            like = nearest(name, known)
            raise InputError(
                f"{shown(name)[1:-1]} is not a setting of the judge"
                + (f"; {like}?" if like else f": there are {', '.join(known[::2])}")
            )
