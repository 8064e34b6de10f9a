"""A Plan in, the README of its tree out: what runs where, in which order, what must exist first."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from gitops_gen.argocd import (
    application_name,
    confirms_pruning,
    prunes,
    sync_options,
)
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
from gitops_gen.namespaces import away
from gitops_gen.prose import render_prose
from gitops_gen.secrets import remote_key


class LabelCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A ready `kubectl label` line for the nodes of one pool."""

    pool: str
    labels: tuple[tuple[str, str], ...]
    command: str


def tree_readme(plan: Plan, template: str) -> str:
    """Render the README; the same plan gives the same text."""
    spec, apps = plan.spec, plan.applications
    secrets = _requests(apps, "Secret")
    from_store = spec.secrets.store == "external-secrets"
    return render_prose(
        template,
        "tree-readme.md.j2",
        spec=spec,
        elsewhere=_elsewhere(spec),
        stacks=_stacks(apps),
        sources={app.name: source_text(app) for app in apps},
        pools=spec.resources,
        labels=label_commands(spec),
        secrets=secrets,
        store_keys={(item.namespace, item.name): remote_key(item, spec) for item in secrets if from_store},
        config_maps=_requests(apps, "ConfigMap"),
        create_command=create_command,
        warnings=[item for item in plan.diagnostics if item.severity is Severity.WARNING],
        accepted=spec.accept,
        notes=[(app.name, note) for app in apps for note in app.notes],
        to_make=_to_make(spec, apps),
        confirmed=[application_name(spec, app.name) for app in apps if _waits(app, spec)],
        kept=[application_name(spec, app.name) for app in apps if not prunes(app, spec)],
    )


def _waits(app: Application, spec: ClusterSpec) -> bool:
    """Say whether pruning waits for an approval, be it of the whole app or of objects of its own."""
    own = any("Prune=confirm" in sync_options(item) for item in app.manifests)
    return prunes(app, spec) and (own or confirms_pruning(app, spec))


def _elsewhere(spec: ClusterSpec) -> str:
    """Say where the workloads run; empty where Argo CD itself runs."""
    to = spec.argocd.destination
    if not away(spec):
        return ""
    return (
        f"the cluster at {to.server}" if to.name is None else f"the cluster that Argo CD knows as `{to.name}`"
    )


def _to_make(spec: ClusterSpec, apps: Iterable[Application]) -> str:
    """Name what somebody must make by hand; External Secrets makes Secrets by itself."""
    by_hand = {"ConfigMap"} if spec.secrets.store == "external-secrets" else {"Secret", "ConfigMap"}
    wanted = {item.kind for app in apps for item in app.secrets} & by_hand
    return " and ".join(f"{kind}s" for kind in sorted(wanted, reverse=True))


def create_command(request: SecretRequest) -> str:
    """Return a line that makes a Secret or ConfigMap, each key from a file of its name."""
    kind = {"ConfigMap": "configmap", "Secret": "secret generic"}[request.kind]
    files = " ".join(f"--from-file={key}" for key in request.keys) or "--from-file=<folder>"
    of_type = f" --type={request.type}" if request.type != "Opaque" else ""
    return f"kubectl -n {request.namespace} create {kind} {request.name}{of_type} {files}"


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
