"""A cluster spec in, what is wrong or worth knowing about its monitoring out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from gitops_gen.catalog.quantities import parse_memory
from gitops_gen.components.monitoring.settings import MonitoringSettings, Prometheus
from gitops_gen.components.monitoring.values import used_images
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.images import unreachable_images
from gitops_gen.model import ClusterSpec, ComponentFacts

_OWN = ("spec", "components", "monitoring")


def check(spec: ClusterSpec, facts: ComponentFacts) -> Iterator[Diagnostic]:
    """Yield every finding about the monitoring that this tree installs."""
    part = spec.components.get(facts.name)
    if part is None:
        return
    settings = cast(MonitoringSettings, part.settings)
    if part.provided:
        yield from _labels_known(settings)
        return
    data = cast(Any, facts.data)
    yield from _own_monitoring(spec, data["ownMonitoring"])
    yield from _labels_unused(settings)
    yield from _volumes(settings)
    yield from _room(settings.prometheus)
    yield from _kept_metrics(spec, settings)
    images = used_images(spec, settings, data["images"])
    yield from unreachable_images(spec, "the monitoring stack", (image for _, image in images))


def _labels_known(settings: MonitoringSettings) -> Iterator[Diagnostic]:
    if settings.service_monitor_labels is None:
        yield Diagnostic(
            code="service-monitor-labels-unknown",
            severity=Severity.NOTICE,
            message="somebody else runs Prometheus, and which labels it selects ServiceMonitors by "
            "is not known: those of this tree carry none",
            path=_OWN,
            hint="write monitoring.serviceMonitorLabels, such as {release: prometheus}, "
            "or {} if it selects all of them",
            on_key=True,
        )


def _labels_unused(settings: MonitoringSettings) -> Iterator[Diagnostic]:
    if settings.service_monitor_labels is not None:
        yield Diagnostic(
            code="service-monitor-labels-unused",
            severity=Severity.WARNING,
            message="serviceMonitorLabels says what somebody else's Prometheus selects by, "
            "but this tree installs its own",
            path=(*_OWN, "serviceMonitorLabels"),
            hint="remove serviceMonitorLabels, or write `provided: true`",
            on_key=True,
        )


def _own_monitoring(spec: ClusterSpec, data: Any) -> Iterator[Diagnostic]:
    distribution = spec.kubernetes.distribution
    if distribution in data["distributions"]:
        yield Diagnostic(
            code="monitoring-already-there",
            message=f"{distribution} runs a Prometheus operator of its own: two of them fight over "
            "the same CRDs, and two node exporters over one port",
            path=_OWN,
            hint="write `monitoring: {provided: true, serviceMonitorLabels: {}}`",
            on_key=True,
        )


def _room(prometheus: Prometheus) -> Iterator[Diagnostic]:
    """Samples that may grow beyond their volume fill it, and Prometheus stops."""
    if prometheus.size is None or prometheus.retention_size is None:
        return
    if _bytes_kept(prometheus.retention_size) > parse_memory(prometheus.size):
        yield Diagnostic(
            code="retention-exceeds-volume",
            message=f"Prometheus may keep {prometheus.retention_size} on a volume of {prometheus.size}",
            path=(*_OWN, "prometheus", "retentionSize"),
            hint="keep retentionSize some 15 percent below prometheus.size",
        )


def _bytes_kept(size: str) -> int:
    """Read an amount as Prometheus does: its units are all powers of 1024."""
    number, unit = re.fullmatch(r"([0-9.]+)([A-Za-z]+)", size).groups()  # type: ignore[union-attr]
    return int(float(number) * 1024 ** "BKMGTPE".index(unit[0]))


def _volumes(settings: MonitoringSettings) -> Iterator[Diagnostic]:
    """A class without a size asks for nothing."""
    named = {
        "prometheus": settings.prometheus,
        "alertmanager": settings.alertmanager,
        "grafana": settings.grafana,
    }
    for name, volume in named.items():
        if volume.storage_class is not None and volume.size is None:
            yield Diagnostic(
                code="volume-without-size",
                message=f'monitoring.{name}.storageClass is "{volume.storage_class}", '
                "but without a size there is no volume",
                path=(*_OWN, name, "storageClass"),
                hint=f"add monitoring.{name}.size, such as 50Gi",
            )


def _kept_metrics(spec: ClusterSpec, settings: MonitoringSettings) -> Iterator[Diagnostic]:
    if spec.env == "prod" and settings.prometheus.size is None:
        yield Diagnostic(
            code="metrics-not-kept",
            severity=Severity.NOTICE,
            message="Prometheus has no volume: its metrics are lost whenever its pod moves",
            path=_OWN,
            hint="set monitoring.prometheus.size, such as 50Gi",
            on_key=True,
        )
