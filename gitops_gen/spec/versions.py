"""Chosen versions in, findings out: each component's version against the catalogue and Kubernetes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gitops_gen.catalog.versions import Version
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.model import ClusterSpec, Component, ComponentSpec


def version_rules(spec: ClusterSpec, components: Iterable[Component]) -> Iterator[Diagnostic]:
    """Yield what is wrong with the versions of the components that this tree installs or relies on.

    A version's state in the catalogue is `current`, `superseded` (a notice) or `known`: named by
    its maker, but its chart could not be read yet (an error).
    """
    for item in components:
        part = spec.components.get(item.name)
        if part is not None:
            yield from _provided(part, item) if part.provided else _version(part, item, spec)


def _provided(part: ComponentSpec, item: Component) -> Iterator[Diagnostic]:
    versions: dict[str, Any] = item.facts.data["versions"]  # type: ignore[assignment]
    if part.version not in versions:
        yield Diagnostic(
            code="unknown-version",
            message=f'{part.name} version "{part.version}" is not known',
            path=("spec", "components", part.name, "version"),
            hint=f"versions whose facts are known: {', '.join(versions)}; name the nearest one",
        )


def _version(part: ComponentSpec, item: Component, spec: ClusterSpec) -> Iterator[Diagnostic]:
    versions: dict[str, Any] = item.facts.data["versions"]  # type: ignore[assignment]
    path = ("spec", "components", part.name, "version")
    facts = versions.get(part.version)
    readable = [name for name, known in versions.items() if known.get("state") != "known"]
    if facts is None or facts.get("state") == "known":
        why = "is not known" if facts is None else "is known, but its chart is not catalogued yet"
        yield Diagnostic(
            code="unknown-version",
            message=f'{part.name} version "{part.version}" {why}',
            path=path,
            hint=_meant(part.version, readable) + f"versions that can be rendered: {', '.join(readable)}",
        )
        return
    if facts.get("state") == "superseded":
        yield Diagnostic(
            code="superseded-version",
            severity=Severity.NOTICE,
            message=f"{part.name} {part.version} is superseded by {item.facts.version}",
            path=path,
        )
    yield from _kubernetes(part, versions, spec)


def _meant(version: str, known: Iterable[str]) -> str:
    """Name the version that differs by a `v` or by what stands behind the numbers only."""
    for name in known:
        if name.removeprefix("v") == version.removeprefix("v").split("-")[0].split("+")[0]:
            return f'did you mean "{name}"? '
    return ""


def _kubernetes(part: ComponentSpec, versions: dict[str, Any], spec: ClusterSpec) -> Iterator[Diagnostic]:
    chosen = Version.parse(spec.kubernetes.version)
    bounds = versions[part.version].get("kubernetes", {})
    floor, ceiling = bounds.get("min"), bounds.get("max")
    readable = {name: facts for name, facts in versions.items() if facts.get("state") != "known"}
    fitting = [name for name, facts in readable.items() if _supports(facts.get("kubernetes", {}), chosen)]
    other = f"choose {part.name} {' or '.join(fitting)}" if fitting else ""
    if floor is not None and chosen.minor < Version.parse(floor).minor:
        yield Diagnostic(
            code="kubernetes-too-old",
            message=f"{part.name} {part.version} needs Kubernetes {floor} or later, "
            f"the cluster has {spec.kubernetes.version}",
            path=("spec", "kubernetes", "version"),
            hint=f"{other}, or upgrade the cluster first" if other else "upgrade the cluster first",
        )
    if ceiling is not None and chosen.minor > Version.parse(ceiling).minor:
        yield Diagnostic(
            code="kubernetes-untested",
            severity=Severity.WARNING,
            message=f"{part.name} {part.version} is supported up to Kubernetes {ceiling}, "
            f"the cluster has {spec.kubernetes.version}",
            path=("spec", "kubernetes", "version"),
            hint=other or "no catalogued version supports it yet",
        )


def _supports(bounds: dict[str, str], chosen: Version) -> bool:
    floor, ceiling = bounds.get("min"), bounds.get("max")
    above = floor is None or chosen.minor >= Version.parse(floor).minor
    return above and (ceiling is None or chosen.minor <= Version.parse(ceiling).minor)
