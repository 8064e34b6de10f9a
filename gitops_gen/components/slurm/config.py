"""Settings and workers in, what slurm.conf, gres.conf and cgroup.conf must say out.

Each value comes with its origins; a keyword of the user's wins over a derived one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gitops_gen.components.slurm.conf import merge_config, text_of
from gitops_gen.components.slurm.gres_conf import gres_conf
from gitops_gen.components.slurm.scripts import health_check_config, plugstack
from gitops_gen.components.slurm.settings import Config, Partition, SlurmSettings, Value
from gitops_gen.components.slurm.workers import Worker
from gitops_gen.emit import emit
from gitops_gen.model import Origin, from_fact, from_rule, from_spec

OWN = ("components", "slurm")

_DROPPED = from_fact("slurm/component.yaml: parameters that the operator stopped writing in 1.2")
_CONFINED = from_rule("jobs are confined to the cores, memory and devices that they asked for")


class Keyword(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a configuration file: keyword, text and where it comes from."""

    name: str
    text: str
    origins: tuple[Origin, ...]


def slurm_conf(settings: SlurmSettings, found: Sequence[Worker], release: Any) -> tuple[Keyword, ...]:
    """Return the keywords of slurm.conf that the chart prints behind the operator's own.

    What the operator of this release writes by itself is left out, unless it must say something else:
    the last line of a keyword counts, so that lists hold the operator's words, too.
    """
    written: Mapping[str, str] = release["writes"]["slurm"]
    derived = {item.name: item for item in _over_operator(_derived(settings, found), written)}
    base = {**written, **{name: item.text for name, item in derived.items()}}
    merged = merge_config(base, settings.controller.config)
    return tuple(
        _keyword(name, text, settings, derived) for name, text in merged.items() if text != written.get(name)
    )


def _over_operator(derived: Iterable[Keyword], written: Mapping[str, str]) -> Iterator[Keyword]:
    for item in derived:
        if item.name in written:
            text = item.text if item.name in _LISTS else written[item.name]
            merged = merge_config({item.name: written[item.name]}, {item.name: text})
            yield msgspec.structs.replace(item, text=merged[item.name])
        else:
            yield item


_LISTS = ("AccountingStorageTRES", "GresTypes")


def _keyword(name: str, text: str, settings: SlurmSettings, derived: Mapping[str, Keyword]) -> Keyword:
    written = next((key for key in settings.controller.config if key.lower() == name.lower()), None)
    own = (from_spec(*OWN, "controller", "config", written),) if written is not None else ()
    known = next((item for item in derived.values() if item.name.lower() == name.lower()), None)
    both = known is not None and (not own or text != text_of(settings.controller.config[str(written)]))
    return Keyword(name=name, text=text, origins=(*own, *(known.origins if known and both else ())))


def _derived(settings: SlurmSettings, found: Sequence[Worker]) -> Iterator[Keyword]:
    yield _key("CommunicationParameters", "block_null_hash", _DROPPED)
    yield _key("ProctrackType", "proctrack/cgroup", _DROPPED, _CONFINED)
    yield _key("PrologFlags", "Contain", _DROPPED, _CONFINED)
    yield _key("ReturnToService", "2", _DROPPED)
    yield _key("SelectTypeParameters", "CR_Core_Memory", _DROPPED, _CONFINED)
    yield _key("SlurmctldParameters", "enable_stepmgr", _DROPPED)
    yield _key("TaskPlugin", "task/cgroup,task/affinity", _DROPPED, _CONFINED)
    yield _key("JobAcctGatherType", "jobacct_gather/cgroup", _DROPPED)
    yield from _gres_types(found)
    yield from _accounting(settings, found)
    yield from _limits(found)
    yield from _plugins(settings)


def _gres_types(found: Sequence[Worker]) -> Iterator[Keyword]:
    names = dict.fromkeys(item.name for worker in found for item in worker.gres)
    if names:
        yield _key("GresTypes", ",".join(names), *_pools(found), *_further(found), _DROPPED)


