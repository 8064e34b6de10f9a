"""slurm.conf as slurmctld will read it in, combinations that it refuses or ignores out.

Source: src/common/read_config.c, src/slurmctld/{read_config,controller}.c of Slurm 26.05.3.
"""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.slurm.conf.check import check_config
from gitops_gen.components.slurm.conf.grammar import Refusal, parse_unsigned
from gitops_gen.components.slurm.conf.inputs import Inputs
from gitops_gen.components.slurm.conf.words import below, fault, listed, warning
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.settings import Metrics

_OPERATOR_NODES = 1024
"""MaxNodeCount that the operator writes (1.1.2 and 1.2.1)."""
_MOST_NODES = 65536
_KINDS = (
    "cr_cpu",
    "cr_cpu_memory",
    "cr_core",
    "cr_core_memory",
    "cr_socket",
    "cr_socket_memory",
    "cr_memory",
)
_MESSAGE_SECONDS = 10


def slurmctld_findings(inputs: Inputs) -> Iterator[Finding]:
    """Yield what is wrong with the cluster's own configuration."""
    release, settings = inputs.release, inputs.settings
    own = check_config(inputs.table, "global", settings.controller.config, release=release)
    yield from below(own, "controller", "config")
    yield from _selection(inputs)
    yield from _preemption(inputs)
    yield from _prolog(inputs)
    yield from _node_count(inputs)
    yield from _metrics(inputs)
    yield from _timeouts(inputs)


def _selection(inputs: Inputs) -> Iterator[Finding]:
    kind = inputs.text("SelectType", "select/cons_tres").lower()
    if kind == "select/linear":
        yield fault(
            "slurm-select-type",
            "nodes of a node set register by themselves, which only select/cons_tres knows",
            "leave SelectType out; a partition with `exclusive: NODE` gives out whole nodes",
            *inputs.place("SelectType"),
        )
        return
    words = inputs.words("SelectTypeParameters")
    kinds = [word for word in words if word in _KINDS]
    place = inputs.place("SelectTypeParameters")
    if len(kinds) > 1:
        yield fault(
            "slurm-select-parameters",
            f"{listed((kind.upper() for kind in kinds), 'and')} exclude each other; slurmctld does not start",
            "write one of them, such as CR_Core_Memory",
            *place,
        )
    elif kinds == ["cr_memory"]:
        yield fault(
            "slurm-select-parameters",
            "CR_Memory alone is of select/linear; select/cons_tres gives out cores or processors",
            "write CR_Core_Memory",
            *place,
        )
    if "cr_one_task_per_core" in words and any(word.startswith("cr_cpu") for word in kinds):
        yield fault(
            "slurm-select-parameters",
            "CR_ONE_TASK_PER_CORE needs cores to be given out, not processors; slurmctld does not start",
            "write CR_Core_Memory in place of CR_CPU",
            *place,
        )


def _preemption(inputs: Inputs) -> Iterator[Finding]:
    words = set(inputs.words("PreemptMode"))
    kind = inputs.text("PreemptType", "preempt/none").lower()
    acts = words & {"off", "cluster", "cancel", "requeue", "suspend", "on"}
    place = inputs.place("PreemptMode", "PreemptType")
    if words - acts - {"gang", "within", "priority"}:
        return
    found = next(_preemption_flaws(kind, words, acts), None)
    if found is not None:
        yield fault("slurm-preempt", f"{found[0]}; slurmctld does not start", found[1], *place)


def _preemption_flaws(kind: str, words: set[str], acts: set[str]) -> Iterator[tuple[str, str]]:
    if len(acts) > 1:
        yield f"PreemptMode says {listed(sorted(word.upper() for word in acts), 'and')}", "write one of them"
    other = words & {"within", "priority"}
    if "gang" in words and other:
        yield f"GANG cannot stand beside {other.pop().upper()}", "leave one of them out"
    if acts & {"suspend", "on"} and words <= {"suspend", "on"}:
        yield "PreemptMode=SUSPEND needs the gang scheduler", "write PreemptMode: [SUSPEND, GANG]"
    active = bool(acts - {"off", "cluster"})
    if kind == "preempt/none" and (active or other):
        yield (
            "PreemptMode is set, but no PreemptType",
            "write PreemptType: preempt/partition_prio or preempt/qos",
        )
    if kind != "preempt/none" and not active:
        yield f"PreemptType={kind} needs a PreemptMode", "write PreemptMode: REQUEUE or CANCEL"
    if "within" in words and kind != "preempt/qos":
        yield "WITHIN is of preempt/qos", "write PreemptType: preempt/qos, or leave WITHIN out"


