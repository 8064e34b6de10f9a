"""An image reference and the spec's mirrors in, where to pull it from out."""

from __future__ import annotations

from collections.abc import Mapping

from gitops_gen.model import Origin, from_spec


def mirrored(reference: str, mirrors: Mapping[str, str]) -> tuple[str, tuple[Origin, ...]]:
    """Return the reference at the mirror of its registry, with the reason, or unchanged."""
    registry, _, rest = reference.partition("/")
    mirror = mirrors.get(registry)
    if mirror is None:
        return reference, ()
    return f"{mirror}/{rest}", (from_spec("registry", "mirrors", registry),)
