"""A cluster spec in, the values of the external-secrets chart out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops_gen.components.external_secrets.settings import ExternalSecretsSettings
from gitops_gen.components.operators import (
    kept_definitions,
    mirrored_images,
    proxy_environment,
    pull_secret_names,
    spread_over_nodes,
)
from gitops_gen.model import ClusterSpec, ComponentFacts, Json, Origin, Setting, from_fact, from_spec
from gitops_gen.traced import put

_OWN = ("components", "externalSecrets")


def chart_values(
    spec: ClusterSpec, settings: ExternalSecretsSettings, facts: ComponentFacts
) -> Iterator[Setting]:
    """Yield the settings of the chart in the order in which they are written."""
    data: Any = facts.data
    yield from _openshift(spec, data["openshift"])
    yield from kept_definitions("crds.annotations")
    yield from mirrored_images(spec, data["images"], _fact(data["images"], "images"))
    yield from pull_secret_names(spec, "global.imagePullSecrets")
    yield from _replicas(settings, data)
    yield from _logging(settings, data["pods"])
    yield from _tolerations(settings)
    yield from proxy_environment(spec, "extraEnv")
    yield from _metrics(spec, data)


def _openshift(spec: ClusterSpec, data: Any) -> Iterator[Setting]:
    """Say it rather than let the chart look, so that every render gives the same bytes."""
    if spec.kubernetes.distribution in data["distributions"]:
        origins = (from_spec("kubernetes", "distribution"), _fact(data, "OpenShift"))
        yield put("global.compatibility.openshift.adaptSecurityContext", "force", *origins)


def _replicas(settings: ExternalSecretsSettings, data: Any) -> Iterator[Setting]:
    if not settings.high_availability:
        return
    high = data["highAvailability"]
    origins = (from_spec(*_OWN, "highAvailability"), _fact(high, "high availability"))
    yield put("global.topologySpreadConstraints", [spread_over_nodes({})], *origins)
    yield put("leaderElect", True, *origins)
    for prefix in data["pods"]["prefixes"]:
        yield put(f"{prefix}replicaCount", high["count"], *origins)
        yield put(f"{prefix}podDisruptionBudget.enabled", True, *origins)


def _logging(settings: ExternalSecretsSettings, data: Any) -> Iterator[Setting]:
    if settings.log_level != ExternalSecretsSettings().log_level:
        origins = (from_spec(*_OWN, "logLevel"), _fact(data, "pods"))
        for prefix in data["prefixes"]:
            yield put(f"{prefix}log.level", settings.log_level, *origins)


def _tolerations(settings: ExternalSecretsSettings) -> Iterator[Setting]:
    if settings.tolerations:
        wanted: list[Json] = [dict(item) for item in settings.tolerations]
        yield put("global.tolerations", wanted, from_spec(*_OWN, "tolerations"))


def _metrics(spec: ClusterSpec, data: Any) -> Iterator[Setting]:
    """Give the metrics a Service; the chart's own ServiceMonitors would come before their kind."""
    if "monitoring" in spec.components:
        origins = (from_spec("components", "monitoring"), _fact(data["metrics"], "metrics"))
        for prefix in data["pods"]["prefixes"]:
            yield put(f"{prefix}metrics.service.enabled", True, *origins)


def _fact(data: Any, what: str) -> Origin:
    return from_fact(f"external_secrets/component.yaml: {what} ({data['source']})")
