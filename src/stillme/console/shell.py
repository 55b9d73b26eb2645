"""What every page of the console has: who looks at it, in which language and look, its frame, and its answer to what goes wrong."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import HTTP
from itertools import islice
from typing import Any, Final, Protocol
from urllib.parse import parse_qsl, quote, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from stillme.console.rendering import render
from stillme.console.words import ConsoleWords, choices, preferred

__all__ = [
    "LANGUAGE",
    "THEME",
    "THEMES",
    "Ask",
    "Endpoint",
    "Form",
    "Handler",
    "PageError",
    "Shell",
    "SignIn",
    "Visit",
    "form_of",
    "fragment",
    "local_path",
    "missing",
    "page",
    "remember",
]

LANGUAGE: Final = "stillme_language"
THEME: Final = "stillme_theme"
THEMES: Final = ("auto", "light", "dark")
YEAR_S: Final = 31_536_000
MOST_FIELDS: Final = 1_000
TOKEN: Final = "form_token"  # noqa: S105  (the name of a field)
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "vary": "Cookie, Accept-Language",
}
# The pages in the order of the menu: name, address, the scope that opens it.
PAGES: Final = (
    ("try", "/try", "viewer"),
    ("chat", "/chat", "chat"),
    ("overview", "/overview", "viewer"),
    ("traces", "/traces", "viewer"),
    ("review", "/review", "reviewer"),
    ("policy", "/policy", "viewer"),
    ("rollout", "/rollout", "viewer"),
)


class Ask(Protocol):
    """Asks the HTTP API as whoever sent a request; gives status and body."""

    def __call__(
        self, request: Request, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None
    ) -> Awaitable[tuple[int, bytes]]: ...

    def passed_on(self, request: Request, method: str, path: str, body: Any, told: Callable[[str], str]) -> Response:
        """The answer of the API as it comes, piece by piece; a problem is told as `told` says it."""


class SignIn(Protocol):
    """Turns a key into a session, and knows the forms of each."""

    @property
    def cookie(self) -> str:
        """The name of the cookie that holds the token."""

    def begin(self, presented: str) -> str | None:
        """A token for a key that opens the console; None for any other text."""

    def end(self, token: str) -> None:
        """Sign out."""

    def form_token(self, token: str) -> str:
        """What a form of this visitor carries."""

    def is_form_token(self, token: str, given: str) -> bool:
        """Whether a form is of this visitor."""


class PageError(Exception):
    """Ends a page with a status and what went wrong."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form, in order, and its files with their names; a name may come several times."""

    fields: Sequence[tuple[str, str]]
    files: Sequence[tuple[str, bytes]] = ()

    def text(self, name: str) -> str:
        """The first value of a name."""
        return next((value for key, value in self.fields if key == name), "")

    def texts(self, name: str) -> list[str]:
        """Every value of a name."""
        return [value for key, value in self.fields if key == name]


@dataclass(frozen=True, slots=True)
class Visit:
    """One look at a page: the request, and what is known of the reader."""

    request: Request
    ask: Ask
    say: ConsoleWords
    theme: str
    token: str
    form_token: str

    @property
    def is_open(self) -> bool:
        """Whether everybody on this machine is let in, since there are no keys."""
        return bool(self.request.scope.get("stillme.open"))

    @property
    def name(self) -> str:
        """The name of the key that was used to sign in."""
        key = self.request.scope.get("stillme.key")
        return str(key.name) if key else ""

    def may(self, scope: str) -> bool:
        """Whether what needs this scope is open to the reader."""
        key = self.request.scope.get("stillme.key")
        return self.is_open or bool(key and key.allows(scope))

    async def api(self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None) -> Any:
        """What the API answers; a problem that it tells is a PageError."""
        status, content = await self.ask(self.request, method, path, query, body)
        if status >= 400:
            raise PageError(status, _detail(content))
        return json.loads(content)

    @property
    def frame(self) -> dict[str, Any]:
        """What the frame of a page shows."""
        path = self.request.url.path
        return {
            "say": self.say,
            "theme": self.theme,
            "themes": THEMES,
            "languages": choices(),
            "pages": [(name, to, _is_here(path, to)) for name, to, scope in PAGES if self.may(scope)],
            "here": local_path(str(self.request.url)),
            "is_open": self.is_open,
            "name": self.name,
            "is_sent": self.request.method == "POST",
            "form_token": self.form_token,
        }


