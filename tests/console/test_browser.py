"""The console in a real browser: the stories of a newcomer, a reviewer and an attacker; what a screen reader and a keyboard meet."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.chat.upstream import Upstream, stream
from tests.console.conftest import fill, full, verdicts
from tests.service.conftest import Service, running

NewPage = Callable[..., Any]
PAYLOADS = (Path(__file__).parent / "payloads.txt").read_text(encoding="utf-8").splitlines()
BIDI = "\u202egnp.exe\u2066 \u200b\u0000\u0007 Z\u0351\u0351\u0351\u0351algo"


# a newcomer


def test_a_newcomer_gets_a_verdict_without_reading_anything(console: Service, new_page: NewPage) -> None:
    """Opens the address, sees a verdict, types another number, sees it change without a click."""
    page = new_page(console)
    assert page.inner_text(".decision") == "Refuse"

    page.fill("#draft", "You can return unused gear within 30 days of delivery [1].")
    page.wait_for_selector(".decision:has-text('Answer')")

    assert page.locator(".draft .supported").count() > 0


def test_a_claim_and_the_words_that_decide_it_light_up_together(console: Service, new_page: NewPage) -> None:
    """By pointer and by keyboard, in both directions."""
    page = new_page(console)

    page.hover(".draft .c-1.claim")
    assert page.locator(".source .c-1.lit").count() >= 1
    page.hover("h1")
    assert page.locator(".lit").count() == 0
    page.focus(".source a.c-2")
    assert page.locator(".draft .c-2.claim.lit").count() >= 1
    assert page.locator(".draft .c-1.claim.lit").count() == 0


def test_a_claim_can_be_copied_and_saved(console: Service, new_page: NewPage) -> None:
    """The copy is the text that is shown; the link after saving carries no text."""
    page = new_page(console)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("text=Copy as")
    page.click("[data-copy] >> nth=0")
    page.wait_for_function("() => document.getElementById('status').textContent === 'Copied'")
    assert page.evaluate("navigator.clipboard.readText()").startswith("curl -s http://127.0.0.1")

    page.click("text=Save as a trace")
    page.wait_for_url("**/traces/trace-*")
    assert "?" not in page.url


def test_when_the_service_does_not_answer_what_was_typed_stays(console: Service, new_page: NewPage) -> None:
    """And the page says so."""
    page = new_page(console)
    page.context.set_offline(True)
    page.fill("#query", "What is typed while the line is down?")
    page.wait_for_selector("#verdict .notice.bad")

    assert page.input_value("#query") == "What is typed while the line is down?"


def test_everything_reads_without_scripts(console: Service, new_page: NewPage) -> None:
    """Forms work too."""
    page = new_page(console, java_script_enabled=False)
    page.fill("#draft", "You can return unused gear within 30 days of delivery [1].")
    page.click(".primary")
    assert page.inner_text(".decision").startswith("Answer")
    page.click("text=Traces")
    page.click(".row-link >> nth=0")
    assert page.locator(".outcome").count() == 1


def test_times_are_in_the_zone_of_the_reader(console: Service, new_page: NewPage) -> None:
    """And as they are written in the reader's language."""
    there = new_page(console, "/traces", timezone_id="Asia/Ho_Chi_Minh", locale="vi-VN")
    here = new_page(console, "/traces", timezone_id="UTC", locale="vi-VN")

    times = [page.locator("td time").first.inner_text() for page in (there, here)]

    assert times[0] != times[1]
    assert "UTC" not in times[0]


def test_another_language_keeps_what_was_typed_and_a_look_is_put_on_at_once(
    console: Service, new_page: NewPage
) -> None:
    """Whoever has not typed gets an example in the new language."""
    page = new_page(console)
    page.click("button[value=vi]")
    page.wait_for_selector("html[lang=vi]")
    assert "ATM" in page.input_value("#query")
    page.fill("#query", "Typed by hand?")
    page.click("button[value=dark]")
    page.wait_for_selector("html[data-theme=dark]")
    page.click("button[value=en]")
    page.wait_for_selector("html[lang=en]")

    assert page.input_value("#query") == "Typed by hand?"
    assert page.get_attribute("html", "data-theme") == "dark"


def end_sessions(service: Service) -> None:
    """As if nobody had asked for anything in a long while."""
    with sqlite3.connect(service.folder / "console.db") as database:
        database.execute("UPDATE stillme_console_session SET seen = 0")
    database.close()


def sign_in(page: Any, key: str) -> None:
    """By keyboard."""
    page.fill("#key", key)
    page.keyboard.press("Enter")


