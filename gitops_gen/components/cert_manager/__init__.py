"""cert-manager as a component: the upstream chart and, beside monitoring, what scrapes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec

from gitops_gen.components.cert_manager.metrics import metrics_application
from gitops_gen.components.cert_manager.rules import check
from gitops_gen.components.cert_manager.settings import CertManagerSettings
from gitops_gen.components.cert_manager.values import chart_values
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
    from_fact,
    from_spec,
)

_WAVE = -40


class CertManager(msgspec.Struct, frozen=True):
    """Installs cert-manager; other components switch it on when they need certificates."""

    facts: ComponentFacts

    @property
    def name(self) -> str:
        """The component's name in the spec."""
        return self.facts.name

    def build(self, data: Mapping[str, Json]) -> CertManagerSettings:
        """Return the typed settings."""
        return msgspec.convert(data, CertManagerSettings)

    def advertise(self, spec: ClusterSpec) -> Iterable[PoolResources]:
        """Nodes advertise nothing because of cert-manager."""
        return ()

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check that the cluster can pull the images."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Application `cert-manager` and, where metrics are scraped, a second one."""
        yield self._chart(spec)
        if "monitoring" in spec.components:
            yield metrics_application(spec, self.facts)

    def health_checks(self) -> Iterable[HealthCheck]:
        """Argo CD knows cert-manager's kinds by itself."""
        return ()

    def _chart(self, spec: ClusterSpec) -> Application:
        part = spec.components[self.name]
        settings = cast(CertManagerSettings, part.settings)
        source = main_chart(self.facts, part, chart_values(spec, settings, self.facts))
        return Application(
            name=source.chart,
            component=self.name,
            stack=self.facts.stack,
            namespace=part.namespace,
            wave=_WAVE,
            sources=(source,),
            namespaces=(self._namespace(part.namespace, settings),),
            secrets=tuple(pull_secrets(spec, part.namespace, "cert-manager")),
            ignore_differences=tuple(injected_certificates(f"{source.chart}-webhook")),
            pruning=Pruning.CONFIRM,
            state={f"spec.components.{self.name}.namespace": part.namespace},
            origins=(from_spec("components", self.name),),
        )

    def _namespace(self, name: str, settings: CertManagerSettings) -> NamespaceRequest:
        data = cast(Any, self.facts.data)
        level, source = data["podSecurity"]["level"], data["podSecurity"]["source"]
        if settings.webhook_host_network:
            level, source = data["webhook"]["podSecurity"], data["webhook"]["source"]
        return NamespaceRequest(
            name=name,
            labels={"pod-security.kubernetes.io/enforce": level},
            origins=(from_fact(f"cert_manager/component.yaml: {source}"),),
        )


COMPONENT = CertManager
