"""Traces: every recorded verdict, found by filter, and one of them with all that belongs to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from starlette.responses import Response

from stillme.console.shell import PageError, Visit, page
from stillme.console.try_it import attempt_of, copies
from stillme.console.verdict_view import view_of
from stillme.reasons import Reason

__all__ = ["listing", "one", "packet", "replay"]

LIMIT: Final = 50
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "decision": ("answer", "refuse", "ask_clarify"),
    "mode": ("monitor", "warn", "enforce"),
    "band": ("high", "medium", "low"),
    "label": ("unreviewed", "correct", "false_refusal", "missed_hallucination", "wrong_reason", "unclear"),
    "reason": tuple(sorted(reason.value for reason in Reason)),
}
TYPED: Final = ("since", "until", "caller", "text", "min_score", "max_score")
FILTERS: Final = (*CHOICES, "language", *TYPED, "order")
FINE: Final = ("mode", "band", "min_score", "max_score", "language", "caller", "until", "order")
"""The filters that are folded away until one of them is used."""


async def listing(visit: Visit) -> Response:
    """The list, or the one trace whose id was typed."""
    asked = visit.request.query_params
    given = {name: asked[name].strip() for name in FILTERS if asked.get(name, "").strip()}
    after = asked.get("after", "")
    query = {**given, "limit": str(LIMIT), **({"after": after} if after else {})}
    found = await visit.api("GET", "/v1/traces", query)
    return page(
        visit,
        "traces.html",
        rows=found["traces"],
        next=f"/traces?{urlencode({**given, 'after': found['next']})}" if found["next"] else "",
        first=f"/traces?{urlencode(given)}" if after else "",
        searched_to=found["searched_to"],
        given=given,
        choices=CHOICES,
        chips=list(_chips(visit, given)),
        turned=f"/traces?{urlencode(_turned(given))}",
        is_fine=any(name in given for name in FINE),
        without={name: f"/traces?{urlencode({k: v for k, v in given.items() if k != name})}" for name in given},
    )


def _chips(visit: Visit, given: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """The filters in use: name, what it is called, its value in words."""
    for name, value in given.items():
        group = "review" if name == "label" else name
        words = visit.say.value("mode.short" if name == "mode" else group, value)
        yield name, visit.say(f"filter.{name}"), words


def _turned(given: Mapping[str, str]) -> dict[str, str]:
    """The same filters in the other order."""
    kept = {name: value for name, value in given.items() if name != "order"}
    return kept if given.get("order") == "oldest" else {**kept, "order": "oldest"}


async def one(visit: Visit) -> Response:
    """One trace."""
    return await _shown(visit)


async def replay(visit: Visit) -> Response:
    """The trace with what a replay says."""
    return await _shown(visit, replayed=await visit.api("POST", f"/v1/traces/{_name(visit)}/replay"))


async def packet(visit: Visit) -> Response:
    """The evidence packet, to keep."""
    path = f"/v1/traces/{_name(visit)}/packet"
    status, content = await visit.ask(visit.request, "GET", path)
    if status >= 400:
        raise PageError(status, visit.say("trace.no_packet"))
    headers = {"content-disposition": f'attachment; filename="stillme-{_name(visit)[:80]}.html"'}
    return Response(content, headers=headers, media_type="text/html")


async def _shown(visit: Visit, replayed: Any = None) -> Response:
    name = _name(visit)
    found = await visit.api("GET", f"/v1/traces/{name}")
    changed = await visit.api("GET", f"/v1/traces/{name}/policy-diff")
    view = view_of(
        found["verdict"],
        found["request"],
        visit.say,
        policy_text=found["policy_text"],
        facts=found["facts"],
        reviews=found["reviews"],
        notice=found["notice"],
    )
    attempt = attempt_of(found["request"]) if view.case.request and found["request"] else None
    return page(
        visit,
        "trace.html",
        trace=found,
        verdict=view,
        replayed=replayed,
        changed=changed,
        attempt=attempt,
        copies=copies(visit.request, attempt, view) if attempt else [],
        link=f"{visit.request.base_url}traces/{name}",
    )


def _name(visit: Visit) -> str:
    return quote(str(visit.request.path_params["trace"]), safe="")
