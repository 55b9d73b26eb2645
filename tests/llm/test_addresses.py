"""A server that a caller names is public, and the connection goes to the address that was checked."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.errors import InputError, UpstreamError
from stillme.llm import client, providers
from stillme.llm.addresses import Resolve, is_loopback, is_public
from stillme.llm.client import CallLimits
from stillme.llm.messages import Prompt, PromptMessage
from stillme.llm.providers import caller_given
from tests.chat.upstream import Upstream, answered, completion

PROMPT = Prompt("Where?", (PromptMessage("user", "Where?"),))
LIMITS = CallLimits(connect_s=2.0, total_s=5.0, retries=0)
KEY = "sk-of-the-caller"


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "1.1.1.1",
        "93.184.216.34",
        "172.32.0.1",
        "100.128.0.1",
        "169.253.255.255",
        "2606:4700:4700::1111",
        "2a00:1450:4001::1",
    ],
)
def test_public_addresses(address: str) -> None:
    """Machines on the Internet."""
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("127.0.0.1", id="this machine"),
        pytest.param("127.255.0.3", id="this machine by another number"),
        pytest.param("0.0.0.0", id="any address"),  # noqa: S104
        pytest.param("10.1.2.3", id="private, ten"),
        pytest.param("172.16.0.1", id="private, 172"),
        pytest.param("192.168.1.1", id="private, 192"),
        pytest.param("169.254.169.254", id="metadata of the big clouds"),
        pytest.param("100.100.100.200", id="metadata behind carrier-grade NAT"),
        pytest.param("100.64.0.1", id="carrier-grade NAT"),
        pytest.param("192.0.0.192", id="metadata in the protocol block"),
        pytest.param("168.63.129.16", id="metadata on an address that looks public"),
        pytest.param("198.18.0.1", id="benchmarks"),
        pytest.param("203.0.113.5", id="documentation"),
        pytest.param("224.0.0.1", id="multicast"),
        pytest.param("240.0.0.1", id="reserved"),
        pytest.param("255.255.255.255", id="broadcast"),
        pytest.param("::1", id="this machine, IPv6"),
        pytest.param("::", id="any address, IPv6"),
        pytest.param("::ffff:127.0.0.1", id="IPv4-mapped"),
        pytest.param("::ffff:8.8.8.8", id="IPv4-mapped, public inside"),
        pytest.param("::127.0.0.1", id="IPv4-compatible"),
        pytest.param("64:ff9b::7f00:1", id="NAT64"),
        pytest.param("64:ff9b:1::7f00:1", id="NAT64, local"),
        pytest.param("2002:7f00:1::", id="6to4"),
        pytest.param("2001:0:4136:e378:8000:63bf:3fff:fdd2", id="Teredo"),
        pytest.param("2a00:1450::5efe:7f00:1", id="ISATAP"),
        pytest.param("2a00:1450::200:5efe:7f00:1", id="ISATAP, unique"),
        pytest.param("fe80::1", id="link-local, IPv6"),
        pytest.param("fe80::1%eth0", id="link-local with a zone"),
        pytest.param("2a00:1450::1%eth0", id="a zone on anything"),
        pytest.param("fc00::1", id="unique local"),
        pytest.param("fd00:ec2::254", id="metadata, IPv6"),
        pytest.param("fec0::1", id="site-local"),
        pytest.param("ff02::1", id="multicast, IPv6"),
        pytest.param("2001:db8::1", id="documentation, IPv6"),
        pytest.param("3fff::1", id="documentation, new"),
        pytest.param("100::1", id="discard"),
        pytest.param("5f00::1", id="segment routing"),
        pytest.param("2130706433", id="a number"),
        pytest.param("0x7f.1", id="hexadecimal"),
        pytest.param("example.com", id="a name"),
        pytest.param("", id="nothing"),
    ],
)
def test_addresses_that_are_not_public(address: str) -> None:
    """Whatever could be inside, in whatever spelling."""
    assert not is_public(address)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_never_more_than_the_standard_library_allows(address: Any) -> None:
    """What it calls private, reserved, local or multicast is not public here either."""
    if is_public(str(address)):
        assert address.is_global
        assert not any((address.is_multicast, address.is_reserved, address.is_private))


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("localhost", True),
        ("LOCALHOST", True),
        ("127.0.0.1", True),
        ("::1", True),
        ("10.0.0.1", False),
        ("localhost.example", False),
    ],
)
def test_this_machine(host: str, own: bool) -> None:
    """As an operator's address names it."""
    assert is_loopback(host) is own


