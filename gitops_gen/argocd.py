"""A Plan in, the Argo CD objects out: Applications, stacks, root, projects and argocd-cm."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from gitops_gen.catalog.versions import Version
from gitops_gen.model import (
    Application,
    ClusterSpec,
    Deletion,
    DirectorySource,
    HealthCheck,
    HelmSource,
    Json,
    KustomizeSource,
    Manifest,
    Object,
    ObjectIdentity,
    Origin,
    OwnChart,
    Plan,
    Pruning,
    Setting,
    Source,
    Sync,
    Traced,
    from_fact,
    from_metadata,
    from_rule,
    from_spec,
)
from gitops_gen.namespaces import IN_CLUSTER
from gitops_gen.permitted import ANY_NAME
from gitops_gen.traced import collect, put

VALUES_REF = "values"
CHART_FOLDER = "chart"
_FINALIZER = "resources-finalizer.argocd.argoproj.io"
_SERVER_SIDE = from_fact("argocd: ServerSideApply needs ServerSideDiff, or CRD defaults drift for ever")
_PROJECT_WAVE = "-100"
_STACK_WAVES = {"platform": "-10"}


def application_name(spec: ClusterSpec, app: str) -> str:
    """Return the Application's own name, `<cluster>-<app>`."""
    return f"{spec.name}-{app}"


def app_folder(spec: ClusterSpec, app: Application) -> str:
    """Return the app's folder in the repository."""
    return f"{spec.path}/apps/{app.stack}/{app.name}"


def application(app: Application, spec: ClusterSpec) -> Traced:
    """Return the Application that makes Argo CD sync one app."""
    return collect(_application(app, spec))


def stack(name: str, spec: ClusterSpec) -> Object:
    """Return the app of apps over one stack; it lives where Argo CD itself runs."""
    path = f"{spec.path}/apps/{name}"
    wave = _STACK_WAVES.get(name, "0")
    return _app_of_apps(f"{spec.name}-stack-{name}", path, "*/application.yaml", spec, wave, cascade=True)


def root(spec: ClusterSpec) -> Object:
    """Return the Application that syncs the project and the stacks; deleting it deletes nothing."""
    path = f"{spec.path}/apps"
    return _app_of_apps(f"{spec.name}-root", path, "{project.yaml,*/stack.yaml}", spec, None, cascade=False)


def root_project(spec: ClusterSpec) -> Object:
    """Return the project of the root and the stacks: Applications and projects, nothing else."""
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "AppProject",
        "metadata": _metadata(f"{spec.name}-root", spec),
        "spec": {
            "description": f"Root and stacks of cluster {spec.name}: write access here is admin access",
            "sourceRepos": [spec.gitops.repo_url],
            "destinations": [{"server": IN_CLUSTER, "namespace": spec.argocd.namespace}],
            "namespaceResourceWhitelist": [
                {"group": "argoproj.io", "kind": "AppProject"},
                {"group": "argoproj.io", "kind": "Application"},
            ],
        },
    }


def project(plan: Plan) -> Object:
    """Return the project of the workloads: exactly the repositories, namespaces and cluster-scoped
    objects of the plan. Namespaced kinds are not listed, since children that are not listed
    would vanish from the resource tree.
    """
    spec = plan.spec
    body: Object = {
        "description": f"Workloads of cluster {spec.name}",
        "sourceRepos": list(_source_repos(plan)),
        "destinations": [{**_cluster(spec), "namespace": namespace} for namespace in _namespaces(plan)],
        "clusterResourceWhitelist": [
            {"group": group, "kind": kind, "name": name} for group, kind, name in _cluster_objects(plan)
        ],
    }
    if spec.argocd.sync_windows:
        body["syncWindows"] = list(_sync_windows(spec))
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "AppProject",
        "metadata": _metadata(spec.name, spec, {"argocd.argoproj.io/sync-wave": _PROJECT_WAVE}),
        "spec": body,
    }


