"""The component's own part of the spec, typed."""

from __future__ import annotations

from gitops_gen.model import Words


class NodeFeatureDiscoverySettings(Words, frozen=True, kw_only=True):
    """There is nothing to set: it is somebody else's, or part of the GPU Operator."""
