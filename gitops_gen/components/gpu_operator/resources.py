"""A GPU pool in, the resources that its nodes offer to pods out, before and after sharing."""

from __future__ import annotations

from collections.abc import Mapping

from gitops_gen.components.gpu_operator.context import Context
from gitops_gen.components.gpu_operator.recipes import GpuPool
from gitops_gen.model import MigLayout

_MIG = "nvidia.com/mig-"
_SHARED = ".shared"


def base_resources(context: Context, pool: GpuPool) -> Mapping[str, int]:
    """Return `{resource: count per node}` as MIG and its strategy make them, without sharing."""
    gpu = pool.pool.gpu
    assert gpu is not None
    whole = pool.accelerator.resource
    strategy = context.settings.mig.strategy
    if gpu.mig is None or strategy == "none":
        return {whole: gpu.count}
    instances, left = _instances(pool)
    if strategy == "single":
        return {whole: sum(instances.values()) + left}
    named = {_MIG + name.replace("+", "."): count for name, count in instances.items()}
    return {whole: left, **named} if left else named


def pool_resources(context: Context, pool: GpuPool) -> Mapping[str, int]:
    """Return what the nodes of the pool advertise; nothing with claims or virtual machines."""
    if context.settings.gpu_cluster.enabled or workload(context, pool) != "container":
        return {}
    gpu = pool.pool.gpu
    sharing = gpu.sharing if gpu else None
    shared = None if sharing is None else sharing.mps or sharing.time_slicing
    found = base_resources(context, pool)
    if shared is None:
        return found
    suffix = _SHARED if shared.rename_by_default else ""
    return {name + suffix: count * shared.replicas for name, count in found.items()}


def workload(context: Context, pool: GpuPool) -> str:
    """Return what the nodes of the pool run: containers or virtual machines."""
    sandbox = context.settings.sandbox_workloads
    if sandbox.mode == "none":
        return context.facts.workloads.container
    return sandbox.pools.get(pool.name, sandbox.default_workload)


def product_label(context: Context, pool: GpuPool) -> str | None:
    """Return the value of `nvidia.com/gpu.product` that GPU feature discovery will write."""
    gpu, product = pool.pool.gpu, pool.accelerator.product
    if gpu is None or product is None:
        return None
    if gpu.mig is not None and gpu.mig.profile and context.settings.mig.strategy == "single":
        product = f"{product}-MIG-{gpu.mig.profile.replace('+', '.')}"
    shared = gpu.sharing and (gpu.sharing.mps or gpu.sharing.time_slicing)
    return f"{product}-SHARED" if shared and not shared.rename_by_default else product


def _instances(pool: GpuPool) -> tuple[dict[str, int], int]:
    """Return the MIG instances of one node by profile, and how many GPUs stay whole."""
    gpu = pool.pool.gpu
    assert gpu is not None and gpu.mig is not None
    if gpu.mig.profile is not None:
        counts = {item.name: item.count for item in pool.accelerator.mig_profiles}
        return {gpu.mig.profile: gpu.count * counts.get(gpu.mig.profile, 0)}, 0
    found: dict[str, int] = {}
    used = 0
    for part in gpu.mig.layout:
        size = _size(part, gpu.count)
        used += size
        for name, count in part.profiles.items():
            found[name] = found.get(name, 0) + count * size
    return found, max(gpu.count - used, 0)


def _size(part: MigLayout, count: int) -> int:
    return count if part.devices == "all" else len(part.devices)
