"""What a judge can be told, checked when it is made: a mistake is not found at the first claim."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Final, Literal

from stillme.errors import InputError, shown
from stillme.settings import checked_number, checked_whole

__all__ = ["JudgeScores", "JudgeSettings", "Structured"]

Structured = Literal["json_schema", "json_object"]
SUPPORT_AT: Final = 0.5
LONGEST_WAIT_S: Final = 3600
SHORTEST_WAIT_S: Final = 0.001


@dataclass(frozen=True, slots=True)
class JudgeScores:
    """The probability of support that each answer of a judge counts as; chosen by hand, not calibrated."""

    supported: float = 0.8
    unsupported: float = 0.15
    contradicted: float = 0.05

    def __post_init__(self) -> None:
        checked_number("scores.supported", self.supported, SUPPORT_AT, 1)
        for name in ("unsupported", "contradicted"):
            value = getattr(self, name)
            checked_number(f"scores.{name}", value, 0, SUPPORT_AT)
            if value == SUPPORT_AT:
                raise InputError(f"scores.{name} must be below {SUPPORT_AT}: from there on a claim counts as supported")


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgeSettings:
    """The settings of a judge; address and model have no default."""

    url: str
    """The address before `/chat/completions`."""
    model: str
    api_key: str | None = field(default=None, repr=False)
    ask_between: tuple[float, float] = (0.2, 0.8)
    """The judge is asked about claims whose score lies strictly between these."""
    scores: JudgeScores = field(default_factory=JudgeScores)
    structured: Structured = "json_schema"
    """How the form of the answer is asked for; `json_object` for servers that know no JSON Schema."""
    max_tokens: int = 4096
    seed: int = 0
    most_chars: int = 60_000
    """The longest text that is sent, in characters; a longer one is an error, nothing is cut."""
    timeout_s: float = 20.0
    """The time that a request has, retries and pauses included."""
    connect_timeout_s: float = 5.0
    retries: int = 1
    """How often it is asked again after 429, 5xx or a broken connection."""
    backoff_s: float = 0.5
    """The pause before the first retry; it doubles with each."""
    parallel: int = 4
    """How many drafts of a batch are asked about at the same time."""
    remembered: int = 1024
    """How many answers are kept in memory."""
    cache: str | os.PathLike[str] | None = None
    """An SQLite file that keeps every answer."""
    allow_insecure: bool = False
    """Send the key over http to another host."""
    use_proxy: bool = True
    """Go through the proxy that the environment names, if it names one."""

    def check(self) -> None:
        """Refuse what cannot be meant; the address is checked where it is taken apart."""
        _check_bounds("ask_between", self.ask_between)
        checked_whole("max_tokens", self.max_tokens, 1, 1_000_000)
        checked_whole("seed", self.seed, 0, 2**31 - 1)
        checked_whole("most_chars", self.most_chars, 1, 100_000_000)
        checked_whole("retries", self.retries, 0, 10)
        checked_whole("parallel", self.parallel, 1, 64)
        checked_whole("remembered", self.remembered, 1, 10_000_000)
        checked_number("timeout_s", self.timeout_s, SHORTEST_WAIT_S, LONGEST_WAIT_S)
        checked_number("connect_timeout_s", self.connect_timeout_s, SHORTEST_WAIT_S, LONGEST_WAIT_S)
        checked_number("backoff_s", self.backoff_s, 0, LONGEST_WAIT_S)
        if self.structured not in ("json_schema", "json_object"):
            raise InputError(f"structured must be 'json_schema' or 'json_object', got {shown(self.structured)}")
        if not isinstance(self.scores, JudgeScores):
            raise InputError(f"scores must be JudgeScores(...), got {shown(self.scores)}")
        _check_path("cache", self.cache)


def _check_bounds(name: str, value: object) -> None:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InputError(f"{name} must be two numbers such as (0.2, 0.8), got {shown(value)}")
    for bound in value:
        checked_number(name, bound, 0, 1)
    if value[0] >= value[1]:
        raise InputError(f"{name} must have the lower bound first, got {shown(value)}")


def _check_path(name: str, value: object) -> None:
    if value is None:
        return
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(path, str) or not path.strip() or path == ":memory:" or "\0" in path:
        raise InputError(
            f"{name} must be the path of a file, or None to keep answers in memory only, got {shown(value)}"
        )