def answers(*lookups: Sequence[str]) -> tuple[Resolve, list[str]]:
    """A resolver that answers one look-up after another, and what it was asked."""
    asked: list[str] = []

    async def resolve(host: str, _: int) -> Sequence[str]:
        asked.append(host)
        return lookups[min(len(asked), len(lookups)) - 1]

    return resolve, asked


def anything(_: str) -> bool:
    """Every address is allowed: loopback stands for the Internet."""
    return True


def ask(url: str, **more: Any) -> str:
    """What a server that a caller names says."""

    async def asked() -> str:
        provider = caller_given(url, "m", limits=LIMITS, **more)
        try:
            return (await provider.generate(PROMPT)).text
        finally:
            await provider.aclose()

    return asyncio.run(asked())


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f000001",
        "127.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "localhost.",
    ],
)
def test_no_spelling_of_this_machine_is_connected_to(host: str) -> None:
    """The system's own resolver is asked, and its answer is judged."""
    with (
        Upstream(completion("inside")) as upstream,
        pytest.raises(InputError, match="url must name a host on the public Internet"),
    ):
        ask(f"http://{host}:{upstream.port}/v1")

    assert upstream.requests == []


def test_one_address_that_is_not_public_spoils_the_name() -> None:
    """Also where it is not the first."""
    resolve, _ = answers(["8.8.8.8", "10.0.0.1"])
    with pytest.raises(InputError, match="one that is not public"):
        ask("http://model.example/v1", resolve=resolve)


@pytest.mark.parametrize("problem", [OSError("no such host"), UnicodeError("label too long")])
def test_a_name_that_is_unknown_is_refused_in_the_same_words(problem: Exception) -> None:
    """Whether an internal name exists is not told."""

    async def resolve(*_: object) -> Sequence[str]:
        raise problem

    with pytest.raises(InputError, match="this one has no address, or one that is not public"):
        ask("http://model.example/v1", resolve=resolve)


def test_a_look_up_that_never_ends_is_an_error_in_time() -> None:
    """The time for a connection covers it."""

    async def resolve(*_: object) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    async def asked() -> None:
        provider = caller_given(
            "http://model.example/v1", "m", limits=CallLimits(connect_s=0.1, retries=0), resolve=resolve
        )
        try:
            await provider.generate(PROMPT)
        finally:
            await provider.aclose()

    with pytest.raises(UpstreamError, match="the given url cannot be reached: no connection in time"):
        asyncio.run(asked())


def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    """One look-up, and the server is addressed by the name that was asked for."""
    resolve, asked = answers(["127.0.0.1"], ["127.0.0.2"])
    with Upstream(completion("a")) as upstream:
        text = ask(f"http://model.example:{upstream.port}/v1", resolve=resolve, allowed={"127.0.0.1"}.__contains__)

    assert (text, asked) == ("a", ["model.example"])
    assert upstream.requests[0].headers["host"] == f"model.example:{upstream.port}"


def test_a_name_that_is_bound_anew_is_judged_anew() -> None:
    """Public at first and inside the second time: the second request does not leave."""
    resolve, asked = answers(["127.0.0.1"], ["127.0.0.2"])
    allowed = {"127.0.0.1"}.__contains__

    async def twice(url: str) -> None:
        provider = caller_given(url, "m", limits=LIMITS, resolve=resolve, allowed=allowed)
        try:
            await provider.generate(PROMPT)
            with pytest.raises(InputError, match="not public"):
                await provider.generate(PROMPT)
        finally:
            await provider.aclose()

    with Upstream(completion("a")) as upstream:
        asyncio.run(twice(f"http://model.example:{upstream.port}/v1"))

    assert (len(upstream.requests), asked) == (1, ["model.example"] * 2)


