"""Try it: a question, a draft and passages on one side, the verdict on the other, under any preset and mode."""

from __future__ import annotations

import json
import pprint
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final
from urllib.parse import urlencode

import yaml
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from stillme.console.shell import Form, PageError, Visit, form_of, fragment, page
from stillme.console.verdict_view import VerdictView, view_of
from stillme.policy import Policy

__all__ = ["Attempt", "attempt_of", "copies", "examples", "show", "submit"]

MODES: Final = ("", "monitor", "warn", "enforce")
POLICIES: Final = ("in_force", "lite", "book", "strict")
FRAGMENT: Final = "x-fragment"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What stands in the form."""

    query: str = ""
    draft: str = ""
    passages: Sequence[tuple[str, str]] = field(default_factory=lambda: [("", "")])
    mode: str = ""
    policy: str = POLICIES[0]

    @property
    def request(self) -> dict[str, Any]:
        """The request that the form stands for; passages without a text are left out."""
        given = [
            (name.strip() or f"source-{n}", text) for n, (name, text) in enumerate(self.passages, 1) if text.strip()
        ]
        return {
            "query": self.query,
            "draft_answer": self.draft,
            "retrieved_context": [{"source_id": name, "text": text} for name, text in given],
        }

    @property
    def trial(self) -> dict[str, Any]:
        """The request with the policy and the mode to judge it under."""
        return {"request": self.request, "policy": self.policy, "mode": self.mode or None}

    @property
    def is_blank(self) -> bool:
        """Whether nothing was asked yet."""
        return not self.query.strip()


@cache
def examples() -> Mapping[str, dict[str, Any]]:
    """The examples to pick from, by name."""
    rows = yaml.safe_load(files("stillme.console").joinpath("examples.yaml").read_text(encoding="utf-8"))
    return {row["name"]: row for row in rows}


async def show(visit: Visit) -> Response:
    """The form with an example in it and its verdict, so that nobody has to read anything first."""
    asked = visit.request.query_params
    language = visit.say.language
    own = [row["name"] for row in examples().values() if row["language"] == language]
    name = asked.get("example", "" if "blank" in asked else own[0])
    attempt = _example(name, _one_of(asked.get("mode"), MODES), _one_of(asked.get("policy"), POLICIES))
    return await _answer(visit, attempt, chosen=name)


async def submit(visit: Visit) -> Response:
    """What the form asks for: a verdict, one passage more or less, or to keep the verdict."""
    form = await form_of(visit)
    wish, attempt = form.text("do"), _attempt(form)
    if wish == "add":
        attempt = _with(attempt, [*attempt.passages, ("", "")])
    elif wish.startswith("remove-"):
        left = [pair for n, pair in enumerate(attempt.passages) if f"remove-{n}" != wish]
        attempt = _with(attempt, left or [("", "")])
    elif wish == "save":
        verdict = await visit.api("POST", "/v1/verify", body=attempt.request)
        if verdict["validator_trace_id"]:
            return RedirectResponse(f"/traces/{verdict['validator_trace_id']}", 303)
    return await _answer(visit, attempt)


async def _answer(visit: Visit, attempt: Attempt, chosen: str = "") -> Response:
    """The page, or only its verdict for a script."""
    verdict, problem, status = None, "", 200
    try:
        verdict = None if attempt.is_blank else await _verdict(visit, attempt)
    except PageError as error:
        if error.status not in (400, 413, 422):
            raise
        problem, status = error.detail, error.status
    view = {
        "attempt": attempt,
        "verdict": verdict,
        "problem": problem,
        "copies": copies(visit.request, attempt, verdict) if verdict else [],
        "link": f"{visit.request.base_url}{_link(attempt)}",
        "may_save": visit.may("verify"),
    }
    if visit.request.headers.get(FRAGMENT):
        return fragment(visit, "verdict_pane.html", status, **view)
    return page(
        visit, "try.html", status, examples=examples().values(), chosen=chosen, modes=MODES, policies=POLICIES, **view
    )


async def _verdict(visit: Visit, attempt: Attempt) -> VerdictView:
    return view_of(await visit.api("POST", "/v1/try", body=attempt.trial), attempt.request, visit.say)


def copies(request: Request, attempt: Attempt, verdict: VerdictView) -> list[tuple[str, str]]:
    """The same check for a shell, a program and a set of test cases."""
    asked = attempt.request
    case = {"id": "tried", "request": asked, "expected": verdict.verdict["decision"]}
    path, sent = ("v1/try", attempt.trial) if _settings(attempt) else ("v1/verify", asked)
    curl = [
        f"curl -s {shlex.quote(str(request.base_url) + path)}",
        "-H 'content-type: application/json'",
        *(['-H "authorization: Bearer $STILLME_KEY"'] if request.scope.get("stillme.key") else []),
        f"-d {shlex.quote(json.dumps(sent, ensure_ascii=False))}",
    ]
    python = (
        f"{_guard(attempt, verdict)}\n\nverdict = guard.verify({pprint.pformat(asked, sort_dicts=False, width=100)})\n"
    )
    return [
        ("curl", " \\\n  ".join(curl)),
        ("python", python + "print(verdict.decision, verdict.reasons)"),
        ("case", json.dumps(case, ensure_ascii=False)),
    ]


def _guard(attempt: Attempt, verdict: VerdictView) -> str:
    """The lines of a program that make the guard of the page; a policy of the operator's own is read from its file."""
    settings = _settings(attempt)
    if verdict.verdict["policy_hash"] == Policy.load(settings).hash:
        return f"from stillme import Guard\n\nguard = Guard({settings or ''})"
    mode = f'.with_changes({{"mode": {attempt.mode!r}}})' if attempt.mode else ""
    return (
        f'from stillme import Guard, Policy\n\nguard = Guard(Policy.load("policy.yaml"){mode})  # the policy in force'
    )


