"""What the audit commands share: how a store, its keys and the wanted records are named, and how results are printed.

What a command needs is imported when it runs, so that `--help` is instant.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import click

from stillme.cli.verdict_text import print_text
from stillme.errors import InputError, shown

if TYPE_CHECKING:
    from stillme.audit import AuditStore, Filter
    from stillme.audit.chain.record import Entry
    from stillme.audit.chain.seals import Keyring
    from stillme.storage.audit.database import Database

__all__ = [
    "FORM",
    "KEY",
    "KEYS",
    "LABELS",
    "STORE",
    "STORE_VARIABLE",
    "Wanted",
    "agreed",
    "entry_named",
    "followed",
    "human_wanted",
    "journal_option",
    "keyring_of",
    "opened",
    "print_json",
    "recording",
    "require_name",
    "stepwise",
    "takes_filters",
    "takes_store",
    "tell",
    "user_name",
]

Command = TypeVar("Command", bound=Callable[..., Any])
STORE_VARIABLE = "STILLME_AUDIT_STORE"
KEY_VARIABLE = "STILLME_AUDIT_KEY_FILE"
LABELS = ("correct", "false_refusal", "missed_hallucination", "wrong_reason", "unclear")
STEP = 500

STORE = click.option(
    "--store",
    metavar="PATH|URL",
    envvar=STORE_VARIABLE,
    show_envvar=True,
    help="The audit store: a file, or postgresql://…",
)
KEY = click.option(
    "--key",
    metavar="FILE",
    envvar=KEY_VARIABLE,
    show_envvar=True,
    help="The key that seals it. Without: the file beside a store in SQLite, STORE.key.",
)
KEYS = click.option(
    "--key",
    "keys",
    type=click.Path(),  # a list in the environment is parted like PATH, so a blank may stand in a name
    metavar="FILE",
    multiple=True,
    envvar=KEY_VARIABLE,
    show_envvar=True,
    help="A key to check seals with, as often as there are keys. Without: the file beside a store in SQLite, STORE.key.",
)
FORM = click.option(
    "--json/--human",
    "as_json",
    default=None,
    help="Without either: a table on a terminal, else one JSON object a line.",
)


def journal_option(function: Command) -> Command:
    """The option that names the folder of the local journal."""
    words = "The local journal. Without: STORE.journal, or stillme-audit.journal here for PostgreSQL."
    return click.option("--journal", metavar="FOLDER", help=words)(function)


# the store


class _Keyless:
    """Stands for the key where a store is only read."""

    id, kind, can_seal = "", "none", False

    def seal(self, _: str) -> NoReturn:
        raise InputError("the audit store has no record at all: run `stillme audit verify`, or check its name")

    def confirms(self, _: str, __: str) -> bool:
        return False


def opened(
    where: str | None, *, seals: bool, key: str | None = None, journal: str | None = None
) -> AbstractContextManager[AuditStore]:
    """The store of that name, which must be there; one that is only read needs no key."""
    from stillme.audit import AuditStore
    from stillme.storage.audit.engines import database_at

    name = require_name(where)
    probe = database_at(name)
    if not _is_there(probe):
        raise InputError(f"there is no audit store {shown(name)}: check the name; a guard with `audit` makes one")
    return AuditStore(name, key=(key or None) if seals else _Keyless(), journal=journal, create=False)


def require_name(where: str | None) -> str:
    """The name of a store, which has to be given."""
    if not where:
        raise InputError(f"no audit store is named: give --store PATH|URL, or set {STORE_VARIABLE}")
    return where


def _is_there(database: Database) -> bool:
    """Whether the database has the tables of an audit store; asking leaves nothing behind."""
    from stillme.storage.audit.database import RECORD

    path: Path | None = getattr(database, "path", None)
    try:
        return (path is None or path.is_file()) and bool(database.rows(database.table_query, [RECORD]))
    finally:
        database.close()


def takes_store(*, seals: bool = False) -> Callable[[Command], Command]:
    """A command whose first argument is the opened store; `seals` where it writes records or seals a file."""

    def decorate(function: Command) -> Command:
        @functools.wraps(function)
        def run(*args: Any, store: str | None, key: str | None = None, journal: str | None = None, **rest: Any) -> Any:
            with opened(store, seals=seals, key=key, journal=journal) as found:
                return function(found, *args, **rest)

        return cast("Command", STORE(KEY(run) if seals else run))

    return decorate


def recording(where: str | None, key: str | None) -> AbstractContextManager[AuditStore | None]:
    """The store that verdicts go to, made if it is not there; none where none is named."""
    if not where:
        return nullcontext()
    from stillme.audit import AuditStore

    return AuditStore(where, key=key or None)


def user_name() -> str:
    """Who calls from a command line, as the operating system knows them."""
    import getpass

    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError, ImportError):  # a user number that has no name, as in some containers
        return "cli"


def entry_named(store: AuditStore, name: str) -> Entry:
    """What the record of a trace id, of its beginning or of a request id says."""
    entry = store.find(name).entry
    if entry is None:
        raise InputError(f"{shown(name)} was removed by retention: only its hashes are left")
    return entry


def keyring_of(files: tuple[str, ...], where: str | None) -> Keyring:
    """The keys in the files, else the one beside the store; none where there is none."""
    from stillme.audit.chain.seals import Keyring, key_from_file
    from stillme.storage.audit.engines import database_at

    if not files and where and not where.startswith("postgres"):
        store = Path(getattr(database_at(where), "path", where))
        files = tuple(str(file) for file in [store.with_name(f"{store.name}.key")] if file.is_file())
    return Keyring(tuple(key_from_file(file) for file in files))


# the wanted records

FILTERS = (
    click.option(
        "--since", metavar="TIME", help="From this day or point in time on: 2026-02-01, 2026-W06, 2026-02-01T09:00Z."
    ),
    click.option("--until", metavar="TIME", help="Up to this day or point in time, which is not included."),
    click.option("--decision", type=click.Choice(["answer", "refuse", "ask_clarify"])),
    click.option("--action", type=click.Choice(["deliver", "deliver_with_warning", "block", "clarify"])),
    click.option("--reason", metavar="CODE", help="A reason code, as `stillme reasons` lists them."),
    click.option("--mode", type=click.Choice(["monitor", "warn", "enforce"])),
    click.option("--band", type=click.Choice(["low", "medium", "high"]), help="The confidence band."),
    click.option("--domain", metavar="NAME", help="As the request's metadata.domain."),
    click.option("--session", metavar="ID", help="As the request's metadata.session_id."),
    click.option("--language", metavar="CODE", help="Of the user: en, vi."),
    click.option("--caller", metavar="NAME", help="Who asked for the verdict."),
    click.option("--text", metavar="WORDS", help="Stands in a kept text, whatever the case and the accents."),
)
FILTER_NAMES = (
    "since",
    "until",
    "decision",
    "action",
    "reason",
    "mode",
    "band",
    "domain",
    "session",
    "language",
    "caller",
    "text",
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The filter that the options ask for, and whether they ask for anything."""

    filter: Filter
    is_given: bool


