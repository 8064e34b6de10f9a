"""Mirrors and the air gap in, images and packages that could not be reached out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.gpu_operator.context import OWN, Context
from gitops_gen.components.gpu_operator.values.registry import mirrored, used_repositories
from gitops_gen.diagnostics import Diagnostic, Severity


def registry_rules(context: Context) -> Iterator[Diagnostic]:
    """Yield what an air-gapped cluster would look for outside."""
    if not context.spec.air_gap:
        return
    yield from _mirrors(context)
    driver = context.settings.driver
    if context.driver_enabled and not driver.use_precompiled and not driver.repo_config_map:
        yield Diagnostic(
            code="air-gap-driver-packages",
            severity=Severity.WARNING,
            message="the driver's container installs kernel headers and compilers from package "
            "repositories, which this cluster does not reach",
            path=("spec", *OWN),
            hint="name a ConfigMap with your repositories under driver.repoConfigMap, or set "
            "driver.usePrecompiled",
            on_key=True,
        )


def _mirrors(context: Context) -> Iterator[Diagnostic]:
    mirrors = context.spec.registry.mirrors
    missing: dict[str, str] = {}
    for path, repository in used_repositories(context):
        if mirrored(repository, mirrors) is None:
            missing.setdefault(repository.split("/")[0], path)
    for registry, path in missing.items():
        yield Diagnostic(
            code="air-gap-mirror-missing",
            message=f"images of the GPU Operator come from {registry} ({path} among them), and there "
            "is no mirror of it",
            path=("spec", "registry", "mirrors") if mirrors else ("spec", "airGap"),
            hint=f"add spec.registry.mirrors: {{{registry}: <your registry>}}",
        )
