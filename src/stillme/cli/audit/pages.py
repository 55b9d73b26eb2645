"""How the audit trail looks in a terminal: lines, tables and a bar.

What people wrote passes through `visible`; a text of several lines never begins a line of ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from stillme.cli.terminal import Page, plain_table, visible
from stillme.pages.text import counted, on_one_line

if TYPE_CHECKING:
    from stillme.audit.chain.checking import Checked
    from stillme.audit.replay import Replay
    from stillme.audit.review.agreement import Agreement, Figure
    from stillme.audit.review.cases import ReviewLine
    from stillme.audit.stats import Stats
    from stillme.contract import Verdict, VerifyRequest

__all__ = [
    "agreement_lines", "checked_lines", "record_page", "records_table", "replay_lines", "sample_table", "stats_lines",
]  # fmt: skip

DECISION_STYLE: Final = {"answer": "green", "refuse": "red", "ask_clarify": "blue"}
SIGNED: Final = ("review", "appeal", "erasure", "promotion", "policy")
SHORT_ID: Final = len("trace-") + 8
LONGEST_VALUE: Final = 300
MOST_MONTHS: Final = 24


# verify


def checked_lines(checked: Checked, *, chain_only: bool) -> Iterator[str]:
    """What a check found, in words: the outcome first."""
    chain, fault = checked.found, checked.fault
    if fault is not None:
        yield f"FAULT: {fault}"
        if fault.seq and checked.subject != "table":
            yield f"the chain holds for {counted(chain.records, 'record')}"
        return
    if checked.is_complete:
        yield f"ok: {_WHOLE[checked.subject].format(records=counted(chain.records, 'record'))}"
    else:
        yield f"{'ok' if chain_only else 'NOT CHECKED'}: {_unchecked(checked, chain_only)}"
        yield f"apart from that, {_WHOLE[checked.subject].format(records=counted(chain.records, 'record'))}"
    yield from _details(checked)


def _unchecked(checked: Checked, chain_only: bool) -> str:
    number = counted(sum(checked.unchecked.values()), "seal")
    if chain_only:
        return f"{number} left unchecked, as --chain-only allows"
    return (
        f"{number} could not be checked: made with a key that was not given, or forged; "
        "give the key file with --key (--chain-only does without)"
    )


_WHOLE: Final = {
    "store": "{records}, each as it was written, in one unbroken chain",
    "whole export": "{records}, each as it was written, in one unbroken chain, and no byte of the file was changed",
    "filtered export": "{records}, each as it was written, and no byte of the file was changed; "
    "what the filter left out cannot be told from this file",
    "table": "the file is the one that its manifest describes, with {records}",
}


def _details(checked: Checked) -> Iterator[str]:
    chain = checked.found
    if chain.store:
        yield f"  store        {chain.store}"
    if chain.head.seq:
        yield f"  last record  {chain.head.seq:,}, hash {chain.head.hash}"
    seals = [f"{number:,} checked, of the key {key}" for key, number in checked.checked.items()]
    seals += [f"{number:,} NOT checked, of the key {key}" for key, number in checked.unchecked.items()]
    yield from (f"  {'' if number else 'seals':<12} {line}" for number, line in enumerate(seals))
    if checked.subject == "table":
        return
    yield f"  erased       the texts of {counted(chain.erased, 'record')}{_account(checked, chain.erased)}"
    yield f"  removed      {counted(chain.removed, 'record')} by retention{_account(checked, chain.removed)}"
    yield f"  checkpoints  {_compared(chain.checkpoints, chain.uncompared)}"
    yield f"  policies     {checked.policies:,}"


def _account(checked: Checked, number: int) -> str:
    if not number:
        return ""
    return ", which this file cannot account for" if checked.subject == "filtered export" else ", accounted for"


def _compared(compared: int, missed: int) -> str:
    if not compared and not missed:
        return "none given: a cut-off end would not be noticed (`stillme audit checkpoint`)"
    return f"{compared:,} compared{f'; of {missed:,} the record is not there any more' if missed else ''}"


# replay


def replay_lines(replay: Replay) -> Iterator[str]:
    """How one replay came out: where the verdicts differ, and why."""
    if replay.outcome == "same":
        changed = f" ({on_one_line('; '.join(replay.causes))})" if replay.causes else ""
        yield f"{replay.trace}: the same verdict{changed}"
        return
    if replay.outcome == "not replayable":
        yield f"{replay.trace}: cannot be replayed: {on_one_line('; '.join(replay.causes))}"
        return
    yield f"{replay.trace}: DIFFERENT in {counted(len(replay.differences), 'place')}"
    for difference in replay.differences:
        yield f"  {on_one_line(difference.path)}"
        yield f"    recorded  {_value(difference.recorded)}"
        yield f"    replayed  {_value(difference.replayed)}"
    yield from (f"  cause: {on_one_line(cause)}" for cause in replay.causes)


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return (
        text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}… ({len(text):,} characters; --json shows all)"
    )


# list


def records_table(rows: Sequence[Mapping[str, Any]], encoding: str) -> Table:
    """Records, two lines each: what was decided and why, and the question."""
    table = plain_table("time (UTC)", "record", "decision", "reasons, question", whole=3)
    for row in rows:
        what = row.get("decision") or row.get("label") or row.get("state") or row["kind"] or "removed"
        table.add_row(
            _minute(str(row.get("at") or "")),
            Text(str(row.get("id") or f"#{row['seq']}")[:SHORT_ID]),
            Text(visible(what, encoding), style=DECISION_STYLE.get(what, "")),
            _about(row, encoding),
        )
    return table


def _about(row: Mapping[str, Any], encoding: str) -> Text:
    texts = row.get("texts")
    is_answer = row["kind"] in ("verdict", "opening")
    missing = f"(texts {texts})" if is_answer and row.get("query") is None else ""
    by = f"by {row['caller']}" if row["kind"] in SIGNED else ""
    of = f" on {row['ref'][:SHORT_ID]}" if row.get("ref") and not is_answer else ""
    lines = [" ".join(row.get("reasons") or ()), on_one_line(row.get("query") or missing), on_one_line(by + of)]
    kept = [
        Text(visible(line, encoding), style=style) for line, style in zip(lines, ("", "dim", ""), strict=True) if line
    ]
    return Text("\n").join(kept)


# review


def agreement_lines(agreement: Agreement) -> Iterator[str]:
    """What reviewers said, and how far they agree."""
    who = f"{counted(agreement.labels, 'label')} by {counted(len(agreement.reviewers), 'reviewer')}"
    yield f"{who} on {counted(agreement.verdicts, 'verdict')}, {agreement.doubled:,} of them labelled by several"
    yield from (f"{number:>10,} {label}" for label, number in agreement.counts if number)
    yield f"agreement  {_figure(agreement.percent, '.1%')}"
    yield f"alpha      {_figure(agreement.alpha, '.3f')} (Krippendorff)"
    for pair in agreement.pairs:
        names = f"{on_one_line(pair.first)} and {on_one_line(pair.second)}"
        yield f"{names}: {pair.agreed:,} of {pair.shared:,} the same, kappa {_figure(pair.kappa, '.3f')}"
    if agreement.disagreements:
        yield "disagreements"
    for each in agreement.disagreements:
        yield f"  {each.trace}: {', '.join(f'{on_one_line(name)} {label}' for name, label in each.labels)}"
    if agreement.superseded:
        yield f"{counted(len(agreement.superseded), 'earlier label')} of a reviewer who changed their mind not counted"


def _figure(figure: Figure, form: str) -> str:
    return format(figure.value, form) if figure.value is not None else f"not defined: {figure.reason}"


def sample_table(rows: Sequence[Mapping[str, Any]], encoding: str) -> Table:
    """What to review, in this order."""
    table = plain_table("record", "time (UTC)", "drawn from", "speaks for", "reviewed", whole=2)
    for row in rows:
        stratum = Text(visible(row["stratum"], encoding), style=DECISION_STYLE.get(row["decision"], ""))
        weight = Text(f"{row['weight']:.1f}", justify="right")
        reviewed = "yes" if row["reviewed"] else ""
        table.add_row(Text(row["trace"][:SHORT_ID]), _minute(row["at"]), stratum, weight, reviewed)
    return table


# show


def record_page(
    request: VerifyRequest | None,
    verdict: Verdict | None,
    facts: Mapping[str, str],
    reviews: Sequence[ReviewLine],
    notice: str | None,
    all_findings: bool,
    encoding: str,
) -> RenderableType:
    """A record on a page: the verdict as `stillme verify` shows it, then its reviews and its place in the chain."""
    parts: list[RenderableType] = []
    if notice:
        parts += [Text(visible(notice, encoding), style="bold yellow"), Text("")]
    if verdict is not None:
        page = Page(request, verdict, all_findings=all_findings, encoding=encoding) if request else None
        parts.append(page or _without_texts(verdict, encoding, all_findings))
        parts += [Text("\nReviews", style="bold"), _indented(_reviews(reviews, encoding)), Text("")]
    return Group(*parts, Text("Record", style="bold"), _indented(_facts(facts, encoding)))


def _indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2))


def _without_texts(verdict: Verdict, encoding: str, all_findings: bool) -> RenderableType:
    """The page of a verdict whose texts are not there: what they were is not made up."""
    from stillme.contract import VerifyRequest

    claims = ", ".join(f"{claim.status.replace('_', ' ')}{_score(claim.score)}" for claim in verdict.claims)
    drafted = any(finding.stage == "draft" for finding in verdict.findings)
    draft = f"(not here; its claims: {claims or 'none'})" if drafted else None
    bare = verdict.model_copy(update={"claims": []})
    return Page(
        VerifyRequest(query="(not here)", draft_answer=draft), bare, all_findings=all_findings, encoding=encoding
    )


def _score(score: float | None) -> str:
    return "" if score is None else f" {score:.2f}"


def _reviews(reviews: Sequence[ReviewLine], encoding: str) -> RenderableType:
    if not reviews:
        return Text("none", style="dim")
    return Group(*(part for review in reviews for part in _review(review, encoding)))


def _review(review: ReviewLine, encoding: str) -> Iterator[RenderableType]:
    yield Text(visible(f"{review.label}, {on_one_line(review.who)}, {_minute(review.when)}", encoding))
    if review.note:
        yield _indented(Text(visible(review.note, encoding), style="dim"))


def _facts(facts: Mapping[str, str], encoding: str) -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))  # so that a hash fits into a line of 80
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts.items():
        grid.add_row(Text(name, style="dim"), Text(visible(on_one_line(value), encoding)))
    return grid


# stats


def stats_lines(stats: Stats) -> Iterator[str]:
    """What a store holds, in words."""
    size = f"{stats.bytes / 1_000_000:,.1f} MB"
    yield f"{counted(stats.records, 'record')} in {size}, {stats.bytes_per_record:,} bytes a record"
    if stats.oldest and stats.newest:
        yield f"from {_minute(stats.oldest)} to {_minute(stats.newest)} UTC; the last one is number {stats.last:,}"
    yield f"{counted(stats.texts, 'record')} with texts, {stats.erased:,} without theirs, {stats.removed:,} removed"
    yield f"{counted(stats.policies, 'policy', 'policies')}; seals: {_listed(stats.keys) or 'none'}"
    waiting = f"{counted(stats.journal_pending, 'entry', 'entries')} waiting"
    damaged = f", {counted(stats.journal_damaged, 'file')} DAMAGED" if stats.journal_damaged else ""
    yield f"journal: {waiting}{damaged}{' (`stillme audit drain`)' if stats.journal_pending else ''}"
    months = dict(list(stats.months.items())[-MOST_MONTHS:])
    groups = {"kind": stats.kinds, "decision": stats.decisions, "reason": stats.reasons, "month": months}
    for title, counts in groups.items():
        if counts:
            yield f"by {title}"
            yield from (f"{number:>10,} {name}" for name, number in _ranked(title, counts))


def _ranked(title: str, counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Months in their order, all else by number."""
    return list(counts.items()) if title == "month" else sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _minute(at: str) -> str:
    return at[:16].replace("T", " ")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} by {name}" for name, number in counts.items())
