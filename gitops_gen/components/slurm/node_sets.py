"""Workers in, the chart's values for their node sets out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitops_gen.components.placement import found_by_name, named_nodes, toleration
from gitops_gen.components.slurm.config import node_conf
from gitops_gen.components.slurm.context import FULLNAME, Context, own
from gitops_gen.components.slurm.images import image
from gitops_gen.components.slurm.pods import (
    Fields,
    default_images,
    pod_settings,
    shipped,
    volume_origins,
)
from gitops_gen.components.slurm.scripts import Mounted, enroot, health_check
from gitops_gen.components.slurm.settings import NodeSet, Ssh
from gitops_gen.components.slurm.storage import pod_volumes, volume_mounts
from gitops_gen.components.slurm.workers import Worker
from gitops_gen.model import Json, Object, Origin, Setting, from_fact, from_rule, from_spec
from gitops_gen.traced import put

NETWORKS = "k8s.v1.cni.cncf.io/networks"
_TPU_DEVICES: Object = {"name": "dev", "hostPath": {"path": "/dev", "type": "Directory"}}
_UNLIMITED = 'ulimit -l unlimited; exec entrypoint.sh "$@"'
"""SchedMD's images start by `entrypoint.sh`; slurmd hands its limits to jobs."""

_ALIKE = from_rule("requests equal limits, so that nothing else is placed into what Slurm gives to jobs")
_NCCL = from_rule("RDMA and NCCL need locked memory and shared memory; without them jobs fall back to TCP")
_TPU = from_fact("Slinky's guide for TPUs: slurmd finds the chips under /dev")


def node_sets(context: Context) -> Iterator[Setting]:
    """Yield the values of every node set."""
    yield from default_images(context, "nodesets", {"slurmd": "slurmd", "sidecar": "logfile"})
    for worker in context.found:
        yield from _node_set(context, worker)
    yield from shipped(context, "nodesets", {worker.name for worker in context.found})


def _node_set(context: Context, worker: Worker) -> Iterator[Setting]:
    item, place = worker.node_set, ("nodeSets", worker.index)
    at = ("nodesets", item.name)
    own_defaults = context.release["defaults"].get("nodesets") is not None
    if not own_defaults:
        yield put((*at, "enabled"), True, own(*place))
        yield put((*at, "scalingMode"), item.mode, own(*place, "mode"))
    elif item.mode != "StatefulSet":
        yield put((*at, "scalingMode"), item.mode, own(*place, "mode"))
    if item.mode == "StatefulSet":
        yield put((*at, "replicas"), worker.least, own(*place, "replicas"))
    else:
        yield from () if own_defaults else (put((*at, "replicas"), worker.least, own(*place, "replicas")),)
    yield from _choices(item, at, place, always=not own_defaults)
    yield from _update_strategy(item, at, place)
    yield from _ssh(item, at, place)
    for line in node_conf(worker):
        yield put((*at, "extraConfMap", line.name), line.text, *line.origins)
    if worker.networks:
        fabric = from_spec("nodePools", worker.pool_index, "fabric")
        yield put((*at, "metadata", "annotations", NETWORKS), ",".join(worker.networks), fabric, _NCCL)
    yield from _slurmd(context, worker, at, place)
    if not own_defaults:
        sidecar = image(context, "sidecar")
        yield put((*at, "logfile", "image"), sidecar.value, *sidecar.origins)
    fields = _worker_pod(context, worker, place)
    yield from pod_settings((*at, "podSpec"), fields, item.pod_spec, place)


def _choices(
    item: NodeSet, at: tuple[str, ...], place: tuple[str | int, ...], *, always: bool
) -> Iterator[Setting]:
    """Yield what differs from the chart's defaults, everything where a set has no defaults."""
    if item.pin_to_node:
        yield put((*at, "pinToNode"), True, own(*place, "pinToNode"))
    if always or not item.protect_jobs:
        yield put((*at, "workloadDisruptionProtection"), item.protect_jobs, own(*place, "protectJobs"))
    if always or item.ordinal_padding:
        yield put((*at, "ordinalPadding"), item.ordinal_padding, own(*place, "ordinalPadding"))


def _update_strategy(item: NodeSet, at: tuple[str, ...], place: tuple[str | int, ...]) -> Iterator[Setting]:
    strategy, by = item.update_strategy, own(*place, "updateStrategy")
    if strategy.type != "RollingUpdate":
        yield put((*at, "updateStrategy", "type"), strategy.type, by)
    if strategy.max_unavailable is not None:
        path = (*at, "updateStrategy", "rollingUpdate", "maxUnavailable")
        yield put(path, strategy.max_unavailable, by)
    if strategy.start_time is not None:
        yield put((*at, "updateStrategy", "scheduledUpdate", "startTime"), strategy.start_time, by)
    if strategy.duration is not None:
        yield put((*at, "updateStrategy", "scheduledUpdate", "duration"), strategy.duration, by)


def _ssh(item: NodeSet, at: tuple[str, ...], place: tuple[str | int, ...]) -> Iterator[Setting]:
    if not item.ssh:
        return
    yield put((*at, "ssh", "enabled"), True, own(*place, "ssh"))
    if isinstance(item.ssh, Ssh) and item.ssh.extra_sshd_config is not None:
        lines = item.ssh.extra_sshd_config
        yield put((*at, "ssh", "extraSshdConfig"), lines, own(*place, "ssh", "extraSshdConfig"))


