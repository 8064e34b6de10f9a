"""A cluster spec in, the values of the cert-manager chart out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops_gen.components.cert_manager.settings import CertManagerSettings
from gitops_gen.images import mirrored
from gitops_gen.model import (
    ClusterSpec,
    ComponentFacts,
    Json,
    Object,
    Origin,
    Setting,
    from_fact,
    from_rule,
    from_spec,
)
from gitops_gen.traced import put

_OWN = ("components", "certManager")
_CRDS = from_rule("the chart brings the CRDs, so that they are upgraded with the controller")
_STARTUP_CHECK = from_rule("Argo CD would run the start-up check after every sync, and no wave waits for it")


def chart_values(
    spec: ClusterSpec, settings: CertManagerSettings, facts: ComponentFacts
) -> Iterator[Setting]:
    """Yield the settings of the chart in the order in which they are written."""
    yield put("crds.enabled", True, _CRDS)
    yield put("startupapicheck.enabled", False, _STARTUP_CHECK)
    yield from _leader_election(spec, facts.data)
    yield from _registry(spec, facts.data)
    yield from _proxy(spec)
    yield from _replicas(settings, facts.data)
    yield from _host_network(settings, facts.data)
    yield from _tolerations(settings, facts.data)


def _leader_election(spec: ClusterSpec, data: Any) -> Iterator[Setting]:
    if spec.kubernetes.distribution in data["leaderElection"]["ownNamespace"]:
        yield put(
            "global.leaderElection.namespace",
            spec.components["certManager"].namespace,
            from_spec("kubernetes", "distribution"),
            _fact(data["leaderElection"], "leader election"),
        )


def _registry(spec: ClusterSpec, data: Any) -> Iterator[Setting]:
    images = data["images"]
    found = mirrored(f"{images['registry']}/{images['namespace']}", spec.registry.mirrors)
    if found is not None:
        mirror, origin = found
        origins = (origin, _fact(images, "images"))
        registry = mirror.removesuffix(f"/{images['namespace']}")
        if registry == mirror:
            registry, _, namespace = mirror.rpartition("/") if "/" in mirror else (mirror, "", "")
            yield put(images["namespaceKey"], namespace, *origins)
        yield put(images["registryKey"], registry, *origins)
    if spec.registry.pull_secrets:
        names: list[Json] = [{"name": name} for name in spec.registry.pull_secrets]
        yield put("global.imagePullSecrets", names, from_spec("registry", "pullSecrets"))


def _proxy(spec: ClusterSpec) -> Iterator[Setting]:
    if spec.proxy.http:
        yield put("http_proxy", spec.proxy.http, from_spec("proxy", "http"))
    if spec.proxy.https:
        yield put("https_proxy", spec.proxy.https, from_spec("proxy", "https"))
    if spec.proxy.no_proxy:
        yield put("no_proxy", ",".join(spec.proxy.no_proxy), from_spec("proxy", "noProxy"))


def _replicas(settings: CertManagerSettings, data: Any) -> Iterator[Setting]:
    if not settings.high_availability:
        return
    origins = (
        from_spec(*_OWN, "highAvailability"),
        _fact(data["highAvailability"], "high availability"),
    )
    high = data["highAvailability"]
    for prefix, count in high["replicas"].items():
        yield put(f"{prefix}replicaCount", count, *origins)
        yield put(f"{prefix}podDisruptionBudget.enabled", True, *origins)
        spread = _spread(data["charts"][0]["name"], high["components"][prefix])
        yield put(f"{prefix}topologySpreadConstraints", [spread], *origins)


def _spread(release: str, component: str) -> Object:
    """Two replicas on one node fail together; a cluster of one node still runs them."""
    labels: Object = {"app.kubernetes.io/instance": release, "app.kubernetes.io/component": component}
    return {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": labels},
    }


def _host_network(settings: CertManagerSettings, data: Any) -> Iterator[Setting]:
    if settings.webhook_host_network:
        origins = (from_spec(*_OWN, "webhookHostNetwork"), _fact(data["webhook"], "port of the webhook"))
        yield put("webhook.hostNetwork", True, *origins)
        yield put("webhook.securePort", data["webhook"]["hostPort"], *origins)


def _tolerations(settings: CertManagerSettings, data: Any) -> Iterator[Setting]:
    if settings.tolerations:
        wanted: list[Json] = [dict(item) for item in settings.tolerations]
        for prefix in data["pods"]["prefixes"]:
            yield put(f"{prefix}tolerations", wanted, from_spec(*_OWN, "tolerations"))


def _fact(data: Any, what: str) -> Origin:
    return from_fact(f"cert_manager/component.yaml: {what} ({data['source']})")
