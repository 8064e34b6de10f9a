"""A GPU pool in, what its nodes offer to pods under this operator out."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from gitops_gen import pools
from gitops_gen.components.gpu_operator.context import Context
from gitops_gen.components.gpu_operator.recipes import GpuPool


def base_resources(context: Context, pool: GpuPool) -> Mapping[str, int]:
    """Return `{resource: count per node}` as MIG and its strategy make them, without sharing."""
    gpu = pool.pool.gpu
    assert gpu is not None
    alone = msgspec.structs.replace(pool.pool, gpu=msgspec.structs.replace(gpu, sharing=None))
    return pools.pool_resources(alone, pool.accelerator, context.settings.mig.strategy)


def serves_containers(context: Context, pool: GpuPool) -> bool:
    """Say whether pods ask for the pool's GPUs by resource: not with claims or virtual machines."""
    claims = context.settings.gpu_cluster.enabled
    return not claims and context.workload(pool) == context.facts.workloads.container
