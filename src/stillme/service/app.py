"""The application: parts made from settings, routes over the parts, a door in front."""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from stillme.audit import AuditStore
from stillme.audit.chain.checkpoints import Checkpoints
from stillme.audit.signatures import Signing
from stillme.chat.pipeline import ChatPipeline, ChatRequest, guard_from, pipeline_from
from stillme.chat.router import RouterSettings
from stillme.chat.settings import ChatSettings
from stillme.console.routes import console_routes
from stillme.console.shell import Endpoint, Shell, missing
from stillme.contract import VerifyRequest
from stillme.errors import InputError, StillMeError
from stillme.guard import Guard
from stillme.llm.breaker import Breaker
from stillme.llm.providers import OpenAICompatible
from stillme.policy.reader import PRESETS
from stillme.service.auth import Keys
from stillme.service.chat import Chat
from stillme.service.chat_stream import ChatQuestion, ChatStream
from stillme.service.documents import Documents, RemovalRequest
from stillme.service.inside import Inside
from stillme.service.limits import Pool
from stillme.service.metrics import Metrics
from stillme.service.middleware import Door
from stillme.service.modes import endpoint_modes
from stillme.service.openai.evidence.formats import formats_from
from stillme.service.openai.guarded import Parts as GuardedParts
from stillme.service.openai.litellm import GuardrailRequest, litellm_routes
from stillme.service.openai.remembered_calls import shared_calls
from stillme.service.openai.routes import openai_routes
from stillme.service.openapi import problems, with_components
from stillme.service.overview import Overview, PromotionRequest
from stillme.service.policies import POLICY_BODIES, PolicyEndpoints
from stillme.service.problems import Problem, ProblemError, answer_problem
from stillme.service.readiness import FIRST, POLICY_PROBLEM, Readiness
from stillme.service.recording import Recording
from stillme.service.records import Records
from stillme.service.reviews import REVIEW_BODIES, Reviews
from stillme.service.sessions import Sessions, sessions_at
from stillme.service.settings import ServiceSettings
from stillme.service.telemetry import Telemetry, telemetry_from
from stillme.service.traces import Traces
from stillme.service.trial import Trial, TrialRequest
from stillme.service.verify import Batch, Verification
from stillme.version import __version__

__all__ = ["Parts", "create_app", "parts_from"]

log = logging.getLogger("stillme.service")
# How long a thread that computes keeps the interpreter from the others: a request changes threads several times.
SWITCH_S: Final = 0.001
DESCRIPTION: Final = (
    "Verifies the answers of language models against the passages they may stand on: answer, refuse or ask back, "
    "with reasons, quotes and a trace. Offline, on a CPU, in English and Vietnamese."
)


@dataclass(slots=True)
class Parts:
    """Everything the application works with, in one place; closed in the order of use."""

    settings: ServiceSettings
    keys: Keys
    metrics: Metrics
    pool: Pool
    guard: Guard
    pipeline: ChatPipeline
    readiness: Readiness
    recording: Recording
    store: AuditStore | None = None
    telemetry: Telemetry | None = None
    upstream: OpenAICompatible | None = None
    checkpoints: Checkpoints | None = None
    signing: Signing | None = None
    is_ready: bool = False

    def warm_up(self) -> None:
        """Load the model and try the stores once, so that the first request is as quick as the next.

        A store that cannot be reached yet keeps nobody from starting: `/readyz` says so until it can.
        """
        self.guard.examine(FIRST, record=False)
        self.pipeline.guard.examine(FIRST, record=False)
        self.is_ready = True
        for name, found in self.readiness.tried().items():
            if found != "ok":
                log.warning("not ready yet: %s: %s", name, found)

    async def close(self) -> None:
        """Finish and let go; whatever was accepted is on disk afterwards."""
        await self.pipeline.aclose()
        if self.upstream is not None:
            await self.upstream.aclose()
        self.guard.close()
        self.pool.close()
        await self.recording.aclose()
        for follower in (self.checkpoints, self.signing):
            if follower is not None:
                follower.close()
        self.readiness.close()
        if self.store is not None:
            self.store.close()
        if self.telemetry is not None:
            self.telemetry.close()


