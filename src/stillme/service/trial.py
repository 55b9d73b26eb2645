"""A verdict to look at: made under the policy in force or another one, in any mode, and not recorded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from stillme.contract import Mode, Verdict, VerifyRequest
from stillme.guard import Guard
from stillme.policy import Policy
from stillme.service.bodies import as_model, json_response, read_json
from stillme.service.limits import Pool, within
from stillme.service.openapi import body_of, problems
from stillme.service.settings import ServiceSettings

__all__ = ["IN_FORCE", "Trial", "TrialRequest"]

TIMEOUT: Final = "STILLME_REQUEST_TIMEOUT_S"
IN_FORCE: Final = "in_force"


class TrialRequest(BaseModel):
    """A request to try, and what to judge it by."""

    model_config = ConfigDict(extra="forbid")

    request: VerifyRequest
    policy: Literal["in_force", "lite", "book", "strict"] = Field(
        IN_FORCE, description="the policy of the verify endpoints, or a preset"
    )
    mode: Mode | None = Field(None, description="the mode; without it that of the policy")


@dataclass(frozen=True, slots=True)
class Trial:
    """The endpoint over the guard whose policy is in force."""

    guard: Guard
    pool: Pool
    settings: ServiceSettings

    def add_to(self, app: FastAPI) -> None:
        """Add the route."""
        app.add_api_route(
            "/v1/try",
            self.attempt,
            methods=["POST"],
            response_model=Verdict,
            responses=problems(400, 401, 403, 408, 413, 415, 422, 429, 503),
            openapi_extra=body_of(TrialRequest),
            summary="Verify under any preset and mode; nothing is recorded.",
            tags=["console"],
        )

    async def attempt(self, request: Request) -> Response:
        """The verdict, with every finding; nothing is recorded."""
        asked = as_model(TrialRequest, await read_json(request))

        def work() -> bytes:
            return self._guard(asked).examine(asked.request, record=False).verdict.model_dump_json().encode()

        return json_response(await within(self.settings.timeout_s, self.pool.run(work), TIMEOUT))

    def _guard(self, asked: TrialRequest) -> Guard:
        policy = self.guard.policy if asked.policy == IN_FORCE else _preset(asked.policy)
        if asked.mode in (None, policy.mode) and asked.policy == IN_FORCE:
            return self.guard
        changed = policy if asked.mode in (None, policy.mode) else policy.with_changes({"mode": asked.mode})
        return Guard(changed, self.guard.added, self.guard.grounder)


@lru_cache(maxsize=8)
def _preset(name: str) -> Policy:
    return Policy.load(name)
