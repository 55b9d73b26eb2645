"""Where a judge may stand, and that its key is never shown."""

from __future__ import annotations

from typing import Any

import pytest

from stillme import InputError
from stillme.judge import JudgeGrounder, JudgeScores
from stillme.judge.endpoint import Endpoint, Proxy
from tests.judge.support import KEY, Unsure

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the proxies that a test names."""
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)


def endpoint(url: str, key: str | None = None, *, allow_insecure: bool = False, use_proxy: bool = True) -> Endpoint:
    return Endpoint.of(url, "a-model", key, allow_insecure=allow_insecure, use_proxy=use_proxy)


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


def test_no_representation_shows_the_key() -> None:
    """Neither the judge's nor that of its parts."""
    judge = JudgeGrounder(Unsure(), url="https://api.example.com/v1", model="a-model", api_key=KEY)

    assert [
        KEY in shown for shown in (repr(judge), str(judge), judge.id, repr(judge._endpoint), repr(judge._client))
    ] == [False] * 5


@pytest.mark.parametrize(
    ("variables", "url", "proxy"),
    [
        pytest.param({}, "https://api.example.com", None, id="none"),
        pytest.param({"HTTPS_PROXY": "http://p.example:3128"}, "https://api.example.com", Proxy("p.example", 3128), id="for https"),
        pytest.param({"HTTPS_PROXY": "p.example:3128"}, "https://api.example.com", Proxy("p.example", 3128), id="without a scheme"),
        pytest.param({"HTTP_PROXY": "http://p.example"}, "https://api.example.com", None, id="for http only"),
        pytest.param({"http_proxy": "http://p.example"}, "http://api.example.com", Proxy("p.example", 80), id="for http"),
        pytest.param({"ALL_PROXY": "http://p.example:1"}, "https://api.example.com", Proxy("p.example", 1), id="for all"),
        pytest.param({"HTTPS_PROXY": "http://p.example", "NO_PROXY": "example.com"}, "https://api.example.com", None, id="not for this host"),
        pytest.param({"HTTPS_PROXY": "http://p.example", "NO_PROXY": "*"}, "https://api.example.com", None, id="not at all"),
        pytest.param({"ALL_PROXY": "http://p.example"}, "http://localhost:8000", None, id="never for this machine"),
        pytest.param(
            {"HTTPS_PROXY": "http://me:p%40ss@p.example:3128"}, "https://api.example.com", Proxy("p.example", 3128, "Basic bWU6cEBzcw=="), id="with a login"
        ),
    ],
)  # fmt: skip
def test_the_proxy_is_the_one_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], url: str, proxy: Proxy | None
) -> None:
    """Unless the judge is told to use none."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert endpoint(url).proxy == proxy
    assert endpoint(url, use_proxy=False).proxy is None


@pytest.mark.parametrize(
    "address", ["socks5://p.example:1", "https://me:secret@p.example", "http://p.example:x", "http://"]
)
def test_a_proxy_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """By the name of the variable, without what may be secret in it."""
    monkeypatch.setenv("HTTPS_PROXY", address)

    with pytest.raises(InputError, match="HTTPS_PROXY must be an address such as") as error:
        endpoint("https://api.example.com")

    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param({"model": " "}, "model must be the name", id="a blank model"),
        pytest.param({"model": "a\nb"}, "model must be the name", id="a model of two lines"),
        pytest.param({"model": None}, "model must be the name", id="no model"),
        pytest.param({"ask_between": (0.8, 0.2)}, "lower bound first", id="bounds the wrong way round"),
        pytest.param({"ask_between": (0.5, 0.5)}, "lower bound first", id="nothing between the bounds"),
        pytest.param({"ask_between": (-0.1, 0.5)}, "ask_between must be a number from 0 to 1", id="a bound below 0"),
        pytest.param(
            {"ask_between": (0.1, float("nan"))}, "ask_between must be a number", id="a bound that is no number"
        ),
        pytest.param({"ask_between": (False, True)}, "ask_between must be a number", id="bounds of true and false"),
        pytest.param({"ask_between": 0.5}, "two numbers such as", id="one bound"),
        pytest.param({"structured": "yaml"}, "structured must be", id="a form that is not known"),
        pytest.param({"scores": (1, 0, 0)}, "scores must be JudgeScores", id="scores of another kind"),
        pytest.param({"max_tokens": 0}, "max_tokens must be a whole number", id="no tokens"),
        pytest.param({"max_tokens": 1.5}, "max_tokens must be a whole number", id="half a token"),
        pytest.param({"seed": -1}, "seed must be", id="a negative seed"),
        pytest.param({"most_chars": 0}, "most_chars must be", id="no characters"),
        pytest.param({"timeout_s": 0}, "timeout_s must be a number", id="no time"),
        pytest.param({"timeout_s": float("inf")}, "timeout_s must be a number", id="all the time in the world"),
        pytest.param({"timeout_s": "5"}, "timeout_s must be a number", id="time as a text"),
        pytest.param({"connect_timeout_s": -1}, "connect_timeout_s must be", id="negative time"),
        pytest.param({"retries": -1}, "retries must be", id="fewer than no retries"),
        pytest.param({"retries": True}, "retries must be", id="retries that are true"),
        pytest.param({"backoff_s": -0.1}, "backoff_s must be", id="a negative pause"),
        pytest.param({"parallel": 0}, "parallel must be", id="none at a time"),
        pytest.param({"remembered": 0}, "remembered must be", id="nothing remembered"),
        pytest.param({"cache": ":memory:"}, "cache must be the path", id="a cache in memory"),
        pytest.param({"cache": ""}, "cache must be the path", id="a cache without a name"),
        pytest.param({"cache": 5}, "cache must be the path", id="a cache that is a number"),
        pytest.param({"base": object()}, "base must be a grounder", id="a base that cannot judge"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(settings: dict[str, Any], message: str) -> None:
    """When the judge is made, not at the first claim."""
    with pytest.raises(InputError, match=message):
        JudgeGrounder(**{"base": Unsure(), "url": "https://api.example.com/v1", "model": "a-model", **settings})


@pytest.mark.parametrize(
    "scores",
    [
        {"supported": 0.4},
        {"supported": 1.1},
        {"unsupported": 0.5},
        {"contradicted": -0.1},
        {"contradicted": float("nan")},
    ],
    ids=str,
)
def test_scores_stand_on_the_side_of_their_answer(scores: dict[str, float]) -> None:
    """What a judge calls unsupported never scores as supported."""
    with pytest.raises(InputError, match=r"scores\."):
        JudgeScores(**scores)
