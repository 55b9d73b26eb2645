"""The frame of every page: who gets in, what a form needs, which headers hold, language and look."""

from __future__ import annotations

import re
import sqlite3
import time
from pathlib import Path

import httpx
import psycopg
import pytest

from stillme.audit.chain.seals import new_key_file
from stillme.console.rendering import ASSETS, asset
from stillme.console.shell import local_path
from stillme.languages import language_of, languages
from tests.console.conftest import NewVisitor, Visitor
from tests.service.conftest import Service, running

Keyed = tuple[Service, dict[str, str]]
PAGES = ["/", "/try", "/chat", "/overview", "/traces", "/review", "/policy", "/rollout", "/sign-in"]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_forbids_foreign_code_frames_and_caches(console: Service, path: str) -> None:
    """No inline script, no inline style, no other origin, no frame."""
    response = console.get(path)

    policy = response.headers["content-security-policy"]
    assert response.status_code == 200
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert response.headers["x-frame-options"] == "DENY"
    assert response.headers["cache-control"] == "no-store"
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:", response.text)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_with_all_it_loads_is_under_100_kb(console: Service, path: str) -> None:
    """And what it loads may be kept by the browser for ever, under an address that its content gives."""
    page = console.get(path)
    addresses = sorted(set(re.findall(r"/assets/[0-9a-f]{12}/[a-z.]+", page.text)))
    loaded = [console.get(address) for address in addresses]

    assert {each.rpartition("/")[2] for each in addresses} >= {"console.css", "page.js", "icon.svg"}
    assert all(each.status_code == 200 and "immutable" in each.headers["cache-control"] for each in loaded)
    assert len(page.content) + sum(len(each.content) for each in loaded) < 100_000
    assert console.get("/assets/000000000000/console.css").status_code == 404


def test_on_loopback_without_keys_it_opens_and_says_so(console: Service, visitor: NewVisitor) -> None:
    """In both languages, with the command that ends it."""
    assert "without sign-in" in visitor(console).get("/").text
    assert "không cần đăng nhập" in visitor(console, "vi").get("/").text
    assert "stillme keys create" in visitor(console).get("/").text


def test_without_a_session_every_page_leads_to_the_sign_in(keyed: Keyed, visitor: NewVisitor) -> None:
    """And back to where somebody wanted to go."""
    response = visitor(keyed[0]).get("/traces?decision=refuse")

    assert response.status_code == 303
    assert response.headers["location"] == "/sign-in?to=%2Ftraces%3Fdecision%3Drefuse"


def test_a_key_is_exchanged_for_a_cookie_that_scripts_cannot_read(keyed: Keyed, visitor: NewVisitor) -> None:
    """Under a new token, so that one that was planted is worth nothing."""
    service, keys = keyed
    someone = visitor(service)
    someone.get("/sign-in")
    before = someone.client.cookies["stillme_session"]

    response = someone.sign_in(keys["viewer"])

    cookie = response.headers["set-cookie"].lower()
    assert (response.status_code, response.headers["location"]) == (303, "/traces")
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert someone.client.cookies["stillme_session"] != before
    assert "How long do I have to return unused gear?" in someone.get("/traces").text


@pytest.mark.parametrize("given", ["", "sm_00000000_wrong", "verify"])
def test_what_is_no_key_of_the_console_does_not_open_it(keyed: Keyed, visitor: NewVisitor, given: str) -> None:
    """Nor does a key that opens only the API; the page says what it may be."""
    service, keys = keyed
    response = visitor(service).sign_in(keys.get(given, given))

    assert response.status_code == 401
    assert "no key that opens the console" in response.text


@pytest.mark.parametrize(
    ("role", "path", "status"),
    [
        pytest.param("viewer", "/traces", 200, id="a viewer sees traces"),
        pytest.param("viewer", "/review", 403, id="a viewer does not review"),
        pytest.param("reviewer", "/review", 200, id="a reviewer reviews"),
        pytest.param("reviewer", "/traces", 200, id="and sees traces"),
        pytest.param("operator", "/review", 200, id="an operator reviews too"),
        pytest.param("admin", "/review", 200, id="an admin does everything"),
    ],
)
def test_roles_open_pages(keyed: Keyed, visitor: NewVisitor, role: str, path: str, status: int) -> None:
    """The menu shows what is open, and the API decides."""
    service, keys = keyed
    someone = visitor(service)
    someone.sign_in(keys[role])

    response = someone.get(path)

    assert response.status_code == status
    assert ('href="/review"' in response.text) is (role != "viewer")


