"""`GET /v1/models` and `/v1/models/{id}`: what can be asked, the model server's models and the service's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from stillme.errors import StillMeError, UpstreamError, shown
from stillme.llm.providers import OpenAICompatible
from stillme.service.openai.answer_sources import OWN
from stillme.service.openai.guarded import ERRORS, ModelNotFoundError, Parts, error_response
from stillme.service.openai.outgoing import is_number, is_word

__all__ = ["UNNAMED", "models_routes", "served_model"]

PATH: Final = "/models"
UNNAMED: Final = "default"
"""What the model server's model is called where an operator names none."""
MOST: Final = 1_000


def models_routes(parts: Parts) -> APIRouter:
    """The routes that tell of models."""
    router = APIRouter(tags=["openai"])
    models = _Models(parts)
    told: dict[int | str, dict[str, Any]] = {
        name: answer for name, answer in ERRORS.items() if name in (401, 403, 404, 429)
    }
    for path, endpoint, summary in (
        ("/v1/models", models.every, "The models that can be asked."),
        ("/v1/models/{name:path}", models.one, "One of them."),
    ):
        router.add_api_route(path, endpoint, methods=["GET"], response_model=None, summary=summary, responses=told)
    return router


async def served_model(server: OpenAICompatible) -> str:
    """The model that a model server is asked for where a request names none: the operator's, or the first that it lists."""
    if server.model and server.model != UNNAMED:
        return server.model
    listed = await _listed(server)
    return str(listed[0]["id"]) if listed else server.model or UNNAMED


async def _listed(server: OpenAICompatible) -> list[dict[str, Any]]:
    """The models of a server, in the words that may leave; none where it does not tell."""
    try:
        told = await server.ask(PATH)
    except UpstreamError:
        return []
    rows = told.get("data")
    return [_row(row) for row in rows[:MOST] if _is_model(row)] if isinstance(rows, list) else []


def _is_model(row: object) -> bool:
    return isinstance(row, Mapping) and is_word(row.get("id"))


def _row(row: Mapping[str, Any], owner: str = "upstream") -> dict[str, Any]:
    created, by = row.get("created"), row.get("owned_by")
    return {
        "id": row["id"],
        "object": "model",
        "created": created if is_number(created) else 0,
        "owned_by": by if is_word(by) else owner,
    }


@dataclass(frozen=True, slots=True)
class _Models:
    parts: Parts

    async def every(self) -> dict[str, Any]:
        """The models that can be asked, as OpenAI lists them."""
        return {"object": "list", "data": await self._rows()}

    async def one(self, name: str) -> Response:
        """One model, or an error in OpenAI's shape."""
        try:
            for row in await self._rows():
                if row["id"] == name:
                    return JSONResponse(row)
            raise ModelNotFoundError(f"model {shown(name)} is not served here: GET /v1/models lists those that are")
        except StillMeError as error:
            return error_response(error)

    async def _rows(self) -> list[dict[str, Any]]:
        """The operator's model, those that the model server lists, and the service's own; each once."""
        upstream, router = self.parts.upstream, self.parts.router
        rows: list[dict[str, Any]] = []
        if upstream is not None:
            listed = await _listed(upstream)
            named = [] if upstream.model in ("", UNNAMED) and listed else [{"id": upstream.model}]
            rows += [*map(_row, named), *listed]
        rows += [_row({"id": f"{OWN}/{name}"}, OWN) for name in (router.names if router is not None else ())]
        once: dict[str, dict[str, Any]] = {}
        for row in rows:
            once.setdefault(row["id"], row)
        return list(once.values())
