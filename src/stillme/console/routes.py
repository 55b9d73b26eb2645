"""Where each page of the console stands."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from stillme.console import chat, overview, policy, review, rollout, traces, try_it
from stillme.console.account import Account
from stillme.console.rendering import ASSETS, asset, asset_address
from stillme.console.shell import Handler, Shell

__all__ = ["console_routes"]

FOR_EVER = "public, max-age=31536000, immutable"


def console_routes(shell: Shell) -> APIRouter:
    """The routes of the console."""
    router = APIRouter(include_in_schema=False)
    account = Account(shell)
    public: list[tuple[str, str, Handler]] = [
        ("GET", "/sign-in", account.sign_in_page),
        ("POST", "/sign-in", account.sign_in),
        ("POST", "/sign-out", account.sign_out),
        ("POST", "/preferences", account.preferences),
    ]
    pages: list[tuple[str, str, Handler]] = [
        ("GET", "/", try_it.show),
        ("GET", "/try", try_it.show),
        ("POST", "/try", try_it.submit),
        ("GET", "/traces", traces.listing),
        ("GET", "/traces/{trace}", traces.one),
        ("POST", "/traces/{trace}", traces.replay),
        ("GET", "/traces/{trace}/packet", traces.packet),
        ("GET", "/review", review.show),
        ("POST", "/review", review.submit),
        ("GET", "/overview", overview.show),
        ("GET", "/chat", chat.show),
        ("POST", "/chat", chat.ask),
        ("POST", "/chat/documents", chat.upload),
        ("POST", "/chat/remove", chat.remove),
        ("GET", "/policy", policy.show),
        ("POST", "/policy", policy.submit),
        ("GET", "/policy/{version}", policy.earlier),
        ("POST", "/policy/{version}", policy.roll_back),
        ("GET", "/rollout", rollout.show),
        ("POST", "/rollout", rollout.submit),
    ]
    for routes, is_public in ((public, True), (pages, False)):
        for method, path, handler in routes:
            router.add_api_route(path, shell.endpoint(handler, public=is_public), methods=[method], response_model=None)
    router.add_api_route("/assets/{version}/{name}", _asset, methods=["GET"], response_model=None)
    return router


async def _asset(request: Request) -> Response:
    """A file that pages load."""
    name = str(request.path_params["name"])
    if name not in ASSETS or request.url.path != asset_address(name):
        return Response(status_code=404)
    content, kind = asset(name)
    return Response(content, headers={"cache-control": FOR_EVER}, media_type=kind)
