"""A worker group and its node pool in, the size of one worker out: processors, memory, devices, hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import msgspec

from gitops_gen.components.kuberay.settings import Cluster, KuberaySettings, Scaling, WorkerGroup
from gitops_gen.diagnostics import Path
from gitops_gen.model import ClusterSpec, NodePool, PoolResources
from gitops_gen.pools import allocatable_cores, allocatable_memory


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """A worker group on its pool; `at` is its place below `spec`, `pool_index` that of the pool.

    `offers` are the accelerators of one node that pods can ask for, by resource; `whole_node` and
    `networks` what the pool's fabric adds for a pod that takes a whole node.
    """

    cluster: Cluster
    group: WorkerGroup
    pool: NodePool
    pool_index: int
    at: Path
    offers: Mapping[str, int]
    whole_node: Mapping[str, int]
    networks: tuple[str, ...]
    hosts: int

    @property
    def resource(self) -> str | None:
        """The resource that a worker asks for; None if it asks for none or the choice is open."""
        if self.group.devices == 0:
            return None
        if self.group.resource is not None:
            return self.group.resource if self.group.resource in self.offers else None
        return next(iter(self.offers)) if len(self.offers) == 1 else None

    @property
    def devices(self) -> int:
        """How many devices one worker asks for."""
        if self.resource is None:
            return 0
        if self.group.devices is not None:
            return self.group.devices
        return self.offers[self.resource] // self.group.workers_per_node

    @property
    def cpu(self) -> int | None:
        """Processors of one worker; None where the machine of the pool is not known."""
        if self.group.cpu is not None or self.pool.machine is None:
            return self.group.cpu
        return allocatable_cores(self.pool.machine) // self.group.workers_per_node

    @property
    def memory(self) -> str | None:
        """Memory of one worker as Kubernetes writes it; None where the machine is not known."""
        if self.group.memory is not None or self.pool.machine is None:
            return self.group.memory
        return f"{allocatable_memory(self.pool.machine) // self.group.workers_per_node}Mi"

    @property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest number of workers."""
        replicas = self.group.replicas
        return (replicas.min, replicas.max) if isinstance(replicas, Scaling) else (replicas, replicas)

    @property
    def nodes(self) -> int:
        """How many nodes the largest number of workers takes, rounded up."""
        pods = self.bounds[1] * self.hosts
        return -(-pods // self.group.workers_per_node)


def placed_groups(spec: ClusterSpec, settings: KuberaySettings, data: Any) -> Iterator[Placed]:
    """Yield each worker group whose pool exists."""
    for index in range(len(settings.clusters)):
        yield from groups_of(spec, settings, index, data)


def groups_of(spec: ClusterSpec, settings: KuberaySettings, index: int, data: Any) -> Iterator[Placed]:
    """Yield the worker groups of one cluster whose pool exists; `data` are the component's facts."""
    cluster = settings.clusters[index]
    pools = {pool.name: (place, pool) for place, pool in enumerate(spec.node_pools)}
    for place, group in enumerate(cluster.worker_groups):
        if group.pool not in pools:
            continue
        pool_index, pool = pools[group.pool]
        known = [item for item in spec.resources if item.pool == pool.name]
        yield Placed(
            cluster=cluster,
            group=group,
            pool=pool,
            pool_index=pool_index,
            at=("components", "kuberay", "clusters", index, "workerGroups", place),
            offers=_offers(known),
            whole_node={name: count for item in known for name, count in item.whole_node.items()},
            networks=tuple(name for item in known for name in item.networks),
            hosts=_hosts(pool, data["tpu"]),
        )


def topology(pool: NodePool, tpu: Any) -> int | None:
    """Return the chips of a whole TPU slice by the pool's topology label; None without one."""
    sizes = pool.node_selector.get(tpu["topologyLabel"], "").split("x")
    if pool.tpu is None or not all(size.isdigit() for size in sizes):
        return None
    return prod(int(size) for size in sizes)


def _offers(known: list[PoolResources]) -> Mapping[str, int]:
    """What stands beside the accelerators in a pool's resources are devices of its fabric."""
    fabric = {name for item in known for name in item.whole_node}
    return {
        name: count
        for item in known
        if item.accelerators
        for name, count in item.resources.items()
        if name not in fabric
    }


def _hosts(pool: NodePool, tpu: Any) -> int:
    chips = topology(pool, tpu)
    return max(1, chips // pool.tpu.count) if pool.tpu is not None and chips is not None else 1
