"""A cluster spec in, what is wrong or worth knowing about its monitoring out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from gitops_gen.components.monitoring.settings import MonitoringSettings
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.model import ClusterSpec, ComponentFacts

_OWN = ("spec", "components", "monitoring")


def check(spec: ClusterSpec, facts: ComponentFacts) -> Iterator[Diagnostic]:
    """Yield every finding about the monitoring that this tree installs."""
    part = spec.rendered(facts.name)
    if part is None:
        return
    settings = cast(MonitoringSettings, part.settings)
    yield from _volumes(settings)
    yield from _kept_metrics(spec, settings)


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
