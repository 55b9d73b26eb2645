"""The audit commands that prove something: that nothing was changed, and that a verdict comes out the same again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stillme.cli.options import (
    JSON,
    KEYS,
    LABELS,
    STORE,
    Wanted,
    files_beside,
    keyring_of,
    opened,
    takes_filters,
    takes_store,
)
from stillme.cli.printing import Exit, complain, followed, print_json, print_text, stepwise, tell
from stillme.errors import InputError, shown

if TYPE_CHECKING:
    from stillme.audit import AuditStore
    from stillme.audit.chain.integrity import Checkpoint
    from stillme.audit.chain.record import Record
    from stillme.audit.replay import Replayer

__all__ = ["checkpoint", "key", "replay", "verify"]

OUTCOMES = {"altered": Exit.TAMPERED, "different": Exit.DIFFERENT, "not replayable": Exit.NOT_VERIFIED}


@click.command(short_help="Check that nothing was changed, added or taken away.")
@click.argument("export", metavar="[EXPORT]", required=False)
@STORE
@KEYS
@click.option(
    "--checkpoint",
    "anchors",
    type=click.Path(),  # a list in the environment is parted like PATH, so a blank may stand in a name
    metavar="FILE",
    multiple=True,
    envvar="STILLME_AUDIT_CHECKPOINTS",
    show_envvar=True,
    help="Lines that the service or `stillme audit checkpoint` wrote, kept elsewhere; as often as there are files. "
    "Without: the file beside a store in SQLite, STORE.checkpoints.",
)
@click.option("--chain-only", is_flag=True, help="Let it be enough where a seal cannot be checked for want of its key.")
@JSON
@click.pass_context
def verify(
    ctx: click.Context,
    /,
    export: str | None,
    store: str | None,
    keys: tuple[str, ...],
    anchors: tuple[str, ...],
    **how: bool,
) -> None:
    """Check every record of the store, or of an EXPORT without its database, and name the first that is wrong.

    Checked are the content of each record, its texts, its place in the chain, the seals, the policies, that everything
    missing is accounted for, and the checkpoints. EXPORT is a file of `stillme audit export`; a CSV or Parquet file is
    compared with the manifest beside it. Without a checkpoint kept elsewhere, a cut-off end cannot be noticed.

    \b
    The exit code:
       0  everything was checked, and is as it was written
       3  the store, the export, a key or a checkpoint cannot be read as one
       5  not everything could be checked: a key is missing, or the database cannot be reached
       6  a fault: something was changed, inserted, moved, deleted or cut off
    """
    files = anchors or (files_beside(store, "checkpoints") if export is None else ())
    given = [line for file in files for line in _checkpoints_in(file)]
    ring = keyring_of(keys, store)
    if export is not None:
        from stillme.audit.chain.checking import check_export

        with followed(None, "records checked") as follow:
            checked = check_export(export, ring, given, stepwise(follow))
    else:
        from stillme.audit import Filter
        from stillme.audit.chain.checking import check_store
        from stillme.audit.review.listing import count

        with opened(store, seals=False) as found, followed(count(found, Filter()), "records checked") as follow:
            checked = check_store(found, ring, given, stepwise(follow))
    if how["as_json"]:
        print_json(checked.to_dict())
    else:
        from stillme.cli.audit.pages import checked_lines

        tell(checked_lines(checked, chain_only=how["chain_only"]))
    if checked.fault is not None:
        ctx.exit(Exit.TAMPERED)
    ctx.exit(0 if checked.is_complete or how["chain_only"] else Exit.NOT_VERIFIED)


def _checkpoints_in(file: str) -> list[Checkpoint]:
    from stillme.audit.chain.integrity import Checkpoint

    try:
        lines = [line for line in Path(file).read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise InputError(f"{shown(file)} cannot be read: {getattr(error, 'strerror', None) or 'not a text'}") from None
    if not lines:
        raise InputError(f"{shown(file)} holds no checkpoint: give lines that `stillme audit checkpoint` printed")
    return [Checkpoint.parse(line) for line in lines]


@click.command(short_help="Print where the chain ends now, to be kept elsewhere.")
@takes_store()
def checkpoint(store: AuditStore) -> None:
    """Print one line that says where the chain ends now: store, number, hash and seal of the last record.

    Keep it where whoever can write the store cannot: in another system's log, in a ticket, on paper. `stillme audit
    verify --checkpoint FILE` then notices an end that was cut off, and a chain that was written anew.
    """
    from stillme.audit.chain.checking import checkpoint_line, checkpoint_of

    print_text(checkpoint_line(checkpoint_of(store)))


@click.command(short_help="Verify stored requests again and compare.")
@click.argument("traces", metavar="[TRACE]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All verdicts, or those that the filters below choose.")
@click.option("--label", type=click.Choice(LABELS), help="Verdicts that a reviewer gave this label.")
@JSON
@takes_store()
@takes_filters
@click.pass_context
def replay(
    ctx: click.Context,
    store: AuditStore,
    traces: tuple[str, ...],
    everything: bool,
    label: str | None,
    as_json: bool,
    wanted: Wanted,
) -> None:
    """Verify stored requests again, each under its own policy, and say where the verdict is not the same, and why.

    Nothing is recorded. TRACE is a trace id, an unambiguous beginning of one, or a request id.

    \b
    The exit code is the first of these that holds:
       6  a record was changed since it was written; it is not replayed
       7  a verdict came out different
       5  a verdict could not be replayed: its texts are not kept, were redacted or erased
       0  every verdict came out the same
    """
    if bool(traces) == everything:
        raise InputError("say what to replay: trace ids, or --all")
    if traces and (wanted.is_given or label):
        raise InputError("filters go with --all, not with trace ids")
    from stillme.audit.replay import Replayer

    outcomes: Counter[str] = Counter()
    replayer = Replayer(store)
    found, total = _chosen(store, wanted, label) if everything else (map(store.find, traces), None)
    with followed(total, "replayed") if everything else nullcontext(lambda _: None) as follow:
        for record in found:
            outcomes[_outcome(replayer, record, as_json, many=everything)] += 1
            follow(1)
    if everything:
        _print_summary(outcomes, as_json)
    ctx.exit(next((code for outcome, code in OUTCOMES.items() if outcomes[outcome]), 0))


def _chosen(store: AuditStore, wanted: Wanted, label: str | None) -> tuple[Iterator[Record], int]:
    from stillme.audit.review.listing import count, labels

    chosen = replace(wanted.filter, kind="verdict")
    labelled = {trace for trace, given in labels(store).items() if label in given} if label else None
    found = store.records(chosen)
    if labelled is not None:
        found = (record for record in found if record.entry is not None and record.entry.id in labelled)
    return found, count(store, chosen)


def _outcome(replayer: Replayer, record: Record, as_json: bool, *, many: bool) -> str:
    """Replay a record and print how it came out; of many, people see only those that are not the same."""
    from stillme.audit.review.cases import altered

    fault = altered(record)
    if fault is not None or record.entry is None:  # what was changed says nothing about what was decided
        complain(f"{fault or f'record {record.seq} was removed'}; run `stillme audit verify`")
        return "altered"
    done = replayer.replay(record.entry)
    if as_json:
        places = [{"path": d.path, "recorded": d.recorded, "replayed": d.replayed} for d in done.differences]
        named = {"trace": done.trace, "outcome": done.outcome, "causes": list(done.causes)}
        print_json(named | {"differences": places})
    elif not many or done.outcome != "same":
        from stillme.cli.audit.pages import replay_lines

        tell(replay_lines(done))
    return done.outcome


def _print_summary(outcomes: Counter[str], as_json: bool) -> None:
    if not outcomes:
        raise InputError("no verdict matches: nothing was replayed")
    names = ["same", "different", "not replayable", *(["altered"] if outcomes["altered"] else [])]
    parts = [f"{outcomes[name]:,} {name}" for name in names]
    total = outcomes.total()
    click.echo(f"{total:,} verdict{'' if total == 1 else 's'}: {', '.join(parts)}", err=as_json)


@click.command(short_help="Make a key, or print the public half of one.")
@click.argument("file")
@click.option("--kind", type=click.Choice(["hmac", "ed25519"]), default="hmac", show_default=True)
@click.option("--public", is_flag=True, help="Print the public half of the Ed25519 key in FILE instead.")
def key(file: str, kind: str, public: bool) -> None:
    """Make a new key in FILE, which only its owner can read; a file that is there is never overwritten.

    With an HMAC key, whoever can check can also write. An Ed25519 key has a public half that only checks: give that to
    auditors (`stillme audit key --public FILE > FILE.public`).
    """
    from stillme.audit.chain.seals import key_from_file, new_key_file, public_key

    if public:
        print_text(public_key(key_from_file(file)))
        return
    made = new_key_file(file, kind)
    tell(
        [
            f"{made.kind}:{made.id} in {file}",
            "Keep a copy apart from the store: without it seals can be neither checked nor made.",
        ]
    )
