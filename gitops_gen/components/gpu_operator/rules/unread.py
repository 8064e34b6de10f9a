"""Settings and raw values in, those that nothing reads in this combination out."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gitops_gen.components.gpu_operator.context import OWN, Context
from gitops_gen.components.gpu_operator.settings import DriverSettings
from gitops_gen.diagnostics import Diagnostic, Severity

_READ_BESIDE_OBJECTS = frozenset({"enabled", "nvidiaDriverCRD", "manager", "upgradePolicy"})


def unread_rules(context: Context) -> Iterator[Diagnostic]:
    """Yield what is written without effect, and why."""
    if context.own_driver_objects:
        yield from _beside_objects(context)
    if context.settings.gpu_cluster.enabled:
        yield from _beside_claims(context)
    if context.pools and not context.driver_enabled:
        yield from _without_driver(context)


def _beside_objects(context: Context) -> Iterator[Diagnostic]:
    driver = context.part.values.get("driver")
    for key in driver if isinstance(driver, dict) else ():
        if key not in _READ_BESIDE_OBJECTS:
            yield _unread(
                f"driver.{key}",
                "NVIDIADriver objects of this tree say what runs on each pool",
                ("values", "driver", key),
                "say it under components.gpuOperator.driver",
            )


def _beside_claims(context: Context) -> Iterator[Diagnostic]:
    for key in context.part.values:
        if key not in context.facts.gpu_cluster.reads and key not in ("extraObjects", "psa"):
            why = "with a GPUCluster the chart makes no ClusterPolicy"
            yield _unread(key, why, ("values", key), "remove it")


def _unread(key: str, why: str, place: tuple[str, ...], hint: str) -> Diagnostic:
    return Diagnostic(
        code="values-unread",
        severity=Severity.WARNING,
        message=f"values.{key} has no effect: {why}",
        path=("spec", *OWN, *place),
        hint=hint,
        on_key=True,
    )


def _without_driver(context: Context) -> Iterator[Diagnostic]:
    driver, usual = (msgspec.to_builtins(item) for item in (context.settings.driver, DriverSettings()))
    for key, value in driver.items():
        if value != usual[key]:
            yield Diagnostic(
                code="driver-settings-unused",
                severity=Severity.NOTICE,
                message=f"driver.{key} has no effect: every GPU pool brings its driver",
                path=("spec", *OWN, "driver", key),
                hint="remove it, or write `driver: operator` at a pool",
                on_key=True,
            )