def parts_from(environment: Mapping[str, str], settings: ServiceSettings | None = None) -> Parts:
    """The parts that the environment describes; what is wrong with it is an InputError or a PolicyError."""
    chosen = settings or ServiceSettings.from_environment(environment)
    chat = ChatSettings.from_environment(environment)
    metrics, telemetry = Metrics(), telemetry_from(environment)
    pool = Pool(chosen.threads, chosen.waiting)
    Path(chosen.data).mkdir(parents=True, exist_ok=True)
    store = AuditStore(chosen.audit_store) if chosen.audit_store else None
    recording = Recording(store, metrics, telemetry)
    guard = guard_from(chat.verify_policy(), chat, recording)
    pipeline = pipeline_from(chat, environment, audit=recording, run=pool.run)
    guard.follow(PolicyNews("verify", guard, metrics).counted)
    pipeline.guard.follow(PolicyNews("chat", pipeline.guard, metrics))
    upstream = _upstream(chosen, RouterSettings.from_environment(environment))
    keys = Keys(chosen.keys_file)
    readiness = Readiness(guard, lambda: _searched(pipeline), keys, store, chosen.ready_fresh_s)
    checkpoints = (
        Checkpoints(store, chosen.checkpoints_file, chosen.checkpoint_s) if store and chosen.checkpoint_s else None
    )
    signing = Signing(store) if store else None
    return Parts(
        chosen,
        keys,
        metrics,
        pool,
        guard,
        pipeline,
        readiness,
        recording,
        store,
        telemetry,
        upstream,
        checkpoints,
        signing,
    )


def _searched(pipeline: ChatPipeline) -> object:
    return pipeline.retriever.retrieve_context("ready?", most=1)


class PolicyNews:
    """Hears what becomes of a policy file, and warns where an edit changes what verdicts lead to."""

    def __init__(self, name: str, guard: Guard, metrics: Metrics) -> None:
        self._name, self._guard, self._metrics = name, guard, metrics
        self._mode = guard.policy.mode

    def __call__(self, event: str, detail: str) -> None:  # noqa: ARG002  (as a watcher tells it)
        before, self._mode = self._mode, self._guard.policy.mode
        if before != self._mode:
            log.warning("the policy for %s changed its mode from %s to %s", self._name, before, self._mode)
            self._metrics.mode_changed(self._name, before, self._mode)

    def counted(self, event: str, detail: str) -> None:
        """The same, and the look is counted: two guards that follow one file are not to count it twice."""
        self._metrics.reload(event, detail)
        self(event, detail)


def _upstream(settings: ServiceSettings, models: RouterSettings) -> OpenAICompatible | None:
    """The model server that the OpenAI-compatible guard stands in front of, if there is one."""
    if settings.upstream_url is None:
        return None
    try:
        return OpenAICompatible(
            "upstream",
            settings.upstream_url,
            settings.upstream_key,
            settings.upstream_model,
            limits=models.limits,
            breaker=Breaker(models.breaker_failures, models.breaker_pause_s),
            allow_insecure=models.allow_insecure,
        )
    except InputError as error:
        raise InputError(f"STILLME_UPSTREAM_URL, STILLME_UPSTREAM_API_KEY: {error}") from None


def create_app(parts: Parts, on_warm: Callable[[], None] = lambda: None) -> ASGIApp:
    """The application over its parts; `on_warm` is called once all is loaded that every request uses."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        sys.setswitchinterval(SWITCH_S)
        await parts.pool.run(parts.warm_up)
        on_warm()
        for follower in (parts.checkpoints, parts.signing):
            if follower is not None:
                follower.start()
        yield
        await parts.close()

    app = FastAPI(
        title="StillMe",
        description=DESCRIPTION,
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
    )
    verification = Verification(parts.guard, parts.pipeline.guard, parts.pool, parts.settings, parts.recording)
    verification.add_to(app)
    Chat(parts.pipeline, parts.pool, parts.settings, parts.metrics).add_to(app)
    ChatStream(replace(_guarded(parts), guard=parts.pipeline.guard, upstream=None, sources=())).add_to(app)
    if parts.pipeline.store is not None:
        Documents(parts.pipeline.store, parts.pool, parts.settings).add_to(app)
    sessions, missing_page = _add_console(app, parts)
    for routes in (openai_routes, litellm_routes):
        app.include_router(routes(_guarded(parts)))
    _add_health(app, parts)
    _add_docs(app)
    _add_errors(app, missing_page)
    _describe(app)
    door = Door(verification.in_front_of(app), parts.settings, parts.keys, parts.metrics, parts.telemetry, sessions)
    if not parts.settings.origins:
        return door
    return CORSMiddleware(
        door,
        allow_origins=list(parts.settings.origins),
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["authorization", "content-type", "x-api-key", "x-stillme-response"],
        expose_headers=[
            f"x-stillme-{name}"
            for name in ("decision", "action", "verified", "reasons", "evidence", "validator-trace-id")
        ],
    )


def _add_console(app: FastAPI, parts: Parts) -> tuple[Sessions, Endpoint]:
    """What the console asks of the API, and its pages; who is signed in, and the page for an address that there is not."""
    settings = parts.settings
    Trial(parts.guard, parts.pool, settings).add_to(app)
    records = Records(parts.store, parts.pool, settings)
    Traces(records, parts.guard).add_to(app)
    Reviews(records).add_to(app)
    mode, policy_file, guards = parts.pipeline.settings.mode, _policy_file(parts), (parts.guard, parts.pipeline.guard)
    Overview(records, guards, None if mode else policy_file).add_to(app)
    PolicyEndpoints(records, guards, policy_file, {"mode": mode} if mode else {}).add_to(app)
    file = Path(settings.data) / "console.db"
    sessions = sessions_at(parts.keys, settings.audit_store, file, settings.session_idle_s, settings.session_longest_s)
    shell = Shell(Inside(app), sessions)
    app.include_router(console_routes(shell))
    return sessions, shell.endpoint(missing, public=True)


def _policy_file(parts: Parts) -> Path | None:
    """The file of the policy in force, if it is one."""
    source = parts.pipeline.settings.policy_source
    return Path(source) if source is not None and source not in PRESETS else None


def _guarded(parts: Parts) -> GuardedParts:
    """What the guard in front of a model works with: the policy of all of /v1, the chat's retrieval and models."""
    pipeline = parts.pipeline
    return GuardedParts(
        guard=parts.guard,
        run=parts.pool.run,
        caller=lambda request: request.scope.get("stillme.caller"),
        router=pipeline.router,
        upstream=parts.upstream,
        retriever=pipeline.retriever,
        allow_caller_urls=pipeline.router.takes_urls,
        sources=parts.settings.source_roles,
        calls=shared_calls(parts.settings.audit_store, Path(parts.settings.data)),
        formats=formats_from(parts.settings.evidence_formats, parts.settings.user_templates),
        telemetry=parts.telemetry,
    )


