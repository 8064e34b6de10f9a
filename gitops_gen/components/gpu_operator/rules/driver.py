"""Driver version, modules and pools in, combinations that cannot work out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitops_gen.components.gpu_operator.context import OWN, Context, Effective
from gitops_gen.components.gpu_operator.drivers import driver_version, pool_driver
from gitops_gen.components.gpu_operator.recipes import GpuPool
from gitops_gen.diagnostics import Diagnostic, Path, Severity

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_RELEASE = re.compile(r"R?[4-9]\d\d(?:\.\d+){0,2}(?:-[\w.-]+)?\Z")
_BRANCH = re.compile(r"\d+\Z")
_DRIVER = (*OWN, "driver")


def driver_rules(context: Context, values: Effective) -> Iterator[Diagnostic]:
    """Yield what does not fit together of driver, kernel modules, GPUs and systems."""
    yield from _switch(context, values)
    for pool in context.driver_pools:
        yield from _form(context, values, pool)
        yield from _modules(context, values, pool)
        yield from _bounds(context, values, pool)
        yield from _precompiled(context, values, pool)
    yield from _without_driver(context, values)


def _form(context: Context, values: Effective, pool: GpuPool) -> Iterator[Diagnostic]:
    """Refuse a version that is no tag of NVIDIA's driver images; images of one's own may have any."""
    version, path = version_of(context, values, pool)
    if context.settings.driver.repository is None and not _RELEASE.match(version):
        yield Diagnostic(
            code="driver-version-form",
            message=f'"{version}" is no driver version: they have the form 580.173.02, or 580 for a branch',
            path=path,
            hint=f"leave it out for the chart's own {context.version.driver}; images of your own need "
            "driver.repository",
        )


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a driver version or branch; empty if it begins with none."""
    found = _NUMBERS.match(version.removeprefix("R"))
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def is_branch(version: str) -> bool:
    """Say whether a version names a branch rather than a release."""
    return _BRANCH.match(version) is not None


def version_of(context: Context, values: Effective, pool: GpuPool) -> tuple[str, Path]:
    """Return the driver version that a pool gets and where the spec says so."""
    chosen, _ = driver_version(context, pool)
    if context.own_driver_objects:
        if pool_driver(context, pool).version is not None:
            place = (*_DRIVER, "nvidiaDriverCRD", "pools", pool.name, "version")
            return chosen, ("spec", *place)
    elif values.in_overlay("driver.version"):
        return str(values.get("driver.version")), values.place("driver.version")
    if context.settings.driver.version is not None:
        return chosen, ("spec", *_DRIVER, "version")
    return chosen, ("spec", "nodePools", pool.index, "gpu", "model")


def modules_of(context: Context, values: Effective, pool: GpuPool) -> tuple[str, Path]:
    """Return the kind of kernel modules that a pool gets and where the spec says so."""
    own = pool_driver(context, pool).kernel_module_type if context.own_driver_objects else None
    if own is not None:
        place = (*_DRIVER, "nvidiaDriverCRD", "pools", pool.name, "kernelModuleType")
        return own, ("spec", *place)
    path = "driver.kernelModuleType"
    chosen = context.settings.driver.kernel_module_type
    if context.own_driver_objects:
        return chosen or "auto", ("spec", *_DRIVER, "kernelModuleType")
    return str(values.get(path)), values.place(path, *_DRIVER, "kernelModuleType")


def precompiled(context: Context, values: Effective, pool: GpuPool) -> bool:
    """Say whether a pool gets a precompiled driver."""
    if context.own_driver_objects:
        own = pool_driver(context, pool).use_precompiled
        return context.settings.driver.use_precompiled if own is None else own
    return values.get("driver.usePrecompiled") is True


def _switch(context: Context, values: Effective) -> Iterator[Diagnostic]:
    if not context.pools or not values.in_overlay("driver.enabled"):
        return
    wanted = values.get("driver.enabled")
    if wanted is True and not context.driver_enabled:
        yield Diagnostic(
            code="driver-already-installed",
            message="values.driver.enabled is true, but every GPU pool brings its driver",
            path=values.place("driver.enabled"),
            hint=f'remove it, or write `driver: operator` at pool "{context.pools[0].name}"',
        )
    if wanted is False and context.driver_enabled:
        yield Diagnostic(
            code="driver-switched-off",
            severity=Severity.WARNING,
            message="values.driver.enabled is false, but the operator is to bring the driver of pool "
            f'"{context.driver_pools[0].name}"',
            path=values.place("driver.enabled"),
            hint="write `driver: preinstalled` at the pools instead, so that everything else follows",
        )


