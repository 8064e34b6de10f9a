"""A cluster spec in, the values of the network-operator chart out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gitops_gen.components.network_operator.fabric import FabricPool
from gitops_gen.components.network_operator.objects import tolerations
from gitops_gen.components.network_operator.policy import attaches
from gitops_gen.components.network_operator.settings import NetworkOperatorSettings
from gitops_gen.images import mirrored
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


Parts = frozenset[str]
"""What the chart brings beside its operator: `nfd`, `sriov`."""


def chart_values(
    spec: ClusterSpec,
    settings: NetworkOperatorSettings,
    pools: Sequence[FabricPool],
    facts: ComponentFacts,
) -> Iterator[Setting]:
    """Yield the settings of the chart in the order in which they are written."""
    data: Any = facts.data
    parts = chart_parts(spec, pools, facts)
    yield from _nfd(spec, pools, data["nfd"], "nfd" in parts)
    yield put("upgradeCRDs", False, _CRDS)
    if "sriov" in parts:
        sriov = (pool.origin("rdma") for pool in pools if pool.fabric.rdma == "sriov")
        yield put("sriovNetworkOperator.enabled", True, *sriov)
    yield from _cni_folders(spec, pools, data["cni"], parts)
    yield from _tolerations(settings, data["tolerations"], parts)
    yield from _mirrors(spec, data["versions"][spec.components[facts.name].version], parts)
    yield from _pull_secrets(spec, parts)


def chart_parts(spec: ClusterSpec, pools: Sequence[FabricPool], facts: ComponentFacts) -> Parts:
    """Say what the chart has to bring beside its operator."""
    nfd = ("nfd",) if owns_nfd(spec, facts) else ()
    sriov = ("sriov",) if any(pool.fabric.rdma == "sriov" for pool in pools) else ()
    return frozenset((*nfd, *sriov))


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


def chart_images(version: Any, parts: Parts) -> Iterator[tuple[str, str]]:
    """Yield key and image, or repository, of what the chart itself can pull."""
    images = version["chartImages"]
    yield from images["operator"].items()
    for part in sorted(parts):
        yield from images[part].items()


def policy_images(version: Any, parts: Iterable[str]) -> Iterator[str]:
    """Yield the repositories of what a NicClusterPolicy with these parts deploys."""
    for part in parts:
        yield f"{version['images'][part]['repository']}/{version['images'][part]['image']}"


def _cni_folders(
    spec: ClusterSpec, pools: Sequence[FabricPool], data: Any, parts: Parts
) -> Iterator[Setting]:
    """Say where the container runtime looks for network plugins, if not in the usual place."""
    folders = data["folders"].get(spec.kubernetes.distribution)
    if folders is None or not any(attaches(pool) for pool in pools):
        return
    origins = (from_spec("kubernetes", "distribution"), _fact(data, "folders of network plugins"))
    yield put("operator.cniBinDirectory", folders["bin"], *origins)
    if "config" in folders:
        yield put("operator.cniNetworkDirectory", folders["config"], *origins)
    if "sriov" in parts:
        yield put("sriov-network-operator.operator.cniBinPath", folders["bin"], *origins)


def _tolerations(settings: NetworkOperatorSettings, data: Any, parts: Parts) -> Iterator[Setting]:
    """The chart's own lists are replaced, so they come first."""
    if not settings.tolerations:
        return
    origins = (from_spec("components", "networkOperator", "tolerations"), _fact(data, "tolerations"))
    wanted: list[Json] = [dict(item) for item in settings.tolerations]
    for part in ("operator", *sorted(parts)):
        for key in data[part]:
            yield put(key, [*data["own"], *wanted], *origins)


def _mirrors(spec: ClusterSpec, version: Any, parts: Parts) -> Iterator[Setting]:
    fact = from_fact(f"network_operator/component.yaml: images ({version['chartImagesSource']})")
    for key, image in chart_images(version, parts):
        found = mirrored(image, spec.registry.mirrors)
        if found is not None:
            yield put(key, *found, fact)


def _pull_secrets(spec: ClusterSpec, parts: Parts) -> Iterator[Setting]:
    if not spec.registry.pull_secrets:
        return
    origin = from_spec("registry", "pullSecrets")
    names: list[Json] = list(spec.registry.pull_secrets)
    yield put("imagePullSecrets", names, origin)
    if "nfd" in parts:
        objects: list[Json] = [{"name": name} for name in spec.registry.pull_secrets]
        yield put("node-feature-discovery.imagePullSecrets", objects, origin)
    if "sriov" in parts:
        yield put("sriov-network-operator.imagePullSecrets", names, origin)


def _fact(data: Any, what: str) -> Origin:
    return from_fact(f"network_operator/component.yaml: {what} ({data['source']})")
