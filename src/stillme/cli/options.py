"""Options that several commands have: how a policy, a store, its keys and the wanted records are named.

What a command needs is imported when it runs, so that `--help` is instant.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import click

from stillme.errors import BackendError, InputError, shown

if TYPE_CHECKING:
    from stillme.audit import AuditStore, Filter
    from stillme.audit.chain.record import Entry
    from stillme.audit.chain.seals import Keyring
    from stillme.storage.audit.database import Database

__all__ = [
    "FORM", "FOUND_HERE", "JSON", "KEY", "KEYS", "LABELS", "MODE", "POLICY", "STORE", "STORE_VARIABLE", "Wanted",
    "chosen_policy", "entry_named", "extra_needed", "files_beside", "journal_option", "keyring_of", "moment_given", "opened",
    "policy_option", "recording", "require_name", "takes_filters", "takes_quotas", "takes_store", "user_name",
]  # fmt: skip

Command = TypeVar("Command", bound=Callable[..., Any])
STORE_VARIABLE = "STILLME_AUDIT_STORE"
KEY_VARIABLE = "STILLME_AUDIT_KEY_FILE"
LABELS = ("correct", "false_refusal", "missed_hallucination", "wrong_reason", "unclear")
FOUND_HERE = "note: the policy is policy.yaml of this folder; --policy names another"

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
    "--json/--human", "as_json", default=None, help="Without either: for people on a terminal, else JSON."
)
JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of words.")
MODE = click.option(
    "--mode", type=click.Choice(["monitor", "warn", "enforce"]), help="Replaces the mode of the policy."
)


def policy_option(words: str) -> Callable[[Command], Command]:
    """The option that names a policy, with what it is for."""
    return click.option("--policy", metavar="FILE|PRESET", envvar="STILLME_POLICY", show_envvar=True, help=words)


POLICY = policy_option("A YAML file, or lite, book, strict. Without: policy.yaml of this folder, else lite.")


def takes_quotas(function: Command) -> Command:
    """A command that is told how the reviews were drawn."""
    words = "As given to `stillme audit sample`."
    number = click.IntRange(min=0)
    seed = click.option("--seed", metavar="TEXT", help=f"{words} Without: the week.")
    refusals = click.option("--refusals", "others", type=number, default=50, show_default=True, help=words)
    answers = click.option("--answers", type=number, default=50, show_default=True, help=words)
    return answers(refusals(seed(function)))


def journal_option(function: Command) -> Command:
    """The option that names the folder of the local journal."""
    words = "The local journal. Without: STORE.journal, or stillme-audit.journal here for PostgreSQL."
    return click.option("--journal", metavar="FOLDER", help=words)(function)


def chosen_policy(named: str | None) -> str | None:
    """The policy that is named, else the file of the working folder, which is then told; None where there is neither."""
    if named:
        return named
    from stillme.policy.reader import policy_here

    found = policy_here()
    if found is not None:
        click.echo(FOUND_HERE, err=True)
    return found


def moment_given(text: str | None) -> datetime:
    """The point in time that an option names; without one, now."""
    if text is None:
        return datetime.now(UTC)
    from stillme.audit.query import moment

    return datetime.fromisoformat(moment(text))


@contextmanager
def extra_needed(what: str, extra: str) -> Iterator[None]:
    """Where imports of an optional part stand: a package that is missing is named, with how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise BackendError(f"{what} needs {error.name}: pip install 'stillme[{extra}]'") from None


# the store


class _Keyless:
    """Stands for the key where a store is only read."""

    id, kind = "", "none"

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

    return Keyring(tuple(map(key_from_file, files or files_beside(where, "key"))))


def files_beside(store: str | None, ending: str) -> tuple[str, ...]:
    """The file of that ending beside a store in SQLite, if it is there."""
    from stillme.storage.audit.engines import database_at

    if not store or store.startswith("postgres"):
        return ()
    path = Path(getattr(database_at(store), "path", store))
    return tuple(str(file) for file in [path.with_name(f"{path.name}.{ending}")] if file.is_file())


# the wanted records

FILTERS: dict[str, dict[str, Any]] = {
    "since": {"metavar": "TIME", "help": "From this day or point in time on: 2026-02-01, 2026-W06, 2026-02-01T09:00Z."},
    "until": {"metavar": "TIME", "help": "Up to this day or point in time, which is not included."},
    "decision": {"type": click.Choice(["answer", "refuse", "ask_clarify"])},
    "action": {"type": click.Choice(["deliver", "deliver_with_warning", "block", "clarify"])},
    "reason": {"metavar": "CODE", "help": "A reason code, as `stillme reasons` lists them."},
    "mode": {"type": click.Choice(["monitor", "warn", "enforce"])},
    "band": {"type": click.Choice(["low", "medium", "high"]), "help": "The confidence band."},
    "domain": {"metavar": "NAME", "help": "As the request's metadata.domain."},
    "session": {"metavar": "ID", "help": "As the request's metadata.session_id."},
    "language": {"metavar": "CODE", "help": "Of the user: en, vi."},
    "caller": {"metavar": "NAME", "help": "Who asked for the verdict."},
    "text": {"metavar": "WORDS", "help": "Stands in a kept text, whatever the case and the accents."},
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """The filter that the options ask for, and whether they ask for anything."""

    filter: Filter
    is_given: bool


def takes_filters(function: Command) -> Command:
    """A command with options that choose records; it gets them as `wanted`."""

    @functools.wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        given = {name: options.pop(name) for name in FILTERS}
        return function(*args, wanted=_wanted(given), **options)

    for name, settings in reversed(FILTERS.items()):
        run = click.option(f"--{name}", **settings)(run)
    return cast("Command", run)


def _wanted(given: dict[str, Any]) -> Wanted:
    from stillme.audit.query import Filter, moment

    times = {name: moment(text) for name in ("since", "until") if (text := given[name]) is not None}
    chosen = Filter(**{**given, **times})
    return Wanted(chosen, chosen != Filter())
