"""NVIDIADriver objects in, what the operator or the API would refuse about them out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from gitops_gen.components.gpu_operator.context import OWN, Context, Effective
from gitops_gen.components.gpu_operator.recipes import GpuPool
from gitops_gen.components.gpu_operator.rules.driver import is_branch, modules_of
from gitops_gen.diagnostics import Diagnostic, Path

_CRD = (*OWN, "driver", "nvidiaDriverCRD")


def driver_object_rules(context: Context, values: Effective) -> Iterator[Diagnostic]:
    """Yield unknown pools, selectors that overlap, and what only fails on the cluster."""
    yield from _known_pools(context)
    if context.own_driver_objects:
        yield from _selectors(context)
        yield from _second_default(context, values)
    yield from _open_for_storage(context, values)
    yield from _unquoted(context, values)


def _known_pools(context: Context) -> Iterator[Diagnostic]:
    names = [pool.name for pool in context.driver_pools]
    crd = context.settings.driver.nvidia_driver_crd
    for name in crd.pools:
        if name not in names:
            yield Diagnostic(
                code="unknown-driver-pool",
                message=f'"{name}" is no GPU pool whose driver the operator brings',
                path=("spec", *_CRD, "pools", name),
                hint=f"such pools: {', '.join(names) or 'none'}",
                on_key=True,
            )
    if crd.pools and not (crd.enabled and crd.per_pool):
        yield Diagnostic(
            code="driver-pools-unused",
            message="drivers of single pools need an NVIDIADriver for each pool",
            path=("spec", *_CRD, "pools"),
            hint="set nvidiaDriverCRD.enabled: true and leave perPool at true",
        )


def _selectors(context: Context) -> Iterator[Diagnostic]:
    for pool in context.driver_pools:
        if not pool.pool.node_selector:
            yield Diagnostic(
                code="driver-pool-without-selector",
                message=f'pool "{pool.name}" has no nodeSelector, so that its NVIDIADriver would '
                "take every GPU node",
                path=("spec", "nodePools", pool.index),
                hint="give the pool a nodeSelector that only its nodes have",
            )
    for first, second in combinations(context.driver_pools, 2):
        yield from _overlap(first, second)


def _second_default(context: Context, values: Effective) -> Iterator[Diagnostic]:
    """Older operators have no default object: one without a selector claims every node."""
    path = "driver.nvidiaDriverCRD.deployDefaultCR"
    if values.get(path) is True and "defaultDriverCR" not in context.version.supports:
        yield Diagnostic(
            code="default-driver-beside-pools",
            message="the chart's NVIDIADriver takes every GPU node, those of the pools' own objects too",
            path=values.place(path),
            hint="leave deployDefaultCR out of the raw values",
        )


def _overlap(first: GpuPool, second: GpuPool) -> Iterator[Diagnostic]:
    """Two selectors exclude each other only by different values of one label."""
    mine, theirs = first.pool.node_selector, second.pool.node_selector
    apart = any(mine[key] != theirs[key] for key in mine.keys() & theirs.keys())
    if mine and theirs and not apart:
        yield Diagnostic(
            code="driver-pools-overlap",
            message=f'the node selectors of pools "{first.name}" and "{second.name}" can both match '
            "a node, which the operator refuses for two NVIDIADriver objects",
            path=("spec", "nodePools", second.index, "nodeSelector"),
            hint="tell the pools apart by different values of one label",
        )


def _open_for_storage(context: Context, values: Effective) -> Iterator[Diagnostic]:
    """A ClusterPolicy leaves the choice to the driver, an NVIDIADriver wants the very word."""
    if values.get("gds.enabled") is not True:
        return
    seen: set[Path] = set()
    for pool in context.driver_pools:
        kind, place = modules_of(context, values, pool)
        closed = kind == "proprietary" or pool.accelerator.kernel_modules == "proprietary"
        if place not in seen and kind != "open" and (context.driver_objects or closed):
            seen.add(place)
            yield _closed_for_storage(context, pool, kind, place)


def _closed_for_storage(context: Context, pool: GpuPool, kind: str, place: Path) -> Diagnostic:
    if pool.accelerator.kernel_modules == "proprietary":
        name = pool.accelerator.name
        message = (
            f'GPUDirect Storage needs open kernel modules, which {name} has none of (pool "{pool.name}")'
        )
        hint = "leave gds out, or keep such nodes in a cluster without it"
    elif context.driver_objects:
        message = (
            f"an NVIDIADriver with GPUDirect Storage stays notReady with kernelModuleType: {kind} "
            f'(pool "{pool.name}"); only the word open is taken, not even auto'
        )
        hint = "set driver.kernelModuleType: open"
    else:
        message = f'GPUDirect Storage needs open kernel modules, not {kind} ones (pool "{pool.name}")'
        hint = "set driver.kernelModuleType: open, or leave it out"
    return Diagnostic(code="storage-needs-open-modules", message=message, path=place, hint=hint)


def _unquoted(context: Context, values: Effective) -> Iterator[Diagnostic]:
    """Older templates write the version without quotes, and a branch becomes a number."""
    wanted = values.get("driver.nvidiaDriverCRD.enabled") is True
    made = wanted and values.get("driver.nvidiaDriverCRD.deployDefaultCR") is not False
    version = str(values.get("driver.version"))
    if made and is_branch(version) and "quotedDriverVersion" not in context.version.supports:
        yield Diagnostic(
            code="default-driver-needs-full-version",
            message=f"chart {context.part.version} writes driver version {version} as a number, "
            "which the NVIDIADriver CRD refuses",
            path=values.place("driver.version", *OWN, "driver", "version"),
            hint="leave driver.nvidiaDriverCRD.perPool at true: our own objects quote it",
        )
