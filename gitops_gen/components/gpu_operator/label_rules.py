"""Pools and their node labels in, NodeFeatureRules that find the nodes by what NFD sees out."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gitops_gen.components.gpu_operator.advertise import node_labels
from gitops_gen.components.gpu_operator.context import Context, of_pool, own
from gitops_gen.components.gpu_operator.recipes import GpuPool
from gitops_gen.model import Json, Manifest, Origin, Setting, from_fact
from gitops_gen.traced import collect, put


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """How one pool is told apart from the others: `matchFeatures` of NFD and the reasons."""

    features: tuple[Json, ...]
    origins: tuple[Origin, ...]


def node_feature_rules(context: Context) -> Iterator[Manifest]:
    """Yield one rule object for each pool that needs labels and can be told apart."""
    for pool in context.pools:
        match = match_pool(context, pool)
        if node_labels(context, pool) and match is not None:
            yield Manifest(object=collect(_rule(context, pool, match)), cluster_scoped=True)


def match_pool(context: Context, pool: GpuPool) -> Match | None:
    """Return how NFD can tell a pool apart, None if it cannot.

    By the names of its nodes; else by GPU model and operating system, leaving out the nodes that
    other pools name. NFD rules never see node labels.
    """
    if pool.pool.node_names:
        names: list[Json] = [*pool.pool.node_names]
        features = (_node_name("In", names),)
        return Match(features=features, origins=(of_pool(pool, "nodeNames"),))
    others = [other for other in context.pools if other is not pool]
    alike = [other for other in others if _shares_model(pool, other)]
    named = [other for other in alike if other.pool.node_names]
    unnamed = [other for other in alike if not other.pool.node_names]
    if not pool.accelerator.pci_ids or any(_same_os(pool, other) for other in unnamed):
        return None
    return _by_features(context, pool, named, bool(unnamed))


def _by_features(context: Context, pool: GpuPool, named: list[GpuPool], with_os: bool) -> Match:
    features = [_gpu(context, pool)]
    origins = [of_pool(pool, "gpu", "model")]
    if with_os:
        features.append(_os(pool))
        origins.append(of_pool(pool, "os"))
    excluded: list[Json] = [name for other in named for name in other.pool.node_names]
    if excluded:
        features.append(_node_name("NotIn", excluded))
        origins.extend(of_pool(other, "nodeNames") for other in named)
    return Match(features=tuple(features), origins=tuple(origins))


def _shares_model(pool: GpuPool, other: GpuPool) -> bool:
    mine, theirs = set(pool.accelerator.pci_ids), set(other.accelerator.pci_ids)
    return bool(mine & theirs) or not theirs or pool.accelerator.id == other.accelerator.id


def _same_os(pool: GpuPool, other: GpuPool) -> bool:
    """Pools whose operating systems cannot be compared count as alike."""
    mine, theirs = os_release(pool.pool.os), os_release(other.pool.os)
    return mine is None or theirs is None or mine == theirs


def os_release(name: str | None) -> tuple[str, str] | None:
    """Return ID and VERSION_ID of os-release for an `os` that says its version."""
    system, _, version = (name or "").rpartition("-")
    return (system, version) if system and version[:1].isdigit() else None


def _rule(context: Context, pool: GpuPool, match: Match) -> Iterator[Setting]:
    asked = own("nodeLabels")
    why = from_fact(context.facts.node_features.reference("rules see features, never labels"))
    yield put("apiVersion", "nfd.k8s-sigs.io/v1alpha1", asked)
    yield put("kind", "NodeFeatureRule", asked)
    yield put("metadata.name", f"gpu-pool-{pool.name}", of_pool(pool, "name"))
    labels: dict[str, Json] = {**node_labels(context, pool)}
    rule: Json = {
        "name": f"labels of pool {pool.name}",
        "labels": labels,
        "matchFeatures": list(match.features),
    }
    yield put("spec.rules[]", rule, asked, *match.origins, of_pool(pool, "gpu"), why)


def _node_name(operator: str, names: list[Json]) -> Json:
    return {
        "feature": "system.name",
        "matchExpressions": {"nodename": {"op": operator, "value": names}},
    }


def _gpu(context: Context, pool: GpuPool) -> Json:
    devices: list[Json] = [pci.lower() for pci in pool.accelerator.pci_ids]
    vendor: list[Json] = [context.facts.node_features.vendor]
    return {
        "feature": "pci.device",
        "matchExpressions": {
            "vendor": {"op": "In", "value": vendor},
            "device": {"op": "In", "value": devices},
        },
    }


def _os(pool: GpuPool) -> Json:
    release = os_release(pool.pool.os)
    assert release is not None
    system, version = release
    return {
        "feature": "system.osrelease",
        "matchExpressions": {
            "ID": {"op": "In", "value": [system]},
            "VERSION_ID": {"op": "In", "value": [version]},
        },
    }
