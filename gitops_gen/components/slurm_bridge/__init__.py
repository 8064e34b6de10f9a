"""slurm-bridge as a component: the upstream chart and, if wished, the token that it needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec

from gitops_gen.components.parts import PlainComponent, injected_certificates, main_chart, secured_namespace
from gitops_gen.components.slurm_bridge.rules import check
from gitops_gen.components.slurm_bridge.settings import SlurmBridgeSettings
from gitops_gen.components.slurm_bridge.token import token, token_secret
from gitops_gen.components.slurm_bridge.values import chart_values
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import (
    Application,
    ClusterSpec,
    DirectorySource,
    Json,
    NamespaceRequest,
    Source,
    from_spec,
)

# After Slurm, whose REST API the pods speak to.
_WAVE = 10


class SlurmBridge(PlainComponent, frozen=True):
    """Installs the scheduler, admission webhook and controllers of slurm-bridge."""

    def build(self, data: Mapping[str, Json]) -> SlurmBridgeSettings:
        """Return the typed settings."""
        return msgspec.convert(data, SlurmBridgeSettings)

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check what the bridge needs of Slurm and whose pods it takes."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Application `slurm-bridge`."""
        part = spec.components[self.name]
        data: Any = self.facts.data
        settings = cast(SlurmBridgeSettings, part.settings)
        source = main_chart(self.facts, part, chart_values(spec, settings, self.facts))
        manifests = tuple(token(spec, settings, data))
        sources: tuple[Source, ...] = (
            (source, DirectorySource(manifests=manifests)) if manifests else (source,)
        )
        yield Application(
            name=source.chart,
            component=self.name,
            stack=self.facts.stack,
            namespace=part.namespace,
            wave=_WAVE,
            sources=sources,
            namespaces=tuple(self._namespace(spec, part.namespace)),
            secrets=tuple(token_secret(spec, settings, data)),
            ignore_differences=tuple(injected_certificates(data["webhook"]["name"])),
            state={f"spec.components.{self.name}.namespace": part.namespace},
            notes=tuple(_notes(settings, data["slurm"])),
            origins=(from_spec("components", self.name),),
        )

    def _namespace(self, spec: ClusterSpec, name: str) -> Iterator[NamespaceRequest]:
        """In the namespace of Slurm, Slurm says what its pods need."""
        data: Any = self.facts.data
        if name != spec.components[data["slurm"]["component"]].namespace:
            level = data["podSecurity"]
            yield secured_namespace(self.facts, name, level["level"], level["source"])


def _notes(settings: SlurmBridgeSettings, slurm: Any) -> Iterator[str]:
    names = ", ".join(f"`{name}`" for name in settings.managed_namespaces)
    yield f"Slurm schedules the pods of namespaces that must exist: {names}."
    isolation = ", ".join(f"`{key}={value}`" for key, value in slurm["isolation"].items())
    yield (
        f"Where jobs of Slurm run on the nodes of partition `{settings.partition}`, too, keep them apart "
        f"from pods by {isolation} in slurm.conf."
    )
    if settings.issue_token:
        yield (
            f"The token of slurm-bridge lives for {settings.token_lifetime}, and its pods do not notice a "
            "new one: restart its Deployments before."
        )


COMPONENT = SlurmBridge
