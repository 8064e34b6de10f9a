"""MIG layouts and sharing of the pools in, the values that point the operator to them out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.gpu_operator.config_maps import (
    device_plugin_config,
    mig_config,
)
from gitops_gen.components.gpu_operator.context import Context, environment, of_pool, own
from gitops_gen.model import Setting, from_fact, from_rule, from_spec
from gitops_gen.traced import put

_HASHED = from_rule("the name carries a hash: the operator sees a new name, not new content")


def sharing_values(context: Context) -> Iterator[Setting]:
    """Yield the MIG strategy and the ConfigMaps of the MIG manager and the device plugin."""
    strategy = context.settings.mig.strategy
    if strategy != context.default("mig.strategy"):
        yield put("mig.strategy", strategy, own("mig", "strategy"))
    config = mig_config(context)
    if config is not None:
        yield put("migManager.config.name", config.name, *config.origins, _HASHED)
    elif context.version.mig_config_name is not None:
        fact = from_fact(context.version.reference("an empty name is no string to the CRD"))
        yield put("migManager.config.name", context.version.mig_config_name, fact)
    if context.settings.gpu_clients_config_map:
        clients = context.settings.gpu_clients_config_map
        yield put("migManager.gpuClientsConfig.name", clients, own("gpuClientsConfigMap"))
    yield from _old_system(context)
    yield from _reboot(context)
    plugin = device_plugin_config(context)
    if plugin is not None:
        yield put("devicePlugin.config.name", plugin.name, *plugin.origins, _HASHED)
        yield put("devicePlugin.config.default", plugin.default, *plugin.origins)


def _old_system(context: Context) -> Iterator[Setting]:
    facts = context.facts.mig_manager
    for pool in context.mig_pools:
        version = facts.versions.get(pool.pool.os or "")
        if version is not None and pool.driver == "preinstalled":
            fact = from_fact(facts.reference("MIG manager for hosts with an old C library"))
            yield put("migManager.version", version, of_pool(pool, "os"), of_pool(pool, "driver"), fact)
            return


def _reboot(context: Context) -> Iterator[Setting]:
    facts = context.facts.reboot
    if context.mig_pools and context.spec.kubernetes.distribution in facts.distributions:
        origins = (
            from_spec("kubernetes", "distribution"),
            *(from_spec("nodePools", pool.index, "gpu", "mig") for pool in context.mig_pools),
            from_fact(facts.reference("on this cloud a GPU is reset by a reboot")),
        )
        for item in environment(dict(facts.env)):
            yield put("migManager.env[]", dict(item), *origins)
