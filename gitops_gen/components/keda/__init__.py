"""KEDA as a component: one Application from the upstream chart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec

from gitops_gen.components.keda.rules import check
from gitops_gen.components.keda.settings import KedaSettings
from gitops_gen.components.keda.values import chart_values
from gitops_gen.components.parts import main_chart, pull_secrets
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import (
    Application,
    ClusterSpec,
    ComponentFacts,
    HealthCheck,
    IgnoreDifference,
    Json,
    NamespaceRequest,
    PoolResources,
    Pruning,
    from_fact,
    from_spec,
)

_WAVE = -15


class Keda(msgspec.Struct, frozen=True):
    """Installs KEDA; other components write the ScaledObjects that it acts on."""

    facts: ComponentFacts

    @property
    def name(self) -> str:
        """The component's name in the spec."""
        return self.facts.name

    def build(self, data: Mapping[str, Json]) -> KedaSettings:
        """Return the typed settings."""
        return msgspec.convert(data, KedaSettings)

    def advertise(self, spec: ClusterSpec) -> Iterable[PoolResources]:
        """Nodes advertise nothing because of KEDA."""
        return ()

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check that the cluster can pull the images."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Application `keda`."""
        part = spec.components[self.name]
        data = cast(Any, self.facts.data)
        settings = cast(KedaSettings, part.settings)
        source = main_chart(self.facts, part, chart_values(spec, settings, self.facts))
        yield Application(
            name=source.chart,
            component=self.name,
            stack=self.facts.stack,
            namespace=part.namespace,
            wave=_WAVE,
            sources=(source,),
            namespaces=(_namespace(part.namespace, data["podSecurity"]),),
            secrets=tuple(pull_secrets(spec, part.namespace, "KEDA")),
            ignore_differences=tuple(_injected(data["injected"])),
            pruning=Pruning.CONFIRM,
            state={f"spec.components.{self.name}.namespace": part.namespace},
            origins=(from_spec("components", self.name),),
        )

    def health_checks(self) -> Iterable[HealthCheck]:
        """Argo CD knows ScaledObject and ScaledJob by itself."""
        return ()


def _namespace(name: str, security: Any) -> NamespaceRequest:
    return NamespaceRequest(
        name=name,
        labels={"pod-security.kubernetes.io/enforce": security["level"]},
        origins=(from_fact(f"keda/component.yaml: {security['source']}"),),
    )


def _injected(data: Any) -> Iterator[IgnoreDifference]:
    """Yield what the operator writes its certificate authority into after the sync."""
    yield IgnoreDifference(
        group="admissionregistration.k8s.io",
        kind="ValidatingWebhookConfiguration",
        name=data["webhook"],
        jq_path_expressions=(".webhooks[]?.clientConfig.caBundle",),
    )
    yield IgnoreDifference(
        group="apiregistration.k8s.io",
        kind="APIService",
        name=data["apiService"],
        json_pointers=("/spec/caBundle",),
    )


COMPONENT = Keda
