"""The audit commands that keep a store within bounds, and bring it back: erase, prune, vacuum, backup, restore, drain."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stillme.cli.options import (
    KEYS,
    STORE,
    Wanted,
    chosen_policy,
    entry_named,
    journal_option,
    keyring_of,
    opened,
    policy_option,
    require_name,
    takes_filters,
    takes_store,
)
from stillme.cli.printing import Exit, agreed, complain, followed, stepwise, tell
from stillme.errors import InputError, shown

if TYPE_CHECKING:
    from stillme.audit import AuditStore, Filter
    from stillme.audit.chain.checking import Checked
    from stillme.audit.retention import Pruned

__all__ = ["backup", "drain", "erase", "prune", "restore", "vacuum"]

YES = click.option("--yes", is_flag=True, help="Go on without being asked.")


@click.command(short_help="Erase the texts of verdicts, on request.")
@click.argument("traces", metavar="[TRACE]...", nargs=-1)
@click.option("--by", metavar="WHO", required=True, help="Who asks for it; goes into the record.")
@click.option("--why", metavar="TEXT", required=True, help="For which reason; goes into the record.")
@YES
@journal_option
@takes_store(seals=True)
@takes_filters
@click.pass_context
def erase(
    ctx: click.Context, store: AuditStore, traces: tuple[str, ...], by: str, why: str, yes: bool, wanted: Wanted
) -> None:
    """Erase the texts of the TRACEs, or of all verdicts that the filters choose, and the notes of the reviews on them.

    The rest of each record stays, also its session id, and so does the chain: a record says what was erased, who asked
    for it and why. It reaches neither backups nor exports, and for PostgreSQL the disk only after `stillme audit vacuum`.
    """
    from stillme.audit.retention import erase as erase_texts

    if bool(traces) == wanted.is_given:
        raise InputError("say whose texts to erase: trace ids, or filters such as --session")
    store.drain()
    filters = list(_one_each(store, traces)) if traces else [wanted.filter]
    number = sum(_with_texts(store, each) for each in filters)
    if not number:
        tell(["nothing to erase: no texts are kept of what was named"])
        return
    if not agreed(f"Erase the texts of {_records(number)} for good, and the notes of reviews on them?", yes):
        tell(["nothing was erased"])
        ctx.exit(Exit.OTHER)
    erased = [name for each in filters for name in erase_texts(store, each, who=by, why=why)]
    tell([f"erased the texts of {_records(len(erased))}:", *(f"  {name}" for name in erased)])
    tell(["Backups and exports made earlier still hold them."])


def _one_each(store: AuditStore, traces: Sequence[str]) -> Iterator[Filter]:
    from stillme.audit import Filter

    for trace in dict.fromkeys(entry_named(store, name).id for name in traces):
        yield Filter(id=trace)


def _with_texts(store: AuditStore, wanted: Filter) -> int:
    return sum(1 for record in store.records(wanted) if record.entry is not None and record.entry.body is not None)


def _records(number: int) -> str:
    return f"{number:,} record{'' if number == 1 else 's'}"


@click.command(short_help="Remove what is beyond its retention.")
@policy_option("The policy whose audit.retention is applied.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option(
    "--old-key", "old_keys", metavar="FILE", multiple=True, help="A key that sealed the store before the present one."
)
@YES
@takes_store(seals=True)
@click.pass_context
def prune(
    ctx: click.Context, store: AuditStore, policy: str | None, dry_run: bool, old_keys: tuple[str, ...], yes: bool
) -> None:
    """Remove texts and records that are older, or take more room, than audit.retention of the policy allows.

    The store is verified first, and left alone if it is not whole. A record of its own, a tombstone, says what went
    under which rules; the chain stays valid.
    """
    from stillme.audit.chain.seals import Keyring, key_from_file
    from stillme.audit.retention import prune as prune_store
    from stillme.policy import Policy

    ring = Keyring((store.key, *map(key_from_file, old_keys)))
    retention = Policy.load(chosen_policy(policy)).audit.retention
    doomed = prune_store(store, retention, dry_run=True)
    if not doomed.texts and not doomed.records:
        tell(["nothing to remove: everything is within the retention of the policy"])
        return
    if dry_run:
        tell([f"would remove {_removed(doomed)}"])
        return
    if not agreed(f"Remove {_removed(doomed)}, for good?", yes):
        tell(["nothing was removed"])
        ctx.exit(Exit.OTHER)
    done = prune_store(store, retention, keys=ring)
    tell([f"removed {_removed(done)}; {done.tombstone} says so", "`stillme audit vacuum` gives the space back"])


def _removed(pruned: Pruned) -> str:
    """Both numbers: a record that goes takes its texts along."""
    return f"{_records(pruned.records)}, and the texts of {_records(pruned.texts)}"


@click.command(short_help="Give the space of removed rows back.")
@takes_store()
def vacuum(store: AuditStore) -> None:
    """Rewrite the store without what was deleted from it; writers wait meanwhile."""
    before = store.database.bytes_used()
    store.database.vacuum()
    after = store.database.bytes_used()
    tell([f"{before / 1e6:,.1f} MB before, {after / 1e6:,.1f} MB now"])


@click.command(short_help="Copy a SQLite store while it is in use.")
@click.argument("file")
@takes_store()
def backup(store: AuditStore, file: str) -> None:
    """Copy the store to FILE as of one moment, while others go on writing; a file that is there is never overwritten.

    A store in PostgreSQL is backed up with pg_dump, or on any engine with `stillme audit export FILE`, which `restore`
    reads. The key is not part of either: keep a copy of it, apart.
    """
    copy = getattr(store.database, "backup", None)
    if copy is None:
        raise InputError(
            f"{store.database.name} is backed up with the tools of its server: use pg_dump, "
            "or `stillme audit export FILE.jsonl`, which `stillme audit restore` reads"
        )
    if Path(file).exists():
        raise InputError(f"{shown(file)} exists: a backup never overwrites, choose another name")
    before = os.umask(0o077)  # the copy holds what people wrote
    try:
        copy(file)
    finally:
        os.umask(before)
    with opened(file, seals=False) as made:
        head = made.head()
    tell([f"{head.seq:,} records copied to {file}, up to hash {head.hash}"])
    tell([f"check it: stillme audit verify --store {file} --key KEY"])
    tell(
        [
            f"The key is not in it: keep a copy of the key file apart, and put it at {file}.key to use the copy as a store."
        ]
    )


@click.command(short_help="Make a store of an export.")
@click.argument("export")
@STORE
@KEYS
@click.pass_context
def restore(ctx: click.Context, export: str, store: str | None, keys: tuple[str, ...]) -> None:
    """Make the store, which must be new or empty, of an EXPORT of a whole store; the export is verified first.

    The records keep their numbers, hashes and seals, so the store goes on with the same chain. Its writers need the key
    that the export was sealed with.
    """
    from stillme.audit import AuditStore
    from stillme.audit.chain.checking import check_export
    from stillme.audit.export import restore as restore_into

    where = require_name(store)
    ring = keyring_of(keys, where)
    if not ring.keys:
        raise InputError("a restored store goes on with its key: give the key file with --key")
    with followed(None, "records checked") as follow:
        checked = check_export(export, ring, follow=stepwise(follow))
    if _refused(checked, export):
        ctx.exit(Exit.TAMPERED if checked.fault else Exit.NOT_VERIFIED)
    with AuditStore(where, key=ring.keys[-1]) as made:
        number = restore_into(made, export, ring)
    tell([f"{_records(number)} restored into {where}, up to hash {checked.found.head.hash}"])
    tell(
        [
            "Its writers need the same key: name it with STILLME_AUDIT_KEY_FILE, or put it beside a SQLite store as STORE.key."
        ]
    )


def _refused(checked: Checked, export: str) -> bool:
    """Whether the export must not become a store; says why."""
    if checked.fault is not None:
        complain(f"{export} was not restored: {checked.fault}")
    elif checked.subject != "whole export":
        raise InputError(f"{shown(export)} is no export of a whole store in JSON lines: export without filters")
    elif not checked.is_complete:
        unknown = ", ".join(checked.unchecked)
        complain(f"{export} was not restored: it has seals of {unknown}, whose key was not given; give all keys")
    return not checked.is_complete


@click.command(short_help="Move what waits in the local journal into the store.")
@journal_option
@takes_store(seals=True)
@click.pass_context
def drain(ctx: click.Context, store: AuditStore) -> None:
    """Move what was spooled while the store could not be written (audit.on_failure: spool) into the store.

    A process that writes to the store does this by itself when the store is back; this is for when none is left. A damaged
    file is set aside and named (exit code 5): nothing is dropped without a word.
    """
    drained = store.drain()
    tell([f"{drained.delivered:,} moved into the store, {store.journal.pending():,} still waiting"])
    for file in drained.damaged:
        complain(str(file))
    if drained.damaged:
        ctx.exit(Exit.NOT_VERIFIED)