Handler = Callable[[Visit], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Shell:
    """Makes an endpoint of what answers a visit."""

    ask: Ask
    sign_in: SignIn

    def endpoint(self, handler: Handler, *, public: bool = False) -> Endpoint:
        """The endpoint: whoever has not signed in is led to where they can, and a problem is a page too."""

        async def answer(request: Request) -> Response:
            visit = self._visit(request)
            if not public and not visit.is_open and not request.scope.get("stillme.key"):
                return self._finished(visit, RedirectResponse(f"/sign-in?to={_quoted(request)}", 303))
            try:
                if request.method == "POST" and not await self._is_ours(visit):
                    raise PageError(403, visit.say("error.form"))
                response = await handler(visit)
            except PageError as error:
                response = _problem(visit, error)
            return self._finished(visit, response)

        return answer

    def _visit(self, request: Request) -> Visit:
        language = preferred(request.cookies.get(LANGUAGE), request.headers.get("accept-language", ""))
        theme = request.cookies.get(THEME, "")
        token = request.cookies.get(self.sign_in.cookie, "") or secrets.token_urlsafe(32)
        return Visit(
            request,
            self.ask,
            ConsoleWords(language),
            theme if theme in THEMES else THEMES[0],
            token,
            self.sign_in.form_token(token),
        )

    async def _is_ours(self, visit: Visit) -> bool:
        """Whether a form was sent by a page of ours to this visitor, and by no page of anybody else."""
        if visit.request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return False
        given = (await form_of(visit)).text(TOKEN)
        return self.sign_in.is_form_token(visit.request.cookies.get(self.sign_in.cookie, ""), given)

    def _finished(self, visit: Visit, response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        own = f"{self.sign_in.cookie}="
        is_set = any(each.startswith(own) for each in response.headers.getlist("set-cookie"))
        if self.sign_in.cookie not in visit.request.cookies and not is_set:
            self.set_cookie(visit, response, visit.token)
        return response

    def set_cookie(self, visit: Visit, response: Response, token: str) -> None:
        """Give the browser the token of its session; scripts cannot read it, other sites cannot send it with a form."""
        secure = visit.request.url.scheme == "https"
        response.set_cookie(self.sign_in.cookie, token, path="/", secure=secure, httponly=True, samesite="lax")


async def missing(visit: Visit) -> Response:
    """What stands at an address that there is not."""
    raise PageError(404, visit.say("error.404.about"))


async def form_of(visit: Visit) -> Form:
    """The form that was sent."""
    body = await visit.request.body()
    kind = visit.request.headers.get("content-type", "")
    try:
        if kind.startswith("multipart/form-data"):
            return _form_with_files(kind, body)
        text = body.decode()
        return Form(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"))
    except (UnicodeDecodeError, ValueError):
        raise PageError(400, visit.say("error.unreadable")) from None


def _form_with_files(kind: str, body: bytes) -> Form:
    """A form of several parts, as browsers send files."""
    message = message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body, policy=HTTP)
    fields: list[tuple[str, str]] = []
    files: list[tuple[str, bytes]] = []
    for part in islice(message.iter_parts(), MOST_FIELDS):
        content, file = part.get_payload(decode=True), part.get_filename()
        if not isinstance(content, bytes):
            raise ValueError("a part of a part")
        if file is None:
            fields.append((str(part.get_param("name", "", "content-disposition")), content.decode()))
        elif file:
            files.append((file, content))
    return Form(fields, files)


def page(visit: Visit, template: str, status: int = 200, **view: Any) -> Response:
    """A page with its frame."""
    return HTMLResponse(render(template, **visit.frame, **view), status)


def fragment(visit: Visit, template: str, status: int = 200, **view: Any) -> Response:
    """A part of a page, for a script that puts it in its place."""
    return HTMLResponse(render(template, **visit.frame, **view), status)


def remember(response: Response, name: str, value: str) -> None:
    """Keep a choice of the reader."""
    response.set_cookie(name, value, max_age=YEAR_S, path="/", httponly=True, samesite="lax")


def local_path(address: str) -> str:
    """The path of an address on this site; of any other address, the first page."""
    parts = urlsplit(address)
    path = parts.path if parts.path.startswith("/") and not parts.path.startswith(("//", "/\\")) else "/"
    return f"{path}?{parts.query}" if parts.query else path


def _quoted(request: Request) -> str:
    return quote(local_path(str(request.url)), safe="")


def _is_here(path: str, to: str) -> bool:
    return path == to or path.startswith(f"{to}/") or (path == "/" and to == PAGES[0][1])


def _detail(content: bytes) -> str:
    try:
        return str(json.loads(content)["detail"])
    except (ValueError, KeyError, TypeError):
        return ""


def _problem(visit: Visit, error: PageError) -> Response:
    key = f"error.{error.status}"
    title = visit.say(key if visit.say.knows(key) else "error.other")
    return page(
        visit, "error.html", error.status, title=title, number=error.status, detail=visit.say.told(error.detail)
    )
