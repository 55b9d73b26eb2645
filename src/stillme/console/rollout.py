"""Rollout: the computed checklist of the next mode, the step itself, and the steps so far."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import RedirectResponse, Response

from stillme.console.shell import PageError, Visit, form_of, page

__all__ = ["show", "submit"]

MODES: Final = ("monitor", "warn", "enforce")


async def show(visit: Visit) -> Response:
    """The page."""
    return await _shown(visit)


async def submit(visit: Visit) -> Response:
    """A step: done, or what is missing for it."""
    form = await form_of(visit)
    try:
        done = await visit.api(
            "POST", "/v1/rollout/step", body={"to": form.text("to"), "reason": form.text("reason").strip() or None}
        )
    except PageError as error:
        if error.status != 422:
            raise
        return await _shown(visit, 422, problem=error.detail)
    if done["done"]:
        return RedirectResponse("/rollout", 303)
    return await _shown(visit, 409, missing=done["missing"], wanted=done["to"])


async def _shown(
    visit: Visit, status: int = 200, problem: str = "", missing: list[Any] | None = None, wanted: str = ""
) -> Response:
    found = await visit.api("GET", "/v1/rollout")
    mode = found["policy_mode"]
    place = MODES.index(mode)
    return page(
        visit,
        "rollout.html",
        status,
        found=found,
        modes=MODES,
        place=place,
        ahead=MODES[place + 1] if place + 1 < len(MODES) else "",
        back=MODES[:place],
        problem=problem,
        missing=missing or [],
        wanted=wanted,
        may_step=visit.may("operator") and found["may_write"],
    )
