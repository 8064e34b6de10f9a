"""Pools that no component speaks for in, their whole devices and what to say of them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gitops_gen.diagnostics import Diagnostic, Path, Severity
from gitops_gen.model import Catalog, ClusterSpec, Component, NodePool, PoolResources


def unclaimed(spec: ClusterSpec, known: Iterable[PoolResources], catalog: Catalog) -> Iterator[PoolResources]:
    """Yield whole devices for the pools that no component of the tree speaks for.

    Somebody else's device plugin advertises them: the node image's, or the cloud's.
    """
    spoken_for = {item.pool for item in known if item.accelerators}
    for pool in spec.node_pools:
        chosen = pool.gpu or pool.tpu
        found = catalog.accelerators.get(chosen.model) if chosen else None
        if chosen is not None and found is not None and pool.name not in spoken_for:
            yield PoolResources(
                pool=pool.name,
                nodes=pool.nodes,
                use=pool.use,
                resources={found.resource: chosen.count},
                labels={},
                product=found.product,
                accelerators=True,
            )


def unmanaged(spec: ClusterSpec, components: Sequence[Component]) -> Iterator[Diagnostic]:
    """Yield a notice for each pool with GPUs or a fabric that no component of the spec looks after."""
    for part, key, what in (("accelerators", "gpu", "GPUs"), ("fabric", "fabric", "RDMA devices")):
        able = [item.name for item in components if part in _speaks_for(item)]
        if not able or any(name in spec.components for name in able):
            continue
        for index, pool in enumerate(spec.node_pools):
            if getattr(pool, key) is not None:
                path = ("spec", "nodePools", index, key)
                yield _unmanaged(pool, what, able, path)


def _unmanaged(pool: NodePool, what: str, able: Sequence[str], path: Path) -> Diagnostic:
    return Diagnostic(
        code="devices-not-managed",
        severity=Severity.NOTICE,
        message=f'nothing in this spec makes the nodes of pool "{pool.name}" offer their {what} to pods',
        path=path,
        hint=f"switch {' or '.join(able)} on; without it, the node image's or the cloud's own device "
        "plugin has to",
    )


def _speaks_for(component: Component) -> Sequence[object]:
    match component.facts.data.get("speaksFor"):
        case {"parts": [*parts]}:
            return parts
    return ()
