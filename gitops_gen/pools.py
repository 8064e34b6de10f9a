"""Node pools and their accelerators in, what each node offers to pods out: derived once, for everybody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from gitops_gen.catalog.mig import mig_resource, mig_set, profile
from gitops_gen.catalog.quantities import mebibytes, parse_memory
from gitops_gen.model import (
    Accelerator,
    Gpu,
    Machine,
    Mig,
    MigLayout,
    Mps,
    NodePool,
    PoolResources,
    TimeSlicing,
)

MigStrategy = Literal["none", "single", "mixed"]

MIG_LABEL = "nvidia.com/mig.config"
SHARING_LABEL = "nvidia.com/device-plugin.config"
MIG_DISABLED = "all-disabled"


def advertised(
    pool: NodePool,
    accelerator: Accelerator,
    mig_strategy: MigStrategy,
    *,
    mig_in_cluster: bool = False,
    several_configs: bool = False,
) -> PoolResources:
    """Say what a node of the pool offers, which labels it needs and how its product is called.

    `mig_in_cluster`: another pool cuts its GPUs, so a whole one must say that it does not.
    `several_configs`: the device plugin has more than one configuration, named as the pools.
    """
    return PoolResources(
        pool=pool.name,
        nodes=pool.nodes,
        use=pool.use,
        resources=pool_resources(pool, accelerator, mig_strategy),
        labels=_labels(pool, accelerator, mig_in_cluster, several_configs),
        product=product(pool, accelerator, mig_strategy),
        accelerators=True,
    )


def pool_resources(pool: NodePool, accelerator: Accelerator, mig_strategy: MigStrategy) -> Mapping[str, int]:
    """Return `{resource: count per node}`; empty for a pool without accelerators."""
    if pool.tpu is not None:
        return {accelerator.resource: pool.tpu.count}
    if pool.gpu is None:
        return {}
    found = _before_sharing(pool.gpu, accelerator, mig_strategy)
    shared = _shared(pool.gpu)
    if shared is None:
        return found
    suffix = ".shared" if shared.rename_by_default else ""
    return {f"{name}{suffix}": count * shared.replicas for name, count in found.items()}


def mig_instances(gpu: Gpu, accelerator: Accelerator) -> Mapping[str, int]:
    """Return the MIG instances of one node by profile, in the order in which they are written."""
    if gpu.mig is None:
        return {}
    if gpu.mig.profile is not None:
        known = profile(accelerator, gpu.mig.profile)
        return {gpu.mig.profile: gpu.count * (known.count if known else 0)}
    found: dict[str, int] = {}
    for part in gpu.mig.layout:
        for name, count in part.profiles.items():
            found[name] = found.get(name, 0) + count * len(devices(part, gpu))
    return found


def whole_gpus(gpu: Gpu) -> int:
    """Return how many GPUs of one node are not cut into MIG instances."""
    if gpu.mig is None:
        return gpu.count
    if gpu.mig.profile is not None:
        return 0
    return gpu.count - len({index for part in gpu.mig.layout for index in devices(part, gpu)})


def devices(part: MigLayout, gpu: Gpu) -> tuple[int, ...]:
    """Return the indices of the GPUs that one part of a layout is for."""
    return tuple(range(gpu.count)) if part.devices == "all" else tuple(part.devices)


def mig_config(pool: NodePool) -> str:
    """Return the name of the pool's MIG layout; a layout of its own is named as the pool."""
    mig = pool.gpu.mig if pool.gpu else None
    if mig is None:
        return MIG_DISABLED
    return pool.name if mig.profile is None else mig_set(mig.profile)


def product(pool: NodePool, accelerator: Accelerator, mig_strategy: MigStrategy) -> str | None:
    """Return the value of `nvidia.com/gpu.product` on the nodes, None where it is not known."""
    if pool.gpu is None or accelerator.product is None:
        return None
    name = accelerator.product
    if pool.gpu.mig is not None and mig_strategy == "single":
        name += _single_suffix(pool.gpu.mig)
    shared = _shared(pool.gpu)
    return f"{name}-SHARED" if shared is not None and not shared.rename_by_default else name


def total(resources: Iterable[PoolResources], name: str) -> int:
    """Return how much of a resource all nodes of the pools offer together."""
    return sum(pool.nodes * pool.resources.get(name, 0) for pool in resources)


def allocatable_cores(machine: Machine) -> int:
    """Return the processors (hardware threads) of the whole cores that the node does not keep."""
    cores = machine.sockets * machine.cores_per_socket - machine.reserved.cores
    return cores * machine.threads_per_core


def allocatable_memory(machine: Machine) -> int:
    """Return the MiB that the node does not keep, rounded down."""
    return mebibytes(parse_memory(machine.memory) - parse_memory(machine.reserved.memory))


def _before_sharing(gpu: Gpu, accelerator: Accelerator, mig_strategy: MigStrategy) -> Mapping[str, int]:
    if gpu.mig is None or mig_strategy == "none":
        return {accelerator.resource: gpu.count}
    instances = mig_instances(gpu, accelerator)
    whole = whole_gpus(gpu)
    if mig_strategy == "single":
        return {accelerator.resource: sum(instances.values()) + whole}
    named = {mig_resource(name): count for name, count in instances.items()}
    return {accelerator.resource: whole, **named} if whole else named


def _shared(gpu: Gpu) -> TimeSlicing | Mps | None:
    return None if gpu.sharing is None else gpu.sharing.mps or gpu.sharing.time_slicing


def _single_suffix(mig: Mig) -> str:
    """Under the single strategy the product names the profile, where there is but one."""
    names = {mig.profile} if mig.profile else {name for part in mig.layout for name in part.profiles}
    return f"-MIG-{names.pop().replace('+', '.')}" if len(names) == 1 else ""


def _labels(
    pool: NodePool, accelerator: Accelerator, mig_in_cluster: bool, several_configs: bool
) -> Mapping[str, str]:
    labels: dict[str, str] = {}
    if pool.gpu is None:
        return labels
    if pool.gpu.mig is not None or (mig_in_cluster and accelerator.mig_profiles):
        labels[MIG_LABEL] = mig_config(pool)
    if several_configs:
        labels[SHARING_LABEL] = pool.name
    return labels
