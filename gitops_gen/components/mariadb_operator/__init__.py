"""mariadb-operator as a component: its CRDs and the operator, each in an Application of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec

from gitops_gen.components.mariadb_operator.rules import check
from gitops_gen.components.mariadb_operator.settings import MariadbOperatorSettings, Server
from gitops_gen.components.mariadb_operator.values import chart_values
from gitops_gen.components.parts import injected_certificates, main_chart, pull_secrets
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import (
    Application,
    ClusterSpec,
    ComponentFacts,
    Deletion,
    HealthCheck,
    HelmSource,
    IgnoreDifference,
    Json,
    NamespaceRequest,
    PoolResources,
    Pruning,
    Traced,
    from_fact,
    from_rule,
    from_spec,
)

_CRD_WAVE = -20
_WAVE = -15
_CRDS_STAY = from_rule("the CRDs stay when the operator goes: every database would go with them")


class MariadbOperator(msgspec.Struct, frozen=True):
    """Installs the operator; databases are written by the components that need them."""

    facts: ComponentFacts

    @property
    def name(self) -> str:
        """The component's name in the spec."""
        return self.facts.name

    def build(self, data: Mapping[str, Json]) -> MariadbOperatorSettings:
        """Return the typed settings, with the server's image of each release."""
        settings = msgspec.convert(data, MariadbOperatorSettings)
        return msgspec.structs.replace(settings, servers=_servers(self.facts.data))

    def advertise(self, spec: ClusterSpec) -> Iterable[PoolResources]:
        """Nodes advertise nothing because of it."""
        return ()

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check who owns the CRDs, which namespaces are watched and where images come from."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Applications `mariadb-operator-crds` and `mariadb-operator`."""
        part = spec.components[self.name]
        yield self._crds(part.namespace, part.version)
        yield self._operator(spec)

    def health_checks(self) -> Iterable[HealthCheck]:
        """Argo CD knows the kinds of the operator by itself."""
        return ()

    def _crds(self, namespace: str, version: str) -> Application:
        chart = cast(Any, self.facts.data)["charts"][1]
        source = HelmSource(
            repo_url=chart["repository"],
            chart=chart["name"],
            version=version,
            release_name=chart["name"],
            values=Traced(data={}, origins={}),
        )
        return Application(
            name=chart["name"],
            component=self.name,
            stack=self.facts.stack,
            namespace=namespace,
            wave=_CRD_WAVE,
            sources=(source,),
            deletion=Deletion.KEEP,
            pruning=Pruning.OFF,
            origins=(from_spec("components", self.name), _CRDS_STAY),
        )

    def _operator(self, spec: ClusterSpec) -> Application:
        part = spec.components[self.name]
        settings = cast(MariadbOperatorSettings, part.settings)
        source = main_chart(self.facts, part, chart_values(spec, settings, self.facts))
        return Application(
            name=source.chart,
            component=self.name,
            stack=self.facts.stack,
            namespace=part.namespace,
            wave=_WAVE,
            sources=(source,),
            namespaces=(_namespace(part.namespace, settings, self.facts.data),),
            secrets=tuple(pull_secrets(spec, part.namespace, "mariadb-operator")),
            ignore_differences=tuple(_certificates(f"{source.chart}-webhook")),
            state={f"spec.components.{self.name}.namespace": part.namespace},
            origins=(from_spec("components", self.name),),
        )


def _certificates(webhook: str) -> Iterator[IgnoreDifference]:
    """The chart's one webhook validates; it changes nothing."""
    for item in injected_certificates(webhook):
        if item.kind == "ValidatingWebhookConfiguration":
            yield item


def _servers(data: Any) -> dict[str, Server]:
    return {
        version: Server(**facts["server"], source=facts["serverSource"])
        for version, facts in data["versions"].items()
        if "server" in facts
    }


def _namespace(name: str, settings: MariadbOperatorSettings, data: Any) -> NamespaceRequest:
    security = data["podSecurity"]
    level = security["hostNetwork" if settings.webhook_host_network else "level"]
    return NamespaceRequest(
        name=name,
        labels={"pod-security.kubernetes.io/enforce": level},
        origins=(from_fact(f"mariadb_operator/component.yaml: {security['source']}"),),
    )


COMPONENT = MariadbOperator
