"""Templates of the console; every text in them is escaped as on every other page, and shows its invisible characters."""

from __future__ import annotations

import hashlib
import html
import json
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from stillme.pages.rendering import ESCAPING

__all__ = ["ASSETS", "asset", "asset_address", "render"]

TYPES: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
SCRIPTS: Final = ("chat.js", "documents.js", "page.js", "policy.js", "review.js", "try.js")
ASSETS: Final = ("console.css", *SCRIPTS, "icon.svg")


def render(template: str, **view: Any) -> str:
    """The output of a template."""
    return _environment().get_template(template).render(view)


@cache
def asset(name: str) -> tuple[bytes, str]:
    """A file that pages load, and its type."""
    content = files("stillme.console").joinpath("assets", name).read_bytes()
    return content, TYPES[name.rpartition(".")[2]]


@cache
def asset_address(name: str) -> str:
    """Where a page finds it; another content has another address, so that browsers may keep it."""
    return f"/assets/{_digest()}/{name}"


@cache
def _digest() -> str:
    """One for all, since scripts import one another by name."""
    return hashlib.sha256(b"".join(asset(name)[0] for name in ASSETS)).hexdigest()[:12]


def _field(text: object) -> Markup:
    """A text as the value of a field: as it is, with nothing made visible, since it is sent back."""
    return Markup(html.escape(str(text)))  # noqa: S704


def _breakable(code: str) -> Markup:
    """A code that may break behind its underscores and dots."""
    return Markup(".<wbr>").join(Markup("_<wbr>").join(part.split("_")) for part in code.split("."))


def _coded(text: str) -> Markup:
    """A sentence whose parts between backticks are commands."""
    escape = ESCAPING["html"]
    parts = [
        escape(part) if n % 2 == 0 else Markup("<code>{}</code>").format(escape(part))
        for n, part in enumerate(text.split("`"))
    ]
    return Markup("").join(parts)


def _pretty(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@cache
def _environment() -> Environment:
    escape = ESCAPING["html"]
    made = Environment(
        loader=ChoiceLoader([PackageLoader("stillme.console"), PackageLoader("stillme.pages")]),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        finalize=lambda value: escape(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["asset"] = lambda name: Markup(asset_address(name))  # noqa: S704
    made.filters |= {"breakable": _breakable, "coded": _coded, "field": _field, "pretty": _pretty}
    made.filters["passage_pair"] = lambda passage: (passage["source_id"], passage["text"])
    return made
