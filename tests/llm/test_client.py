"""Encrypted connections are verified, and a proxy sees no more than it must."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socketserver
import ssl
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from stillme import BackendError, InputError
from stillme.judge import judge_from_environment
from stillme.llm.client import completed, tls_context
from tests.judge.support import KEY, PASSAGE, Seen, Unsure, agreeing, completion, entry, judge_at, playing, task

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Only the proxies and certificates that a test names."""
    for name in (*PROXIES, "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    tls_context.cache_clear()
    yield
    tls_context.cache_clear()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 and judge.invalid that nobody signed but itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "judge.invalid")])
    names = [x509.DNSName("judge.invalid"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(key.private_bytes(*form) + made.public_bytes(serialization.Encoding.PEM))
    return path


def encrypted(certificate: Path) -> ssl.SSLContext:
    """The server's side of an encrypted connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: Path) -> None:
    """Nothing is sent, and the error says what to do."""

    def wrap(http: socketserver.TCPServer) -> None:
        http.socket = encrypted(certificate).wrap_socket(http.socket, server_side=True)

    with playing(agreeing, wrap=wrap) as server, pytest.raises(BackendError) as error:
        judge_at(server.url.replace("http:", "https:"), api_key=KEY, retries=3).judge([task()])

    assert "its certificate is not trusted" in str(error.value)
    assert "SSL_CERT_FILE" in str(error.value)
    assert (server.seen, KEY in str(error.value)) == ([], False)


def test_a_certificate_that_is_trusted_is_accepted_for_its_names_only(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chain is not enough: the host must be the one that it names."""

    def wrap(http: socketserver.TCPServer) -> None:
        http.socket = encrypted(certificate).wrap_socket(http.socket, server_side=True)

    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with playing(agreeing, wrap=wrap) as server:
        url = server.url.replace("http:", "https:")
        assert judge_at(url, api_key=KEY).judge([task()])[0][0].supported
        with pytest.raises(BackendError, match="its certificate is not trusted"):
            judge_at(url.replace("127.0.0.1", "localhost")).judge([task()])

    assert len(server.seen) == 1


def test_https_to_a_port_that_speaks_http() -> None:
    """The error says that nothing encrypted is there."""
    with playing(agreeing) as server, pytest.raises(BackendError, match="no encrypted connection can be made"):
        judge_at(server.url.replace("http:", "https:")).judge([task()])


# proxies


class Proxy(BaseHTTPRequestHandler):
    """A proxy that answers itself: plainly, or at the end of the tunnel that it was asked for."""

    certificate: Path
    port: int
    status = 200
    seen: list[tuple[str, dict[str, str]]]

    def do_CONNECT(self) -> None:
        self.seen.append((f"CONNECT {self.path}", dict(self.headers.items())))
        self.send_response(self.status)
        self.end_headers()
        if self.status == 200:
            with encrypted(self.certificate).wrap_socket(self.connection, server_side=True) as inner:
                self.rfile, self.wfile = inner.makefile("rb"), inner.makefile("wb")
                self.raw_requestline = self.rfile.readline()
                self.parse_request()
                self.do_POST()
                self.wfile.flush()
                self.rfile.close()
        self.close_connection = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((f"POST {self.path}", dict(self.headers.items())))
        assert Seen(self.path, {}, body).document["claims"]
        answer = completion({"claims": [entry(1, "supported", 1, PASSAGE)]}).body
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def proxy(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Proxy]]:
    """A proxy that trusts its own certificate, and that the environment names with a login."""

    class Own(Proxy):
        seen: list[tuple[str, dict[str, str]]] = []  # noqa: RUF012  (of this test only)

    Own.certificate = certificate

    def wrap(http: socketserver.TCPServer) -> None:
        http.RequestHandlerClass = Own

    with playing(agreeing, wrap=wrap) as server:
        Own.port = server.port
        monkeypatch.setenv("ALL_PROXY", f"http://me:hidden@127.0.0.1:{server.port}")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        yield Own


def test_https_goes_through_a_tunnel(proxy: type[Proxy]) -> None:
    """The proxy gets its login and the name of the host; key and texts are for the endpoint only."""
    assert judge_at("https://judge.invalid/v1", api_key=KEY).judge([task()])[0][0].supported
    (asked, to_proxy), (posted, to_endpoint) = proxy.seen

    assert (asked, posted) == ("CONNECT judge.invalid:443", "POST /v1/chat/completions")
    assert (to_proxy["Host"], to_proxy["Proxy-Authorization"]) == ("judge.invalid:443", "Basic bWU6aGlkZGVu")
    assert KEY not in f"{to_proxy}"
    assert (to_endpoint["Authorization"], "Proxy-Authorization" in to_endpoint) == (f"Bearer {KEY}", False)


def test_http_is_asked_for_by_its_whole_address(proxy: type[Proxy]) -> None:
    """As a proxy wants it."""
    assert judge_at("http://judge.invalid:8000/v1").judge([task()])[0][0].supported
    ((posted, headers),) = proxy.seen

    assert posted == "POST http://judge.invalid:8000/v1/chat/completions"
    assert (headers["Host"], headers["Proxy-Authorization"]) == ("judge.invalid:8000", "Basic bWU6aGlkZGVu")


def test_a_proxy_that_refuses_is_an_error(proxy: type[Proxy]) -> None:
    """Without its login, and without a word of what was to be sent."""
    proxy.status = 407

    with pytest.raises(BackendError, match=r"judge\.invalid cannot be reached: the proxy answered 407") as error:
        judge_at("https://judge.invalid/v1", api_key=KEY).judge([task()])

    assert [secret in str(error.value) for secret in ("hidden", "bWU6aGlkZGVu", KEY)] == [False] * 3
    assert [what for what, _ in proxy.seen] == ["CONNECT judge.invalid:443"] * 2


def test_this_machine_is_never_asked_through_a_proxy(proxy: type[Proxy]) -> None:
    """A judge on loopback stays on loopback."""
    with playing(agreeing) as server:
        assert judge_at(server).judge([task()])[0][0].supported

    assert (len(server.seen), proxy.seen) == (1, [])


@pytest.mark.parametrize(
    ("variables", "url", "asked"),
    [
        pytest.param({"HTTPS_PROXY": "http://{proxy}"}, "https://judge.invalid", "CONNECT judge.invalid:443", id="for https"),
        pytest.param({"HTTPS_PROXY": "{proxy}"}, "https://judge.invalid", "CONNECT judge.invalid:443", id="without a scheme"),
        pytest.param({"HTTP_PROXY": "http://{proxy}"}, "https://judge.invalid", None, id="for http only"),
        pytest.param({"http_proxy": "http://{proxy}"}, "http://judge.invalid", "POST http://judge.invalid/chat/completions", id="for http"),
        pytest.param({"ALL_PROXY": "http://{proxy}"}, "https://judge.invalid", "CONNECT judge.invalid:443", id="for all"),
        pytest.param({"HTTPS_PROXY": "http://{proxy}", "NO_PROXY": "invalid"}, "https://judge.invalid", None, id="not for this domain"),
        pytest.param({"HTTPS_PROXY": "http://{proxy}", "NO_PROXY": "*"}, "https://judge.invalid", None, id="not at all"),
    ],
)  # fmt: skip
def test_the_proxy_is_the_one_that_the_environment_names(
    proxy: type[Proxy], monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], url: str, asked: str | None
) -> None:
    """For the schemes and hosts that the variables say, unless the judge is told to use none."""
    monkeypatch.delenv("ALL_PROXY")
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(proxy=f"127.0.0.1:{proxy.port}"))
    if asked is not None:
        assert judge_at(url).judge([task()])[0][0].supported
        assert proxy.seen[0][0] == asked
    proxy.seen.clear()

    with pytest.raises(BackendError, match=r"judge\.invalid cannot be reached: unknown host"):
        judge_at(url, use_proxy=asked is None, retries=0).judge([task()])

    assert proxy.seen == []