@full
def test_what_was_typed_outlives_a_session(tmp_path: Path, new_page: NewPage) -> None:
    """A policy that could not be saved comes back; a page goes on once its reader has signed in in another window."""
    policy, softer = tmp_path / "policy.yaml", "mode: monitor\nvalidators:\n  VerbosityValidator:\n    enabled: false\n"
    policy.write_text("mode: monitor\n", encoding="utf-8")
    with running(tmp_path / "data", {"STILLME_POLICY": str(policy)}) as service:
        key = service.parts.keys.create("Lan", ["admin"])
        page = new_page(service, "/policy")
        sign_in(page, key)
        page.fill("#policy-text", softer)
        page.wait_for_selector(".checked .diff")
        page.fill("#why", "It is short anyway.")
        end_sessions(service)
        page.click("button[value=save]")
        sign_in(page, key)
        page.wait_for_selector(".kept:visible")
        assert page.input_value("#policy-text") == softer
        page.click("button[value=save]")
        page.wait_for_selector("aside >> text=It is short anyway.")

        page.goto("/try")
        end_sessions(service)
        page.fill("#query", "Typed as the session ended?")
        with page.context.expect_page() as opened:
            page.click("#verdict .notice a")
        sign_in(opened.value, key)
        opened.value.wait_for_selector("#verdict")
        opened.value.close()
        page.bring_to_front()
        page.wait_for_selector("#verdict .outcome")

    assert page.input_value("#query") == "Typed as the session ended?"


# what everybody meets


LOOKS = [
    pytest.param({}, id="light"),
    pytest.param({"color_scheme": "dark"}, id="dark"),
    pytest.param({"locale": "vi-VN", "viewport": {"width": 360, "height": 740}}, id="Vietnamese on a phone"),
]


# A verdict that is reviewed is kept for whoever got it: tests that only look go by one name, and leave the others theirs.
LAN = {"extra_http_headers": {"cookie": "stillme_reviewer=Lan"}}
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
EVERY_PAGE = ["/", "/chat", "/overview", "/traces", "/traces/trace-0000-console", "/review", "/policy", "/rollout"]


@full
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("path", ["/", "/try?example=conflict&policy=strict", "/try?blank", "/traces", "/traces?since=2999-01-01", "/traces/trace-0000-console", "/traces/nothing", "/review", "/review?queue=disagreements", "/overview", "/policy", "/chat", "/chat?q=leave", "/rollout"])  # fmt: skip
def test_axe_finds_nothing_to_object_to(console: Service, new_page: NewPage, path: str, look: dict[str, Any]) -> None:
    """WCAG 2.2 AA as far as a program can tell, with everything unfolded; and no page is wider than its window."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = new_page(console, path, **look, **LAN)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")

    found = axe.run(page, options=RULES).response["violations"]

    assert [(rule["id"], [node["html"][:160] for node in rule["nodes"][:3]]) for rule in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def objections(page: Any) -> list[Any]:
    """What axe-core has against a page with everything unfolded."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    found = axe.run(page, options=RULES).response["violations"]
    return [(rule["id"], [node["html"][:160] for node in rule["nodes"][:3]]) for rule in found]


@full
@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_after_something_was_done(tmp_path: Path, new_page: NewPage, look: dict[str, Any]) -> None:
    """A replay, a mistake in a policy, what a change would do, a version, a step held back, a disagreement, an answer with a claim withheld."""
    policy = tmp_path / "policy.yaml"
    policy.write_text("mode: monitor\n", encoding="utf-8")
    with Upstream(stream(*(f"{word} " for word in SAYS.split()))) as model:
        local = {"STILLME_LOCAL_URL": model.url, "STILLME_LOCAL_MODEL": "a-model", "STILLME_PROVIDER": "local"}
        rules = {"STILLME_POLICY": str(policy), "STILLME_REQUEST_TIMEOUT_S": "900"}
        with running(tmp_path / "data", {**rules, **local}) as service:
            traces = fill(service, verdicts())
            for who, label in (("Lan", "correct"), ("Minh", "unclear")):
                service.post(
                    "/v1/reviews", {"trace": traces[0], "label": label, "reviewer": who, "note": "So it reads."}
                )
            page = new_page(service, f"/traces/{traces[0]}", **look)
            page.click("#replay button")
            page.wait_for_selector("#replay .badge")
            assert objections(page) == []
            page.goto("/policy")
            page.fill("#policy-text", "mode: monitor\nvalidators:\n  FactualHallucinationValidator:\n    gate: sotf\n")
            page.wait_for_selector(".gutter b.bad")
            assert objections(page) == []
            page.fill("#policy-text", "mode: monitor\nvalidators:\n  FactualHallucinationValidator:\n    gate: soft\n")
            page.wait_for_selector(".checked .diff")
            page.click("button[value=what-if]")
            page.wait_for_selector("#what-if")
            assert objections(page) == []
            page.fill("#why", "Too strict.")
            page.click("button[value=save]")
            page.click("aside .review >> nth=1 >> a")
            assert objections(page) == []
            page.goto("/rollout")
            page.click("form .primary")
            page.wait_for_selector(".notice.care")
            assert objections(page) == []
            page.goto("/review?queue=disagreements")
            assert page.locator(".desk .review").count() == 2
            assert objections(page) == []
            page.goto("/chat")
            page.set_input_files(
                "#file", {"name": "leave.md", "mimeType": "text/markdown", "buffer": HANDBOOK.encode()}
            )
            page.wait_for_selector(".documents >> text=leave.md")
            page.fill("#message", "How many days of paid leave do new staff get?")
            page.keyboard.press("Enter")
            page.wait_for_selector(".turn [data-decision]:visible")
            assert objections(page) == []


