"""Node Feature Discovery as a component: a word for the one that somebody else runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from gitops_gen.components.node_feature_discovery.rules import check
from gitops_gen.components.node_feature_discovery.settings import NodeFeatureDiscoverySettings
from gitops_gen.components.parts import PlainComponent
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Application, ClusterSpec, Json


class NodeFeatureDiscovery(PlainComponent, frozen=True):
    """Renders nothing; with `provided: true` no other component brings one."""

    def build(self, data: Mapping[str, Json]) -> NodeFeatureDiscoverySettings:
        """Return the typed settings."""
        return msgspec.convert(data, NodeFeatureDiscoverySettings)

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Refuse to install it on its own."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterable[Application]:
        """Return nothing: there is no chart to install."""
        return ()


COMPONENT = NodeFeatureDiscovery
