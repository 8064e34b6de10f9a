"""Pools with MIG, sharing or virtual machines in, what their GPUs or nodes cannot do out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.gpu_operator.advertise import node_labels
from gitops_gen.components.gpu_operator.context import OWN, Context
from gitops_gen.components.gpu_operator.drivers import driver_version
from gitops_gen.components.gpu_operator.label_rules import match_pool
from gitops_gen.components.gpu_operator.recipes import GpuPool
from gitops_gen.components.gpu_operator.rules.driver import numbers
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.pools import whole_gpus

_SANDBOX = (*OWN, "sandboxWorkloads")


def pool_rules(context: Context) -> Iterator[Diagnostic]:
    """Yield findings on single pools that only the GPU Operator knows of."""
    for pool in context.pools:
        yield from _strategy(context, pool)
        yield from _mps(context, pool)
        yield from _plugin(context, pool)
        yield from _coherent_memory(context, pool)
        yield from _virtual(context, pool)
        yield from _label_rule(context, pool)
    yield from _sandbox(context)


def _strategy(context: Context, pool: GpuPool) -> Iterator[Diagnostic]:
    """Under `single` all GPUs of a node are cut alike; under `none` nobody offers the instances."""
    gpu, strategy = pool.pool.gpu, context.settings.mig.strategy
    if gpu is None or gpu.mig is None or strategy == "mixed":
        return
    profiles = {name for part in gpu.mig.layout for name in part.profiles}
    if strategy == "none" or len(profiles) > 1 or (profiles and whole_gpus(gpu)):
        what = "MIG instances" if strategy == "none" else "GPUs that are not all cut into one profile"
        yield Diagnostic(
            code="mig-strategy-too-narrow",
            message=f'pool "{pool.name}" has {what}, which mig.strategy: {strategy} does not offer',
            path=("spec", "nodePools", pool.index, "gpu", "mig"),
            hint="set components.gpuOperator.mig.strategy: mixed",
        )


def _mps(context: Context, pool: GpuPool) -> Iterator[Diagnostic]:
    gpu = pool.pool.gpu
    shared = gpu is not None and gpu.sharing is not None and gpu.sharing.mps is not None
    if shared and context.settings.mig.strategy == "mixed":
        yield Diagnostic(
            code="mps-with-mixed-mig",
            message=f'pool "{pool.name}" shares its GPUs through MPS, which the device plugin refuses '
            "with mig.strategy: mixed",
            path=("spec", "nodePools", pool.index, "gpu", "sharing", "mps"),
            hint="use timeSlicing, or mig.strategy: single",
        )


def _plugin(context: Context, pool: GpuPool) -> Iterator[Diagnostic]:
    gpu = pool.pool.gpu
    if gpu is not None and gpu.sharing is not None and not context.operand_enabled("devicePlugin"):
        yield Diagnostic(
            code="sharing-needs-device-plugin",
            message=f'pool "{pool.name}" shares its GPUs, but the device plugin there is not the '
            "operator's, which alone reads how",
            path=("spec", "nodePools", pool.index, "gpu", "sharing"),
            hint="switch the other device plugin off and write "
            "components.gpuOperator.devicePlugin.enabled: true",
        )


def _coherent_memory(context: Context, pool: GpuPool) -> Iterator[Diagnostic]:
    facts = context.facts.drivers.coherent_memory
    gpu = pool.pool.gpu
    if pool.accelerator.id not in facts.models or pool.driver != "operator" or gpu is None:
        return
    version, _ = driver_version(context, pool)
    asked = [name for name, on in (("MIG", gpu.mig), ("GPUDirect Storage", context.settings.gds)) if on]
    if asked and numbers(version)[:1] >= numbers(facts.since)[:1]:
        yield Diagnostic(
            code="coherent-memory-unsupported",
            severity=Severity.WARNING,
            message=f"from driver branch {facts.since} on {pool.accelerator.name} manages its memory "
            f'coherently, which began without {" and ".join(asked)} (pool "{pool.name}"); whether driver '
            f"{version} has it is not known",
            path=("spec", "nodePools", pool.index, "gpu"),
            hint="ask NVIDIA for the state of your driver, then accept this warning",
        )


# --- virtual machines ----------------------------------------------------------------------------


def _virtual(context: Context, pool: GpuPool) -> Iterator[Diagnostic]:
    kind = context.workload(pool)
    sandbox = context.settings.sandbox_workloads
    place = (*_SANDBOX, "pools", pool.name) if pool.name in sandbox.pools else (*_SANDBOX, "mode")
    if kind != "container" and pool.driver == "preinstalled":
        yield Diagnostic(
            code="sandbox-on-host-driver",
            message=f'pool "{pool.name}" hands its GPUs to virtual machines, which must not have a '
            "driver on the host",
            path=("spec", "nodePools", pool.index, "driver"),
            hint="take nodes without a driver, or let the pool run containers",
        )
    if kind == "vm-vgpu" and sandbox.vgpu_manager is None:
        yield Diagnostic(
            code="vgpu-manager-missing",
            message=f'pool "{pool.name}" runs vGPU machines, but there is no vGPU manager image',
            path=("spec", *place),
            hint="set sandboxWorkloads.vgpuManager with repository and version of your image",
        )


def _sandbox(context: Context) -> Iterator[Diagnostic]:
    sandbox = context.settings.sandbox_workloads
    names = [pool.name for pool in context.pools]
    for name in sandbox.pools:
        if name not in names:
            yield Diagnostic(
                code="unknown-sandbox-pool",
                message=f'"{name}" is no pool with NVIDIA GPUs',
                path=("spec", *_SANDBOX, "pools", name),
                hint=f"such pools: {', '.join(names) or 'none'}",
                on_key=True,
            )
    if sandbox.mode == "none" and (sandbox.pools or sandbox.vgpu_manager):
        key = "pools" if sandbox.pools else "vgpuManager"
        yield Diagnostic(
            code="sandbox-mode-missing",
            message=f"sandboxWorkloads.{key} has no effect without a mode",
            path=("spec", *_SANDBOX, key),
            hint="set sandboxWorkloads.mode to kubevirt or kata",
        )


# --- label rules ---------------------------------------------------------------------------------


def _label_rule(context: Context, pool: GpuPool) -> Iterator[Diagnostic]:
    if context.settings.node_labels == "list" or not node_labels(context, pool):
        return
    if match_pool(context, pool) is None:
        yield Diagnostic(
            code="pool-not-discoverable",
            message=f'Node Feature Discovery cannot tell the nodes of pool "{pool.name}" from those of '
            "other GPU pools: it sees names, GPU model and operating system, never node labels",
            path=("spec", "nodePools", pool.index),
            hint="list the pool's nodes under nodeNames, or leave nodeLabels at list",
        )
