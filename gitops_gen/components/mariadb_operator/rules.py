"""A cluster spec in, what keeps the operator or its databases from running out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from gitops_gen.components.mariadb_operator.values import used_images
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.images import unreachable_images
from gitops_gen.model import ClusterSpec, ComponentFacts, ComponentSpec

_OWN = ("spec", "components", "mariadbOperator")


def check(spec: ClusterSpec, facts: ComponentFacts) -> Iterator[Diagnostic]:
    """Yield every finding about the operator that this tree installs."""
    part = spec.rendered(facts.name)
    if part is None:
        return
    yield from _one_owner_of_crds(part)
    yield from _other_namespaces(part)
    yield from unreachable_images(spec, "mariadb-operator and its servers", used_images(facts.data))


def _one_owner_of_crds(part: ComponentSpec) -> Iterator[Diagnostic]:
    """CRDs in the operator's own chart go when it goes, and every database with them."""
    if _at(part, "crds", "enabled") is True:
        yield Diagnostic(
            code="mariadb-crds-two-owners",
            message="values.crds.enabled lets the operator's own chart bring the CRDs, which have an "
            "Application of their own; removing the operator would then delete every database",
            path=(*_OWN, "values", "crds", "enabled"),
            hint="leave it out",
        )


def _other_namespaces(part: ComponentSpec) -> Iterator[Diagnostic]:
    """The chart's switch also removes the webhook, which checks every change of a database."""
    if _at(part, "currentNamespaceOnly") is True:
        yield Diagnostic(
            code="mariadb-own-namespace-only",
            severity=Severity.WARNING,
            message="values.currentNamespaceOnly leaves databases outside "
            f"{part.namespace} to nobody, and no webhook checks changes of those in it",
            path=(*_OWN, "values", "currentNamespaceOnly"),
            hint="write mariadbOperator.watchNamespaces with the namespaces of the databases",
        )


def _at(part: ComponentSpec, *keys: str) -> object:
    value: Any = part.values
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return cast(object, value)
