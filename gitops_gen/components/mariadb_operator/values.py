"""A cluster spec in, the values of the mariadb-operator chart out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops_gen.components.mariadb_operator.settings import MariadbOperatorSettings
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

_OWN = ("components", "mariadbOperator")
_RESTRICTED = from_rule("the namespace enforces the strictest Pod Security level, and the chart sets nothing")


def chart_values(
    spec: ClusterSpec, settings: MariadbOperatorSettings, facts: ComponentFacts
) -> Iterator[Setting]:
    """Yield the settings of the chart in the order in which they are written."""
    pods = pod_prefixes(settings, facts.data)
    yield from _images(spec, pods, facts.data)
    if settings.log_level != "info":
        yield put("logLevel", settings.log_level, from_spec(*_OWN, "logLevel"))
    yield from _watch(settings, facts.data)
    yield from _metrics(spec, pods)
    yield from _webhook(spec, settings, facts.data)
    yield from _replicas(settings, pods, facts.data)
    yield from _security(pods, facts.data)
    yield from _resources(settings)
    yield from _tolerations(settings, pods)


def pod_prefixes(settings: MariadbOperatorSettings, data: Any) -> tuple[str, ...]:
    """Return what the keys of each Deployment that runs begin with; "" stands for the operator's own."""
    pods = data["pods"]
    own = pods["ownCertificates"] if settings.certificates == "operator" else []
    return (*pods["always"], *own)


def used_images(data: Any) -> tuple[str, ...]:
    """Return the repositories that the operator and what it starts pull from."""
    images = data["images"]
    return tuple(dict.fromkeys((images["operator"], *images["servers"].values())))


def _images(spec: ClusterSpec, pods: tuple[str, ...], data: Any) -> Iterator[Setting]:
    images, fact = data["images"], _fact(data["images"], "images")
    keys = {f"{prefix}image.repository": images["operator"] for prefix in pods}
    for key, repository in {**keys, **images["servers"]}.items():
        found = mirrored(repository, spec.registry.mirrors)
        if found is not None:
            yield put(key, found[0], found[1], fact)
    if spec.registry.pull_secrets:
        names: list[Json] = [{"name": name} for name in spec.registry.pull_secrets]
        for prefix in pods:
            yield put(f"{prefix}imagePullSecrets", names, from_spec("registry", "pullSecrets"))


def _watch(settings: MariadbOperatorSettings, data: Any) -> Iterator[Setting]:
    """The chart knows all namespaces or its own; the operator itself reads a list."""
    if settings.watch_namespaces:
        wanted: Json = {"name": data["watch"]["variable"], "value": ",".join(settings.watch_namespaces)}
        origins = (from_spec(*_OWN, "watchNamespaces"), _fact(data["watch"], "watch"))
        yield put("extraEnv", [wanted], *origins)


def _metrics(spec: ClusterSpec, pods: tuple[str, ...]) -> Iterator[Setting]:
    if "monitoring" not in spec.components:
        return
    on = from_spec("components", "monitoring")
    yield put("metrics.enabled", True, on)
    labels: Object = dict(spec.service_monitor_labels)
    if labels:
        for prefix in pods:
            at = f"{prefix or 'metrics.'}serviceMonitor.additionalLabels"
            yield put(at, labels, on)


def _webhook(spec: ClusterSpec, settings: MariadbOperatorSettings, data: Any) -> Iterator[Setting]:
    if settings.certificates == "certManager":
        yield put("webhook.cert.certManager.enabled", True, from_spec(*_OWN, "certificates"))
    if settings.webhook_host_network:
        yield put("webhook.hostNetwork", True, from_spec(*_OWN, "webhookHostNetwork"))
        return
    port = data["webhook"]["ports"].get(spec.kubernetes.distribution)
    if port is not None:
        origins = (from_spec("kubernetes", "distribution"), _fact(data["webhook"], "port of the webhook"))
        yield put("webhook.port", port, *origins)


def _replicas(settings: MariadbOperatorSettings, pods: tuple[str, ...], data: Any) -> Iterator[Setting]:
    if not settings.high_availability:
        return
    high = data["highAvailability"]
    origins = (from_spec(*_OWN, "highAvailability"), _fact(high, "high availability"))
    for prefix in pods:
        yield put(f"{prefix}ha.enabled", True, *origins)
        yield put(f"{prefix}pdb.enabled", True, *origins)
        spread = _spread(data["charts"][0]["name"], data["pods"]["names"][prefix])
        yield put(f"{prefix}topologySpreadConstraints", [spread], *origins)


def _spread(release: str, name: str) -> Object:
    """Replicas on one node fail together; a cluster of one node still runs them."""
    labels: Object = {"app.kubernetes.io/instance": release, "app.kubernetes.io/name": name}
    return {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": labels},
    }


def _security(pods: tuple[str, ...], data: Any) -> Iterator[Setting]:
    security = data["podSecurity"]
    origins = (_fact(security, "Pod Security"), _RESTRICTED)
    for prefix in pods:
        yield put(f"{prefix}podSecurityContext", security["pod"], *origins)
        yield put(f"{prefix}securityContext", security["container"], *origins)


def _resources(settings: MariadbOperatorSettings) -> Iterator[Setting]:
    for part, wanted in (("requests", settings.resources.requests), ("limits", settings.resources.limits)):
        for resource, quantity in wanted.items():
            origin = from_spec(*_OWN, "resources", part, resource)
            yield put(("resources", part, resource), quantity, origin)


def _tolerations(settings: MariadbOperatorSettings, pods: tuple[str, ...]) -> Iterator[Setting]:
    if settings.tolerations:
        wanted: list[Json] = [dict(item) for item in settings.tolerations]
        for prefix in pods:
            yield put(f"{prefix}tolerations", wanted, from_spec(*_OWN, "tolerations"))


def _fact(data: Any, what: str) -> Origin:
    return from_fact(f"mariadb_operator/component.yaml: {what} ({data['source']})")
