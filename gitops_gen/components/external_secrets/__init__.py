"""External Secrets as a component: the upstream chart and, beside monitoring, what scrapes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from gitops_gen.components.external_secrets.rules import check
from gitops_gen.components.external_secrets.settings import ExternalSecretsSettings
from gitops_gen.components.external_secrets.values import chart_values
from gitops_gen.components.operators import metrics_application
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
from gitops_gen.model import Application, ClusterSpec, Json

_WAVE = -50


class ExternalSecrets(PlainComponent, frozen=True):
    """Installs External Secrets before everything whose Secrets it makes."""

    def build(self, data: Mapping[str, Json]) -> ExternalSecretsSettings:
        """Return the typed settings."""
        return msgspec.convert(data, ExternalSecretsSettings)

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check that the cluster can pull the images."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Application `external-secrets` and, where metrics are scraped, a second one."""
        yield self._chart(spec)
        if "monitoring" in spec.components:
            port = cast(Any, self.facts.data)["metrics"]["port"]
            endpoint: Json = {"port": port, "path": "/metrics"}
            yield metrics_application(spec, self.facts, "External Secrets", endpoint)

    def _chart(self, spec: ClusterSpec) -> Application:
        part = spec.components[self.name]
        data = cast(Any, self.facts.data)
        settings = cast(ExternalSecretsSettings, part.settings)
        source = main_chart(self.facts, part, chart_values(spec, settings, self.facts))
        by_itself = spec.secrets.store == "external-secrets"
        level = data["podSecurity"]
        namespace = secured_namespace(self.facts, part.namespace, level["level"], level["source"])
        webhooks = data["injected"]["webhooks"]
        return replace(
            chart_application(self.facts, part, source, wave=_WAVE, namespace=namespace),
            # It cannot make what its own images are pulled with: that is a note instead.
            secrets=() if by_itself else tuple(pull_secrets(spec, part.namespace, "External Secrets")),
            ignore_differences=tuple(
                item for name in webhooks for item in injected_certificates(name, (VALIDATING,))
            ),
            notes=tuple(_notes(spec, part.namespace)) if by_itself else (),
        )


def _notes(spec: ClusterSpec, namespace: str) -> Iterator[str]:
    """Say what External Secrets itself waits for, which nobody can make through it."""
    store = spec.secrets.store_ref
    if store is not None:
        where = "" if store.kind == "ClusterSecretStore" else " in each namespace with Secrets of this tree"
        yield (
            f"The {store.kind} `{store.name}` is yours, with what it logs in by: apply it{where} as soon as "
            "this Application is healthy. Until then the ExternalSecrets of later Applications are degraded."
        )
    for name in spec.registry.pull_secrets:
        yield (
            f"External Secrets cannot make what its own images are pulled with. Make the Secret by hand: "
            f"`kubectl -n {namespace} create secret generic {name} --type=kubernetes.io/dockerconfigjson "
            "--from-file=.dockerconfigjson`."
        )


COMPONENT = ExternalSecrets
