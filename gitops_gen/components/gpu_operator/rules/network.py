"""RDMA settings and the pools' fabric in, waits and leaks on the nodes out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops_gen.components.gpu_operator.context import OWN, Context, Effective
from gitops_gen.components.gpu_operator.recipes import GpuPool
from gitops_gen.components.gpu_operator.rules.driver import modules_of, numbers
from gitops_gen.diagnostics import Diagnostic, Severity

_NETWORK = "networkOperator"
_RDMA = "driver.rdma.enabled"


def network_rules(context: Context, values: Effective) -> Iterator[Diagnostic]:
    """Yield RDMA that waits for ever, that is not needed, and devices handed to every pod."""
    if values.get(_RDMA) is True or (context.own_driver_objects and context.settings.driver.rdma):
        yield from _ofed(context, values)
        yield from _legacy(context, values)
    yield from _verbs_devices(context, values)
    yield from _nvlink5(context)


def _ofed(context: Context, values: Effective) -> Iterator[Diagnostic]:
    place = values.place(_RDMA, *OWN, "driver", "rdma")
    fabric = [pool for pool in context.driver_pools if pool.pool.fabric]
    waiting = [pool for pool in fabric if pool.pool.fabric and pool.pool.fabric.ofed == "operator"]
    host = [pool for pool in fabric if pool not in waiting]
    if waiting and host:
        yield Diagnostic(
            code="rdma-mixed-ofed",
            message=f'driver.rdma is one setting for pool "{waiting[0].name}", whose network driver '
            f'an operator brings, and pool "{host[0].name}", where it is on the host',
            path=place,
            hint="bring the network driver alike on all pools (fabric.ofed), or leave driver.rdma out",
        )
    elif waiting and _NETWORK not in context.spec.components:
        yield Diagnostic(
            code="rdma-waits-for-ofed",
            message=f'with driver.rdma the driver of pool "{waiting[0].name}" waits without end for a '
            "network driver that nobody installs",
            path=place,
            hint="switch components.networkOperator on, write fabric.ofed: host where the nodes have "
            "it, or leave driver.rdma out",
        )


def _legacy(context: Context, values: Effective) -> Iterator[Diagnostic]:
    if all(_takes_dma_buf(context, values, pool) for pool in context.driver_pools):
        yield Diagnostic(
            code="rdma-legacy-module",
            severity=Severity.WARNING,
            message="driver.rdma only loads the legacy nvidia-peermem module; these GPUs do RDMA "
            "through DMA-BUF without it (kernel 5.12, CUDA 11.7 or later)",
            path=values.place(_RDMA, *OWN, "driver", "rdma"),
            hint="leave driver.rdma out",
        )


def _takes_dma_buf(context: Context, values: Effective, pool: GpuPool) -> bool:
    kind, _ = modules_of(context, values, pool)
    return kind != "proprietary" and pool.accelerator.kernel_modules != "proprietary"


def _verbs_devices(context: Context, values: Effective) -> Iterator[Diagnostic]:
    facts = context.facts.rdma
    fabric = any(pool.pool.fabric for pool in context.pools)
    version = numbers(str(values.get("devicePlugin.version")).removeprefix("v"))
    low, high = (numbers(bound.removeprefix("v")) for bound in (facts.plugin_from, facts.plugin_to))
    leaking = low <= version <= high
    storage = values.get("gds.enabled") is True
    if not fabric or not (leaking or storage) or _says_no(values.get("devicePlugin.env"), facts.env):
        return
    why = f"device plugin {values.get('devicePlugin.version')}" if leaking else "GPUDirect Storage"
    yield Diagnostic(
        code="verbs-devices-exposed",
        severity=Severity.WARNING,
        message=f"with {why} every GPU pod gets all RDMA devices of its node",
        path=values.place("devicePlugin.version", *OWN, "gds" if storage else "version"),
        hint=f'set components.gpuOperator.devicePlugin.env: {{{facts.env}: "false"}}',
    )


def _says_no(env: Any, name: str) -> bool:
    entries = env if isinstance(env, list) else []
    return any(item.get("name") == name and item.get("value") == "false" for item in entries)


def _nvlink5(context: Context) -> Iterator[Diagnostic]:
    for pool in context.driver_pools:
        if pool.accelerator.id in context.facts.drivers.nvlink5 and pool.pool.fabric is None:
            yield Diagnostic(
                code="nvlink-needs-adapters",
                severity=Severity.WARNING,
                message=f'the driver of pool "{pool.name}" ({pool.accelerator.name}) waits until '
                "mlx5_core and ib_umad are loaded, and the pool has no fabric that loads them",
                path=("spec", "nodePools", pool.index),
                hint="describe the network under fabric, or load the two modules on the hosts and "
                "accept this warning",
            )
