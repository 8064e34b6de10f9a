"""A typed spec in, findings that no single component owns out: pools, GPUs, Git, Argo CD, cluster."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Catalog, ClusterSpec
from gitops_gen.spec.rules import cluster, delivery, gpus, layouts, nodes

RULES = (*nodes.RULES, *gpus.RULES, *layouts.RULES, *delivery.RULES, *cluster.RULES)


def base_rules(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Yield the findings of every rule about the spec itself, without positions."""
    for rule in RULES:
        yield from rule(spec, catalog)
