"""A good Slurm cluster and changes of it in, what the whole command line would say of it out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from gitops_gen.diagnostics import Diagnostic
from gitops_gen.plan import State
from tests.specs import findings

GOOD: Mapping[str, Any] = yaml.safe_load(
    """
kubernetes: {version: "1.35", distribution: kubeadm}
gitops: {repoURL: "https://git.example.com/platform/clusters.git"}
nodePools:
  - name: system
    nodes: 3
    os: ubuntu-24.04
    nodeSelector: {node.example.com/pool: system}
  - name: h100
    nodes: 4
    os: ubuntu-24.04
    use: slurm
    machine: {sockets: 2, coresPerSocket: 56, threadsPerCore: 2, memory: 2048Gi,
      reserved: {cores: 4, memory: 64Gi}}
    nodeSelector: {node.example.com/pool: h100}
    taints: [{key: slurm, value: only, effect: NoSchedule}]
    gpu: {model: h100-sxm-80gb, count: 8}
  - name: cpu
    nodes: 8
    os: ubuntu-24.04
    use: slurm
    machine: {sockets: 2, coresPerSocket: 32, threadsPerCore: 2, memory: 512Gi,
      reserved: {cores: 2, memory: 16Gi}}
    nodeSelector: {node.example.com/pool: cpu}
    taints: [{key: slurm, value: only, effect: NoSchedule}]
components:
  gpuOperator: {enabled: true}
  certManager: {enabled: true}
  slurm:
    enabled: true
    clusterName: hpc
    sssd: {secretRef: {name: sssd-conf, key: sssd.conf}}
    nodeSets:
      - {name: h100, pool: h100}
      - {name: cpu, pool: cpu}
    partitions:
      - {name: train, nodeSets: [h100], default: true, config: {DefMemPerCPU: 7000}}
      - {name: prep, nodeSets: [cpu], config: {DefMemPerCPU: 3800}}
    accounting:
      database: {external: {host: db.example.com, passwordRef: {name: slurmdbd-db, key: password}}}
      enabled: true
"""
)
"""Four GPU nodes and eight others, all of Slurm, accounted for: nothing can be said against it."""

_SLURM = "components.slurm"


def changed(change: Mapping[str, Any], base: Mapping[str, Any] = GOOD) -> dict[str, Any]:
    """Return `base` with the changes over it.

    Maps merge and null removes; a map over a list of named items changes the items of these names
    and adds what is not there, other lists replace.
    """
    merged = {**base}
    for key, value in change.items():
        old = merged.get(key)
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict) and isinstance(old, dict):
            merged[key] = changed(value, old)
        elif isinstance(value, dict) and isinstance(old, list):
            named = changed(value, {item["name"]: item for item in old})
            merged[key] = [{**item, "name": name} for name, item in named.items()]
        else:
            merged[key] = value
    return merged


def cluster_of(slurm: Mapping[str, Any], around: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the `spec` with changes of `components.slurm` and of what stands around it."""
    return changed({"components": {"slurm": slurm}}, changed(around or {}))


def found(spec: Mapping[str, Any], previous: State | None = None) -> tuple[Diagnostic, ...]:
    """Return what the stages find in a spec, save notices of versions and of what comes along."""
    document = {
        "apiVersion": "gitops-gen/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": "test"},
        "spec": spec,
    }
    text = yaml.safe_dump(document, sort_keys=False, width=1000)
    return tuple(item for item in findings(text, previous=previous) if item.code not in _ASIDE)


_ASIDE = ("component-required", "superseded-version", "metrics-not-kept")


def said(item: Diagnostic) -> str:
    """Return a finding as one line: severity, code, place below the component, message and hint."""
    place = item.where.removeprefix(f"spec.{_SLURM}").removeprefix(".") or "."
    key = " (key)" if item.on_key else ""
    return f"{item.severity} {item.code} at {place}{key}: {item.message} → {item.hint}"