def _modules(context: Context, values: Effective, pool: GpuPool) -> Iterator[Diagnostic]:
    kind, place = modules_of(context, values, pool)
    needed = pool.accelerator.kernel_modules
    if (needed, kind) in (("open", "proprietary"), ("proprietary", "open")):
        yield Diagnostic(
            code="kernel-modules-unsupported",
            message=f'{kind} kernel modules do not support {pool.accelerator.name} (pool "{pool.name}")',
            path=place,
            hint=f"use kernelModuleType: {needed}, or auto",
        )
    version, _ = version_of(context, values, pool)
    floor = context.facts.drivers.auto_modules
    if kind == "auto" and _below(numbers(version), numbers(floor)):
        yield Diagnostic(
            code="kernel-modules-undecided",
            severity=Severity.WARNING,
            message=f"driver {version} cannot choose its kernel modules; that begins with {floor}",
            path=version_of(context, values, pool)[1],
            hint="set driver.kernelModuleType to open or proprietary",
        )


def _bounds(context: Context, values: Effective, pool: GpuPool) -> Iterator[Diagnostic]:
    version, place = version_of(context, values, pool)
    floor, ceiling = pool.accelerator.driver_min, pool.accelerator.driver_max
    name = f'{pool.accelerator.name} (pool "{pool.name}")'
    if floor is not None and _below(numbers(version), numbers(floor)):
        yield Diagnostic(
            code="driver-too-old",
            message=f"driver {version} does not know {name}; it needs {floor} or later",
            path=place,
            hint=f"set driver.version to {floor} or later, or leave it out",
        )
    if ceiling is not None and numbers(version)[:1] > numbers(ceiling)[:1]:
        last = context.facts.drivers.last_for_volta
        yield Diagnostic(
            code="driver-too-new",
            message=f"driver {version} does not support {name}; branch {ceiling} is its last",
            path=place,
            hint=f"set components.gpuOperator.driver.version to {last}",
        )


def _precompiled(context: Context, values: Effective, pool: GpuPool) -> Iterator[Diagnostic]:
    version, place = version_of(context, values, pool)
    switch = values.place("driver.usePrecompiled", *_DRIVER, "usePrecompiled")
    if not precompiled(context, values, pool):
        if is_branch(version):
            yield Diagnostic(
                code="driver-version-incomplete",
                message=f'"{version}" is a driver branch; only precompiled drivers have such an image',
                path=place,
                hint="write the full version, or set driver.usePrecompiled: true",
            )
        return
    if not is_branch(version):
        yield Diagnostic(
            code="precompiled-needs-branch",
            message=f'precompiled drivers are named by branch, not by a version such as "{version}"',
            path=place if place[1] != "nodePools" else switch,
            hint=f'set driver.version: "{version.split(".")[0]}"',
        )
    yield from _precompiled_system(context, pool, version, switch)
    yield from _precompiled_parts(context, values, pool, switch)


def _precompiled_system(context: Context, pool: GpuPool, version: str, switch: Path) -> Iterator[Diagnostic]:
    branches = context.version.precompiled
    known = branches.get(pool.pool.os or "", ())
    branch = version.split(".")[0]
    if pool.pool.os is not None and branch not in known:
        offered = ", ".join(f"{name}: {'/'.join(have)}" for name, have in branches.items())
        yield Diagnostic(
            code="precompiled-unavailable",
            message=f"there is no precompiled driver of branch {branch} for {pool.pool.os} "
            f'(pool "{pool.name}")',
            path=switch,
            hint=f"precompiled are {offered}",
        )


def _precompiled_parts(
    context: Context, values: Effective, pool: GpuPool, switch: Path
) -> Iterator[Diagnostic]:
    vgpu = context.settings.driver.licensing is not None
    parts = {
        "GPUDirect Storage": values.get("gds.enabled") is True,
        "GDRCopy": values.get("gdrcopy.enabled") is True,
        "vGPU": vgpu or pool_driver(context, pool).driver_type != "gpu",
    }
    for part, wanted in parts.items():
        if wanted:
            yield Diagnostic(
                code="precompiled-conflict",
                message=f"precompiled drivers cannot be combined with {part}",
                path=switch,
                hint=f"leave usePrecompiled out, or switch {part} off",
            )


def _without_driver(context: Context, values: Effective) -> Iterator[Diagnostic]:
    if not context.pools or context.driver_enabled:
        return
    for key, name in (("gds", "GPUDirect Storage"), ("gdrcopy", "GDRCopy")):
        if values.get(f"{key}.enabled") is True:
            yield Diagnostic(
                code="kernel-module-needs-driver",
                message=f"{name} is loaded by the driver's pod, but every GPU pool brings its driver",
                path=values.place(f"{key}.enabled", *OWN, key),
                hint=f"load the module on the nodes, and leave {key} out",
            )


def _below(version: tuple[int, ...], floor: tuple[int, ...]) -> bool:
    """Compare as far as both go: a branch is not below a release of its own."""
    size = min(len(version), len(floor))
    return bool(size) and version[:size] < floor[:size]