@full
def test_axe_finds_nothing_on_the_sign_in(new_page: NewPage, keyed: tuple[Service, dict[str, str]]) -> None:
    """Nor after a wrong key, which is told where it was typed."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = new_page(keyed[0], "/")
    page.fill("#key", "sm_wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector("#key-problem")

    assert axe.run(page).response["violations"] == []
    assert page.get_attribute("#key", "aria-describedby") == "key-problem"


@full
@pytest.mark.parametrize("path", EVERY_PAGE)
def test_every_page_reads_without_scripts(console: Service, new_page: NewPage, path: str) -> None:
    """The same words as with them, but for times in the reader's zone and what only a script can do."""
    plain = new_page(console, path, java_script_enabled=False, timezone_id="UTC", **LAN)
    shown = new_page(console, path, timezone_id="UTC", **LAN)
    headings = [page.locator("main :is(h1, h2, th, dt, legend)").all_inner_texts() for page in (plain, shown)]

    assert plain.is_visible("h1")
    assert headings[0] == headings[1]


@pytest.mark.parametrize(
    "path", ["/traces", *(pytest.param(each, marks=full) for each in EVERY_PAGE if each != "/traces")]
)
def test_the_first_paint_does_not_jump(console: Service, new_page: NewPage, path: str) -> None:
    """Nothing moves once it is shown."""
    page = new_page(console, path, **LAN)
    shift = page.evaluate(
        """() => new Promise((done) => { let sum = 0;
        new PerformanceObserver((list) => { for (const each of list.getEntries()) sum += each.value; })
          .observe({ type: "layout-shift", buffered: true });
        setTimeout(() => done(sum), 300); })"""
    )

    assert shift < 0.1


@full
@pytest.mark.parametrize("path", EVERY_PAGE)
def test_focus_is_seen_and_nothing_moves_for_whoever_asks(console: Service, new_page: NewPage, path: str) -> None:
    """What the Tab key comes to has a line around it, in an order that leaves the page again; with reduced motion nothing fades or glides."""
    page = new_page(console, path, reduced_motion="reduce", **LAN)
    moving = """() => [...document.querySelectorAll('*')].filter((e) => { const s = getComputedStyle(e);
      return s.animationName !== 'none' || s.transitionDuration.split(', ').some((d) => parseFloat(d) > 0 && s.transitionProperty !== 'none'); }).length"""
    assert page.evaluate(moving) == 0
    unseen = """() => { const e = document.activeElement, s = getComputedStyle(e), box = e.closest('.editor, .drop') ?? e, b = getComputedStyle(box);
      const isMarked = (each) => each.outlineStyle !== 'none' && parseFloat(each.outlineWidth) >= 2;
      const label = e.labels?.[0];
      return e === document.body || isMarked(s) || isMarked(b) || (label && isMarked(getComputedStyle(label))) ? '' : e.outerHTML.slice(0, 120); }"""
    seen, found = set(), []
    for _ in range(150):
        page.keyboard.press("Tab")
        here = page.evaluate(
            "() => { const e = document.activeElement; e.dataset.at ??= Math.random(); return e === document.body ? '' : e.dataset.at; }"
        )
        if not here or here in seen:
            break
        seen.add(here)
        found.append(page.evaluate(unseen))

    assert len(seen) > 10
    assert [each for each in found if each] == []


# a promotion


@full
def test_a_promotion_from_the_checklist_to_the_record(tmp_path: Path, new_page: NewPage) -> None:
    """An operator reads what is missing, goes on with a reason, sees it in the record, and goes back."""
    policy = tmp_path / "policy.yaml"
    policy.write_text("mode: monitor\n", encoding="utf-8")
    with running(tmp_path / "data", {"STILLME_POLICY": str(policy), "STILLME_REQUEST_TIMEOUT_S": "900"}) as service:
        fill(service, verdicts())
        page = new_page(service, "/rollout")
        assert page.locator(".checks .failed, .checks .unknown").count() > 0
        page.click("button:has-text('Go on to warn')")
        page.wait_for_selector(".notice.care")
        page.fill("#why-on", "A pilot at one branch, agreed with the risk officer.")
        page.click("button:has-text('Go on to warn')")
        page.wait_for_selector("text=A pilot at one branch")
        assert policy.read_text(encoding="utf-8") == "mode: warn\n"
        assert page.inner_text(".steps .now .step-name") == "warn"
        assert "the mode is warn now" in page.inner_text(".notice.good")
        page.fill("#why-monitor", "Too many notes.")
        page.click("button:has-text('Go back to monitor')")
        page.wait_for_selector("text=Too many notes.")

    assert policy.read_text(encoding="utf-8") == "mode: monitor\n"


# an operator and the policy


