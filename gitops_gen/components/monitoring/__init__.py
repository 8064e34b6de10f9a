"""Monitoring as a component: one Application from the kube-prometheus-stack chart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec

from gitops_gen.components.monitoring.rules import check
from gitops_gen.components.monitoring.settings import MonitoringSettings
from gitops_gen.components.monitoring.values import chart_values
from gitops_gen.components.parts import injected_certificates, main_chart, pull_secrets
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import (
    Application,
    ClusterSpec,
    ComponentFacts,
    HealthCheck,
    Json,
    NamespaceRequest,
    PoolResources,
    Pruning,
    SecretRequest,
    from_fact,
    from_spec,
)

_WAVE = -30


class Monitoring(msgspec.Struct, frozen=True):
    """Installs kube-prometheus-stack; its release label is what ServiceMonitors must carry."""

    facts: ComponentFacts

    @property
    def name(self) -> str:
        """The component's name in the spec."""
        return self.facts.name

    def build(self, data: Mapping[str, Json]) -> MonitoringSettings:
        """Return the typed settings."""
        return msgspec.convert(data, MonitoringSettings)

    def advertise(self, spec: ClusterSpec) -> Iterable[PoolResources]:
        """Nodes advertise nothing because of monitoring."""
        return ()

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check volumes, Grafana and the distribution."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Application `kube-prometheus-stack`."""
        part = spec.components[self.name]
        settings = cast(MonitoringSettings, part.settings)
        data = cast(Any, self.facts.data)
        source = main_chart(self.facts, part, chart_values(spec, settings, self.facts))
        yield Application(
            name=source.chart,
            component=self.name,
            stack=self.facts.stack,
            namespace=part.namespace,
            wave=_WAVE,
            sources=(source,),
            namespaces=(_namespace(part.namespace, data["podSecurity"]),),
            secrets=tuple(_secrets(spec, settings, part.namespace, data)),
            ignore_differences=tuple(injected_certificates(f"{source.chart}-admission")),
            pruning=Pruning.CONFIRM,
            state=_state(part.namespace, settings),
            notes=tuple(_notes(spec, data["scrapers"])),
            origins=(from_spec("components", self.name),),
        )

    def health_checks(self) -> Iterable[HealthCheck]:
        """Argo CD knows the kinds of the Prometheus operator by itself."""
        return ()


def _namespace(name: str, security: Any) -> NamespaceRequest:
    return NamespaceRequest(
        name=name,
        labels={"pod-security.kubernetes.io/enforce": security["level"]},
        origins=(from_fact(f"monitoring/component.yaml: {security['source']}"),),
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
