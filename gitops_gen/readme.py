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
from gitops_gen.emit import emit
from gitops_gen.model import (
    Application,
    ClusterSpec,
    DirectorySource,
    HelmSource,
    KustomizeSource,
    NodePool,
    Object,
    OwnChart,
    Plan,
    Storage,
)
from gitops_gen.namespaces import away
from gitops_gen.prose import render_prose
from gitops_gen.secrets import CLAIM, KINDS, Needed, needed, remote_key

_MANY = ("ReadWriteMany", "ReadOnlyMany")


class LabelCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A ready `kubectl label` line for the nodes of one pool."""

    pool: str
    labels: tuple[tuple[str, str], ...]
    command: str


class StoreValue(msgspec.Struct, frozen=True, kw_only=True):
    """A property of an entry of the Secret store, and a command that prints a random value for it."""

    entry: str
    key: str
    command: str


def tree_readme(plan: Plan, template: str) -> str:
    """Render the README; the same plan gives the same text."""
    spec, apps = plan.spec, plan.applications
    wanted = needed(apps)
    return render_prose(
        template,
        "tree-readme.md.j2",
        spec=spec,
        elsewhere=_elsewhere(spec),
        stacks=_stacks(apps),
        sources={app.name: source_text(app) for app in apps},
        pools=spec.resources,
        labels=label_commands(spec),
        wanted=[(kind, [item for item in wanted if item.kind == kind]) for kind in KINDS],
        to_make=_to_make(wanted, spec),
        remote_key=remote_key,
        create_command=create_command,
        store_values=store_values,
        warnings=[item for item in plan.diagnostics if item.severity is Severity.WARNING],
        accepted=spec.accept,
        notes=[(app.name, note) for app in apps for note in app.notes],
        commands=[(app.name, block) for app in apps for block in app.commands],
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


def _to_make(wanted: Iterable[Needed], spec: ClusterSpec) -> str:
    """Name what somebody must make by hand; External Secrets makes Secrets by itself."""
    kinds = {item.kind for item in wanted}
    if spec.secrets.store == "external-secrets":
        kinds.discard("Secret")
    names = [f"{kind}s" for kind in KINDS if kind in kinds]
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def create_command(item: Needed, storage: Storage) -> str:
    """Return a shell command that makes what is needed, and refuses to replace what is there.

    A key comes from a file of its name or, where it may be random, from the system's random bytes,
    which pass through no file (bash or zsh). Keys of the user's own come from a folder named like
    the object. A claim's manifest goes in as standard input; a size that nobody knows is left open.
    """
    if item.kind == CLAIM:
        return f"kubectl create -f - <<'EOF'\n{emit(_claim(item, storage))}EOF"
    kind = {"ConfigMap": "configmap", "Secret": "secret generic"}[item.kind]
    sources = [_key_source(key, item.random.get(key, 0)) for key in item.keys]
    sources += [f"--from-file={item.name}/"] if item.any_key else []
    of_type = [f"--type={item.type}"] if item.type != "Opaque" else []
    return " ".join((f"kubectl -n {item.namespace} create {kind} {item.name}", *of_type, *sources))


def _key_source(key: str, random_bytes: int) -> str:
    if random_bytes:
        return f"--from-file={key}=<(head -c {random_bytes} /dev/urandom)"
    return f"--from-file={key}"


def _claim(item: Needed, storage: Storage) -> Object:
    """Build a claim; the class is that of the spec for one writer or for many, else the cluster's own."""
    mode = item.access_mode or "ReadWriteOnce"
    usual = storage.shared_class if mode in _MANY else storage.default_class
    wanted: Object = {"accessModes": [mode]}
    if usual is not None:
        wanted["storageClassName"] = usual
    wanted["resources"] = {"requests": {"storage": item.size or "<size>"}}
    return {
        "apiVersion": "v1",
        "kind": item.kind,
        "metadata": {"name": item.name, "namespace": item.namespace},
        "spec": wanted,
    }


def store_values(wanted: Iterable[Needed], spec: ClusterSpec) -> tuple[StoreValue, ...]:
    """Return a command for each random key that prints a value for the store, as text of that length."""
    return tuple(
        StoreValue(
            entry=remote_key(item, spec),
            key=key,
            command=f"head -c {size} /dev/urandom | base64 | tr -d '\\n' | head -c {size}",
        )
        for item in wanted
        for key, size in item.random.items()
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
        if isinstance(source, OwnChart):
            return f"chart {source.name} {source.version} of this tree"
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