def argocd_cm(spec: ClusterSpec, checks: Sequence[HealthCheck]) -> Object:
    """Return our keys of the ConfigMap argocd-cm, the same for every cluster of one Argo CD."""
    data: Object = {"resource.compareoptions": "ignoreAggregatedRoles: true\n"}
    for check in sorted(checks, key=lambda item: (item.group, item.kind)):
        kind = f"{check.group}_{check.kind}" if check.group else check.kind
        data[f"resource.customizations.health.{kind}"] = check.lua.strip() + "\n"
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "argocd-cm",
            "namespace": spec.argocd.namespace,
            "labels": {"app.kubernetes.io/name": "argocd-cm", "app.kubernetes.io/part-of": "argocd"},
        },
        "data": dict(sorted(data.items())),
    }


def kustomization() -> Object:
    """Return the kustomization of the bootstrap folder."""
    return {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": ["argocd-cm.yaml", "project-root.yaml", "root.yaml"],
    }


def manifest_identity(manifest: Manifest) -> ObjectIdentity:
    """Return the identity of one of our own objects."""
    data = manifest.object.data
    metadata = data["metadata"]
    assert isinstance(metadata, dict)
    group, slash, _ = str(data["apiVersion"]).partition("/")
    namespace = None if manifest.cluster_scoped else str(metadata["namespace"])
    return ObjectIdentity(
        group=group if slash else "",
        kind=str(data["kind"]),
        name=str(metadata["name"]),
        namespace=namespace,
    )


def sync_options(manifest: Manifest) -> tuple[str, ...]:
    """Return the sync options that one of our own objects carries."""
    match manifest.object.data:
        case {"metadata": {"annotations": {"argocd.argoproj.io/sync-options": str(text)}}}:
            return tuple(text.split(","))
    return ()


def objects(app: Application) -> Iterator[ObjectIdentity]:
    """Yield the identity of every object of the app that is known before a render."""
    for source in app.sources:
        if isinstance(source, DirectorySource):
            yield from (manifest_identity(item) for item in source.manifests)
        else:
            yield from source.objects


# --- Applications --------------------------------------------------------------------------------


def _application(app: Application, spec: ClusterSpec) -> Iterator[Setting]:
    yield put("apiVersion", "argoproj.io/v1alpha1", *app.origins)
    yield put("kind", "Application", *app.origins)
    yield put("metadata.name", application_name(spec, app.name), from_metadata("name"), *app.origins)
    yield put("metadata.namespace", spec.argocd.namespace, from_spec("argocd", "namespace"))
    yield from _labels(app, spec)
    yield from _annotations(app, spec)
    if app.deletion is Deletion.FOREGROUND:
        yield put(
            "metadata.finalizers", [_FINALIZER], from_rule("deleting the app deletes its objects first")
        )
    yield put("spec.project", spec.name, from_metadata("name"))
    for key, value in _cluster(spec).items():
        yield put(("spec", "destination", key), value, from_spec("argocd", "destination"))
    yield put("spec.destination.namespace", app.namespace, *_of_component(app, spec, "namespace"))
    yield from _sources(app, spec)
    yield from _sync_policy(app, spec)
    yield from _ignore_differences(app)
    yield put("spec.revisionHistoryLimit", 3, from_rule("Git is the history"))


def _of_component(app: Application, spec: ClusterSpec, key: str) -> tuple[Origin, ...]:
    """What follows from a key of the app's component; an app of ours alone has no such key."""
    known = app.component in spec.components
    return (from_spec("components", app.component, key),) if known else app.origins


def _sync(app: Application, spec: ClusterSpec) -> Sync:
    part = spec.components.get(app.component)
    return part.sync if part is not None else Sync()


def _choice(
    app: Application, spec: ClusterSpec, key: Literal["wave", "prune", "automated"]
) -> Iterator[Origin]:
    """Yield the line where the user has overruled the component's own choice, if there is one."""
    if getattr(_sync(app, spec), key) is not None:
        yield from_spec("components", app.component, "sync", key)


def _labels(app: Application, spec: ClusterSpec) -> Iterator[Setting]:
    yield put(("metadata", "labels", "app.kubernetes.io/part-of"), spec.name, from_metadata("name"))
    yield put(("metadata", "labels", "app.kubernetes.io/component"), app.name, *app.origins)
    for key, value in sorted(spec.labels.items()):
        yield put(("metadata", "labels", key), value, from_metadata("labels", key))


