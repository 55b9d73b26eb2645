"""Policy: the file in force, edited with checking as you type, tried before it is saved, and its history with the way back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from stillme.console.shell import Form, PageError, Visit, form_of, fragment, page

__all__ = ["earlier", "roll_back", "show", "submit"]

SOURCES: Final = ("traffic", "reviewed", "starter", "cases")
MOST: Final = ("50", "200", "1000")
FRAGMENT: Final = "x-fragment"
MOST_LINES: Final = 40
SAVED: Final = "/policy?saved"
LOOKS: Final = {"answer": "good", "ask_clarify": "ask", "refuse": "bad"}


@dataclass(frozen=True, slots=True)
class Edit:
    """What stands in the form."""

    text: str
    known: str
    why: str = ""
    on: str = SOURCES[0]
    most: str = MOST[1]
    cases: str = ""

    @property
    def lines(self) -> int:
        """How many lines the text has."""
        return self.text.count("\n") + 1

    @property
    def rows(self) -> int:
        """How many lines are shown at once."""
        return min(MOST_LINES, self.lines + 1)


async def show(visit: Visit) -> Response:
    """The file as it stands."""
    file = await visit.api("GET", "/v1/policy/file")
    return await _shown(visit, file, Edit(file["text"], file["digest"]))


async def submit(visit: Visit) -> Response:
    """What the form asks for: a check, a trial, or to save."""
    form = await form_of(visit)
    edit = _edit(form)
    if visit.request.headers.get(FRAGMENT):
        return fragment(visit, "policy_check.html", checked=await _checked(visit, edit), edit=edit)
    file = await visit.api("GET", "/v1/policy/file")
    try:
        if form.text("do") == "what-if":
            return await _shown(visit, file, edit, tried=await _tried(visit, edit))
        if form.text("do") == "save" and not edit.why:
            return await _shown(visit, file, edit, 422, problem=visit.say("policy.needs_why"))
        if form.text("do") == "save":
            body = {"text": edit.text, "why": edit.why, "known": edit.known}
            await visit.api("POST", "/v1/policy/save", body=body)
            return RedirectResponse(SAVED, 303)
    except PageError as error:
        if error.status != 422:
            raise
        return await _shown(visit, file, edit, 422, problem=error.detail)
    return await _shown(visit, file, edit)


async def earlier(visit: Visit) -> Response:
    """One version, and what bringing it back would change."""
    return await _version(visit)


async def roll_back(visit: Visit) -> Response:
    """Bring a version back."""
    form = await form_of(visit)
    body = {"version": _name(visit), "why": _lines(form.text("why")).strip(), "known": form.text("known")}
    try:
        await visit.api("POST", "/v1/policy/roll-back", body=body)
    except PageError as error:
        if error.status != 422:
            raise
        return await _version(visit, 422, problem=error.detail)
    return RedirectResponse(SAVED, 303)


async def _shown(
    visit: Visit, file: Mapping[str, Any], edit: Edit, status: int = 200, problem: str = "", tried: Any = None
) -> Response:
    history = await visit.api("GET", "/v1/policy/history") if visit.may("viewer") and file["may_write"] else None
    return page(
        visit,
        "policy.html",
        status,
        file=file,
        edit=edit,
        checked=await _checked(visit, edit),
        problem=problem,
        is_saved="saved" in visit.request.query_params and visit.request.method == "GET",
        tried=tried,
        sources=SOURCES,
        most=MOST,
        looks=LOOKS,
        versions=history["versions"] if history else [],
        may_edit=visit.may("operator"),
    )


async def _version(visit: Visit, status: int = 200, problem: str = "") -> Response:
    found = await visit.api("GET", f"/v1/policy/history/{quote(_name(visit), safe='')}")
    file = await visit.api("GET", "/v1/policy/file")
    return page(
        visit,
        "policy_version.html",
        status,
        found=found,
        file=file,
        problem=problem,
        is_now=found["text"] == file["text"],
        may_roll_back=visit.may("operator") and file["may_write"] and found["text"] is not None,
    )


async def _checked(visit: Visit, edit: Edit) -> dict[str, Any]:
    """What a check says, with the numbers of the lines that something is wrong with."""
    found = await visit.api("POST", "/v1/policy/check", body={"text": edit.text})
    return {**found, "bad_lines": {each["line"] for each in found["problems"]}}


async def _tried(visit: Visit, edit: Edit) -> Any:
    body: dict[str, Any] = {"text": edit.text, "on": edit.on, "most": int(edit.most)}
    if edit.on == "cases":
        body["cases"] = _cases(visit, edit.cases)
    return await visit.api("POST", "/v1/policy/what-if", body=body)


def _cases(visit: Visit, text: str) -> list[Any]:
    """The cases that were typed: a JSON object a line."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                found.append(json.loads(line))
            except (ValueError, RecursionError):
                raise PageError(422, visit.say("policy.case_line", line=number)) from None
    return found


def _edit(form: Form) -> Edit:
    return Edit(
        _lines(form.text("text")),
        form.text("known"),
        _lines(form.text("why")).strip(),
        _one_of(form.text("on"), SOURCES),
        _one_of(form.text("most"), MOST),
        _lines(form.text("cases")),
    )


def _one_of(value: str, known: Sequence[str]) -> str:
    return value if value in known else known[0]


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _name(visit: Visit) -> str:
    return str(visit.request.path_params["version"])
