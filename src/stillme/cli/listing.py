"""What can be listed, as tables for people: the validators and the reason codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from stillme.cli.terminal import plain_table, visible

__all__ = ["reasons_table", "validators_table"]

GATE_STYLE = {"hard": "red", "soft": "yellow"}


def validators_table(rows: Sequence[Mapping[str, Any]], encoding: str) -> Table:
    """The validators in the order they run."""
    table = plain_table("order", "validator, flags (default gate), parameters", gap=1)
    for row in rows:
        heading = Text(visible(row["name"], encoding), style="bold").append(
            f"  {', '.join(row['stages'])}", style="dim"
        )
        table.add_row(", ".join(map(str, row["order"])) or "plugin", Text("\n").join([heading, *_about(row, encoding)]))
    return table


def _about(row: Mapping[str, Any], encoding: str) -> list[Text]:
    lines = [(row["summary"], "dim")]
    lines += [(f"{code} ({gate})", GATE_STYLE[gate]) for code, gate in row["reasons"].items()]
    lines += [(_setting(parameter), "") for parameter in row["parameters"]]
    lines += [(row["problem"] or "", "bold red")]
    return [Text(visible(line, encoding), style=style) for line, style in lines if line]


def _setting(parameter: Mapping[str, Any]) -> str:
    default = "" if parameter["required"] else f" = {parameter['default']!r}"
    return f"{parameter['name']}: {parameter['type']}{default}{'' if parameter['in_policy'] else ' (in Python only)'}"


def reasons_table(rows: Sequence[Mapping[str, Any]], encoding: str) -> Table:
    """The reason codes in words."""
    table = plain_table("code, in words", "gate", "when hard", gap=1)
    for row in rows:
        words = Text(row["code"], style="bold").append_text(
            Text(f"\n{visible(row['say'], encoding)}", style="not bold")
        )
        gate = Text(row["gate"] or "-", style=GATE_STYLE.get(row["gate"], ""))
        table.add_row(words, gate, Text(row["decision"]))
    return table
