"""`POST /v1/embeddings`: passed on to the model server; vectors come back, and nothing else does."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from stillme.errors import InputError, StillMeError, UpstreamError, shown
from stillme.service.bodies import read_json
from stillme.service.openai.answer_sources import OWN
from stillme.service.openai.answering import Answering
from stillme.service.openai.endpoint import documented
from stillme.service.openai.guarded import ERRORS, ModelNotFoundError, error_response
from stillme.service.openai.outgoing import is_number, is_word, number_or, usage_of
from stillme.service.openai.request_sources import EXTENSION
from stillme.service.problems import ProblemError

__all__ = ["embeddings_routes"]

OPERATION: Final = "/embeddings"
FLOAT_BYTES: Final = 4


def embeddings_routes(answering: Answering) -> APIRouter:
    """The route of embeddings."""
    router = APIRouter(tags=["openai"])
    router.add_api_route(
        "/v1/embeddings",
        _Embeddings(answering).create,
        methods=["POST"],
        response_model=None,
        summary="Embeddings of the model server.",
        openapi_extra=documented("input", {"input": {}}),
        responses=ERRORS | {200: {"description": "The vectors."}},
    )
    return router


@dataclass(frozen=True, slots=True)
class _Embeddings:
    answering: Answering

    async def create(self, request: Request) -> Response:
        """The vectors of the model server."""
        try:
            return JSONResponse(await self._vectors(await read_json(request)))
        except (StillMeError, ProblemError) as error:
            return error_response(error)

    async def _vectors(self, body: object) -> dict[str, Any]:
        if not isinstance(body, dict) or not body.get("input"):
            raise InputError("the body must be a JSON object with an input: a text, or a list of texts")
        if not isinstance(body.get("model"), str | None):
            raise InputError(f"model must be the name of a model, got {shown(body.get('model'))}")
        upstream = self.answering.parts.upstream
        if upstream is None:
            raise ModelNotFoundError("embeddings need a model server: STILLME_UPSTREAM_URL names it")
        model = await self.answering.model(body)
        if model == OWN or model.startswith(f"{OWN}/"):
            raise ModelNotFoundError(f"model {shown(model)} gives no embeddings: name one of the model server")
        sent = {key: value for key, value in body.items() if key != EXTENSION} | {"model": model}
        return _checked(await upstream.ask(OPERATION, sent), model)


def _checked(told: Mapping[str, Any], model: str) -> dict[str, Any]:
    """The answer of a model server, if it consists of vectors."""
    rows = told.get("data")
    if (
        not isinstance(rows, list)
        or not rows
        or not all(isinstance(r, Mapping) and _is_vector(r.get("embedding")) for r in rows)
    ):
        raise UpstreamError("upstream sent embeddings that are none")
    named = told.get("model")
    data = [
        {"object": "embedding", "index": number_or(row.get("index"), n), "embedding": row["embedding"]}
        for n, row in enumerate(rows)
    ]
    return {
        "object": "list",
        "data": data,
        "model": named if is_word(named) else model,
        "usage": {"prompt_tokens": 0, "total_tokens": 0} | usage_of(told.get("usage")),
    }


def _is_vector(value: object) -> bool:
    """Whether a value is a list of numbers, or such a list in base64."""
    if isinstance(value, str):
        try:
            return bool(value) and len(base64.b64decode(value, validate=True)) % FLOAT_BYTES == 0
        except binascii.Error:
            return False
    return isinstance(value, list) and bool(value) and all(map(is_number, value))