def _link(attempt: Attempt) -> str:
    """The way to this form: a text that is no example of ours is no part of it."""
    shown = next((name for name in examples() if _example(name, attempt.mode, attempt.policy) == attempt), "")
    chosen = {"example": shown, "policy": attempt.policy if attempt.policy != POLICIES[0] else "", "mode": attempt.mode}
    query = urlencode({name: value for name, value in chosen.items() if value})
    return f"try?{query}" if shown else f"try?blank&{query}".rstrip("&")


def attempt_of(request: Mapping[str, Any]) -> Attempt:
    """A recorded request as it would stand in the form."""
    passages = [(passage["source_id"], passage["text"]) for passage in request.get("retrieved_context") or ()]
    return Attempt(request["query"], request.get("draft_answer") or "", passages or [("", "")])


def _settings(attempt: Attempt) -> dict[str, str]:
    chosen = {"extends": attempt.policy if attempt.policy != POLICIES[0] else "", "mode": attempt.mode}
    return {name: value for name, value in chosen.items() if value}


def _attempt(form: Form) -> Attempt:
    passages = list(zip(form.texts("source_id"), form.texts("passage"), strict=False))
    return Attempt(
        _lines(form.text("query")),
        _lines(form.text("draft")),
        [(name, _lines(text)) for name, text in passages] or [("", "")],
        _one_of(form.text("mode"), MODES),
        _one_of(form.text("policy"), POLICIES),
    )


def _example(name: str, mode: str, policy: str) -> Attempt:
    row = examples().get(name)
    if row is None:
        return Attempt(mode=mode, policy=policy)
    passages = [(passage["source_id"], passage["text"]) for passage in row["passages"]]
    return Attempt(row["query"], row["draft"], passages, mode, policy)


def _with(attempt: Attempt, passages: Sequence[tuple[str, str]]) -> Attempt:
    return Attempt(attempt.query, attempt.draft, passages, attempt.mode, attempt.policy)


def _lines(text: str) -> str:
    """A text as it was typed: forms send line breaks as two characters."""
    return text.replace("\r\n", "\n")


def _one_of(value: str | None, known: Sequence[str]) -> str:
    return value if value is not None and value in known else known[0]
