"""A spec with its GPU Operator part in, everything that values, objects and rules decide by out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from gitops_gen.components.gpu_operator.facts import GpuFacts, Recipe, VersionFacts
from gitops_gen.components.gpu_operator.recipes import GpuPool, gpu_pools, usual_recipe
from gitops_gen.components.gpu_operator.settings import GpuOperatorSettings
from gitops_gen.diagnostics import Path
from gitops_gen.model import (
    Accelerator,
    ChartKeys,
    ClusterSpec,
    ComponentFacts,
    ComponentSpec,
    Json,
    Origin,
    from_fact,
    from_spec,
)
from gitops_gen.traced import parse_path

NAME = "gpuOperator"
OWN = ("components", NAME)


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """One cluster as the GPU Operator sees it."""

    spec: ClusterSpec
    part: ComponentSpec
    settings: GpuOperatorSettings
    facts: GpuFacts
    version: VersionFacts
    keys: ChartKeys
    pools: tuple[GpuPool, ...]
    accelerators: dict[str, Accelerator]

    @property
    def environments(self) -> tuple[tuple[Recipe, tuple[Origin, ...]], ...]:
        """Recipes in force and why; without a known GPU pool what the distribution always needs."""
        because = from_spec("kubernetes", "distribution")
        if not self.pools:
            usual = usual_recipe(self.spec, self.facts.recipes)
            return () if usual is None else ((usual, (because, _recipe(usual))),)
        return tuple((pool.recipe, (because, of_pool(pool, "os"), of_recipe(pool))) for pool in self.pools)

    @property
    def driver_pools(self) -> tuple[GpuPool, ...]:
        """Pools whose driver the operator brings; virtual machines bring their own."""
        return tuple(
            pool
            for pool in self.pools
            if pool.driver == "operator" and self.workload(pool) == self.facts.workloads.container
        )

    @property
    def driver_enabled(self) -> bool:
        """The driver is off only where every known GPU pool has one already."""
        return not self.pools or any(pool.driver == "operator" for pool in self.pools)

    @property
    def driver_objects(self) -> bool:
        """NVIDIADriver objects, rather than the ClusterPolicy, say which driver runs where."""
        chosen = self.settings.driver.nvidia_driver_crd.enabled or self.settings.gpu_cluster.enabled
        return chosen and self.driver_enabled

    @property
    def own_driver_objects(self) -> bool:
        """We write an NVIDIADriver for each pool; otherwise the chart makes one for all."""
        crd = self.settings.driver.nvidia_driver_crd
        return self.driver_objects and crd.enabled and crd.per_pool

    @property
    def nfd_enabled(self) -> bool:
        """The chart brings Node Feature Discovery, unless somebody else or the platform does."""
        other = self.spec.components.get("nodeFeatureDiscovery")
        by_platform = any(recipe.values.get("nfd.enabled") is False for recipe, _ in self.environments)
        provided = other is not None and other.provided
        return not provided and not by_platform

    @property
    def mig_pools(self) -> tuple[GpuPool, ...]:
        """Pools whose GPUs are cut into MIG instances."""
        return tuple(pool for pool in self.pools if pool.pool.gpu and pool.pool.gpu.mig)

    @property
    def shared_pools(self) -> tuple[GpuPool, ...]:
        """Pools whose GPUs several pods share."""
        return tuple(pool for pool in self.pools if pool.pool.gpu and pool.pool.gpu.sharing)

    def operand_enabled(self, operand: str) -> bool:
        """Say whether the toolkit or the device plugin is installed on any node."""
        chosen = {
            "toolkit": self.settings.toolkit,
            "devicePlugin": self.settings.device_plugin,
        }
        wanted = chosen[operand].enabled
        if wanted is not None:
            return wanted
        return not self.pools or not all(pool.brings(operand) for pool in self.pools)

    def workload(self, pool: GpuPool) -> str:
        """Return what the nodes of the pool run: containers or virtual machines."""
        sandbox = self.settings.sandbox_workloads
        if sandbox.mode == "none":
            return self.facts.workloads.container
        return sandbox.pools.get(pool.name, sandbox.default_workload)

    def default(self, path: str) -> Json:
        """Return the chart's own value of `path` in this version, None if it has none."""
        entry = self.keys.keys.get(path)
        return None if entry is None else entry.get("default")


class Effective(msgspec.Struct, frozen=True):
    """Chart values as they will be: the user's overlay over ours over the chart's defaults."""

    values: Json
    overlay: Json
    keys: ChartKeys

    def get(self, path: str) -> Json:
        """Return the value at `path`, None if nobody sets it."""
        found = _at(self.values, parse_path(path))
        entry = self.keys.keys.get(path)
        return entry.get("default") if found is None and entry is not None else found

    def in_overlay(self, path: str) -> bool:
        """Say whether the user's raw values set `path`."""
        return _at(self.overlay, parse_path(path)) is not None

    def place(self, path: str, *otherwise: str | int) -> Path:
        """Return the spec path of `path` in the raw values, else the path below `spec` given."""
        if self.in_overlay(path):
            return ("spec", *OWN, "values", *parse_path(path))
        return ("spec", *otherwise)


def context_of(spec: ClusterSpec, facts: ComponentFacts, known: GpuFacts) -> Context:
    """Return the cluster as the GPU Operator sees it; KeyError if the chart is not catalogued."""
    part = spec.components[NAME]
    accelerators = dict(facts.catalog.accelerators)
    return Context(
        spec=spec,
        part=part,
        settings=cast(GpuOperatorSettings, part.settings),
        facts=known,
        version=known.versions[part.version],
        keys=facts.chart_keys(known.charts[0].name, part.version),
        pools=tuple(gpu_pools(spec, accelerators, known.recipes)),
        accelerators=accelerators,
    )


def own(*path: str | int) -> Origin:
    """The value follows from this component's part of the spec."""
    return from_spec(*OWN, *path)


def of_pool(pool: GpuPool, *path: str | int) -> Origin:
    """The value follows from a node pool."""
    return from_spec("nodePools", pool.index, *path)


def of_recipe(pool: GpuPool) -> Origin:
    """The value follows from the environment of a pool."""
    return _recipe(pool.recipe)


def _recipe(recipe: Recipe) -> Origin:
    return from_fact(recipe.reference(f"recipe {recipe.name}"))


def environment(variables: dict[str, Any]) -> Iterator[dict[str, Json]]:
    """Yield environment variables as Kubernetes writes them; every value is a string."""
    for name, value in variables.items():
        yield {"name": name, "value": str(value)}


def _at(values: Json, path: Path) -> Json:
    found = values
    for part in path:
        if isinstance(found, dict):
            found = found.get(str(part))
        elif isinstance(found, list) and isinstance(part, int) and part < len(found):
            found = found[part]
        else:
            return None
    return found