def _accounting(settings: SlurmSettings, found: Sequence[Worker]) -> Iterator[Keyword]:
    accounting = settings.accounting
    if not accounting.enabled:
        return
    tracked = dict.fromkeys(
        name
        for worker in found
        for item in worker.gres
        for name in (f"gres/{item.name}", f"gres/{item.name}:{item.type}" if item.type else "")
        if name
    )
    tracked.update(dict.fromkeys(accounting.tres))
    if tracked:
        yield _key(
            "AccountingStorageTRES", ",".join(tracked), *_pools(found), from_spec(*OWN, "accounting", "tres")
        )
    if accounting.enforce:
        yield _key(
            "AccountingStorageEnforce",
            ",".join(accounting.enforce),
            from_spec(*OWN, "accounting", "enforce"),
        )


def _limits(found: Sequence[Worker]) -> Iterator[Keyword]:
    most = sum(worker.most for worker in found)
    if most > _OPERATOR_NODES:
        yield _key(
            "MaxNodeCount",
            str(most),
            *(from_spec(*OWN, "nodeSets", worker.index, "replicas") for worker in found),
            from_fact("slurm/component.yaml: the operator writes MaxNodeCount=1024"),
        )
    fabric = [worker for worker in found if worker.pool.fabric is not None]
    if fabric:
        yield _key(
            "PropagateResourceLimitsExcept",
            "MEMLOCK",
            *(from_spec("nodePools", worker.pool_index, "fabric") for worker in fabric),
            from_rule("RDMA locks memory; the limit of the login must not reach the job"),
        )


_OPERATOR_NODES = 1024


def _plugins(settings: SlurmSettings) -> Iterator[Keyword]:
    if settings.job_submit_lua is not None:
        yield _key("JobSubmitPlugins", "lua", from_spec(*OWN, "jobSubmitLua"))
    if settings.health_check is not None:
        for name, text in health_check_config(settings.health_check).items():
            yield _key(name, text, from_spec(*OWN, "healthCheck"))


def partition_conf(settings: SlurmSettings, index: int) -> tuple[Keyword, ...]:
    """Return the keywords of one partition's line; `Default` is always among them."""
    item = settings.partitions[index]
    own = (*OWN, "partitions", index)
    found = {
        "Default": _key("Default", "YES" if item.default else "NO", from_spec(*own, "default")),
        "State": _key("State", item.state, from_spec(*own, "state")),
    }
    for name, (key, value) in _typed(item).items():
        if value is not None and value != ():
            listed: Value = list(value) if isinstance(value, tuple) else value
            found[name] = _key(name, text_of(listed), from_spec(*own, key))
    for name, given in item.config.items():
        canonical = next((known for known in found if known.lower() == name.lower()), name)
        found[canonical] = _key(canonical, text_of(given), from_spec(*own, "config", name))
    return tuple(found.values())


def _typed(item: Partition) -> Mapping[str, tuple[str, str | int | bool | tuple[str, ...] | None]]:
    """Keyword, key of the spec and value of each field that has a keyword of its own."""
    return {
        "MaxTime": ("maxTime", item.max_time),
        "DefaultTime": ("defaultTime", item.default_time),
        "MinNodes": ("minNodes", item.min_nodes),
        "MaxNodes": ("maxNodes", item.max_nodes),
        "PriorityTier": ("priorityTier", item.priority_tier),
        "PriorityJobFactor": ("priorityJobFactor", item.priority_job_factor),
        "PreemptMode": ("preemptMode", item.preempt_mode),
        "GraceTime": ("graceTime", item.grace_time),
        "QOS": ("qos", item.qos),
        "AllowQos": ("allowQos", item.allow_qos),
        "AllowAccounts": ("allowAccounts", item.allow_accounts),
        "AllowGroups": ("allowGroups", item.allow_groups),
        "Exclusive": ("exclusive", item.exclusive),
        "OverSubscribe": ("overSubscribe", item.over_subscribe),
        "Hidden": ("hidden", item.hidden),
    }


def node_conf(worker: Worker) -> tuple[Keyword, ...]:
    """Return the keywords of the node set's line: features, GRES, weight and what the user adds."""
    item = worker.node_set
    own = (*OWN, "nodeSets", worker.index)
    found: dict[str, Keyword] = {}
    if item.features:
        found["Features"] = _key("Features", ",".join(item.features), from_spec(*own, "features"))
    if worker.gres:
        gres = ",".join(str(one) for one in worker.gres)
        found["Gres"] = _key("Gres", gres, *_pools([worker]), *_further([worker]))
    if item.weight is not None:
        found["Weight"] = _key("Weight", str(item.weight), from_spec(*own, "weight"))
    for name, given in item.config.items():
        canonical = next((known for known in found if known.lower() == name.lower()), name)
        found[canonical] = _key(canonical, text_of(given), from_spec(*own, "config", name))
    return tuple(found.values())


def dbd_conf(settings: SlurmSettings) -> tuple[Keyword, ...]:
    """Return the keywords of slurmdbd.conf."""
    return tuple(
        _key(name, text_of(value), from_spec(*OWN, "accounting", "config", name))
        for name, value in settings.accounting.config.items()
    )


def cgroup_conf(settings: SlurmSettings) -> str:
    """Return cgroup.conf: jobs are confined, unless the spec says otherwise."""
    base = {
        "CgroupPlugin": "cgroup/v2",
        "ConstrainCores": "yes",
        "ConstrainDevices": "yes",
        "ConstrainRAMSpace": "yes",
        "ConstrainSwapSpace": "yes",
        "IgnoreSystemd": "yes",
    }
    return _lines(f"{name}={text}" for name, text in merge_config(base, settings.cgroup).items())


def topology_yaml(topologies: Sequence[Mapping[str, Any]]) -> str:
    """Return topology.yaml, a list of topologies in the order of the spec."""
    items = (emit(item).splitlines() for item in topologies)
    return _lines(f"{'  ' if index else '- '}{line}" for lines in items for index, line in enumerate(lines))


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _key(name: str, text: str, *origins: Origin) -> Keyword:
    return Keyword(name=name, text=text, origins=origins)


def _pools(found: Sequence[Worker]) -> tuple[Origin, ...]:
    return tuple(
        dict.fromkeys(
            from_spec("nodePools", worker.pool_index, "tpu" if worker.pool.tpu else "gpu")
            for worker in found
            if worker.devices_of_jobs
        )
    )


def _further(found: Sequence[Worker]) -> tuple[Origin, ...]:
    return tuple(
        from_spec(*OWN, "nodeSets", worker.index, "gres") for worker in found if worker.node_set.gres
    )


def files(settings: SlurmSettings, found: Sequence[Worker]) -> Iterator[tuple[str, str, tuple[Origin, ...]]]:
    """Yield name, text and origins of each file that stands beside slurm.conf."""
    yield "cgroup.conf", cgroup_conf(settings), (from_spec(*OWN, "cgroup"), _CONFINED)
    gres = gres_conf(settings, found)
    if gres:
        yield "gres.conf", gres, (from_spec(*OWN, "gres"), *_pools(found), *_further(found))
    plugins = plugstack(settings)
    if plugins is not None:
        yield "plugstack.conf", plugins, (from_spec(*OWN, "plugstack"), from_spec(*OWN, "pyxis"))
    if settings.topology:
        yield "topology.yaml", topology_yaml(settings.topology), (from_spec(*OWN, "topology"),)
    if settings.job_submit_lua is not None:
        yield "job_submit.lua", settings.job_submit_lua, (from_spec(*OWN, "jobSubmitLua"),)
    for name, text in settings.config_files.items():
        yield name, text, (from_spec(*OWN, "configFiles", name),)


def derived_config(settings: SlurmSettings, found: Sequence[Worker], release: Any) -> Config:
    """Return slurm.conf's keywords as a mapping, for rules over what Slurm will read."""
    return {item.name: item.text for item in slurm_conf(settings, found, release)}
