"""Taints of the pools in, the tolerations of everything that must run on their nodes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gitops_gen.components.gpu_operator.context import Context
from gitops_gen.model import (
    Json,
    NodePool,
    Origin,
    Setting,
    Taint,
    from_rule,
    from_spec,
)
from gitops_gen.traced import put

_KEPT = from_rule("lists replace, so that the chart's own tolerations are written again")
_DAEMONSETS = "daemonsets.tolerations"
_WORKERS = "node-feature-discovery.worker.tolerations"

Tainted = tuple[Taint, Origin]


def placement_values(context: Context) -> Iterator[Setting]:
    """Yield the tolerations of the operands, and of the NFD workers that find GPUs and adapters."""
    gpu = [pool.index for pool in context.pools]
    fabric = [index for index, pool in enumerate(context.spec.node_pools) if pool.fabric]
    yield from _tolerations(context, _DAEMONSETS, gpu)
    if context.nfd_enabled:
        yield from _tolerations(context, _WORKERS, sorted({*gpu, *fabric}))


def pool_tolerations(context: Context, index: int) -> list[Json]:
    """Return what an object for one pool must tolerate: the operands' own and the pool's taints."""
    known = _defaults(context, _DAEMONSETS)
    wanted = _missing(known, _taints(context.spec.node_pools, [index]))
    return [*known, *(toleration for toleration, _ in wanted)]


def _tolerations(context: Context, path: str, pools: Iterable[int]) -> Iterator[Setting]:
    known = _defaults(context, path)
    missing = list(_missing(known, _taints(context.spec.node_pools, pools)))
    if not missing:
        return
    for toleration in known:
        yield put(f"{path}[]", toleration, _KEPT)
    for toleration, origin in missing:
        yield put(f"{path}[]", toleration, origin)


def _defaults(context: Context, path: str) -> list[Json]:
    known = context.default(path)
    return known if isinstance(known, list) else []


def _taints(pools: tuple[NodePool, ...], chosen: Iterable[int]) -> Iterator[Tainted]:
    for index in chosen:
        for place, taint in enumerate(pools[index].taints):
            yield taint, from_spec("nodePools", index, "taints", place)


def _missing(known: Iterable[Any], taints: Iterable[Tainted]) -> Iterator[tuple[Json, Origin]]:
    seen = list(known)
    for taint, origin in taints:
        binding = taint.effect != "PreferNoSchedule"
        if binding and not any(_tolerates(item, taint) for item in seen):
            toleration = _toleration(taint)
            seen.append(toleration)
            yield toleration, origin


def _toleration(taint: Taint) -> dict[str, Json]:
    if not taint.value:
        return {"key": taint.key, "operator": "Exists", "effect": taint.effect}
    return {
        "key": taint.key,
        "operator": "Equal",
        "value": taint.value,
        "effect": taint.effect,
    }


def _tolerates(toleration: Any, taint: Taint) -> bool:
    if toleration.get("effect") not in (None, "", taint.effect):
        return False
    key, value = toleration.get("key"), toleration.get("value", "")
    if toleration.get("operator") == "Exists":
        return key in (None, "", taint.key)
    return bool(key == taint.key and value == taint.value)
