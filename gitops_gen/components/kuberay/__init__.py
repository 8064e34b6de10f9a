"""KubeRay as a component: the operator's chart, and an Application for each Ray cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from gitops_gen.components.kuberay.clusters import cluster_applications
from gitops_gen.components.kuberay.health import health_checks
from gitops_gen.components.kuberay.rules import check
from gitops_gen.components.kuberay.settings import KuberaySettings
from gitops_gen.components.kuberay.values import chart_values, watched_roles
from gitops_gen.components.parts import (
    PlainComponent,
    chart_application,
    main_chart,
    pull_secrets,
    secured_namespace,
)
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Application, ClusterSpec, HealthCheck, Json

# After monitoring, whose kind ServiceMonitor the chart uses.
_WAVE = -20


class KubeRay(PlainComponent, frozen=True):
    """Installs the KubeRay operator and the Ray clusters of the spec."""

    def build(self, data: Mapping[str, Json]) -> KuberaySettings:
        """Return the typed settings."""
        return msgspec.convert(data, KuberaySettings)

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check the clusters against their pools, their Ray against what is asked of it."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Application `kuberay-operator` and one `ray-<name>` for each cluster."""
        settings = cast(KuberaySettings, spec.components[self.name].settings)
        if settings.operator.managed_by == "self":
            yield self._operator(spec, settings)
        yield from cluster_applications(spec, settings, self.facts)

    def health_checks(self) -> Iterable[HealthCheck]:
        """Return the checks of Ray's kinds."""
        return health_checks()

    def _operator(self, spec: ClusterSpec, settings: KuberaySettings) -> Application:
        part = spec.components[self.name]
        data: Any = self.facts.data
        source = main_chart(self.facts, part, chart_values(spec, settings.operator, self.facts))
        level = data["podSecurity"]
        namespace = secured_namespace(self.facts, part.namespace, level["operator"], level["source"])
        return replace(
            chart_application(self.facts, part, source, wave=_WAVE, namespace=namespace),
            sources=(replace(source, objects=tuple(watched_roles(settings.operator, data))),),
            secrets=tuple(pull_secrets(spec, part.namespace, "KubeRay")),
            notes=tuple(_notes(settings)),
        )


def _notes(settings: KuberaySettings) -> Iterator[str]:
    made = {cluster.namespace for cluster in settings.clusters}
    others = [name for name in settings.operator.namespaces if name not in made]
    if others:
        yield f"The operator watches namespaces that must exist: {', '.join(f'`{name}`' for name in others)}."


COMPONENT = KubeRay
