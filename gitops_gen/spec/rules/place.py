"""Words that the rules share: paths to pools, and warnings."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.diagnostics import Diagnostic, Path, Severity
from gitops_gen.model import Accelerator, Catalog, ClusterSpec, Gpu, NodePool


def pool_path(index: int, *below: str | int) -> Path:
    """Return the path of a part of a node pool."""
    return ("spec", "nodePools", index, *below)


def pairs(spec: ClusterSpec) -> Iterator[tuple[int, NodePool, NodePool]]:
    """Yield each pool with its index and each pool before it."""
    for index, pool in enumerate(spec.node_pools):
        for earlier in spec.node_pools[:index]:
            yield index, pool, earlier


def gpu_pools(spec: ClusterSpec, catalog: Catalog) -> Iterator[tuple[int, NodePool, Gpu, Accelerator]]:
    """Yield the pools whose GPU model is known."""
    for index, pool in enumerate(spec.node_pools):
        known = catalog.accelerators.get(pool.gpu.model) if pool.gpu else None
        if pool.gpu is not None and known is not None:
            yield index, pool, pool.gpu, known


def warning(code: str, message: str, path: Path, hint: str = "") -> Diagnostic:
    """Return a finding that is printed and does not stop the run."""
    return Diagnostic(code=code, message=message, path=path, hint=hint, severity=Severity.WARNING)
