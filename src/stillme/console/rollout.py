"""Rollout: the computed checklist of the next mode, the step itself, and the steps so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import RedirectResponse, Response

from stillme.console.shell import PageError, Visit, form_of, page
from stillme.console.words import ConsoleWords

__all__ = ["show", "submit"]

MODES: Final = ("monitor", "warn", "enforce")


# Checks whose figures are shares.
SHARES: Final = (
    "logged_share",
    "hallucination_escape_rate",
    "refusal_precision",
    "source_coverage",
    "false_refusal_rate",
)
# Checks whose figures are points of a hundred.
POINTS: Final = ("better_than_baseline", "no_worse_than_baseline", "stable")
STATES: Final = ("failed", "unknown", "passed")
# Checks that hold below their threshold; the others hold above it.
AT_MOST: Final = ("hallucination_escape_rate", "false_refusal_rate", "no_worse_than_baseline", "stable")
# Checks that find no value only where no verdict is recorded yet.
OF_VERDICTS: Final = ("step", "policy_in_force", "logged_share")
TO_LABEL: Final = ("reviews_last_week", "baseline")


def _worded(say: ConsoleWords, check: Mapping[str, Any]) -> dict[str, Any]:
    """A check in the language of the reader: what was found, what is asked for, and the way out."""
    name, is_unknown = check["name"], check["state"] == "unknown"
    found = {key: _figure(say, name, check[key]) for key in ("value", "threshold")}
    if is_unknown and isinstance(check["threshold"], int | float):
        found["threshold"] = say(f"checkasked.{_bound(name)}", figure=found["threshold"])
    is_empty = name in OF_VERDICTS and check["value"] is None
    said = "no_verdict" if is_empty else "unknown" if is_unknown else name
    return {
        **check,
        "words": say(f"checksaid.{said}", **found),
        "way": say(f"checkway.{said if check['way_out'] else 'other_mode'}") if check["state"] != "passed" else "",
        "is_to_label": bool(check["way_out"]) and (said == "unknown" or name in TO_LABEL),
    }


def _bound(name: str) -> str:
    """How a figure is asked for."""
    return f"{'at_most' if name in AT_MOST else 'at_least'}{'.points' if name in POINTS else ''}"


def _figure(say: ConsoleWords, name: str, value: Any) -> str:
    if value is None or isinstance(value, str):
        known = f"checkasked.{value}"
        return say(known) if say.knows(known) else str(value or "–")
    if name in SHARES:
        return say.figure(f"{100 * value:.1f} %")
    if name in POINTS:
        return say.figure(f"{100 * value:.1f}")
    return say.figure(f"{value:.1f}" if isinstance(value, float) and not value.is_integer() else f"{value:,.0f}")


def _ordered(say: ConsoleWords, checks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What is missing first, then what is not known, then what holds."""
    worded = [_worded(say, check) for check in checks]
    return sorted(worded, key=lambda check: STATES.index(check["state"]))


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
        return RedirectResponse("/rollout?done", 303)
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
        steps={step: _ordered(visit.say, checks) for step, checks in found["checks"].items()},
        modes=MODES,
        place=place,
        ahead=MODES[place + 1] if place + 1 < len(MODES) else "",
        back=MODES[:place],
        problem=problem,
        missing=missing or [],
        wanted=wanted,
        is_done="done" in visit.request.query_params and visit.request.method == "GET",
        may_step=visit.may("operator") and found["may_write"],
    )
