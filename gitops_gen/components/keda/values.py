"""A cluster spec in, the values of the keda chart out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops_gen.components.keda.settings import KedaSettings
from gitops_gen.components.operators import (
    kept_definitions,
    mirrored_images,
    proxy_environment,
    pull_secret_names,
    spread_over_nodes,
)
from gitops_gen.model import ClusterSpec, ComponentFacts, Json, Origin, Setting, from_fact, from_spec
from gitops_gen.traced import put

_OWN = ("components", "keda")


def chart_values(spec: ClusterSpec, settings: KedaSettings, facts: ComponentFacts) -> Iterator[Setting]:
    """Yield the settings of the chart in the order in which they are written."""
    data: Any = facts.data
    yield from kept_definitions("crds.additionalAnnotations")
    yield from mirrored_images(spec, data["images"], _fact(data["images"], "images"))
    yield from pull_secret_names(spec, "imagePullSecrets")
    yield from _replicas(settings, data["highAvailability"])
    yield from _reachable_port(spec, data["reachablePort"])
    yield from _logging(settings, data["logging"])
    yield from _tolerations(settings)
    yield from proxy_environment(spec, "env", data["proxyExceptions"]["names"])
    yield from _metrics(spec, data["metrics"])


def _replicas(settings: KedaSettings, data: Any) -> Iterator[Setting]:
    if not settings.high_availability:
        return
    origins = (from_spec(*_OWN, "highAvailability"), _fact(data, "high availability"))
    for part in data["parts"]:
        yield put(part["replicas"], data["count"], *origins)
        yield put(f"{part['budget']}.maxUnavailable", 1, *origins)
        yield put(part["spread"], [spread_over_nodes({"app": part["app"]})], *origins)


def _reachable_port(spec: ClusterSpec, data: Any) -> Iterator[Setting]:
    """Listen where the control plane's firewall lets it through."""
    if spec.kubernetes.distribution in data["distributions"]:
        for key in data["keys"]:
            yield put(
                key, data["port"], from_spec("kubernetes", "distribution"), _fact(data, "reachable port")
            )


def _logging(settings: KedaSettings, data: Any) -> Iterator[Setting]:
    if settings.log_level != KedaSettings().log_level:
        for key in data["keys"]:
            yield put(key, settings.log_level, from_spec(*_OWN, "logLevel"), _fact(data, "logging"))


def _tolerations(settings: KedaSettings) -> Iterator[Setting]:
    if settings.tolerations:
        wanted: list[Json] = [dict(item) for item in settings.tolerations]
        yield put("tolerations", wanted, from_spec(*_OWN, "tolerations"))


def _metrics(spec: ClusterSpec, data: Any) -> Iterator[Setting]:
    """Have everything scraped; KEDA comes after monitoring, so the kind exists."""
    if "monitoring" not in spec.components:
        return
    origins = (from_spec("components", "monitoring"), _fact(data, "metrics"))
    labels: Json = dict(spec.service_monitor_labels)
    for part in data["parts"]:
        at = f"prometheus.{part}"
        yield put(f"{at}.enabled", True, *origins)
        yield put(f"{at}.serviceMonitor.enabled", True, *origins)
        if labels:
            yield put(f"{at}.serviceMonitor.additionalLabels", labels, origins[0])


def _fact(data: Any, what: str) -> Origin:
    return from_fact(f"keda/component.yaml: {what} ({data['source']})")
