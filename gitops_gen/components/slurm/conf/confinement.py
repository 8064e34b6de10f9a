"""cgroup.conf, the plugins behind it and gres.conf in, what confines nobody or cannot start out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.slurm.conf.check import check_config
from gitops_gen.components.slurm.conf.gres import GresCount, check_gres_lines, check_gres_types
from gitops_gen.components.slurm.conf.inputs import Inputs
from gitops_gen.components.slurm.conf.words import below, fault, listed
from gitops_gen.components.slurm.finding import Finding

_NEEDS_TASK = ("ConstrainCores", "ConstrainDevices", "ConstrainRAMSpace", "ConstrainSwapSpace")
_WITHOUT = {
    "ProctrackType": "proctrack/linuxproc",
    "TaskPlugin": "task/affinity",
    "JobAcctGatherType": "jobacct_gather/linux",
}
"""What to write where there are no cgroups."""


def confinement_findings(inputs: Inputs) -> Iterator[Finding]:
    """Yield what is wrong with confinement of jobs and with generic resources."""
    own = check_config(inputs.table, "cgroup", inputs.settings.cgroup, release=inputs.release)
    yield from below(own, "cgroup")
    if inputs.cgroup("CgroupPlugin", "cgroup/v2") == "disabled":
        yield from _disabled(inputs)
    else:
        yield from _enabled(inputs)
    yield from _gres(inputs)


def _disabled(inputs: Inputs) -> Iterator[Finding]:
    left = [name for name in _WITHOUT if "cgroup" in inputs.text(name).lower()]
    if left:
        wanted = listed((f"{name}: {_WITHOUT[name]}" for name in left), "and")
        yield fault(
            "slurm-cgroup-disabled",
            f"CgroupPlugin=disabled, but {listed(left, 'and')} still go by cgroups; no daemon starts",
            f"write {wanted} in controller.config",
            *inputs.cgroup_place("CgroupPlugin"),
        )


def _enabled(inputs: Inputs) -> Iterator[Finding]:
    if inputs.cgroup("IgnoreSystemd", "yes") not in ("yes", "up", "true", "1"):
        yield fault(
            "slurm-cgroup-systemd",
            "slurmd asks systemd for its cgroups then, and there is none in a container",
            "leave IgnoreSystemd out",
            *inputs.cgroup_place("IgnoreSystemd"),
        )
    confined = [name for name in _NEEDS_TASK if inputs.confines(name)]
    plugins = {word.removeprefix("task/") for word in inputs.words("TaskPlugin")}
    if confined and "cgroup" not in plugins:
        yield fault(
            "slurm-confinement",
            f"{listed(confined, 'and')} of cgroup.conf have no effect without task/cgroup",
            "write TaskPlugin: [task/cgroup, task/affinity], or those keywords as false under `cgroup`",
            *inputs.place("TaskPlugin"),
        )
        return
    yield from _memory(inputs)


def _memory(inputs: Inputs) -> Iterator[Finding]:
    if not inputs.confines("ConstrainRAMSpace"):
        return
    words = inputs.words("SelectTypeParameters", "cr_core_memory")
    if not any(
        word in words for word in ("cr_core_memory", "cr_cpu_memory", "cr_socket_memory", "cr_memory")
    ):
        yield fault(
            "slurm-confinement",
            "ConstrainRAMSpace has no effect where memory is not given out to jobs",
            "write CR_Core_Memory, or ConstrainRAMSpace: false under `cgroup`",
            *inputs.place("SelectTypeParameters"),
        )
    if "overmemorykill" in inputs.words("JobAcctGatherParams"):
        yield fault(
            "slurm-memory-kill",
            "cgroups hold jobs to their memory already; slurmctld stops with OverMemoryKill beside them",
            "leave OverMemoryKill out",
            *inputs.place("JobAcctGatherParams"),
        )


def _gres(inputs: Inputs) -> Iterator[Finding]:
    declared = inputs.words("GresTypes")
    used = {
        worker.name: [GresCount(name=item.name, type=item.type, count=item.count) for item in worker.gres]
        for worker in inputs.workers
        if worker.gres
    }
    yield from below(check_gres_types(declared, used), *inputs.place("GresTypes"))
    lines = inputs.settings.gres.lines
    yield from below(
        check_gres_lines(inputs.table, lines, declared=declared, node_sets=len(inputs.settings.node_sets)),
        "gres",
        "lines",
    )
