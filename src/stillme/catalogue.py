"""What there is to choose from, as rows for programs: the validators and the reason codes."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from stillme.reasons import Decision, Reason, asked_by
from stillme.response import reason_words
from stillme.validators.registry import CHAIN, Available, Parameter, available

__all__ = ["reason_rows", "validator_rows"]

BUILT_IN = "built in"


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
            "decision": (
                Decision.ANSWER if code in (Reason.PASSED_WITH_WARNINGS, Reason.VALIDATORS_OFF) else asked_by(code)
            ).value,
            "flagged_by": flagged_by[code],
            **reason_words(code, language),
        }
        for code in Reason
    ]
