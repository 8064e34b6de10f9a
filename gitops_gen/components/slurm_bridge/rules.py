"""A cluster spec in, what slurm-bridge lacks, endangers or cannot do out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from gitops_gen.components.slurm_bridge.settings import SlurmBridgeSettings
from gitops_gen.components.slurm_bridge.values import PARTS
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.images import unreachable_images
from gitops_gen.model import ClusterSpec, ComponentFacts, ComponentSpec

_OWN = ("spec", "components", "slurmBridge")


def check(spec: ClusterSpec, facts: ComponentFacts) -> Iterator[Diagnostic]:
    """Yield every finding about the slurm-bridge that this tree installs."""
    part = spec.rendered(facts.name)
    if part is None:
        return
    settings, data = cast(SlurmBridgeSettings, part.settings), cast(Any, facts.data)
    yield from _experimental()
    yield from _slurm(spec, part, settings, data["slurm"]["component"])
    yield from _own_namespaces(spec, part, settings, data)
    yield from _pull_secrets(spec)
    images = (data["parts"][name]["image"] for name in PARTS)
    yield from unreachable_images(spec, "slurm-bridge", images)


def _experimental() -> Iterator[Diagnostic]:
    yield Diagnostic(
        code="slurm-bridge-experimental",
        severity=Severity.WARNING,
        message="slurm-bridge is young: each pod takes a whole node unless it says otherwise, a deleted "
        "node and a restart of slurmctld have ended all of its jobs (slurm-bridge issue 43), and while its "
        "webhook is down no pod of any namespace but its own and kube-system can be created",
        path=_OWN,
        on_key=True,
        hint="try it where nothing else runs, then accept this",
    )


def _slurm(
    spec: ClusterSpec, part: ComponentSpec, settings: SlurmBridgeSettings, component: str
) -> Iterator[Diagnostic]:
    """What the bridge needs of Slurm: that it runs, the partition, and its operator's namespace."""
    slurm = spec.components.get(component)
    if slurm is None:
        yield _needs(
            "slurm-bridge places pods by jobs of Slurm, but this spec has no Slurm",
            (),
            "describe components.slurm, or switch slurmBridge off",
        )
        return
    known = [item.name for item in cast(Any, slurm.settings).partitions]
    if settings.partition not in known and not slurm.provided:
        yield _needs(
            f'Slurm has no partition "{settings.partition}"',
            ("partition",),
            f"partitions of this spec: {', '.join(known) or 'none'}",
        )
    if settings.issue_token and part.namespace != slurm.namespace:
        yield _needs(
            f"the Slurm operator issues tokens in {slurm.namespace}, where the key is, "
            f"but the bridge lives in {part.namespace}",
            ("issueToken",),
            f"write namespace: {slurm.namespace}, or make the Secret yourself",
        )


def _needs(message: str, below: tuple[str, ...], hint: str) -> Diagnostic:
    code = "slurm-bridge-needs-slurm"
    return Diagnostic(code=code, message=message, path=(*_OWN, *below), hint=hint, on_key=not below)


def _own_namespaces(
    spec: ClusterSpec, part: ComponentSpec, settings: SlurmBridgeSettings, data: Any
) -> Iterator[Diagnostic]:
    slurm = spec.components.get(data["slurm"]["component"])
    why = {
        data["webhook"]["unmanaged"]: "the webhook leaves it alone",
        part.namespace: "the webhook leaves the bridge's own namespace alone",
    }
    if slurm is not None:
        why.setdefault(slurm.namespace, "Slurm's own pods would wait for Slurm")
    for index, name in enumerate(settings.managed_namespaces):
        if name in why:
            yield Diagnostic(
                code="slurm-bridge-namespace-unmanageable",
                message=f"pods of the namespace {name} cannot be scheduled by Slurm: {why[name]}",
                path=(*_OWN, "managedNamespaces", index),
                hint="name namespaces that hold workloads only",
            )


def _pull_secrets(spec: ClusterSpec) -> Iterator[Diagnostic]:
    if spec.registry.pull_secrets:
        yield Diagnostic(
            code="slurm-bridge-pull-secrets",
            severity=Severity.WARNING,
            message="the chart of slurm-bridge has no place for pull Secrets: its pods pull without them",
            path=("spec", "registry", "pullSecrets"),
            hint="let its images be pulled without a login, or add the Secrets to its service accounts "
            "and accept this",
        )
