"""Chat: ask the ingested documents; the answer comes claim by claim, what may not be said is shown as withheld, sources stand beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from starlette.responses import JSONResponse, RedirectResponse, Response

from stillme.console.shell import Form, PageError, Visit, form_of, page

__all__ = ["Answered", "ask", "read_events", "remove", "show", "upload"]

FRAGMENT: Final = "x-fragment"
LISTED: Final = 50
MOST_PASSAGES: Final = 8
FLAGGED: Final = ("unsupported", "contradicted")
ASK: Final = "/api/chat/stream"


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of a question: the pieces that were let through, what was said instead, and the verdict; `problem` where it broke off."""

    question: str
    pieces: tuple[str, ...] = ()
    instead: str = ""
    withheld: int = 0
    flagged: tuple[str, ...] = ()
    """Claims that no source supports and that were shown all the same, since the mode only watches or warns."""
    sources: tuple[Mapping[str, Any], ...] = ()
    verdict: Mapping[str, Any] | None = None
    problem: str = ""


def read_events(question: str, content: bytes) -> Answered:
    """The events of an answer, read to their end."""
    events = list(_events(content))
    texts = [str(data["text"]) for kind, data in events if kind == "text"]
    sources: list[Mapping[str, Any]] = next((data["sources"] for kind, data in events if kind == "sources"), [])
    verdict = next((data for kind, data in events if kind == "verdict"), None)
    problem = next((str(data["message"]) for kind, data in events if kind == "error"), "")
    if verdict is None:
        return Answered(question, tuple(texts), sources=tuple(sources), problem=problem)
    stopped = verdict["delivery"]["stopped"] and texts
    released = verdict["delivery"]["released"][1]
    withheld = [claim for claim in verdict["claims"] if claim["end"] > released] if stopped else []
    return Answered(
        question,
        tuple(texts[:-1] if stopped else texts),
        texts[-1].strip() if stopped else "",
        len(withheld),
        () if stopped else tuple(str(claim["text"]) for claim in verdict["claims"] if claim["status"] in FLAGGED),
        tuple(sources),
        verdict,
    )


def _events(content: bytes) -> Iterator[tuple[str, Any]]:
    for block in content.decode().split("\n\n"):
        lines = dict(line.partition(": ")[::2] for line in block.split("\n") if ": " in line)
        if "event" in lines and "data" in lines:
            yield lines["event"], json.loads(lines["data"])


async def show(visit: Visit) -> Response:
    """The page."""
    return await _shown(visit)


async def ask(visit: Visit) -> Response:
    """The answer: as events for a script, which shows them as they come, else as a page."""
    form = await form_of(visit)
    question = form.text("message").replace("\r\n", "\n").strip()
    body = {"message": question, "conversation": _conversation(visit, form), "language": "auto"}
    if visit.request.headers.get(FRAGMENT):
        return visit.ask.passed_on(visit.request, "POST", ASK, body, visit.say.told)
    status, content = await visit.ask(visit.request, "POST", ASK, None, body)
    if status >= 400:
        return await _shown(visit, status, Answered(question, problem=_detail(content)))
    return await _shown(visit, answered=read_events(question, content))


async def upload(visit: Visit) -> Response:
    """Read files in; a script hears of each what became of it."""
    form = await form_of(visit)
    done: list[dict[str, Any]] = []
    for name, content in form.files:
        try:
            done.append(await visit.api("POST", "/v1/documents/upload", {"name": name}, content))
        except PageError as error:
            if error.status in (401, 403):
                raise
            done.append({"name": name, "problem": error.detail})
    if visit.request.headers.get(FRAGMENT):
        words = [{**each, "words": _outcome(visit, each)} for each in done]
        return JSONResponse({"files": words})
    problem = " ".join(f"{each['name']}: {each['problem']}" for each in done if "problem" in each)
    if problem or not done:
        return await _shown(visit, 422, problem=problem or visit.say("chat.no_file"))
    return RedirectResponse("/chat", 303)


async def remove(visit: Visit) -> Response:
    """Forget documents."""
    form = await form_of(visit)
    await visit.api("POST", "/v1/documents/remove", body={"names": form.texts("name")})
    return RedirectResponse("/chat#documents", 303)


async def _shown(visit: Visit, status: int = 200, answered: Answered | None = None, problem: str = "") -> Response:
    asked = visit.request.query_params
    wanted, after = asked.get("q", "").strip(), asked.get("after", "")
    listed = await visit.api("GET", "/v1/documents", {"q": wanted, "after": after, "limit": str(LISTED)})
    passages = []
    if wanted:
        passages = (await visit.api("GET", "/v1/search", {"q": wanted, "most": str(MOST_PASSAGES)}))["results"]
    following = {"q": wanted, "after": listed["next"]} if listed["next"] else None
    return page(
        visit,
        "chat.html",
        status,
        answered=answered,
        listed=listed,
        wanted=wanted,
        passages=passages,
        next=f"/chat?{urlencode(following)}#documents" if following else "",
        problem=problem,
        may_change=visit.may("operator"),
        may_read_traces=visit.may("viewer"),
    )


def _conversation(visit: Visit, form: Form) -> Any:
    """The turns before, as the page sends them back; the API checks them."""
    try:
        return json.loads(form.text("conversation") or "[]")
    except (ValueError, RecursionError):
        raise PageError(400, visit.say("error.unreadable")) from None


def _outcome(visit: Visit, done: Mapping[str, Any]) -> str:
    if "problem" in done:
        return visit.say.told(str(done["problem"]))
    return visit.say(f"upload.{done['state']}", chunks=done["chunks"])


def _detail(content: bytes) -> str:
    try:
        found = json.loads(content)
        return str(found.get("detail") or found["error"]["message"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""
