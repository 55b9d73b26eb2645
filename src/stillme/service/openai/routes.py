"""The routes of every endpoint that OpenAI's clients ask, over the same parts."""

from __future__ import annotations

from fastapi import APIRouter

from stillme.service.openai.answering import Answering
from stillme.service.openai.embeddings import embeddings_routes
from stillme.service.openai.endpoint import CHAT_COMPLETIONS
from stillme.service.openai.guarded import Parts
from stillme.service.openai.models import models_routes
from stillme.service.openai.responses import RESPONSES
from stillme.service.openai.text_completions import TEXT_COMPLETIONS

__all__ = ["openai_routes"]


def openai_routes(parts: Parts) -> APIRouter:
    """The routes of the guard in front of a model."""
    router, answering = APIRouter(), Answering(parts)
    for endpoint in (CHAT_COMPLETIONS, RESPONSES, TEXT_COMPLETIONS):
        router.include_router(endpoint.routes(answering))
    router.include_router(embeddings_routes(answering))
    router.include_router(models_routes(parts))
    return router
