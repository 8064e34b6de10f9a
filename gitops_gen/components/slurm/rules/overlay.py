"""The chart's values as the spec makes them and the raw ones in, what the raw ones would undo out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from gitops_gen.components.slurm.context import Context
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.rules.pods import check_mounts
from gitops_gen.components.slurm.rules.settled import (
    DEFAULTS,
    SETS,
    USUAL,
    chart_key,
    deciding_field,
    in_set,
    pattern,
)
from gitops_gen.components.slurm.storage import RESERVED_NAMES
from gitops_gen.diagnostics import Path
from gitops_gen.model import Json, Object
from gitops_gen.traced import format_path

_NAMES = ("nameOverride", "fullnameOverride", "namespaceOverride")
_TEXTS = {"extraConf": "extraConfMap", "config": "configMap"}
_FILES = {
    "configFiles": "configFiles",
    "prologScripts": "prolog",
    "epilogScripts": "epilog",
    "prologSlurmctldScripts": "prologSlurmctld",
    "epilogSlurmctldScripts": "epilogSlurmctld",
}
_KEYWORDS = {
    "controller.extraConfMap": "controller.config",
    "accounting.extraConfMap": "accounting.config",
    "nodesets.*.extraConfMap": "nodeSets[].config",
    "nodesetDefaults.extraConfMap": "nodeSets[].config",
    "partitions.*.configMap": "partitions[].config",
}
_PORTS = {"controller": "slurmctld", "accounting": "slurmdbd", "restapi": "slurmrestd"}
_MADE = set(RESERVED_NAMES) - {"bootstrap", "dev", "enroot", "health-check", "shm"}
"""Volumes of node sets and logins that operator and chart make by themselves."""
_NOTHING: tuple[Json, ...] = (None, "", [], {})
_NO_NULL = {
    *("priorityClass", "slurmKey", "jwtKey", "jwksKeys", "controller", "restapi", "accounting", "sssd"),
    *("vendor", "vendor.google", "controller.slurmctld", "restapi.slurmrestd", "nodesetDefaults"),
    "loginsetDefaults",
    *("nodesets.*", "nodesets.*.slurmd", "nodesets.*.logfile"),
    *("loginsets.*", "loginsets.*.login", "loginsets.*.service", "partitions.*"),
}
"""Maps without which the chart prints no YAML or leaves out what the spec has; tried with chart 1.2.1."""


def overlay(context: Context, ours: Object) -> Iterator[Finding]:
    """Yield raw values that undo what the tree relies on; `ours` are the values that follow from the spec."""
    values = context.part.values
    yield from _named(values)
    leaves = [*_leaves(values, ())]
    for path, value in leaves:
        found = _first(context, ours, path, value)
        if found is not None:
            yield found
    yield from _strangers(ours, values)
    dangling = tuple(_mounts(ours, values))
    yield from dangling
    said = {item.path for item in dangling}
    yield from (item for item in _lists(ours, values, ()) if item.path not in said)


def _leaves(value: Json, at: Path) -> Iterator[tuple[Path, Json]]:
    """Yield what merges: scalars, nulls, lists and empty maps with their paths."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, (*at, key))
    elif at:
        yield at, value


def _first(context: Context, ours: Object, path: Path, value: Json) -> Finding | None:
    """Return the one thing to say about a raw value, the most telling first."""
    if value == {} or _unknown_set(ours, path):
        return None
    for check in _CHECKS:
        found = check(context, ours, path, value)
        if found is not None:
            return found
    return None


def _finding(
    code: str, message: str, hint: str, path: Path, *, on_key: bool = True, warning: bool = False
) -> Finding:
    return Finding(
        code=code,
        level="warning" if warning else "error",
        message=message,
        hint=hint,
        path=("values", *path),
        on_key=on_key,
    )


# --- names -------------------------------------------------------------------------------------


def _named(values: Mapping[str, Json]) -> Iterator[Finding]:
    for name in _NAMES:
        if values.get(name):
            yield _finding(
                "slurm-overlay-name",
                f"{name} renames Slurm's objects, by whose names slurm.conf, scaling and volumes find them",
                "leave it out; `namespace` moves the component",
                (name,),
            )


def _strangers(ours: Object, values: Mapping[str, Json]) -> Iterator[Finding]:
    """Yield sets and partitions that only the raw values know."""
    for section, field in SETS.items():
        raw = values.get(section)
        for name, item in raw.items() if isinstance(raw, dict) else ():
            off = item is None or (isinstance(item, dict) and item.get("enabled") is False)
            if not off and _unknown_set(ours, (section, name)):
                needs = {"nodeSets": ", pool: …", "partitions": ", nodeSets: […]"}.get(field, "")
                yield _finding(
                    "slurm-overlay-set",
                    f'`{field}` has no "{name}": what follows from the spec, and every check, leaves it out',
                    f"write it there: {{name: {name}{needs}}}",
                    (section, name),
                )


