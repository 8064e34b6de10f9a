"""What several components plan alike: their main chart, pull Secrets, webhooks filled in later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

from gitops_gen.model import (
    ClusterSpec,
    ComponentFacts,
    ComponentSpec,
    HelmSource,
    IgnoreDifference,
    SecretRequest,
    Setting,
)
from gitops_gen.traced import collect

_WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def main_chart(facts: ComponentFacts, part: ComponentSpec, values: Iterable[Setting]) -> HelmSource:
    """Return the component's first chart at the chosen version, released under the chart's own name."""
    chart = cast(Any, facts.data)["charts"][0]
    return HelmSource(
        repo_url=chart["repository"],
        chart=chart["name"],
        version=part.version,
        release_name=chart["name"],
        values=collect(values),
    )


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


def injected_certificates(webhook: str) -> Iterator[IgnoreDifference]:
    """Yield both kinds of a webhook configuration whose CA bundle is written in after the sync."""
    for kind in _WEBHOOKS:
        yield IgnoreDifference(
            group="admissionregistration.k8s.io",
            kind=kind,
            name=webhook,
            jq_path_expressions=(".webhooks[]?.clientConfig.caBundle",),
        )
