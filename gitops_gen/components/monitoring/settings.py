"""The component's own part of the spec, typed."""

from __future__ import annotations

import msgspec

from gitops_gen.model import Words


class Volume(Words, frozen=True, kw_only=True):
    """A volume to ask for; without `size` there is none."""

    size: str | None = None
    storage_class: str | None = None


class Prometheus(Volume, frozen=True, kw_only=True):
    """What Prometheus keeps and where."""

    retention: str | None = None
    retention_size: str | None = None
    replicas: int = 1


class Alertmanager(Volume, frozen=True, kw_only=True):
    """Whether and how Alertmanager runs."""

    enabled: bool = True
    replicas: int = 1
    config_secret: str | None = None


class Ingress(Words, frozen=True, kw_only=True):
    """How Grafana is reached from outside."""

    host: str
    class_name: str | None = None
    tls_secret: str | None = None
    annotations: dict[str, str] = msgspec.field(default_factory=dict)


class Grafana(Volume, frozen=True, kw_only=True):
    """Whether and how Grafana runs."""

    enabled: bool = True
    admin_secret: str = "grafana-admin"
    ingress: Ingress | None = None


class MonitoringSettings(Words, frozen=True, kw_only=True):
    """How the monitoring stack runs."""

    prometheus: Prometheus = Prometheus()
    alertmanager: Alertmanager = Alertmanager()
    grafana: Grafana = Grafana()
    tolerations: tuple[dict[str, str], ...] = ()
    service_monitor_labels: dict[str, str] | None = None
    prometheus_url: str | None = msgspec.field(default=None, name="prometheusURL")
