"""Where a model server stands: an address that was checked, and a key that is never shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, urlsplit

from stillme.errors import InputError, shown
from stillme.llm.addresses import PORTS, is_loopback

__all__ = ["OPERATION", "Endpoint", "check_model"]

OPERATION: Final = "/chat/completions"
LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible address: `POST {url}`."""

    url: str
    """The whole address that is posted to."""
    host: str
    authority: str
    """Host and, where it is not the usual one, port."""
    api_key: str | None = field(default=None, repr=False)

    def at(self, operation: str) -> str:
        """The address of another operation of the same server."""
        return f"{self.url.removesuffix(OPERATION)}{operation}"

    @classmethod
    def of(cls, url: str, model: str, api_key: str | None, *, allow_insecure: bool) -> Endpoint:
        """The endpoint at an address, or an error that says what is wrong with it."""
        parts = _checked_url(url)
        host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
        check_model(model, host)
        if api_key is not None:
            _check_key(api_key)
            if parts.scheme == "http" and not is_loopback(host) and not allow_insecure:
                raise InputError(
                    f"http://{host} would send the api key unencrypted: use https, or allow_insecure=True where the network is yours"
                )
        name = f"[{host}]" if ":" in host else host
        authority = name if port == PORTS[parts.scheme] else f"{name}:{port}"
        return cls(f"{parts.scheme}://{authority}{parts.path.rstrip('/')}{OPERATION}", host, authority, api_key)


def check_model(model: object, server: str) -> None:
    """Nothing, if a model of the server can have that name."""
    if not isinstance(model, str) or not model.strip() or not model.isprintable() or len(model) > LONGEST_NAME:
        raise InputError(f"model must be the name of a model of {server}, got {shown(model)}")


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
