"""The spec's mirrors and an image in, where to pull it from out; images that an air gap cuts off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gitops_gen.diagnostics import Diagnostic, Path
from gitops_gen.model import ClusterSpec, Origin, from_spec


def mirrored(repository: str, mirrors: Mapping[str, str]) -> tuple[str, Origin] | None:
    """Return the mirror of an image or repository by the longest registry or path that is mirrored."""
    for source in sorted(mirrors, key=len, reverse=True):
        if repository == source or repository.startswith(f"{source}/"):
            mirror = mirrors[source] + repository.removeprefix(source)
            return mirror, from_spec("registry", "mirrors", source)
    return None


def split_registry(repository: str) -> tuple[str, str]:
    """Split `registry.example.com/hub/grafana` behind its registry."""
    registry, _, path = repository.partition("/")
    return registry, path


def unreachable_images(spec: ClusterSpec, whose: str, repositories: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield an error for each registry that an air-gapped cluster would pull from.

    `whose` says in the message what the images belong to.
    """
    mirrors = spec.registry.mirrors
    if not spec.air_gap or not mirrors:
        return
    missing: dict[str, str] = {}
    for repository in repositories:
        if mirrored(repository, mirrors) is None:
            missing.setdefault(split_registry(repository)[0], repository)
    path: Path = ("spec", "registry", "mirrors")
    for registry, repository in missing.items():
        yield Diagnostic(
            code="air-gap-mirror-missing",
            message=f"images of {whose} come from {registry} ({repository} among them), and there "
            "is no mirror of it",
            path=path,
            hint=f"add spec.registry.mirrors: {{{registry}: <your registry>}}",
        )
