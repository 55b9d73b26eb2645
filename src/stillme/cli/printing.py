"""How commands speak: to programs and to people on stdout, of problems on stderr, with a bar where that is a terminal.

rich is imported only where something is drawn: JSON in a pipeline does not wait for it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, TextIO

import click

from stillme.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "Exit", "agreed", "complain", "draw", "followed", "human_wanted", "is_terminal", "print_json", "print_text",
    "say_aside", "stepwise", "tell",
]  # fmt: skip

STEP = 500


class Exit(IntEnum):
    """What the exit code says; where several hold, the first of them in this order."""

    INPUT = 3
    POLICY = 4
    TAMPERED = 6
    DIFFERENT = 7
    NOT_VERIFIED = 5
    REFUSE = 10
    ASK_CLARIFY = 11
    ANSWER = 0
    TOO_LITTLE = 8
    DRIFTED = 9
    BAR_MISSED = 12
    OTHER = 1
    INTERRUPTED = 130
    PIPE_CLOSED = 141


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person looks at the stream."""
    return stream is not None and stream.isatty()


def human_wanted(as_json: bool | None) -> bool:
    """Whether a person reads stdout."""
    return is_terminal(sys.stdout) if as_json is None else not as_json


def print_text(text: str) -> None:
    """Print what programs read; it is UTF-8 on every system, as JSON must be and as a policy is read."""
    click.echo(text.encode("utf-8"))


def print_json(value: object, indent: int | None = None) -> None:
    """Print a value for programs, on one line unless it is indented."""
    print_text(json.dumps(value, ensure_ascii=False, indent=indent))


def tell(lines: Iterable[str]) -> None:
    """Print lines for people, in characters that do nothing to a terminal."""
    from stillme.cli.terminal import visible

    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    for line in lines:
        click.echo(visible(line, encoding))


def draw(page: Callable[[str], RenderableType]) -> None:
    """Print what is made for the encoding of stdout."""
    from stillme.cli.terminal import console

    out = console()
    out.print(page(out.encoding))


def complain(message: str) -> None:
    """Say on stderr what is wrong, in characters that it can show and that do nothing to a terminal."""
    from stillme.cli.terminal import visible

    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    say_aside(f"error: {visible(line, encoding)}" for line in message.splitlines())


def say_aside(lines: Iterable[str]) -> None:
    """Write lines to whatever stderr is now: while a bar is shown, that is what keeps them above it."""
    if sys.stderr is not None:
        sys.stderr.write("".join(f"{line}\n" for line in lines))


@contextmanager
def followed(total: int | None, words: str) -> Iterator[Callable[[int], None]]:
    """A bar on stderr where that is a terminal, gone when the work is done; what it gives is told how many more are done."""
    if not is_terminal(sys.stderr):
        yield lambda _: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from stillme.cli.terminal import console

    columns = (MofNCompleteColumn(), TextColumn(words), BarColumn(bar_width=None), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=total)
        yield lambda more: bar.update(task, advance=more)


def stepwise(follow: Callable[[int], None]) -> Callable[[object], None]:
    """Tells of every so many things at once: a bar that moves for each would take longer than the work."""
    count = 0

    def advance(_: object) -> None:
        nonlocal count
        count += 1
        if count % STEP == 0:
            follow(STEP)

    return advance


def agreed(question: str, yes: bool) -> bool:
    """Whether to go on: asked on stderr, unless the command said so already."""
    if yes:
        return True
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        raise InputError("nothing was done, for nobody answered: give --yes to go on without being asked") from None
