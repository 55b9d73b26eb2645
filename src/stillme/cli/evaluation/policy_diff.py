"""`stillme policy diff`: what differs between two policies, and what would have been decided otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stillme.cli.options import FORM, Wanted, moment_given, opened, takes_filters
from stillme.cli.printing import Exit, complain, followed, human_wanted, print_json, tell
from stillme.errors import InputError, shown, without_secrets

if TYPE_CHECKING:
    from stillme.evaluation.changes import SettingChange
    from stillme.evaluation.whatif import FlipExample, Flow, Slice, WhatIf

__all__ = ["diff"]

SQLITE_HEAD = b"SQLite format 3\0"
LIMITS = ("flips", "against", "unjudged", "actions")
LONGEST_VALUE = 60
ON_HELP = "Judge these under both: a file of cases, starter, or an audit store (a file, or postgresql://…)."
FAIL_HELP = (
    "Exit code 7 where there are more than N of: flips, against (flips against labels or expected decisions), actions "
    "(that change), unjudged, or one direction such as answer-refuse. N alone is of flips. As often as needed."
)


@click.command("diff", short_help="Show what differs between two policies, and which decisions flip.")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--on", "source", metavar="CASES|STORE", help=ON_HELP)
@click.option("--examples", type=click.IntRange(min=0), default=3, show_default=True, help="For each direction.")
@click.option("--as-of", metavar="TIME", help="The moment that cases without one are judged as of. Without: now.")
@click.option("--fail-on", "limits", metavar="[WHAT=]N", multiple=True, help=FAIL_HELP)
@FORM
@takes_filters
@click.pass_context
def diff(
    ctx: click.Context,
    before: str,
    after: str,
    source: str | None,
    examples: int,
    as_of: str | None,
    limits: tuple[str, ...],
    as_json: bool | None,
    wanted: Wanted,
) -> None:
    """Show which settings differ between the policies A and B (files or presets), gates by reason code among them.

    With --on, every request is judged under both: which decisions flip, in which direction, by which reason, in which language and
    domain, and whether review labels or expected decisions agree. Recorded verdicts are chosen by the filters below; one whose texts were
    not kept as they were cannot be judged again and is counted apart.

    \b
    Exit codes
       0  done
       3  a file, a store or an option cannot be used, or nothing of it can be judged
       4  a policy cannot be used
       7  more than --fail-on allows
    """
    from stillme.policy import Policy

    old, new = Policy.load(before), Policy.load(after)
    parsed = [_limit(text) for text in limits]
    if source is None:
        if wanted.is_given or limits:
            raise InputError("filters and --fail-on are about requests: name cases or an audit store with --on")
        _print_changes(old, new, human_wanted(as_json))
        return
    result = _what_if(old, new, source, wanted, examples=examples, as_of=moment_given(as_of))
    if human_wanted(as_json):
        tell(_lines(result, before, after, source))
    else:
        print_json(asdict(result) | {"flipped": result.flipped, "against": result.against, "unjudged": result.unjudged})
    missed = [f"{count:,} {what}, at most {most:,}" for what, most in parsed if (count := _count(result, what)) > most]
    if missed:
        complain("; ".join(missed))
        ctx.exit(Exit.DIFFERENT)


def _what_if(old: Any, new: Any, source: str, wanted: Wanted, **how: Any) -> WhatIf:
    from stillme.audit.review.listing import count
    from stillme.evaluation.whatif import RecordedTraffic, what_if

    if _is_store(source):
        verdicts = replace(wanted.filter, kind="verdict")
        with opened(source, seals=False) as store, followed(count(store, verdicts), "verdicts") as follow:
            result = what_if(old, new, RecordedTraffic(store, wanted.filter), advance=follow, **how)
    else:
        if wanted.is_given:
            raise InputError(
                f"filters choose recorded verdicts, and {shown(source)} is a file of cases: leave them out"
            )
        from stillme.evaluation.runs.case_files import STARTER, checked, starter_file

        cases = checked(starter_file() if source == STARTER else source, name=without_secrets(source))
        with followed(len(cases), "cases") as follow:
            result = what_if(old, new, cases, advance=follow, **how)
    if not result.judged:
        why = "; ".join(f"{number:,}: {reason}" for reason, number in result.not_judged)
        raise InputError(f"nothing of {shown(source)} can be judged{f' ({why})' if why else ': no verdict is chosen'}")
    return result


def _is_store(source: str) -> bool:
    if source.startswith(("postgres://", "postgresql://")):
        return True
    try:
        with Path(source).open("rb") as file:
            return file.read(len(SQLITE_HEAD)) == SQLITE_HEAD
    except (OSError, ValueError):  # the reader of cases says what is wrong with it
        return False


def _limit(text: str) -> tuple[str, int]:
    what, _, number = text.rpartition("=")
    what = what or "flips"
    sides = what.split("-")
    known = what in LIMITS or (len(sides) == 2 and set(sides) <= {"answer", "refuse", "ask_clarify"})
    if not known or not (number.isascii() and number.isdigit()):
        raise InputError(
            f"--fail-on {shown(text)} is no limit: write N, or WHAT=N with one of {', '.join(LIMITS)} "
            "or a direction such as answer-refuse"
        )
    return what, int(number)


def _count(result: WhatIf, what: str) -> int:
    totals = {"flips": result.flipped, "against": result.against, "unjudged": result.unjudged}
    if what in totals:
        return totals[what]
    if what == "actions":
        return sum(flow.count for flow in result.actions)
    return sum(flow.count for flow in result.flips if what == f"{flow.before}-{flow.after}")


# words


def _print_changes(old: Any, new: Any, human: bool) -> None:
    from stillme.evaluation.changes import policy_changes

    changes = policy_changes(old, new)
    if human:
        tell(_change_lines(changes))
    else:
        print_json({"before": old.hash, "after": new.hash, "changes": [asdict(change) for change in changes]})


def _change_lines(changes: tuple[SettingChange, ...]) -> Iterator[str]:
    if not changes:
        yield "the policies do not differ in anything that is in force"
    width = max((len(change.key) for change in changes), default=0)
    for change in changes:
        yield f"{change.key:<{width}}  {_value(change.before)} → {_value(change.after)}"


def _value(value: Any) -> str:
    text = (
        "(not there)" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    )
    return shown(text, LONGEST_VALUE)[1:-1] if not text.isprintable() or len(text) > LONGEST_VALUE else text


def _lines(result: WhatIf, before: str, after: str, source: str) -> Iterator[str]:
    from stillme.evaluation.runs.metrics import rate_of

    yield from _change_lines(result.changes)
    yield ""
    rate = rate_of("flips", result.flipped, result.judged)
    ends = f"{rate.value or 0:.1%} [{rate.low:.1%}, {rate.high:.1%}]"
    yield f"{result.flipped:,} of {result.judged:,} decisions flip from {before} to {after} on {without_secrets(source)}, {ends}"
    if result.reused:
        yield f"{result.reused:,} verdicts were taken from records made under the same policy, model and version"
    if result.made_otherwise:
        yield f"{result.made_otherwise:,} records are of another model or of validators that a program added: judged again without"
    for why, number in result.not_judged:
        yield f"not judged: {number:,}, {why}"
    yield from _flow_lines(result.flips, "")
    if result.actions:
        yield "actions that change"
        yield from (f"{flow.count:>8,} {flow.before} → {flow.after}" for flow in result.actions)
    yield from _label_lines(result)
    for part in result.slices:
        yield from _slice_lines(part)
    for example in result.examples:
        yield from _example_lines(example)


def _flow_lines(flows: tuple[Flow, ...], indent: str) -> Iterator[str]:
    for flow in flows:
        labelled = flow.count - flow.unlabelled
        words = f"; of {labelled:,} labelled {flow.with_labels:,} with the label, {flow.against_labels:,} against it"
        yield f"{indent}{flow.count:>8,} {flow.before} → {flow.after}{words if labelled else ', none labelled'}"


def _label_lines(result: WhatIf) -> Iterator[str]:
    from stillme.evaluation.runs.metrics import rate_of

    if not result.labelled:
        yield "no request has a label or an expected decision: nobody can say which flips are right"
        return
    for name, right in (("A", result.right_before), ("B", result.right_after)):
        rate = rate_of("right", right, result.labelled)
        share = f"{rate.value or 0:.1%} [{rate.low:.1%}, {rate.high:.1%}]"
        yield f"{name} decides {right:,} of {result.labelled:,} labelled requests as it should be, {share}"


def _slice_lines(part: Slice) -> Iterator[str]:
    of = "" if part.judged is None else f", {part.judged:,} judged"
    yield f"{part.by} {part.name}{of}"
    yield from _flow_lines(part.flips, "  ")


def _example_lines(example: FlipExample) -> Iterator[str]:
    yield ""
    said = f", should be {example.truth}" if example.truth else ""
    against = " (against the label)" if example.standing == "against" else ""
    yield f"{example.name}: {example.before} → {example.after}{said}{against}"
    yield f"  {', '.join(example.codes) or 'no reason code'}"
    yield f"  question: {example.query}"
    yield f"  draft: {example.draft or '(none)'}"
