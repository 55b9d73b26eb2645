"""What the endpoints behind the console have in common: their routes, work on the audit store, and how they answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar, cast

from fastapi import FastAPI
from pydantic import BaseModel
from starlette.responses import Response

from stillme.audit import AuditStore
from stillme.service.bodies import json_response
from stillme.service.limits import Pool, within
from stillme.service.openapi import body_of, problems
from stillme.service.problems import Problem, ProblemError
from stillme.service.settings import ServiceSettings

__all__ = ["NO_STORE", "Records", "Route", "add_routes", "answer"]

TIMEOUT: Final = "STILLME_REQUEST_TIMEOUT_S"
NO_STORE: Final = "no verdicts are recorded: the service runs with STILLME_AUDIT_STORE=none"
ASKED: Final = (401, 403, 404, 408, 422, 429, 503)
SENT: Final = (400, 413, 415)
Result = TypeVar("Result")


class Route(NamedTuple):
    """An endpoint: where it is, what it does, the body that it reads and the model that it answers with, if any."""

    method: str
    path: str
    endpoint: Callable[..., Any]
    summary: str
    takes: type[BaseModel] | None = None
    gives: type[BaseModel] | None = None


def add_routes(app: FastAPI, routes: Iterable[Route], statuses: Iterable[int] = (*SENT, *ASKED)) -> None:
    """Add endpoints of the console, each with the problems that it may answer with."""
    for route in routes:
        app.add_api_route(
            route.path,
            route.endpoint,
            methods=[route.method],
            response_model=route.gives,
            responses=problems(*sorted(statuses)),
            openapi_extra=body_of(route.takes) if route.takes else None,
            summary=route.summary,
            tags=["console"],
        )


@dataclass(frozen=True, slots=True)
class Records:
    """The audit store as endpoints use it: in a thread of the pool, and within the time of a request."""

    store: AuditStore | None
    pool: Pool
    settings: ServiceSettings

    @property
    def required(self) -> AuditStore:
        """The store, or a problem that says that nothing is recorded."""
        if self.store is None:
            raise ProblemError(Problem(404, NO_STORE))
        return self.store

    async def work(self, work: Callable[[AuditStore], Result]) -> Result:
        """What some work on the store comes to."""
        store = self.required
        return await self.run(lambda: work(store))

    async def run(self, work: Callable[[], Result]) -> Result:
        """What some work comes to that may do without a store."""
        return cast(Result, await within(self.settings.timeout_s, self.pool.run(work), TIMEOUT))


def answer(value: Any) -> Response:
    """A value as JSON."""
    return json_response(json.dumps(value, ensure_ascii=False, default=str))
