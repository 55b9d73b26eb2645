"""`stillme serve` and `stillme keys`: the HTTP service and who may call it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stillme.cli.options import FOUND_HERE, MODE, extra_needed, moment_given
from stillme.cli.printing import print_text

if TYPE_CHECKING:
    from stillme.service.auth import Keys

__all__ = ["keys", "serve"]

SCOPE_HELP = (
    "What the key opens: verify, chat, viewer, reviewer, operator or admin (everything). May be given several times."
)


@click.command(short_help="Serve verification and chat over HTTP.")
@click.option("--config", metavar="FILE", help="Settings in YAML, by the names of their environment variables.")
@click.option("--host", metavar="ADDRESS", help="Where to listen; any address but loopback needs API keys. [127.0.0.1]")
@click.option("--port", metavar="NUMBER", help="The port; 0 takes a free one. [8000]")
@click.option("--workers", metavar="NUMBER", help="How many processes serve. [1]")
@click.option("--data", metavar="FOLDER", help="For whatever is kept in files. [stillme-data]")
@click.option(
    "--policy",
    metavar="FILE|PRESET",
    help="A YAML file, which is followed while serving, or lite, book, strict. [policy.yaml of this folder, lite]",
)
@MODE
@click.option("--store", "audit_store", metavar="PATH|URL|none", help="The audit store. [audit.db in the data folder]")
@click.option("--knowledge", metavar="PATH|URL", help="The knowledge store. [knowledge.db in the data folder]")
def serve(**flags: Any) -> None:
    """Serve verification and chat over HTTP, on loopback unless told otherwise; /docs shows what there is.

    Every option has an environment variable, which it replaces; docs/service-api.md lists them all. What neither says is read from the
    file that --config or STILLME_CONFIG names.
    """
    with extra_needed("the service", "service"):
        from stillme.service.configuration import configure
        from stillme.service.server import serve as run
    # The processes that serve read the environment: a flag has to be there.
    given = {name: str(value) for name, value in flags.items() if value is not None}
    os.environ.update({f"STILLME_{name.upper()}": value for name, value in given.items()})
    configure(os.environ)
    run(os.environ, _greet)


def _greet(address: str) -> None:
    print_text(f"StillMe serves at {address} (open it; {address}/docs is the API); Ctrl-C stops it.")
    for line in _in_force():
        click.echo(line, err=True)


def _in_force() -> Iterator[str]:
    """The policy that is used, and the mode of each endpoint."""
    from stillme.chat.settings import ChatSettings
    from stillme.policy import PolicyWatcher
    from stillme.service.modes import endpoint_modes

    settings = ChatSettings.from_environment(os.environ)
    if settings.policy is None and settings.policy_source is not None:
        yield FOUND_HERE
    found = [settings.verify_policy(), settings.chat_policy()]
    verify, chat = (each.policy if isinstance(each, PolicyWatcher) else each for each in found)
    modes = endpoint_modes(verify, chat, validates=settings.validate)
    for mode in dict.fromkeys(modes.values()):
        yield f"mode: {mode} at {', '.join(path for path, each in modes.items() if each == mode)}"
    if not settings.validate:
        yield "note: chat answers at /api/chat/rag are not validated: ENABLE_VALIDATORS=true turns the validators on"


@click.group(short_help="Make, list and revoke API keys.")
def keys() -> None:
    """Make, list and revoke API keys. A running service takes changes up at once."""


KEYS_FILE = click.option(
    "--keys-file",
    metavar="FILE",
    envvar="STILLME_KEYS_FILE",
    show_envvar=True,
    help="[keys.json in the folder STILLME_DATA, stillme-data by default]",
)


@keys.command("create", short_help="Make a key and show it once.")
@click.argument("name")
@click.option("--scope", "scopes", multiple=True, required=True, metavar="SCOPE", help=SCOPE_HELP)
@click.option(
    "--expires", metavar="DATE|DAYSd", help="When it stops opening anything: 2027-01-31 (UTC), or 90d. Without: never."
)
@KEYS_FILE
def create(name: str, scopes: tuple[str, ...], expires: str | None, keys_file: str | None) -> None:
    """Make a key called NAME and print it. Only its hash is kept: it cannot be shown again."""
    print_text(_keys(keys_file).create(name, scopes, _end(expires)))


def _end(given: str | None) -> datetime | None:
    """The moment that --expires names."""
    if given is None:
        return None
    days = given.removesuffix("d")
    if days != given and days.isdecimal() and len(days) <= 5:
        return datetime.now(UTC) + timedelta(days=int(days))
    return moment_given(given)


@keys.command("list", short_help="List the keys.")
@KEYS_FILE
def list_keys(keys_file: str | None) -> None:
    """List the keys: id, name, scopes, when they were made and when they expire."""
    for key in _keys(keys_file).all():
        end = f"  {'expired' if key.is_expired else 'expires'} {key.expires}" if key.expires else ""
        print_text(f"{key.id}  {key.name}  {','.join(key.scopes)}  {key.created}{end}")


@keys.command("revoke", short_help="Shut a key out.")
@click.argument("name")
@KEYS_FILE
def revoke(name: str, keys_file: str | None) -> None:
    """Shut out the key called NAME (or with that id)."""
    _keys(keys_file).revoke(name)
    click.echo(f"revoked: {name}", err=True)


def _keys(path: str | None) -> Keys:
    from stillme.service.auth import Keys
    from stillme.service.configuration import configure
    from stillme.service.settings import ServiceSettings

    configure(os.environ)
    return Keys(Path(path) if path else ServiceSettings.from_environment(os.environ).keys_file)
