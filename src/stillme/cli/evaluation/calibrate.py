"""The commands that set thresholds from labelled cases, and that say when they no longer apply.

What a command needs is imported when it runs, so that `--help` is instant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stillme.cli.files import check_new, whole_file
from stillme.cli.options import FORM, POLICY, STORE, chosen_policy, opened, takes_quotas
from stillme.cli.printing import Exit, complain, followed, human_wanted, print_json, print_text, tell
from stillme.errors import InputError, shown

if TYPE_CHECKING:
    from stillme.evaluation.calibration.calibration import CalibrationOutcome
    from stillme.evaluation.calibration.fixed_sequence import CaseGroup
    from stillme.evaluation.calibration.policy_text import Provenance
    from stillme.evaluation.calibration.reviewed import Reviewed
    from stillme.evaluation.calibration.thresholds import ScoredCase
    from stillme.evaluation.rollout.drift import Drift, TrafficSummary
    from stillme.evaluation.runs.cases import Case
    from stillme.evaluation.runs.records import CaseRecord
    from stillme.guard import Guard
    from stillme.policy import Policy

__all__ = ["calibrate", "drift"]


SINCE = click.option("--since", metavar="TIME", help="From this day or point in time on.")
UNTIL = click.option("--until", metavar="TIME", help="Up to this day or point in time, which is not included.")


def _share_option(name: str, default: float, words: str) -> Callable[[Any], Any]:
    share = click.FloatRange(0, 1, min_open=True, max_open=True)
    return click.option(name, type=share, default=default, show_default=True, help=words)


@click.command(short_help="Set thresholds from labelled cases.")
@click.argument("cases", metavar="[CASES]", required=False)
@STORE
@POLICY
@_share_option("--max-escape-rate", 0.01, "So many of the drafts with an unsupported claim may pass as an answer.")
@_share_option("--confidence", 0.95, "The probability, over cases drawn anew, that the thresholds keep to it.")
@click.option(
    "--by",
    type=click.Choice(["language", "domain", "none"]),
    default="none",
    show_default=True,
    help="Thresholds of their own for languages or domains that have enough cases.",
)
@click.option("--keep-gates", is_flag=True, help="Leaves similarity and generation confidence as they are.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes that run cases.")
@SINCE
@UNTIL
@takes_quotas
@click.option("--out", metavar="FILE", help="Writes the whole policy with the new thresholds there.")
@click.option("--force", is_flag=True, help="Overwrites FILE.")
@FORM
@click.pass_context
def calibrate(
    ctx: click.Context,
    /,
    cases: str | None,
    store: str | None,
    policy: str | None,
    as_json: bool | None,
    **options: Any,
) -> None:
    """Find the thresholds with the fewest false refusals under which few unsupported answers pass.

    CASES is a file of labelled cases, or `starter` for the bundled ones. Without it: the verdicts in the audit store that
    `stillme audit sample` drew and people labelled. Prints what to change in the policy, with the evidence in comments.

    \b
    The exit code is
       0  thresholds are guaranteed, and written to --out where it is given
       8  they cannot be guaranteed: says how many more cases it takes, and writes nothing
    """
    from stillme.evaluation.calibration.calibration import calibrate
    from stillme.evaluation.calibration.fixed_sequence import Target
    from stillme.policy import Policy

    loaded = Policy.load(chosen_policy(policy))
    target = Target(options["max_escape_rate"], options["confidence"], loaded.rollout.max_false_refusal_rate)
    out = options["out"]
    if out is not None:
        check_new(out, options["force"])
        if not Path(out).absolute().parent.is_dir():
            raise InputError(f"there is no folder for {shown(out)}: make it first, or give another name")
    read = _from_file(cases, loaded, options["jobs"]) if cases else _from_store(store, loaded, options)
    found, source, left_out = read
    outcome = calibrate(found, loaded, target, options["by"], keep_gates=options["keep_gates"])
    outcome = replace(outcome, notes=(*outcome.notes, *left_out))
    if out is not None and outcome.is_guaranteed:
        from stillme.evaluation.calibration.policy_text import policy_file

        _write_policy(Path(out), policy_file(outcome, loaded, source).encode())
    _print_outcome(outcome, loaded, source, human_wanted(as_json))
    if not outcome.is_guaranteed:
        complain("no thresholds can be guaranteed: nothing was written")
        ctx.exit(Exit.TOO_LITTLE)


def _write_policy(path: Path, content: bytes) -> None:
    """Whole or not at all, and as readable as before: who follows the file never reads half a policy."""
    with whole_file(path, mode=0o666) as part:
        part.write_bytes(content)
        if path.exists():
            part.chmod(path.stat().st_mode & 0o777)


# where cases come from

Found = tuple[list["ScoredCase"], "Provenance", list[str]]


def _from_file(name: str, policy: Policy, jobs: int) -> Found:
    from stillme.evaluation.calibration.policy_text import Provenance
    from stillme.evaluation.runs.case_files import checked, starter_file

    file = checked(starter_file(), name=name) if name == "starter" and not Path(name).exists() else checked(name)
    now, guard = datetime.now(UTC), _guard(policy)
    found, notes = _scored(_records(guard, file, len(file), jobs, now), policy)
    return found, Provenance(_at(now), _model(guard), file.name, file.sha256), notes


def _from_store(where: str | None, policy: Policy, options: dict[str, Any]) -> Found:
    from stillme.audit.query import Filter
    from stillme.evaluation.calibration.policy_text import Provenance
    from stillme.evaluation.calibration.reviewed import equally_likely, reviewed

    if not where:
        raise InputError("there are no cases: name a file of them, `starter` for the bundled ones, or --store")
    quotas = {name: options[name] for name in ("answers", "others", "seed")}
    with opened(where, seals=False) as store:
        given = reviewed(store, Filter(since=options["since"], until=options["until"]), **quotas)
    if not given.cases:
        raise InputError("\n".join(["no reviewed verdict of this store can be used", *_left_out(given)]))
    now, guard = datetime.now(UTC), _guard(policy)
    cases = [case for case, _ in given.cases]
    found, notes = _scored(_records(guard, cases, len(cases), options["jobs"], now), policy)
    weights = {case.id: weight for case, weight in given.cases}
    # A review is of a whole draft: how many of its claims are unsupported is not known, so each counts as one.
    weighted = [replace(each, unsupported=int(each.is_bad), weight=weights[each.id]) for each in found]
    kept = equally_likely(weighted)
    if len(kept) < len(found):
        notes.append(
            f"{len(found) - len(kept):,} of {len(found):,} reviewed verdicts were thinned out: the sample drew them more often"
        )
    return kept, Provenance(_at(now), _model(guard), "reviewed verdicts", given.sha256), [*notes, *_left_out(given)]


def _left_out(given: Reviewed) -> list[str]:
    unused = [f"{count:,} reviewed verdicts are left out: {why}" for why, count in given.left_out]
    silent = [f"no review speaks for {count:,} verdicts of the kind {shown(name)}" for name, count in given.silent]
    return unused + silent


def _guard(policy: Policy) -> Guard:
    """A guard under which every threshold can be told afterwards, with the grounder that serving would have."""
    from stillme.evaluation.calibration.thresholds import permissive
    from stillme.guard import Guard, grounder_for
    from stillme.judge import judge_from_environment

    return Guard(permissive(policy), grounder=judge_from_environment(grounder_for(policy)))


def _model(guard: Guard) -> str:
    from stillme.guard import grounder_for

    return (guard.grounder or grounder_for(guard.policy)).id


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _records(guard: Guard, cases: Iterable[Case], total: int, jobs: int, now: datetime) -> Iterator[CaseRecord]:
    from stillme.evaluation.runs.run import run_cases

    with followed(total, "cases") as advance:
        for record in run_cases(guard, cases, jobs=jobs, as_of=now):
            advance(1)
            yield record


def _scored(records: Iterable[CaseRecord], policy: Policy) -> tuple[list[ScoredCase], list[str]]:
    """The cases that came to a verdict, and what is to be said of the others."""
    from stillme.evaluation.calibration.thresholds import Gates, scored

    gates = Gates.of(policy)
    every = [scored(record, gates) for record in records]
    found = [each for each in every if each is not None]
    failed, unlabelled = len(every) - len(found), sum(not (each.is_bad or each.is_good) for each in found)
    notes = {
        f"{failed:,} cases came to no verdict, or a validator failed on them: they are in no figure": failed,
        f"{unlabelled:,} cases say neither that they should be answered nor that a claim is unsupported": unlabelled,
    }
    return found, [note for note, count in notes.items() if count]


# printing


def _print_outcome(outcome: CalibrationOutcome, policy: Policy, source: Provenance, human: bool) -> None:
    from stillme.evaluation.calibration.policy_text import evidence, fragment

    if not human:
        print_json(_outcome(outcome, policy, source))
    elif outcome.is_guaranteed:
        print_text(fragment(outcome, policy, source).rstrip())
    else:
        tell(evidence(outcome, source))


def _outcome(outcome: CalibrationOutcome, policy: Policy, source: Provenance) -> dict[str, Any]:
    from stillme.evaluation.calibration.policy_text import fragment

    return {
        "guaranteed": outcome.is_guaranteed,
        "max_escape_rate": outcome.target.max_escape_rate,
        "confidence": outcome.target.confidence,
        "by": outcome.by,
        "cases": outcome.cases,
        "settings": None if outcome.settings is None else asdict(outcome.settings),
        "languages": outcome.languages,
        "domains": outcome.domains,
        "before": asdict(outcome.before),
        "after": None if outcome.after is None else asdict(outcome.after),
        "groups": [_group(group) for group in outcome.groups],
        "gate_settings_tried": outcome.tried,
        "notes": outcome.notes,
        "data_sha256": source.data_sha256,
        "model_id": source.model_id,
        "policy": fragment(outcome, policy, source) if outcome.is_guaranteed else None,
    }


def _group(group: CaseGroup) -> dict[str, Any]:
    points = [
        {
            "min_score": point.min_score,
            **asdict(point.figures),
            "escape_interval": point.figures.escape,
            "false_refusal_interval": point.figures.refusal,
            "p": point.p,
            "certified": point.is_certified,
        }
        for point in group.points
    ]
    names = ("name", "level", "min_score", "shortfall", "more")
    return {**{name: getattr(group, name) for name in names}, "curve": points}


# drift


@click.command(short_help="Say whether thresholds still apply.")
@STORE
@click.option("--policy", metavar="FILE", envvar="STILLME_POLICY", show_envvar=True, help="A calibrated policy.")
@SINCE
@UNTIL
@click.option("--write", is_flag=True, help="Records drift in the policy: its verdicts no longer count as calibrated.")
@FORM
@click.pass_context
def drift(
    ctx: click.Context,
    /,
    store: str | None,
    policy: str | None,
    since: str | None,
    until: str | None,
    write: bool,
    as_json: bool | None,
) -> None:
    """Compare the verdicts of a window with the cases that the policy was calibrated on.

    \b
    The exit code is
       0  no drift is shown
       8  there are too few verdicts to say
       9  traffic has drifted: calibrate anew
    """
    from stillme.audit.query import Filter
    from stillme.evaluation.calibration.thresholds import same_thresholds
    from stillme.evaluation.rollout.drift import drift_of, observations_in
    from stillme.policy import Policy

    policy = chosen_policy(policy)
    if not policy:
        raise InputError("no policy is named: give --policy FILE, one that `stillme calibrate` wrote")
    loaded = Policy.load(policy)
    if loaded.calibration is None:
        raise InputError(
            "this policy was not calibrated, so there is nothing to drift from: run `stillme calibrate` first"
        )
    with opened(store, seals=False) as found:
        same, wanted = same_thresholds(found, loaded), Filter(since=since, until=until)
        traffic = observations_in(found, wanted, loaded.calibration.model_id, same)
    result = drift_of(loaded.calibration.reference, traffic.summary)
    if human_wanted(as_json):
        tell(_drift_lines(result, traffic, loaded))
    else:
        print_json({**asdict(result), "other_model": traffic.other_model, "unreadable": traffic.unreadable})
    if write and result.reason is not None:
        _record(Path(policy), result.reason)
    ctx.exit({"drifted": Exit.DRIFTED, "too few": Exit.TOO_LITTLE}.get(result.outcome, 0))


def _record(path: Path, reason: str) -> None:
    from stillme.evaluation.rollout.drift import with_drift_recorded
    from stillme.policy.reader import file_bytes

    _write_policy(path, with_drift_recorded(file_bytes(path), path.name, reason))


def _drift_lines(result: Drift, traffic: TrafficSummary, policy: Policy) -> Iterator[str]:
    yield result.reason or {
        "too few": f"too few to say: {result.cases:,} verdicts, {result.needed:,} more are needed",
        "no drift shown": f"no drift is shown by {result.cases:,} verdicts",
    }.get(result.outcome, result.outcome)
    for each in result.comparisons:
        mark = "drifted" if each.drifted else "same" if each.adjusted > 0.05 else "shifted a little"
        sizes = f"{each.before:,} before, {each.now:,} now"
        yield f"  {mark:<16} {each.name}: {each.detail}; distance {each.distance:.3f}, p {each.adjusted:.4f}; {sizes}"
    yield from (f"  not compared     {line}" for line in result.left_out)
    if traffic.other_model:
        yield f"{traffic.other_model:,} verdicts were made with another model: they do not count as calibrated"
    if traffic.unreadable:
        yield f"{traffic.unreadable:,} records cannot be read any more: they are in no figure"
    if policy.calibration is not None and policy.calibration.drifted is not None:
        yield "the policy already says that it drifted; only a new calibration takes that back"