def _annotations(app: Application, spec: ClusterSpec) -> Iterator[Setting]:
    prefix = "argocd.argoproj.io"
    wave = from_rule(f"wave of {app.name} inside stack {app.stack}")
    chosen = tuple(_choice(app, spec, "wave")) if app.wave == _sync(app, spec).wave else ()
    at = ("metadata", "annotations")
    yield put((*at, f"{prefix}/compare-options"), "ServerSideDiff=true", _SERVER_SIDE)
    yield put(
        (*at, f"{prefix}/manifest-generate-paths"),
        f"/{app_folder(spec, app)}",
        from_fact("argocd: an absolute path per app keeps other commits from refreshing it"),
    )
    yield put((*at, f"{prefix}/sync-wave"), str(app.wave), *(chosen or (wave,)))


def _sources(app: Application, spec: ClusterSpec) -> Iterator[Setting]:
    made = [item for source in app.sources for item in _source(source, app, spec)]
    if len(made) == 1:
        yield from (
            Setting(path=("spec", "source", *item.path), value=item.value, origins=item.origins)
            for item in made[0]
        )
        return
    for source in made:
        traced = collect(source)
        origins = tuple(dict.fromkeys(origin for group in traced.origins.values() for origin in group))
        yield put("spec.sources[]", traced.data, *origins)


def _source(source: Source, app: Application, spec: ClusterSpec) -> Iterator[list[Setting]]:
    match source:
        case HelmSource():
            yield list(_helm(source, app, spec))
            if source.values.data:
                yield [*_git(spec), put("ref", VALUES_REF, from_rule("the values file lies in Git"))]
        case OwnChart():
            yield list(_own_chart(source, app, spec))
        case KustomizeSource():
            yield list(_kustomize(source, app))
        case DirectorySource():
            path = f"{app_folder(spec, app)}/manifests"
            yield [*_git(spec), put("path", path, *app.origins)]


def _git(spec: ClusterSpec) -> Iterator[Setting]:
    yield put("repoURL", spec.gitops.repo_url, from_spec("gitops", "repoURL"))
    yield put("targetRevision", git_revision(spec), from_spec("gitops", "revision"))


def git_revision(spec: ClusterSpec) -> str:
    """Return the branch in full (`refs/heads/main`): cheaper to resolve, never taken for a tag."""
    revision = spec.gitops.revision
    return revision if revision.startswith("refs/") else f"refs/heads/{revision}"


def _helm(source: HelmSource, app: Application, spec: ClusterSpec) -> Iterator[Setting]:
    version = from_spec("components", app.component, "version")
    repository = (
        from_spec("registry", "charts", source.upstream_url)
        if source.upstream_url
        else from_fact(f"{app.component}: chart repository")
    )
    yield put("repoURL", source.repo_url, repository)
    yield put("chart", source.chart, from_fact(f"{app.component}: chart"))
    yield put("targetRevision", source.version, version)
    yield put(
        "helm.releaseName",
        source.release_name,
        from_rule("the vendor's own release name, so that renaming the app renames no object"),
    )
    if source.values.data:
        file = f"${VALUES_REF}/{app_folder(spec, app)}/values.yaml"
        yield put("helm.valueFiles", [file], from_spec("gitops", "path"))
    yield from _rendered_for(source, app, spec)
    if source.skip_crds:
        yield put("helm.skipCrds", True, from_rule("the CRDs have an Application of their own"))
    yield put("helm.skipTests", True, from_rule("test hooks are no part of a sync"))


def _own_chart(source: OwnChart, app: Application, spec: ClusterSpec) -> Iterator[Setting]:
    yield from _git(spec)
    copied = from_rule(f"the chart {source.name} of gitops-gen is copied into the tree")
    yield put("path", f"{app_folder(spec, app)}/{CHART_FOLDER}", copied)
    yield put(
        "helm.releaseName",
        source.release_name,
        from_rule("a release name of its own, so that renaming the app renames no object"),
    )
    if source.values.data:
        yield put("helm.valueFiles", ["../values.yaml"], from_rule("the values lie beside the chart"))
    yield from _rendered_for(source, app, spec)
    yield put("helm.skipTests", True, from_rule("test hooks are no part of a sync"))


