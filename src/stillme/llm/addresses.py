"""Addresses of model servers that a caller names: only public ones, and the connection goes to the address that was checked.

A name is looked up once, every address it has must be public, and one of those is connected to, under the name that was asked for:
the Host header and the TLS certificate are the name's, and a second look-up that answers differently (DNS rebinding) never happens.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from types import TracebackType
from typing import TYPE_CHECKING, Final

from stillme.errors import InputError

if TYPE_CHECKING:
    import httpx

__all__ = ["PinnedTransport", "Resolve", "is_loopback", "is_public", "resolved"]

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host, as text."""

# Kept here rather than asked of the standard library, whose answers differ from version to version.
NOT_PUBLIC_4: Final = tuple(
    ip_network(net)
    for net in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "168.63.129.16/32",  # a public address that answers only inside one vendor's machines, with what those may know
    )
)  # fmt: skip
UNICAST_6: Final = ip_network("2000::/3")
# Tunnels and translations (Teredo, 6to4, NAT64) hide an IPv4 address; the others are for documents, tests and routers.
NOT_PUBLIC_6: Final = tuple(
    ip_network(net) for net in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)
# ISATAP: an interface id that holds an IPv4 address, under any prefix.
ISATAP: Final = (0x00005EFE, 0x02005EFE)
MOST_TRIED: Final = 4
PORTS: Final = {"http": 80, "https": 443}


def is_public(address: str) -> bool:
    """Whether an address belongs to a machine on the public Internet, and says so itself; in doubt it does not."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv4Address):
        return not any(parsed in net for net in NOT_PUBLIC_4)
    return _is_public_6(parsed)


def _is_public_6(address: IPv6Address) -> bool:
    if address.scope_id is not None or address not in UNICAST_6 or any(address in net for net in NOT_PUBLIC_6):
        return False
    return int(address) >> 32 & 0xFFFFFFFF not in ISATAP


def is_loopback(host: str) -> bool:
    """Whether a host, as an address of a model server names it, is this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


async def resolved(host: str, port: int) -> Sequence[str]:
    """The addresses of a host, as the system looks them up."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(where[0]) for *_, where in found]


class PinnedTransport:
    """A transport of httpx that connects to allowed addresses only, each found by one look-up; `inner` makes the connections.

    `inner` must have no proxy and keep no connection: one that was verified for a name must not serve another at its address.
    """

    def __init__(
        self, inner: httpx.AsyncBaseTransport, resolve: Resolve = resolved, allowed: Callable[[str], bool] = is_public
    ) -> None:
        self._inner = inner
        self._resolve = resolve
        self._allowed = allowed

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The response of the host that a request names, from an address that was checked."""
        import httpx  # noqa: PLC0415  (an extra)

        addresses = await self._checked(request)
        for address in addresses[:-1]:
            try:
                return await self._inner.handle_async_request(_at(request, address))
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._inner.handle_async_request(_at(request, addresses[-1]))

    async def _checked(self, request: httpx.Request) -> Sequence[str]:
        """The addresses of the host, if every one of them is allowed; a host that has none is refused in the same words."""
        import httpx  # noqa: PLC0415  (an extra)

        host, port = request.url.host, request.url.port or PORTS[request.url.scheme]
        wait_s = (request.extensions.get("timeout") or {}).get("connect")
        try:
            async with asyncio.timeout(wait_s):
                found = await self._resolve(host, port)
        except TimeoutError:
            raise httpx.ConnectTimeout("the host name was not resolved in time", request=request) from None
        except (OSError, UnicodeError):
            found = ()
        if not found or not all(map(self._allowed, found)):
            raise InputError(
                "url must name a host on the public Internet: this one has no address, or one that is not public"
            )
        return list(dict.fromkeys(found))[:MOST_TRIED]

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> PinnedTransport:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _at(request: httpx.Request, address: str) -> httpx.Request:
    """The request, sent to an address under the name it was made for: Host header and certificate stay the name's."""
    import httpx  # noqa: PLC0415  (an extra)

    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )
