"""A Plan in, the README of its tree out: what runs where, in which order, what must exist first."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from gitops_gen.diagnostics import Severity
from gitops_gen.model import (
    Application,
    ClusterSpec,
    DirectorySource,
    HelmSource,
    KustomizeSource,
    NodePool,
    Plan,
    SecretRequest,
)
from gitops_gen.prose import render_prose


class LabelCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A ready `kubectl label` line for the nodes of one pool."""

    pool: str
    labels: tuple[tuple[str, str], ...]
    command: str


def tree_readme(plan: Plan, template: str) -> str:
    """Render the README; the same plan gives the same text."""
    spec = plan.spec
    return render_prose(
        template,
        "tree-readme.md.j2",
        spec=spec,
        stacks=_stacks(plan.applications),
        sources={app.name: source_text(app) for app in plan.applications},
        pools=spec.resources,
        labels=label_commands(spec),
        secrets=_requests(plan.applications, "Secret"),
        config_maps=_requests(plan.applications, "ConfigMap"),
        warnings=[item for item in plan.diagnostics if item.severity is Severity.WARNING],
        accepted=spec.accept,
        notes=[(app.name, note) for app in plan.applications for note in app.notes],
    )


def label_commands(spec: ClusterSpec) -> tuple[LabelCommand, ...]:
    """Return the node labels that somebody must set, as commands by node selector or node name."""
    pools = {pool.name: pool for pool in spec.node_pools}
    return tuple(
        LabelCommand(
            pool=item.pool,
            labels=tuple(sorted(item.labels.items())),
            command=_label_command(pools[item.pool], item.labels.items()),
        )
        for item in spec.resources
        if item.labels
    )


def source_text(app: Application) -> str:
    """Say in a few words where an app comes from."""
    for source in app.sources:
        if isinstance(source, HelmSource):
            return f"chart {source.chart} {source.version}"
        if isinstance(source, KustomizeSource):
            return f"{source.path} at {source.revision}"
    count = sum(len(item.manifests) for item in app.sources if isinstance(item, DirectorySource))
    return f"{count} object{'' if count == 1 else 's'} of this tree"


def _label_command(pool: NodePool, labels: Iterable[tuple[str, str]]) -> str:
    wanted = " ".join(f"{key}={value}" for key, value in sorted(labels))
    if pool.node_names:
        return f"kubectl label node {' '.join(pool.node_names)} {wanted} --overwrite"
    if pool.node_selector:
        selector = ",".join(f"{key}={value}" for key, value in sorted(pool.node_selector.items()))
        return f"kubectl label node -l {selector} {wanted} --overwrite"
    return f"kubectl label node --all {wanted} --overwrite"


def _stacks(apps: Iterable[Application]) -> list[tuple[str, list[Application]]]:
    stacks: dict[str, list[Application]] = {}
    for app in sorted(apps, key=lambda item: (item.wave, item.name)):
        stacks.setdefault(app.stack, []).append(app)
    return sorted(stacks.items(), key=lambda item: (item[0] != "platform", item[0]))


def _requests(apps: Iterable[Application], kind: str) -> list[SecretRequest]:
    wanted = {(item.namespace, item.name): item for app in apps for item in app.secrets if item.kind == kind}
    return [wanted[key] for key in sorted(wanted)]
