"""A cluster spec in, the values of the kube-prometheus-stack chart out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops_gen.components.monitoring.settings import (
    Alertmanager,
    Grafana,
    Ingress,
    MonitoringSettings,
    Prometheus,
    Volume,
)
from gitops_gen.images import mirrored, split_registry
from gitops_gen.model import (
    ClusterSpec,
    ComponentFacts,
    Json,
    NodePool,
    Object,
    Origin,
    Setting,
    from_fact,
    from_rule,
    from_spec,
)
from gitops_gen.traced import put

_OWN = ("components", "monitoring")
_NO_RANDOM = from_rule("the chart's own password is another one at each render")


def chart_values(spec: ClusterSpec, settings: MonitoringSettings, facts: ComponentFacts) -> Iterator[Setting]:
    """Yield the settings of the chart in the order in which they are written."""
    data: Any = facts.data
    yield from _global(spec)
    yield from _scrapers(spec, data["scrapers"])
    yield from _admission_webhooks(spec)
    yield from _prometheus(spec, settings.prometheus)
    yield from _alertmanager(spec, settings.alertmanager)
    yield from _grafana(spec, settings.grafana)
    yield from _node_exporter(spec, data["nodeExporter"])
    yield from _tolerations(spec, settings, data["tolerations"])
    yield from _mirrors(spec, settings, data["images"])


def uses_cert_manager(spec: ClusterSpec) -> bool:
    """Say whether cert-manager makes the certificate of the operator's webhooks."""
    return "certManager" in spec.components


def _global(spec: ClusterSpec) -> Iterator[Setting]:
    if spec.registry.pull_secrets:
        names: list[Json] = [{"name": name} for name in spec.registry.pull_secrets]
        yield put("global.imagePullSecrets", names, from_spec("registry", "pullSecrets"))


def _scrapers(spec: ClusterSpec, data: Any) -> Iterator[Setting]:
    """Switch off what can never be reached: it would only raise alerts without end."""
    origins = (from_spec("kubernetes", "distribution"), _fact(data, "scrapers"))
    for scraper in data["unreachable"].get(spec.kubernetes.distribution, ()):
        yield put(f"{scraper}.enabled", False, *origins)


def _admission_webhooks(spec: ClusterSpec) -> Iterator[Setting]:
    """Let cert-manager make the certificate; without it Jobs make one around each sync."""
    if uses_cert_manager(spec):
        yield put(
            "prometheusOperator.admissionWebhooks.certManager.enabled",
            True,
            from_spec("components", "certManager"),
        )


def _prometheus(spec: ClusterSpec, settings: Prometheus) -> Iterator[Setting]:
    own, at = (*_OWN, "prometheus"), "prometheus.prometheusSpec"
    if settings.replicas > 1:
        yield put(f"{at}.replicas", settings.replicas, from_spec(*own, "replicas"))
    if settings.retention:
        yield put(f"{at}.retention", settings.retention, from_spec(*own, "retention"))
    if settings.retention_size:
        yield put(
            f"{at}.retentionSize",
            settings.retention_size,
            from_spec(*own, "retentionSize"),
        )
    yield from _claim(f"{at}.storageSpec", spec, settings, own)


def _alertmanager(spec: ClusterSpec, settings: Alertmanager) -> Iterator[Setting]:
    own, at = (*_OWN, "alertmanager"), "alertmanager.alertmanagerSpec"
    if not settings.enabled:
        yield put("alertmanager.enabled", False, from_spec(*own, "enabled"))
        return
    if settings.replicas > 1:
        yield put(f"{at}.replicas", settings.replicas, from_spec(*own, "replicas"))
    if settings.config_secret:
        origin = from_spec(*own, "configSecret")
        yield put(f"{at}.useExistingSecret", True, origin)
        yield put(f"{at}.configSecret", settings.config_secret, origin)
    yield from _claim(f"{at}.storage", spec, settings, own)


def _claim(path: str, spec: ClusterSpec, volume: Volume, own: tuple[str, ...]) -> Iterator[Setting]:
    if volume.size is None:
        return
    at = f"{path}.volumeClaimTemplate.spec"
    size = from_spec(*own, "size")
    yield put(f"{at}.accessModes", ["ReadWriteOnce"], size)
    yield put(f"{at}.resources.requests.storage", volume.size, size)
    chosen = storage_class(spec, volume, own)
    if chosen is not None:
        yield put(f"{at}.storageClassName", *chosen)


def storage_class(spec: ClusterSpec, volume: Volume, own: tuple[str, ...]) -> tuple[str, Origin] | None:
    """Return the volume's class and why; None leaves the choice to the cluster."""
    if volume.storage_class is not None:
        return volume.storage_class, from_spec(*own, "storageClass")
    if spec.storage.default_class is not None:
        return spec.storage.default_class, from_spec("storage", "defaultClass")
    return None


def _grafana(spec: ClusterSpec, settings: Grafana) -> Iterator[Setting]:
    own = (*_OWN, "grafana")
    if not settings.enabled:
        yield put("grafana.enabled", False, from_spec(*own, "enabled"))
        return
    secret = from_spec(*own, "adminSecret")
    yield put("grafana.admin.existingSecret", settings.admin_secret, secret, _NO_RANDOM)
    if settings.ingress is not None:
        yield from _ingress(settings.ingress, (*own, "ingress"))
    if settings.size is not None:
        yield from _grafana_volume(spec, settings, own)


def _grafana_volume(spec: ClusterSpec, settings: Grafana, own: tuple[str, ...]) -> Iterator[Setting]:
    size = from_spec(*own, "size")
    yield put("grafana.persistence.enabled", True, size)
    yield put("grafana.persistence.size", settings.size, size)
    chosen = storage_class(spec, settings, own)
    if chosen is not None:
        yield put("grafana.persistence.storageClassName", *chosen)
    one_writer = from_rule("two pods cannot hold a volume for one writer at a time")
    yield put("grafana.deploymentStrategy.type", "Recreate", size, one_writer)


def _ingress(ingress: Ingress, own: tuple[str, ...]) -> Iterator[Setting]:
    host = from_spec(*own, "host")
    yield put("grafana.ingress.enabled", True, host)
    yield put("grafana.ingress.hosts", [ingress.host], host)
    if ingress.class_name:
        yield put(
            "grafana.ingress.ingressClassName",
            ingress.class_name,
            from_spec(*own, "className"),
        )
    for key, value in ingress.annotations.items():
        path = ("grafana", "ingress", "annotations", key)
        yield put(path, value, from_spec(*own, "annotations", key))
    if ingress.tls_secret:
        tls: Object = {"secretName": ingress.tls_secret, "hosts": [ingress.host]}
        yield put("grafana.ingress.tls", [tls], from_spec(*own, "tlsSecret"))
    scheme = "https" if ingress.tls_secret else "http"
    yield put(
        ("grafana", "grafana.ini", "server", "root_url"),
        f"{scheme}://{ingress.host}/",
        host,
    )


def _node_exporter(spec: ClusterSpec, data: Any) -> Iterator[Setting]:
    """The exporter tolerates NoSchedule by itself; NoExecute taints would evict it."""
    evicting = [
        (index, place, pool)
        for index, pool in enumerate(spec.node_pools)
        for place, taint in enumerate(pool.taints)
        if taint.effect == "NoExecute"
    ]
    if not evicting:
        return
    origins = tuple(from_spec("nodePools", index, "taints", place) for index, place, _ in evicting)
    wanted: list[Json] = list(data["tolerations"])
    for _, place, pool in evicting:
        toleration = _toleration(pool, place)
        if toleration not in wanted:
            wanted.append(toleration)
    yield put(
        "prometheus-node-exporter.tolerations",
        wanted,
        *origins,
        _fact(data, "node exporter"),
    )


def _toleration(pool: NodePool, place: int) -> Object:
    taint = pool.taints[place]
    if not taint.value:
        return {"key": taint.key, "operator": "Exists", "effect": taint.effect}
    return {
        "key": taint.key,
        "operator": "Equal",
        "value": taint.value,
        "effect": taint.effect,
    }


def _tolerations(spec: ClusterSpec, settings: MonitoringSettings, data: Any) -> Iterator[Setting]:
    if not settings.tolerations:
        return
    keys = [
        *data["keys"],
        *([data["grafana"]] if settings.grafana.enabled else []),
        *([] if uses_cert_manager(spec) else [data["patchJob"]]),
    ]
    wanted: list[Json] = [dict(item) for item in settings.tolerations]
    for key in keys:
        if settings.alertmanager.enabled or not key.startswith("alertmanager."):
            yield put(key, wanted, from_spec(*_OWN, "tolerations"), _fact(data, "tolerations"))


def used_images(spec: ClusterSpec, settings: MonitoringSettings, data: Any) -> Iterator[tuple[str, str]]:
    """Yield key and image of everything that these settings run."""
    on = {
        "alertmanager": settings.alertmanager.enabled,
        "grafana": settings.grafana.enabled,
        "grafanaVolume": settings.grafana.enabled and settings.grafana.size is not None,
        "patchJob": not uses_cert_manager(spec),
    }
    for item in data["used"]:
        if on.get(item.get("needs"), True):
            yield item["key"], item["image"]


def _mirrors(spec: ClusterSpec, settings: MonitoringSettings, data: Any) -> Iterator[Setting]:
    for key, image in used_images(spec, settings, data):
        found = mirrored(image, spec.registry.mirrors)
        if found is not None:
            yield from _mirrored_image(key, image, *found, _fact(data, "images"))


def _mirrored_image(key: str, image: str, mirror: str, *origins: Origin) -> Iterator[Setting]:
    """The mirror of a whole registry leaves the repository behind it as it is."""
    _, path = split_registry(image)
    registry = mirror.removesuffix(f"/{path}")
    if registry == mirror:
        registry, path = split_registry(mirror)
        yield put(f"{key}.repository", path, *origins)
    yield put(f"{key}.registry", registry, *origins)


def _fact(data: Any, what: str) -> Origin:
    return from_fact(f"monitoring/component.yaml: {what} ({data['source']})")
