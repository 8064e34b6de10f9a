"""Worker groups and their pools in, what cannot be scheduled or would be lost out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gitops_gen.components.kuberay.findings import finding, pool_findings
from gitops_gen.components.kuberay.settings import KuberaySettings, Scaling
from gitops_gen.components.kuberay.workers import Placed, placed_groups, topology
from gitops_gen.diagnostics import Diagnostic, Path, Severity
from gitops_gen.model import ClusterSpec


def check_workers(spec: ClusterSpec, settings: KuberaySettings, data: Any) -> Iterator[Diagnostic]:
    """Yield every finding about the worker groups."""
    for index, cluster in enumerate(settings.clusters):
        for place, group in enumerate(cluster.worker_groups):
            at = ("clusters", index, "workerGroups", place, "pool")
            yield from pool_findings(spec, group.pool, at)
    groups = tuple(placed_groups(spec, settings, data))
    for placed in groups:
        yield from _bounds(placed)
        yield from _size(placed)
        yield from _resource(placed)
        yield from _devices(placed)
        yield from _shares(placed)
        yield from _slice(placed, data["tpu"])
        yield from _rdma(placed)
    yield from _capacity(groups)


def _at(placed: Placed, *below: str) -> Path:
    return (*placed.at[2:], *below)


def _bounds(placed: Placed) -> Iterator[Diagnostic]:
    replicas = placed.group.replicas
    if isinstance(replicas, Scaling) and replicas.min > replicas.max:
        yield finding(
            "kuberay-replicas-order",
            f"at least {replicas.min} and at most {replicas.max} workers: the bounds are the wrong way round",
            _at(placed, "replicas"),
            f"write replicas: {{min: {replicas.max}, max: {replicas.min}}}",
        )


def _size(placed: Placed) -> Iterator[Diagnostic]:
    if placed.cpu is None or placed.memory is None:
        yield finding(
            "kuberay-worker-size-unknown",
            f'pool "{placed.pool.name}" does not say what is installed in a node, so the size of a worker '
            "cannot follow from it",
            _at(placed),
            "describe nodePools[].machine, or give the worker group cpu and memory",
        )
    elif placed.cpu < 1 or placed.memory == "0Mi":
        yield finding(
            "kuberay-worker-too-small",
            f"{placed.group.workers_per_node} workers share a node: nothing is left for each of them",
            _at(placed, "workersPerNode"),
            "let fewer workers share a node",
        )


def _resource(placed: Placed) -> Iterator[Diagnostic]:
    offers = ", ".join(placed.offers) or "none"
    wanted = placed.group.resource
    if wanted is not None and wanted not in placed.offers:
        yield finding(
            "kuberay-resource-unknown",
            f'the nodes of pool "{placed.pool.name}" do not offer {wanted}',
            _at(placed, "resource"),
            f"accelerators that pods can ask for there: {offers}",
        )
    elif wanted is None and len(placed.offers) > 1 and placed.group.devices != 0:
        yield finding(
            "kuberay-resource-ambiguous",
            f'the nodes of pool "{placed.pool.name}" offer several resources: {offers}',
            _at(placed),
            "name one of them under resource; a group for each takes them all",
        )
    elif not placed.offers and _wants_devices(placed):
        yield finding(
            "kuberay-resource-unknown",
            f'the nodes of pool "{placed.pool.name}" offer no GPUs or TPUs that pods can ask for by resource',
            _at(placed) if placed.group.devices is None else _at(placed, "devices"),
            "take another pool, or write devices: 0 for workers without any",
        )


def _wants_devices(placed: Placed) -> bool:
    has = placed.pool.gpu is not None or placed.pool.tpu is not None
    return has if placed.group.devices is None else placed.group.devices > 0


def _devices(placed: Placed) -> Iterator[Diagnostic]:
    if placed.resource is None:
        return
    each, workers = placed.group.devices, placed.group.workers_per_node
    offered = placed.offers[placed.resource]
    if each is not None and each * workers > offered:
        why = f"{workers} × {each} {placed.resource} on a node that offers {offered}"
    elif each is None and offered % workers:
        why = f"{offered} {placed.resource} of a node cannot be shared out among {workers} workers"
    else:
        return
    yield finding(
        "kuberay-devices-do-not-fit",
        why,
        _at(placed, "devices" if each is not None else "workersPerNode"),
        "choose devices and workersPerNode so that their product fits on a node",
    )


def _shares(placed: Placed) -> Iterator[Diagnostic]:
    gpu = placed.pool.gpu
    if gpu is not None and gpu.sharing is not None and placed.devices > 1:
        yield finding(
            "kuberay-several-shares",
            f'a worker would ask for {placed.devices} shares, but the GPUs of pool "{placed.pool.name}" are '
            "shared: more shares are no more of a GPU, and may be of the same one",
            _at(placed),
            "write devices: 1, and workersPerNode for several workers on a node",
        )


def _slice(placed: Placed, tpu: Any) -> Iterator[Diagnostic]:
    chips, own = topology(placed.pool, tpu), placed.pool.tpu
    if own is None or chips is None:
        return
    if chips > own.count and (
        chips % own.count or placed.group.workers_per_node > 1 or placed.devices < own.count
    ):
        yield finding(
            "kuberay-slice-does-not-fit",
            f"a slice of {chips} chips takes whole nodes of {own.count}: "
            "each worker must have all chips of its node, and the slice a whole number of nodes",
            _at(placed),
            f"leave devices and workersPerNode out, or correct tpu.count and {tpu['topologyLabel']}",
        )
    elif placed.hosts > 1:
        yield finding(
            "kuberay-slice-needs-webhook",
            f"each worker of {placed.group.name} is a slice of {placed.hosts} hosts: they find each other by "
            "variables that the Ray Operator add-on of GKE, or Google's TPU webhook, writes into the pods",
            _at(placed),
            "see that one of the two is there",
            severity=Severity.NOTICE,
        )


def _rdma(placed: Placed) -> Iterator[Diagnostic]:
    if placed.group.rdma and not placed.whole_node:
        yield finding(
            "kuberay-rdma-missing",
            f'pool "{placed.pool.name}" offers no RDMA devices to pods',
            _at(placed, "rdma"),
            "describe nodePools[].fabric and switch networkOperator on, or remove rdma",
        )
    elif placed.group.rdma and placed.group.workers_per_node > 1:
        yield finding(
            "kuberay-rdma-takes-node",
            f"{placed.group.workers_per_node} workers share a node, but one with rdma takes its whole fabric",
            _at(placed, "rdma"),
            "leave workersPerNode out",
        )


def _capacity(groups: Sequence[Placed]) -> Iterator[Diagnostic]:
    taken: dict[str, int] = {}
    for placed in groups:
        name = placed.pool.name
        taken[name] = taken.get(name, 0) + placed.nodes
        if taken[name] > placed.pool.nodes and taken[name] - placed.nodes <= placed.pool.nodes:
            yield finding(
                "kuberay-pool-too-small",
                f'the largest numbers of workers take {taken[name]} nodes of pool "{name}", '
                f"which has {placed.pool.nodes}",
                _at(placed),
                "lower replicas, let several workers share a node, or correct nodePools[].nodes",
            )
