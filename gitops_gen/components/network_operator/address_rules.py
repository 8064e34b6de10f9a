"""Fabric pools in, what is wrong with the addresses of their networks out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from itertools import combinations

from gitops_gen.components.network_operator.addresses import (
    Network,
    blocks,
    enclosing_network,
    read_network,
    read_range,
)
from gitops_gen.components.network_operator.fabric import FabricPool
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import FabricNetwork


def check_addresses(pools: Sequence[FabricPool], nodes: int) -> Iterator[Diagnostic]:
    """Yield every fault in subnets, blocks, gateways and exclusions; `nodes` are those of the cluster."""
    sound: list[tuple[FabricPool, Network]] = []
    for pool in pools:
        addresses = pool.fabric.network
        if addresses is None:
            continue
        try:
            network = read_network(addresses.subnet)
        except ValueError:
            yield _not_a_network(pool, addresses)
            continue
        sound.append((pool, network))
        yield from _size(pool, addresses, network, nodes)
        yield from _gateway(pool, addresses, network)
        yield from _exclusions(pool, addresses, network)
    yield from _overlaps(sound)


def _not_a_network(pool: FabricPool, addresses: FabricNetwork) -> Diagnostic:
    try:
        hint = f'did you mean "{enclosing_network(addresses.subnet)}"?'
    except ValueError:
        hint = "write it as an address and a prefix length, such as 192.168.100.0/22"
    return _of(
        pool,
        "subnet-not-a-network",
        f'"{addresses.subnet}" is no network',
        hint,
        "subnet",
    )


def _size(pool: FabricPool, addresses: FabricNetwork, network: Network, every: int) -> Iterator[Diagnostic]:
    """Without a nodeSelector the IPAM gives a block to every node of the cluster."""
    size, chosen = addresses.per_node_block_size, bool(pool.pool.node_selector)
    nodes = pool.pool.nodes if chosen else every
    room = blocks(network, size)
    if room < nodes:
        whose = (
            f"pool {pool.pool.name} has" if chosen else "without a nodeSelector all nodes get one, these are"
        )
        yield _of(
            pool,
            "ip-pool-too-small",
            f'"{addresses.subnet}" has room for {room} blocks of {size} addresses, {whose} {nodes} nodes',
            "choose a larger subnet or a smaller perNodeBlockSize",
            "subnet",
        )


def _gateway(pool: FabricPool, addresses: FabricNetwork, network: Network) -> Iterator[Diagnostic]:
    if addresses.gateway is None:
        return
    try:
        inside = ip_address(addresses.gateway) in network
    except ValueError:
        inside = False
    if not inside:
        yield _of(
            pool,
            "gateway-outside-subnet",
            f'gateway "{addresses.gateway}" is no address of {addresses.subnet}',
            "use an address of the subnet, or leave the gateway out",
            "gateway",
        )


def _exclusions(pool: FabricPool, addresses: FabricNetwork, network: Network) -> Iterator[Diagnostic]:
    for place, text in enumerate(addresses.exclude):
        try:
            inside = all(address in network for address in read_range(text))
        except ValueError:
            inside = False
        if not inside:
            yield _of(
                pool,
                "exclusion-outside-subnet",
                f'"{text}" is no address or range of {addresses.subnet}',
                f"write one address of the subnet, a range such as {_example(network)}, "
                "or a network inside it",
                "exclude",
                place,
            )


def _example(network: Network) -> str:
    """Return a range that lies in the network, however small it is."""
    return f"{network[min(1, network.num_addresses - 1)]}-{network[max(-2, -network.num_addresses)]}"


def _overlaps(pools: Sequence[tuple[FabricPool, Network]]) -> Iterator[Diagnostic]:
    for (first, one), (second, other) in combinations(pools, 2):
        if one.version == other.version and one.overlaps(other):
            yield _of(
                second,
                "ip-pools-overlap",
                f'"{other}" of pool {second.pool.name} overlaps "{one}" of pool {first.pool.name}: '
                "addresses would be given twice",
                "give each pool a subnet of its own",
                "subnet",
            )


def _of(pool: FabricPool, code: str, message: str, hint: str, *below: str | int) -> Diagnostic:
    path = ("spec", "nodePools", pool.index, "fabric", "network", *below)
    return Diagnostic(code=code, message=message, path=path, hint=hint)
