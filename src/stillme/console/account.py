"""Signing in and out, and the choices of language and look."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import RedirectResponse, Response

from stillme.console.shell import LANGUAGE, THEME, THEMES, Shell, Visit, form_of, local_path, page, remember
from stillme.console.words import choices

__all__ = ["Account"]


@dataclass(frozen=True, slots=True)
class Account:
    """The pages of a reader's own."""

    shell: Shell

    async def sign_in_page(self, visit: Visit) -> Response:
        """Asks for a key."""
        to = local_path(visit.request.query_params.get("to", "/"))
        return page(visit, "sign_in.html", to=to, problem="")

    async def sign_in(self, visit: Visit) -> Response:
        """Exchanges a key for a session under a new token, so that one that somebody else planted is worth nothing."""
        form = await form_of(visit)
        to, token = local_path(form.text("to") or "/"), self.shell.sign_in.begin(form.text("key").strip())
        if token is None:
            return page(visit, "sign_in.html", 401, to=to, problem=visit.say("sign_in.wrong"))
        response = RedirectResponse(to, 303)
        self.shell.set_cookie(visit, response, token)
        return response

    async def sign_out(self, visit: Visit) -> Response:
        """Ends the session."""
        self.shell.sign_in.end(visit.token)
        response = RedirectResponse("/sign-in", 303)
        response.delete_cookie(self.shell.sign_in.cookie, path="/")
        return response

    async def preferences(self, visit: Visit) -> Response:
        """Keeps a choice and leads back."""
        form = await form_of(visit)
        response = RedirectResponse(local_path(form.text("back") or "/"), 303)
        if form.text("language") in dict(choices()):
            remember(response, LANGUAGE, form.text("language"))
        if form.text("theme") in THEMES:
            remember(response, THEME, form.text("theme"))
        return response
