"""The NVIDIA Network Operator as a component: chart, policy and secondary networks in one Application."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

from gitops_gen.components.network_operator.fabric import FabricPool, fabric_pools
from gitops_gen.components.network_operator.health import health_checks
from gitops_gen.components.network_operator.networks import network_names, networks
from gitops_gen.components.network_operator.policy import attaches, operator_ofed, policies
from gitops_gen.components.network_operator.rules import check
from gitops_gen.components.network_operator.settings import NetworkOperatorSettings, Ofed
from gitops_gen.components.network_operator.values import chart_values
from gitops_gen.components.parts import main_chart, pull_secrets
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import (
    Application,
    ClusterSpec,
    ComponentFacts,
    DirectorySource,
    HealthCheck,
    Json,
    NamespaceRequest,
    PoolResources,
    SecretRequest,
    Setting,
    Source,
    from_fact,
    from_spec,
)
from gitops_gen.traced import collect, put

_WAVE = 0


class NetworkOperator(msgspec.Struct, frozen=True):
    """Installs the Network Operator and what follows from the fabric of the pools."""

    facts: ComponentFacts

    @property
    def name(self) -> str:
        """The component's name in the spec."""
        return self.facts.name

    def build(self, data: Mapping[str, Json]) -> NetworkOperatorSettings:
        """Return the typed settings."""
        return msgspec.convert(data, NetworkOperatorSettings)

    def advertise(self, spec: ClusterSpec) -> Iterator[PoolResources]:
        """Yield the RDMA resource of each fabric pool whose count per node is known.

        A pod that takes a whole node asks for one share of shared devices, else for every device,
        and joins the pool's networks: once, or once per device.
        """
        settings = cast(NetworkOperatorSettings, spec.components[self.name].settings)
        for pool in fabric_pools(spec, self.facts):
            count = _per_node(pool, settings)
            if count:
                yield PoolResources(
                    pool=pool.pool.name,
                    nodes=pool.pool.nodes,
                    use=pool.pool.use,
                    resources={pool.full_resource: count},
                    labels={},
                    whole_node={pool.full_resource: _whole_node(pool, count)},
                    networks=_networks(pool, settings, _whole_node(pool, count)),
                )

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check fabrics, addresses, network drivers and who runs Node Feature Discovery."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Application `network-operator`."""
        part = spec.components[self.name]
        data = cast(Any, self.facts.data)
        yield Application(
            name=data["charts"][0]["name"],
            component=self.name,
            stack=self.facts.stack,
            namespace=part.namespace,
            wave=_WAVE,
            sources=self._sources(spec),
            namespaces=(_namespace(spec, part.namespace, data),),
            secrets=tuple(_secrets(spec, part.namespace, cast(NetworkOperatorSettings, part.settings))),
            state={f"spec.components.{self.name}.namespace": part.namespace},
            notes=tuple(
                _notes(spec, fabric_pools(spec, self.facts), cast(NetworkOperatorSettings, part.settings))
            ),
            origins=(from_spec("components", self.name),),
        )

    def health_checks(self) -> Iterable[HealthCheck]:
        """Return the checks of the operator's kinds."""
        return health_checks()

    def _sources(self, spec: ClusterSpec) -> tuple[Source, ...]:
        part = spec.components[self.name]
        settings = cast(NetworkOperatorSettings, part.settings)
        pools = fabric_pools(spec, self.facts)
        helm = main_chart(self.facts, part, chart_values(spec, settings, pools, self.facts))
        manifests = (
            *policies(spec, settings, pools, self.facts),
            *networks(spec, settings, pools, self.facts),
        )
        return (helm, DirectorySource(manifests=manifests)) if manifests else (helm,)


def _per_node(pool: FabricPool, settings: NetworkOperatorSettings) -> int:
    """Return how many of the resource one node advertises, 0 if that is not known."""
    if pool.fabric.rdma == "sharedDevice":
        return settings.rdma_hca_max
    if pool.fabric.rdma == "hostDevice":
        return pool.adapters
    return pool.adapters * (pool.fabric.num_vfs or 0)


