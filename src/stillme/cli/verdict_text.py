"""How verdicts leave the process: on stdout, with problems and a summary on stderr, and the decision as the exit code."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from typing import TYPE_CHECKING

from stillme.cli.printing import Exit, complain, human_wanted, is_terminal, print_text, say_aside
from stillme.reasons import Decision, Gate, Reason

if TYPE_CHECKING:
    from rich.console import Console

    from stillme.cli.request_file import Result
    from stillme.contract import Verdict, VerifyRequest

__all__ = ["VerdictPrinter", "exit_code"]


def exit_code(verdict: Verdict) -> Exit:
    """The decision as a code; an answer that nothing verified, or that a hard gate failed to judge, is not a 0."""
    failed = any(f.outcome == "errored" and f.gate is Gate.HARD for f in verdict.findings)
    hidden = not verdict.findings and Reason.VALIDATOR_ERROR in verdict.reasons
    if not verdict.verified and (failed or hidden or verdict.decision is Decision.ANSWER):
        return Exit.NOT_VERIFIED
    return Exit[verdict.decision.name]


class VerdictPrinter:
    """Prints results as they come, and remembers what the summary and the exit code need."""

    def __init__(self, as_json: bool | None, all_findings: bool, quiet: bool) -> None:
        self._quiet = quiet
        self._human = human_wanted(as_json)
        self._all_findings = all_findings
        self._out: Console | None = None
        self._decisions: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._codes: set[Exit] = set()

    def follow(self, batches: Iterator[list[Result]], size: int | None) -> Exit:
        """Print every result, then a summary where there are several; the exit code of all."""
        first = next(batches)
        many = len(first) > 1
        with self._progress(size) if many else nullcontext(lambda _: None) as advance:
            for result in chain.from_iterable(chain([first], batches)):
                self._take(result, many)
                advance(result.entry.size)
        if many and not self._quiet:
            say_aside(self._summary())
        return next(code for code in Exit if code in self._codes)

    def _take(self, result: Result, many: bool) -> None:
        if result.request is None or result.verdict is None:
            complain(f"{result.entry.place}: {result.problem}")
            self._decisions["not read"] += 1
            self._codes.add(Exit.INPUT)
            return
        self._decisions[result.verdict.decision.value] += 1
        self._reasons.update(result.verdict.reasons)
        self._codes.add(exit_code(result.verdict))
        if self._quiet:
            return
        if self._human:
            self._print_page(result.request, result.verdict, result.entry.place if many else "")
        else:
            print_text(result.verdict.model_dump_json())

    def _print_page(self, request: VerifyRequest, verdict: Verdict, place: str) -> None:
        from stillme.cli.terminal import Page

        out = self._console()
        out.print(Page(request, verdict, place, self._all_findings, out.encoding))

    def _progress(self, size: int | None) -> AbstractContextManager[Callable[[int], None]]:
        """A bar on stderr, or below the pages where a terminal takes both; none where lines would break it."""
        on_terminal = is_terminal(sys.stdout)
        if self._quiet or not is_terminal(sys.stderr) or (on_terminal and not self._human):
            return nullcontext(lambda _: None)
        from stillme.cli.terminal import console, progress

        return progress(self._console() if on_terminal else console(stderr=True), size)

    def _console(self) -> Console:
        """The one console of stdout: a bar stays below the pages only if both are drawn by the same."""
        if self._out is None:
            from stillme.cli.terminal import console

            self._out = console()
        return self._out

    def _summary(self) -> Iterator[str]:
        yield f"{self._decisions.total()} requests"
        yield from _ranked(self._decisions)
        if self._reasons:
            yield "reasons"
            yield from _ranked(self._reasons)


def _ranked(counts: Counter[str]) -> Iterator[str]:
    """The counts, most frequent first, in an order that does not depend on the input."""
    for name, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"{count:>8} {name}"
