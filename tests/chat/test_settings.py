"""What the environment decides about the chat."""

from __future__ import annotations

from pathlib import Path

import pytest

from stillme.chat.settings import ChatSettings
from stillme.policy import Policy, PolicyWatcher


@pytest.fixture(autouse=True)
def _empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The working folder names no policy."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("environment", "verify", "chat"),
    [
        pytest.param({}, "monitor", "enforce", id="a chat enforces where nobody says a mode"),
        pytest.param({"STILLME_POLICY": "lite"}, "monitor", "monitor", id="a preset that is named says its own"),
        pytest.param({"STILLME_MODE": "warn"}, "warn", "warn", id="a mode that is said holds for both"),
    ],
)
def test_the_mode_of_each_endpoint(environment: dict[str, str], verify: str, chat: str) -> None:
    """What everything else judges by, and what the chat does."""
    settings = ChatSettings.from_environment(environment)
    policies = settings.verify_policy(), settings.chat_policy()

    assert [policy.mode for policy in policies if isinstance(policy, Policy)] == [verify, chat]


def test_a_file_of_the_working_folder_is_followed() -> None:
    """It is used where no other policy is named."""
    Path("policy.yaml").write_text("mode: warn\n")

    policy = ChatSettings.from_environment({}).chat_policy()

    assert isinstance(policy, PolicyWatcher)
    assert policy.policy.mode == "warn"


def test_the_knowledge_is_in_the_data_folder_unless_it_is_named() -> None:
    """A file there, or what STILLME_KNOWLEDGE names."""
    assert ChatSettings.from_environment({"STILLME_DATA": "here"}).knowledge_store == str(Path("here", "knowledge.db"))
    assert ChatSettings.from_environment({"STILLME_KNOWLEDGE": "k.db"}).knowledge_store == "k.db"
