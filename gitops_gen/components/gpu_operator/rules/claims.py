"""A GPUCluster in, what the chart, the API or its driver would refuse about it out."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gitops_gen.catalog.versions import Met, Version
from gitops_gen.components.gpu_operator.context import OWN, Context, Effective
from gitops_gen.components.gpu_operator.rules.driver import numbers, version_of
from gitops_gen.components.gpu_operator.settings import GpuOperatorSettings
from gitops_gen.diagnostics import Diagnostic, Path, Severity


def claim_rules(context: Context, values: Effective) -> Iterator[Diagnostic]:
    """Yield findings on GPUs as claims: the object, its feature gates, and what it leaves unread."""
    yield from _cluster_object(context, values)
    yield from _compute_domains(context)
    if context.settings.gpu_cluster.enabled:
        yield from _platform(context)
        yield from _gates(context)
        yield from _unread(context)


def _platform(context: Context) -> Iterator[Diagnostic]:
    chosen = context.spec.kubernetes.distribution
    if chosen in context.facts.gpu_cluster.undocumented_on:
        yield Diagnostic(
            code="claims-undocumented",
            severity=Severity.WARNING,
            message=f"NVIDIA documents no way to run a GPUCluster on {chosen}",
            path=("spec", *OWN, "gpuCluster", "enabled"),
            hint="leave gpuCluster out, or try it on a cluster of no importance and accept this warning",
        )


def _gates(context: Context) -> Iterator[Diagnostic]:
    gates = context.settings.gpu_cluster.feature_gates
    facts = context.facts.gpu_cluster
    place = ("spec", *OWN, "gpuCluster", "featureGates")
    for first, second in facts.excludes:
        if gates.get(first) and gates.get(second):
            yield Diagnostic(
                code="feature-gates-conflict",
                message=f"feature gates {first} and {second} exclude each other",
                path=(*place, second),
                hint="leave one of them out",
                on_key=True,
            )
    for gate, needed in facts.needs.items():
        if gates.get(gate) and not gates.get(needed):
            yield Diagnostic(
                code="feature-gates-conflict",
                message=f"feature gate {gate} needs {needed}",
                path=(*place, gate),
                hint=f"switch {needed} on as well",
                on_key=True,
            )


def _unread(context: Context) -> Iterator[Diagnostic]:
    chosen, usual = (msgspec.to_builtins(item) for item in (context.settings, GpuOperatorSettings()))
    for key in context.facts.gpu_cluster.ignores:
        if chosen[key] != usual[key]:
            yield Diagnostic(
                code="claims-leave-unread",
                severity=Severity.WARNING,
                message=f"{key} has no effect: a GPUCluster brings neither container toolkit, device plugin, "
                "MIG manager nor virtual machines",
                path=("spec", *OWN, key),
                hint=f"remove {key}, or leave gpuCluster out",
                on_key=True,
            )


def _cluster_object(context: Context, values: Effective) -> Iterator[Diagnostic]:
    switch = "gpuCluster.deployCR"
    if values.get(switch) is not True:
        return
    place = values.place(switch, *OWN, "gpuCluster", "enabled")
    if values.get("clusterPolicy.deployCR") is not False:
        yield Diagnostic(
            code="two-cluster-objects",
            message="a ClusterPolicy and a GPUCluster cannot both exist",
            path=place,
            hint="say gpuCluster.enabled: true and leave both out of the raw values",
        )
    yield from _claims_kubernetes(context, place)
    yield from _claims_driver(context, values, place)
    for pool in context.pools:
        gpu = pool.pool.gpu
        for key, what in (("mig", "a MIG layout"), ("sharing", "sharing")):
            if gpu is not None and getattr(gpu, key) is not None:
                yield Diagnostic(
                    code="claims-without-layouts",
                    message=f'pool "{pool.name}" has {what}, but a GPUCluster has neither MIG manager '
                    "nor device plugin",
                    path=("spec", "nodePools", pool.index, "gpu", key),
                    hint="say it in ResourceClaims, or leave gpuCluster out",
                )


def _claims_kubernetes(context: Context, place: Path) -> Iterator[Diagnostic]:
    floor = context.facts.gpu_cluster.kubernetes
    met = Version.parse(context.spec.kubernetes.version).meets(Version.parse(floor))
    if met is Met.YES:
        return
    yield Diagnostic(
        code="claims-need-kubernetes" if met is Met.NO else "claims-need-patch",
        severity=Severity.ERROR if met is Met.NO else Severity.NOTICE,
        message=f"a GPUCluster needs Kubernetes {floor} or later, "
        f"the cluster has {context.spec.kubernetes.version}",
        path=place,
        hint="upgrade the cluster first" if met is Met.NO else "write kubernetes.version with its patch",
    )


def _claims_driver(context: Context, values: Effective, place: Path) -> Iterator[Diagnostic]:
    floor = context.facts.drivers.gpu_cluster
    for pool in context.driver_pools:
        version, _ = version_of(context, values, pool)
        if numbers(version)[:1] < numbers(floor)[:1]:
            yield Diagnostic(
                code="claims-need-driver",
                message=f"a GPUCluster needs driver branch {floor} or later, "
                f'pool "{pool.name}" gets {version}',
                path=place,
                hint="choose a newer driver.version, or leave it out",
            )


def _compute_domains(context: Context) -> Iterator[Diagnostic]:
    if context.settings.gpu_cluster.standalone_crds and context.version.owns_compute_domains:
        yield Diagnostic(
            code="compute-domains-two-owners",
            message=f"GPU Operator {context.part.version} and the stand-alone DRA driver chart both "
            "bring computedomains.resource.nvidia.com, and their schemas differ",
            path=("spec", *OWN, "gpuCluster", "standaloneCRDs"),
            hint="install the other chart without its CRDs and leave standaloneCRDs out",
        )
