"""mariadb-operator as a component: its CRDs and the operator, each in an Application of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from gitops_gen.components.mariadb_operator.rules import check
from gitops_gen.components.mariadb_operator.settings import MariadbOperatorSettings, Server
from gitops_gen.components.mariadb_operator.values import chart_values
from gitops_gen.components.parts import (
    VALIDATING,
    PlainComponent,
    chart_application,
    injected_certificates,
    known_chart,
    main_chart,
    pull_secrets,
    secured_namespace,
)
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Application, ClusterSpec, Deletion, Json, Pruning, from_rule, from_spec

_CRD_WAVE = -20
_WAVE = -15
_CRDS_STAY = from_rule("the CRDs stay when the operator goes: every database would go with them")


class MariadbOperator(PlainComponent, frozen=True):
    """Installs the operator; databases are written by the components that need them."""

    def build(self, data: Mapping[str, Json]) -> MariadbOperatorSettings:
        """Return the typed settings, with the server's image of each release."""
        settings = msgspec.convert(data, MariadbOperatorSettings)
        return msgspec.structs.replace(settings, servers=_servers(self.facts.data))

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check who owns the CRDs, which namespaces are watched and where images come from."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Applications `mariadb-operator-crds` and `mariadb-operator`."""
        part = spec.components[self.name]
        yield self._crds(part.namespace, part.version)
        yield self._operator(spec)

    def _crds(self, namespace: str, version: str) -> Application:
        source = known_chart(self.facts, 1, version)
        return Application(
            name=source.chart,
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
        level = cast(Any, self.facts.data)["podSecurity"]
        enforced = level["hostNetwork" if settings.webhook_host_network else "level"]
        namespace = secured_namespace(self.facts, part.namespace, enforced, level["source"])
        # The chart's one webhook validates; it changes nothing.
        certificates = injected_certificates(f"{source.chart}-webhook", (VALIDATING,))
        return replace(
            chart_application(self.facts, part, source, wave=_WAVE, namespace=namespace, pruning=Pruning.ON),
            secrets=tuple(pull_secrets(spec, part.namespace, "mariadb-operator")),
            ignore_differences=tuple(certificates),
        )


def _servers(data: Any) -> dict[str, Server]:
    return {
        version: Server(**facts["server"], source=facts["serverSource"])
        for version, facts in data["versions"].items()
        if "server" in facts
    }


COMPONENT = MariadbOperator
