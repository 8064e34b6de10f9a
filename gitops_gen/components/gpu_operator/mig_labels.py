"""A pool's MIG choice in, the name of its layout as the MIG manager knows it out."""

from __future__ import annotations

from gitops_gen.components.gpu_operator.facts import MigFacts
from gitops_gen.components.gpu_operator.recipes import GpuPool


def mig_set(pool: GpuPool, facts: MigFacts) -> str:
    """Return the value of `nvidia.com/mig.config`; a layout of our own is named as its pool."""
    mig = pool.pool.gpu.mig if pool.pool.gpu else None
    if mig is None:
        return facts.disabled
    if mig.profile is None:
        return pool.name
    return f"all-{mig.profile.replace('+', '.')}"
