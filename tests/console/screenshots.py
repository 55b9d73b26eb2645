"""Pictures of every page, with a fortnight of verdicts behind them: light, dark, narrow and in Vietnamese.

python -m tests.console.screenshots [FOLDER] [PAGE ...]     (`make screenshots` writes all of them into docs/console)
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from stillme.chat.documents.ingest import ingest
from stillme.console.try_it import examples
from stillme.models.embedding import embed
from stillme.storage.knowledge.engines import store_at
from tests.chat.upstream import Upstream, stream
from tests.console.conftest import CHROMIUM, FLAGS, verdicts
from tests.service.conftest import HANDBOOK, Service, running

WIDE: Final = {"width": 1280, "height": 860}
NARROW: Final = {"width": 360, "height": 740}
LOOKS: Final[Mapping[str, dict[str, Any]]] = {
    "": {},
    "-dark": {"color_scheme": "dark"},
    "-vi": {"locale": "vi-VN"},
    "-narrow": {"viewport": NARROW},
    "-narrow-vi": {"viewport": NARROW, "locale": "vi-VN"},
}
MOST_HIGH: Final = 1_800
# What stays at the edge of the window would cover the middle of a picture of the whole page.
IN_WINDOW: Final = ("review", "settle", "traces")
PAGES: Final = ("try", "conflict", "chat", "overview", "traces", "trace", "review", "settle", "policy", "what-if", "rollout", "sign-in")  # fmt: skip
SAYS: Final = (
    "New staff get 14 days of paid leave in the first year [1]. Unused leave can be sold back for 900 euros a day [1]."
)
SOFTER: Final = "mode: monitor\nvalidators:\n  FactualHallucinationValidator:\n    gate: soft\n"


def seed(service: Service) -> None:
    """Verdicts on the examples over three weeks, reviews of two people who differ at times, an appeal."""
    requests = [
        {
            "query": row["query"],
            "draft_answer": row["draft"],
            "retrieved_context": row["passages"],
            "metadata": {"language": row["language"]},
        }
        for row in examples().values()
    ]
    given, now = verdicts(requests), datetime.now(UTC)
    made = []
    for n in range(180):
        each = given[(n * n + n // 3) % len(given)]
        verdict = each.verdict.model_copy(update={"validator_trace_id": f"trace-{n:04}-7f3a-demo"})
        caller = ("key:branch-app", "key:call-centre", "key:website")[n % 3]
        made.append(replace(each, verdict=verdict, caller=caller, at=now - timedelta(hours=2.7 * n + (n * 7 % 5))))
    assert service.parts.store is not None
    service.parts.store.record(made)
    week = service.post("/v1/reviews/next", {"queue": "sample", "reviewer": "Lan"}).json()["week"]
    labels = ("correct", "correct", "correct", "false_refusal", "correct", "missed_hallucination")
    for who, queue, most in (("Lan", "sample", 40), ("Minh", "second", 24)):
        for n in range(most):
            asked = {"queue": queue, "week": week, "reviewer": who}
            item = service.post("/v1/reviews/next", asked).json()["item"]
            if item is None:
                break
            label = labels[int(item["id"][6:10]) % 6] if who == "Lan" or n % 8 else "wrong_reason"
            note = "The fee schedule of May says otherwise." if label == "wrong_reason" else ""
            said = {"trace": item["id"], "label": label, "note": note, "unsupported": [], "reviewer": who}
            service.post("/v1/reviews", said).raise_for_status()
    service.post("/v1/appeals", {"trace": "trace-0004-7f3a-demo", "note": "The customer has the older contract."})


def _ask(page: Any) -> None:
    page.fill("#message", "How many days of paid leave do new staff get?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn [data-decision]:visible")


def _what_if(page: Any) -> None:
    page.fill("#policy-text", SOFTER)
    page.wait_for_selector(".checked .diff")
    page.select_option("#most", "50")
    page.click("button[value=what-if]")
    page.wait_for_selector("#what-if")


def _typo(page: Any) -> None:
    page.fill("#policy-text", SOFTER.replace("soft", "sotf"))
    page.wait_for_selector(".gutter b.bad")


ACTS: Final[Mapping[str, Callable[[Any], None]]] = {"chat": _ask, "policy": _typo, "what-if": _what_if}


def address(service: Service, name: str, language: str) -> str:
    """Where a page stands, with something on it in the language of the reader."""
    if name == "trace":
        found = service.get(f"/v1/traces?decision=refuse&language={language}&limit=1").json()["traces"]
        return f"/traces/{found[0]['id']}"
    conflict = {"en": "conflict", "vi": "nguon-trai-nhau"}[language]
    others = {"try": "/", "conflict": f"/try?example={conflict}", "what-if": "/policy", "settle": "/review?queue=disagreements"}  # fmt: skip
    return others.get(name, f"/{name}")


def kept(picture: bytes, file: Path) -> None:
    """A picture as it is kept: its upper part, in few colours, for a repository is no place for much more."""
    from PIL import Image  # noqa: PLC0415  (only developers have it)

    shown = Image.open(BytesIO(picture)).convert("RGB")
    shown = shown.crop((0, 0, shown.width, min(shown.height, MOST_HIGH)))
    shown.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(file, optimize=True)


def taken(service: Service, talking: Service, keyed: Service, folder: Path, wanted: set[str]) -> None:
    """Every picture that is wanted."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  (only developers have it)

    seed(service)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for look, options in LOOKS.items():
            for name in PAGES:
                if wanted and f"{name}{look}" not in wanted:
                    continue
                at = {"sign-in": keyed.url, "chat": talking.url}.get(name, service.url)
                settings = {"viewport": WIDE, "locale": "en-GB", "timezone_id": "Asia/Ho_Chi_Minh", **options}
                context = browser.new_context(base_url=at, **settings)
                page = context.new_page()
                page.goto(address(service, name, "vi" if look.endswith("vi") else "en"))
                ACTS.get(name, lambda _: None)(page)
                kept(page.screenshot(full_page=name not in IN_WINDOW or "narrow" in look), folder / f"{name}{look}.png")
                context.close()
        browser.close()


def main() -> None:
    """Serve, fill, take."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/console")
    with tempfile.TemporaryDirectory() as temporary, Upstream(stream(*(f"{word} " for word in SAYS.split()))) as model:
        at = Path(temporary)
        (at / "documents").mkdir()
        for name, text in HANDBOOK.items():
            (at / "documents" / name).write_text(text, encoding="utf-8")
        knowledge = store_at(at / "knowledge.db")
        ingest([at / "documents"], knowledge, embed=embed)
        knowledge.close()
        (at / "policy.yaml").write_text("mode: monitor\n", encoding="utf-8")
        rules = {"STILLME_POLICY": str(at / "policy.yaml"), "STILLME_REQUEST_TIMEOUT_S": "900"}
        local = {"STILLME_LOCAL_URL": model.url, "STILLME_LOCAL_MODEL": "a-model", "STILLME_PROVIDER": "local"}
        chat = {"STILLME_KNOWLEDGE": str(at / "knowledge.db"), "STILLME_REQUEST_TIMEOUT_S": "900", **local}
        with (
            running(at / "data", rules) as service,
            running(at / "chat", chat) as talking,
            running(at / "keyed", {}) as keyed,
        ):
            keyed.parts.keys.create("lan", ["reviewer"])
            taken(service, talking, keyed, folder, set(sys.argv[2:]))


if __name__ == "__main__":
    main()
