"""Where the judge stands: an address that was checked, and a key that is never shown."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from stillme.errors import InputError, shown

__all__ = ["Endpoint", "Proxy"]

PORTS: Final = {"http": 80, "https": 443}
OPERATION: Final = "/chat/completions"
LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy that stands between, as the environment names it."""

    host: str
    port: int
    authorization: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible address: `POST {url}/chat/completions`."""

    scheme: str
    host: str
    port: int
    path: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    proxy: Proxy | None = None

    @classmethod
    def of(cls, url: str, model: str, api_key: str | None, *, allow_insecure: bool, use_proxy: bool) -> Endpoint:
        """The endpoint at an address, or an error that says what is wrong with it."""
        parts = _checked_url(url)
        host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
        if not isinstance(model, str) or not model.strip() or not model.isprintable() or len(model) > LONGEST_NAME:
            raise InputError(f"model must be the name of a model at {host}, got {shown(model)}")
        if api_key is not None:
            _check_key(api_key)
            if parts.scheme == "http" and not _is_loopback(host) and not allow_insecure:
                raise InputError(
                    f"http://{host} would send the api key unencrypted: use https, or allow_insecure=True where the network is yours"
                )
        proxy = _proxy(parts.scheme, host, port) if use_proxy else None
        return cls(parts.scheme, host, port, parts.path.rstrip("/") + OPERATION, model, api_key, proxy)

    @property
    def authority(self) -> str:
        """Host and, where it is not the usual one, port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole address that is posted to."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def name(self) -> str:
        """How errors speak of it."""
        return f"the judge at {self.authority}"


def _checked_url(url: object) -> SplitResult:
    """The parts of an http or https address without credentials, query or fragment; its text is not repeated in an error."""
    if not isinstance(url, str) or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise InputError("url must be an address such as 'https://api.example.com/v1', in ASCII and without blanks")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InputError("url must be an address such as 'https://api.example.com/v1': host or port is wrong") from None
    if parts.scheme not in PORTS:
        raise InputError(f"url must begin with http:// or https://, got {shown(parts.scheme)}")
    if "@" in parts.netloc:
        raise InputError("url must not hold a user name or password: give the key as api_key")
    if not parts.hostname or port == 0 or "%" in parts.netloc:
        raise InputError("url must name a host and, if at all, a port from 1 to 65535")
    if "?" in url or "#" in url:
        raise InputError(f"url must have no query and no fragment: give the address before {OPERATION}")
    if parts.path.rstrip("/").endswith(OPERATION):
        raise InputError(f"url must be given without {OPERATION}, which is added")
    return parts


def _check_key(key: object) -> None:
    """A key that fits into a header; whatever is wrong with it, it is not repeated."""
    if not isinstance(key, str) or not key or not key.isascii() or not key.isprintable() or " " in key:
        raise InputError("api_key must be printable ASCII without blanks or line ends")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _proxy(scheme: str, host: str, port: int) -> Proxy | None:
    """The proxy that HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names, unless NO_PROXY or a loopback address rules it out."""
    named = getproxies_environment()
    address = named.get(scheme) or named.get("all")
    if not address or _is_loopback(host) or proxy_bypass(f"{host}:{port}", named):
        return None
    variable = f"{scheme if named.get(scheme) else 'all'}_proxy".upper()
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        proxy_port = parts.port or PORTS["http"]
    except ValueError:
        parts, proxy_port = SplitResult("", "", "", "", ""), 0
    if parts.scheme != "http" or not parts.hostname:
        raise InputError(f"{variable} must be an address such as 'http://proxy.example:3128', or use_proxy=False")
    login = None
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        login = "Basic " + base64.b64encode(pair.encode()).decode("ascii")
    return Proxy(parts.hostname, proxy_port, login)
