"""Fabric pools in, the address pools and secondary networks that pods attach to out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from gitops_gen.components.network_operator.addresses import read_range
from gitops_gen.components.network_operator.fabric import FabricPool
from gitops_gen.components.network_operator.objects import header, node_term
from gitops_gen.components.network_operator.policy import attaches
from gitops_gen.components.network_operator.settings import NetworkOperatorSettings
from gitops_gen.model import (
    ClusterSpec,
    ComponentFacts,
    FabricNetwork,
    Json,
    Manifest,
    Setting,
    from_fact,
    from_rule,
    from_spec,
)
from gitops_gen.traced import collect, put

_OWN = ("components", "networkOperator")
_NAMESPACED = ("IPPool", "SriovNetworkNodePolicy", "SriovNetwork", "SriovIBNetwork")


def networks(
    spec: ClusterSpec,
    settings: NetworkOperatorSettings,
    pools: Sequence[FabricPool],
    facts: ComponentFacts,
) -> Iterator[Manifest]:
    """Yield the objects of each pool: its functions, its addresses and its networks."""
    namespace = spec.components[facts.name].namespace
    for pool in pools:
        if pool.fabric.rdma == "sriov":
            label: Any = facts.data["adapterLabel"]
            yield _manifest(_node_policy(pool, namespace, label["nodeSelector"]))
        if pool.fabric.network is not None:
            yield _manifest(_ip_pool(pool, pool.fabric.network, namespace))
        if attaches(pool):
            for name, master in network_names(pool):
                yield _manifest(_network(pool, name, master, namespace, settings))


def network_names(pool: FabricPool) -> tuple[tuple[str, str | None], ...]:
    """Return the name and the interface of each network of the pool.

    A macvlan or IPoIB network sits on one interface; the others attach whole devices.
    """
    if pool.kind not in ("MacvlanNetwork", "IPoIBNetwork"):
        return ((pool.pool.name, None),)
    if len(pool.fabric.interfaces) == 1:
        return ((pool.pool.name, pool.fabric.interfaces[0]),)
    return tuple((f"{pool.pool.name}-{_label(interface)}", interface) for interface in pool.fabric.interfaces)


def _manifest(settings: Iterator[Setting]) -> Manifest:
    document = collect(settings)
    return Manifest(object=document, cluster_scoped=document.data["kind"] not in _NAMESPACED)


def _node_policy(pool: FabricPool, namespace: str, fallback: dict[str, str]) -> Iterator[Setting]:
    fabric = pool.fabric
    kind, name = "SriovNetworkNodePolicy", pool.pool.name
    yield from header(kind, name, 1, pool.origin("rdma"), namespace=namespace)
    yield put("spec.resourceName", pool.resource, pool.origin("resourceName"))
    yield from _node_selector(pool, fallback)
    yield from _nic_selector(pool)
    yield put("spec.numVfs", fabric.num_vfs, pool.origin("numVfs"))
    yield put("spec.isRdma", True, pool.origin("rdma"))
    yield put("spec.deviceType", "netdevice", pool.origin("rdma"))
    link_type = "IB" if fabric.type == "infiniband" else "ETH"
    yield put("spec.linkType", link_type, pool.origin("type"))
    if fabric.mtu is not None:
        yield put("spec.mtu", fabric.mtu, pool.origin("mtu"))


def _node_selector(pool: FabricPool, fallback: dict[str, str]) -> Iterator[Setting]:
    if pool.pool.node_selector:
        chosen: Json = dict(pool.pool.node_selector)
        yield put(
            "spec.nodeSelector",
            chosen,
            from_spec("nodePools", pool.index, "nodeSelector"),
        )
    else:
        known: Json = dict(fallback)
        fact = from_fact("network_operator/component.yaml: label of nodes with such adapters")
        yield put("spec.nodeSelector", known, fact)


def _nic_selector(pool: FabricPool) -> Iterator[Setting]:
    fabric, at = pool.fabric, "spec.nicSelector"
    if fabric.interfaces:
        yield put(f"{at}.pfNames", list(fabric.interfaces), pool.origin("interfaces"))
    if fabric.pci_addresses:
        yield put(f"{at}.rootDevices", list(fabric.pci_addresses), pool.origin("pciAddresses"))
    if fabric.device_ids:
        yield put(f"{at}.deviceID", fabric.device_ids[0], pool.origin("deviceIds", 0))
    if not pool.adapters:
        yield put(f"{at}.vendor", fabric.vendor_ids[0], pool.origin("vendorIds", 0))


def _ip_pool(pool: FabricPool, network: FabricNetwork, namespace: str) -> Iterator[Setting]:
    yield from header("IPPool", pool.pool.name, 2, pool.origin("network"), namespace=namespace)
    yield put("spec.subnet", network.subnet, pool.origin("network", "subnet"))
    size = pool.origin("network", "perNodeBlockSize")
    yield put("spec.perNodeBlockSize", network.per_node_block_size, size)
    if network.gateway is not None:
        yield put("spec.gateway", network.gateway, pool.origin("network", "gateway"))
    for place, text in enumerate(network.exclude):
        start, end = read_range(text)
        excluded: Json = {"startIP": str(start), "endIP": str(end)}
        yield put("spec.exclusions[]", excluded, pool.origin("network", "exclude", place))
    if pool.pool.node_selector:
        selector = from_spec("nodePools", pool.index, "nodeSelector")
        yield put("spec.nodeSelector.nodeSelectorTerms[]", node_term(pool), selector)


def _network(
    pool: FabricPool,
    name: str,
    master: str | None,
    namespace: str,
    settings: NetworkOperatorSettings,
) -> Iterator[Setting]:
    fabric = pool.fabric
    place = namespace if pool.kind in _NAMESPACED else None
    because = (pool.origin("type"), pool.origin("rdma"))
    yield from header(pool.kind, name, 3, *because, namespace=place)
    target = from_spec(*_OWN, "networkNamespace")
    yield put("spec.networkNamespace", settings.network_namespace, target)
    if master is not None:
        index = fabric.interfaces.index(master)
        yield put("spec.master", master, pool.origin("interfaces", index))
    else:
        yield put("spec.resourceName", pool.resource, pool.origin("resourceName"))
    if pool.kind == "MacvlanNetwork":
        yield put("spec.mode", "bridge", pool.origin("type"))
        if fabric.mtu is not None:
            yield put("spec.mtu", fabric.mtu, pool.origin("mtu"))
    if pool.kind == "SriovNetwork":
        yield put("spec.logLevel", "info", from_rule("written out, as the API server defaults it"))
    if pool.kind == "SriovIBNetwork":
        # Without it a virtual function of an InfiniBand adapter may stay down.
        yield put("spec.linkState", "enable", pool.origin("type"))
    if fabric.network is not None:
        yield put("spec.ipam", _ipam(pool.pool.name), pool.origin("network"))


def _ipam(pool: str) -> str:
    return json.dumps({"type": "nv-ipam", "poolName": pool}, indent=2) + "\n"


def _label(interface: str) -> str:
    return re.sub(r"[^a-z0-9-]", "-", interface.lower())
