"""Which engine a path or a URL stands for, the same for every store."""

from __future__ import annotations

import pytest

from stillme.errors import InputError
from stillme.storage.places import file_of, is_server


@pytest.mark.parametrize(
    ("where", "path"),
    [
        pytest.param("kho/audit.db", "kho/audit.db", id="a path"),
        pytest.param("sqlite:///kho.db", "kho.db", id="a URL of a file beside"),
        pytest.param("sqlite:////var/kho.db", "/var/kho.db", id="a URL of a file from the root"),
    ],
)
def test_a_file_is_named_by_path_or_url(where: str, path: str) -> None:
    """Both ways lead to the same file, and neither is a server."""
    assert (file_of(where, "a store", "a.db"), is_server(where)) == (path, False)


@pytest.mark.parametrize("where", ["", ":memory:", "a\0b", "mysql://host/x"])
def test_what_cannot_last_is_refused(where: str) -> None:
    """The message says what a store may be."""
    with pytest.raises(InputError, match="a store is a file"):
        file_of(where, "a store", "a.db")


@pytest.mark.parametrize("where", ["postgresql://host/x", "postgres://host/x"])
def test_a_server_is_named_by_url(where: str) -> None:
    """Under both schemes that PostgreSQL itself takes."""
    assert is_server(where)
