"""Node sets and their pools in, what each worker takes of its node out: GRES, limits, scheduling.

Slurm's four places that must agree about devices (container limit, `Gres`, `GresTypes`, gres.conf)
all read the same `Worker`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from gitops_gen.catalog.quantities import mebibytes, parse_memory
from gitops_gen.components.slurm.settings import NodeSet, Scaling, SlurmSettings
from gitops_gen.model import Accelerator, Catalog, ClusterSpec, NodePool, PoolResources
from gitops_gen.pools import allocatable_cores, allocatable_memory, mig_instances, whole_gpus


class Gres(msgspec.Struct, frozen=True, kw_only=True):
    """One generic resource of a node; `type` is empty where only the count matters."""

    name: str
    type: str = ""
    count: int

    def __str__(self) -> str:
        return ":".join(part for part in (self.name, self.type, str(self.count)) if part)


class Worker(msgspec.Struct, frozen=True, kw_only=True):
    """A node set with everything that follows from its pool.

    `index` is its place in `nodeSets`, `pool_index` that of its pool in `nodePools`. `devices` are
    the limits of extended resources, `cpus` hardware threads, `memory` MiB; both None where neither
    the machine nor the node set says them. `least` and `most` are its numbers of nodes.
    """

    index: int
    pool_index: int
    node_set: NodeSet
    pool: NodePool
    accelerator: Accelerator | None
    gres: tuple[Gres, ...]
    devices: Mapping[str, int]
    networks: tuple[str, ...]
    cpus: int | None
    memory: int | None
    least: int
    most: int

    @property
    def name(self) -> str:
        """The node set's name, which begins the names of its nodes."""
        return self.node_set.name

    @property
    def devices_of_jobs(self) -> tuple[Gres, ...]:
        """GRES that follow from the pool's devices; what the spec adds is only counted."""
        return tuple(item for item in self.gres if item.name not in self.node_set.gres)

    @property
    def mig(self) -> bool:
        """Whether the GPUs of its nodes are cut into MIG instances."""
        return self.pool.gpu is not None and self.pool.gpu.mig is not None

    @property
    def scaled(self) -> Scaling | None:
        """The bounds of automatic scaling, if it is on."""
        return self.node_set.replicas if isinstance(self.node_set.replicas, Scaling) else None

    @property
    def shared_memory(self) -> str | None:
        """Size of /dev/shm: what the node set says, else half of its memory where jobs span devices."""
        if self.node_set.shared_memory is not None:
            return self.node_set.shared_memory
        several = sum(item.count for item in self.devices_of_jobs) > 1
        if self.memory is None or not (several or self.pool.fabric is not None):
            return None
        return f"{self.memory // 2}Mi"

    @property
    def hosts(self) -> str:
        """Its nodes as Slurm writes a host list, empty where nobody knows their names."""
        if self.node_set.mode == "DaemonSet":
            return ",".join(name.partition(".")[0] for name in self.pool.node_names)
        if self.most == 0:
            return ""
        width = self.node_set.ordinal_padding
        last = f"{self.most - 1:0{width}d}"
        first = f"{0:0{width}d}"
        return f"{self.name}-[{first}-{last}]" if self.most > 1 else f"{self.name}-{first}"


def workers(spec: ClusterSpec, settings: SlurmSettings, catalog: Catalog) -> tuple[Worker, ...]:
    """Return the workers of every node set whose pool exists, in the order of the spec."""
    pools = {pool.name: (index, pool) for index, pool in enumerate(spec.node_pools)}
    types = _types(spec, settings, catalog)
    return tuple(
        _worker(spec, index, node_set, *pools[node_set.pool], catalog, types)
        for index, node_set in enumerate(settings.node_sets)
        if node_set.pool in pools
    )


def _worker(
    spec: ClusterSpec,
    index: int,
    node_set: NodeSet,
    pool_index: int,
    pool: NodePool,
    catalog: Catalog,
    types: Mapping[str, str],
) -> Worker:
    chosen = pool.gpu or pool.tpu
    accelerator = catalog.accelerators.get(chosen.model) if chosen else None
    offered = next((item for item in spec.resources if item.pool == pool.name), None)
    replicas = node_set.replicas
    least, most = (
        (replicas.min, replicas.max)
        if isinstance(replicas, Scaling)
        else (replicas, replicas)
        if replicas is not None
        else (pool.nodes, pool.nodes)
    )
    return Worker(
        index=index,
        pool_index=pool_index,
        node_set=node_set,
        pool=pool,
        accelerator=accelerator,
        gres=(
            *_gres(node_set, pool, accelerator, types),
            *(Gres(name=name, count=count) for name, count in node_set.gres.items()),
        ),
        devices=_devices(node_set, offered),
        networks=() if node_set.host_network or offered is None else offered.networks,
        cpus=_cpus(node_set, pool),
        memory=_memory(node_set, pool),
        least=least,
        most=most,
    )


def _gres(
    node_set: NodeSet, pool: NodePool, accelerator: Accelerator | None, types: Mapping[str, str]
) -> Iterator[Gres]:
    if accelerator is None or node_set.gpus == 0:
        return
    if pool.tpu is not None:
        yield Gres(name="tpu", count=pool.tpu.count)
    elif pool.gpu is not None and pool.gpu.mig is None:
        yield Gres(name="gpu", type=types[pool.gpu.model], count=node_set.gpus or pool.gpu.count)
    elif pool.gpu is not None:
        whole = whole_gpus(pool.gpu)
        if whole:
            yield Gres(name="gpu", type=types[pool.gpu.model], count=whole)
        for profile, count in mig_instances(pool.gpu, accelerator).items():
            yield Gres(name="gpu", type=profile, count=count)


def _devices(node_set: NodeSet, offered: PoolResources | None) -> Mapping[str, int]:
    """Whole nodes ask for everything that their pool offers, and for its fabric."""
    if offered is None:
        return {}
    fabric = dict(offered.whole_node)
    found = {name: count for name, count in offered.resources.items() if name not in fabric}
    if node_set.gpus is not None:
        found = {name: min(count, node_set.gpus) for name, count in found.items()}
    return {name: count for name, count in {**found, **fabric}.items() if count}


def _cpus(node_set: NodeSet, pool: NodePool) -> int | None:
    if node_set.limits.cpu is not None:
        return node_set.limits.cpu
    return None if pool.machine is None else allocatable_cores(pool.machine)


def _memory(node_set: NodeSet, pool: NodePool) -> int | None:
    if node_set.limits.memory is not None:
        return mebibytes(parse_memory(node_set.limits.memory))
    return None if pool.machine is None else allocatable_memory(pool.machine)


def _types(spec: ClusterSpec, settings: SlurmSettings, catalog: Catalog) -> Mapping[str, str]:
    """Return the GRES type of each model that Slurm uses: short, unless two models share it."""
    used = {node_set.pool for node_set in settings.node_sets}
    models = {
        pool.gpu.model: catalog.accelerators[pool.gpu.model]
        for pool in spec.node_pools
        if pool.gpu is not None and pool.name in used and pool.gpu.model in catalog.accelerators
    }
    short = {model: found.slurm_type or model for model, found in models.items()}
    return {
        model: name if list(short.values()).count(name) == 1 else models[model].slurm_type_long or name
        for model, name in short.items()
    }
