"""`stillme eval worlds`: does it read? Claims that one version of the sources supports and another does not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stillme.cli.files import check_new, whole_file
from stillme.cli.printing import followed, print_json
from stillme.errors import shown
from stillme.version import __version__

if TYPE_CHECKING:
    from rich.table import Table

    from stillme.evaluation.worlds.documents import WorldDocument
    from stillme.evaluation.worlds.figures import WorldFigures, WorldTally
    from stillme.policy import Policy

__all__ = ["evaluate_worlds"]

ROWS = ("all", "en", "vi", "across")


def evaluate_worlds(
    policies: list[tuple[str, Policy]],
    *,
    limit: int | None,
    as_json: bool,
    answers: str | None,
    questions: str | None,
) -> None:
    """Measure policies, or the answers of another tool, on claims in two worlds; or write the claims for another tool to answer."""
    from stillme.evaluation.worlds.documents import read_documents, worlds_file

    documents = [d for d in islice(read_documents(worlds_file()), limit) if len(d.worlds) > 1]
    if questions is not None:
        _write_questions(documents, questions)
        return
    measured = dict(_measured(documents, policies, answers))
    if not as_json:
        _show(documents, measured)
        return
    sha256 = hashlib.sha256(worlds_file().read_bytes()).hexdigest()
    heading = {"documents": len(documents), "sha256": sha256, "version": __version__}
    results = {name: figures.to_dict() for name, figures in measured.items()}
    print_json({"worlds": heading, "results": results}, indent=2)


def _measured(
    documents: list[WorldDocument], policies: list[tuple[str, Policy]], answers: str | None
) -> Iterator[tuple[str, WorldFigures]]:
    """The figures of each judge, after those of a baseline that does not read."""
    from stillme.batch.judging import guard_of
    from stillme.evaluation.worlds.figures import figures_of
    from stillme.evaluation.worlds.judging import answers_of, by_guard, by_shared_words

    yield "shared words", figures_of(by_shared_words(documents))
    if answers is not None:
        yield Path(answers).name, figures_of(answers_of(answers, documents))
        return
    for name, policy in policies:
        guard = guard_of(policy.model_dump(mode="json", exclude_unset=True))
        with followed(len(documents), "documents") as advance:
            yield name, figures_of(by_guard(guard, documents, advance))


def _write_questions(documents: list[WorldDocument], path: str) -> None:
    from stillme.evaluation.worlds.judging import questions_for

    check_new(path)
    rows = [json.dumps(row, ensure_ascii=False) for row in questions_for(documents)]
    with whole_file(path, mode=0o666) as part:
        part.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    click.echo(
        f"{len(rows)} claims written to {shown(path)}: answer each, then `stillme eval worlds --answers FILE`", err=True
    )


def _show(documents: list[WorldDocument], measured: dict[str, WorldFigures]) -> None:
    from rich.text import Text

    from stillme.cli.terminal import console

    screen = console()
    for name, figures in measured.items():
        screen.print(Text(f"{name}  {len(documents)} documents in two worlds", style="bold"))
        screen.print(_table({group: figures.groups[group] for group in ROWS if figures.groups[group].flipped}))
        screen.print()
    screen.print(Text("by kind of claim", style="bold"))
    screen.print(_table(dict(sorted(figures.kinds.items(), key=lambda item: -item[1].flipped))))


def _table(tallies: dict[str, WorldTally]) -> Table:
    from rich.table import Table

    table = Table("", "claims that flip", "right in both", "order", "balanced", "sure and right", "sure", box=None)
    for name, tally in tallies.items():
        rates = {rate.name: rate.value for rate in tally.rates()} | {"balanced": tally.balanced_accuracy}
        cells = [_percent(rates[key]) for key in ("both_worlds", "order", "balanced", "sure_right", "sure_share")]
        table.add_row(name, str(tally.flipped), *cells)
    return table


def _percent(value: Any) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"
