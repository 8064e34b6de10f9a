"""KEDA as a component: one Application from the upstream chart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from gitops_gen.components.keda.rules import check
from gitops_gen.components.keda.settings import KedaSettings
from gitops_gen.components.keda.values import chart_values
from gitops_gen.components.parts import (
    VALIDATING,
    PlainComponent,
    chart_application,
    injected_certificates,
    main_chart,
    pull_secrets,
    secured_namespace,
)
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Application, ClusterSpec, IgnoreDifference, Json

_WAVE = -15


class Keda(PlainComponent, frozen=True):
    """Installs KEDA; other components write the ScaledObjects that it acts on."""

    def build(self, data: Mapping[str, Json]) -> KedaSettings:
        """Return the typed settings."""
        return msgspec.convert(data, KedaSettings)

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check that the cluster can pull the images."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Application `keda`."""
        part = spec.components[self.name]
        data = cast(Any, self.facts.data)
        settings = cast(KedaSettings, part.settings)
        source = main_chart(self.facts, part, chart_values(spec, settings, self.facts))
        level = data["podSecurity"]
        namespace = secured_namespace(self.facts, part.namespace, level["level"], level["source"])
        yield replace(
            chart_application(self.facts, part, source, wave=_WAVE, namespace=namespace),
            secrets=tuple(pull_secrets(spec, part.namespace, "KEDA")),
            ignore_differences=tuple(_injected(data["injected"])),
        )


def _injected(data: Any) -> Iterator[IgnoreDifference]:
    """Yield what the operator writes its certificate authority into after the sync."""
    yield from injected_certificates(data["webhook"], (VALIDATING,))
    yield IgnoreDifference(
        group="apiregistration.k8s.io",
        kind="APIService",
        name=data["apiService"],
        json_pointers=("/spec/caBundle",),
    )


COMPONENT = Keda
