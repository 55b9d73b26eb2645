"""A running console with verdicts in it, a visitor without scripts, and a real browser."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from stillme.guard import Guard, Occurrence
from tests.audit.conftest import Caught
from tests.service.conftest import Service, running, start

__all__ = ["NewVisitor", "Visitor", "fill", "full", "start", "verdicts"]

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip
EVERYTHING = bool(os.environ.get("STILLME_BROWSER"))
"""`make test-browser` sets it; otherwise only a few quick stories run in the browser."""
full = pytest.mark.skipif(not EVERYTHING, reason="a long story in a browser: `make test-browser` runs it")

REQUESTS = [
    {
        "query": "How long do I have to return unused gear?",
        "draft_answer": "You can return unused gear within 90 days of delivery [1].",
        "retrieved_context": [
            {"source_id": "faq", "text": "We accept returns of unused gear within 30 days of delivery."}
        ],
    },
    {
        "query": "Nhân viên mới được nghỉ phép bao nhiêu ngày?",
        "draft_answer": "Nhân viên mới được nghỉ 12 ngày phép trong năm đầu [1].",
        "retrieved_context": [{"source_id": "so-tay", "text": "Nhân viên mới được nghỉ 12 ngày phép trong năm đầu."}],
    },
    {
        "query": "When are train tickets refunded?",
        "draft_answer": "Second-class train tickets are refunded in full [1].",
        "retrieved_context": [{"source_id": "travel", "text": "Train tickets in second class are refunded in full."}],
    },
]


def verdicts(requests: list[dict[str, Any]] = REQUESTS) -> list[Occurrence]:
    """What the real guard says of these requests."""
    caught = Caught()
    Guard(audit=caught).verify_batch(requests, caller="tests")
    return caught.occurrences


def fill(service: Service, given: list[Occurrence], times: int = 1) -> list[str]:
    """Record each verdict so often, a second apart, up to now; their traces."""
    now = datetime.now(UTC)
    made: list[Occurrence] = []
    for n in range(times * len(given)):
        each = given[n % len(given)]
        verdict = each.verdict.model_copy(update={"validator_trace_id": f"trace-{n:04}-console"})
        made.append(replace(each, verdict=verdict, at=now - timedelta(seconds=n)))
    assert service.parts.store is not None
    service.parts.store.record(made)
    return [str(each.verdict.validator_trace_id) for each in made]


@dataclass
class Visitor:
    """Somebody with a browser that runs no scripts: it keeps cookies and sends forms."""

    client: httpx.Client

    def get(self, path: str, **options: Any) -> httpx.Response:
        """A page."""
        return self.client.get(path, **options)

    def send(
        self, path: str, fields: list[tuple[str, str]] | dict[str, str], token: str | None = None, **headers: str
    ) -> httpx.Response:
        """Send a form, with the token of the page before unless told otherwise."""
        known = self.token() if token is None else token
        pairs = list(fields.items()) if isinstance(fields, dict) else fields
        named = {
            "content-type": "application/x-www-form-urlencoded",
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        return self.client.post(path, content=urlencode([("form_token", known), *pairs]), headers=named)

    def token(self) -> str:
        """The token that forms carry."""
        return str(re.findall(r'name="form_token" value="([0-9a-f]+)"', self.get("/sign-in").text)[0])

    def sign_in(self, key: str) -> httpx.Response:
        """Sign in with a key."""
        return self.send("/sign-in", {"key": key, "to": "/traces"})


NewVisitor = Callable[..., Visitor]


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service on loopback, without keys, with three verdicts."""
    with running(tmp_path_factory.mktemp("console") / "data", {}) as service:
        fill(service, verdicts())
        yield service


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, dict[str, str]]]:
    """A service with a key for each role, and one that opens only verification."""
    with running(tmp_path_factory.mktemp("keyed") / "data", {}) as service:
        made = {
            scope: service.parts.keys.create(scope, [scope])
            for scope in ("viewer", "reviewer", "operator", "admin", "verify")
        }
        fill(service, verdicts())
        yield service, made


@pytest.fixture
def visitor() -> Iterator[NewVisitor]:
    """Makes visitors; all leave at the end."""
    made: list[httpx.Client] = []

    def make(service: Service, language: str = "en") -> Visitor:
        made.append(httpx.Client(base_url=service.url, timeout=600, headers={"accept-language": language}))
        return Visitor(made[-1])

    yield make
    for client in made:
        client.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright; without either the test is skipped and says so.

    For one module: as long as it runs, so does an event loop in the thread of the tests.
    """
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def new_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page of a service; whatever it asks of other hosts, or says of errors, fails the test."""
    contexts: list[Any] = []
    troubles: list[str] = []

    def open_page(service: Service, path: str = "/", **options: Any) -> Any:
        context = browser.new_context(
            base_url=service.url, **{"locale": "en-US", "viewport": {"width": 1280, "height": 900}, **options}
        )
        contexts.append(context)
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.on("request", lambda sent: None if sent.url.startswith(service.url) else troubles.append(sent.url))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("console", lambda said: troubles.append(said.text) if "Content Security Policy" in said.text else None)
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []
