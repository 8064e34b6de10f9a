"""Monitoring as a component: one Application from the kube-prometheus-stack chart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from gitops_gen.components.monitoring.rules import check
from gitops_gen.components.monitoring.settings import MonitoringSettings
from gitops_gen.components.monitoring.values import chart_values
from gitops_gen.components.parts import (
    PlainComponent,
    chart_application,
    injected_certificates,
    main_chart,
    pull_secrets,
    secured_namespace,
)
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Application, ClusterSpec, Json, SecretRequest

_WAVE = -30


class Monitoring(PlainComponent, frozen=True):
    """Installs kube-prometheus-stack; its release label is what ServiceMonitors must carry."""

    def build(self, data: Mapping[str, Json]) -> MonitoringSettings:
        """Return the typed settings."""
        return msgspec.convert(data, MonitoringSettings)

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check volumes, Grafana and the distribution."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Application `kube-prometheus-stack`."""
        part = spec.components[self.name]
        settings = cast(MonitoringSettings, part.settings)
        data = cast(Any, self.facts.data)
        source = main_chart(self.facts, part, chart_values(spec, settings, self.facts))
        level = data["podSecurity"]
        namespace = secured_namespace(self.facts, part.namespace, level["level"], level["source"])
        yield replace(
            chart_application(self.facts, part, source, wave=_WAVE, namespace=namespace),
            secrets=tuple(_secrets(spec, settings, part.namespace, data)),
            ignore_differences=tuple(injected_certificates(f"{source.chart}-admission")),
            state=_state(part.namespace, settings),
            notes=tuple(_notes(spec, data["scrapers"])),
        )


def _secrets(
    spec: ClusterSpec, settings: MonitoringSettings, namespace: str, data: Any
) -> Iterator[SecretRequest]:
    if settings.grafana.enabled:
        yield SecretRequest(
            namespace=namespace,
            name=settings.grafana.admin_secret,
            keys=tuple(data["grafanaAdmin"]["keys"]),
            purpose="Grafana's administrator",
        )
    if settings.alertmanager.enabled and settings.alertmanager.config_secret:
        yield SecretRequest(
            namespace=namespace,
            name=settings.alertmanager.config_secret,
            keys=("alertmanager.yaml",),
            purpose="Alertmanager's configuration",
        )
    yield from pull_secrets(spec, namespace, "the monitoring stack")


def _state(namespace: str, settings: MonitoringSettings) -> dict[str, Json]:
    """Metrics and dashboards stay behind when the namespace or a volume's class changes."""
    volumes = {
        "prometheus": settings.prometheus,
        "alertmanager": settings.alertmanager,
        "grafana": settings.grafana,
    }
    own = "spec.components.monitoring"
    classes: dict[str, Json] = {
        f"{own}.{name}.storageClass": volume.storage_class
        for name, volume in volumes.items()
        if volume.size is not None
    }
    return {f"{own}.namespace": namespace, **classes}


def _notes(spec: ClusterSpec, scrapers: Any) -> Iterator[str]:
    distribution = spec.kubernetes.distribution
    if distribution in scrapers["loopback"]:
        yield (
            f"On {distribution} the controller manager, scheduler, etcd and kube-proxy serve metrics "
            "on the loopback address by default. Give them an address that Prometheus reaches, "
            "or switch their scrapers off under `spec.components.monitoring.values`."
        )


COMPONENT = Monitoring