@full
def test_an_operator_edits_the_policy_and_rolls_it_back(tmp_path: Path, new_page: NewPage) -> None:
    """Sees a mistake at its line as it is typed, mends it, sees which verdicts would flip and opens one, saves, and goes back."""
    policy = tmp_path / "policy.yaml"
    policy.write_text("mode: monitor\n", encoding="utf-8")
    with running(tmp_path / "data", {"STILLME_POLICY": str(policy), "STILLME_REQUEST_TIMEOUT_S": "900"}) as service:
        fill(service, verdicts())
        page = new_page(service, "/policy")
        page.fill("#policy-text", "mode: monitor\nvalidators:\n  FactualHallucinationValidator:\n    gate: sotf\n")
        page.wait_for_selector(".gutter b.bad")
        assert page.inner_text(".gutter b.bad") == "4"
        page.click("[data-line='4']")
        assert page.evaluate("document.activeElement.id") == "policy-text"
        assert page.evaluate("getSelection().toString()") == "    gate: sotf"

        page.fill("#policy-text", "mode: monitor\nvalidators:\n  FactualHallucinationValidator:\n    gate: soft\n")
        page.wait_for_selector(".checked .diff")
        assert page.locator(".gutter b.bad").count() == 0
        page.click("button[value=what-if]")
        page.wait_for_selector("#what-if")
        assert "1 of 3 decisions" in page.inner_text("#what-if-title")
        with page.context.expect_page() as opened:
            page.click("#what-if .row-link")
        opened.value.wait_for_url("**/traces/trace-*")
        opened.value.close()
        page.fill("#why", "Refusals of returns were too many.")
        page.click("button[value=save]")
        page.wait_for_selector("aside >> text=Refusals of returns were too many.")
        assert "gate: soft" in policy.read_text(encoding="utf-8")

        page.click("aside .review >> nth=1 >> a")
        page.fill("#why", "It let a wrong number through.")
        page.click("text=Roll back to this version")
        page.wait_for_selector("aside >> text=It let a wrong number through.")

    assert policy.read_text(encoding="utf-8") == "mode: monitor\n"


# a person who asks

HANDBOOK = "# Leave\n\nNew staff get 14 days of paid leave in the first year. Unused leave expires on 31 March.\n"
SAYS = "New staff get 14 days of paid leave in the first year [1]. Unused leave can be sold for 900 euros [1]."


def test_a_person_drops_a_document_asks_and_sees_a_withheld_claim(tmp_path: Path, new_page: NewPage) -> None:
    """The true claim is shown, the invented one never reaches the browser, the source stands beside it; then the document is deleted."""
    with Upstream(stream(*(f"{word} " for word in SAYS.split()))) as model:
        local = {"STILLME_LOCAL_URL": model.url, "STILLME_LOCAL_MODEL": "a-model", "STILLME_PROVIDER": "local"}
        with running(tmp_path / "data", local) as service:
            page = new_page(service, "/chat")
            page.set_input_files(
                "#file", {"name": "leave.md", "mimeType": "text/markdown", "buffer": HANDBOOK.encode()}
            )
            page.wait_for_selector(".documents >> text=leave.md")
            page.fill("#message", "How many days of paid leave do new staff get?")
            page.keyboard.press("Enter")
            page.wait_for_selector(".turn [data-decision]:visible")
            assert "14 days" in page.inner_text(".answered")
            assert page.inner_text(".withheld").endswith("Claims: 1")
            assert "900 euros" not in page.content()
            assert "leave.md" in page.inner_text("#sources")
            page.click("[data-trace]")
            page.wait_for_url("**/traces/trace-*")
            assert "900 euros" in page.inner_text("main")
            page.goto("/chat")
            page.click(".documents button")
            page.click(".documents button")
            page.wait_for_selector("#documents .none")


@full
def test_a_long_talk_stays_in_view_with_the_sources_of_each_answer(tmp_path: Path, new_page: NewPage) -> None:
    """Documents change beside it, what nobody sees is shown as its code, and the field to ask in does not leave the window."""
    with running(tmp_path / "data", {}) as service:
        page = new_page(service, "/chat", viewport={"width": 1280, "height": 720})
        file = {"name": "leave.md", "mimeType": "text/markdown", "buffer": HANDBOOK.encode()}
        page.set_input_files("#file", file)
        page.wait_for_selector(".documents >> text=leave.md")
        for number in range(1, 13):
            page.fill("#message", f"How many days of paid leave do new staff get? \u202e{number}")
            page.keyboard.press("Enter")
            page.wait_for_function(
                "n => document.querySelectorAll('.turn [data-decision]:not([hidden])').length === n", arg=number
            )
        assert page.locator(".asked").last.inner_text() == "How many days of paid leave do new staff get? U+202E12"
        inside = "e => { const at = e.getBoundingClientRect(); return at.top >= 0 && at.bottom <= innerHeight; }"
        assert page.locator("#message").evaluate(inside)
        assert page.locator("#sources-title").evaluate(inside)
        assert page.locator(".turn").last.evaluate(inside)

        page.set_input_files(
            "#file", {"name": "fees.md", "mimeType": "text/markdown", "buffer": b"# Fees\n\nA card costs 5 euros.\n"}
        )
        page.wait_for_selector(".documents >> text=fees.md")
        page.click(".documents button >> nth=0")
        page.click(".documents button >> nth=0")
        page.wait_for_selector("#status:has-text('Deleted')", state="attached")
        page.fill("#message", "What does a card cost?")
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.querySelectorAll('.turn [data-decision]:not([hidden])').length === 13")
        assert page.locator(".documents li").count() == 1
        page.click("[data-sources]:visible >> nth=0")

        assert "leave.md" in page.inner_text("#sources")


