"""What the objects of one fabric have in common: their head, tolerations and node terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitops_gen.components.network_operator.fabric import FabricPool
from gitops_gen.model import Json, Object, Origin, Setting, from_rule, from_spec
from gitops_gen.traced import put

_OWN = ("components", "networkOperator")
_PROTECTED = from_rule("deleting it takes drivers and device plugins off every node")
_AFTER_CRDS = from_rule("its kind comes with the chart, or with what the operator deploys")
_OPTIONS = "SkipDryRunOnMissingResource=true,Prune=confirm,Delete=confirm"


def header(
    kind: str, name: str, wave: int, *origins: Origin, namespace: str | None = None
) -> Iterator[Setting]:
    """Yield what every object of ours begins with; `wave` orders it inside the Application."""
    group = {"IPPool": "nv-ipam.nvidia.com/v1alpha1"}
    sriov = "sriovnetwork.openshift.io/v1"
    version = sriov if kind.startswith("Sriov") else group.get(kind, "mellanox.com/v1alpha1")
    yield put("apiVersion", version, *origins)
    yield put("kind", kind, *origins)
    yield put("metadata.name", name, *origins)
    if namespace is not None:
        yield put("metadata.namespace", namespace, from_spec(*_OWN, "namespace"))
    annotations = ("metadata", "annotations")
    yield put(
        (*annotations, "argocd.argoproj.io/sync-options"),
        _OPTIONS,
        _PROTECTED,
        _AFTER_CRDS,
    )
    yield put((*annotations, "argocd.argoproj.io/sync-wave"), str(wave), _AFTER_CRDS)


def tolerations(pools: Sequence[FabricPool]) -> Iterator[tuple[Object, Origin]]:
    """Yield a toleration for each taint that keeps pods off the nodes of the pools."""
    seen: list[Object] = []
    for pool in pools:
        for place, taint in enumerate(pool.pool.taints):
            if taint.effect == "PreferNoSchedule":
                continue
            wanted: Object = {
                "key": taint.key,
                "operator": "Exists",
                "effect": taint.effect,
            }
            if taint.value:
                wanted = {**wanted, "operator": "Equal", "value": taint.value}
            if wanted not in seen:
                seen.append(wanted)
                yield wanted, from_spec("nodePools", pool.index, "taints", place)


def node_term(pool: FabricPool) -> Object:
    """Return the node selector term that matches the nodes of the pool."""
    expressions: list[Json] = [
        {"key": key, "operator": "In", "values": [value]} for key, value in pool.pool.node_selector.items()
    ]
    return {"matchExpressions": expressions}


def selector_origin(pool: FabricPool) -> Origin:
    """Where the spec tells the nodes of the pool."""
    return from_spec("nodePools", pool.index, "nodeSelector")
