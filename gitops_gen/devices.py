"""Pools that no component speaks for in, their whole devices out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitops_gen.model import Catalog, ClusterSpec, PoolResources


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