def _whole_node(pool: FabricPool, per_node: int) -> int:
    return 1 if pool.fabric.rdma == "sharedDevice" else per_node


def _networks(pool: FabricPool, settings: NetworkOperatorSettings, devices: int) -> tuple[str, ...]:
    if not attaches(pool):
        return ()
    names = tuple(f"{settings.network_namespace}/{name}" for name, _ in network_names(pool))
    return names * devices


def _namespace(spec: ClusterSpec, name: str, data: Any) -> NamespaceRequest:
    security, quota = data["podSecurity"], data["quota"]
    critical = spec.kubernetes.distribution in quota["distributions"]
    return NamespaceRequest(
        name=name,
        labels={"pod-security.kubernetes.io/enforce": security["level"]},
        quotas=(collect(_quota(name, quota)),) if critical else (),
        origins=(from_fact(f"network_operator/component.yaml: {security['source']}"),),
    )


def _quota(namespace: str, data: Any) -> Iterator[Setting]:
    why = (
        from_spec("kubernetes", "distribution"),
        from_fact(f"network_operator/component.yaml: quota ({data['source']})"),
    )
    scope: Json = {"scopeName": "PriorityClass", "operator": "In", "values": [*data["priorityClasses"]]}
    yield put("apiVersion", "v1", *why)
    yield put("kind", "ResourceQuota", *why)
    yield put("metadata.name", data["name"], *why)
    yield put("metadata.namespace", namespace, from_spec("components", "networkOperator", "namespace"))
    yield put("spec.hard.pods", data["pods"], *why)
    yield put("spec.scopeSelector.matchExpressions[]", scope, *why)


def _secrets(spec: ClusterSpec, namespace: str, settings: NetworkOperatorSettings) -> Iterator[SecretRequest]:
    yield from pull_secrets(spec, namespace, "the Network Operator")
    config_maps = {
        spec.proxy.ca_config_map: "certificates for the network driver's container",
        settings.ofed.repo_config: "package repositories for the network driver's container",
    }
    for config_map, purpose in config_maps.items():
        if config_map:
            yield SecretRequest(
                namespace=namespace,
                name=config_map,
                keys=(),
                purpose=purpose,
                kind="ConfigMap",
            )


def _notes(
    spec: ClusterSpec, pools: Sequence[FabricPool], settings: NetworkOperatorSettings
) -> Iterator[str]:
    for pool in pools:
        names = ", ".join(f"`{name}`" for name, _ in network_names(pool)) if attaches(pool) else ""
        ask = f"Pods that use the fabric of pool {pool.pool.name} ask for `{pool.full_resource}`"
        attach = f" and name a network in the annotation `k8s.v1.cni.cncf.io/networks`: {names}"
        yield f"{ask}{attach if names else ''}."
    if settings.network_namespace != "default" and any(attaches(pool) for pool in pools):
        yield (
            f"The networks are for pods in the namespace `{settings.network_namespace}`, which must exist."
        )
    if any(pool.fabric.rdma == "sriov" for pool in pools):
        yield (
            "The SR-IOV operator drains nodes, and may restart them, when the number of virtual functions "
            "or their settings change: merge such a change when the jobs on these pools may end."
        )
    if operator_ofed(pools):
        yield _upgrade_note(settings.ofed)


def _upgrade_note(ofed: Ofed) -> str:
    if not ofed.auto_upgrade:
        return (
            "A new network driver comes with a new version of the Network Operator, but stays out until "
            "its pods (`-l nvidia.com/ofed-driver`) are deleted, node by node, after a drain."
        )
    many = {0: "all nodes at once", 1: "one node at a time"}.get(
        ofed.max_parallel_upgrades, f"{ofed.max_parallel_upgrades} nodes at a time"
    )
    drained = "each drained first" if ofed.drain else "none of them drained: pods lose their adapters"
    kept = "" if ofed.drain_force or not ofed.drain else "; a pod without a controller stops it on its node"
    return (
        f"A new version of the Network Operator brings a new network driver to {many}, {drained}{kept}. "
        "`kubectl get nodes -L nvidia.com/ofed-driver-upgrade-state` shows how far it is."
    )


COMPONENT = NetworkOperator
