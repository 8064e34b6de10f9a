"""A node pool in, what keeps pods on its nodes out."""

from __future__ import annotations

from gitops_gen.model import Json, NodePool, Object, Taint


def found_by_name(pool: NodePool) -> bool:
    """Whether pods must go by the names of the nodes: all are named, or nothing else tells where they are."""
    return bool(pool.node_names) and (not pool.node_selector or len(pool.node_names) == pool.nodes)


def named_nodes(pool: NodePool) -> Object:
    """Return the affinity for the nodes that the pool names; pools may share a selector and differ by names.

    A match on a node's own name takes one name, so each has a term.
    """
    field: Object = {"key": "metadata.name", "operator": "In"}
    terms: list[Json] = [{"matchFields": [{**field, "values": [name]}]} for name in pool.node_names]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def toleration(taint: Taint) -> Object:
    """Return the toleration of one taint."""
    if not taint.value:
        return {"key": taint.key, "operator": "Exists", "effect": taint.effect}
    return {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
