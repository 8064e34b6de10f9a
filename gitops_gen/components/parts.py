"""What several components plan alike: their class, chart, namespace, pull Secrets, late certificates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import msgspec

from gitops_gen.model import (
    Application,
    ClusterSpec,
    ComponentFacts,
    ComponentSpec,
    HealthCheck,
    HelmSource,
    IgnoreDifference,
    NamespaceRequest,
    Origin,
    PoolResources,
    Pruning,
    SecretRequest,
    Setting,
    from_fact,
    from_spec,
)
from gitops_gen.traced import collect

VALIDATING = "ValidatingWebhookConfiguration"
_WEBHOOKS = ("MutatingWebhookConfiguration", VALIDATING)


class PlainComponent(msgspec.Struct, frozen=True):
    """A component by which nodes advertise nothing and whose kinds need no health check of ours."""

    facts: ComponentFacts

    @property
    def name(self) -> str:
        """The component's name in the spec."""
        return self.facts.name

    def advertise(self, spec: ClusterSpec) -> Iterable[PoolResources]:
        """Return nothing."""
        return ()

    def health_checks(self) -> Iterable[HealthCheck]:
        """Return nothing."""
        return ()


def main_chart(facts: ComponentFacts, part: ComponentSpec, values: Iterable[Setting]) -> HelmSource:
    """Return the component's first chart at the chosen version, released under the chart's own name."""
    return known_chart(facts, 0, part.version, values)


def known_chart(
    facts: ComponentFacts, index: int, version: str, values: Iterable[Setting] = ()
) -> HelmSource:
    """Return one of the component's charts, by its place in `component.yaml`."""
    chart = cast(Any, facts.data)["charts"][index]
    return HelmSource(
        repo_url=chart["repository"],
        chart=chart["name"],
        version=version,
        release_name=chart["name"],
        values=collect(values),
    )


def chart_application(
    facts: ComponentFacts,
    part: ComponentSpec,
    source: HelmSource,
    *,
    wave: int,
    namespace: NamespaceRequest,
    pruning: Pruning = Pruning.CONFIRM,
) -> Application:
    """Return the Application of a component's main chart; `replace` lays over what only some have.

    Its namespace may not change silently.
    """
    return Application(
        name=source.chart,
        component=facts.name,
        stack=facts.stack,
        namespace=part.namespace,
        wave=wave,
        sources=(source,),
        namespaces=(namespace,),
        pruning=pruning,
        state={f"spec.components.{facts.name}.namespace": part.namespace},
        origins=(from_spec("components", facts.name),),
    )


def secured_namespace(
    facts: ComponentFacts, name: str, level: str, source: str, *because: Origin
) -> NamespaceRequest:
    """Return a Namespace that enforces a Pod Security level; `source` is where the facts have it from."""
    return NamespaceRequest(
        name=name,
        labels={"pod-security.kubernetes.io/enforce": level},
        origins=(*because, from_fact(f"{fact_file(facts)}: {source}")),
    )


def fact_file(facts: ComponentFacts) -> str:
    """Return the component's file of facts, as origins name it."""
    return f"{facts.data['package']}/component.yaml"


def pull_secrets(spec: ClusterSpec, namespace: str, of: str) -> Iterator[SecretRequest]:
    """Yield the image pull Secrets of the spec as what must exist in a namespace."""
    for name in spec.registry.pull_secrets:
        yield SecretRequest(
            namespace=namespace,
            name=name,
            keys=(".dockerconfigjson",),
            purpose=f"pulling images of {of}",
            type="kubernetes.io/dockerconfigjson",
        )


def injected_certificates(webhook: str, kinds: Iterable[str] = _WEBHOOKS) -> Iterator[IgnoreDifference]:
    """Yield the webhook configurations of a name whose CA bundle is written in after the sync."""
    for kind in kinds:
        yield IgnoreDifference(
            group="admissionregistration.k8s.io",
            kind=kind,
            name=webhook,
            jq_path_expressions=(".webhooks[]?.clientConfig.caBundle",),
        )
