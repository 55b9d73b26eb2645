"""The routes of every endpoint that OpenAI's clients ask, over the same parts."""

from __future__ import annotations

from fastapi import APIRouter

from stillme.service.openai.answering import Answering
from stillme.service.openai.chat_completions import chat_completions_routes
from stillme.service.openai.embeddings import embeddings_routes
from stillme.service.openai.guarded import Parts
from stillme.service.openai.models import models_routes
from stillme.service.openai.responses import responses_routes
from stillme.service.openai.text_completions import text_completions_routes

__all__ = ["openai_routes"]


def openai_routes(parts: Parts) -> APIRouter:
    """The routes of the guard in front of a model."""
    router, answering = APIRouter(), Answering(parts)
    for routes in (chat_completions_routes, responses_routes, text_completions_routes, embeddings_routes):
        router.include_router(routes(answering))
    router.include_router(models_routes(parts))
    return router
