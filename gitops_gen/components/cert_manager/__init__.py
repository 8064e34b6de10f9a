"""cert-manager as a component: the upstream chart and, beside monitoring, what scrapes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from gitops_gen.components.cert_manager.rules import check
from gitops_gen.components.cert_manager.settings import CertManagerSettings
from gitops_gen.components.cert_manager.values import chart_values
from gitops_gen.components.operators import metrics_application
from gitops_gen.components.parts import (
    PlainComponent,
    chart_application,
    injected_certificates,
    main_chart,
    pull_secrets,
    secured_namespace,
)
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Application, ClusterSpec, Json

_WAVE = -40


class CertManager(PlainComponent, frozen=True):
    """Installs cert-manager; other components switch it on when they need certificates."""

    def build(self, data: Mapping[str, Json]) -> CertManagerSettings:
        """Return the typed settings."""
        return msgspec.convert(data, CertManagerSettings)

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check that the cluster can pull the images."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Application `cert-manager` and, where metrics are scraped, a second one."""
        yield self._chart(spec)
        if "monitoring" in spec.components:
            metrics = cast(Any, self.facts.data)["metrics"]
            endpoint: Json = {"targetPort": metrics["targetPort"], "path": metrics["path"]}
            yield metrics_application(spec, self.facts, "cert-manager", endpoint)

    def _chart(self, spec: ClusterSpec) -> Application:
        part = spec.components[self.name]
        data = cast(Any, self.facts.data)
        settings = cast(CertManagerSettings, part.settings)
        source = main_chart(self.facts, part, chart_values(spec, settings, self.facts))
        level, origin = data["podSecurity"]["level"], data["podSecurity"]["source"]
        if settings.webhook_host_network:
            level, origin = data["webhook"]["podSecurity"], data["webhook"]["source"]
        namespace = secured_namespace(self.facts, part.namespace, level, origin)
        return replace(
            chart_application(self.facts, part, source, wave=_WAVE, namespace=namespace),
            secrets=tuple(pull_secrets(spec, part.namespace, "cert-manager")),
            ignore_differences=tuple(injected_certificates(f"{source.chart}-webhook")),
        )


COMPONENT = CertManager
