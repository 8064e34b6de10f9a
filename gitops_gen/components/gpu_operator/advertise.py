"""A cluster in, what the nodes of each GPU pool advertise and the labels that they need out."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gitops_gen import pools
from gitops_gen.components.gpu_operator.config_maps import device_plugin_config
from gitops_gen.components.gpu_operator.context import Context
from gitops_gen.components.gpu_operator.recipes import GpuPool
from gitops_gen.components.gpu_operator.resources import serves_containers
from gitops_gen.model import PoolResources


def advertised(context: Context) -> Iterator[PoolResources]:
    """Yield the resources and labels of each GPU pool, in the order of the pools."""
    for pool in context.pools:
        yield advertised_by(context, pool)


def node_labels(context: Context, pool: GpuPool) -> dict[str, str]:
    """Return the labels that somebody must set on the nodes of a pool."""
    return dict(advertised_by(context, pool).labels)


def advertised_by(context: Context, pool: GpuPool) -> PoolResources:
    """Return what the nodes of one pool advertise; nothing with claims or virtual machines."""
    config = device_plugin_config(context)
    found = pools.advertised(
        pool.pool,
        pool.accelerator,
        context.settings.mig.strategy,
        mig_in_cluster=bool(context.mig_pools),
        several_configs=config is not None and len(config.data) > 1,
    )
    if not serves_containers(context, pool):
        found = replace(found, resources={}, labels={})
    labels = {**found.labels, **_workload_label(context, pool), **_operand_labels(context, pool)}
    return replace(found, labels=dict(sorted(labels.items())))


def _workload_label(context: Context, pool: GpuPool) -> dict[str, str]:
    sandbox = context.settings.sandbox_workloads
    kind = context.workload(pool)
    if sandbox.mode == "none" or kind == sandbox.default_workload:
        return {}
    return {context.facts.workloads.label: kind}


def _operand_labels(context: Context, pool: GpuPool) -> dict[str, str]:
    """Keep operands off nodes that bring them, where other pools need them."""
    settings = context.settings
    asked = {"toolkit": settings.toolkit.enabled, "devicePlugin": settings.device_plugin.enabled}
    return {
        label: "false"
        for operand, label in context.facts.deploy_labels.labels.items()
        if pool.brings(operand) and asked.get(operand) is None and _runs(context, operand)
    }


def _runs(context: Context, operand: str) -> bool:
    return context.driver_enabled if operand == "driver" else context.operand_enabled(operand)
