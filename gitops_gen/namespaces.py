"""Planned Applications in, the one Application that owns every Namespace out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import (
    Application,
    ClusterSpec,
    DirectorySource,
    Json,
    Manifest,
    NamespaceRequest,
    Object,
    Origin,
    Traced,
    from_rule,
)

NAME = "namespaces"
IN_CLUSTER = "https://kubernetes.default.svc"
IN_CLUSTER_NAME = "in-cluster"
_CLUSTERS_OWN = ("default", "kube-node-lease", "kube-public", "kube-system")
_WAVE = -60
_PROTECTED = {"argocd.argoproj.io/sync-options": "Prune=confirm,Delete=confirm"}
_OWNED = from_rule("one Application owns every Namespace, so that nothing else can delete it")


def namespaces_application(spec: ClusterSpec, apps: Iterable[Application]) -> Application:
    """Return the app that makes the Namespaces and quotas that the other apps ask for.

    Its destination names the namespace `default`, which every cluster has; nothing is made there.
    """
    requests = _joined(request for app in apps for request in app.namespaces)
    manifests = [manifest for request in requests.values() for manifest in _manifests(request)]
    return Application(
        name=NAME,
        component=NAME,
        stack="platform",
        namespace="default",
        wave=_WAVE,
        sources=(DirectorySource(manifests=tuple(manifests)),),
        origins=(_OWNED,),
    )


def namespace_conflicts(apps: Iterable[Application]) -> Iterator[Diagnostic]:
    """Yield an error for each label that two apps want to have different values on one Namespace."""
    wanted: dict[tuple[str, str], tuple[str, str]] = {}
    for app in apps:
        for request in app.namespaces:
            for label, value in request.labels.items():
                name, known = wanted.setdefault((request.name, label), (app.name, value))
                if known != value:
                    yield _conflict(request.name, label, (name, known), (app, value))


def reserved_namespaces(spec: ClusterSpec, apps: Iterable[Application]) -> Iterator[Diagnostic]:
    """Yield an error for each app that asks for a Namespace which is not ours to own.

    Whoever may write to Argo CD's own namespace is its administrator, so no workload lives there.
    """
    whose = dict.fromkeys(_CLUSTERS_OWN, "the cluster's own")
    if not away(spec):
        whose[spec.argocd.namespace] = "Argo CD's own, and write access there is admin access"
    asked = [(app.name, app.component, request.name) for app in apps for request in app.namespaces]
    asked += [(part.name, part.name, part.namespace) for part in spec.retired.values()]
    for who, component, name in dict.fromkeys(asked):
        if name in whose:
            yield Diagnostic(
                code="namespace-reserved",
                message=f"{who} wants to live in the namespace {name}, which is {whose[name]}",
                path=("spec", "components", component, "namespace"),
                hint="give it a namespace of its own; without `namespace` it has the vendor's",
            )


def away(spec: ClusterSpec) -> bool:
    """Say whether the workloads run on another cluster than Argo CD."""
    to = spec.argocd.destination
    return to.name not in (None, IN_CLUSTER_NAME) or to.server not in (None, IN_CLUSTER)


def _conflict(
    namespace: str, label: str, first: tuple[str, str], second: tuple[Application, str]
) -> Diagnostic:
    app, value = second
    return Diagnostic(
        code="namespace-conflict",
        message=f'namespace {namespace}: {first[0]} needs the label {label}="{first[1]}", '
        f'{app.name} needs "{value}"',
        path=("spec", "components", app.component, "namespace"),
        hint="give one of the two a namespace of its own",
    )


def _joined(requests: Iterable[NamespaceRequest]) -> Mapping[str, NamespaceRequest]:
    joined: dict[str, NamespaceRequest] = {}
    for request in requests:
        known = joined.get(request.name)
        joined[request.name] = (
            request
            if known is None
            else replace(
                known,
                labels={**known.labels, **request.labels},
                annotations={**known.annotations, **request.annotations},
                quotas=(*known.quotas, *request.quotas),
                origins=tuple(dict.fromkeys((*known.origins, *request.origins))),
            )
        )
    return dict(sorted(joined.items()))


def _manifests(request: NamespaceRequest) -> Iterator[Manifest]:
    labels: dict[str, Json] = dict(sorted(request.labels.items()))
    annotations: dict[str, Json] = {**request.annotations, **_PROTECTED}
    metadata: Object = {"name": request.name}
    if labels:
        metadata["labels"] = labels
    metadata["annotations"] = dict(sorted(annotations.items()))
    namespace: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    yield Manifest(object=_traced(namespace, (*request.origins, _OWNED)), cluster_scoped=True)
    for quota in request.quotas:
        yield Manifest(object=quota)


def _traced(data: Object, origins: tuple[Origin, ...]) -> Traced:
    return Traced(data=data, origins={(key,): origins for key in data})
