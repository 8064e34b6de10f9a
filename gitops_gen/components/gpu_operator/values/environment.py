"""Distribution, os and driver of the GPU pools in, the values that they need out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops_gen.components.gpu_operator.context import (
    Context,
    environment,
    of_recipe,
    own,
)
from gitops_gen.model import Json, Origin, Setting, from_fact, from_spec
from gitops_gen.traced import put

_TOOLKIT_ENV = "toolkit.env"
_DRIVER_TOOLKIT = "operator.use_ocp_driver_toolkit"


def environment_values(context: Context) -> Iterator[Setting]:
    """Yield what the environment decides, each value once."""
    yield from _recipe_values(context)
    yield from _operand(context, "toolkit")
    yield from _operand(context, "devicePlugin")
    yield from _toolkit_env(context)
    yield from _device_plugin_env(context)
    yield from _many_nodes(context)
    if context.settings.kubelet_root_dir:
        yield put(
            "hostPaths.kubeletRootDir",
            context.settings.kubelet_root_dir,
            own("kubeletRootDir"),
        )


def _recipe_values(context: Context) -> Iterator[Setting]:
    seen: set[str] = set()
    for recipe, because in context.environments:
        for path, value in recipe.values.items():
            unused = path == _DRIVER_TOOLKIT and not context.driver_enabled
            if path not in seen and path != _TOOLKIT_ENV and not unused:
                seen.add(path)
                yield put(path, value, *because)
    if not context.nfd_enabled and "nfd.enabled" not in seen:
        yield put(
            "nfd.enabled",
            False,
            from_spec("components", "nodeFeatureDiscovery", "provided"),
        )


def _operand(context: Context, operand: str) -> Iterator[Setting]:
    chosen = {
        "toolkit": context.settings.toolkit,
        "devicePlugin": context.settings.device_plugin,
    }
    wanted = chosen[operand].enabled
    if wanted is not None:
        if wanted != context.default(f"{operand}.enabled"):
            yield put(f"{operand}.enabled", wanted, own(operand, "enabled"))
    elif not context.operand_enabled(operand):
        yield put(f"{operand}.enabled", False, *context.environments[0][1])


def _toolkit_env(context: Context) -> Iterator[Setting]:
    if not context.operand_enabled("toolkit"):
        return
    wanted: dict[str, tuple[Any, tuple[Origin, ...]]] = {}
    for recipe, because in context.environments:
        if not (context.settings.cdi.nri and recipe.without_nri):
            for name, value in recipe.values.get(_TOOLKIT_ENV, {}).items():
                wanted.setdefault(name, (value, because))
    for name, value in context.settings.toolkit.env.items():
        wanted[name] = (value, (own("toolkit", "env", name),))
    for name, (value, origins) in wanted.items():
        yield from _variables(_TOOLKIT_ENV, {name: value}, *origins)


def _device_plugin_env(context: Context) -> Iterator[Setting]:
    """Nodes that bring a device plugin have host OFED; ours must not hand out its devices."""
    if not context.operand_enabled("devicePlugin"):
        return
    env = context.settings.device_plugin.env
    rdma = context.facts.rdma
    brought = [pool for pool in context.pools if pool.brings("devicePlugin")]
    if brought and context.settings.device_plugin.enabled and rdma.env not in env:
        origins = (own("devicePlugin", "enabled"), of_recipe(brought[0]))
        yield from _variables("devicePlugin.env", {rdma.env: "false"}, *origins)
    for name, value in env.items():
        yield from _variables("devicePlugin.env", {name: value}, own("devicePlugin", "env", name))


def _many_nodes(context: Context) -> Iterator[Setting]:
    limit = context.facts.many_nodes
    if sum(pool.nodes for pool in context.spec.node_pools) > limit.above:
        yield put(
            "operator.resources.limits.memory",
            limit.memory,
            from_spec("nodePools"),
            from_fact(limit.reference(f"memory of the operator above {limit.above} nodes")),
        )


def _variables(path: str, variables: dict[str, Any], *origins: Origin) -> Iterator[Setting]:
    for item in environment(variables):
        value: Json = dict(item)
        yield put(f"{path}[]", value, *origins)
