"""Further fields of pods and quantities in, what Kubernetes or the operator would refuse or drop out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from gitops_gen.catalog.charts import check_values
from gitops_gen.components.slurm.context import Context
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.storage import RESERVED_NAMES, chosen
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
_OF_DAEMONS = ("run", "slurm-authsocket", "slurm-config", "slurm-etc", "slurm-logfile", "statesave")
"""Volumes of slurmctld, slurmdbd and slurmrestd that the operator makes (1.1.2 and 1.2.1)."""
_FOLLOWING = {"nodeSets": ("volumes", "nodeSelector", "tolerations"), "logins": ("volumes",)}
"""Fields of pods that follow from pools and volumes, not from settings beside the podSpec."""
_MOUNT = ("name", "mountPath", "subPath", "subPathExpr", "readOnly", "recursiveReadOnly", "mountPropagation")
"""Fields of a VolumeMount of Kubernetes 1.35."""


def pods(context: Context) -> Iterator[Finding]:
    """Yield what the operator or Kubernetes does not take in pods and resources."""
    for path, item in _places(context):
        place = (*path, "podSpec")
        taken = _volumes_of(context, path, item)
        if path[0] == "nodeSets":
            yield from _worker(place, item.pod_spec)
        yield from _emptied(path, item.pod_spec)
        yield from _network(path, item.pod_spec)
        yield from _containers(path, place, item.pod_spec)
        yield from _volumes(place, item.pod_spec, taken)
        yield from _mounts(place, item.pod_spec, taken)
        yield from _quantities(path, getattr(item, "resources", None))


def _places(context: Context) -> Iterator[tuple[Path, Any]]:
    settings = context.settings
    if settings.controller.external is None:
        yield ("controller",), settings.controller
    if settings.accounting.external is None:
        yield ("accounting",), settings.accounting
    yield ("restApi",), settings.rest_api
    for index, node_set in enumerate(settings.node_sets):
        yield ("nodeSets", index), node_set
    for index, login in enumerate(settings.logins):
        yield ("logins", index), login


def _volumes_of(context: Context, path: Path, item: Any) -> Collection[str]:
    """Return the volumes that the pods of a place have without its podSpec."""
    volumes = context.settings.volumes
    if path[0] == "nodeSets":
        return {*RESERVED_NAMES, *(volume.name for volume in chosen(volumes, "nodeSets", item.volumes))}
    if path[0] == "logins":
        return {*RESERVED_NAMES, *(volume.name for volume in chosen(volumes, "logins", item.volumes))}
    return _OF_DAEMONS


def _worker(place: Path, spec: Mapping[str, Any]) -> Iterator[Finding]:
    owned = {
        "hostname": (
            "the host name of a pod is its name in Slurm, which the chart writes",
            "leave it out; the name of the node set is the beginning of its nodes' names",
        ),
        "nodeName": (
            "each pod has a node of its own, and nodeName would send all of them to one",
            "leave it out; `pool` says which nodes there are",
        ),
    }
    for field, (message, hint) in owned.items():
        if spec.get(field) is not None:
            yield Finding(
                code="slurm-pod-owned", message=message, hint=hint, path=(*place, field), on_key=True
            )


def _emptied(path: Path, spec: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield nulls over what follows from the spec: a null takes a field out."""
    for field in _FOLLOWING.get(str(path[0]), ()):
        value, place = spec.get(field), (*path, "podSpec", field)
        taken: list[Path] = [place] if field in spec and value is None else []
        if isinstance(value, dict):
            taken += [(*place, name) for name, item in value.items() if item is None]
        for at in taken:
            yield Finding(
                code="slurm-pod-emptied",
                message=f"null takes {'.'.join(map(str, at[len(path) + 1 :]))} out of the pods, although it "
                "follows from the spec",
                hint="leave it out; `volumes`, `pool` and the pool's labels and taints say something else",
                path=at,
                on_key=True,
            )


