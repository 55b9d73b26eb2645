"""How two policies differ, setting by setting and gate by gate."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from stillme.policy import Policy
from stillme.policy.instances import fingerprint_of, plain

__all__ = ["SettingChange", "policy_changes"]


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting that differs, gates by reason code among them; a value is None where one policy does not have it."""

    key: str
    before: Any
    after: Any


def policy_changes(before: Policy, after: Policy) -> tuple[SettingChange, ...]:
    """What is in force under one policy and not under the other, in the order of a policy file; how it was written does not matter."""
    old, new = _settings(before), _settings(after)
    keys = [*old, *(key for key in new if key not in old)]
    switched = {key for key in keys if key.endswith(".enabled") and old.get(key, True) != new.get(key, True)}
    shown = [key for key in keys if key in switched or not any(key.startswith(s[: -len("enabled")]) for s in switched)]
    return tuple(
        SettingChange(key, old.get(key, key in switched or None), new.get(key, key in switched or None))
        for key in shown
        if old.get(key) != new.get(key)
    )


def _settings(policy: Policy) -> dict[str, Any]:
    """Everything that is in force, by dotted key; in place of a validator's `gate`, the gate of each of its codes."""
    written = yaml.safe_load(policy.to_yaml())
    for options in written["validators"].values():
        options.pop("gate", None)
    flat = dict(_flat(written, ""))
    for configured in policy.build():
        fingerprint = fingerprint_of(configured)
        flat |= {f"validators.{fingerprint['name']}.gate.{code}": gate for code, gate in fingerprint["gates"].items()}
    return flat


def _flat(node: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(node, Mapping) and node:
        for key, value in node.items():
            yield from _flat(value, f"{path}.{key}" if path else str(key))
    else:
        yield path, json.loads(json.dumps(node, default=plain))
