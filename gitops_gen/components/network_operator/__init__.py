"""The NVIDIA Network Operator as a component: chart, policy and secondary networks in one Application."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec

from gitops_gen.components.network_operator.fabric import FabricPool, fabric_pools
from gitops_gen.components.network_operator.health import health_checks
from gitops_gen.components.network_operator.networks import network_names, networks
from gitops_gen.components.network_operator.policy import attaches, policies
from gitops_gen.components.network_operator.rules import check
from gitops_gen.components.network_operator.settings import NetworkOperatorSettings
from gitops_gen.components.network_operator.values import chart_values
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import (
    Application,
    ClusterSpec,
    ComponentFacts,
    DirectorySource,
    HealthCheck,
    HelmSource,
    Json,
    NamespaceRequest,
    PoolResources,
    SecretRequest,
    Source,
    from_fact,
    from_spec,
)
from gitops_gen.traced import collect

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
        """Yield the RDMA resource of each fabric pool whose count per node is known."""
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
                )

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check fabrics, addresses, network drivers and who runs Node Feature Discovery."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Application `network-operator`."""
        part = spec.components[self.name]
        data = cast(Any, self.facts.data)
        chart = data["charts"][0]
        yield Application(
            name=chart["name"],
            component=self.name,
            stack=self.facts.stack,
            namespace=part.namespace,
            wave=_WAVE,
            sources=self._sources(spec, chart),
            namespaces=(_namespace(part.namespace, data["podSecurity"]),),
            secrets=tuple(_secrets(spec, part.namespace, cast(NetworkOperatorSettings, part.settings))),
            state={f"spec.components.{self.name}.namespace": part.namespace},
            notes=tuple(_notes(fabric_pools(spec, self.facts))),
            origins=(from_spec("components", self.name),),
        )

    def health_checks(self) -> Iterable[HealthCheck]:
        """Return the checks of the operator's kinds."""
        return health_checks()

    def _sources(self, spec: ClusterSpec, chart: Any) -> tuple[Source, ...]:
        part = spec.components[self.name]
        settings = cast(NetworkOperatorSettings, part.settings)
        pools = fabric_pools(spec, self.facts)
        helm = HelmSource(
            repo_url=chart["repository"],
            chart=chart["name"],
            version=part.version,
            release_name=chart["name"],
            values=collect(chart_values(spec, pools, self.facts)),
        )
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


def _namespace(name: str, security: Any) -> NamespaceRequest:
    return NamespaceRequest(
        name=name,
        labels={"pod-security.kubernetes.io/enforce": security["level"]},
        origins=(from_fact(f"network_operator/component.yaml: {security['source']}"),),
    )


def _secrets(spec: ClusterSpec, namespace: str, settings: NetworkOperatorSettings) -> Iterator[SecretRequest]:
    for name in spec.registry.pull_secrets:
        yield SecretRequest(
            namespace=namespace,
            name=name,
            keys=(".dockerconfigjson",),
            purpose="pulling images of the Network Operator",
            type="kubernetes.io/dockerconfigjson",
        )
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


def _notes(pools: Iterable[FabricPool]) -> Iterator[str]:
    for pool in pools:
        names = ", ".join(f"`{name}`" for name, _ in network_names(pool)) if attaches(pool) else ""
        ask = f"Pods that use the fabric of pool {pool.pool.name} ask for `{pool.full_resource}`"
        attach = f" and name a network in the annotation `k8s.v1.cni.cncf.io/networks`: {names}"
        yield f"{ask}{attach if names else ''}."


COMPONENT = NetworkOperator