def _rendered_for(source: HelmSource | OwnChart, app: Application, spec: ClusterSpec) -> Iterator[Setting]:
    """Yield what a chart believes to know of the cluster, so that everybody renders the same bytes."""
    yield put("helm.kubeVersion", kube_version(spec), from_spec("kubernetes", "version"))
    if source.api_versions:
        yield put(
            "helm.apiVersions",
            list(source.api_versions),
            from_fact(f"{app.component}: APIs that the chart asks for"),
        )


def kube_version(spec: ClusterSpec) -> str:
    """Return the version that charts are rendered for; a minor stands for its first patch.

    A vendor's suffix (`1.35.2-gke.1842000`) is left out, as Argo CD does before it calls Helm.
    """
    version = re.split(r"[-+]", spec.kubernetes.version.removeprefix("v"), maxsplit=1)[0]
    return f"{version}.0" if version.count(".") == 1 else version


def _kustomize(source: KustomizeSource, app: Application) -> Iterator[Setting]:
    component = from_fact(f"{app.component}: kustomize base")
    yield put("repoURL", source.repo_url, component)
    yield put("path", source.path, component)
    yield put("targetRevision", source.revision, from_spec("components", app.component, "version"))
    for path, origins in source.options.origins.items():
        value: Json = source.options.data
        for part in path:
            value = value[part]  # type: ignore[index]
        yield Setting(path=("kustomize", *path), value=value, origins=origins)


def _sync_policy(app: Application, spec: ClusterSpec) -> Iterator[Setting]:
    if app.automated and spec.argocd.automated:
        prune = prunes(app, spec)
        because = tuple(_choice(app, spec, "prune")) or tuple(_protection(app))
        yield put("spec.syncPolicy.automated.prune", prune, from_spec("argocd", "prune"), *because)
        yield put(
            "spec.syncPolicy.automated.selfHeal",
            spec.argocd.self_heal,
            from_spec("argocd", "selfHeal"),
            *_choice(app, spec, "automated"),
        )
    for option, origin in _sync_options(app, spec):
        yield put("spec.syncPolicy.syncOptions[]", option, origin)
    retry = spec.argocd.retry
    at = from_spec("argocd", "retry")
    yield put("spec.syncPolicy.retry.limit", retry.limit, at)
    yield put("spec.syncPolicy.retry.refresh", True, from_rule("a retry takes up the commit that fixes it"))
    yield put(
        "spec.syncPolicy.retry.backoff",
        {"duration": retry.duration, "factor": retry.factor, "maxDuration": retry.max_duration},
        at,
    )


def _protection(app: Application) -> Iterator[Origin]:
    if app.pruning is not Pruning.ON:
        yield from_rule("what this app makes is costly to lose")


def prunes(app: Application, spec: ClusterSpec) -> bool:
    """Say whether the app deletes what leaves the tree, on approval or at once."""
    return spec.argocd.prune and (app.pruning is Pruning.ON or confirms_pruning(app, spec))


def confirms_pruning(app: Application, spec: ClusterSpec) -> bool:
    """Say whether the app waits for an approval before it prunes."""
    return app.pruning is Pruning.CONFIRM and app_level_confirm(spec)


def app_level_confirm(spec: ClusterSpec) -> bool:
    """Say whether this Argo CD reads `Prune=confirm` at the Application (3.4 and later)."""
    return Version.parse(spec.argocd.version) >= Version.parse("3.4")


def _sync_options(app: Application, spec: ClusterSpec) -> Iterator[tuple[str, Origin]]:
    yield "CreateNamespace=false", from_rule("one Application owns every Namespace")
    yield "ServerSideApply=true", _SERVER_SIDE
    if confirms_pruning(app, spec):
        yield "Prune=confirm", from_rule("what this app makes is costly to lose")
        yield "Delete=confirm", from_rule("what this app makes is costly to lose")
    if app.ignore_differences and app.keeps_ignored:
        yield "RespectIgnoreDifferences=true", from_rule("ignored fields must survive a sync, too")
    for option in app.sync_options:
        yield option, from_spec("components", app.component, "sync", "syncOptions")


