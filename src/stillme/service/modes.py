"""Which mode each endpoint acts in: said at the start and by `/readyz`."""

from __future__ import annotations

from typing import Final

from stillme.policy import Policy

__all__ = ["endpoint_modes"]

VERIFYING: Final = (
    "/v1/verify",
    "/v1/precheck",
    "/v1/verify/batch",
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/completions",
    "/beta/litellm_basic_guardrail_api",
)
CHAT: Final = "/api/chat/rag"
STREAM: Final = "/api/chat/stream"
OFF: Final = "not validated"


def endpoint_modes(verify: Policy, chat: Policy, *, validates: bool) -> dict[str, str]:
    """The mode of each endpoint that delivers or judges answers, by path; a chat without validators has none, its stream always has."""
    return dict.fromkeys(VERIFYING, verify.mode) | {CHAT: chat.mode if validates else OFF, STREAM: chat.mode}