def _network(path: Path, spec: Mapping[str, Any]) -> Iterator[Finding]:
    if spec.get("hostNetwork") and path[0] in ("controller", "accounting"):
        yield Finding(
            code="slurm-host-network",
            level="warning",
            message="on the network of its node this daemon is found by the node's name, which "
            "slurm.conf does not have",
            hint="leave hostNetwork out here; node sets have a field `hostNetwork` of their own",
            path=(*path, "podSpec", "hostNetwork"),
        )


def _containers(path: Path, place: Path, spec: Mapping[str, Any]) -> Iterator[Finding]:
    own = _CONTAINERS[str(path[0])]
    seen: set[object] = set()
    for field, index, item in _all_containers(spec):
        name = item.get("name")
        if name in own:
            yield Finding(
                code="slurm-pod-owned",
                message=f'the operator makes the container "{name}" itself; a second one '
                "of the name is refused",
                hint="change it by the settings of the component, or name your container otherwise",
                path=(*place, field, index),
            )
        elif name in seen:
            yield _twice("container", str(name), (*place, field, index))
        seen.add(name)


def _volumes(place: Path, spec: Mapping[str, Any], taken: Collection[str]) -> Iterator[Finding]:
    seen: set[object] = set()
    for index, item in enumerate(_items(spec, "volumes")):
        name = item.get("name")
        if name in taken:
            yield Finding(
                code="slurm-pod-owned",
                message=f'the pods have a volume "{name}" already',
                hint="give it another name",
                path=(*place, "volumes", index),
            )
        elif name in seen:
            yield _twice("volume", str(name), (*place, "volumes", index))
        seen.add(name)


def _twice(what: str, name: str, path: Path) -> Finding:
    return Finding(
        code="slurm-pod-twice",
        message=f'the pod has two {what}s "{name}", which Kubernetes refuses',
        hint="give one of them another name",
        path=path,
    )


def _mounts(place: Path, spec: Mapping[str, Any], taken: Collection[str]) -> Iterator[Finding]:
    known = {*taken, *(str(item.get("name")) for item in _items(spec, "volumes"))}
    for field, index, container in _all_containers(spec):
        path = (*place, field, index, "volumeMounts")
        yield from check_mounts(path, _items(container, "volumeMounts"), known)


def check_mounts(
    path: Path, mounts: Sequence[Mapping[str, Any]], known: Collection[str]
) -> Iterator[Finding]:
    """Yield mounts that Kubernetes refuses: without a volume among `known`, a path, or with other fields."""
    paths = Counter(str(item.get("mountPath")) for item in mounts)
    for index, item in enumerate(mounts):
        name, place = item.get("name"), (*path, index)
        flaws = [
            f'"{field}" is no field of a mount: the operator drops it'
            for field in item
            if field not in _MOUNT
        ]
        flaws += [f'a mount needs "{field}"' for field in ("name", "mountPath") if field not in item]
        if flaws:
            yield Finding(
                code="slurm-mount-field",
                message=flaws[0],
                hint="write {name: …, mountPath: …}; further fields are " + ", ".join(_MOUNT[2:]),
                path=place,
            )
        elif name not in known:
            yield Finding(
                code="slurm-mount-without-volume",
                message=f'the pods have no volume "{name}" that could be mounted',
                hint=f"add {{name: {name}, …}} to the `volumes` of the same podSpec",
                path=place,
            )
        elif paths[str(item["mountPath"])] > 1:
            paths[str(item["mountPath"])] = 0
            yield Finding(
                code="slurm-mount-twice",
                message=f'two volumes of the container are mounted at "{item["mountPath"]}"',
                hint="give one another path",
                path=place,
            )


def _all_containers(spec: Mapping[str, Any]) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    for field in ("containers", "initContainers"):
        for index, item in enumerate(_items(spec, field)):
            yield field, index, item


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
