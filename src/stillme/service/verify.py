"""Verification over HTTP: the contract of the library, for teams that have a pipeline of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from fastapi import FastAPI, Query
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from stillme.catalogue import reason_rows, validator_rows
from stillme.contract import Verdict, VerifyRequest, parse_request
from stillme.errors import InputError, StillMeError
from stillme.guard import Guard, Occurrence, shown
from stillme.limits import check_limits, work_of
from stillme.service.bodies import json_response, read_json
from stillme.service.limits import Pool, within
from stillme.service.openapi import body_of, problems
from stillme.service.problems import ProblemError, answer_problem
from stillme.service.recording import Recording
from stillme.service.settings import ServiceSettings

__all__ = ["Verification"]

TIMEOUT: Final = "STILLME_REQUEST_TIMEOUT_S"


class Batch(BaseModel):
    """Several requests at once."""

    model_config = ConfigDict(extra="forbid")

    requests: list[VerifyRequest] = Field(description="at most STILLME_MAX_BATCH of them")


class BatchProblem(BaseModel):
    """A request of a batch that cannot be verified."""

    index: int = Field(description="its place among the requests, from 0")
    detail: str


class Verdicts(BaseModel):
    """A verdict for each request of a batch, in order; null where a request cannot be read, which `problems` explains."""

    verdicts: list[Verdict | None]
    problems: list[BatchProblem]


class PolicyInForce(BaseModel):
    """A policy as it is in force."""

    policy_hash: str
    mode: str
    extends: str
    settings: dict[str, Any]
    problem: str | None = Field(description="why the file as it is now is not in force, if it is not")


class Policies(BaseModel):
    """What the verify endpoints and the chat judge by."""

    verify: PolicyInForce
    chat: PolicyInForce


@dataclass(frozen=True, slots=True)
class _Direct:
    """Answers the endpoints that are called for every answer without what a framework does for a route."""

    app: ASGIApp
    routes: Mapping[str, APIRoute]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self.routes.get(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if route is None:
            await self.app(scope, receive, send)
            return
        scope["route"] = route  # for figures and logs
        request = Request(scope, receive)
        try:
            response: Response = await route.endpoint(request)
        except (StillMeError, ProblemError) as error:
            response = await answer_problem(request, error)
        await response(scope, receive, send)


@dataclass(frozen=True, slots=True)
class Verification:
    """The verify endpoints over a guard."""

    guard: Guard
    chat_guard: Guard
    pool: Pool
    settings: ServiceSettings
    recording: Recording

    def in_front_of(self, app: FastAPI) -> ASGIApp:
        """The application with the endpoints of `add_to` answered before it is asked; a defect of ours is answered like any other."""
        paths = ("/v1/verify", "/v1/precheck", "/v1/verify/batch")
        routes = {r.path: r for r in app.routes if isinstance(r, APIRoute) and r.path in paths}
        return ServerErrorMiddleware(_Direct(app, routes), handler=answer_problem)

    def add_to(self, app: FastAPI) -> None:
        """Add the routes."""
        fast: list[tuple[str, Callable[..., Any], type[BaseModel], type[BaseModel], str]] = [
            ("/v1/verify", self.verify, VerifyRequest, Verdict, "Verify a draft (Pattern A); without one, precheck."),
            ("/v1/precheck", self.precheck, VerifyRequest, Verdict, "Check question and context alone (Pattern B)."),
            ("/v1/verify/batch", self.batch, Batch, Verdicts, "Verify several drafts."),
        ]
        for path, endpoint, takes, gives, summary in fast:
            app.add_api_route(
                path,
                endpoint,
                methods=["POST"],
                response_model=gives,
                responses=problems(400, 401, 403, 408, 413, 415, 422, 429, 503),
                openapi_extra=body_of(takes),
                summary=summary,
                tags=["verify"],
            )
        self._add_listings(app)

    def _add_listings(self, app: FastAPI) -> None:
        listings: list[tuple[str, Callable[..., Any], Any, str]] = [
            ("/v1/policy", self.policy, Policies, "The policies in force."),
            ("/v1/reasons", self.reasons, list[dict[str, Any]], "The reason codes, in words."),
            ("/v1/validators", self.validators, list[dict[str, Any]], "The validators, in the order they run."),
        ]
        for path, endpoint, gives, summary in listings:
            app.add_api_route(
                path,
                endpoint,
                methods=["GET"],
                response_model=gives,
                responses=problems(401, 403, 422, 429),
                summary=summary,
                tags=["verify"],
            )

    # the endpoints

    async def verify(self, request: Request) -> Response:
        """The verdict on a draft; a request without a draft is prechecked."""
        return await self._verdict(request, lambda asked: asked)

    async def precheck(self, request: Request) -> Response:
        """The verdict on question and context, before anything is generated; a draft is left aside."""
        return await self._verdict(
            request, lambda asked: parse_request(asked).model_copy(update={"draft_answer": None})
        )

    async def _verdict(self, request: Request, read: Callable[[Any], Any]) -> Response:
        asked, caller = await read_json(request), request.scope.get("stillme.caller")

        def work() -> tuple[list[Occurrence], bytes]:
            found = self.guard.examine(read(asked), caller=caller, record=False)
            return [found], shown(found).model_dump_json().encode()

        return await self._recorded(work)

    async def batch(self, request: Request) -> Response:
        """A verdict for each request; one that cannot be read does not hold up the others."""
        asked, caller = await read_json(request), request.scope.get("stillme.caller")
        items = self._items(asked)
        return await self._recorded(lambda: self._judged(items, caller))

    async def _recorded(self, work: Callable[[], tuple[list[Occurrence], bytes]]) -> Response:
        """What the work answers, once its verdicts are kept."""

        async def kept() -> bytes:
            occurrences, body = await self.pool.run(work)
            await self.recording.arecord(occurrences)
            return body

        return json_response(await within(self.settings.timeout_s, kept(), TIMEOUT))

    def _items(self, asked: Any) -> list[Any]:
        items = asked.get("requests") if isinstance(asked, dict) and set(asked) == {"requests"} else None
        if not isinstance(items, list):
            raise InputError('a batch is an object with one key: {"requests": [...]}')
        if len(items) > self.settings.most_batch:
            raise InputError(
                f"requests has {len(items)} items, STILLME_MAX_BATCH is {self.settings.most_batch}: send fewer"
            )
        return items

    def _judged(self, items: Sequence[Any], caller: str | None) -> tuple[list[Occurrence], bytes]:
        parsed: dict[int, VerifyRequest] = {}
        wrong: list[dict[str, Any]] = []
        for index, item in enumerate(items):
            try:
                parsed[index] = parse_request(item)
                check_limits(parsed[index], self.guard.policy)
            except InputError as error:
                parsed.pop(index, None)
                wrong.append({"index": index, "detail": str(error)})
        work = sum(work_of(request) for request in parsed.values())
        if work > self.settings.most_batch_work:
            raise InputError(
                f"the requests together ask for {work} units of work (claims by sentences of the passages), "
                f"STILLME_MAX_BATCH_WORK is {self.settings.most_batch_work}: send fewer at once"
            )
        found = self.guard.examine_batch(parsed.values(), caller=caller, record=False)
        verdicts = dict(zip(parsed, map(shown, found), strict=True))
        written = [verdicts[n].model_dump_json() if n in verdicts else "null" for n in range(len(items))]
        text = f'{{"verdicts":[{",".join(written)}],"problems":{json.dumps(wrong, ensure_ascii=False)}}}'
        return found, text.encode()

    async def policy(self) -> Policies:
        """What is in force now."""
        return Policies(verify=_in_force(self.guard), chat=_in_force(self.chat_guard))

    async def reasons(self, language: Literal["en", "vi"] = Query("en")) -> list[dict[str, Any]]:
        """Every reason code: which validators flag it, what it asks for, its words."""
        return reason_rows(language)

    async def validators(self) -> list[dict[str, Any]]:
        """Every validator that a policy may name: what it flags and what can be set."""
        return validator_rows()


def _in_force(guard: Guard) -> PolicyInForce:
    policy = guard.policy
    problem = guard.policy_problem
    return PolicyInForce(
        policy_hash=policy.hash,
        mode=policy.mode,
        extends=policy.extends,
        settings=policy.model_dump(mode="json"),
        problem=str(problem) if problem else None,
    )
