"""Partitions in, what is wrong with each of them and between them out.

Source: src/common/read_config.c and src/slurmctld/read_config.c of Slurm 26.05.3, which drop or refuse
what is said here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitops_gen.components.slurm.conf.check import check_config
from gitops_gen.components.slurm.conf.grammar import Refusal, format_time, parse_time
from gitops_gen.components.slurm.conf.inputs import Inputs
from gitops_gen.components.slurm.conf.lifted import at_keyword, camel, lifted
from gitops_gen.components.slurm.conf.table import Unknown, keyword, nearest
from gitops_gen.components.slurm.conf.text import Value, check_text, text_of
from gitops_gen.components.slurm.conf.value import check_value
from gitops_gen.components.slurm.conf.words import below, fault, listed, warning
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.settings import Partition
from gitops_gen.diagnostics import Path

ALL = "ALL"
_DEFAULT_MEMORY = ("DefMemPerCPU", "DefMemPerGPU", "DefMemPerNode")
_MOST_MEMORY = ("MaxMemPerCPU", "MaxMemPerNode")


def partition_findings(inputs: Inputs) -> Iterator[Finding]:
    """Yield what is wrong with partitions.

    A keyword that has a field of its own may stand in `config` as well, unless both say something.
    """
    yield from _several_defaults(inputs)
    yield from memory_both(inputs.settings.controller.config, ("controller", "config"))
    for index, item in enumerate(inputs.settings.partitions):
        whole, moved = lifted(item)
        own = check_config(
            inputs.table, "partition", item.config, release=inputs.release, free=frozenset(moved.values())
        )
        across = (
            *_times(whole),
            *_nodes(whole),
            *_accounting(inputs, whole),
            *_preemption(inputs, whole),
            *_denied(whole),
            *_whole_memory(inputs, whole),
        )
        found = (
            *_node_sets(inputs, item),
            *_typed(inputs, item),
            *below(own, "config"),
            *memory_both(item.config, ("config",)),
            *(at_keyword(one, moved) for one in across),
        )
        yield from below(found, "partitions", index)


def _several_defaults(inputs: Inputs) -> Iterator[Finding]:
    chosen = [index for index, item in enumerate(inputs.settings.partitions) if item.default]
    for index in chosen[1:]:
        first = inputs.settings.partitions[chosen[0]].name
        yield fault(
            "slurm-partition-default",
            f'"{first}" is the default partition already; Slurm would take the last one without a word',
            "write `default: true` at one partition",
            "partitions",
            index,
            "default",
        )


def _node_sets(inputs: Inputs, item: Partition) -> Iterator[Finding]:
    known = tuple(node_set.name for node_set in inputs.settings.node_sets)
    for place, name in enumerate(item.node_sets):
        if name not in (*known, ALL):
            near = nearest(name, (*known, ALL))
            hint = f'did you mean "{near}"?' if near else f"write {listed((*known, ALL))}"
            yield fault("slurm-node-set-unknown", f'there is no node set "{name}"', hint, "nodeSets", place)


_FIELDS: Mapping[str, str] = {
    "MaxTime": "max_time",
    "DefaultTime": "default_time",
    "PreemptMode": "preempt_mode",
    "GraceTime": "grace_time",
    "QOS": "qos",
    "AllowQos": "allow_qos",
    "AllowAccounts": "allow_accounts",
    "AllowGroups": "allow_groups",
    "Exclusive": "exclusive",
    "OverSubscribe": "over_subscribe",
}
"""Keywords whose field takes more than Slurm does."""


_OLDER: Mapping[str, str] = {
    "NODE": "write config: {OverSubscribe: EXCLUSIVE} in its place",
    "USER": "write config: {ExclusiveUser: true} in its place",
    "TOPO": "write config: {ExclusiveTopo: true} in its place",
    "NO": "leave it out",
}
"""What `exclusive` is called in a series without the keyword."""


def _typed(inputs: Inputs, item: Partition) -> Iterator[Finding]:
    for name, attribute in _FIELDS.items():
        given = getattr(item, attribute)
        if given is None or given == ():
            continue
        field = camel(attribute)
        known = keyword(inputs.table, "partition", name)
        if isinstance(known, Unknown):
            yield fault(
                "slurm-keyword-series",
                f'"{name}" came with Slurm {known.since}; the images have {inputs.table.series}',
                _OLDER.get(str(given), f'use images of series "{known.since}", or leave `{field}` out'),
                field,
                on_key=True,
            )
            continue
        text = text_of(list(given) if isinstance(given, tuple) else given)
        flaws = tuple(check_text("partition", text))
        yield from below(flaws or check_value(known, text, series=inputs.table.series), field)


def _times(item: Partition) -> Iterator[Finding]:
    if item.default_time is None or item.max_time is None:
        return
    usual, most = parse_time(item.default_time), parse_time(item.max_time)
    if not isinstance(usual, Refusal) and not isinstance(most, Refusal) and usual > most:
        yield fault(
            "slurm-time-default",
            f"the default of {format_time(usual)} is above the limit of {format_time(most)}; Slurm drops it",
            f'write at most "{format_time(most)}"',
            "defaultTime",
        )


def _nodes(item: Partition) -> Iterator[Finding]:
    if item.min_nodes is not None and item.max_nodes is not None and item.min_nodes > item.max_nodes:
        yield fault(
            "slurm-nodes-order",
            f"a job needs at least {item.min_nodes} nodes and may have {item.max_nodes}: none ever starts",
            "write a `minNodes` up to `maxNodes`",
            "minNodes",
        )


def memory_both(config: Mapping[str, Value], path: Path) -> Iterator[Finding]:
    """Yield limits of memory that exclude each other; Slurm would keep one of them."""
    for kinds in (_DEFAULT_MEMORY, _MOST_MEMORY):
        folded = {name.lower() for name in kinds}
        given = [name for name in config if name.lower() in folded]
        distinct = {name.lower() for name in given}
        if len(distinct) > 1:
            yield fault(
                "slurm-memory-both",
                f"{listed(given, 'and')} exclude each other",
                "write one of them",
                *path,
                given[-1],
                on_key=True,
            )


def _accounting(inputs: Inputs, item: Partition) -> Iterator[Finding]:
    if inputs.settings.accounting.enabled:
        return
    denied = [name for name in item.config if name.lower() in ("denyqos", "denyaccounts")]
    paths: list[Path] = [("config", name) for name in denied if name.lower() == "denyqos"]
    paths += [("qos",)] if item.qos is not None else []
    paths += [("allowQos",)] if item.allow_qos else []
    for path in paths:
        yield fault(
            "slurm-partition-accounting",
            "without accounting there is no QOS, and slurmctld stops at its start",
            f"write accounting.enabled: true, or leave {path[-1]} out",
            *path,
            on_key=True,
        )
    paths = [("config", name) for name in denied if name.lower() == "denyaccounts"]
    paths += [("allowAccounts",)] if item.allow_accounts else []
    for path in paths:
        yield warning(
            "slurm-partition-accounting",
            "without accounting nobody can prove an account: jobs may name any",
            f"write accounting.enabled: true, or leave {path[-1]} out",
            *path,
            on_key=True,
        )


def _preemption(inputs: Inputs, item: Partition) -> Iterator[Finding]:
    mode = item.preempt_mode
    if mode in (None, "OFF"):
        return
    if mode in ("GANG", "WITHIN"):
        yield fault(
            "slurm-partition-preempt",
            f"{mode} is of the whole cluster and not of a partition",
            "write it in PreemptMode of controller.config, and overSubscribe: FORCE here for jobs in turns"
            if mode == "GANG"
            else "write it in PreemptMode of controller.config",
            "preemptMode",
        )
        return
    kind = inputs.text("PreemptType").lower()
    if kind != "preempt/partition_prio":
        yield fault(
            "slurm-partition-preempt",
            f"preemptMode {mode} has no effect: PreemptType is {kind or 'not set'}",
            "write PreemptType: preempt/partition_prio and PreemptMode: REQUEUE in controller.config",
            "preemptMode",
        )
    elif mode == "SUSPEND" and "gang" not in inputs.words("PreemptMode"):
        yield fault(
            "slurm-partition-preempt",
            "suspended jobs are woken by the gang scheduler, which is not on",
            "write PreemptMode: [SUSPEND, GANG] in controller.config",
            "preemptMode",
        )


def _denied(item: Partition) -> Iterator[Finding]:
    for name in item.config:
        pairs = {
            "denyqos": ("allowQos", item.allow_qos),
            "denyaccounts": ("allowAccounts", item.allow_accounts),
        }
        field, allowed = pairs.get(name.lower(), ("", ()))
        if allowed:
            yield warning(
                "slurm-deny-ignored",
                f"Slurm ignores {name} where {field} says who may come",
                f"leave {name} out",
                "config",
                name,
                on_key=True,
            )


def _whole_memory(inputs: Inputs, item: Partition) -> Iterator[Finding]:
    """A job without --mem gets the default; without a default it gets the node."""
    consumed = any(
        word.endswith("_memory") for word in inputs.words("SelectTypeParameters", "cr_core_memory")
    )
    said = {name.lower() for name in (*item.config, *inputs.settings.controller.config)}
    alone = item.exclusive in ("NODE", "TOPO") or any(
        name.lower() == "oversubscribe" and text_of(value).upper() == "EXCLUSIVE"
        for name, value in item.config.items()
    )
    if consumed and not alone and not said & {name.lower() for name in _DEFAULT_MEMORY}:
        yield warning(
            "slurm-memory-default",
            f'a job in "{item.name}" without --mem takes the whole memory of its nodes',
            "write DefMemPerCPU (MiB) in `config` of the partition or in controller.config",
            "name",
        )
