"""How the tests of the guarded endpoints ask: the official client, and bare HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import openai

from tests.service.guarding import Guarding

WAIT_S = 600


@contextmanager
def client_of(guard: Guarding) -> Iterator[openai.OpenAI]:
    """The official client, pointed at the guard."""
    with openai.OpenAI(base_url=guard.base_url, api_key="any", max_retries=0, timeout=WAIT_S) as client:
        yield client


def post(guard: Guarding, path: str, **body: Any) -> httpx.Response:
    """What a path below /v1 answers."""
    return httpx.post(f"{guard.base_url}{path}", json=body, timeout=WAIT_S)
