"""API keys: shown once, kept as hashes, scoped; what has no scope of its own is for admins."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from stillme.errors import BackendError, InputError
from stillme.service.auth import NEEDS, OPEN, Keys, scope_of
from tests.service.conftest import Start
from tests.service.test_verify import REQUEST, verdicts


def test_a_key_is_kept_as_a_hash_only(tmp_path: Path) -> None:
    """Whoever reads the file cannot call; nobody else can read it at all."""
    file = tmp_path / "keys.json"
    key = Keys(file).create("bank", ["verify"])

    secret = key.split("_")[2]
    assert key.startswith("sm_")
    assert secret not in file.read_text(encoding="utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert Keys(file).find(key) is not None


@pytest.mark.parametrize(
    "change", ["", "x", "sm_", "sm__", "sm_{id}_", "sm_{id}_wrong", "xx_{id}_{secret}", "{secret}", "sm_0_{secret}"]
)
def test_anything_but_the_key_is_nobody(tmp_path: Path, change: str) -> None:
    """Half a key, another id, another prefix."""
    keys = Keys(tmp_path / "keys.json")
    _, number, secret = keys.create("bank", ["verify"]).split("_")

    assert keys.find(change.format(id=number, secret=secret)) is None


def test_a_revoked_key_is_shut_out_at_once(tmp_path: Path) -> None:
    """Also for somebody who read the file before."""
    keys, other = Keys(tmp_path / "keys.json"), Keys(tmp_path / "keys.json")
    key = keys.create("bank", ["verify"])
    assert other.find(key) is not None

    keys.revoke("bank")

    assert other.find(key) is None
    assert other.are_needed


@pytest.mark.parametrize(
    ("name", "scopes", "message"),
    [
        pytest.param("", ["verify"], "1 to 100 printable characters", id="no name"),
        pytest.param("a\nb", ["verify"], "1 to 100 printable characters", id="a line break in the name"),
        pytest.param("a", [], "at least one scope", id="no scope"),
        pytest.param(
            "a", ["root"], "one of verify, chat, viewer, reviewer, operator, admin, got 'root'", id="an unknown scope"
        ),
        pytest.param("bank", ["verify"], "there is a key named 'bank' already", id="a name that is taken"),
    ],
)
def test_a_key_needs_a_name_of_its_own_and_known_scopes(
    tmp_path: Path, name: str, scopes: list[str], message: str
) -> None:
    """Errors name the value and the choices."""
    keys = Keys(tmp_path / "keys.json")
    keys.create("bank", ["chat"])

    with pytest.raises(InputError, match=message):
        keys.create(name, scopes)


def test_revoking_what_is_not_there_names_what_is(tmp_path: Path) -> None:
    """With the nearest name."""
    keys = Keys(tmp_path / "keys.json")
    keys.create("bank-web", ["verify"])

    with pytest.raises(InputError, match="no key named 'bank-wb': did you mean 'bank-web'"):
        keys.revoke("bank-wb")


def test_an_expired_key_opens_nothing(tmp_path: Path) -> None:
    """Neither by itself nor for a session that began with it; a key of an earlier version has no end."""
    keys = Keys(tmp_path / "keys.json")
    key = keys.create("bank", ["viewer"], datetime.now(UTC) + timedelta(days=1))
    number = key.split("_")[1]
    assert (keys.find(key) is not None, keys.by_id(number) is not None) == (True, True)

    rows = json.loads(keys.path.read_text(encoding="utf-8"))
    rows["keys"][0]["expires"] = "2026-01-01T00:00:00+00:00"
    keys.path.write_text(json.dumps(rows), encoding="utf-8")

    assert (keys.find(key), keys.by_id(number), keys.all()[0].is_expired) == (None, None, True)
    assert keys.are_needed
    del rows["keys"][0]["expires"]
    keys.path.write_text(json.dumps(rows), encoding="utf-8")
    assert keys.find(key) is not None


@pytest.mark.parametrize("end", ["soon", "2030-01-01", 5])
def test_an_end_that_cannot_be_read_lets_nobody_in(tmp_path: Path, end: object) -> None:
    """A damaged key is not an endless one."""
    keys = Keys(tmp_path / "keys.json")
    key = keys.create("bank", ["verify"])
    rows = json.loads(keys.path.read_text(encoding="utf-8"))
    rows["keys"][0]["expires"] = end
    keys.path.write_text(json.dumps(rows), encoding="utf-8")

    with pytest.raises(BackendError, match="cannot be read"):
        keys.find(key)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"keys": [1]}', '{"keys": [{"id": "a"}]}', '{"keys": null}'])
def test_a_damaged_file_lets_nobody_in(tmp_path: Path, text: str) -> None:
    """It is an error, not an empty list."""
    file = tmp_path / "keys.json"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(BackendError, match="cannot be read"):
        Keys(file).find("sm_a_b")


def test_every_path_has_a_scope_of_its_own_choice(start: Start) -> None:
    """A new route is for admins until somebody says otherwise, and that is said here."""
    document = start().get("/openapi.json").json()

    named = {start for start, _ in NEEDS} | set(OPEN)
    unnamed = [path for path in document["paths"] if not any(path == n or path.startswith(f"{n}/") for n in named)]
    assert unnamed == ["/metrics"]
    assert (scope_of("/metrics"), scope_of("/anything"), scope_of("/v1/verifyx")) == ("admin",) * 3
    assert (scope_of("/healthz"), scope_of("/docs/assets/x.js"), scope_of("/v1/verify/batch")) == (None, None, "verify")


def test_scopes_are_kept_apart(start: Start, tmp_path: Path) -> None:
    """Each key opens what it is for, admin everything; health is open to all."""
    keys = Keys(tmp_path / "data" / "keys.json")
    verify, chat, admin = (keys.create(scope, [scope]) for scope in ("verify", "chat", "admin"))
    service = start()

    def asked(key: str | None) -> list[int]:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return [
            service.post("/v1/verify", REQUEST, **headers).status_code,
            service.get("/v1/search?q=leave", **headers).status_code,
            service.get("/metrics", **headers).status_code,
            service.get("/healthz", **headers).status_code,
        ]

    assert asked(None) == [401, 401, 401, 200]
    assert asked("sm_00000000_wrong") == [401, 401, 401, 200]
    assert asked(verify) == [200, 403, 403, 200]
    assert asked(chat) == [403, 200, 403, 200]
    assert asked(admin) == [200, 200, 200, 200]


def test_a_key_may_come_in_either_header(start: Start, tmp_path: Path) -> None:
    """As gateways send it, and as OpenAI clients do; the record names the key, not its secret."""
    key = Keys(tmp_path / "data" / "keys.json").create("bank", ["verify"])
    service = start()

    first = service.post("/v1/verify", REQUEST, x_api_key=key)
    second = service.post("/v1/verify", REQUEST, authorization=f"bearer {key}")

    assert (first.status_code, second.status_code) == (200, 200)
    assert service.parts.store is not None
    kept = [f"{entry.caller} {entry.meta} {entry.body}" for entry in verdicts(service.parts.store)]
    assert [text.startswith("key:bank ") for text in kept] == [True, True]
    assert key.split("_")[2] not in "".join(kept)


def test_a_challenge_says_how(start: Start, tmp_path: Path) -> None:
    """401 as the standard wants it."""
    Keys(tmp_path / "data" / "keys.json").create("bank", ["verify"])
    response = start().post("/v1/verify", REQUEST)

    assert response.headers["www-authenticate"] == 'Bearer realm="stillme"'
    assert response.headers["content-type"] == "application/problem+json"


def test_without_keys_only_this_machine_s_own_names_are_served(start: Start) -> None:
    """A web page whose host name points here cannot call."""
    service = start()

    assert service.post("/v1/verify", REQUEST, host="evil.example").status_code == 403
    assert service.post("/v1/verify", REQUEST, host="localhost:8000").status_code == 200


def test_a_key_file_that_vanishes_opens_nothing(start: Start, tmp_path: Path) -> None:
    """Once there were keys, they are asked for until the process ends."""
    keys = Keys(tmp_path / "data" / "keys.json")
    keys.create("bank", ["verify"])
    service = start()
    assert service.post("/v1/verify", REQUEST).status_code == 401

    keys.path.unlink()

    assert service.post("/v1/verify", REQUEST).status_code == 401


def test_a_key_file_that_is_damaged_while_serving_is_no_open_door(start: Start, tmp_path: Path) -> None:
    """503 until it is restored."""
    keys = Keys(tmp_path / "data" / "keys.json")
    key = keys.create("bank", ["verify"])
    service = start()

    keys.path.write_text("{", encoding="utf-8")

    response = service.post("/v1/verify", REQUEST, x_api_key=key)
    assert response.status_code == 503
    assert str(tmp_path) not in response.text


@pytest.mark.parametrize(
    ("scope", "opens"),
    [
        pytest.param("verify", [], id="a key of today opens nothing of the console"),
        pytest.param("viewer", ["/v1/traces", "/v1/overview", "/v1/rollout", "/v1/try"], id="a viewer reads"),
        pytest.param(
            "reviewer",
            ["/v1/traces", "/v1/overview", "/v1/rollout", "/v1/try", "/v1/reviews"],
            id="a reviewer labels too",
        ),
        pytest.param(
            "operator",
            [
                "/v1/traces",
                "/v1/overview",
                "/v1/rollout",
                "/v1/try",
                "/v1/reviews",
                "/v1/rollout/step",
                "/v1/verify",
                "/v1/search",
            ],
            id="an operator changes modes too",
        ),
    ],
)
def test_roles_imply_what_is_below_them(tmp_path: Path, scope: str, opens: list[str]) -> None:
    """And nothing above: no role but admin reads the figures of the process."""
    keys = Keys(tmp_path / "keys.json")
    key = keys.find(keys.create("x", [scope]))
    assert key is not None
    paths = ["/v1/traces", "/v1/overview", "/v1/rollout", "/v1/try", "/v1/reviews", "/v1/rollout/step", "/metrics"]
    wanted = paths if "/v1/verify" not in opens else [*paths, "/v1/verify", "/v1/search"]

    assert [path for path in wanted if key.allows(str(scope_of(path)))] == opens
