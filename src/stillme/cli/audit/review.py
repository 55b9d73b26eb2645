"""The audit commands for people who judge verdicts: label one, see how far reviewers agree, draw what to review."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from stillme.cli.options import FORM, JSON, LABELS, takes_store
from stillme.cli.printing import draw, human_wanted, print_json, tell
from stillme.errors import InputError

if TYPE_CHECKING:
    from stillme.audit import AuditStore
    from stillme.audit.review.sampling import Drawn, Sample

__all__ = ["review", "reviews", "sample"]


@click.command(short_help="Label a verdict.")
@click.argument("trace")
@click.option("--label", type=click.Choice(LABELS), required=True, help="What the reviewer thinks of the verdict.")
@click.option("--by", metavar="WHO", required=True, help="The reviewer; goes into the record.")
@click.option("--note", metavar="TEXT", default="", help="Why; kept like a text, and erased with the verdict's.")
@click.option("--unsupported", metavar="N", type=int, multiple=True, help="A claim that no source supports, from 1.")
@click.option("--all-supported", is_flag=True, help="Every claim was looked at, and each has its support.")
@takes_store(seals=True)
def review(
    store: AuditStore, trace: str, label: str, by: str, note: str, unsupported: tuple[int, ...], all_supported: bool
) -> None:
    """Record what a reviewer thinks of the verdict TRACE: a record of its own, which overwrites no earlier one.

    With --unsupported (several times, if need be) or --all-supported the claims are labelled too, by the numbers that `stillme audit
    show` gives them: the escape rate of a rollout is then counted by claims.

    A later label of the same reviewer counts instead of the earlier one; both stay recorded.

    \b
    correct               the decision is right, and for the right reason
    false_refusal         it should have been answered
    missed_hallucination  it should not have been answered
    wrong_reason          the decision is right, the reason is not
    unclear               cannot be told from what is recorded
    """
    from stillme.audit.review.reviews import review as record_review

    if unsupported and all_supported:
        raise InputError("--unsupported and --all-supported contradict each other: give one of them")
    claims = list(unsupported) if unsupported or all_supported else None
    made = record_review(store, trace, label, by, note, claims)
    tell([f"{made.id}: {made.ref} is {label}, says {made.caller}"])


@click.command(short_help="Show how far reviewers agree.")
@click.option("--since", metavar="TIME", help="Reviews given from this day or point in time on.")
@click.option("--until", metavar="TIME", help="Reviews given before this day or point in time.")
@JSON
@takes_store()
def reviews(store: AuditStore, since: str | None, until: str | None, as_json: bool) -> None:
    """Count the labels and say how far reviewers agree where several labelled one verdict.

    Percent agreement, Cohen's kappa for each pair, Krippendorff's alpha for all; a figure that the labels do not define
    says why.
    """
    from stillme.audit import Filter
    from stillme.audit.review.agreement import agreement
    from stillme.audit.review.listing import reviews as given

    result = agreement(given(store, Filter(since=since, until=until)))
    if as_json:
        print_json(asdict(result))
        return
    from stillme.cli.audit.pages import agreement_lines

    tell(agreement_lines(result))


@click.command(short_help="Draw a week's verdicts to review.")
@click.option("--week", metavar="YEAR-Wnn", help="An ISO week, such as 2026-W46. Without: the last whole week.")
@click.option(
    "--refusals", type=click.IntRange(min=0), default=50, show_default=True, help="So many refusals and questions back."
)
@click.option("--answers", type=click.IntRange(min=0), default=50, show_default=True, help="So many answers.")
@click.option("--seed", metavar="TEXT", help="Another seed gives another sample. Without: the week.")
@FORM
@takes_store()
def sample(
    store: AuditStore, week: str | None, refusals: int, answers: int, seed: str | None, as_json: bool | None
) -> None:
    """Draw the verdicts of a week that people should review, in the order to review them.

    All refusals and questions back up to their number; answers by language, confidence and whether anything was flagged.
    The same week, numbers and seed give the same sample. Each row says how many verdicts it speaks for.
    """
    from stillme.audit import Filter
    from stillme.audit.chain.record import instant
    from stillme.audit.review.listing import candidates, labels
    from stillme.audit.review.sampling import draw, week_bounds, week_of

    chosen = week or week_of(datetime.now(UTC) - timedelta(days=7))
    start, end = week_bounds(chosen)
    verdicts = candidates(store, Filter(since=instant(start), until=instant(end)))
    drawn = draw(verdicts, seed=seed if seed is not None else chosen, answers=answers, others=refusals)
    if not drawn.strata:
        raise InputError(f"no verdict was recorded in the week {chosen}: give another with --week")
    given = labels(store)
    rows = [_row(row, reviewed=row.candidate.trace in given) for row in drawn.rows]
    _print_sample(rows, drawn, chosen, human_wanted(as_json))


def _row(drawn: Drawn, *, reviewed: bool) -> dict[str, Any]:
    """A row to review; which labels others gave is left out, for a second opinion is one only if it is its own."""
    figures = {name: getattr(drawn, name) for name in ("stratum", "stratum_size", "probability", "weight")}
    return asdict(drawn.candidate) | figures | {"reviewed": reviewed}


def _print_sample(rows: list[dict[str, Any]], drawn: Sample, week: str, human: bool) -> None:
    """The rows, and on stderr what they were drawn from."""
    if human:
        from stillme.cli.audit.pages import sample_table

        draw(partial(sample_table, rows))
    else:
        for row in rows:
            print_json(row)
    total = sum(stratum.size for stratum in drawn.strata)
    click.echo(f"{len(rows):,} of {total:,} verdicts of {week}, seed {drawn.seed!a}", err=True)
    for stratum in drawn.strata:
        missed = "" if stratum.drawn else ": none drawn, nothing speaks for these"
        click.echo(f"{stratum.drawn:>8} of {stratum.size:,} {ascii(stratum.name)[1:-1]}{missed}", err=True)
