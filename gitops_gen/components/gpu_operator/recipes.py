"""A cluster's GPU pools in, the environment recipe and the driver's owner of each pool out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from gitops_gen.components.gpu_operator.facts import Driver, Recipe
from gitops_gen.model import Accelerator, ClusterSpec, NodePool


class GpuPool(msgspec.Struct, frozen=True, kw_only=True):
    """A pool of NVIDIA GPUs; `driver` None means that nobody can bring a driver there."""

    index: int
    pool: NodePool
    accelerator: Accelerator
    recipe: Recipe
    driver: Driver | None

    @property
    def name(self) -> str:
        """Name of the pool."""
        return self.pool.name

    def brings(self, operand: str) -> bool:
        """Say whether the nodes bring this operand themselves."""
        if operand == "driver":
            return self.driver == "preinstalled"
        return self.recipe.switches.get(operand) is False


def gpu_pools(
    spec: ClusterSpec,
    accelerators: Mapping[str, Accelerator],
    recipes: Iterable[Recipe],
) -> Iterator[GpuPool]:
    """Yield the pools with NVIDIA GPUs, each with the first recipe that fits it."""
    known = tuple(recipes)
    for index, pool in enumerate(spec.node_pools):
        accelerator = accelerators.get(pool.gpu.model) if pool.gpu else None
        if accelerator is not None and accelerator.vendor == "nvidia":
            recipe = next(item for item in known if _fits(item, spec, pool))
            yield GpuPool(
                index=index,
                pool=pool,
                accelerator=accelerator,
                recipe=recipe,
                driver=_driver(pool, recipe),
            )


def usual_recipe(spec: ClusterSpec, recipes: Iterable[Recipe]) -> Recipe | None:
    """Return what the distribution needs whatever its nodes are, None if that depends on them."""
    unknown = NodePool(name="", nodes=0)
    found = next((item for item in recipes if _fits(item, spec, unknown)), None)
    return None if found is None or found.alone else found


def disagreement(pools: Iterable[GpuPool]) -> tuple[GpuPool, GpuPool] | None:
    """Return the first two pools that cannot stand in one cluster, if there are any."""
    first: GpuPool | None = None
    for pool in pools:
        if first is None:
            first = pool
        elif _needs(first) != _needs(pool) and (first.recipe.alone or pool.recipe.alone):
            return first, pool
    return None


def _needs(pool: GpuPool) -> tuple[object, object]:
    return pool.recipe.switches, pool.recipe.values


def _fits(recipe: Recipe, spec: ClusterSpec, pool: NodePool) -> bool:
    when = recipe.when
    return (
        (not when.distribution or spec.kubernetes.distribution in when.distribution)
        and (not when.os or pool.os in when.os)
        and (not when.driver or pool.driver in when.driver)
    )


def _driver(pool: NodePool, recipe: Recipe) -> Driver | None:
    """A choice that the environment cannot have is a rule's matter; here it counts as made."""
    if pool.driver is not None:
        return pool.driver
    return recipe.driver[0] if recipe.driver else None
