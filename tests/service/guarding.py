"""An application of the guarded endpoints alone, and what is said to it in the tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI

from stillme.chat.router import Router
from stillme.errors import StillMeError
from stillme.guard import Guard, Occurrence
from stillme.llm.client import CallLimits
from stillme.llm.providers import OpenAICompatible
from stillme.service.openai.guarded import Parts
from stillme.service.openai.litellm import litellm_routes
from stillme.service.openai.routes import openai_routes
from stillme.service.problems import ProblemError, answer_problem
from tests.chat.upstream import Play, Upstream
from tests.service.serving import served

QUESTION = "When does the museum open, and what does admission cost?"
HOURS = "The museum opens at 9 am and closes at 5 pm every day except Monday."
PRICES = "Admission costs 12 euros for adults and is free for children under six."
CONTEXT = [
    {"source_id": "hours", "text": HOURS, "title": "Opening hours", "similarity": 0.9},
    {"source_id": "prices", "text": PRICES, "title": "Prices", "similarity": 0.9},
]
TRUE = "The museum opens at 9 am [1]. Admission costs 12 euros for adults [2]."
FALSE = "The museum opens at 9 am [1]. Admission costs 45 euros for adults [2]. Children under six pay nothing [2]."
UNCITED = "The museum opens at 9 am. Admission costs 12 euros for adults."
CITED = "The museum opens at 9 am [1]. Admission costs 12 euros for adults [2]."
ASKING = [{"role": "user", "content": QUESTION}]
EXTRA = {"stillme": {"context": CONTEXT}}

CAU_HOI = "Bảo tàng mở cửa lúc mấy giờ và giá vé là bao nhiêu?"
NGU_CANH = [
    {"source_id": "gio", "text": "Bảo tàng mở cửa lúc 9 giờ sáng, trừ thứ Hai.", "similarity": 0.9},
    {"source_id": "ve", "text": "Giá vé người lớn là 120.000 đồng.", "similarity": 0.9},
]
DUNG = "Bảo tàng mở cửa lúc 9 giờ sáng [1]. Giá vé người lớn là 120.000 đồng [2]."
SAI = "Bảo tàng mở cửa lúc 9 giờ sáng [1]. Giá vé người lớn là 450.000 đồng [2]."


@dataclass
class Kept:
    """A recorder that keeps what it gets; `arrived` is set with each record."""

    occurrences: list[Occurrence] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)

    def record(self, occurrences: Sequence[Occurrence]) -> None:
        self.occurrences += occurrences
        self.arrived.set()

    @property
    def deliveries(self) -> list[Any]:
        """How each answer was delivered, as the record says it."""
        return [getattr(o.request.metadata, "delivery", None) for o in self.occurrences]


@dataclass(frozen=True)
class Guarding:
    """The service while it stands, the model server behind it, and what was recorded."""

    url: str
    upstream: Upstream
    kept: Kept

    @property
    def base_url(self) -> str:
        """What an OpenAI client is pointed at."""
        return f"{self.url}/v1"


async def in_a_thread(work: Callable[[], Any]) -> Any:
    """What the service's pool does."""
    return await asyncio.to_thread(work)


def app_of(parts: Parts, *close: Any) -> FastAPI:
    """The guarded endpoints, and nothing else."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> Any:
        yield
        for each in close:
            await each.aclose()

    app = FastAPI(lifespan=lifespan)
    app.add_exception_handler(StillMeError, answer_problem)
    app.add_exception_handler(ProblemError, answer_problem)
    app.include_router(openai_routes(parts))
    app.include_router(litellm_routes(parts))
    return app


@contextmanager
def guarding(
    *script: Play,
    policy: Mapping[str, Any] | None = None,
    guard: Guard | None = None,
    model: str = "served-model",
    **parts: Any,
) -> Iterator[Guarding]:
    """A guard in front of a model server that plays the script; `model` is what an operator calls its model."""
    kept = Kept()
    guard = guard or Guard({"mode": "enforce", **(policy or {})}, audit=kept)
    with Upstream(*script) as upstream:
        server = OpenAICompatible("upstream", upstream.url, model=model, limits=CallLimits(retries=0))
        made = Parts(guard, in_a_thread, **{"caller": lambda _: "key:tests", "upstream": server, **parts})
        with served(app_of(made, server)) as url:
            yield Guarding(url, upstream, kept)


@contextmanager
def serving_own(
    router: Router, *, retriever: Any = None, policy: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, Kept]]:
    """The service with its own providers, and no model server behind it."""
    kept = Kept()
    guard = Guard({"mode": "enforce", **(policy or {})}, audit=kept)
    parts = Parts(guard, in_a_thread, lambda _: None, router=router, retriever=retriever)
    with served(app_of(parts, router)) as url:
        yield url, kept
