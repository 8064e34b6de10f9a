"""Operating systems of the GPU pools in, those that are unknown, unlisted or untested out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.catalog.versions import Version
from gitops_gen.components.gpu_operator.context import OWN, Context
from gitops_gen.components.gpu_operator.drivers import pool_driver
from gitops_gen.components.gpu_operator.recipes import GpuPool
from gitops_gen.diagnostics import Diagnostic, Severity


def system_rules(context: Context) -> Iterator[Diagnostic]:
    """Yield pools whose system must be said, has no driver image, or is not tested."""
    for pool in context.pools:
        yield from _unknown(context, pool)
    for pool in context.driver_pools:
        yield from _unlisted(context, pool)
    yield from _untested_pair(context)
    yield from _unvalidated(context)


def _unknown(context: Context, pool: GpuPool) -> Iterator[Diagnostic]:
    """Where the nodes' image decides who brings driver and toolkit, a guess would be wrong for some."""
    chosen = context.spec.kubernetes.distribution
    systems = [
        name
        for recipe in context.facts.recipes
        if chosen in recipe.when.distribution
        for name in recipe.when.os
    ]
    if pool.pool.os is None and systems:
        yield Diagnostic(
            code="gpu-pool-without-os",
            message=f'pool "{pool.name}" has no os, and on {chosen} it decides who brings the driver, the '
            "container toolkit and the device plugin",
            path=("spec", "nodePools", pool.index),
            hint=f"add os, such as {systems[0]} or ubuntu-24.04",
        )


def _unlisted(context: Context, pool: GpuPool) -> Iterator[Diagnostic]:
    """Images of somebody else are his business, and precompiled ones have a rule of their own."""
    driver, chosen = context.settings.driver, pool_driver(context, pool)
    precompiled = driver.use_precompiled if chosen.use_precompiled is None else chosen.use_precompiled
    system = pool.pool.os
    if system is None or precompiled or driver.repository or chosen.repository:
        return
    if pool.driver not in pool.recipe.driver:
        return
    listed = context.version.systems
    facts = context.facts.driver_images
    if system not in listed:
        missing = f"lists no driver image for {system}; it does for {', '.join(listed)}"
    elif system in facts.amd64_only and _architecture(pool) != "amd64":
        missing = f"has driver images for {system} on amd64 only"
    else:
        return
    yield Diagnostic(
        code="driver-image-unlisted",
        severity=Severity.WARNING,
        message=f'pool "{pool.name}": GPU Operator {context.part.version} {missing}',
        path=("spec", "nodePools", pool.index, "os"),
        hint="write `driver: preinstalled` and install the driver on the nodes, or name images of your "
        "own under components.gpuOperator.driver.repository",
    )


def _architecture(pool: GpuPool) -> str:
    return pool.pool.architecture or pool.accelerator.machine


def _untested_pair(context: Context) -> Iterator[Diagnostic]:
    minor = ".".join(map(str, Version.parse(context.spec.kubernetes.version).minor))
    systems = context.version.kubernetes_on.get(minor)
    for pool in context.pools if systems is not None else ():
        if pool.pool.os is not None and pool.pool.os not in (systems or ()):
            yield Diagnostic(
                code="kubernetes-untested-on-os",
                severity=Severity.WARNING,
                message=f"GPU Operator {context.part.version} supports Kubernetes {minor} only on "
                f'{", ".join(systems or ())}, but pool "{pool.name}" runs {pool.pool.os}',
                path=("spec", "kubernetes", "version"),
                hint="upgrade the cluster",
            )


def _unvalidated(context: Context) -> Iterator[Diagnostic]:
    chosen = context.spec.kubernetes.distribution
    if chosen in context.version.unvalidated_on:
        newer = [name for name, facts in context.facts.versions.items() if chosen not in facts.unvalidated_on]
        yield Diagnostic(
            code="distribution-unvalidated",
            severity=Severity.NOTICE,
            message=f"NVIDIA had not validated GPU Operator {context.part.version} on {chosen} yet",
            path=("spec", *OWN, "version"),
            hint=f"versions validated there: {', '.join(newer)}",
        )
