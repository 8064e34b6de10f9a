"""The addresses of a fabric in, what the IP pool holds and excludes out."""

from __future__ import annotations

from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

_POINT_TO_POINT = 2
_NOT_GIVEN = {4: 2, 6: 1}


def read_network(text: str) -> Network:
    """Read a subnet; ValueError if it is none or names a host in it."""
    return ip_network(text)


def enclosing_network(text: str) -> Network:
    """Return the network that a host address with a prefix lies in."""
    return ip_network(text, strict=False)


def blocks(network: Network, size: int) -> int:
    """Return how many blocks of `size` addresses the pool can give to nodes.

    The IPAM leaves out the first address and, with IPv4, the last one, save in the smallest networks.
    """
    total = network.num_addresses
    usable = total if total <= _POINT_TO_POINT else total - _NOT_GIVEN[network.version]
    return usable // size


def read_range(text: str) -> tuple[Address, Address]:
    """Read `first-last`, one address, or a network; ValueError if it is none of them."""
    if "/" in text:
        network = read_network(text)
        return network[0], network[-1]
    first, _, last = text.partition("-")
    start, end = ip_address(first.strip()), ip_address((last or first).strip())
    if start.version != end.version or int(start) > int(end):
        raise ValueError(f"not a range: {text}")
    return start, end
