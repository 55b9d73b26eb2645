"""How two policies differ, by key."""

from __future__ import annotations

from typing import Any

import pytest

from stillme.evaluation.changes import SettingChange, policy_changes
from stillme.policy import Policy


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        pytest.param("lite", {"mode": "monitor"}, (), id="defaults written out or left out"),
        pytest.param("lite", {"mode": "warn"}, (SettingChange("mode", "monitor", "warn"),), id="a value"),
        pytest.param(
            "lite",
            {"validators": {"NumericUnitsBasic": {"gate": "hard"}}},
            (
                SettingChange("validators.NumericUnitsBasic.gate.number_not_in_sources", "soft", "hard"),
                SettingChange("validators.NumericUnitsBasic.gate.uncited_number", "soft", "hard"),
            ),
            id="a gate, by each of its codes",
        ),
        pytest.param(
            {"validators": {"VerbosityValidator": {"enabled": False}}},
            "lite",
            (SettingChange("validators.VerbosityValidator.enabled", False, True),),
            id="a validator that is switched on, without its parameters",
        ),
        pytest.param(
            "lite",
            {"validators": {"EvidenceOverlap": {"threshold": 0.2}}},
            (SettingChange("validators.EvidenceOverlap.threshold", 0.08, 0.2),),
            id="a parameter",
        ),
        pytest.param(
            "lite",
            {"messages": {"refusal": {"en": "No.", "vi": "Không."}}},
            (SettingChange("messages.refusal.en", None, "No."), SettingChange("messages.refusal.vi", None, "Không.")),
            id="a message where there was none",
        ),
        pytest.param(
            "lite",
            {"rollout": {"min_days": 14}},
            (SettingChange("rollout.min_days", 7, 14),),
            id="a gate of the rollout",
        ),
    ],
)
def test_changes_are_named_by_key_with_both_values(before: Any, after: Any, changes: tuple[SettingChange, ...]) -> None:
    """Only what is in force counts, not how it was written."""
    assert policy_changes(Policy.load(before), Policy.load(after)) == changes
