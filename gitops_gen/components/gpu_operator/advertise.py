"""A cluster in, what the nodes of each GPU pool advertise and the labels that they need out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.gpu_operator.config_maps import device_plugin_config
from gitops_gen.components.gpu_operator.context import Context
from gitops_gen.components.gpu_operator.mig_labels import mig_set
from gitops_gen.components.gpu_operator.recipes import GpuPool
from gitops_gen.components.gpu_operator.resources import (
    pool_resources,
    product_label,
    workload,
)
from gitops_gen.model import PoolResources

_MIG = "nvidia.com/mig.config"
_DEVICE_PLUGIN = "nvidia.com/device-plugin.config"


def advertised(context: Context) -> Iterator[PoolResources]:
    """Yield the resources and labels of each GPU pool, in the order of the pools."""
    for pool in context.pools:
        yield PoolResources(
            pool=pool.name,
            nodes=pool.pool.nodes,
            use=pool.pool.use,
            resources=dict(pool_resources(context, pool)),
            labels=node_labels(context, pool),
            product=product_label(context, pool),
        )


def node_labels(context: Context, pool: GpuPool) -> dict[str, str]:
    """Return the labels that somebody must set on the nodes of a pool."""
    return dict(sorted({**_layout_labels(context, pool), **_operand_labels(context, pool)}.items()))


def _layout_labels(context: Context, pool: GpuPool) -> dict[str, str]:
    labels: dict[str, str] = {}
    if context.settings.gpu_cluster.enabled:
        return labels
    if context.mig_pools and pool.accelerator.mig_profiles:
        labels[_MIG] = mig_set(pool, context.facts.mig)
    config = device_plugin_config(context)
    if config is not None and len(config.data) > 1:
        labels[_DEVICE_PLUGIN] = pool.name
    return labels


def _operand_labels(context: Context, pool: GpuPool) -> dict[str, str]:
    """Labels where pools differ: what runs there, and operands that its nodes bring themselves."""
    labels: dict[str, str] = {}
    facts = context.facts
    sandbox = context.settings.sandbox_workloads
    kind = workload(context, pool)
    if sandbox.mode != "none" and kind != sandbox.default_workload:
        labels[facts.workloads.label] = kind
    chosen = {
        "toolkit": context.settings.toolkit,
        "devicePlugin": context.settings.device_plugin,
    }
    for operand, label in facts.deploy_labels.labels.items():
        here = context.driver_enabled if operand == "driver" else context.operand_enabled(operand)
        forced = operand in chosen and chosen[operand].enabled is not None
        if here and pool.brings(operand) and not forced:
            labels[label] = "false"
    return labels
