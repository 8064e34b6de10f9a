"""Settings and workers in, gres.conf out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gitops_gen.components.slurm.conf.grammar import Refusal
from gitops_gen.components.slurm.conf.hostlist import expand
from gitops_gen.components.slurm.settings import SlurmSettings
from gitops_gen.components.slurm.workers import Gres, Worker

_NAME = re.compile(r"\bName=(\S+)", re.IGNORECASE)
_HOSTS = re.compile(r"\bNodeName=(\S+)", re.IGNORECASE)


def gres_conf(settings: SlurmSettings, found: Sequence[Worker]) -> str:
    """Return gres.conf, empty where no node has GRES.

    One `AutoDetect` line serves a cluster whose devices are all found alike; otherwise each node
    set has its own, by the names of its nodes. Devices that nothing detects are counted, and what
    lines of the spec describe is left to them.
    """
    bearers = [worker for worker in found if worker.gres and worker.most > 0]
    detected = {worker.name: _method(settings, worker) for worker in bearers if worker.devices_of_jobs}
    methods = set(detected.values())
    if len(methods) == 1 and "" not in methods and "off" not in methods:
        lines = [f"AutoDetect={methods.pop()}"]
        lines += [line for worker in bearers for line in _counted(settings, worker, worker.node_set.gres)]
    else:
        lines = [line for worker in bearers for line in _of_node_set(settings, worker, detected)]
    return "".join(f"{line}\n" for line in (*lines, *settings.gres.lines))


def _of_node_set(settings: SlurmSettings, worker: Worker, detected: dict[str, str]) -> Iterator[str]:
    method = detected.get(worker.name, "")
    if method:
        yield f"NodeName={worker.hosts} AutoDetect={method}"
        yield from _counted(settings, worker, worker.node_set.gres)
    else:
        yield from _counted(settings, worker, [item.name for item in worker.gres])


def _method(settings: SlurmSettings, worker: Worker) -> str:
    """Slurm 26.05 looks for devices by itself unless it is told not to."""
    if any(described(settings, worker, item.name) for item in worker.devices_of_jobs):
        return "off"
    return detection(settings, worker)


def detection(settings: SlurmSettings, worker: Worker) -> str:
    """Return how slurmd finds the devices of a node set; empty where they are only counted."""
    if worker.accelerator is None or worker.accelerator.vendor == "google":
        return ""
    if settings.gres.auto_detect is not None:
        return settings.gres.auto_detect
    if worker.accelerator.vendor == "amd":
        return "rsmi"
    return "nvml" if worker.mig else "nvidia"


def described(settings: SlurmSettings, worker: Worker, name: str) -> bool:
    """Whether lines of the spec describe a resource of the node set."""
    mine = _hosts(worker.hosts)
    for line in settings.gres.lines:
        named, hosts = _NAME.search(re.sub(_HOSTS, "", line)), _HOSTS.search(line)
        same = named is not None and named[1].lower() == name.lower()
        if same and (hosts is None or mine & _hosts(hosts[1])):
            return True
    return False


def _hosts(text: str) -> set[str]:
    found = expand(text.strip('"'))
    return set() if isinstance(found, Refusal) else set(found)


def _counted(settings: SlurmSettings, worker: Worker, names: Sequence[str] | dict[str, int]) -> Iterator[str]:
    for item in worker.gres:
        if item.name in names and not described(settings, worker, item.name):
            yield _line(worker, item)


def _line(worker: Worker, item: Gres) -> str:
    typed = f" Type={item.type}" if item.type else ""
    return f"NodeName={worker.hosts} Name={item.name}{typed} Count={item.count}"