def _unknown_set(ours: Object, path: Path) -> bool:
    return path[0] in SETS and not isinstance(_at(ours, path[:2]), dict)


# --- one value ---------------------------------------------------------------------------------


def _absent(context: Context, ours: Object, path: Path, value: Json) -> Finding | None:
    if value is not None:
        return None
    derived = _at(ours, path) is not None and deciding_field(path) is None
    if not derived and pattern(path) not in _NO_NULL:
        return None
    return _finding(
        "slurm-overlay-null",
        f"null takes {format_path(path)} away, which "
        + ("follows from the spec" if derived else "the chart cannot do without"),
        "leave it out here",
        path,
    )


def _text(context: Context, ours: Object, path: Path, value: Json) -> Finding | None:
    text = str(path[-1])
    table = _TEXTS.get(text)
    field = _KEYWORDS.get(f"{pattern(path[:-1])}.{table}")
    if field is None or not value:
        return None
    return _finding(
        "slurm-overlay-text",
        f"the chart takes either {text} or {table}: all that the tree writes would be dropped",
        f"write keywords into `{field}` of the spec",
        path,
    )


def _keys(context: Context, ours: Object, path: Path, value: Json) -> Finding | None:
    if path not in (("slurmKey", "create"), ("jwtKey", "create")) or value is False:
        return None
    return _finding(
        "slurm-overlay-keys",
        "the chart would make another key at each render, and Secrets that cannot change: Argo CD never "
        "gets in sync",
        "leave it out; the README of the tree has a command that makes the Secret once",
        path,
        on_key=False,
    )


def _port(context: Context, ours: Object, path: Path, value: Json) -> Finding | None:
    daemon = _PORTS.get(str(path[0]))
    if daemon is None or path[1:] != ("service", "port"):
        return None
    usual = context.data["ports"][daemon]
    if value in (usual, None):
        return None
    return _finding(
        "slurm-overlay-port",
        f"operator and slurm.conf expect {daemon} at port {usual}, whatever its Service says",
        "leave it out; only nodePort, and the port of logins, may differ",
        path,
        on_key=False,
    )


def _no_rest_api(context: Context, ours: Object, path: Path, value: Json) -> Finding | None:
    if path != ("restapi", "replicas") or value != 0:
        return None
    return _finding(
        "slurm-overlay-rest-api",
        "the operator asks slurmrestd for everything: without a pod of it no node is drained or updated",
        "leave it out",
        path,
        on_key=False,
    )


def _file(context: Context, ours: Object, path: Path, value: Json) -> Finding | None:
    field = _FILES.get(str(path[0]))
    if field is None or value is None:
        return None
    return _unchecked(path, "nobody checks a file of the raw values", f"write it under `{field}` of the spec")


def _keyword(context: Context, ours: Object, path: Path, value: Json) -> Finding | None:
    field = _KEYWORDS.get(pattern(path[:-1]))
    if field is None or value is None:
        return None
    if not isinstance(value, str):
        return _finding(
            "slurm-overlay-unquoted",
            f"Helm prints {format_path(path)} as it likes: large numbers with an exponent, false and 0 not "
            "at all",
            f"write it under `{field}` of the spec, where every value keeps its form",
            path,
            on_key=False,
        )
    return _unchecked(
        path,
        f'nobody checks the keyword "{path[-1]}" of the raw values',
        f"write it under `{field}` of the spec",
    )


def _unchecked(path: Path, message: str, hint: str) -> Finding:
    return _finding("slurm-overlay-unchecked", message, hint, path, warning=True)


def _settled(context: Context, ours: Object, path: Path, value: Json) -> Finding | None:
    place = deciding_field(path)
    if place is None:
        return None
    derived = _at(ours, path)
    if derived is None and path[0] in DEFAULTS:
        derived = _at(ours, (DEFAULTS[str(path[0])], *path[2:]))
    if derived is not None:
        return (
            None
            if value == derived
            else _contradiction(path, value, f"{_word(derived)} follows from the spec", place)
        )
    entry = context.facts.chart_keys("slurm", context.part.version).keys.get(chart_key(path), {})
    usual = USUAL.get(chart_key(path), entry.get("default"))
    left = f"the spec leaves it at {_word(usual)}" if usual not in _NOTHING else "the spec says nothing of it"
    return None if value == usual else _contradiction(path, value, left, place)