def _prolog(inputs: Inputs) -> Iterator[Finding]:
    flags = set(inputs.words("PrologFlags"))
    contain = flags & {"contain", "x11", "runinjob"}
    place = inputs.place("PrologFlags")
    if "nohold" in flags and contain:
        yield fault(
            "slurm-prolog-flags",
            "NoHold starts jobs before the prolog has ended, Contain, X11 and RunInJob not; slurmctld stops",
            "leave NoHold out",
            *place,
        )
    if {"serial", "runinjob"} <= flags:
        yield fault(
            "slurm-prolog-flags",
            "Serial and RunInJob exclude each other",
            "leave one of them out",
            *place,
        )
    if "x11" in flags and inputs.text("ProctrackType").lower() == "proctrack/linuxproc":
        yield fault(
            "slurm-prolog-flags",
            "X11 does not work with proctrack/linuxproc; slurmctld stops",
            "write ProctrackType: proctrack/cgroup, or leave it out",
            *inputs.place("ProctrackType", "PrologFlags"),
        )
    if "enable_stepmgr" in inputs.words("SlurmctldParameters") and not contain:
        yield fault(
            "slurm-prolog-flags",
            "enable_stepmgr needs PrologFlags=Contain; slurmctld stops",
            "add Contain to PrologFlags",
            *inputs.place("PrologFlags", "SlurmctldParameters"),
        )
    if inputs.text("NamespaceType") and not contain:
        yield fault(
            "slurm-prolog-flags",
            f"NamespaceType={inputs.text('NamespaceType')} needs PrologFlags=Contain; slurmctld stops",
            "add Contain to PrologFlags",
            *inputs.place("NamespaceType"),
        )


def _node_count(inputs: Inputs) -> Iterator[Finding]:
    total = sum(worker.most for worker in inputs.workers)
    limit = parse_unsigned(inputs.text("MaxNodeCount", str(_OPERATOR_NODES)), 32)
    if total > _MOST_NODES:
        yield fault(
            "slurm-node-count",
            f"the node sets have {total} nodes together; one Slurm cluster has {_MOST_NODES} at most",
            "take fewer nodes, or make two clusters of them",
            "nodeSets",
            on_key=True,
        )
    elif not isinstance(limit, Refusal) and total > limit:
        yield fault(
            "slurm-node-count",
            f"the node sets have up to {total} nodes, but MaxNodeCount={limit:.0f} lets no more register",
            f"leave MaxNodeCount out, or write {total} or more",
            *inputs.place("MaxNodeCount"),
        )


def _metrics(inputs: Inputs) -> Iterator[Finding]:
    metrics = inputs.settings.controller.metrics
    asked = metrics.enabled if isinstance(metrics, Metrics) else metrics
    enabled = asked or any(worker.scaled is not None for worker in inputs.workers)
    private = inputs.words("PrivateData")
    if not enabled or not private or inputs.text("MetricsAuthUsers"):
        return
    if "metricsparameters" not in inputs.table.folded["global"]:
        yield warning(
            "slurm-metrics-private",
            f"slurmctld {inputs.table.series} serves no metrics where PrivateData is set",
            "leave PrivateData out, or use images of a later series",
            *inputs.place("PrivateData"),
        )
    elif "ignore_private_data" not in inputs.words("MetricsParameters"):
        yield warning(
            "slurm-metrics-private",
            "with PrivateData slurmctld gives metrics only to who shows a token, which Prometheus does not",
            "write MetricsParameters: ignore_private_data if everybody may read them",
            *inputs.place("PrivateData"),
        )


def _timeouts(inputs: Inputs) -> Iterator[Finding]:
    if not inputs.text("UnkillableStepTimeout"):
        return
    timeout = parse_unsigned(inputs.text("UnkillableStepTimeout"), 16)
    message = parse_unsigned(inputs.text("MessageTimeout", str(_MESSAGE_SECONDS)), 16)
    if isinstance(timeout, Refusal) or isinstance(message, Refusal):
        return
    if timeout < 5 * message:
        yield warning(
            "slurm-unkillable-timeout",
            f"after {timeout:.0f} seconds a node goes down as KillTaskFailed, although messages may take"
            f" {message:.0f} seconds each",
            f"write {5 * message:.0f} or more, or leave UnkillableStepTimeout out",
            *inputs.place("UnkillableStepTimeout"),
        )
