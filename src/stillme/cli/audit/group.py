"""`stillme audit`: the commands on the audit trail, gathered from the files that hold them by theme."""

from __future__ import annotations

import click

from stillme.cli.audit import proof, records, review, upkeep

__all__ = ["audit"]


@click.group(short_help="Prove, replay, find, review and keep the recorded verdicts.")
def audit() -> None:
    """Work on the audit trail: every verdict that a guard with `audit` has recorded.

    The store is named by --store or STILLME_AUDIT_STORE, the key by --key or STILLME_AUDIT_KEY_FILE; beside a store in
    SQLite the key is found by itself. A TRACE is a trace id, an unambiguous beginning of one, or a request id.

    \b
    Exit codes, where the command does not say more:
       0  done
       3  what was asked for cannot be understood, or is not there
       5  it could not be done: the store cannot be reached or written
    """


for module in (proof, records, review, upkeep):
    for name in module.__all__:
        audit.add_command(getattr(module, name))