def takes_filters(function: Command) -> Command:
    """A command with options that choose records; it gets them as `wanted`."""

    @functools.wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        given = {name: options.pop(name) for name in FILTER_NAMES}
        return function(*args, wanted=_wanted(given), **options)

    for option in reversed(FILTERS):
        run = option(run)
    return cast("Command", run)


def _wanted(given: dict[str, Any]) -> Wanted:
    from stillme.audit.query import Filter, moment

    times = {name: moment(text) for name in ("since", "until") if (text := given[name]) is not None}
    chosen = Filter(**{**given, **times})
    return Wanted(chosen, chosen != Filter())


# printing


def human_wanted(as_json: bool | None) -> bool:
    """Whether a person reads stdout."""
    return not as_json if as_json is not None else sys.stdout is not None and sys.stdout.isatty()


def tell(lines: Iterator[str] | list[str]) -> None:
    """Print lines for people, in characters that do nothing to a terminal."""
    from stillme.cli.terminal import visible

    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    for line in lines:
        click.echo(visible(line, encoding))


def print_json(value: object) -> None:
    """Print a value for programs, on one line."""
    print_text(json.dumps(value, ensure_ascii=False))


def followed(total: int | None, words: str) -> AbstractContextManager[Callable[[int], None]]:
    """A bar on stderr where that is a terminal; what it gives is told how many more are done."""
    if sys.stderr is None or not sys.stderr.isatty():
        return nullcontext(lambda _: None)
    from stillme.cli.audit.pages import bar

    return bar(total, words)


def stepwise(follow: Callable[[int], None]) -> Callable[[object], None]:
    """Tells of every so many things at once: a bar that moves for each would take longer than the work."""
    count = 0

    def advance(_: object) -> None:
        nonlocal count
        count += 1
        if count % STEP == 0:
            follow(STEP)

    return advance


def agreed(question: str, yes: bool) -> bool:
    """Whether to go on: asked on stderr, unless the command said so already."""
    if yes:
        return True
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        raise InputError("nothing was done, for nobody answered: give --yes to go on without being asked") from None
