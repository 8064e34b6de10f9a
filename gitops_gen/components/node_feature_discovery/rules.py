"""A cluster spec in, an error out where it asks for a Node Feature Discovery of its own."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import ClusterSpec, ComponentFacts

_BRING_IT = ("gpuOperator", "networkOperator")


def check(spec: ClusterSpec, facts: ComponentFacts) -> Iterator[Diagnostic]:
    """Yield an error if the component is on without being provided."""
    if spec.rendered(facts.name) is None:
        return
    owner = next((name for name in _BRING_IT if spec.rendered(name)), None)
    reason = (
        f"{owner} brings it, and two of them fight over CRDs and labels"
        if owner
        else "this tree has no chart of it alone; gpuOperator brings it"
    )
    yield Diagnostic(
        code="node-feature-discovery-not-installable",
        message=f"nodeFeatureDiscovery cannot be installed by itself: {reason}",
        path=("spec", "components", facts.name),
        hint="remove the component, or write `provided: true` if somebody else runs it already",
        on_key=True,
    )
