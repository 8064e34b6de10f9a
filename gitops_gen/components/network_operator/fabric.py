"""The node pools in, their network profiles and the resources that they share out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from gitops_gen.model import (
    ClusterSpec,
    ComponentFacts,
    Fabric,
    NodePool,
    Origin,
    from_spec,
)

Selectors = Mapping[str, tuple[str, ...]]
"""What tells the adapters of a fabric: each key must match, one of its values is enough."""


class FabricPool(msgspec.Struct, frozen=True, kw_only=True):
    """A pool with a fabric and the profile that follows from it.

    `kind` is the object that attaches pods, `plugin` what advertises `resource`, whose full name
    is `<prefix>/<resource>`. `index` is the pool's place in the spec.
    """

    index: int
    pool: NodePool
    fabric: Fabric
    kind: str
    plugin: str
    prefix: str
    resource: str
    selectors: Selectors

    @property
    def full_resource(self) -> str:
        """The resource as pods ask for it."""
        return f"{self.prefix}/{self.resource}"

    @property
    def adapters(self) -> int:
        """How many adapters a node has, 0 if the spec does not list them."""
        return len(self.fabric.interfaces) or len(self.fabric.pci_addresses)

    def origin(self, *below: str | int) -> Origin:
        """Where the spec says so, below the pool's fabric."""
        return from_spec("nodePools", self.index, "fabric", *below)


class SharedResource(msgspec.Struct, frozen=True, kw_only=True):
    """A resource that one device plugin advertises for one or more pools."""

    resource: str
    pools: tuple[FabricPool, ...]
    selectors: Selectors


def fabric_pools(spec: ClusterSpec, facts: ComponentFacts) -> tuple[FabricPool, ...]:
    """Return the pools that have a fabric, in the order of the spec."""
    profiles: Any = facts.data["profiles"]
    return tuple(
        _fabric_pool(index, pool, pool.fabric, profiles)
        for index, pool in enumerate(spec.node_pools)
        if pool.fabric is not None
    )


def _fabric_pool(index: int, pool: NodePool, fabric: Fabric, profiles: Any) -> FabricPool:
    profile = profiles[fabric.type][fabric.rdma]
    return FabricPool(
        index=index,
        pool=pool,
        fabric=fabric,
        kind=profile["network"],
        plugin=profile["plugin"],
        prefix=profile["prefix"],
        resource=fabric.resource_name or profile["resource"],
        selectors=_selectors(fabric, profiles[fabric.type]["linkType"]),
    )


def _selectors(fabric: Fabric, link_type: str) -> Selectors:
    """Names and addresses are exact; otherwise vendor, device and kind of link have to do."""
    exact = {"interfaces": fabric.interfaces, "pciAddresses": fabric.pci_addresses}
    named = {key: values for key, values in exact.items() if values}
    devices = {"deviceIds": fabric.device_ids} if fabric.device_ids else {}
    if named:
        return {**named, **devices}
    return {"vendorIds": fabric.vendor_ids, **devices, "linkTypes": (link_type,)}


def is_broad(selectors: Selectors) -> bool:
    """Say whether the selectors name no interface and no address."""
    return "interfaces" not in selectors and "pciAddresses" not in selectors


def shared_resources(pools: Iterable[FabricPool], plugin: str) -> tuple[SharedResource, ...]:
    """Join the pools of one plugin that advertise the same resource."""
    grouped: dict[str, list[FabricPool]] = {}
    for pool in pools:
        if pool.plugin == plugin:
            grouped.setdefault(pool.resource, []).append(pool)
    return tuple(
        SharedResource(resource=name, pools=tuple(group), selectors=_joined(group))
        for name, group in grouped.items()
    )


def joins(first: Selectors, second: Selectors) -> bool:
    """Say whether one set of selectors can stand for both: they differ in one key at most."""
    return first.keys() == second.keys() and sum(first[key] != second[key] for key in first) <= 1


def may_match_both(first: Selectors, second: Selectors) -> bool:
    """Say whether one adapter can match both sets of selectors."""
    common = first.keys() & second.keys()
    if any(not set(first[key]) & set(second[key]) for key in common):
        return False
    return bool(common) or is_broad(first) or is_broad(second)


def _joined(group: list[FabricPool]) -> Selectors:
    return {
        key: tuple(dict.fromkeys(value for pool in group for value in pool.selectors.get(key, ())))
        for key in group[0].selectors
    }
