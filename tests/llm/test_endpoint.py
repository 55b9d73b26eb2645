"""Where a model server may stand, and that its key does not travel unencrypted."""

from __future__ import annotations

from typing import Any

import pytest

from stillme import InputError
from stillme.llm.endpoint import Endpoint

KEY = "sk-never-shown-4f1b"


def endpoint(url: str, key: str | None = None, *, allow_insecure: bool = False) -> Endpoint:
    return Endpoint.of(url, "a-model", key, allow_insecure=allow_insecure)


@pytest.mark.parametrize(
    ("url", "posted_to", "authority"),
    [
        pytest.param("https://api.example.com/v1", "https://api.example.com/v1/chat/completions", "api.example.com", id="https"),
        pytest.param("https://api.example.com", "https://api.example.com/chat/completions", "api.example.com", id="no path"),
        pytest.param("http://localhost:8000/v1/", "http://localhost:8000/v1/chat/completions", "localhost:8000", id="a slash at the end"),
        pytest.param("http://[::1]:8000/v1", "http://[::1]:8000/v1/chat/completions", "[::1]:8000", id="an IPv6 address"),
        pytest.param("HTTPS://API.example.com:443/v1", "https://api.example.com/v1/chat/completions", "api.example.com", id="the usual port"),
    ],
)  # fmt: skip
def test_an_address_is_completed(url: str, posted_to: str, authority: str) -> None:
    """The operation is added, the host is what errors and ids name."""
    found = endpoint(url)

    assert (found.url, found.authority) == (posted_to, authority)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        pytest.param("ftp://api.example.com", "begin with http", id="another scheme"),
        pytest.param("file:///etc/passwd", "begin with http", id="a file"),
        pytest.param("api.example.com/v1", "begin with http", id="no scheme"),
        pytest.param("https://user:secret@api.example.com", "user name or password", id="credentials"),
        pytest.param("https://@api.example.com", "user name or password", id="an empty user name"),
        pytest.param("https://api.example.com/v1?key=secret", "no query", id="a query"),
        pytest.param("https://api.example.com/v1#secret", "no fragment", id="a fragment"),
        pytest.param("https://api.example.com/v1/chat/completions", "without /chat/completions", id="the operation"),
        pytest.param("https:///v1", "name a host", id="no host"),
        pytest.param("https://api.example.com:0", "port from 1", id="port zero"),
        pytest.param("https://api.example.com:99999", "host or port is wrong", id="a port that does not exist"),
        pytest.param("https://[::1", "host or port is wrong", id="an open bracket"),
        pytest.param("https://[fe80::1%25eth0]/", "name a host", id="a zone"),
        pytest.param("https://api.example.com/v1\r\nX: y", "without blanks", id="a line end"),
        pytest.param("https://api.example.com/a b", "without blanks", id="a blank"),
        pytest.param("https://ví-dụ.example", "in ASCII", id="letters that are not ASCII"),
        pytest.param("", "begin with http", id="empty"),
        pytest.param(None, "an address such as", id="nothing"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(url: Any, message: str) -> None:
    """The error says what is wrong, and repeats nothing that may be secret."""
    with pytest.raises(InputError, match=message) as error:
        endpoint(url)

    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "allow", "refused"),
    [
        pytest.param("http://judge.example/v1", False, True, id="http to another host"),
        pytest.param("http://10.0.0.7/v1", False, True, id="http within a private network"),
        pytest.param("http://judge.example/v1", True, False, id="http that was allowed"),
        pytest.param("http://127.0.0.1:1234/v1", False, False, id="http to this machine"),
        pytest.param("http://127.9.9.9/v1", False, False, id="http to this machine by another address"),
        pytest.param("http://[::1]/v1", False, False, id="http to this machine by IPv6"),
        pytest.param("http://localhost/v1", False, False, id="http to this machine by name"),
        pytest.param("http://localhost.judge.example/v1", False, True, id="a name that only begins like it"),
        pytest.param("https://judge.example/v1", False, False, id="https"),
    ],
)
def test_a_key_does_not_travel_unencrypted(url: str, allow: bool, refused: bool) -> None:
    """Over http it goes to this machine only, unless that is allowed; without a key there is nothing to protect."""
    assert endpoint(url).api_key is None
    if refused:
        with pytest.raises(InputError, match="unencrypted") as error:
            endpoint(url, KEY, allow_insecure=allow)
        assert KEY not in str(error.value)
    else:
        assert endpoint(url, KEY, allow_insecure=allow).api_key == KEY


@pytest.mark.parametrize("key", ["", "a b", f"{KEY}\r\nX-Other: 1", f"{KEY}\x00", "khoá", 5], ids=range(6))
def test_a_key_that_fits_no_header_is_refused_unseen(key: Any) -> None:
    """No header can be smuggled in, and the key is not repeated."""
    with pytest.raises(InputError, match="api_key must be printable") as error:
        endpoint("https://api.example.com", key)

    assert KEY not in str(error.value)


def test_the_key_is_not_shown() -> None:
    """Not even by the endpoint it belongs to."""
    assert KEY not in repr(endpoint("https://api.example.com", KEY))
