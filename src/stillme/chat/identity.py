"""Who answers: a short system prompt in each language, versioned, that an operator may replace."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from stillme.errors import InputError, PolicyError, shown
from stillme.languages import DEFAULT, languages, load

__all__ = [
    "IDENTITY_VERSION", "STILLME_IDENTITY", "Identity", "identity_from_file", "identity_from_text", "identity_text",
    "inject_identity",
]  # fmt: skip

LONGEST: Final = 16_000
OWN: Final = "own"
"""The version of an identity that an operator wrote; its hash tells which one it was."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A system prompt by the code of its language."""

    texts: Mapping[str, str]
    version: str = OWN

    def text(self, language: str = DEFAULT) -> str:
        """The prompt in a language; in the default one where there is none."""
        return self.texts.get(language) or self.texts[DEFAULT]

    @property
    def hash(self) -> str:
        """SHA-256 of the texts: it changes whenever a model is told something else."""
        return hashlib.sha256("\0".join(self.texts.values()).encode()).hexdigest()


def _shipped() -> Identity:
    texts = {each.code: str(each.rules("identity")["text"]).strip() for each in languages()}
    return Identity(texts, str(load("identity")["version"]))


STILLME_IDENTITY: Final = _shipped()
IDENTITY_VERSION: Final = STILLME_IDENTITY.version


def identity_text(language: str = DEFAULT) -> str:
    """The shipped system prompt in a language."""
    return STILLME_IDENTITY.text(language)


def inject_identity(user_prompt: str, *, language: str = DEFAULT, identity: Identity | str | None = None) -> str:
    """The prompt behind the identity, which comes first and stands there once."""
    if not user_prompt.strip():
        raise InputError(f"user_prompt is blank ({shown(user_prompt)}): send the question, with its context")
    chosen = identity_from_text(identity) if isinstance(identity, str) else identity or STILLME_IDENTITY
    text = chosen.text(language)
    return user_prompt if user_prompt.startswith(f"{text}\n\n") else f"{text}\n\n{user_prompt}"


def identity_from_text(text: str, name: str = "the identity") -> Identity:
    """An operator's own words, the same in every language."""
    return _checked(dict.fromkeys(_codes(), text), name)


def _codes() -> list[str]:
    return [each.code for each in languages()]


def identity_from_file(path: str | Path) -> Identity:
    """An operator's own words from a file: plain text for every language, or YAML with a text by code."""
    file = Path(path)
    name = f"the identity file {shown(str(path))}"
    try:
        text = file.read_text(encoding="utf-8-sig")
        parsed = yaml.safe_load(text) if file.suffix.lower() in (".yaml", ".yml") else text
    except OSError as error:
        raise PolicyError(f"{name} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise PolicyError(f"{name} is not UTF-8 text: save it as UTF-8") from None
    except (yaml.YAMLError, RecursionError):
        raise PolicyError(
            f"{name} is not YAML: give the keys {' and '.join(_codes())}, or plain text in a .txt file"
        ) from None
    return _from_yaml(parsed, name) if not isinstance(parsed, str) else identity_from_text(parsed, name)


def _from_yaml(parsed: Any, name: str) -> Identity:
    """All languages, or some, of which the first serves for the rest."""
    codes = _codes()
    if not isinstance(parsed, dict) or not parsed or not set(parsed) <= set(codes):
        given = ", ".join(shown(key) for key in list(parsed)[:4]) if isinstance(parsed, dict) else shown(parsed)
        raise PolicyError(f"{name} must have the keys {' and '.join(codes)} and no others, got {given or 'nothing'}")
    only = next(iter(parsed.values()))
    return _checked({code: parsed.get(code, only) for code in codes}, name)


def _checked(texts: dict[str, Any], name: str) -> Identity:
    for language, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            raise PolicyError(f"{name} says nothing in {language}, got {shown(text)}: write who answers, and how")
        if len(text) > LONGEST:
            raise PolicyError(f"{name} has {len(text)} characters, at most {LONGEST} are taken: write less")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise PolicyError(f"{name} has a lone surrogate at character {error.start}: write Unicode text") from None
    return Identity({code: text.strip() for code, text in texts.items()})
