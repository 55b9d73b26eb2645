"""What may stand in a message: no password of a store, whatever is wrong with its address."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from stillme.audit import AuditStore
from stillme.cli.commands import cli
from stillme.errors import StillMeError, shown, without_secrets
from stillme.storage.knowledge.engines import store_at

SECRET = "hunter2"  # noqa: S105  (made up)
ADDRESSES = [
    pytest.param("postgresql://ann:hunter2@127.0.0.1:1/audit", id="a server that is not there"),
    pytest.param("postgresql://ann:hun/hunter2@127.0.0.1:1/audit", id="a slash in the password"),
    pytest.param("postgresql://ann:a?hunter2@127.0.0.1:1/audit", id="a question mark in it"),
    pytest.param("postgresql://ann:a#hunter2@127.0.0.1:1/audit", id="a hash in it"),
    pytest.param("postgresql://ann:a[hunter2@127.0.0.1:1/audit", id="a bracket in it"),
    pytest.param("postgresql://ann:a%zzhunter2@127.0.0.1:1/audit", id="a percent sign in it"),
    pytest.param("postgresql://ann:hunter2@127.0.0.1:port/audit", id="a port that is none"),
    pytest.param("postgress://ann:hunter2@127.0.0.1/audit", id="a scheme that is none"),
    pytest.param("postgresql:/ann:hunter2@127.0.0.1/audit", id="a slash too few"),
    pytest.param(f"postgresql://ann:{'x' * 200}hunter2@127.0.0.1:1/audit", id="a long one"),
    pytest.param("host=127.0.0.1 port=1 user=ann password=hunter2 dbname=audit", id="words in place of an address"),
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_message_of_a_store_holds_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """Neither the audit store nor the knowledge store, however it is asked for."""
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    for attempt in (
        lambda: AuditStore(address, create=False).head(),
        lambda: store_at(address).near("knowledge", [0.0] * 8, 1, ""),
    ):
        with pytest.raises((StillMeError, ValueError, TypeError)) as caught:
            attempt()
        said.append(str(caught.value))
    for command in (
        ["audit", "list", "--store", address],
        ["audit", "stats", "--store", address],
        ["policy", "diff", "lite", "strict", "--on", address],
        ["search", "leave", "--store", address],
    ):
        said.append(CliRunner().invoke(cli, command).output)

    assert [text for text in said if SECRET in text] == []


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("postgresql://ann:pw@host/db", "postgresql://…@host/db"),
        ("postgresql://ann:p@w@host/db", "postgresql://…@host/db"),
        ("host=h password = 'a b' user=u", "host=h password = … user=u"),
        ("audit.db", "audit.db"),
        ("Write to ann@example.org", "Write to ann@example.org"),
        ("https://example.org/path", "https://example.org/path"),
        ("", ""),
        (":/", ":/"),
        ("x:/ ", "x:/ "),
    ],
)
def test_what_is_left_of_an_address(text: str, clean: str) -> None:
    """Host and name stay; texts that are no address stay as they are."""
    assert without_secrets(text) == clean
    assert shown(text, 200) == repr(clean)
