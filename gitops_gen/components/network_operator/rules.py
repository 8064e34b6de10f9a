"""A cluster spec in, what is wrong with its fabrics and their operator out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from gitops_gen.components.network_operator.address_rules import check_addresses
from gitops_gen.components.network_operator.driver_rules import check_drivers
from gitops_gen.components.network_operator.fabric import (
    FabricPool,
    fabric_pools,
    joins,
    may_match_both,
)
from gitops_gen.components.network_operator.findings import fabric_finding
from gitops_gen.components.network_operator.networks import network_names
from gitops_gen.components.network_operator.policy import attaches
from gitops_gen.components.network_operator.surroundings import check_surroundings
from gitops_gen.components.network_operator.values import owns_nfd
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.model import ClusterSpec, ComponentFacts

_OWN = ("spec", "components", "networkOperator")
_PLUGIN_RESOURCE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.]*)?[A-Za-z0-9]\Z")
_SRIOV_RESOURCE = re.compile(r"[A-Za-z0-9_]+\Z")
_GPU_PREFIX = "nvidia.com"
_OF_GPUS = re.compile(r"gpu(\.shared)?\Z|mig-")


def check(spec: ClusterSpec, facts: ComponentFacts) -> Iterator[Diagnostic]:
    """Yield every finding about the Network Operator that this tree installs."""
    if spec.rendered(facts.name) is None:
        return
    pools = fabric_pools(spec, facts)
    yield from _fabric_exists(pools)
    yield from _one_nfd(spec, facts)
    for pool in pools:
        yield from _adapters(pool)
        yield from _virtual_functions(pool, facts)
        yield from _resource_name(pool)
        yield from _unused(pool)
    yield from check_drivers(spec, pools, facts)
    yield from check_surroundings(spec, pools, facts)
    yield from _shared_plugins(pools)
    yield from _same_resource(pools)
    yield from _network_names(pools)
    yield from check_addresses(pools, sum(pool.nodes for pool in spec.node_pools))


def _fabric_exists(pools: Sequence[FabricPool]) -> Iterator[Diagnostic]:
    if not pools:
        yield Diagnostic(
            code="network-operator-without-fabric",
            severity=Severity.WARNING,
            message="networkOperator is on, but no node pool has a fabric: it will deploy nothing",
            path=_OWN,
            hint="describe the network under nodePools[].fabric, or switch networkOperator off",
            on_key=True,
        )


def _one_nfd(spec: ClusterSpec, facts: ComponentFacts) -> Iterator[Diagnostic]:
    nfd: Any = spec.components[facts.name].values.get("nfd")
    wanted = isinstance(nfd, Mapping) and nfd.get("enabled") is True
    if wanted and not owns_nfd(spec, facts):
        others = ("gpuOperator", "nodeFeatureDiscovery")
        owner = next((name for name in others if name in spec.components), "the distribution")
        yield Diagnostic(
            code="two-node-feature-discoveries",
            message=f"networkOperator.values switches Node Feature Discovery on, "
            f"but {owner} runs it already: two of them fight over CRDs and labels",
            path=(*_OWN, "values", "nfd", "enabled"),
            hint="remove nfd.enabled from networkOperator.values",
        )


def _adapters(pool: FabricPool) -> Iterator[Diagnostic]:
    fabric = pool.fabric
    if fabric.rdma == "sharedDevice" and fabric.network is not None and not fabric.interfaces:
        yield fabric_finding(
            pool,
            "fabric-needs-interfaces",
            f'pool "{pool.pool.name}" has a secondary network, but no interface that it sits on',
            "list the adapters' interfaces under fabric.interfaces, such as [ibp24s0]",
            "network",
            on_key=True,
        )
    if fabric.rdma == "sharedDevice" and fabric.pci_addresses:
        yield fabric_finding(
            pool,
            "fabric-pci-addresses-unusable",
            "the plugin for shared RDMA devices cannot select adapters by PCI address",
            "use fabric.interfaces or fabric.deviceIds instead",
            "pciAddresses",
            on_key=True,
        )
    if fabric.rdma != "sharedDevice" and not pool.adapters:
        yield fabric_finding(
            pool,
            "adapters-unknown",
            f"how many adapters a node of {pool.pool.name} has is not known, so {pool.full_resource} "
            "is left out of what its nodes advertise",
            "list the adapters under fabric.interfaces or fabric.pciAddresses",
            severity=Severity.NOTICE,
            on_key=True,
        )


def _virtual_functions(pool: FabricPool, facts: ComponentFacts) -> Iterator[Diagnostic]:
    fabric = pool.fabric
    if fabric.rdma != "sriov":
        return
    if fabric.num_vfs is None:
        yield fabric_finding(
            pool,
            "fabric-needs-num-vfs",
            f'pool "{pool.pool.name}" uses SR-IOV, but the number of virtual functions is not given',
            "add fabric.numVfs, such as 8",
            on_key=True,
        )
    limits: Any = facts.data["limits"]
    most = limits["infinibandVfs"]
    if fabric.type == "infiniband" and (fabric.num_vfs or 0) > most:
        yield fabric_finding(
            pool,
            "too-many-virtual-functions",
            f"{fabric.num_vfs} virtual functions on an InfiniBand adapter: "
            f"kernels are known to fail beyond {most}",
            f"keep fabric.numVfs at {most} or below",
            "numVfs",
            severity=Severity.WARNING,
        )
    if len(fabric.device_ids) > 1:
        yield fabric_finding(
            pool,
            "fabric-device-ids-ambiguous",
            f"SR-IOV selects adapters by one device id, this pool lists {len(fabric.device_ids)}",
            "leave fabric.deviceIds out and list fabric.interfaces, or split the pool",
            "deviceIds",
        )


def _resource_name(pool: FabricPool) -> Iterator[Diagnostic]:
    fabric = pool.fabric
    if pool.prefix == _GPU_PREFIX and _OF_GPUS.match(pool.resource):
        yield fabric_finding(
            pool,
            "resource-name-taken",
            f"{pool.full_resource} is what GPUs are asked for by, not adapters",
            "choose another fabric.resourceName, such as hostdev",
            "resourceName",
        )
    allowed = {"hostDevice": _PLUGIN_RESOURCE, "sriov": _SRIOV_RESOURCE}.get(fabric.rdma)
    if fabric.resource_name and allowed and not allowed.match(fabric.resource_name):
        yield fabric_finding(
            pool,
            "resource-name-unusable",
            f'"{fabric.resource_name}" is no resource name for {fabric.rdma}',
            "use letters, digits and underscores",
            "resourceName",
        )


def _unused(pool: FabricPool) -> Iterator[Diagnostic]:
    fabric = pool.fabric
    settings = {
        "numVfs": (
            fabric.num_vfs,
            fabric.rdma == "sriov",
            "only SR-IOV has virtual functions",
        ),
        "mtu": (
            fabric.mtu,
            fabric.rdma == "sriov" or pool.kind == "MacvlanNetwork",
            f"{pool.kind} has no such setting",
        ),
    }
    for key, (value, used, reason) in settings.items():
        if value is not None and not used:
            yield fabric_finding(
                pool,
                "fabric-setting-unused",
                f"fabric.{key} has no effect on this pool: {reason}",
                f"remove fabric.{key}",
                key,
                severity=Severity.WARNING,
                on_key=True,
            )


def _shared_plugins(pools: Sequence[FabricPool]) -> Iterator[Diagnostic]:
    """The plugins' configuration is one for the whole cluster."""
    clusterwide = [pool for pool in pools if pool.fabric.rdma != "sriov"]
    for first, second in combinations(clusterwide, 2):
        if first.full_resource == second.full_resource:
            if not joins(first.selectors, second.selectors):
                yield _resource_conflict(first, second)
        elif may_match_both(first.selectors, second.selectors):
            yield _overlap(first, second)


