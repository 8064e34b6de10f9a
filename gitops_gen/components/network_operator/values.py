"""A cluster spec in, the values of the network-operator chart out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gitops_gen.components.network_operator.fabric import FabricPool
from gitops_gen.components.network_operator.mirrors import mirrored
from gitops_gen.components.network_operator.objects import tolerations
from gitops_gen.model import (
    ClusterSpec,
    ComponentFacts,
    Json,
    Origin,
    Setting,
    from_fact,
    from_rule,
    from_spec,
)
from gitops_gen.traced import put

_ONE_NFD = from_rule("one Node Feature Discovery per cluster; the GPU Operator brings it")
_CRDS = from_rule("Argo CD applies the CRDs itself")


def chart_values(spec: ClusterSpec, pools: Sequence[FabricPool], facts: ComponentFacts) -> Iterator[Setting]:
    """Yield the settings of the chart in the order in which they are written."""
    data: Any = facts.data
    own_nfd = owns_nfd(spec, facts)
    yield from _nfd(spec, pools, data["nfd"], own_nfd)
    yield put("upgradeCRDs", False, _CRDS)
    sriov = tuple(pool.origin("rdma") for pool in pools if pool.fabric.rdma == "sriov")
    if sriov:
        yield put("sriovNetworkOperator.enabled", True, *sriov)
    yield from _mirrors(spec, data["versions"][spec.components[facts.name].version], own_nfd, sriov)
    yield from _pull_secrets(spec, own_nfd, bool(sriov))


def owns_nfd(spec: ClusterSpec, facts: ComponentFacts) -> bool:
    """Say whether this chart has to bring Node Feature Discovery."""
    nfd: Any = facts.data["nfd"]
    by_others = {"gpuOperator", "nodeFeatureDiscovery"} & spec.components.keys()
    return not by_others and spec.kubernetes.distribution not in nfd["providedOn"]


def _nfd(spec: ClusterSpec, pools: Sequence[FabricPool], data: Any, own_nfd: bool) -> Iterator[Setting]:
    if own_nfd:
        yield from _worker_tolerations(pools, data)
    elif "nodeFeatureDiscovery" in spec.components:
        yield put("nfd.enabled", False, from_spec("components", "nodeFeatureDiscovery"))
    elif "gpuOperator" in spec.components:
        owner = from_spec("components", "gpuOperator")
        yield put("nfd.enabled", False, owner, _ONE_NFD)
        yield put("nfd.deployNodeFeatureRules", False, owner, _ONE_NFD)
    else:
        yield put(
            "nfd.enabled",
            False,
            from_spec("kubernetes", "distribution"),
            _fact(data, "nfd"),
        )


def _worker_tolerations(pools: Sequence[FabricPool], data: Any) -> Iterator[Setting]:
    """The chart's own list is replaced, so it comes first."""
    known: list[Json] = list(data["workerTolerations"])
    more = [(item, origin) for item, origin in tolerations(pools) if item not in known]
    if more:
        wanted = [*known, *(item for item, _ in more)]
        origins = (*(origin for _, origin in more), _fact(data, "nfd"))
        yield put("node-feature-discovery.worker.tolerations", wanted, *origins)


def _mirrors(spec: ClusterSpec, version: Any, own_nfd: bool, sriov: tuple[Origin, ...]) -> Iterator[Setting]:
    images = version["chartImages"]
    wanted: dict[str, str] = {
        **images["repositories"],
        **(images["nfd"] if own_nfd else {}),
        **(
            {f"sriov-network-operator.images.{key}": image for key, image in images["sriov"].items()}
            if sriov
            else {}
        ),
    }
    fact = from_fact(f"network_operator/component.yaml: images ({version['chartImagesSource']})")
    for key, reference in wanted.items():
        place, because = mirrored(reference, spec.registry.mirrors)
        if because:
            yield put(key, place, *because, fact)


def _pull_secrets(spec: ClusterSpec, own_nfd: bool, sriov: bool) -> Iterator[Setting]:
    if not spec.registry.pull_secrets:
        return
    origin = from_spec("registry", "pullSecrets")
    names: list[Json] = list(spec.registry.pull_secrets)
    yield put("imagePullSecrets", names, origin)
    if own_nfd:
        objects: list[Json] = [{"name": name} for name in spec.registry.pull_secrets]
        yield put("node-feature-discovery.imagePullSecrets", objects, origin)
    if sriov:
        yield put("sriov-network-operator.imagePullSecrets", names, origin)


def _fact(data: Any, what: str) -> Origin:
    return from_fact(f"network_operator/component.yaml: {what} ({data['source']})")
