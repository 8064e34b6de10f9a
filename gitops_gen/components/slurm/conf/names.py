"""Names in, what Slurm or Kubernetes would not take of them out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitops_gen.components.slurm.conf.inputs import Inputs
from gitops_gen.components.slurm.conf.words import fault
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.diagnostics import Path

_NODE = re.compile(r"(.+)-([0-9]+)", re.ASCII)
_LABEL = 63
"""Characters of a label, of a Service and of a pod's host name."""
_CHART = 41
"""Characters of the chart's fullname that leave room for the hash of `<fullname>-controller`."""


def name_findings(inputs: Inputs) -> Iterator[Finding]:
    """Yield node sets, partitions and logins whose name another meaning or a limit has."""
    yield from _reserved(inputs)
    yield from _like_nodes(inputs)
    yield from _long(inputs)


def _reserved(inputs: Inputs) -> Iterator[Finding]:
    for index, node_set in enumerate(inputs.settings.node_sets):
        if node_set.name in ("all", "default"):
            what = "every node of the cluster" if node_set.name == "all" else "the defaults of later lines"
            yield fault(
                "slurm-name-reserved",
                f'"{node_set.name}" means {what} to Slurm, in any case',
                "name the node set after its hardware, such as h100 or cpu",
                "nodeSets",
                index,
                "name",
            )
    for index, partition in enumerate(inputs.settings.partitions):
        if partition.name.lower() == "default":
            yield fault(
                "slurm-name-reserved",
                f'a partition "{partition.name}" sets the defaults of those behind it and is none itself',
                "choose another name, and write `default: true` for the partition of jobs that name none",
                "partitions",
                index,
                "name",
            )


def _like_nodes(inputs: Inputs) -> Iterator[Finding]:
    """A node set and a node of one name make slurmctld stop (node_mgr.c)."""
    node_sets = {item.name for item in inputs.settings.node_sets}
    numbered = {item.name for item in inputs.settings.node_sets if item.mode == "StatefulSet"}
    hosts = {
        host: worker.name
        for worker in inputs.workers
        if worker.node_set.mode == "DaemonSet"
        for host in worker.hosts.split(",")
        if host
    }
    for index, name in enumerate(item.name for item in inputs.settings.node_sets):
        found = _NODE.fullmatch(name)
        of = found[1] if found is not None and found[1] in numbered else hosts.get(name)
        if of is not None and of in node_sets:
            yield fault(
                "slurm-name-node",
                f'"{name}" can be the name of a node of the node set "{of}", and slurmctld stops then',
                f'give it a name that is not "{of}-" and a number'
                if name not in hosts
                else "give it a name that no node has",
                "nodeSets",
                index,
                "name",
            )


def _long(inputs: Inputs) -> Iterator[Finding]:
    room = _LABEL - len(inputs.fullname)
    if len(inputs.fullname) > _CHART:
        yield fault(
            "slurm-name-length",
            f'the objects of Slurm are named "{inputs.fullname}-…", which leaves no room for their own names',
            f"at most {_CHART} characters may stand before",
            "clusterName",
        )
        return
    last = {worker.index: max(worker.most - 1, 0) for worker in inputs.workers}
    for index, node_set in enumerate(inputs.settings.node_sets):
        digits = max(len(str(last.get(index, 0))), node_set.ordinal_padding)
        yield from _too_long(node_set.name, room - len("-worker--") - digits, ("nodeSets", index, "name"))
    for index, login in enumerate(inputs.settings.logins):
        yield from _too_long(login.name, room - len("-login-"), ("logins", index, "name"))


def _too_long(name: str, room: int, path: Path) -> Iterator[Finding]:
    if len(name) > room:
        yield fault(
            "slurm-name-length",
            f'"{name}" has {len(name)} characters; with what stands around it {room} fit into a label',
            f"choose a name of at most {room} characters",
            *path,
        )