def asked(page: Any, question: str, turns: int) -> None:
    """Ask, and wait for the verdict on the last of so many turns."""
    page.fill("#message", question)
    page.keyboard.press("Enter")
    page.wait_for_function(
        "n => document.querySelectorAll('.turn [data-decision]:not([hidden])').length === n", arg=turns
    )


def test_a_talk_outlives_a_reload_and_another_language(tmp_path: Path, new_page: NewPage) -> None:
    """With what was withheld, its sources and the question half typed; what comes next knows of it; a click ends it, and nothing of it is in an address."""
    with Upstream(stream(*(f"{word} " for word in SAYS.split()))) as model:
        local = {"STILLME_LOCAL_URL": model.url, "STILLME_LOCAL_MODEL": "a-model", "STILLME_PROVIDER": "local"}
        with running(tmp_path / "data", local) as service:
            page = new_page(service, "/chat")
            page.set_input_files(
                "#file", {"name": "leave.md", "mimeType": "text/markdown", "buffer": HANDBOOK.encode()}
            )
            page.wait_for_selector(".documents >> text=leave.md")
            asked(page, "How many days of paid leave do new staff get?", 1)
            page.fill("#message", "And for how")
            page.reload()
            assert "14 days" in page.inner_text(".answered")
            assert page.inner_text(".withheld").endswith("Claims: 1")
            assert "leave.md" in page.inner_text("#sources")
            assert page.input_value("#message") == "And for how"
            page.click("button[value=vi]")
            page.wait_for_selector("html[lang=vi]")
            assert "14 days" in page.inner_text(".answered")
            assert page.inner_text(".withheld .words").startswith("Đã giữ lại 1 ý")
            assert page.url == f"{service.url}/chat"
            with page.expect_request(lambda sent: sent.method == "POST") as sent:
                asked(page, "And after the first year?", 2)
            (earlier,) = parse_qs(sent.value.post_data)["conversation"]
            assert [turn["role"] for turn in json.loads(earlier)] == ["user", "assistant"]
            assert "How many days of paid leave do new staff get?" in earlier
            assert "900 euros" not in earlier
            assert page.evaluate("Object.keys(localStorage).join() + document.cookie").find("leave") < 0
            page.click("[data-new]")
            assert page.locator(".turn").count() == 2
            page.click("[data-new]")
            assert page.locator(".turn").count() == 0
            page.reload()
            assert page.locator(".turn").count() == 0
            assert not page.is_visible("[data-new]")


