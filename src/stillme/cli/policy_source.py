"""Which policy a command works with where none is named."""

from __future__ import annotations

import click

__all__ = ["FOUND_HERE", "chosen_policy"]

FOUND_HERE = "note: the policy is policy.yaml of this folder; --policy names another"


def chosen_policy(named: str | None) -> str | None:
    """The policy that is named, else the file of the working folder, which is then told; None where there is neither."""
    if named:
        return named
    from stillme.policy.reader import policy_here

    found = policy_here()
    if found is not None:
        click.echo(FOUND_HERE, err=True)
    return found
