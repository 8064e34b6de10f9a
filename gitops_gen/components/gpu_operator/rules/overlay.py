"""The user's raw values in, faults that the chart would take without a word out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gitops_gen.components.gpu_operator.context import OWN, Context, Effective
from gitops_gen.components.gpu_operator.rules.configs import config_rules
from gitops_gen.components.gpu_operator.rules.driver import numbers
from gitops_gen.diagnostics import Diagnostic, Path, Severity
from gitops_gen.mask import is_secret
from gitops_gen.traced import format_path

_VALUES: Path = ("spec", *OWN, "values")


def overlay_rules(context: Context, values: Effective) -> Iterator[Diagnostic]:
    """Yield faults in the raw values, and choices in the whole that need a second look."""
    yield from config_rules(context, values)
    if context.part.values:
        yield from _environment(dict(context.part.values), ())
        yield from _pins(context, values)
    yield from _ignored_environment(context, values)
    yield from _system_tag(context, values)
    yield from _hooks(values)
    yield from _upgrades(values)


def _environment(value: Any, at: Path) -> Iterator[Diagnostic]:
    """Every `env` of the CRD is a list of strings; the API refuses a bare true or 1."""
    if not isinstance(value, Mapping):
        return
    for key, item in value.items():
        if key == "env" and isinstance(item, list):
            for index, entry in enumerate(item):
                held = entry.get("value") if isinstance(entry, Mapping) else None
                if held is not None and not isinstance(held, str):
                    secret = is_secret(str(entry.get("name")))
                    text = "***" if secret else json.dumps(held, ensure_ascii=False)
                    yield Diagnostic(
                        code="env-value-not-a-string",
                        message=f"{format_path((*at, key))}: the value of {entry.get('name')} must be a "
                        f"string, not {text}",
                        path=(*_VALUES, *at, key, index, "value"),
                        hint=f'write "{text}"' if isinstance(held, bool | int | float) else "",
                    )
        yield from _environment(item, (*at, key))


def _ignored_environment(context: Context, values: Effective) -> Iterator[Diagnostic]:
    env: Any = values.get("toolkit.env")
    for index, entry in enumerate(env if isinstance(env, list) else ()):
        name = entry.get("name") if isinstance(entry, Mapping) else None
        if not isinstance(name, str):
            continue
        reason = context.facts.ignored_env.names.get(name)
        if reason is not None:
            raw = values.in_overlay("toolkit.env")
            place = (*_VALUES, "toolkit", "env", index) if raw else (*OWN, "toolkit", "env", name)
            yield Diagnostic(
                code="toolkit-env-ignored",
                severity=Severity.WARNING,
                message=f"{name} has no effect: {reason}",
                path=place if raw else ("spec", *place),
                hint="remove it",
            )


def _pins(context: Context, values: Effective) -> Iterator[Diagnostic]:
    for path, old in context.facts.moved_images.images.items():
        held = values.get(path)
        if values.in_overlay(path) and held in old:
            yield Diagnostic(
                code="image-moved",
                severity=Severity.WARNING,
                message=f'{path}: "{held}" is the name in older charts; {context.part.version} takes '
                f'"{context.default(path)}"',
                path=values.place(path),
                hint="remove it",
            )
    for key in context.keys.keys:
        if key.endswith(".version") and key != "driver.version" and values.in_overlay(key):
            yield from _old_pin(context, values, key)


def _old_pin(context: Context, values: Effective, key: str) -> Iterator[Diagnostic]:
    held, usual = str(values.get(key)), context.default(key)
    older = isinstance(usual, str) and _order(held) < _order(usual)
    if older and _order(held):
        yield Diagnostic(
            code="image-pin-older",
            severity=Severity.WARNING,
            message=f"{key}: {held} is older than {usual}, which {context.part.version} brings",
            path=values.place(key),
            hint="remove the pin, or accept this warning with the reason for it",
        )


def _order(version: str) -> tuple[int, ...]:
    return numbers(version.removeprefix("v"))


def _system_tag(context: Context, values: Effective) -> Iterator[Diagnostic]:
    """From 26.7 on driver tags of RHEL carry the major release only."""
    version = str(values.get("driver.version"))
    _, found, system = version.partition("-rhel")
    if found and "." in system and context.version.rhel_tags == "major":
        yield Diagnostic(
            code="driver-tag-moved",
            severity=Severity.WARNING,
            message=f"driver.version {version}: tags for RHEL end in the major release from "
            f"{context.part.version} on, such as -rhel{system.split('.')[0]}",
            path=values.place("driver.version", *OWN, "driver", "version"),
            hint="remove the system from the version; the operator adds it",
        )


def _hooks(values: Effective) -> Iterator[Diagnostic]:
    if values.get("operator.upgradeCRD") is True:
        yield Diagnostic(
            code="crd-hook-enabled",
            severity=Severity.WARNING,
            message="operator.upgradeCRD lets a job rewrite the CRDs before every sync, which strips "
            "Argo CD's own marks from them",
            path=values.place("operator.upgradeCRD"),
            hint="leave it out: Argo CD applies the CRDs of the chart",
        )
    if values.get("operator.cleanupCRD") is True:
        yield Diagnostic(
            code="crd-cleanup-enabled",
            severity=Severity.WARNING,
            message="operator.cleanupCRD deletes the CRDs, and with them every driver and GPU, when "
            "the Application is deleted",
            path=values.place("operator.cleanupCRD"),
            hint="leave it out",
        )
    labels = "node-feature-discovery.postDeleteCleanup"
    if values.in_overlay(labels) and values.get(labels) is True:
        yield Diagnostic(
            code="label-cleanup-enabled",
            severity=Severity.WARNING,
            message=f"{labels} lets a job strip every node label of Node Feature Discovery when the "
            "Application is deleted, and Applications were seen to hang in it",
            path=values.place(labels),
            hint="leave it out",
        )


def _upgrades(values: Effective) -> Iterator[Diagnostic]:
    policy = ("driver", "upgradePolicy")
    if values.get("driver.upgradePolicy.drain.enable") is True:
        yield Diagnostic(
            code="driver-drain-enabled",
            severity=Severity.WARNING,
            message="a driver upgrade drains whole nodes: pods without GPUs are evicted as well",
            path=values.place("driver.upgradePolicy.drain.enable", *OWN, *policy, "drain", "enable"),
            hint="leave drain out; gpuPodDeletion already removes the pods that use GPUs",
        )
    if values.get("driver.upgradePolicy.maxParallelUpgrades") == 0:
        place = (*OWN, *policy, "maxParallelUpgrades")
        yield Diagnostic(
            code="driver-upgrade-unlimited",
            severity=Severity.WARNING,
            message="maxParallelUpgrades: 0 upgrades the driver of all nodes at once",
            path=values.place("driver.upgradePolicy.maxParallelUpgrades", *place),
            hint="set it to the number of nodes that may be without GPUs at a time",
        )