@full
def test_a_talk_that_was_broken_off_or_is_somebody_elses(
    new_page: NewPage, keyed: tuple[Service, dict[str, str]]
) -> None:
    """An answer that a reload cut off reads as broken off; after signing out, nothing of a talk is left in the window."""
    service, keys = keyed
    page = new_page(service, "/chat")
    sign_in(page, keys["operator"])
    page.wait_for_selector("#message")
    page.route("**/chat", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    page.fill("#message", "What is asked of a line that is dead?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn .notice")
    assert page.input_value("#message") == "What is asked of a line that is dead?"
    page.reload()
    page.wait_for_selector(".turn .notice")
    assert page.inner_text(".asked") == "What is asked of a line that is dead?"
    page.click("form.who button")
    page.wait_for_selector("#key")
    assert page.evaluate("sessionStorage.length") == 0
    page.goto("/chat")
    sign_in(page, keys["admin"])
    page.wait_for_selector("#message")

    assert page.locator(".turn").count() == 0
    assert page.input_value("#message") == ""


@full
def test_a_file_is_dropped_and_one_that_cannot_be_read_says_why(tmp_path: Path, new_page: NewPage) -> None:
    """By drag and drop, with progress."""
    drop = """(files) => { const data = new DataTransfer();
      for (const [name, text] of files) data.items.add(new File([text], name));
      const form = document.querySelector('[data-drop]');
      for (const kind of ['dragenter', 'dragover', 'drop']) form.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true })); }"""
    with running(tmp_path / "data", {}) as service:
        page = new_page(service, "/chat", locale="vi-VN")
        page.evaluate(drop, [["tool.exe", "MZ"], ["so-tay.md", HANDBOOK]])
        page.wait_for_selector(".uploads .failed")
        assert "không đọc được loại tệp" in page.inner_text(".uploads .failed")
        page.wait_for_selector(".uploads >> text=đã thêm")
        assert service.get("/v1/documents").json()["documents"] == ["so-tay.md"]


# an attacker


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose every recorded text is an attack."""
    with running(tmp_path_factory.mktemp("hostile") / "data", {}) as service:
        requests = [
            {
                "query": f"What is {payload}?",
                "draft_answer": f"It is {payload} and 90 days [1].",
                "retrieved_context": [
                    {"source_id": payload, "title": payload, "url": payload, "text": f"It is {payload} and 30 days."},
                    {"source_id": f"other {payload}", "text": f"It is {payload} and 12 days."},
                ],
                "metadata": {"language": "en", "domain": payload},
            }
            for payload in [*PAYLOADS, BIDI.replace("\u0000", "")]
        ]
        fill(service, verdicts(requests))
        yield service


def unharmed(page: Any, url: str) -> None:
    """Nothing ran, nothing is hidden, nothing leads elsewhere, no element of a text is an element of the page."""
    assert page.evaluate("window.hit") is None
    assert page.is_visible("h1")
    outside = "els => els.map((e) => e.href ?? e.action ?? e.src).filter((a) => a && !a.startsWith(location.origin))"
    assert page.eval_on_selector_all("a, form, img, script, link", outside) == []
    assert (
        page.locator("main :is(script, style, iframe, object, embed, base, meta, video, math, img, link)").count() == 0
    )
    assert page.locator("[style], [onerror], [onload], [onfocus], [ontoggle]").count() == 0
    assert page.url.startswith(url)


def test_hostile_texts_do_nothing_in_a_list_and_a_trace(hostile: Service, new_page: NewPage) -> None:
    """A few of them; `make test-browser` opens every one."""
    page = new_page(hostile, "/traces")
    unharmed(page, hostile.url)
    for number in (0, 7, len(PAYLOADS)):
        page.goto(f"/traces/trace-{number:04}-console")
        unharmed(page, hostile.url)
    assert "U+202E" in page.inner_text("main")


@full
@pytest.mark.parametrize("number", range(len(PAYLOADS)), ids=PAYLOADS)
def test_a_hostile_text_does_nothing_on_any_page(hostile: Service, new_page: NewPage, number: int) -> None:
    """In a trace, in a form that is typed and sent, in a filter, in a note, in a link."""
    payload = PAYLOADS[number]
    page = new_page(hostile, f"/traces/trace-{number:04}-console")
    unharmed(page, hostile.url)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    unharmed(page, hostile.url)
    page.goto("/try?blank")
    page.fill("#query", f"What is {payload}?")
    page.fill("#draft", f"It is {payload} [1]. It is 90 days [1].")
    page.fill("#source-id-1", payload)
    page.fill("#passage-1", f"It is {payload}. It is 30 days.")
    page.wait_for_selector("#verdict .outcome, #verdict .notice")
    unharmed(page, hostile.url)
    page.click("form#try .primary")
    page.goto("/traces")
    page.fill("#f-text", payload)
    page.keyboard.press("Enter")
    page.wait_for_url("**/traces?*")
    unharmed(page, hostile.url)
    page.goto("/policy")
    page.fill("#policy-text", f"mode: {payload}")
    page.wait_for_selector(".gutter b.bad, .checked[data-bad='']")
    unharmed(page, hostile.url)
    page.goto("/chat")
    page.fill("#message", f"What is {payload}?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn [data-decision]:visible, .turn .notice")
    unharmed(page, hostile.url)
    # The queue of appeals: in the weekly sample each visitor of a new name keeps a verdict, and the last one finds none.
    hostile.post("/v1/appeals", {"trace": f"trace-{number:04}-console", "note": payload}).raise_for_status()
    page.goto("/review?queue=appeals")
    unharmed(page, hostile.url)
    page.fill("#note", payload)
    page.fill("#reviewer", payload[:90])
    page.click("button[value=unclear]")
    page.wait_for_url("**/review?*last=*")
    unharmed(page, hostile.url)
    page.goto(f"/traces/trace-{number:04}-console")
    assert page.locator("aside .review").count() == 2
    unharmed(page, hostile.url)


@full
@pytest.mark.parametrize("width", [1280, 360])
def test_a_line_of_sixty_kilobytes_stays_in_its_window(console: Service, new_page: NewPage, width: int) -> None:
    """In the form and in the verdict, which comes all the same."""
    page = new_page(console, "/try?blank", viewport={"width": width, "height": 740})
    page.fill("#query", "How long do I have to return unused gear?")
    page.fill("#passage-1", f"Unused gear can be returned within 30 days. {'x' * 60_000}")
    page.fill("#draft", f"Unused gear can be returned within 90 days [1]. {'y' * 6_000}")
    page.wait_for_selector("#verdict .source:has-text('xxxx')")

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.inner_text(".decision") == "Refuse"


@full
def test_hostile_documents_answers_notes_and_reasons_do_nothing(tmp_path: Path, new_page: NewPage) -> None:
    """What a document, its name, a model, a reviewer, an editor of the policy and an operator can say, where each of them is shown."""
    everything = "\n\n".join(PAYLOADS)
    policy = tmp_path / "policy.yaml"
    policy.write_text("mode: monitor\n", encoding="utf-8")
    with Upstream(stream(*(f"It is {payload} and 14 days [1]. " for payload in PAYLOADS))) as model:
        local = {"STILLME_LOCAL_URL": model.url, "STILLME_LOCAL_MODEL": "a-model", "STILLME_PROVIDER": "local"}
        rules = {"STILLME_POLICY": str(policy), "STILLME_REQUEST_TIMEOUT_S": "900"}
        with running(tmp_path / "data", {**rules, **local}) as service:
            trace = fill(service, verdicts()[:1])[0]
            for who, label in (("Lan", "correct"), (PAYLOADS[1], "unclear")):
                given = {"trace": trace, "label": label, "note": everything, "reviewer": who}
                assert service.post("/v1/reviews", given).status_code == 200
            page = new_page(service, f"/traces/{trace}")
            assert "<script>window.hit=1</script>" in page.inner_text("aside")
            unharmed(page, service.url)
            page.goto("/review?queue=disagreements")
            assert "<script>window.hit=1</script>" in page.inner_text(".desk")
            unharmed(page, service.url)
            page.goto("/policy")
            page.fill("#policy-text", "# <img src=x onerror=window.hit=1>\nmode: monitor\n")
            page.fill("#why", everything)
            page.click("button[value=save]")
            page.wait_for_selector("aside .review")
            assert "<script>window.hit=1</script>" in page.inner_text("aside")
            unharmed(page, service.url)
            page.click("aside .review >> nth=0 >> a")
            unharmed(page, service.url)
            page.goto("/rollout")
            page.fill("#why-on", everything)
            page.click("form .primary")
            page.wait_for_selector("aside .review")
            assert "<script>window.hit=1</script>" in page.inner_text("aside")
            unharmed(page, service.url)
            page.goto("/chat")
            name = "<img src=x onerror=window.hit=1>.md"
            page.set_input_files("#file", {"name": name, "mimeType": "text/markdown", "buffer": everything.encode()})
            page.wait_for_selector(".documents li, .uploads .failed")
            unharmed(page, service.url)
            page.fill("#message", "What is the script of 14 days?")
            page.keyboard.press("Enter")
            page.wait_for_selector(".turn [data-decision]:visible, .turn .notice")
            unharmed(page, service.url)
            page.reload()
            page.wait_for_selector(".turn")
            unharmed(page, service.url)
            page.goto("/chat?q=script")
            unharmed(page, service.url)


# a reviewer


def review_by_keyboard(page: Any, items: int) -> list[str]:
    """Label so many verdicts with one key each; the traces, in order."""
    seen = []
    for n in range(items):
        trace = page.get_attribute("[name=trace]", "value")
        seen.append(trace)
        page.keyboard.press(str(n % 5 + 1))
        page.wait_for_function("(was) => document.querySelector('[name=trace]')?.value !== was", arg=trace)
        page.wait_for_load_state()
    return seen


def test_a_reviewer_labels_by_keyboard_and_undoes(tmp_path: Path, new_page: NewPage) -> None:
    """One key a label, u for undo, n for a note, s to skip."""
    with running(tmp_path / "data", {}) as service:
        fill(service, verdicts(), times=3)
        page = new_page(service, "/review")
        seen = review_by_keyboard(page, 3)
        page.keyboard.press("u")
        page.wait_for_function("(was) => document.querySelector('[name=trace]')?.value === was", arg=seen[-1])
        assert page.get_attribute("[aria-pressed=true]:is([name=label])", "value") == "missed_hallucination"
        page.keyboard.press("n")
        page.keyboard.type("On second thoughts 1 2 3")
        page.keyboard.press("Escape")
        page.keyboard.press("1")
        page.wait_for_url("**/review?*last=*")
        current = page.get_attribute("[name=trace]", "value")
        page.keyboard.press("s")
        page.wait_for_function("(was) => document.querySelector('[name=trace]')?.value !== was", arg=current)
        found = service.get(f"/v1/traces/{seen[-1]}").json()["reviews"]

    assert len(set(seen)) == 3
    assert [each["label"] for each in found] == ["missed_hallucination", "correct"]
    assert found[-1]["note"] == "On second thoughts 1 2 3"


def test_a_label_outlives_a_connection_and_a_browser(tmp_path: Path, new_page: NewPage) -> None:
    """It waits where it was given and is sent when the service answers again; one that was changed meanwhile is sent once."""
    with running(tmp_path / "data", {}) as service:
        fill(service, verdicts(), times=2)
        page = new_page(service, "/review")
        trace = page.get_attribute("[name=trace]", "value")
        page.context.set_offline(True)
        page.keyboard.press("3")
        page.wait_for_selector(".outbox:visible")
        page.keyboard.press("2")
        page.wait_for_timeout(300)
        assert page.inner_text(".outbox b") == "1"
        page.close()

        page.context.set_offline(False)
        again = page.context.new_page()
        again.goto(f"{service.url}/review")
        again.wait_for_function("(was) => document.querySelector('[name=trace]')?.value !== was", arg=trace)
        found = service.get(f"/v1/traces/{trace}").json()["reviews"]

    assert [each["label"] for each in found] == ["false_refusal"]


@full
def test_a_label_is_sent_by_itself_once_the_service_answers(tmp_path: Path, new_page: NewPage) -> None:
    """Nobody has to press anything; one that the record does not take is told, and the reviewer stays where they are."""
    with running(tmp_path / "data", {}) as service:
        fill(service, verdicts(), times=2)
        page = new_page(service, "/review")
        trace = page.get_attribute("[name=trace]", "value")
        page.route("**/review", lambda route: route.abort())
        page.keyboard.press("2")
        page.wait_for_selector(".outbox:visible")
        page.unroute("**/review")
        page.wait_for_function("(was) => document.querySelector('[name=trace]')?.value !== was", arg=trace)
        found = service.get(f"/v1/traces/{trace}").json()["reviews"]
        page.evaluate("document.querySelector('[name=trace]').value = 'trace-nowhere'")
        page.keyboard.press("1")
        page.wait_for_selector(".refused:visible")

        assert [each["label"] for each in found] == ["false_refusal"]
        assert "trace-nowhere" in page.inner_text(".refused")
        assert not page.is_visible(".outbox")


@full
def test_an_hour_of_fifty_items_by_keyboard_alone(tmp_path: Path, new_page: NewPage) -> None:
    """The line and then the browser die in the middle; every verdict of the sample once, each label in the record, an empty queue at the end."""
    with running(tmp_path / "data", {}) as service:
        fill(service, verdicts(), times=17)
        page = new_page(service, "/review")
        seen = review_by_keyboard(page, 25)
        seen.append(page.get_attribute("[name=trace]", "value"))
        page.context.set_offline(True)
        page.keyboard.press("3")
        page.wait_for_selector(".outbox:visible")
        page.close()
        page.context.set_offline(False)
        page = page.context.new_page()
        page.goto(f"{service.url}/review")
        page.wait_for_function("(was) => document.querySelector('[name=trace]')?.value !== was", arg=seen[-1])
        page.wait_for_load_state()
        seen += review_by_keyboard(page, 24)
        page.keyboard.press("1")
        page.wait_for_selector(".empty")
        counts = dict(service.get("/v1/reviews/agreement").json()["counts"])

    assert len(set(seen)) == 50
    assert sum(counts.values()) == 51


def test_a_half_written_note_outlives_the_browser_and_keys_can_be_turned_off(tmp_path: Path, new_page: NewPage) -> None:
    """Shift and a number tick a claim; the page that comes back has note and tick; without shortcuts a number is no label."""
    with running(tmp_path / "data", {}) as service:
        fill(service, verdicts(), times=2)
        page = new_page(service, "/review")
        trace = page.get_attribute("[name=trace]", "value")
        page.keyboard.press("Shift+Digit1")
        page.keyboard.press("n")
        page.keyboard.type("The contract of May says")
        page.close()

        again = page.context.new_page()
        again.goto(f"{service.url}/review")
        assert again.get_attribute("[name=trace]", "value") == trace
        assert again.input_value("#note") == "The contract of May says"
        assert again.is_checked("[name=unsupported][value='1']")
        again.uncheck(".shortcuts input")
        again.keyboard.press("1")
        again.reload()
        assert again.get_attribute("[name=trace]", "value") == trace
        again.check(".shortcuts input")
        again.keyboard.press("3")
        again.wait_for_function("(was) => document.querySelector('[name=trace]')?.value !== was", arg=trace)
        found = service.get(f"/v1/traces/{trace}").json()["reviews"]

    assert [(each["label"], each["note"]) for each in found] == [("missed_hallucination", "The contract of May says")]


@full
def test_a_second_reviewer_disagrees_and_a_third_settles_it(tmp_path: Path, new_page: NewPage) -> None:
    """By keyboard, each with a key of their own: kappa with its interval, the labels of both shown to the third alone, whose label decides."""
    with running(tmp_path / "data", {}) as service:
        fill(service, verdicts(), times=4)
        keys = {name: service.parts.keys.create(name, ["reviewer"]) for name in ("Lan", "Minh", "Hoa")}

        def signed_in(name: str, path: str) -> Any:
            page = new_page(service, path)
            page.fill("#key", keys[name])
            page.keyboard.press("Enter")
            page.wait_for_selector("[data-review], .empty")
            return page

        lan, said = signed_in("Lan", "/review"), {}
        for n in range(12):
            trace = lan.get_attribute("[name=trace]", "value")
            said[trace] = n % 2 + 1
            lan.keyboard.press(str(said[trace]))
            lan.wait_for_function("(was) => document.querySelector('[name=trace]')?.value !== was", arg=trace)
        minh = signed_in("Minh", "/review?queue=second")
        for n in range(12):
            trace = minh.get_attribute("[name=trace]", "value")
            assert minh.locator("text=What reviewers said").count() == 0
            minh.keyboard.press(str(said[trace] if n else 5))
            minh.wait_for_function("(was) => document.querySelector('[name=trace]')?.value !== was", arg=trace)
        minh.click("text=Agreement of reviewers")
        agreement = minh.inner_text("details:has-text('Agreement of reviewers')")
        hoa = signed_in("Hoa", "/review?queue=disagreements")
        assert hoa.inner_text("p.progress") == "1 to settle"
        assert {"Lan", "Minh"} == set(hoa.locator(".desk .review bdi").all_inner_texts())
        hoa.keyboard.press("5")
        hoa.wait_for_selector(".empty")

    assert "Lan and Minh, 12 verdicts" in agreement
    assert "95 % interval" in agreement
