"""One file per validator; `base` holds the contract, `registry` the names, `chain` runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stillme.validators.base import Finding, Observer, Repair, Validator
    from stillme.validators.chain import ConfiguredValidator, ValidationResult, ValidatorChain

__all__ = ["ConfiguredValidator", "Finding", "Observer", "Repair", "ValidationResult", "Validator", "ValidatorChain"]

_HOMES = {"Finding": "base", "Observer": "base", "Repair": "base", "Validator": "base"}


def __getattr__(name: str) -> Any:
    """Import the contract, the chain or a built-in validator by its class name, when it is first used."""
    from importlib import import_module  # noqa: PLC0415  (only needed when a name is first used)

    if name in __all__:
        return getattr(import_module(f"stillme.validators.{_HOMES.get(name, 'chain')}"), name)
    from stillme.validators.registry import BUILT_IN, validator_class  # noqa: PLC0415

    if name in BUILT_IN:
        return validator_class(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
