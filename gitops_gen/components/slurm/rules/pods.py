"""Further fields of pods, quantities and raw values in, what Kubernetes or the operator would drop out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gitops_gen.catalog.charts import check_values
from gitops_gen.components.slurm.context import Context
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.storage import RESERVED_NAMES
from gitops_gen.diagnostics import Diagnostic, Path
from gitops_gen.model import Json

_QUANTITY = re.compile(r"[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+|[KMGTPE]i|[numkMGTPE])?")
_CONTAINERS = {
    "controller": ("slurmctld", "reconfigure", "logfile"),
    "accounting": ("slurmdbd",),
    "restApi": ("slurmrestd",),
    "nodeSets": ("slurmd", "logfile"),
    "logins": ("login", "initconf"),
}
_DROPPING = {
    "controller": ("extraConf", "extraConfMap"),
    "accounting": ("extraConf", "extraConfMap"),
    "nodesets": ("extraConf", "extraConfMap"),
    "partitions": ("config", "configMap"),
}


def pods(context: Context) -> Iterator[Finding]:
    """Yield what the operator or Kubernetes does not take in pods and resources."""
    for path, item in _places(context):
        yield from _pod(context, path, item.pod_spec)
        yield from _quantities(path, getattr(item, "resources", None))


def _places(context: Context) -> Iterator[tuple[Path, Any]]:
    settings = context.settings
    yield ("controller",), settings.controller
    yield ("accounting",), settings.accounting
    yield ("restApi",), settings.rest_api
    for index, node_set in enumerate(settings.node_sets):
        yield ("nodeSets", index), node_set
    for index, login in enumerate(settings.logins):
        yield ("logins", index), login


def _pod(context: Context, path: Path, spec: Mapping[str, Any]) -> Iterator[Finding]:
    place = (*path, "podSpec")
    if "hostname" in spec:
        yield Finding(
            code="slurm-pod-owned",
            message="the host name of a pod is its name in Slurm, which the chart writes",
            hint="leave it out; the name of the node set is the beginning of its nodes' names",
            path=(*place, "hostname"),
            on_key=True,
        )
    if spec.get("hostNetwork") and path[0] in ("controller", "accounting"):
        yield Finding(
            code="slurm-host-network",
            level="warning",
            message="on the network of its node this daemon is found by the node's name, which "
            "slurm.conf does not have",
            hint="leave hostNetwork out here; node sets have a field `hostNetwork` of their own",
            path=(*place, "hostNetwork"),
        )
    yield from _containers(path, place, spec)
    yield from _volumes(context, path, place, spec)


def _containers(path: Path, place: Path, spec: Mapping[str, Any]) -> Iterator[Finding]:
    own = _CONTAINERS[str(path[0])]
    for field in ("containers", "initContainers"):
        for index, item in enumerate(_items(spec, field)):
            if item.get("name") in own:
                yield Finding(
                    code="slurm-pod-owned",
                    message=f'the operator makes the container "{item["name"]}" itself; a second one '
                    "of the name is refused",
                    hint="change it by the settings of the component, or name your container otherwise",
                    path=(*place, field, index),
                )


def _volumes(context: Context, path: Path, place: Path, spec: Mapping[str, Any]) -> Iterator[Finding]:
    taken = {*RESERVED_NAMES, *(volume.name for volume in context.settings.volumes)}
    for index, item in enumerate(_items(spec, "volumes")):
        if item.get("name") in taken and path[0] in ("nodeSets", "logins"):
            yield Finding(
                code="slurm-pod-owned",
                message=f'the pods have a volume "{item["name"]}" already',
                hint="give it another name",
                path=(*place, "volumes", index),
            )


def _items(spec: Mapping[str, Any], field: str) -> list[Mapping[str, Any]]:
    found = spec.get(field)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _quantities(path: Path, resources: Any) -> Iterator[Finding]:
    for bound in ("requests", "limits") if resources is not None else ():
        for name, value in getattr(resources, bound).items():
            if isinstance(value, str) and _QUANTITY.fullmatch(value) is None:
                yield Finding(
                    code="slurm-quantity",
                    message=f'"{value}" is not a quantity of Kubernetes',
                    hint="write cores as 2 or 500m, memory as 512Mi or 4Gi",
                    path=(*path, "resources", bound, name),
                )


def pod_keys(context: Context) -> Iterator[Diagnostic]:
    """Yield fields of PodSpec that Kubernetes does not have; the CRDs would keep them and say nothing."""
    keys = context.facts.chart_keys("slurm", context.part.version)
    for path, item in _places(context):
        values: dict[str, Json] = {"controller": {"podSpec": item.pod_spec}}
        for found in check_values(values, keys, ()):
            at = ("spec", "components", "slurm", *path, *found.path[1:])
            yield Diagnostic(
                code=found.code,
                severity=found.severity,
                message=found.message.replace("controller.podSpec", "podSpec"),
                path=at,
                hint=found.hint.replace("controller.podSpec", "podSpec"),
                on_key=found.on_key,
            )


# --- raw values --------------------------------------------------------------------------------


def overlay(context: Context) -> Iterator[Finding]:
    """Yield raw values that undo what the tree relies on."""
    values = context.part.values
    for name in ("nameOverride", "fullnameOverride", "namespaceOverride"):
        if values.get(name):
            yield Finding(
                code="slurm-overlay-name",
                message=f"{name} renames Slurm's objects, by whose names slurm.conf, scaling and "
                "volumes find them",
                hint="leave it out; `namespace` moves the component",
                path=("values", name),
                on_key=True,
            )
    for section, (text, table) in _DROPPING.items():
        part = values.get(section)
        if not isinstance(part, dict):
            continue
        deep = section in ("nodesets", "partitions")
        places = {(section, name): item for name, item in part.items()} if deep else {(section,): part}
        for path, item in places.items():
            if isinstance(item, dict) and item.get(text):
                yield Finding(
                    code="slurm-overlay-text",
                    message=f"the chart takes either {text} or {table}: all that the tree writes "
                    "would be dropped",
                    hint="write keywords into `config` of the spec",
                    path=("values", *path, text),
                    on_key=True,
                )
