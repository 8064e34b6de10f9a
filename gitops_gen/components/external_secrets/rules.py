"""A cluster spec in, what keeps External Secrets from running out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops_gen.diagnostics import Diagnostic
from gitops_gen.images import unreachable_images
from gitops_gen.model import ClusterSpec, ComponentFacts


def check(spec: ClusterSpec, facts: ComponentFacts) -> Iterator[Diagnostic]:
    """Yield every finding about the External Secrets that this tree installs."""
    if spec.rendered(facts.name) is None:
        return
    images: Any = facts.data["images"]
    repositories = dict.fromkeys(item["image"] for item in images["used"])
    yield from unreachable_images(spec, "External Secrets", repositories)
