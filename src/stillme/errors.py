"""Every exception this package raises.

StillMeError
├── InputError      the caller sent something that cannot be verified
├── PolicyError     the operator's policy cannot be used (raised when it is loaded, never while verifying)
├── BackendError    something outside this package failed: a guard callable, a plugin, a file that cannot be read
│   └── UpstreamError   a model server gave no usable answer
└── StoppedError    the work was stopped, because nobody waits for it any more

A failed verification is not an exception: it is a verdict.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final

__all__ = [
    "BackendError",
    "InputError",
    "PolicyError",
    "StillMeError",
    "StoppedError",
    "UpstreamError",
    "nearest",
    "shown",
    "without_secrets",
]


class StillMeError(Exception):
    """Base of every exception of this package."""


class InputError(StillMeError):
    """The request cannot be verified as it stands; the message names the field, the value and the way out."""


class PolicyError(StillMeError):
    """The policy cannot be used; the message names the key, the value and the valid choices."""


class BackendError(StillMeError):
    """Code or a service outside this package failed while it was asked for help."""


class UpstreamError(BackendError):
    """A model server gave no usable answer; its own words stay out of the message."""

    def __init__(self, message: str, *, retry_after_s: float | None = None, timed_out: bool = False) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.timed_out = timed_out


class StoppedError(StillMeError):
    """The work was stopped by whoever had asked for it; there is no result, and nothing is recorded."""


LONGEST_ADDRESS: Final = 4_000
PASSWORD: Final = re.compile(r"(\bpassword\s?=\s?)(?:'[^']*+'|\S++)")


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The choice that looks most like `word`, if one looks like it at all."""
    close = difflib.get_close_matches(word[:100], sorted(choices), n=1, cutoff=0.6)
    return close[0] if close else None


def way_out(word: str, choices: Iterable[str], listed: str) -> str:
    """What may have been meant in place of a word that is no choice, else all that there is to choose from."""
    known = list(choices)
    guess = nearest(word, known)
    return f"did you mean {guess}?" if guess else f"{listed} {', '.join(known)}"


def without_secrets(text: str) -> str:
    """A text that may be the address of a store, without the user and the password in it."""
    head, rest = text[:LONGEST_ADDRESS], text[LONGEST_ADDRESS:]
    scheme, mark, address = head.partition(":/")
    if mark and scheme.replace("+", "").isalnum():
        head = f"{scheme}{mark}{_without_user(address)}"
    return PASSWORD.sub(r"\1…", head) + rest


def _without_user(address: str) -> str:
    """An address without what stands before its last @."""
    place = [*address.split(maxsplit=1), ""][0]
    at = address.rfind("@", 0, len(place))
    if at < 0:
        return address
    slash = "/" if address.startswith("/") else ""
    return f"{slash}…{address[at:]}"


def shown(value: object, limit: int = 80) -> str:
    """A value as it may stand in a message: one line, no control characters, no password of an address, never long."""
    head = without_secrets(value)[: limit + 1] if isinstance(value, str) else value
    text = ascii(head) if isinstance(head, str) and not head.isprintable() else repr(head)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