def test_a_viewer_cannot_save_what_was_tried(keyed: Keyed, visitor: NewVisitor) -> None:
    """Saving writes a record, which needs the scope of verification."""
    service, keys = keyed
    someone = visitor(service)
    someone.sign_in(keys["viewer"])

    assert 'value="save"' not in someone.get("/try").text
    response = someone.send("/try", {"query": "Why?", "draft": "", "source_id": "a", "passage": "b", "do": "save"})
    assert response.status_code == 403


def test_the_cookie_opens_no_endpoint_of_the_api(keyed: Keyed, visitor: NewVisitor) -> None:
    """Programs use keys; a page of another site that makes a browser call the API gets nothing."""
    service, keys = keyed
    someone = visitor(service)
    someone.sign_in(keys["admin"])

    assert someone.get("/v1/traces").status_code == 401


def test_signing_out_ends_the_session_wherever_its_cookie_was_copied(keyed: Keyed, visitor: NewVisitor) -> None:
    """On the server, not only in the browser."""
    service, keys = keyed
    someone = visitor(service)
    someone.sign_in(keys["viewer"])
    copied = someone.client.cookies["stillme_session"]

    someone.send("/sign-out", {})

    thief = httpx.get(f"{service.url}/traces", headers={"cookie": f"stillme_session={copied}"})
    assert thief.status_code == 303


def test_a_session_ends_when_it_is_not_used_and_with_its_key(keyed: Keyed, visitor: NewVisitor) -> None:
    """Whichever comes first."""
    service, _ = keyed
    someone, other = visitor(service), visitor(service)
    someone.sign_in(service.parts.keys.create("brief", ["viewer"]))
    other.sign_in(service.parts.keys.create("idle", ["viewer"]))

    service.parts.keys.revoke("brief")
    with sqlite3.connect(service.folder / "console.db") as database:
        database.execute(
            "UPDATE stillme_console_session SET seen = ?", (time.time() - service.parts.settings.session_idle_s - 1,)
        )
    database.close()

    assert someone.get("/traces").status_code == 303
    assert other.get("/traces").status_code == 303


def test_the_file_of_sessions_cannot_be_used_to_sign_in(keyed: Keyed, visitor: NewVisitor) -> None:
    """It has hashes of tokens, and only its owner reads it."""
    service, keys = keyed
    someone = visitor(service)
    someone.sign_in(keys["viewer"])
    file = service.folder / "console.db"

    kept = b"".join(each.read_bytes() for each in service.folder.glob("console.db*"))
    assert someone.client.cookies["stillme_session"].encode() not in kept
    assert file.stat().st_mode & 0o077 == 0


