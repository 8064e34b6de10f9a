"""An Application and its project in, what the project denies out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitops_gen.controller.documents import (
    Application,
    Document,
    Scope,
    entries,
    items,
    mapping,
    text,
)
from gitops_gen.controller.findings import error, notice
from gitops_gen.controller.globs import glob_matches, permits, shell_matches
from gitops_gen.controller.names import normalise_repository
from gitops_gen.diagnostics import Diagnostic, Path
from gitops_gen.model import ObjectIdentity


def check_repositories(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse sources whose repository the project does not permit."""
    for project in _project(app, scope):
        for path, url in _repositories(app):
            if app.literal(url) and not _permits_repository(project, url):
                said = f'project "{project.name}" does not permit the repository {url}'
                hint = "add it to the project's sourceRepos, in this form"
                yield error("project-repository-denied", path, said, hint)


def _repositories(app: Application) -> Iterator[tuple[Path, str]]:
    for source in app.sources:
        yield (*source.path, "repoURL"), source.repo_url
    sync = mapping(mapping(app.spec.get("sourceHydrator")).get("syncSource"))
    if sync.get("repoURL"):
        yield app.at("spec", "sourceHydrator", "syncSource", "repoURL"), text(sync["repoURL"])


def _permits_repository(project: Document, url: str) -> bool:
    found, wanted = False, normalise_repository(url)
    for _, entry in entries(_spec(project).get("sourceRepos")):
        denies = entry.startswith("!")
        pattern = ("!" if denies else "") + normalise_repository(entry.removeprefix("!"))
        if permits(pattern, wanted, "/"):
            found = True
        elif denies:
            return False
    return found


