"""Parts of a spec in, what the rules of slurm.conf find in them out."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from gitops_gen.components.slurm.conf import merge_config
from gitops_gen.components.slurm.conf.rules import findings
from gitops_gen.components.slurm.conf.table import Table, table_from
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.settings import SlurmSettings
from gitops_gen.components.slurm.workers import Worker, workers
from gitops_gen.model import (
    ArgoCD,
    ClusterSpec,
    Gitops,
    Kubernetes,
    NodePool,
    Proxy,
    Registry,
    Secrets,
    Storage,
)
from gitops_gen.resources import resources

UPSTREAM = Path(__file__).parents[1] / "gitops_gen/components/slurm/upstream"
SERIES = ("25.11", "26.05")
KEYS = {
    name: {"secretRef": {"name": f"slurm-auth-{name}", "key": f"{name}.key"}} for name in ("slurm", "jwt")
}
POOLS = (
    {"name": "h100", "nodes": 4, "gpu": {"model": "h100-sxm-80gb", "count": 8}, "nodeNames": ["worker1"]},
    {"name": "cpu", "nodes": 8},
)
DEFAULTS = {
    "CommunicationParameters": "block_null_hash",
    "JobAcctGatherType": "jobacct_gather/cgroup",
    "ProctrackType": "proctrack/cgroup",
    "PrologFlags": "Contain",
    "ReturnToService": "2",
    "SelectTypeParameters": "CR_Core_Memory",
    "SlurmctldParameters": "enable_stepmgr",
    "TaskPlugin": "task/cgroup,task/affinity",
}
"""What the tree writes; operators before 1.2 write it by themselves, and the user's keywords replace it."""


@cache
def table(series: str = "26.05") -> Table:
    return table_from(json.loads((UPSTREAM / f"slurm-conf-{series}.json").read_text()))


def cluster() -> ClusterSpec:
    return ClusterSpec(
        name="test",
        labels={},
        source="cluster.yaml",
        path="clusters/test",
        env="prod",
        kubernetes=Kubernetes(version="1.35", distribution="kubeadm"),
        gitops=Gitops(repo_url="https://git.example.com/clusters.git"),
        argocd=ArgoCD(),
        storage=Storage(),
        secrets=Secrets(),
        registry=Registry(),
        proxy=Proxy(),
        air_gap=False,
        node_pools=tuple(msgspec.convert({"use": "slurm", **pool}, NodePool) for pool in POOLS),
        accept=(),
        components={},
        resources=(),
    )


def settings(parts: dict[str, Any]) -> SlurmSettings:
    return msgspec.convert({"clusterName": "hpc", "keys": KEYS, **parts}, SlurmSettings)


def workers_of(one: SlurmSettings) -> tuple[Worker, ...]:
    return workers(cluster(), one, resources().catalog)


def read_by_slurmctld(one: SlurmSettings, release: str) -> dict[str, str]:
    own = one.controller.config
    names = dict.fromkeys(item.name for worker in workers_of(one) for item in worker.gres)
    base = {**DEFAULTS, **({"GresTypes": ",".join(names)} if names else {})}
    if one.accounting.enabled:
        tracked = (
            *(f"gres/{item.name}:{item.type}" for worker in workers_of(one) for item in worker.gres),
            *(f"gres/{name}" for name in names),
            *one.accounting.tres,
        )
        base["AccountingStorageTRES"] = ",".join(dict.fromkeys(tracked))
    if release.startswith("1.1."):
        lowered = {name.lower() for name in own}
        kept = {name: text for name, text in base.items() if name.lower() not in lowered}
        return {**kept, **merge_config({}, own)}
    return dict(merge_config(base, own))


def found(parts: dict[str, Any]) -> tuple[Finding, ...]:
    """Return what is wrong with parts of a spec; `version` among them is that of the charts."""
    release = str(parts.get("version", "1.2.1"))
    one = settings({key: value for key, value in parts.items() if key != "version"})
    return tuple(
        findings(
            one,
            workers_of(one),
            table(one.images.series or "26.05"),
            read=read_by_slurmctld(one, release),
            release=release,
        )
    )


def said(item: Finding) -> str:
    """Return a finding as one line: level, code, path, message and hint."""
    place = ".".join(map(str, item.path)) + (" (key)" if item.on_key else "")
    return f"{item.level} {item.code} at {place}: {item.message} → {item.hint}"
