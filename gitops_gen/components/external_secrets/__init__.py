"""External Secrets as a component: the upstream chart and, beside monitoring, what scrapes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec

from gitops_gen.components.external_secrets.metrics import metrics_application
from gitops_gen.components.external_secrets.rules import check
from gitops_gen.components.external_secrets.settings import ExternalSecretsSettings
from gitops_gen.components.external_secrets.values import chart_values
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

_WAVE = -50


class ExternalSecrets(msgspec.Struct, frozen=True):
    """Installs External Secrets before everything whose Secrets it makes."""

    facts: ComponentFacts

    @property
    def name(self) -> str:
        """The component's name in the spec."""
        return self.facts.name

    def build(self, data: Mapping[str, Json]) -> ExternalSecretsSettings:
        """Return the typed settings."""
        return msgspec.convert(data, ExternalSecretsSettings)

    def advertise(self, spec: ClusterSpec) -> Iterable[PoolResources]:
        """Nodes advertise nothing because of External Secrets."""
        return ()

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check that the cluster can pull the images."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Application `external-secrets` and, where metrics are scraped, a second one."""
        yield self._chart(spec)
        if "monitoring" in spec.components:
            yield metrics_application(spec, self.facts)

    def health_checks(self) -> Iterable[HealthCheck]:
        """Argo CD knows the kinds of External Secrets by itself."""
        return ()

    def _chart(self, spec: ClusterSpec) -> Application:
        part = spec.components[self.name]
        data = cast(Any, self.facts.data)
        settings = cast(ExternalSecretsSettings, part.settings)
        source = main_chart(self.facts, part, chart_values(spec, settings, self.facts))
        by_itself = spec.secrets.store == "external-secrets"
        return Application(
            name=source.chart,
            component=self.name,
            stack=self.facts.stack,
            namespace=part.namespace,
            wave=_WAVE,
            sources=(source,),
            namespaces=(_namespace(part.namespace, data["podSecurity"]),),
            # It cannot make what its own images are pulled with: that is a note instead.
            secrets=() if by_itself else tuple(pull_secrets(spec, part.namespace, "External Secrets")),
            ignore_differences=tuple(_injected(data["injected"])),
            pruning=Pruning.CONFIRM,
            state={f"spec.components.{self.name}.namespace": part.namespace},
            notes=tuple(_notes(spec, part.namespace)) if by_itself else (),
            origins=(from_spec("components", self.name),),
        )


def _namespace(name: str, security: Any) -> NamespaceRequest:
    return NamespaceRequest(
        name=name,
        labels={"pod-security.kubernetes.io/enforce": security["level"]},
        origins=(from_fact(f"external_secrets/component.yaml: {security['source']}"),),
    )


def _injected(data: Any) -> Iterator[IgnoreDifference]:
    """Yield what the certificate controller writes its authority into after the sync."""
    for webhook in data["webhooks"]:
        yield IgnoreDifference(
            group="admissionregistration.k8s.io",
            kind="ValidatingWebhookConfiguration",
            name=webhook,
            jq_path_expressions=(".webhooks[]?.clientConfig.caBundle",),
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
