"""Configurations in the raw values in, keys that are missing or never read out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gitops_gen.components.gpu_operator.context import OWN, Context, Effective
from gitops_gen.diagnostics import Diagnostic, Path, SpecError
from gitops_gen.spec.load import parse

_VALUES: Path = ("spec", *OWN, "values")
_PLUGIN = "devicePlugin.config"
_MIG = "migManager.config"
_METRICS = "dcgmExporter.config"


def config_rules(context: Context, values: Effective) -> Iterator[Diagnostic]:
    """Yield faults of the three ConfigMaps that the chart can make."""
    yield from _complete(values, _PLUGIN, "device-plugin-config-incomplete")
    yield from _complete(values, _MIG, "mig-config-incomplete", context.facts.mig.key)
    yield from _complete(values, _METRICS, "dcgm-config-incomplete")
    yield from _default_key(values)
    yield from _mig_default(context, values)
    if values.in_overlay(f"{_PLUGIN}.data"):
        yield from _switches(context, values)


def _complete(values: Effective, at: str, code: str, key: str = "") -> Iterator[Diagnostic]:
    """With `create` the chart needs a name and data; it says so only of the device plugin's."""
    if values.get(f"{at}.create") is not True:
        return
    data = values.get(f"{at}.data")
    place = values.place(at, *OWN)
    if not values.get(f"{at}.name"):
        message = f"{at}.create makes a ConfigMap, but {at}.name is empty"
        yield Diagnostic(code=code, message=message, path=place, hint=f"set {at}.name")
    if not data:
        message = f"{at}.create is on, but there is no {at}.data"
        yield Diagnostic(code=code, message=message, path=place, hint=f"set {at}.data")
    elif key and isinstance(data, Mapping) and key not in data:
        keys = ", ".join(str(name) for name in data)
        message = f'{at}.data has no key "{key}" (it has {keys}), and no other is read'
        hint = f'name the key "{key}"'
        yield Diagnostic(code=code, message=message, path=(*place, "data"), hint=hint)


def _default_key(values: Effective) -> Iterator[Diagnostic]:
    data, default = values.get(f"{_PLUGIN}.data"), values.get(f"{_PLUGIN}.default")
    if default and isinstance(default, str) and isinstance(data, Mapping) and data and default not in data:
        yield Diagnostic(
            code="device-plugin-default-unknown",
            message=f'default "{default}" is not a key of {_PLUGIN}.data ({", ".join(data)})',
            path=values.place(f"{_PLUGIN}.default", *OWN),
            hint="name one of the keys, or add the missing one",
        )


def _mig_default(context: Context, values: Effective) -> Iterator[Diagnostic]:
    default = values.get(f"{_MIG}.default")
    allowed = context.facts.mig.defaults
    if values.in_overlay(f"{_MIG}.default") and default not in allowed:
        yield Diagnostic(
            code="mig-default-unsupported",
            message=f'{_MIG}.default is "{default}", but the ClusterPolicy takes only '
            f"{' and '.join(repr(item) for item in allowed)}".replace("'", '"'),
            path=values.place(f"{_MIG}.default"),
            hint="say the layout of each pool under nodePools[].gpu.mig; it is chosen by a node label",
        )


def _switches(context: Context, values: Effective) -> Iterator[Diagnostic]:
    data: Any = values.get(f"{_PLUGIN}.data")
    for key, text in data.items() if isinstance(data, Mapping) else ():
        yield from _two_ways(key, _part(text, "sharing"))
        flags = _part(text, "flags")
        for name in context.facts.sharing.misplaced:
            if name in flags:
                yield Diagnostic(
                    code="device-plugin-switch-misplaced",
                    message=f'key "{key}": flags.{name} is not read there; it belongs in '
                    f"sharing.timeSlicing.{name}",
                    path=(*_VALUES, "devicePlugin", "config", "data", key),
                    hint="better still, say it under nodePools[].gpu.sharing.timeSlicing",
                )


def _two_ways(key: str, sharing: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """The device plugin takes MPS then, and drops time-slicing without a word."""
    if {"timeSlicing", "mps"} <= sharing.keys():
        yield Diagnostic(
            code="sharing-two-ways",
            message=f'key "{key}": sharing.timeSlicing is dropped beside sharing.mps; only one of them works',
            path=(*_VALUES, "devicePlugin", "config", "data", key),
            hint="choose one; better still, say it under nodePools[].gpu.sharing",
        )


def _part(text: Any, name: str) -> Mapping[str, Any]:
    """Return a section of a device plugin configuration; text that is no YAML has none."""
    try:
        loaded: Any = parse(str(text).encode(), "devicePlugin.config").data
    except SpecError:
        return {}
    part = loaded.get(name) if isinstance(loaded, Mapping) else None
    return part if isinstance(part, Mapping) else {}
