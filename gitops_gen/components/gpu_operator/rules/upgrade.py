"""State and chart version of the last render in, steps that NVIDIA does not support out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitops_gen.catalog.versions import Version
from gitops_gen.components.gpu_operator.context import OWN, Context
from gitops_gen.components.gpu_operator.drivers import driver_version
from gitops_gen.components.gpu_operator.values.driver import default_driver
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.model import Json

_PLACE = "spec.components.gpuOperator"
_CHART = "charts.gpu-operator"
_STEPS = (0, 1)


def upgrade_rules(context: Context, previous: Mapping[str, Json]) -> Iterator[Diagnostic]:
    """Yield jumps over a release line, and changes of who brings driver and devices."""
    yield from _lines(context, previous)
    yield from _default_driver(context, previous)
    yield from _driver_objects(context, previous)
    yield from _claims(context, previous)


def _lines(context: Context, previous: Mapping[str, Json]) -> Iterator[Diagnostic]:
    before = previous.get(_CHART)
    if not isinstance(before, str):
        return
    order = context.facts.release_lines.order
    old, new = _place(before, order), _place(context.part.version, order)
    step = new - old
    if step in _STEPS:
        return
    way = f"go through {order[old + 1]}" if step > 1 else f"stay at {before} or later"
    yield Diagnostic(
        code="release-line-skipped",
        message=f"{before} to {context.part.version}: upgrades go within a release line or to the next "
        "one" + (", never back" if step < 0 else ""),
        path=("spec", *OWN, "version"),
        hint=f"{way} first" if step > 1 else way,
    )


def _default_driver(context: Context, previous: Mapping[str, Json]) -> Iterator[Diagnostic]:
    """A driver that nobody chose comes with the chart, and is exchanged with it."""
    before = context.facts.versions.get(str(previous.get(_CHART)))
    chosen = context.settings.driver.version or _at_overlay(context)
    pools = [
        pool.name for pool in context.driver_pools if driver_version(context, pool) == default_driver(context)
    ]
    if before is None or chosen or not pools or not _in_reach(context, previous):
        return
    if before.driver == context.version.driver:
        return
    yield Diagnostic(
        code="driver-changes-with-chart",
        severity=Severity.NOTICE,
        message=f"{previous[_CHART]} to {context.part.version} also changes the driver of "
        f"{', '.join(pools)} from {before.driver} to {context.version.driver}: pods with GPUs are "
        "evicted node by node",
        path=("spec", *OWN, "version"),
        hint=f"set driver.version: {before.driver} to change it at another time",
    )


def _in_reach(context: Context, previous: Mapping[str, Json]) -> bool:
    order = context.facts.release_lines.order
    return _place(context.part.version, order) - _place(str(previous[_CHART]), order) in _STEPS


def _at_overlay(context: Context) -> bool:
    driver = context.part.values.get("driver")
    return isinstance(driver, dict) and "version" in driver


def _driver_objects(context: Context, previous: Mapping[str, Json]) -> Iterator[Diagnostic]:
    before = previous.get(f"{_PLACE}.driver.nvidiaDriverCRD.enabled")
    now = context.settings.driver.nvidia_driver_crd.enabled
    if before is False and now and "driverMigration" not in context.version.supports:
        able = [name for name, v in context.facts.versions.items() if "driverMigration" in v.supports]
        yield Diagnostic(
            code="driver-migration-unsupported",
            message=f"{context.part.version} takes NVIDIADriver objects on new clusters only, and this "
            "one runs the driver of a ClusterPolicy",
            path=("spec", *OWN, "driver", "nvidiaDriverCRD", "enabled"),
            hint=f"upgrade to {' or '.join(able)} first",
        )


def _claims(context: Context, previous: Mapping[str, Json]) -> Iterator[Diagnostic]:
    before = previous.get(f"{_PLACE}.gpuCluster.enabled")
    if before is False and context.settings.gpu_cluster.enabled:
        yield Diagnostic(
            code="claims-on-running-cluster",
            message="a ClusterPolicy cannot be exchanged for a GPUCluster in place: every driver and "
            "device would be torn down",
            path=("spec", *OWN, "gpuCluster", "enabled"),
            hint="set up a new cluster with gpuCluster.enabled, and move the workloads",
        )


def _place(version: str, order: tuple[str, ...]) -> int:
    """Return the place of a version's line in the order: -1 before the first, its length after it."""
    line = Version.parse(version).minor
    known = [Version.parse(item).minor for item in order]
    return known.index(line) if line in known else (-1 if line < known[0] else len(known))