def test_a_session_holds_on_every_replica(postgres_url: str, tmp_path: Path, visitor: NewVisitor) -> None:
    """Two services that share nothing but the server of their audit trail and their keys: no sticky sessions are needed."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS replicas CASCADE")
        connection.execute("CREATE SCHEMA replicas")
    new_key_file(tmp_path / "seal.key")
    shared = {
        "STILLME_AUDIT_STORE": f"{postgres_url}&options=-csearch_path%3Dreplicas",
        "STILLME_KEYS_FILE": str(tmp_path / "keys.json"),
    }
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("STILLME_AUDIT_KEY_FILE", str(tmp_path / "seal.key"))
        with running(tmp_path / "one", shared) as one, running(tmp_path / "two", shared) as two:
            someone = visitor(one)
            someone.sign_in(one.parts.keys.create("lan", ["reviewer"]))
            cookie = {"cookie": f"stillme_session={someone.client.cookies['stillme_session']}"}
            there = httpx.get(f"{two.url}/traces", headers=cookie, timeout=600)
            token = someone.token()
            sent = httpx.post(
                f"{two.url}/preferences", headers=cookie, data={"form_token": token, "language": "vi"}, timeout=600
            )
            someone.send("/sign-out", {})
            after = httpx.get(f"{two.url}/traces", headers=cookie, timeout=600)

    assert there.status_code == 200
    assert sent.status_code == 303
    assert sent.headers["location"] == "/"
    assert after.status_code == 303


@pytest.mark.parametrize(
    ("token", "headers"),
    [
        pytest.param("", {}, id="without a token"),
        pytest.param("0" * 64, {}, id="with a token of somebody else"),
        pytest.param(None, {"sec_fetch_site": "cross-site"}, id="from another site"),
        pytest.param(None, {"sec_fetch_site": "same-site"}, id="from another port of this machine"),
    ],
)
def test_a_form_that_no_page_of_ours_sent_does_nothing(
    console: Service, visitor: NewVisitor, token: str | None, headers: dict[str, str]
) -> None:
    """Whoever is let in without a key too."""
    trace = {"trace": "trace-0000-console", "label": "correct", "queue": "sample"}

    response = visitor(console).send("/review", trace, token, **headers)

    assert response.status_code == 403
    assert console.get("/v1/traces?label=correct").json()["traces"] == []


def test_language_and_look_are_chosen_by_the_reader_and_kept(console: Service, visitor: NewVisitor) -> None:
    """The browser's language comes first, then the reader's own choice."""
    someone = visitor(console, "vi-VN,vi;q=0.9,en;q=0.5")
    assert '<html lang="vi" data-theme="auto">' in someone.get("/").text

    answer = someone.send("/preferences", {"language": "en", "theme": "dark", "back": "/traces?decision=refuse"})

    assert answer.headers["location"] == "/traces?decision=refuse"
    assert '<html lang="en" data-theme="dark">' in someone.get("/").text


@pytest.mark.parametrize(
    "address", ["https://evil.example/x", "//evil.example", "/\\evil.example", "javascript:alert(1)", "\\\\evil"]
)
def test_nobody_is_led_to_another_site(address: str) -> None:
    """Whatever a link says."""
    assert local_path(address) in ("/", "/x")


def test_both_languages_have_the_same_words() -> None:
    """What the console says in one language it says in the other, with the same slots."""
    words = [language_of(language.code).rules("console") for language in languages()]
    slots = [{key: sorted(re.findall(r"{(\w+)}", str(text))) for key, text in each.items()} for each in words]

    assert slots[0] == slots[1]


def test_everything_that_pages_ask_is_in_the_documented_api(console: Service) -> None:
    """There is no other way to the data: a path that the console asks is in OpenAPI and in the manual."""
    documented = {re.sub(r"{[^}]*}", "*", path) for path in console.get("/openapi.json").json()["paths"]}
    manual = Path("docs/service-api.md").read_text(encoding="utf-8")
    source = "".join(each.read_text(encoding="utf-8") for each in Path("src/stillme/console").glob("*.py"))
    asked = {re.sub(r"{[^}]*}", "*", path) for path in re.findall(r'"(/(?:v1|api)/[^"]*)"', source)}

    assert len(asked) > 15
    assert asked - documented == set()
    assert [path for path in sorted(asked) if path.partition("*")[0].rstrip("/") not in manual] == []


def test_scripts_import_only_what_every_page_loads() -> None:
    """By its name beside them: one address for all assets, and nothing that is asked for one after the other."""
    imported = {
        name: set(re.findall(r'from "([^"]+)"', asset(name)[0].decode())) for name in ASSETS if name.endswith(".js")
    }

    assert {name: found for name, found in imported.items() if found not in (set(), {"./page.js"})} == {}
    assert len(imported) > 3


def test_no_page_knows_of_another_host() -> None:
    """Assets load nothing from anywhere."""
    for name in ASSETS:
        assert b"//" not in asset(name)[0].replace(b"// ", b"").replace(b"http://www.w3.org/2000/svg", b"")


@pytest.mark.parametrize(
    ("accepted", "kind"), [("text/html,*/*;q=0.8", "text/html"), ("*/*", "application/problem+json")]
)
def test_an_address_that_there_is_not_is_told_to_people_as_a_page(console: Service, accepted: str, kind: str) -> None:
    """And to programs as a problem document."""
    response = console.get("/tracs", accept=accepted, accept_language="vi")

    assert (response.status_code, response.headers["content-type"].partition(";")[0]) == (404, kind)
    assert ("Không có trang nào" in response.text) is (kind == "text/html")
    assert ("content-security-policy" in response.headers) is (kind == "text/html")


def test_a_form_that_cannot_be_read_is_told_so(console: Service, visitor: NewVisitor) -> None:
    """And a trace that there is not, as a page."""
    someone: Visitor = visitor(console)
    missing = someone.get("/traces/trace-nowhere")

    assert missing.status_code == 404
    assert "Nothing is here" in missing.text
    assert someone.client.post("/try", content=b"\xff\xfe").status_code == 400
