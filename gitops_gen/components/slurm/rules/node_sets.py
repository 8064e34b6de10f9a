"""Node sets and their pools in, what leaves nodes without work or pods without nodes or devices out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitops_gen.catalog.quantities import mebibytes, parse_memory
from gitops_gen.components.slurm.conf import text_of
from gitops_gen.components.slurm.conf.partitions import ALL
from gitops_gen.components.slurm.context import Context
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.gres_conf import detection
from gitops_gen.components.slurm.images import image
from gitops_gen.components.slurm.objects import partitions_of
from gitops_gen.components.slurm.settings import NodeSet, Scaling
from gitops_gen.components.slurm.workers import Worker
from gitops_gen.diagnostics import Path
from gitops_gen.pools import allocatable_cores, allocatable_memory

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")
_TPU_LABELS = ("cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology")
"""What GKE's admission looks for in a pod that asks for google.com/tpu (GKE documentation on TPUs)."""


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
        yield from _tpu(context, worker)
        yield from _hardware(worker)
        yield from _gpus(worker)
        yield from _limits(worker)
        yield from _detected(context, worker)
    yield from _hosts(context)
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


def _tpu(context: Context, worker: Worker) -> Iterator[Finding]:
    """GKE admits pods with TPUs only where they name accelerator and topology of the slice."""
    if worker.pool.tpu is None or context.spec.kubernetes.distribution != "gke":
        return
    given = worker.node_set.pod_spec.get("nodeSelector")
    known = {*worker.pool.node_selector, *(given if isinstance(given, dict) else ())}
    missing = [label for label in _TPU_LABELS if label not in known]
    if missing:
        yield Finding(
            code="slurm-tpu-selector",
            message=f"GKE admits a pod with TPUs only with {' and '.join(missing)} in its nodeSelector",
            hint=f'add it to nodeSelector of pool "{worker.pool.name}", such as '
            "{cloud.google.com/gke-tpu-accelerator: tpu-v5-lite-podslice, "
            "cloud.google.com/gke-tpu-topology: 2x4}",
            path=("nodeSets", worker.index, "pool"),
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


def _gpus(worker: Worker) -> Iterator[Finding]:
    wanted, gpu, path = worker.node_set.gpus, worker.pool.gpu, ("nodeSets", worker.index, "gpus")
    if wanted is None:
        return
    if gpu is None or gpu.mig is not None or wanted > gpu.count:
        there = "no GPUs" if gpu is None else f"{gpu.count} GPUs"
        there = there if gpu is None or gpu.mig is None else "MIG instances and no whole GPUs"
        yield Finding(
            code="slurm-gpus-not-there",
            message=f'each node of pool "{worker.pool.name}" has {there}, and {wanted} are asked for',
            hint="leave `gpus` out: Slurm gets what the pool has",
            path=path,
        )
    elif wanted < gpu.count:
        yield Finding(
            code="slurm-gpus-partial",
            level="warning",
            message=f"slurmd is privileged and sees all {gpu.count} GPUs: jobs can reach the others, too",
            hint="leave `gpus` out and give Slurm whole nodes, or accept this",
            path=path,
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


def _detected(context: Context, worker: Worker) -> Iterator[Finding]:
    """A node whose slurmd finds fewer devices than its line says is drained."""
    method = detection(context.settings, worker)
    if not worker.gres or not method or context.settings.gres.lines:
        return
    found = _undetected(context, worker, method)
    if found is None:
        return
    reason, way_out = found
    yield Finding(
        code="slurm-mig-detection" if worker.mig else "slurm-gpu-detection",
        level="warning",
        message=f'{reason}: the nodes would register without the GRES of pool "{worker.pool.name}" '
        "and be drained",
        hint=f"{way_out}, or describe the {'instances' if worker.mig else 'GPUs'} by gres.lines with "
        "NodeName and File",
        path=("nodeSets", worker.index, "pool"),
    )


def _undetected(context: Context, worker: Worker, method: str) -> tuple[str, str] | None:
    """Return why slurmd would not find the GPUs, and the way out."""
    accelerator = worker.accelerator
    amd = accelerator is not None and accelerator.vendor == "amd"
    library = "the SMI library of ROCm" if amd else "NVML"
    if method == "off":
        return "AutoDetect=off finds nothing", "leave gres.autoDetect out"
    if amd != (method == "rsmi"):
        return (
            f"AutoDetect={method} looks for GPUs of another maker",
            "leave gres.autoDetect out, so that each pool has what finds its own",
        )
    if method == "nvidia" and worker.mig:
        return (
            "AutoDetect=nvidia sees whole GPUs only",
            f"leave gres.autoDetect out and use an image of slurmd with {library}",
        )
    plain = context.data["images"]["profiles"]["slinky"]["repository"]
    if method != "nvidia" and image(context, "slurmd", worker.node_set.image).upstream.startswith(
        f"{plain}/"
    ):
        what = f"which is what finds {'MIG instances' if worker.mig else 'the GPUs'}"
        return (
            f"SchedMD's images are built without {library}, {what}",
            f"use an image of slurmd with {library}",
        )
    return None


def _hosts(context: Context) -> Iterator[Finding]:
    """gres.conf names the nodes of each set where one line cannot serve all of them."""
    bearers = [worker for worker in context.found if worker.gres]
    methods = {detection(context.settings, worker) for worker in bearers}
    if len(methods) < 2 and "" not in methods:
        return
    for worker in bearers:
        if worker.node_set.mode == "DaemonSet" and not worker.hosts:
            yield Finding(
                code="slurm-hosts-unknown",
                message=f'gres.conf tells the devices of "{worker.name}" by the names of its nodes: '
                "as a DaemonSet it has those of Kubernetes, and nothing says them",
                hint=f'write nodeNames at pool "{worker.pool.name}", or mode: StatefulSet',
                path=("nodeSets", worker.index, "mode"),
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


# --- automatic scaling -------------------------------------------------------------------------


def scaling(context: Context) -> Iterator[Finding]:
    """Yield what keeps a node set from growing and shrinking by itself."""
    for worker in context.autoscaled:
        path: Path = ("nodeSets", worker.index, "replicas")
        bounds = worker.scaled
        assert isinstance(bounds, Scaling)
        if bounds.min > bounds.max:
            yield Finding(
                code="slurm-scaling-range",
                message=f"at least {bounds.min} and at most {bounds.max} nodes is no range",
                hint=f"write {{min: {bounds.max}, max: {bounds.min}}}",
                path=path,
            )
        if bounds.min == 0:
            yield Finding(
                code="slurm-scaling-zero",
                level="warning",
                message="Slurm refuses a job at once while its partition has no node that ever registered "
                "(Requested node configuration is not available), so that nothing waits and nothing grows",
                hint="write min: 1, or accept this after a try on your own cluster",
                path=(*path, "min"),
            )
        yield from _scaled_by(context, path)


def _scaled_by(context: Context, path: Path) -> Iterator[Finding]:
    asked, metrics = context.settings.controller, context.metrics
    reason = None
    if asked.external is not None:
        reason = ("slurmctld runs elsewhere", "write a fixed number")
    elif metrics is not None and not metrics.service_monitor:
        reason = ("controller.metrics.serviceMonitor is off", "leave serviceMonitor out")
    elif metrics is not None and not {"nodes", "partitions"} <= set(metrics.endpoints):
        reason = ("controller.metrics.endpoints leaves out nodes or partitions", "add nodes and partitions")
    elif not context.spec.prometheus_url:
        reason = ("nobody says where Prometheus answers", "write monitoring.prometheusURL")
    if reason is not None:
        yield Finding(
            code="slurm-scaling-metrics",
            message=f"KEDA counts busy nodes and waiting jobs by Prometheus, but {reason[0]}",
            hint=reason[1],
            path=path,
        )
    elif not asked.metrics:
        yield Finding(
            code="slurm-scaling-needs-metrics",
            level="notice",
            message="slurmctld's metrics are on, since a node set is scaled by them",
            hint="write controller.metrics: true to say so yourself",
            path=path,
        )
