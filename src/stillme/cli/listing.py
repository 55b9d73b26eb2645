"""What can be listed: the validators and the reason codes, as rows for programs and as tables for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from stillme.cli.terminal import visible
from stillme.reasons import Decision, Reason, asked_by
from stillme.response import reason_words
from stillme.validators.registry import CHAIN, Available, Parameter, available

__all__ = ["reason_rows", "reasons_table", "validator_rows", "validators_table"]

BUILT_IN = "built in"
GATE_STYLE = {"hard": "red", "soft": "yellow"}


def validator_rows() -> list[dict[str, Any]]:
    """Every validator that a policy may name; one of another package has no `order` of its own."""
    return [_validator_row(found) for found in available()]


def _validator_row(found: Available) -> dict[str, Any]:
    is_built_in = found.origin == BUILT_IN
    return {
        "order": [place for place, slot in enumerate(CHAIN, 1) if is_built_in and slot.name == found.name],
        "name": found.name,
        "stages": list(found.stages),
        "gate": found.gate,
        "reasons": dict(found.reasons),
        "parameters": [_parameter_row(parameter) for parameter in found.parameters],
        "summary": found.summary,
        "origin": found.origin,
        "problem": found.problem,
    }


def _parameter_row(parameter: Parameter) -> dict[str, Any]:
    in_policy = parameter.adapter is not None
    default = (
        parameter.adapter.dump_python(parameter.default, mode="json")
        if parameter.adapter and not parameter.required
        else None
    )
    return {
        "name": parameter.name,
        "type": parameter.type,
        "default": default,
        "required": parameter.required,
        "in_policy": in_policy,
    }


def reason_rows(language: str) -> list[dict[str, Any]]:
    """Every reason code: which built-in validators flag it with which gate, what it asks for when hard, its words."""
    flagged_by: dict[str, dict[str, str]] = defaultdict(dict)
    for found in (each for each in available() if each.origin == BUILT_IN):
        for code, gate in found.reasons:
            flagged_by[code][found.name] = gate
    return [
        {
            "code": code.value,
            "gate": "/".join(sorted(set(flagged_by[code].values()))) or None,
            "decision": (Decision.ANSWER if code is Reason.PASSED_WITH_WARNINGS else asked_by(code)).value,
            "flagged_by": flagged_by[code],
            **reason_words(code, language),
        }
        for code in Reason
    ]


def validators_table(rows: Sequence[Mapping[str, Any]], encoding: str) -> Table:
    """The validators in the order they run."""
    table = _table("order", "validator, flags (default gate), parameters")
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
    table = _table("code, in words", "gate", "when hard")
    for row in rows:
        words = Text(row["code"], style="bold").append_text(
            Text(f"\n{visible(row['say'], encoding)}", style="not bold")
        )
        gate = Text(row["gate"] or "-", style=GATE_STYLE.get(row["gate"], ""))
        table.add_row(words, gate, Text(row["decision"]))
    return table


def _table(*headings: str) -> Table:
    table = Table(box=None, padding=(0, 2, 1, 0), pad_edge=False, header_style="bold underline")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
