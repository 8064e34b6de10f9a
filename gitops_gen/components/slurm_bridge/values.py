"""A cluster spec in, the values of the slurm-bridge chart out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops_gen.components.slurm_bridge.settings import SlurmBridgeSettings
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

_OWN = ("components", "slurmBridge")
PARTS = ("scheduler", "admission", "controllers")


def chart_values(
    spec: ClusterSpec, settings: SlurmBridgeSettings, facts: ComponentFacts
) -> Iterator[Setting]:
    """Yield the settings of the chart in the order in which they are written."""
    data: Any = facts.data
    managed = list[Json](settings.managed_namespaces)
    yield put("schedulerConfig.partition", settings.partition, from_spec(*_OWN, "partition"))
    yield put("admission.managedNamespaces", managed, from_spec(*_OWN, "managedNamespaces"))
    yield from _rest_api(spec, data["slurm"])
    yield put("sharedConfig.slurmJwtSecret", settings.token_secret, from_spec(*_OWN, "tokenSecret"))
    yield from _replicas(settings, data["parts"])
    yield from _images(spec, data["parts"])
    if settings.tolerations:
        for part in PARTS:
            wanted: list[Json] = [dict(item) for item in settings.tolerations]
            yield put(f"{part}.tolerations", wanted, from_spec(*_OWN, "tolerations"))


def _rest_api(spec: ClusterSpec, slurm: Any) -> Iterator[Setting]:
    namespace = spec.components[slurm["component"]].namespace
    yield put(
        "sharedConfig.slurmRestApi",
        f"http://{slurm['service']}.{namespace}:{slurm['port']}",
        from_spec("components", slurm["component"], "namespace"),
        _fact(slurm, "slurm"),
    )


def _replicas(settings: SlurmBridgeSettings, parts: Any) -> Iterator[Setting]:
    if not settings.high_availability:
        return
    several = from_spec(*_OWN, "highAvailability")
    for part in PARTS:
        if "replicas" in parts[part]:
            yield put(parts[part]["replicas"], 2, several, _fact(parts, "parts"))
    yield put("scheduler.leaderElect", True, several, from_rule("one of several schedulers works at a time"))


def _images(spec: ClusterSpec, parts: Any) -> Iterator[Setting]:
    for part in PARTS:
        found = mirrored(parts[part]["image"], spec.registry.mirrors)
        if found is not None:
            yield put(f"{part}.image.repository", found[0], found[1], _fact(parts, "parts"))


def _fact(data: Any, what: str) -> Origin:
    return from_fact(f"slurm_bridge/component.yaml: {what} ({data['source']})")
