"""What the operator decides: one YAML file over a preset, checked whole before use and followed while in use."""

from __future__ import annotations

from stillme.policy.model import Policy
from stillme.policy.schema import policy_schema
from stillme.policy.watcher import PolicyWatcher
from stillme.validators.chain import ConfiguredValidator

__all__ = ["ConfiguredValidator", "Policy", "PolicyWatcher", "policy_schema"]
