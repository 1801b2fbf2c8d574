"""The address that a request came from, by which wrong tokens are counted."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

NOWHERE = "unknown"


def address_of(peer: str | None, forwarded: Sequence[str], *, proxy: bool) -> str:
    """Who sent a request: the peer, or what the proxy before us says.

    A client may send `X-Forwarded-For` too, and a proxy adds to it at the end: only the last address is the proxy's word.
    Of an IPv6 address the network counts, since whoever has one address there has 2^64.

    Args:
        peer: the other end of the connection.
        forwarded: the values of X-Forwarded-For, in their order.
        proxy: whether there is a proxy, and it alone can reach us.
    """
    last = forwarded[-1].rpartition(",")[2].strip() if proxy and forwarded else ""
    return _read(last) or _read(peer or "") or NOWHERE


def _read(text: str) -> str:
    host = text.removeprefix("[").partition("]")[0] if text.startswith("[") else text
    host = host.partition(":")[0] if host.count(":") == 1 else host  # with a port
    try:
        found = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((int(found) >> 64 << 64, 64)))
    return str(found)
