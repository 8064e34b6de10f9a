"""Names in, what Slurm or Kubernetes would not take of them out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitops_gen.components.slurm.conf.inputs import Inputs
from gitops_gen.components.slurm.conf.words import fault
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.diagnostics import Path

_NODE = re.compile(r"(.+)-([0-9]+)", re.ASCII)
_NO_TEXT = re.compile(r"(?i:y|yes|n|no|true|false|on|off|null)|[-+.]?[0-9][0-9_.eExXa-fA-F+-]*", re.ASCII)
"""Words and numbers of YAML 1.1."""


def name_findings(inputs: Inputs) -> Iterator[Finding]:
    """Yield node sets, partitions and logins whose name another meaning or a limit has."""
    yield from _reserved(inputs)
    yield from _like_nodes(inputs)
    yield from _words(inputs)


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


def _words(inputs: Inputs) -> Iterator[Finding]:
    """The chart prints these names without quotes, so that YAML must read them as text."""
    settings = inputs.settings
    names: dict[Path, str] = {("clusterName",): settings.cluster_name}
    for which, source in (("slurm", settings.keys.slurm), ("jwt", settings.keys.jwt)):
        names[("keys", which, "secretRef", "name")] = source.secret_ref.name
        names[("keys", which, "secretRef", "key")] = source.secret_ref.key
    if settings.keys.jwks is not None:
        names[("keys", "jwks", "configMapRef", "name")] = settings.keys.jwks.config_map_ref.name
        names[("keys", "jwks", "configMapRef", "key")] = settings.keys.jwks.config_map_ref.key
    if settings.sssd is not None:
        names[("sssd", "secretRef", "name")] = settings.sssd.secret_ref.name
        names[("sssd", "secretRef", "key")] = settings.sssd.secret_ref.key
    for path, name in names.items():
        if _NO_TEXT.fullmatch(name):
            yield fault(
                "slurm-name-word",
                f'the chart prints "{name}" without quotes, and YAML reads it as something else than a name',
                "choose a name with letters that is no word of YAML",
                *path,
            )
