"""GPUs and TPUs of node sets in, what slurmd would not find or Kubernetes would not give out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.slurm.context import Context
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.gres_conf import detection
from gitops_gen.components.slurm.images import image
from gitops_gen.components.slurm.workers import Worker

_TPU_LABELS = ("cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology")
"""What GKE's admission looks for in a pod that asks for google.com/tpu (GKE documentation on TPUs)."""


def devices(context: Context) -> Iterator[Finding]:
    """Yield every finding about the devices of node sets."""
    for worker in context.found:
        yield from _gpus(worker)
        yield from _tpu(context, worker)
        yield from _detected(context, worker)
    yield from _hosts(context)


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