def test_a_login_is_sent_as_it_is_meant(proxy: type[Proxy], monkeypatch: pytest.MonkeyPatch) -> None:
    """Escapes in a password are taken back."""
    monkeypatch.setenv("ALL_PROXY", f"http://me:p%40ss@127.0.0.1:{proxy.port}")
    judge_at("https://judge.invalid").judge([task()])

    assert proxy.seen[0][1]["Proxy-Authorization"] == "Basic bWU6cEBzcw=="


@pytest.mark.parametrize(
    "address", ["socks5://me:secret@p.example:1", "ftp://me:secret@p.example", "http://p.example:x"]
)
def test_a_proxy_of_another_kind_is_refused_when_the_judge_is_made(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """By the names of the variables, without what may be secret in them."""
    monkeypatch.setenv("HTTPS_PROXY", address)

    with pytest.raises(InputError, match="HTTPS_PROXY, HTTP_PROXY or ALL_PROXY must be an address such as") as error:
        judge_at("https://api.example.com")

    assert "secret" not in str(error.value)


def test_certificates_that_cannot_be_read_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """When the judge is made, by the variable."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))

    with pytest.raises(InputError, match="SSL_CERT_FILE and SSL_CERT_DIR must name certificates"):
        judge_at("https://api.example.com")


# callers that wait


def test_a_judge_is_asked_where_an_event_loop_runs_already() -> None:
    """A synchronous call in the middle of asynchronous code."""

    async def inside() -> bool:
        return judge_at(server).judge([task()])[0][0].supported

    with playing(agreeing) as server:
        assert asyncio.run(inside())


def test_whoever_is_interrupted_leaves_no_work_behind() -> None:
    """What was begun is ended before the interruption goes on."""
    ended: list[str] = []

    async def work() -> None:
        try:
            asyncio.get_running_loop().call_soon(interrupt)
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        completed(work)

    assert ended == ["ended"]


# what is loaded


def test_verifying_without_a_judge_loads_no_http_client() -> None:
    """Neither httpx nor what it stands on."""
    code = (
        "import sys; from stillme import Guard; from stillme.judge import judge_from_environment;"
        "Guard().verify({'query': 'q', 'draft_answer': 'Gear is red.', 'retrieved_context': []});"
        "assert judge_from_environment(None, {}) is None;"
        "print([m for m in ('httpx', 'httpcore', 'anyio', 'h11', 'certifi') if m in sys.modules])"
    )

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_judge_without_httpx_is_a_friendly_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is made, with the extra that brings it."""
    monkeypatch.setitem(sys.modules, "httpx", None)
    named = {"STILLME_JUDGE_URL": "https://judge.example/v1", "STILLME_JUDGE_MODEL": "m"}

    with pytest.raises(BackendError, match=r"need the package httpx: .*'stillme\[judge\]'"):
        judge_from_environment(Unsure(), named)
