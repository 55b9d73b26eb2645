"""What people see in a terminal: a verdict on a page, and a progress bar.

What a request, a passage or a plugin wrote is untrusted: it passes through `visible` and is never read as markup.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from stillme.contract import ClaimVerdict, Conflict, FindingRecord, Verdict, VerifyRequest
from stillme.reasons import Decision, Gate
from stillme.response import reason_words

__all__ = ["Page", "console", "plain_table", "progress", "visible"]

STATUS_STYLE: Final = {"supported": "green", "contradicted": "red", "unsupported": "yellow", "not_factual": "dim"}
OUTCOME_STYLE: Final = {"passed": "green", "flagged": "yellow", "skipped": "dim", "errored": "bold red"}
DECISION_STYLE: Final = {Decision.REFUSE: "bold white on red", Decision.ASK_CLARIFY: "bold white on blue"}
DECISION_WORDS: Final = {Decision.REFUSE: "refuse", Decision.ASK_CLARIFY: "ask back"}
DELIVERED: Final = {"deliver": "delivered", "deliver_with_warning": "delivered with a warning"}
ACTION_WORDS: Final = {**DELIVERED, "block": "blocked", "clarify": "asked back"}
BAND_STYLE: Final = {"high": "green", "medium": "yellow", "low": "red"}
HASH_SHOWN: Final = 12


def console(*, stderr: bool = False) -> Console:
    """A console that reads no markup, adds no highlights and never cuts a line short."""
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def visible(text: str, encoding: str = "utf-8") -> str:
    """The text with every control, bidirectional, invisible or unencodable character written out as an escape."""
    return "".join(map(_escaper(encoding), text))


def _escaper(encoding: str) -> Callable[[str], str]:
    known: dict[str, str] = {"\n": "\n", "\t": "    "}

    def escape(char: str) -> str:
        if char not in known:
            known[char] = _escaped(char, encoding)
        return known[char]

    return escape


def _escaped(char: str, encoding: str) -> str:
    if unicodedata.category(char) == "Zs":
        return " "
    if not char.isprintable():
        return char.encode("unicode_escape").decode("ascii")
    return char.encode(encoding, "backslashreplace").decode(encoding)


@dataclass(frozen=True, slots=True)
class Page:
    """One request and its verdict, as a person reads them: the decision first, the identifiers last."""

    request: VerifyRequest
    verdict: Verdict
    place: str = ""
    all_findings: bool = False
    encoding: str = "utf-8"

    def __rich__(self) -> RenderableType:
        """The whole page; a section with nothing to say is left out."""
        sections = [
            ("Question", self._text(self.request.query)),
            ("Draft", self._draft()),
            ("Claims", self._claims()),
            ("Sources", self._sources()),
            ("Conflicts", self._conflicts()),
            ("Reasons", self._reasons()),
            ("Findings", self._findings()),
            ("Response", self._text(self.verdict.safe_response or "")),
        ]
        parts: list[RenderableType] = [self._headline()]
        for title, body in sections:
            if body:
                parts += [Text(f"\n{title}", style="bold"), Padding(body, (0, 0, 0, 2))]
        return Group(*parts, self._footer())

    def _text(self, text: str, style: str = "") -> Text:
        return Text(visible(text, self.encoding), style=style)

    def _headline(self) -> Text:
        verdict = self.verdict
        answered = "bold black on yellow" if verdict.reasons else "bold black on green"
        line = Text.assemble(
            (f" {verdict.decision.value} ", DECISION_STYLE.get(verdict.decision, answered)),
            f" {_outcome_words(verdict)}, confidence ",
            (verdict.confidence_band, BAND_STYLE[verdict.confidence_band]),
            ", ",
            ("verified", "green") if verdict.verified else ("NOT VERIFIED", "bold red"),
        )
        return line.append(f"  {visible(self.place, self.encoding)}", style="dim") if self.place else line

    def _draft(self) -> Text:
        """The draft in the colours of its claims, what no source supports underlined."""
        draft = self.request.draft_answer or ""
        if not draft.strip():
            return Text("none: only the question and its context were checked", style="dim")
        written = list(map(_escaper(self.encoding), draft))
        at = list(accumulate(map(len, written), initial=0))
        text = Text("".join(written))
        for claim in self.verdict.claims:
            text.stylize(STATUS_STYLE[claim.status], at[claim.start], at[claim.end])
            for start, end in claim.unsupported_spans:
                text.stylize("underline", at[start], at[end])
        return text

    def _claims(self) -> Table | None:
        rows = [
            (Text(c.status.replace("_", " "), style=STATUS_STYLE[c.status]), _score(c), self._claim(c))
            for c in self.verdict.claims
        ]
        return _grid(rows)

    def _claim(self, claim: ClaimVerdict) -> Text:
        lines = [self._text(" ".join(claim.text.split()))]
        draft = self.request.draft_answer or ""
        missing = [draft[start:end] for start, end in claim.unsupported_spans]
        if claim.source_ids:
            lines.append(self._text(f"source: {', '.join(claim.source_ids)}", "dim"))
        if claim.quote:
            lines.append(self._text(f'says: "{claim.quote}"', "dim"))
        if missing:
            lines.append(self._text(f"in no source: {'; '.join(missing)}", "dim"))
        if claim.detail and claim.status != "not_factual":
            lines.append(self._text(claim.detail, "dim"))
        return Text("\n").join(lines)

    def _sources(self) -> Text:
        cited = [[c.source_id, c.title, c.url, c.timestamp] for c in self.verdict.citations]
        return Text("\n").join(self._text(", ".join(part for part in parts if part)) for parts in cited)

    def _conflicts(self) -> Text:
        return Text("\n").join(line for conflict in self.verdict.conflicts for line in self._conflict(conflict))

    def _conflict(self, conflict: Conflict) -> list[Text]:
        said = [self._text(f'  {s.source_id} says: "{s.quote}"', "dim") for s in conflict.statements]
        return [self._text(conflict.about), *said]

    def _reasons(self) -> Text:
        language = self.verdict.language
        lines: list[Text] = []
        for code in self.verdict.reasons:
            words = reason_words(code, language)["say"]
            lines.append(self._text(words[:1].upper() + words[1:]).append_text(self._text(f" ({code})", "dim")))
        return Text("\n").join(lines)

    def _findings(self) -> Table | None:
        shown = [f for f in self.verdict.findings if self.all_findings or f.outcome in ("flagged", "errored")]
        return _grid([(_outcome(f), Text(f.gate.value), self._finding(f)) for f in shown])

    def _finding(self, finding: FindingRecord) -> Text:
        head = [finding.validator, finding.reason, "repaired" if finding.repaired else None]
        line = self._text(": ".join(part for part in head[:2] if part)).append(f", {head[2]}" if head[2] else "")
        return line.append_text(self._text(f"\n{finding.detail}", "dim")) if finding.detail else line

    def _footer(self) -> Text:
        verdict = self.verdict
        facts = [
            f"\nrequest {verdict.request_id}",
            f"trace id {verdict.validator_trace_id}" if verdict.validator_trace_id else None,
            f"mode {verdict.mode}, policy {verdict.policy_hash[:HASH_SHOWN]}, model {verdict.model_id}",
            f"language {verdict.language}, as of {verdict.as_of:%Y-%m-%dT%H:%M:%SZ}, stillme {verdict.version}",
        ]
        end = "\n" if self.place else ""  # several pages stand apart
        return self._text("\n".join(fact for fact in facts if fact) + end, "dim")


def _outcome_words(verdict: Verdict) -> str:
    """What became of the draft: where the mode lets through what the decision does not, both and why."""
    if verdict.decision is Decision.ANSWER or verdict.action not in DELIVERED:
        return ACTION_WORDS[verdict.action]
    return f"would {DECISION_WORDS[verdict.decision]}; {DELIVERED[verdict.action]}, because the mode is {verdict.mode}"


def _outcome(finding: FindingRecord) -> Text:
    decides = finding.outcome == "flagged" and finding.gate is Gate.HARD and not finding.repaired
    return Text(finding.outcome, style="red" if decides else OUTCOME_STYLE[finding.outcome])


def _score(claim: ClaimVerdict) -> Text:
    return Text("" if claim.score is None else f"{claim.score:.2f}")


def plain_table(*headings: str, whole: int = 0, gap: int = 0) -> Table:
    """A table without lines: cells fold, those of the first `whole` columns do not; `gap` blank lines part the rows."""
    table = Table(box=None, padding=(0, 2, gap, 0), pad_edge=False, header_style="bold underline")
    for number, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", no_wrap=number < whole)
    return table


def _grid(rows: Sequence[tuple[Text, Text, Text]]) -> Table | None:
    """Two short columns and one that takes the rest of the line, however narrow the terminal."""
    if not rows:
        return None
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(3):
        grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return grid


@contextmanager
def progress(where: Console, total: int | None) -> Iterator[Callable[[int], None]]:
    """A bar that counts requests and fills by what was read of the input; it disappears when the work is done."""
    columns = (
        TextColumn("{task.fields[done]} verified"),
        BarColumn(bar_width=None),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    # stdout must stay what the command prints: only stderr, where problems are reported, is kept clear of the bar.
    with Progress(*columns, console=where, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=total, done=0)
        count = 0

        def advance(size: int) -> None:
            nonlocal count
            count += 1
            bar.update(task, advance=size, done=count)

        yield advance
