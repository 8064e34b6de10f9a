"""Who runs the operator, and where, in; what that rules out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitops_gen.components.slurm.context import Context
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.settings import Operator
from gitops_gen.diagnostics import Path

_GKE = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:-gke\.(\d+))?")


def operator(context: Context) -> Iterator[Finding]:
    """Yield every finding about the operator, the namespace and the distribution."""
    wanted = context.settings.operator
    if wanted.managed_by == "cluster-director":
        yield Finding(
            code="slurm-cluster-director",
            message="Cluster Director runs Slurm as a whole: its versions, its configuration and its control "
            "plane are Google's, which leaves nothing to render",
            hint="take `slurm` out of this spec, or write managedBy: gke for the operator add-on of GKE",
            path=("operator", "managedBy"),
        )
    if wanted.managed_by == "gke":
        yield from _add_on(context)
    yield from _namespaces(context)
    yield from _unsupported(context)
    if context.spec.kubernetes.distribution == "openshift":
        yield Finding(
            code="slurm-openshift",
            level="warning",
            message="slurmd is privileged, and OpenShift lets a service account be so only by a "
            "security context "
            "constraint that the chart does not bind",
            hint=f"run `oc adm policy add-scc-to-user privileged -z default -n {context.namespace}`, "
            "then accept this",
            path=(),
            on_key=True,
        )
    if context.spec.kubernetes.distribution != "gke":
        for index, volume in enumerate(context.settings.volumes):
            if volume.filestore is not None:
                yield Finding(
                    code="slurm-filestore",
                    message="only GKE has the driver that mounts a Filestore instance",
                    hint="write nfs: {server: <address of the instance>, path: /<share>}",
                    path=("volumes", index, "filestore"),
                    on_key=True,
                )


# --- the add-on of GKE -------------------------------------------------------------------------


def _add_on(context: Context) -> Iterator[Finding]:
    kubernetes, path = context.spec.kubernetes, ("operator", "managedBy")
    if kubernetes.distribution != "gke":
        yield Finding(
            code="slurm-add-on-distribution",
            message=f"the add-on runs on GKE, and this cluster is {kubernetes.distribution}",
            hint="leave managedBy out: this tree installs the operator",
            path=path,
        )
        return
    facts = context.data["gke"]
    floor, given = _numbers(facts["floor"]), _numbers(kubernetes.version)
    if given < floor[: len(given)]:
        yield Finding(
            code="slurm-add-on-version",
            message=f"the add-on needs GKE {facts['floor']}, and this cluster is {kubernetes.version}",
            hint="upgrade the cluster, or leave managedBy out: this tree installs the operator",
            path=path,
        )
    elif len(given) < len(floor) and given == floor[: len(given)]:
        yield Finding(
            code="slurm-add-on-version-unknown",
            level="warning",
            message=f"the add-on needs GKE {facts['floor']}; {kubernetes.version} does not tell "
            "whether it is that",
            hint="write the whole version as `kubernetes.version`, such as " + facts["floor"],
            path=path,
        )
    for field in _given(context.settings.operator):
        yield Finding(
            code="slurm-add-on-settings",
            message=f"Google runs the operator: {field} cannot be chosen",
            hint="leave it out",
            path=("operator", field),
            on_key=True,
        )


def _numbers(version: str) -> tuple[int, ...]:
    found = _GKE.match(version)
    return tuple(int(part) for part in found.groups() if part is not None) if found else ()


def _given(wanted: Operator) -> Iterator[str]:
    plain = Operator()
    names = {
        "replicas": "replicas",
        "logLevel": "log_level",
        "namespaces": "namespaces",
        "nodeSelector": "node_selector",
        "tolerations": "tolerations",
        "propagatedNodeConditions": "propagated_node_conditions",
    }
    for field, name in names.items():
        if getattr(wanted, name) != getattr(plain, name):
            yield field


# --- namespaces and versions -------------------------------------------------------------------


def _namespaces(context: Context) -> Iterator[Finding]:
    reserved = {
        "kube-system": "the operator's webhook leaves it alone",
        "default": "it takes no privileged pods",
    }
    if context.self_run:
        reserved[context.data["operatorNamespace"]] = "the operator has it for itself"
    if context.namespace in reserved:
        yield Finding(
            code="slurm-namespace",
            message=f"Slurm cannot live in {context.namespace}: {reserved[context.namespace]}",
            hint="leave `namespace` out, or name one of Slurm's own",
            path=("namespace",),
        )


def _unsupported(context: Context) -> Iterator[Finding]:
    settings = context.settings
    asked: list[tuple[str, Path, bool]] = [
        (
            "propagatedNodeConditions",
            ("operator", "propagatedNodeConditions"),
            bool(settings.operator.propagated_node_conditions),
        ),
        ("webhookNodeSelector", ("operator", "nodeSelector"), bool(settings.operator.node_selector)),
    ]
    for index, item in enumerate(settings.node_sets):
        place: Path = ("nodeSets", index)
        asked.append(("pinToNode", (*place, "pinToNode"), item.pin_to_node))
        scheduled = item.update_strategy.type == "ScheduledUpdate"
        asked.append(("scheduledUpdate", (*place, "updateStrategy", "type"), scheduled))
    for word, path, wanted in asked:
        if wanted and not context.supports(word):
            yield Finding(
                code="slurm-unsupported",
                message=f"Slinky {context.part.version} does not know {_word(path)}",
                hint="leave it out, or write version: 1.2.1",
                path=path,
                on_key=path[-1] != "type",
            )


def _word(path: Path) -> str:
    if path[-1] == "type":
        return f"{path[-2]} of type ScheduledUpdate"
    return ".".join(map(str, path)) if path[0] == "operator" else str(path[-1])
