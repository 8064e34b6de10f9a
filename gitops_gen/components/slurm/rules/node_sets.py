"""Node sets and their pools in, what leaves nodes without work or pods without nodes or devices out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitops_gen.catalog.quantities import mebibytes, parse_memory
from gitops_gen.components.slurm.conf import text_of
from gitops_gen.components.slurm.conf.partitions import ALL
from gitops_gen.components.slurm.context import Context
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.objects import partitions_of
from gitops_gen.components.slurm.settings import NodeSet
from gitops_gen.components.slurm.workers import Worker
from gitops_gen.diagnostics import Path
from gitops_gen.pools import allocatable_cores, allocatable_memory

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")


def node_sets(context: Context) -> Iterator[Finding]:
    """Yield every finding about node sets."""
    known = [pool.name for pool in context.spec.node_pools]
    for index, item in enumerate(context.settings.node_sets):
        path: Path = ("nodeSets", index)
        if item.pool not in known:
            yield Finding(
                code="slurm-pool-unknown",
                message=f'"{item.pool}" is no pool of this cluster',
                hint=f"nodePools has {', '.join(known) or 'none yet'}",
                path=(*path, "pool"),
            )
        yield from _mode(item, path)
        yield from _strategy(item, path)
        if item.name in item.features:
            yield Finding(
                code="slurm-feature-own-name",
                level="warning",
                message=f'every node has the name of its node set, "{item.name}", as a feature already',
                hint="leave it out",
                path=(*path, "features", item.features.index(item.name)),
            )
        yield from _ssh(context, item, path)
    for worker in context.found:
        yield from _pool(worker)
        yield from _selector(worker)
        yield from _hardware(worker)
        yield from _limits(worker)
    yield from _numbers(context)
    yield from _unused(context)


def _mode(item: NodeSet, path: Path) -> Iterator[Finding]:
    if item.mode != "DaemonSet":
        return
    ignored = {
        "replicas": item.replicas is not None,
        "pinToNode": item.pin_to_node,
        "ordinalPadding": item.ordinal_padding != 0,
    }
    for field in (name for name, given in ignored.items() if given):
        yield Finding(
            code="slurm-daemonset-setting",
            message=f"a DaemonSet has one worker on each node, named as the node: {field} means "
            "nothing to it",
            hint=f"leave {field} out, or write mode: StatefulSet",
            path=(*path, field),
            on_key=True,
        )


def _strategy(item: NodeSet, path: Path) -> Iterator[Finding]:
    strategy, place = item.update_strategy, (*path, "updateStrategy")
    scheduled = strategy.type == "ScheduledUpdate"
    if scheduled and (strategy.start_time is None or strategy.duration is None):
        yield Finding(
            code="slurm-update-strategy",
            message="a scheduled update needs the time at which it begins and how long it may take",
            hint='write startTime: "2027-01-31T22:00:00Z" and duration: 4h',
            path=place,
        )
    elif scheduled and strategy.duration is not None and _seconds(strategy.duration) < 60:
        yield Finding(
            code="slurm-update-strategy",
            message=f"{strategy.duration} is too short: a reservation has a minute at least",
            hint="write duration: 1m or more; draining takes as long as the longest job",
            path=(*place, "duration"),
        )
    given = {"startTime": strategy.start_time, "duration": strategy.duration}
    for field in (name for name, value in given.items() if value is not None and not scheduled):
        yield Finding(
            code="slurm-update-strategy",
            message=f"{field} belongs to a scheduled update; with {strategy.type} nothing reads it",
            hint="write type: ScheduledUpdate, or leave it out",
            path=(*place, field),
            on_key=True,
        )
    if strategy.max_unavailable is not None and strategy.type != "RollingUpdate":
        yield Finding(
            code="slurm-update-strategy",
            message=f"maxUnavailable belongs to a rolling update; with {strategy.type} nothing reads it",
            hint="write type: RollingUpdate, or leave it out",
            path=(*place, "maxUnavailable"),
            on_key=True,
        )


def _seconds(duration: str) -> float:
    units = {"h": 3600, "m": 60, "s": 1, "ms": 0.001}
    return sum(float(number) * units[unit] for number, unit in _DURATION.findall(duration))


def _ssh(context: Context, item: NodeSet, path: Path) -> Iterator[Finding]:
    """pam_slurm_adopt finds the job of a session by the container that slurmd makes for each job."""
    if not item.ssh or context.settings.controller.external is not None:
        return
    config = {name.lower(): text_of(value) for name, value in context.settings.controller.config.items()}
    tracked = config.get("proctracktype", "proctrack/cgroup").lower()
    if tracked != "proctrack/cgroup":
        yield Finding(
            code="slurm-ssh-adoption",
            message=f"SSH adopts a session into its job by cgroups, and ProctrackType is {tracked}",
            hint="leave ProctrackType out of controller.config, or `ssh` here",
            path=(*path, "ssh"),
            on_key=True,
        )


# --- the pool ----------------------------------------------------------------------------------


def _pool(worker: Worker) -> Iterator[Finding]:
    pool, path = worker.pool, ("nodeSets", worker.index, "pool")
    if pool.use == "kubernetes":
        yield Finding(
            code="slurm-pool-of-kubernetes",
            message=f'the nodes of pool "{pool.name}" are for Kubernetes alone, and Slurm takes whole nodes',
            hint="write use: slurm at the pool, or use: shared where both may have them",
            path=path,
        )
    if pool.gpu is not None and pool.gpu.sharing is not None:
        yield Finding(
            code="slurm-pool-sharing",
            message=f'the GPUs of pool "{pool.name}" are shared among pods; Slurm hands out whole devices',
            hint="take `sharing` off the pool; MIG, or shards in slurm.conf, divide a GPU among jobs",
            path=path,
        )


def _selector(worker: Worker) -> Iterator[Finding]:
    given = worker.node_set.pod_spec.get("nodeSelector")
    for label, value in given.items() if isinstance(given, dict) else ():
        own = worker.pool.node_selector.get(label)
        if own is not None and value not in (own, None):
            yield Finding(
                code="slurm-pool-left",
                message=f'nodes of pool "{worker.pool.name}" have {label}: {own}, so that none is found',
                hint="leave it out, or name another `pool`",
                path=("nodeSets", worker.index, "podSpec", "nodeSelector", label),
            )


def _hardware(worker: Worker) -> Iterator[Finding]:
    """A node that registers with less than its line says is drained as invalid."""
    machine, config = worker.pool.machine, worker.node_set.config
    if machine is None:
        return
    cores = machine.sockets * machine.cores_per_socket
    there = {
        "cpus": cores * machine.threads_per_core,
        "sockets": machine.sockets,
        "corespersocket": machine.cores_per_socket,
        "threadspercore": machine.threads_per_core,
    }
    for name, value in config.items():
        most, text = there.get(name.lower()), text_of(value)
        if most is not None and text.isdecimal() and int(text) > most:
            yield Finding(
                code="slurm-node-above-machine",
                message=f'{name}={text} is more than a node of pool "{worker.pool.name}" has ({most}): '
                "it registers as invalid and gets no jobs",
                hint="leave it out: slurmd finds its hardware by itself",
                path=("nodeSets", worker.index, "config", name),
            )


def _limits(worker: Worker) -> Iterator[Finding]:
    path: Path = ("nodeSets", worker.index)
    limits, machine = worker.node_set.limits, worker.pool.machine
    if worker.cpus is None or worker.memory is None:
        parts = (("how many processors", worker.cpus), ("how much memory", worker.memory))
        unknown = " and ".join(what for what, given in parts if given is None)
        yield Finding(
            code="slurm-limits-unknown",
            level="warning",
            message=f'nothing says {unknown} Slurm gets of a node of pool "{worker.pool.name}", so that it '
            "offers all to jobs, the share of kubelet and DaemonSets among it",
            hint="describe `machine` with `machine.reserved` at the pool, or write `limits` here",
            path=path,
        )
    if machine is None:
        return
    threads = machine.sockets * machine.cores_per_socket * machine.threads_per_core
    memory = mebibytes(parse_memory(machine.memory))
    if limits.cpu is not None and limits.cpu % machine.threads_per_core:
        yield Finding(
            code="slurm-limits-cores",
            level="warning",
            message=f"{limits.cpu} processors are no whole cores of {machine.threads_per_core} threads; "
            "slurmd rounds down and a core is lost",
            hint=f"write {limits.cpu // machine.threads_per_core * machine.threads_per_core}",
            path=(*path, "limits", "cpu"),
        )
    usual = (allocatable_cores(machine), allocatable_memory(machine))
    bounds = {
        "cpu": (limits.cpu, threads, usual[0], "processors"),
        "memory": (worker.memory if limits.memory else None, memory, usual[1], "MiB"),
    }
    for field, (given, all_of_it, left, unit) in bounds.items():
        if given is not None and given > left:
            above = given > all_of_it
            yield Finding(
                code="slurm-limits-above-machine" if above else "slurm-limits-into-reserved",
                level="error" if above else "warning",
                message=f"{given} {unit} are more than a node has ({all_of_it})"
                if above
                else f"{given} {unit} reach into machine.reserved ({left} are left of {all_of_it})",
                hint=f"write at most {left}, or leave it out",
                path=(*path, "limits", field),
            )
    if limits.cpu is None and limits.memory is None and usual == (threads, memory):
        yield Finding(
            code="slurm-nothing-reserved",
            level="warning",
            message=f'the workers ask for the whole machine of pool "{worker.pool.name}"; kubelet and '
            "DaemonSets "
            "keep some of it, so that the pods find no node",
            hint="write machine.reserved at the pool: two cores and 6 % of the memory are a beginning",
            path=(*path, "pool"),
        )


# --- numbers -----------------------------------------------------------------------------------


def _numbers(context: Context) -> Iterator[Finding]:
    """Two workers never share a node, so all sets of a pool together need as many nodes."""
    wanted: dict[str, int] = {}
    for worker in context.found:
        before = wanted.get(worker.pool.name, 0)
        whole = worker.node_set.mode == "DaemonSet"
        wanted[worker.pool.name] = before + (worker.pool.nodes if whole else worker.most)
        if before <= worker.pool.nodes < wanted[worker.pool.name]:
            others = f", of which the sets above take {before}" if before else ""
            left = worker.pool.nodes - before
            yield Finding(
                code="slurm-pool-too-small",
                message=f'each worker takes a node: node set "{worker.name}" has up to {worker.most}, '
                f'and pool "{worker.pool.name}" has {worker.pool.nodes}{others}',
                hint=f"write at most {left}, or more `nodes` at the pool"
                if left
                else "give the sets above fewer `replicas`, or write more `nodes` at the pool",
                path=("nodeSets", worker.index, *(() if worker.node_set.replicas is None else ("replicas",))),
            )


def _unused(context: Context) -> Iterator[Finding]:
    if context.settings.controller.external is not None:
        return
    named = {item.name for item in context.settings.node_sets}
    misnamed = any(
        name not in (*named, ALL) for item in context.settings.partitions for name in item.node_sets
    )
    for worker in context.found:
        if not misnamed and not partitions_of(context, worker):
            yield Finding(
                code="slurm-node-set-unused",
                level="warning",
                message=f'no partition has node set "{worker.name}", so that no job can run on it',
                hint="name it in `nodeSets` of a partition",
                path=("nodeSets", worker.index),
            )
    taken = {item.pool for item in context.settings.node_sets}
    if not context.settings.node_sets:
        yield Finding(
            code="slurm-no-node-sets",
            level="warning",
            message="Slurm has no node set, so that no job can run",
            hint="write nodeSets: [{name: …, pool: …}] for the pools with use: slurm",
            path=(),
            on_key=True,
        )
    known = {pool.name for pool in context.spec.node_pools}
    for pool in context.spec.node_pools:
        if pool.use == "slurm" and pool.name not in taken and taken and taken <= known:
            yield Finding(
                code="slurm-pool-unused",
                level="warning",
                message=f'pool "{pool.name}" belongs to Slurm, but no node set takes its nodes',
                hint=f"add {{name: {pool.name}, pool: {pool.name}}}, or change `use` of the pool",
                path=("nodeSets",),
                on_key=True,
            )
