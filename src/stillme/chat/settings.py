"""What an operator can decide about the chat, by environment variable; the names and defaults are those of the integration plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stillme.policy import Policy, PolicyWatcher
from stillme.policy.reader import PRESETS, policy_here
from stillme.settings import EnvironmentSettings, choice, named, number, setting, switch, whole
from stillme.validators.registry import BUILT_IN

__all__ = ["ChatSettings"]


@dataclass(frozen=True, slots=True)
class ChatSettings(EnvironmentSettings):
    """The chat as an operator wants it."""

    validate: bool = setting(False, "ENABLE_VALIDATORS", "whether chat answers go through the validator chain")
    align: bool = setting(True, "ENABLE_TONE_ALIGN", "whether the tone of chat answers is aligned")
    tone_style: str = setting(
        "neutral", "STILLME_TONE_STYLE", "neutral, friendly or scholarly", choice("neutral", "friendly", "scholarly")
    )
    evidence_threshold: float | None = setting(
        None,
        "VALIDATOR_EVIDENCE_THRESHOLD",
        "least share of an answer's word sequences found in the sources; without it the policy's (0.08)",
        number(0, 1),
    )
    citation_required: bool | None = setting(
        None,
        "VALIDATOR_CITATION_REQUIRED",
        "whether factual claims must cite; without it as the policy says (true)",
        switch,
    )
    disabled: tuple[str, ...] = setting(
        (),
        "STILLME_DISABLED_VALIDATORS",
        "validators that are off in the chat, by name, with commas between",
        named(lambda: BUILT_IN),
    )
    may_skip: bool = setting(
        False, "STILLME_ALLOW_UNVALIDATED", "whether a request may switch the validators off for itself"
    )
    policy: str | None = setting(
        None,
        "STILLME_POLICY",
        "a policy file, which is followed while serving, or lite, book, strict; without it policy.yaml of the working folder, else lite",
    )
    mode: str | None = setting(
        None,
        "STILLME_MODE",
        "monitor, warn or enforce, in place of the policy's; where neither says one, /api/chat/rag enforces and all else monitors",
        choice("monitor", "warn", "enforce"),
    )
    data: str = setting("stillme-data", "STILLME_DATA", "the folder for whatever is kept in files")
    knowledge: str | None = setting(
        None,
        "STILLME_KNOWLEDGE",
        "the knowledge store: a file or postgresql://…; without it knowledge.db in that folder",
    )
    identity: str | None = setting(None, "STILLME_IDENTITY_FILE", "a text file in place of the built-in system prompt")
    most_knowledge: int = setting(
        5, "STILLME_KNOWLEDGE_CHUNKS", "how many chunks of knowledge an answer may stand on", whole(1, 50)
    )
    most_conversation: int = setting(
        3, "STILLME_CONVERSATION_CHUNKS", "how many earlier turns of a session are looked up", whole(0, 50)
    )
    remembers: bool = setting(
        True, "STILLME_REMEMBER", "whether delivered answers of a session are kept for its later questions"
    )
    recall: int = setting(
        1000,
        "STILLME_VERDICT_CACHE",
        "how many verdicts are kept to be given again for the very same content; 0 keeps none",
        whole(0, 1_000_000),
    )

    @property
    def knowledge_store(self) -> str:
        """Where the knowledge is."""
        return self.knowledge or str(Path(self.data) / "knowledge.db")

    @property
    def policy_source(self) -> str | None:
        """The policy that is named, else the file of the working folder, if there is one."""
        return self.policy or policy_here()

    def verify_policy(self) -> Policy | PolicyWatcher:
        """What everything but the chat judges by: the policy as it is, in the mode that the environment names."""
        return self._with({"mode": self.mode} if self.mode else {})

    def chat_policy(self) -> Policy | PolicyWatcher:
        """What the chat judges by: the policy with the chat's own variables over it.

        A chat has a person at its end: without a word on the mode, what is not supported is not said. A preset that is named says its own.
        """
        changes: dict[str, Any] = {"mode": self.mode} if self.mode else {}
        validators: dict[str, Any] = {name: {"enabled": False} for name in self.disabled}
        if self.evidence_threshold is not None:
            validators.setdefault("EvidenceOverlap", {})["threshold"] = self.evidence_threshold
        if self.citation_required is not None:
            validators.setdefault("CitationRequired", {"enabled": self.citation_required})
        return self._with(changes | ({"validators": validators} if validators else {}), {"mode": "enforce"})

    def _with(self, changes: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> Policy | PolicyWatcher:
        source = self.policy_source
        if source is not None and source not in PRESETS:
            return PolicyWatcher(source, changes=changes, defaults=defaults)
        policy = Policy.load(source or defaults)
        changed = policy.with_changes(changes) if changes else policy
        changed.build()
        return changed
