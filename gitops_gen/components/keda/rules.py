"""A cluster spec in, what keeps KEDA from running out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops_gen.diagnostics import Diagnostic
from gitops_gen.images import unreachable_images
from gitops_gen.model import ClusterSpec, ComponentFacts


def check(spec: ClusterSpec, facts: ComponentFacts) -> Iterator[Diagnostic]:
    """Yield every finding about the KEDA that this tree installs."""
    if spec.rendered(facts.name) is None:
        return
    images: Any = facts.data["images"]
    yield from unreachable_images(spec, "KEDA", (item["image"] for item in images["used"]))