def _same_resource(pools: Sequence[FabricPool]) -> Iterator[Diagnostic]:
    """Two device plugins that advertise one resource take it from each other."""
    for first, second in combinations(pools, 2):
        if first.full_resource == second.full_resource and first.plugin != second.plugin:
            yield fabric_finding(
                second,
                "fabric-resource-conflict",
                f'pools "{first.pool.name}" ({first.fabric.rdma}) and "{second.pool.name}" '
                f"({second.fabric.rdma}) share {second.full_resource}, "
                "which two different device plugins would advertise",
                "give one of them a fabric.resourceName of its own",
                on_key=True,
            )


def _network_names(pools: Sequence[FabricPool]) -> Iterator[Diagnostic]:
    """All networks become NetworkAttachmentDefinitions of one namespace."""
    seen: dict[str, tuple[FabricPool, str | None]] = {}
    for pool in pools:
        for name, interface in network_names(pool) if attaches(pool) else ():
            if name in seen:
                other, theirs = seen[name]
                yield fabric_finding(
                    pool,
                    "network-name-collision",
                    f"the networks of pool {pool.pool.name} ({interface or 'all adapters'}) and pool "
                    f'{other.pool.name} ({theirs or "all adapters"}) would both be called "{name}"',
                    "rename one of the pools or interfaces",
                    on_key=True,
                )
            seen.setdefault(name, (pool, interface))


def _resource_conflict(first: FabricPool, second: FabricPool) -> Diagnostic:
    return fabric_finding(
        second,
        "fabric-resource-conflict",
        f'pools "{first.pool.name}" and "{second.pool.name}" share {second.full_resource}, '
        "but select its adapters in different ways, and there is one configuration for all nodes",
        "select the adapters of both in the same way, or give one a fabric.resourceName of its own",
        on_key=True,
    )


def _overlap(first: FabricPool, second: FabricPool) -> Diagnostic:
    return fabric_finding(
        second,
        "fabric-selectors-overlap",
        f'pools "{first.pool.name}" ({first.full_resource}) and "{second.pool.name}" '
        f"({second.full_resource}) may select the same adapter: every node would advertise both",
        "tell the adapters apart by fabric.interfaces or fabric.deviceIds, or use one resourceName",
        on_key=True,
    )