def _slurmd(
    context: Context, worker: Worker, at: tuple[str, ...], place: tuple[str | int, ...]
) -> Iterator[Setting]:
    item = worker.node_set
    chosen = image(context, "slurmd", item.image, *place, "image")
    if item.image is not None or context.release["defaults"].get("nodesets") is None:
        yield put((*at, "slurmd", "image"), chosen.value, *chosen.origins)
    if worker.pool.fabric is not None and _started_by_entrypoint(context, worker):
        command: list[Json] = ["bash", "-c", _UNLIMITED, "slurmd"]
        yield put((*at, "slurmd", "command"), command, _pool(worker, "fabric"), _NCCL)
    if item.env:
        env: list[Json] = [{"name": name, "value": value} for name, value in item.env.items()]
        yield put((*at, "slurmd", "env"), env, own(*place, "env"))
    yield from _limits(worker, at, place)
    mounts = _worker_mounts(context, worker)
    if mounts:
        yield put((*at, "slurmd", "volumeMounts"), [*mounts], *_mount_origins(context, worker, place))


def _started_by_entrypoint(context: Context, worker: Worker) -> bool:
    """Whether the image is SchedMD's own, whose start is known."""
    plain = context.data["images"]["profiles"]["slinky"]["repository"]
    chosen = image(context, "slurmd", worker.node_set.image)
    return chosen.upstream.startswith(f"{plain}/")


def _limits(worker: Worker, at: tuple[str, ...], place: tuple[str | int, ...]) -> Iterator[Setting]:
    resources = (*at, "slurmd", "resources")
    limits = worker.node_set.limits
    machine = _pool(worker, "machine")
    quantities: dict[str, tuple[Json, Origin]] = {}
    if worker.cpus is not None:
        by = own(*place, "limits", "cpu") if limits.cpu is not None else machine
        quantities["cpu"] = (worker.cpus, by)
    if worker.memory is not None:
        by = own(*place, "limits", "memory") if limits.memory is not None else machine
        quantities["memory"] = (f"{worker.memory}Mi", by)
    for bound in ("requests", "limits"):
        why = (_ALIKE,) if bound == "requests" else ()
        for name, (value, by) in quantities.items():
            yield put((*resources, bound, name), value, by, *why)
        for name, count in worker.devices.items():
            device = _pool(worker, "tpu" if worker.pool.tpu else "gpu" if worker.pool.gpu else "fabric")
            yield put((*resources, bound, name), count, device, *why)


def _worker_mounts(context: Context, worker: Worker) -> Sequence[Object]:
    settings, item = context.settings, worker.node_set
    mounts: list[Object] = []
    if worker.shared_memory is not None:
        mounts.append({"name": "shm", "mountPath": "/dev/shm"})  # noqa: S108
    if worker.pool.tpu is not None:
        mounts.append({"name": "dev", "mountPath": "/dev"})
    mounts += volume_mounts(settings.volumes, "nodeSets", item.volumes)
    return (*mounts, *(file.mount for file in worker_files(context)))


def worker_files(context: Context) -> tuple[Mounted, ...]:
    """Return the ConfigMaps of ours that node sets mount."""
    at = {"fullname": FULLNAME, "namespace": context.namespace}
    found = (enroot(context.settings, **at), health_check(context.settings, **at))
    return tuple(file for file in found if file is not None)


def _mount_origins(context: Context, worker: Worker, place: tuple[str | int, ...]) -> tuple[Origin, ...]:
    origins: list[Origin] = []
    if worker.shared_memory is not None:
        origins += [_memory_origin(worker, place), _NCCL]
    if worker.pool.tpu is not None:
        origins += [_pool(worker, "tpu"), _TPU]
    origins += volume_origins(context, place, worker.node_set.volumes)
    files = {"enroot": ("pyxis", "enrootConfig"), "health-check": ("healthCheck", "script")}
    origins += [own(*files[str(file.volume["name"])]) for file in worker_files(context)]
    return tuple(origins)


def _memory_origin(worker: Worker, place: tuple[str | int, ...]) -> Origin:
    given = worker.node_set.shared_memory is not None
    return own(*place, "sharedMemory") if given else _pool(worker, "machine")


def _worker_pod(context: Context, worker: Worker, place: tuple[str | int, ...]) -> Fields:
    pool, item = worker.pool, worker.node_set
    fields: dict[str, tuple[Json, tuple[Origin, ...]]] = {}
    if item.host_network:
        fields["hostNetwork"] = (True, (own(*place, "hostNetwork"),))
        fields["dnsPolicy"] = ("ClusterFirstWithHostNet", (own(*place, "hostNetwork"),))
    if pool.node_selector:
        selector: Object = dict(pool.node_selector)
        fields["nodeSelector"] = (selector, (_pool(worker, "nodeSelector"),))
    if found_by_name(pool):
        fields["affinity"] = (named_nodes(pool), (_pool(worker, "nodeNames"),))
    tolerations: list[Json] = [
        toleration(taint) for taint in pool.taints if taint.effect != "PreferNoSchedule"
    ]
    if tolerations:
        fields["tolerations"] = (tolerations, (_pool(worker, "taints"),))
    volumes: list[Json] = []
    if worker.shared_memory is not None:
        memory: Object = {"medium": "Memory", "sizeLimit": worker.shared_memory}
        volumes.append({"name": "shm", "emptyDir": memory})
    if pool.tpu is not None:
        volumes.append(_TPU_DEVICES)
    settings = context.settings
    volumes += pod_volumes(settings.volumes, "nodeSets", item.volumes, fullname=FULLNAME)
    volumes += [file.volume for file in worker_files(context)]
    if volumes:
        fields["volumes"] = (volumes, _mount_origins(context, worker, place))
    return fields


def _pool(worker: Worker, field: str) -> Origin:
    return from_spec("nodePools", worker.pool_index, field)
