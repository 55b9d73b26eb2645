"""Validators as a policy sets them: built from its settings, and told apart by what can change a verdict."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from stillme.validators.chain import ConfiguredValidator
from stillme.validators.registry import Slot, foreign_code, parameters

__all__ = ["built", "fingerprint_of", "plain"]


def built(
    cls: type[Any], slot: Slot, given: Mapping[str, Any], derived: Mapping[str, Any] = MappingProxyType({})
) -> Any:
    """A validator with the settings that are fields of its class; PolicyError if it refuses them."""
    known = parameters(cls) if given else {}
    read = {name: known[name].read(value) for name, value in given.items() if name in known}
    with foreign_code(f"validators.{slot.name}"):
        return cls(**{**derived, **read, **slot.fixed})


def fingerprint_of(configured: ConfiguredValidator) -> dict[str, Any]:
    """Everything about a validator that can change a verdict, as plain data."""
    validator, gate = configured.validator, configured.gate
    own = {str(reason): str(gate or default) for reason, default in getattr(validator, "gates", {}).items()}
    fields: tuple[dataclasses.Field[Any], ...] = (
        dataclasses.fields(validator) if dataclasses.is_dataclass(validator) else ()
    )
    return {
        "name": validator.name,
        "gates": own or ({"*": str(gate)} if gate else {}),
        "timeout_s": configured.timeout_s,
        "repair": configured.repair,
        "parameters": {field.name: getattr(validator, field.name) for field in fields if field.init},
    }


def plain(value: object) -> Any:
    """A parameter that JSON does not know, in a form that is the same in every process."""
    if isinstance(value, set | frozenset):
        return sorted(value)
    return f"{type(value).__module__}.{type(value).__qualname__}"
