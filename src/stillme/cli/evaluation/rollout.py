"""`stillme rollout`: where a rollout stands, and the next mode, if the gates hold."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from stillme.cli.options import FORM, moment_given, policy_option, takes_quotas, takes_store, user_name
from stillme.cli.printing import Exit, complain, human_wanted, print_json, tell
from stillme.errors import InputError

if TYPE_CHECKING:
    from stillme.audit import AuditStore
    from stillme.evaluation.rollout.checklist import Check
    from stillme.evaluation.rollout.promotion import Promotion
    from stillme.evaluation.rollout.status import Status
    from stillme.evaluation.rollout.weeks import WeeksWindow

__all__ = ["rollout"]

Command = TypeVar("Command", bound=Callable[..., Any])
MARKS = {"passed": "ok     ", "failed": "FAILED ", "unknown": "UNKNOWN"}


def takes_sampling(function: Command) -> Command:
    """A command with the options that say how the reviews were drawn; it gets them as `how`."""

    @functools.wraps(function)
    def run(*args: Any, as_of: str | None, **options: Any) -> Any:
        how = {name: options.pop(name) for name in ("baseline", "answers", "others", "seed")}
        return function(*args, how={**how, "as_of": moment_given(as_of)}, **options)

    weeks = click.option(
        "--baseline", metavar="YEAR-Wnn", multiple=True, help="A week of the baseline. Without: the first."
    )
    as_of = click.option("--as-of", metavar="TIME", help="As it stood at this day or point in time. Without: now.")
    return cast("Command", weeks(takes_quotas(as_of(run))))


@click.group(short_help="Say what is missing for the next mode, and go there.")
def rollout() -> None:
    """From monitor to warn to enforce, on the evidence of the audit store and against the section `rollout` of the policy."""


@rollout.command(short_help="Compute the checklist of a rollout.")
@policy_option("Whose thresholds hold. Without: the policy of the last verdict.")
@FORM
@takes_store()
@takes_sampling
@click.pass_context
def status(
    ctx: click.Context, store: AuditStore, policy: str | None, as_json: bool | None, how: dict[str, Any]
) -> None:
    """Say which mode is in force since when, what was recorded and reviewed, and what is missing for the next modes.

    Every check has its value, its threshold and, where it does not hold, the way out. What is unknown does not count as passed.

    \b
    Exit codes
       0  every check of the next step holds (in enforce: the checks of enforce still hold)
       3  an option, or the store, cannot be used
       4  the policy cannot be used
       7  a check failed or is unknown
    """
    from stillme.evaluation.rollout.modes import policy_in_force
    from stillme.evaluation.rollout.status import rollout_status
    from stillme.policy import Policy

    standing = rollout_status(store, Policy.load(policy) if policy else policy_in_force(store), **how)
    if human_wanted(as_json):
        tell(_status_lines(standing))
    else:
        run = asdict(standing.run) | {"days": standing.run.days}
        print_json(asdict(standing) | {"run": run, "is_open": standing.is_open})
    ctx.exit(Exit.ANSWER if standing.is_open else Exit.DIFFERENT)


@rollout.command(short_help="Write the next mode into the policy file, if the gates hold.")
@click.option("--policy", metavar="FILE", required=True, help="The policy file that is served.")
@click.option("--to", type=click.Choice(["warn", "enforce"]), help="Without: the mode after that of the file.")
@click.option(
    "--override", metavar="REASON", help="Go there although checks do not hold. Needs --by; goes into the record."
)
@click.option("--by", metavar="NAME", help="Who decides; goes into the record. Without an override: the user's name.")
@FORM
@takes_store(seals=True)
@takes_sampling
@click.pass_context
def promote(
    ctx: click.Context,
    store: AuditStore,
    policy: str,
    to: str | None,
    override: str | None,
    by: str | None,
    as_json: bool | None,
    how: dict[str, Any],
) -> None:
    """Write the next mode into the policy FILE if every check of it holds, and record that in the audit store.

    Only the line of the mode changes, or is added. Where a check does not hold the file stays as it is, unless somebody overrides it by
    name and with a reason; the record then has both, and the checks as they stood. To go from monitor straight to enforce is refused,
    and can only be overridden. A service that follows the file takes the mode up by itself.

    \b
    Exit codes
       0  the file has the new mode
       3  an option, the file or the store cannot be used; the file is unchanged
       4  the policy cannot be used
       5  the file or the store cannot be written; the file is unchanged
       7  a check failed or is unknown; the file is unchanged
    """
    from stillme.evaluation.rollout.promotion import promote as go

    if override is not None and not (by or "").strip():
        raise InputError("an override needs a name: give --by NAME, it goes into the record with the reason")
    done = go(store, policy, to=cast("Any", to), by=by or user_name(), override=override, **how)
    if human_wanted(as_json):
        tell(_promotion_lines(done, policy))
    else:
        closed = [asdict(check) for check in done.closed]
        print_json({"to": done.to, "record": done.record, "overridden": done.overridden, "closed": closed})
    if done.record is None:
        complain(f"{policy} is unchanged: {len(done.closed)} checks of {done.to} do not hold")
        ctx.exit(Exit.DIFFERENT)


# words


def _status_lines(standing: Status) -> Iterator[str]:
    run = standing.run
    if run.mode is None:
        yield "no verdict is recorded yet"
    else:
        yield f"{run.mode} since {run.since}: {run.days:.1f} days, {run.verdicts:,} verdicts, the last at {run.last}"
    for name, window in (("baseline", standing.baseline), ("current", standing.current)):
        yield from _window_lines(name, window)
    for step, checks in standing.checks.items():
        yield ""
        yield from _step_lines(step, checks, standing.run.mode == step)
    yield ""
    yield from (f"note: {note}" for note in standing.notes)


def _window_lines(name: str, window: WeeksWindow | None) -> Iterator[str]:
    from stillme.evaluation.rollout.estimates import figure_words

    yield ""
    if window is None:
        yield f"{name}: no such week has ended"
        return
    weeks = ", ".join(window.weeks)
    yield f"{name} {weeks}: {window.verdicts:,} verdicts, {window.reviewed:,} of the weekly sample reviewed"
    yield from (f"  {figure.name:<26} {figure_words(figure)}" for figure in (*window.figures, window.not_answered))


def _step_lines(step: str, checks: tuple[Check, ...], is_there: bool) -> Iterator[str]:
    missing = sum(check.state != "passed" for check in checks)
    held = "still hold" if is_there else "hold: `stillme rollout promote`"
    yield f"{step}: {f'{missing} of {len(checks)} checks missing' if missing else f'all {len(checks)} checks {held}'}"
    for check in checks:
        yield f"  {MARKS[check.state]} {check.name:<26} {check.said}"
        if check.way_out:
            yield f"  {'':<34} → {check.way_out}"


def _promotion_lines(done: Promotion, policy: str) -> Iterator[str]:
    if done.record is None:
        yield from _step_lines(done.to, done.closed, is_there=False)
        return
    how = f"{len(done.closed)} checks overridden" if done.overridden else "every check holds"
    yield f"{policy} is now in {done.to}: {how}, recorded as {done.record}"
    yield from (f"  {MARKS[check.state]} {check.name:<26} {check.said}" for check in done.closed)