def _contradiction(path: Path, value: Json, instead: str, place: str) -> Finding:
    own = place if place.startswith("components.") else f"components.slurm.{place}"
    return _finding(
        "values-contradict-spec",
        f"values.{format_path(path)} is {_word(value)}, but {instead}, and checks and other parts of the "
        "tree go by that",
        f"say it under spec.{own}, and leave it out here",
        path,
        on_key=False,
    )


def _devices(context: Context, ours: Object, path: Path, value: Json) -> Finding | None:
    """Limits decide GRES, cores and memory of a node; what Slurm does not count is free."""
    section, below = in_set(path)
    if section != "nodesets" or below[:2] != ("slurmd", "resources"):
        return None
    name = str(path[-1])
    if name in ("cpu", "memory"):
        place = f"nodeSets[].limits.{name}"
    elif "/" in name:
        place = "nodeSets[].gpus, or the devices and the fabric of the pool"
    else:
        return None
    mine = _at(ours, path)
    said = "the spec says nothing of it" if mine is None else f"{_word(mine)} follows from the spec"
    return None if value == mine else _contradiction(path, value, said, place)


def _derived(context: Context, ours: Object, path: Path, value: Json) -> Finding | None:
    """Whatever else follows from the spec has no field of its own that would say something different."""
    mine = _at(ours, path)
    if mine is None or isinstance(mine, (dict, list)) or value == mine:
        return None
    return _finding(
        "values-contradict-spec",
        f"values.{format_path(path)} is {_word(value)}, but {_word(mine)} follows from the spec",
        "leave it out here",
        path,
        on_key=False,
    )


_CHECKS = (
    _absent,
    _text,
    _keys,
    _port,
    _no_rest_api,
    _file,
    _keyword,
    _settled,
    _devices,
    _derived,
)


# --- lists -------------------------------------------------------------------------------------


def _mounts(ours: Object, values: Mapping[str, Json]) -> Iterator[Finding]:
    """Yield mounts that have no volume after the merge: each list replaces ours by itself."""
    for section, container in (("nodesets", "slurmd"), ("loginsets", "login")):
        raw_sets = values.get(section)
        for name in raw_sets if isinstance(raw_sets, dict) else ():
            mounts_at, volumes_at = (
                (section, name, container, "volumeMounts"),
                (section, name, "podSpec", "volumes"),
            )
            mounts, volumes = _at(dict(values), mounts_at), _at(dict(values), volumes_at)
            known = {*_MADE, *_names_of(volumes if isinstance(volumes, list) else _at(ours, volumes_at))}
            if isinstance(mounts, list):
                items = [item for item in mounts if isinstance(item, dict)]
                yield from check_mounts(("values", *mounts_at), items, known)
            elif isinstance(volumes, list):
                lost = [item for item in _names_of(_at(ours, mounts_at)) if item not in known]
                if lost:
                    yield _finding(
                        "slurm-mount-without-volume",
                        f"values.{format_path(volumes_at)} replaces the list that follows from the spec, and "
                        f"{container} has mounts of {', '.join(lost)} left",
                        "write these volumes too, or say yours under `volumes` or `podSpec` of the spec",
                        volumes_at,
                    )


def _names_of(items: Json) -> list[str]:
    return (
        [str(item.get("name")) for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    )


def _lists(ours: Json, values: Json, at: Path) -> Iterator[Finding]:
    """Yield lists that lose items which follow from the spec: lists replace."""
    if isinstance(ours, dict) and isinstance(values, dict):
        for key in values:
            if key in ours:
                yield from _lists(ours[key], values[key], (*at, key))
    elif isinstance(ours, list) and isinstance(values, list) and deciding_field(at) is None:
        lost = [item for item in ours if item not in values]
        if lost:
            yield _finding(
                "values-list-replaced",
                f"values.{format_path(at)} replaces the list that follows from the spec, and drops "
                f"{', '.join(_item(item) for item in lost)}",
                "write these items too, or say it in the spec rather than in the raw values",
                at,
                warning=True,
            )


def _item(item: Json) -> str:
    return str(item.get("name") or item.get("key") or item) if isinstance(item, dict) else str(item)


# --- words -------------------------------------------------------------------------------------


def _at(values: Any, path: Path) -> Json:
    found = values
    for part in path:
        found = found.get(part) if isinstance(found, dict) else None
    return cast(Json, found)


def _word(value: Json) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value in _NOTHING:
        return "nothing"
    if isinstance(value, list):
        plain = not any(isinstance(item, (dict, list)) for item in value)
        return f"[{', '.join(map(str, value))}]" if plain else f"a list of {len(value)}"
    return f'"{value}"' if isinstance(value, str) else str(value)