def check_destination(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a destination that the project does not permit."""
    for project in _project(app, scope):
        destination = mapping(app.spec.get("destination"))
        namespace, path = text(destination.get("namespace")), app.at("spec", "destination")
        if app.literal(namespace) is not None:
            yield from _destination(app, project, namespace, path, scope)


def check_object_namespaces(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse objects in namespaces that the project does not permit as destination."""
    own = text(mapping(app.spec.get("destination")).get("namespace"))
    made = scope.objects.get(app.name, ())
    for project in _project(app, scope):
        for namespace in sorted({item.namespace for item in made if item.namespace} - {own}):
            path = app.at("spec", "destination", "namespace")
            yield from _destination(app, project, namespace, path, scope)


def _destination(
    app: Application, project: Document, namespace: str, path: Path, scope: Scope
) -> Iterator[Diagnostic]:
    server, name = _cluster(app, scope)
    if not (server or name) or app.literal(server) is None or app.literal(name) is None:
        return
    permitted = _permits_destination(project, server, name, namespace)
    said = f'"{namespace}" on {name or server}'
    if permitted is False:
        yield error(
            "project-destination-denied",
            path,
            f'project "{project.name}" does not permit the namespace {said}',
            "add it to the project's destinations",
        )
    elif permitted is None:
        kind = "server" if not server else "name"
        yield notice(
            "project-destination-unknown",
            path,
            f'whether project "{project.name}" permits {said} depends on the cluster\'s {kind}',
            "write project and Application alike: both by name or both by server",
        )


def _cluster(app: Application, scope: Scope) -> tuple[str, str]:
    """Return server and name, as far as they are known; both empty where Argo CD would refuse."""
    destination, local = mapping(app.spec.get("destination")), scope.facts.in_cluster
    server = text(destination.get("server")).rstrip("/")
    name = text(destination.get("name"))
    if server and name:
        return "", ""
    if server == local.server or name == local.name:
        return local.server, local.name
    return server, name


def _permits_destination(project: Document, server: str, name: str, namespace: str) -> bool | None:
    """Follow Argo CD's loop over the entries; None where the cluster's other name decides."""
    found, unknown = False, False
    for item in items(_spec(project).get("destinations")):
        entry = {key: text(mapping(item).get(key)) for key in ("server", "name", "namespace")}
        by_name = bool(name) and permits(entry["name"], name)
        by_server = bool(server) and permits(entry["server"], server)
        by_namespace = permits(entry["namespace"], namespace)
        if (by_name or by_server) and by_namespace:
            found = True
        elif (
            _denies(entry["name"], name, by_name)
            or (by_namespace and _denies(entry["server"], server, by_server))
            or (by_server and _denies(entry["namespace"], "*", by_namespace))
        ):
            return False
        elif by_namespace:
            unknown |= bool(entry["server"] if not server else entry["name"] and not name)
    return True if found else None if unknown else False


def _denies(pattern: str, known: str, matched: bool) -> bool:
    return bool(known) and not matched and pattern.startswith("!")


def check_cluster_objects(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse objects whose kind, or cluster-scoped name, the project does not permit."""
    for project in _project(app, scope):
        for item in scope.objects.get(app.name, ()):
            if not _permits_object(project, item):
                shown = f"{item.group or 'core'}/{item.kind} {item.name}"
                key = "namespaceResource" if item.namespace else "clusterResource"
                yield error(
                    "project-kind-denied",
                    app.at("spec", "project"),
                    f'project "{project.name}" does not permit {shown}',
                    f"look at {key}Whitelist and {key}Blacklist",
                )


def _permits_object(project: Document, item: ObjectIdentity) -> bool:
    spec = _spec(project)
    if item.namespace:
        allowed, denied = (
            spec.get("namespaceResourceWhitelist"),
            spec.get("namespaceResourceBlacklist"),
        )
        return (allowed is None or _lists(allowed, item)) and not _lists(denied, item)
    allowed, denied = spec.get("clusterResourceWhitelist"), spec.get("clusterResourceBlacklist")
    return _lists(allowed, item) and not _lists(denied, item)


def _lists(listed: object, item: ObjectIdentity) -> bool:
    for entry in items(listed):
        data = mapping(entry)
        if not shell_matches(text(data.get("kind")), item.kind):
            continue
        if not shell_matches(text(data.get("group")), item.group):
            continue
        name = "" if item.namespace else text(data.get("name"))
        if not name or shell_matches(name, item.name):
            return True
    return False


def check_created_namespace(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse CreateNamespace=true in a project that does not permit that Namespace (C42)."""
    namespace = text(mapping(app.spec.get("destination")).get("namespace"))
    if "CreateNamespace=true" not in app.sync_options or not app.literal(namespace):
        return
    made = ObjectIdentity(group="", kind="Namespace", name=namespace)
    for project in _project(app, scope):
        if not _permits_object(project, made):
            yield error(
                "project-namespace-denied",
                app.at("spec", "syncPolicy", "syncOptions"),
                f'project "{project.name}" does not permit Namespace "{namespace}", '
                "which CreateNamespace=true makes",
                "add Namespace to the project's clusterResourceWhitelist",
            )


def check_source_namespace(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse an Application outside Argo CD's namespace that the project does not name."""
    namespace = app.literal(app.metadata.get("namespace"))
    if not namespace or namespace == scope.namespace:
        return
    for project in _project(app, scope):
        known = [entry for _, entry in entries(_spec(project).get("sourceNamespaces"))]
        if not any(_matches_namespace(entry, namespace) for entry in known):
            yield error(
                "project-source-namespace-denied",
                app.at("metadata", "namespace"),
                f'project "{project.name}" takes no Applications from namespace "{namespace}"',
                "add it to the project's sourceNamespaces",
            )


def _matches_namespace(entry: str, namespace: str) -> bool:
    import re

    if len(entry) > 1 and entry.startswith("/") and entry.endswith("/"):
        try:
            return re.search(entry[1:-1], namespace) is not None
        except re.error:
            return False
    return glob_matches(entry, namespace)


def _project(app: Application, scope: Scope) -> Iterator[Document]:
    """Yield the project if it is among the documents; of an absent one nothing can be said."""
    found = scope.projects.get(app.project)
    if found is not None:
        yield found


def _spec(project: Document) -> Mapping[str, object]:
    return mapping(project.data.get("spec"))


RULES = (
    check_repositories,
    check_destination,
    check_object_namespaces,
    check_cluster_objects,
    check_created_namespace,
    check_source_namespace,
)