def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    """As where a name has an address of a kind that the machine cannot reach."""
    resolve, _ = answers(["127.0.0.9", "127.0.0.1"])
    with Upstream(completion("a")) as upstream:
        assert ask(f"http://model.example:{upstream.port}/v1", resolve=resolve, allowed=anything) == "a"


def test_a_redirect_inside_is_not_followed() -> None:
    """An error, and nothing is sent there."""
    resolve, _ = answers(["127.0.0.1"])
    with (
        Upstream(completion("inside")) as inside,
        Upstream(answered(b"", 307, Location=inside.url)) as upstream,
        pytest.raises(UpstreamError, match="a redirect, which is never followed"),
    ):
        ask(f"http://model.example:{upstream.port}/v1", resolve=resolve, allowed=anything)

    assert inside.requests == []


def test_no_proxy_stands_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy would look the name up again, by itself."""
    resolve, _ = answers(["127.0.0.1"])
    with Upstream(completion("by proxy")) as proxy, Upstream(completion("straight")) as upstream:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        text = ask(f"http://model.example:{upstream.port}/v1", resolve=resolve, allowed=anything)

    assert (text, proxy.requests) == ("straight", [])


@pytest.mark.parametrize(
    ("url", "key", "what"),
    [
        pytest.param("file:///etc/passwd", None, "must begin with http", id="a file"),
        pytest.param("gopher://a/", None, "must begin with http", id="another scheme"),
        pytest.param("https://me:pw@a.example/v1", None, "must not hold a user name", id="credentials"),
        pytest.param("https://a.example\\@10.0.0.1/v1", None, "must be an address", id="a backslash"),
        pytest.param("https://a.example/v1?x=1", None, "no query", id="a query"),
        pytest.param("http://a.example/v1", KEY, "unencrypted", id="a key over plain http"),
    ],
)
def test_addresses_that_are_refused_as_they_stand(url: str, key: str | None, what: str) -> None:
    """Before anything is looked up."""
    with pytest.raises(InputError, match=what):
        ask(url, api_key=key)


# TLS


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, Path]:
    """A server's context with a certificate of its own for a name, and the file that a client trusts it by."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, private = folder / "certificate.pem", folder / "key.pem"
    pem.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, private)
    return context, pem


@pytest.mark.parametrize(
    ("name", "said"),
    [pytest.param("model.example", "a", id="its own name"), pytest.param("other.example", None, id="another's name")],
)
def test_the_certificate_is_that_of_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str | None
) -> None:
    """The connection goes to an address, and the name is what TLS asks for and checks."""
    context, pem = certificate(tmp_path, "model.example")
    asked_for: list[str | None] = []
    context.sni_callback = lambda *told: asked_for.append(told[1])
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    fresh = client.tls_context.__wrapped__  # not the context that others keep
    for module in (client, providers):
        monkeypatch.setattr(module, "tls_context", fresh)
    resolve, _ = answers(["127.0.0.1"])
    with Upstream(completion("a"), tls=context) as upstream:
        url = f"https://{name}:{upstream.port}/v1"
        if said is not None:
            assert ask(url, api_key=KEY, resolve=resolve, allowed=anything) == said
            assert upstream.requests[0].headers["authorization"] == f"Bearer {KEY}"
        else:
            with pytest.raises(UpstreamError, match="its certificate is not trusted"):
                ask(url, api_key=KEY, resolve=resolve, allowed=anything)
            assert upstream.requests == []

    assert asked_for == [name]
    assert ip_address(upstream.url.split("/")[2].split(":")[0]).is_loopback
