"""Review: one verdict at a time, one key a label; what was said is recorded before the next one comes."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any, Final
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from stillme.console.shell import Form, Visit, form_of, page, remember
from stillme.console.verdict_view import view_of

__all__ = ["show", "submit"]

QUEUES: Final = ("sample", "second", "low_margin", "disagreements", "appeals")
LABELS: Final = ("correct", "false_refusal", "missed_hallucination", "wrong_reason", "unclear")
REVIEWER: Final = "stillme_reviewer"
# Two people without a name are told apart by their browsers, so that both do not get one verdict.
BROWSER: Final = "stillme_browser"
# The labels of others are shown where reviewers have to settle a disagreement, and nowhere else before one's own.
WITH_OTHERS: Final = "disagreements"
# What somebody has against a verdict is shown where that is what is judged.
WITH_APPEALS: Final = "appeals"


async def show(visit: Visit) -> Response:
    """The next verdict of a queue, or the one that is to be labelled again."""
    asked = visit.request.query_params
    queue = asked.get("queue", QUEUES[0]) if asked.get("queue") in QUEUES else QUEUES[0]
    skipped = asked.getlist("skip")[-100:]
    again = asked.get("again", "")
    reviewer, browser = _reviewer(visit), visit.request.cookies.get(BROWSER) or secrets.token_hex(8)
    is_nobody = visit.is_open and not reviewer
    body: dict[str, Any] = {"queue": queue, "skip": skipped, "reviewer": reviewer}
    if is_nobody:
        body["browser"] = browser[:100]
    if asked.get("week"):
        body["week"] = asked["week"]
    found = await visit.api("POST", "/v1/reviews/next", body=body)
    item = (
        await visit.api("GET", f"/v1/traces/{again}") if again.replace("-", "").isalnum() and again else found["item"]
    )
    agreement = await visit.api("GET", "/v1/reviews/agreement")
    response = page(
        visit,
        "review.html",
        queue=queue,
        queues=QUEUES,
        week=found["week"],
        progress=found["progress"],
        item=item,
        verdict=_verdict(visit, item) if item else None,
        labels=list(enumerate(LABELS, start=1)),
        others=item["reviews"] if item and queue == WITH_OTHERS else [],
        appeals=item["appeals"] if item and queue == WITH_APPEALS else [],
        again=again,
        before=_said_before(item, found["reviewer"]) if item and again else None,
        last=asked.get("last", ""),
        next=_address(queue, asked.get("week", ""), skipped, last=item["id"] if item else ""),
        skip=_address(queue, asked.get("week", ""), [*skipped, item["id"]]) if item else "",
        reviewer=reviewer or "",
        pairs=list(_pairs(agreement)),
        agreement=agreement,
    )
    if is_nobody:
        remember(response, BROWSER, browser)
    return response


async def submit(visit: Visit) -> Response:
    """Records a label and leads to the next verdict."""
    form = await form_of(visit)
    body = {
        "trace": form.text("trace"),
        "label": form.text("label"),
        "note": form.text("note").replace("\r\n", "\n"),
        "unsupported": _claims(form),
        "reviewer": form.text("reviewer").strip() or None,
    }
    await visit.api("POST", "/v1/reviews", body=body)
    queue = form.text("queue") if form.text("queue") in QUEUES else QUEUES[0]
    response: Response = RedirectResponse(_address(queue, form.text("week"), [], last=form.text("trace")), 303)
    if visit.request.headers.get("x-fragment"):
        response = Response(status_code=204)
    if body["reviewer"]:
        remember(response, REVIEWER, str(body["reviewer"]).encode("ascii", "xmlcharrefreplace").decode())
    return response


def _said_before(item: Mapping[str, Any], who: str) -> Mapping[str, Any] | None:
    """What this reviewer said last of the verdict."""
    return next((each for each in reversed(item["reviews"]) if each["who"] == who), None)


def _claims(form: Form) -> list[int] | None:
    """The claims that were ticked; None where nobody says that they were looked at."""
    ticked = [int(value) for value in form.texts("unsupported") if value.isascii() and value.isdigit()]
    return ticked if ticked or form.text("looked") else None


def _verdict(visit: Visit, item: Mapping[str, Any]) -> Any:
    return view_of(item["verdict"], item["request"], visit.say, facts=item["facts"], notice=item["notice"])


def _reviewer(visit: Visit) -> str | None:
    """The name that whoever works without keys gave last."""
    return unescape(visit.request.cookies.get(REVIEWER, "")) or None


def _address(queue: str, week: str, skipped: list[str], last: str = "") -> str:
    fields = [("queue", queue), *([("week", week)] if week else []), *(("skip", trace) for trace in skipped)]
    return f"/review?{urlencode([*fields, *([('last', last)] if last else [])])}"


def _pairs(agreement: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for pair in agreement["pairs"]:
        low, high = pair["interval"] or (None, None)
        kappa = pair["kappa"]["value"]
        yield {
            "names": (pair["first"], pair["second"]),
            "shared": pair["shared"],
            "kappa": None if kappa is None else f"{kappa:.2f}",
            "reason": pair["kappa"]["reason"],
            "interval": None if low is None else (f"{low:.2f}", f"{high:.2f}"),
        }