def _add_health(app: FastAPI, parts: Parts) -> None:
    async def healthz() -> dict[str, str]:
        """Whether the process serves at all."""
        return {"status": "ok", "version": __version__}

    async def readyz() -> Response:
        """Whether requests can be served now: the model judges, the stores take records, keys can be read; a bad policy is only told."""
        checks = await parts.readiness.checks()
        if parts.pipeline.guard.policy_problem is not None:
            checks["policy"] = POLICY_PROBLEM
        ready = parts.is_ready and all(found == "ok" for name, found in checks.items() if name != "policy")
        return JSONResponse({"ready": ready, "checks": checks, "modes": _modes(parts)}, 200 if ready else 503)

    async def metrics() -> Response:
        """The figures, as Prometheus reads them."""
        return Response(parts.metrics.text(), media_type=parts.metrics.content_type)

    app.add_api_route("/healthz", healthz, methods=["GET"], summary="Is the process alive?", tags=["operation"])
    app.add_api_route(
        "/readyz",
        readyz,
        methods=["GET"],
        summary="Can requests be served now?",
        tags=["operation"],
        responses={503: {"description": "Not now; the body says why."}, **problems(429)},
    )
    app.add_api_route(
        "/metrics",
        metrics,
        methods=["GET"],
        summary="Prometheus metrics.",
        tags=["operation"],
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}}, **problems(401, 403)},
    )


def _modes(parts: Parts) -> dict[str, str]:
    validates = parts.pipeline.settings.validate
    return endpoint_modes(parts.guard.policy, parts.pipeline.guard.policy, validates=validates)


def _add_docs(app: FastAPI) -> None:
    app.mount("/docs/assets", StaticFiles(packages=[("fastapi_offline", "static")]), name="assets")

    async def docs() -> Response:
        return get_swagger_ui_html(
            openapi_url="/openapi.json",
            title="StillMe: API",
            swagger_js_url="/docs/assets/swagger-ui-bundle.js",
            swagger_css_url="/docs/assets/swagger-ui.css",
            swagger_favicon_url="/docs/assets/favicon.png",
        )

    app.add_api_route("/docs", docs, methods=["GET"], include_in_schema=False)


def _add_errors(app: FastAPI, missing_page: Endpoint) -> None:
    async def http_error(request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 500)
        if status == 404 and "text/html" in request.headers.get("accept", ""):
            return await missing_page(request)
        headers = getattr(error, "headers", None) or {}
        details = {
            404: "there is no such path: /docs lists what there is",
            405: "this path takes another method: see /docs",
        }
        return Problem(status, details.get(status, str(getattr(error, "detail", ""))), headers).response(
            request.url.path
        )

    async def invalid(request: Request, error: Exception) -> Response:
        found = error.errors() if isinstance(error, RequestValidationError) else []
        lines = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found[:3]]
        return Problem(422, "; ".join(lines)).response(request.url.path)

    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(RequestValidationError, invalid)
    for kind in (StillMeError, ProblemError, Exception):
        app.add_exception_handler(kind, answer_problem)


def _describe(app: FastAPI) -> None:
    """The OpenAPI document with the schemas of bodies that endpoints read themselves."""
    framework = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = with_components(
                framework(),
                VerifyRequest,
                Batch,
                ChatRequest,
                GuardrailRequest,
                TrialRequest,
                PromotionRequest,
                ChatQuestion,
                RemovalRequest,
                *REVIEW_BODIES,
                *POLICY_BODIES,
            )
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # the way the framework documents for it
