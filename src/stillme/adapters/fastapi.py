"""StillMe in FastAPI: a dependency that judges what an endpoint answers. For whole applications see `stillme.adapters.asgi`.

stillme = Depends(guarded(Guard("policy.yaml")))

@app.post("/ask")
async def ask(asked: Question, check: Annotated[Check, stillme]) -> Answer:
    return Answer(text=(await check(asked.text, draft, passages)).text)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from fastapi import Response

from stillme.adapters.asgi import headers_of
from stillme.adapters.guarding import GuardedStream, Judged, ajudged
from stillme.guard import Guard

__all__ = ["Check", "guarded"]


class Check:
    """The guard of one request; calling it judges a draft and notes the outcome in the response's headers."""

    def __init__(self, guard: Guard, response: Response) -> None:
        self._guard, self._response = guard, response

    async def __call__(
        self, query: str, draft: str | None, passages: Sequence[Mapping[str, Any]] = (), **rest: Any
    ) -> Judged:
        """The draft as it may go out; without one, whether the question may be answered."""
        found = await ajudged(self._guard, query, draft, passages, **rest)
        self._response.headers.update({name.decode(): value.decode() for name, value in headers_of(found)})
        return found

    async def stream(
        self, query: str, pieces: AsyncIterable[str], passages: Sequence[Mapping[str, Any]] = (), **rest: Any
    ) -> AsyncIterator[str]:
        """The pieces of a draft as they may go out, claim by claim."""
        stream = GuardedStream(self._guard, query, passages, **rest)
        async for piece in pieces:
            if out := await asyncio.to_thread(stream.feed, piece):
                yield out
        if rest_of_it := await asyncio.to_thread(stream.close):
            yield rest_of_it


def guarded(guard: Guard) -> Callable[[Response], Check]:
    """A dependency that gives an endpoint its `Check`."""

    def check(response: Response) -> Check:
        return Check(guard, response)

    return check
