"""Distribution, os and driver of the GPU pools in, what cannot be or be together out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.catalog.versions import Met, Version
from gitops_gen.components.gpu_operator.context import OWN, Context
from gitops_gen.components.gpu_operator.recipes import GpuPool, disagreement
from gitops_gen.diagnostics import Diagnostic, Severity

_ELSEWHERE = "leave `driver` out or write `driver: preinstalled`; or choose another os for the nodes"


def environment_rules(context: Context) -> Iterator[Diagnostic]:
    """Yield pools without a way to a driver, pools that contradict each other, mixed systems."""
    yield from _any_pool(context)
    for pool in context.pools:
        yield from _driver_container(pool)
    yield from _disagreement(context)
    yield from _one_system(context)
    yield from _nri_runtime(context)
    yield from _openshift(context)
    yield from _unrendered(context)


def _any_pool(context: Context) -> Iterator[Diagnostic]:
    if not context.pools:
        yield Diagnostic(
            code="no-gpu-pool",
            severity=Severity.NOTICE,
            message="no node pool has NVIDIA GPUs: os and driver of the GPU nodes are not known, and "
            "only the distribution decides",
            path=("spec", *OWN),
            hint="describe the GPU nodes under spec.nodePools",
            on_key=True,
        )


def _driver_container(pool: GpuPool) -> Iterator[Diagnostic]:
    if pool.driver is None or pool.driver not in pool.recipe.driver:
        key = "os" if pool.driver is None else "driver"
        refusal = pool.recipe.refusal or "the operator cannot bring the driver there"
        yield Diagnostic(
            code="driver-container-unavailable",
            message=f'pool "{pool.name}" ({pool.pool.os}): {refusal}',
            path=("spec", "nodePools", pool.index, key),
            hint=pool.recipe.hint or _ELSEWHERE,
        )


def _disagreement(context: Context) -> Iterator[Diagnostic]:
    found = disagreement(context.pools)
    if found is not None:
        first, second = found
        yield Diagnostic(
            code="gpu-pools-disagree",
            message=f'pools "{first.name}" and "{second.name}" need different settings of the one '
            f"GPU Operator (recipes {first.recipe.name} and {second.recipe.name}): "
            f"{first.recipe.alone or second.recipe.alone}",
            path=("spec", "nodePools", second.index, "os"),
            hint="give all GPU pools of a cluster nodes of one kind",
        )


def _one_system(context: Context) -> Iterator[Diagnostic]:
    """The driver image of a ClusterPolicy carries the os of the first GPU node for all of them."""
    known = [pool for pool in context.driver_pools if pool.pool.os is not None]
    if context.driver_objects or not known:
        return
    other = next((pool for pool in known if pool.pool.os != known[0].pool.os), None)
    if other is not None:
        yield Diagnostic(
            code="gpu-pools-mixed-os",
            message=f'pools "{known[0].name}" ({known[0].pool.os}) and "{other.name}" '
            f"({other.pool.os}) would get the driver image of one of the two systems",
            path=("spec", "nodePools", other.index, "os"),
            hint="set components.gpuOperator.driver.nvidiaDriverCRD.enabled: true, which gives each "
            "pool a driver of its own",
        )


def _nri_runtime(context: Context) -> Iterator[Diagnostic]:
    if not context.settings.cdi.nri:
        return
    facts, chosen = context.facts.nri, Version.parse(context.spec.kubernetes.version)
    distribution = context.spec.kubernetes.distribution
    floor = facts.rke2.get(".".join(map(str, chosen.minor))) if distribution == "rke2" else None
    if distribution == "openshift":
        floor = facts.crio_floor
    if floor is not None and chosen.meets(Version.parse(floor)) is Met.NO:
        yield Diagnostic(
            code="nri-runtime-too-old",
            severity=Severity.WARNING,
            message=f"the NRI plugin needs a newer container runtime than {distribution} "
            f"{context.spec.kubernetes.version} has; the first one with it is {floor}",
            path=("spec", *OWN, "cdi", "nri"),
            hint="upgrade the nodes first, or leave cdi.nri out",
        )


def _openshift(context: Context) -> Iterator[Diagnostic]:
    if context.spec.kubernetes.distribution == "openshift":
        yield Diagnostic(
            code="openshift-without-olm",
            severity=Severity.NOTICE,
            message="NVIDIA documents the GPU Operator on OpenShift through OLM; this tree installs "
            "the Helm chart",
            path=("spec", *OWN),
            on_key=True,
        )


def _unrendered(context: Context) -> Iterator[Diagnostic]:
    for field in context.version.unrendered_fields:
        yield Diagnostic(
            code="required-field-not-rendered",
            severity=Severity.NOTICE,
            message=f"the ClusterPolicy CRD of {context.part.version} demands {field}, which its chart "
            "never writes; only the API server's default fills it",
            path=("spec", *OWN, "version"),
        )