def _ignore_differences(app: Application) -> Iterator[Setting]:
    for item in app.ignore_differences:
        entry: Object = {"group": item.group, "kind": item.kind}
        if item.name:
            entry["name"] = item.name
        if item.json_pointers:
            entry["jsonPointers"] = list(item.json_pointers)
        if item.jq_path_expressions:
            entry["jqPathExpressions"] = list(item.jq_path_expressions)
        yield put(
            "spec.ignoreDifferences[]",
            entry,
            from_fact(f"{app.component}: controllers write these fields back"),
        )


# --- app of apps, project ------------------------------------------------------------------------


def _metadata(name: str, spec: ClusterSpec, annotations: Object | None = None) -> Object:
    metadata: Object = {"name": name, "namespace": spec.argocd.namespace}
    labels: Object = {"app.kubernetes.io/part-of": spec.name}
    metadata["labels"] = {**labels, **dict(sorted(spec.labels.items()))}
    if annotations:
        metadata["annotations"] = annotations
    return metadata


def _app_of_apps(
    name: str, path: str, include: str, spec: ClusterSpec, wave: str | None, *, cascade: bool
) -> Object:
    annotations: Object = {"argocd.argoproj.io/manifest-generate-paths": f"/{path}"}
    if wave is not None:
        annotations["argocd.argoproj.io/sync-wave"] = wave
    metadata = _metadata(name, spec, annotations)
    if cascade:
        metadata["finalizers"] = [_FINALIZER]
    retry = spec.argocd.retry
    policy: Object = {
        "syncOptions": ["CreateNamespace=false"],
        "retry": {
            "limit": retry.limit,
            "refresh": True,
            "backoff": {
                "duration": retry.duration,
                "factor": retry.factor,
                "maxDuration": retry.max_duration,
            },
        },
    }
    if spec.argocd.automated:
        policy = {"automated": {"prune": spec.argocd.prune, "selfHeal": spec.argocd.self_heal}, **policy}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": metadata,
        "spec": {
            "project": f"{spec.name}-root",
            "destination": {"server": IN_CLUSTER, "namespace": spec.argocd.namespace},
            "source": {
                "repoURL": spec.gitops.repo_url,
                "targetRevision": git_revision(spec),
                "path": path,
                "directory": {"recurse": True, "include": include},
            },
            "syncPolicy": policy,
            "revisionHistoryLimit": 3,
        },
    }


def _cluster(spec: ClusterSpec) -> Object:
    destination = spec.argocd.destination
    if destination.name is not None:
        return {"name": destination.name}
    return {"server": destination.server or IN_CLUSTER}


def _source_repos(plan: Plan) -> list[str]:
    theirs = {
        source.repo_url
        for app in plan.applications
        for source in app.sources
        if isinstance(source, HelmSource | KustomizeSource)
    }
    return sorted({plan.spec.gitops.repo_url, *theirs})


def _namespaces(plan: Plan) -> list[str]:
    own = {app.namespace for app in plan.applications}
    made = {item.namespace for item in _permitted(plan) if item.namespace}
    return sorted(own | made)


def _cluster_objects(plan: Plan) -> list[tuple[str, str, str]]:
    """Return the cluster-scoped objects; a kind that is permitted under any name stands once."""
    found = {(item.group, item.kind, item.name) for item in _permitted(plan) if item.namespace is None}
    return sorted(item for item in found if item[2] == ANY_NAME or (item[0], item[1], ANY_NAME) not in found)


def _permitted(plan: Plan) -> Iterator[ObjectIdentity]:
    yield from plan.permitted
    for app in plan.applications:
        yield from objects(app)
        yield from app.permits


def _sync_windows(spec: ClusterSpec) -> Iterator[Object]:
    for window in spec.argocd.sync_windows:
        entry: Object = {"kind": window.kind, "schedule": window.schedule, "duration": window.duration}
        names: Iterable[str] = (application_name(spec, app) for app in window.apps)
        entry["applications"] = list(names) if window.apps else ["*"]
        entry["timeZone"] = window.time_zone
        if window.manual_sync:
            entry["manualSync"] = True
        if window.sync_overrun:
            entry["syncOverrun"] = True
        if window.description:
            entry["description"] = window.description
        yield entry
