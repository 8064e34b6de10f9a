"""An Application in, what is wrong with its destination, sync policy and ignored fields out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitops_gen.controller.documents import Application, Scope, entries, items, mapping
from gitops_gen.controller.durations import is_retry_duration
from gitops_gen.controller.findings import error, notice, warning
from gitops_gen.controller.jq import jq_fault
from gitops_gen.controller.options import check_conflicts, check_option
from gitops_gen.diagnostics import Diagnostic, Path

_BAD_ESCAPE = re.compile(r"~(?![01])")


def check_destination(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a destination with both server and name, or with neither."""
    if not isinstance(app.spec.get("destination"), dict):
        return
    destination, path = mapping(app.spec["destination"]), app.at("spec", "destination")
    if destination.get("server") and destination.get("name"):
        said = "the destination has both server and name, which Argo CD refuses"
        yield error("argocd-destination-ambiguous", path, said, "keep one of the two")
    elif not destination.get("server") and not destination.get("name"):
        cluster = scope.facts.in_cluster
        said = "the destination names no cluster"
        hint = f"set server or name, such as name: {cluster.name}"
        yield error("argocd-destination-missing", path, said, hint)


def check_sync_options(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse sync options that Argo CD would silently ignore."""
    known, path = scope.facts.sync_options.options, app.at("spec", "syncPolicy", "syncOptions")
    for index, option in entries(app.sync_policy.get("syncOptions")):
        if app.literal(option) is not None:
            yield from check_option(option, (*path, index), known, scope, kind="sync", on_app=True)
    yield from check_conflicts(app.sync_options, path, "sync")
    if {"Replace=true", "ServerSideApply=true"} <= set(app.sync_options):
        said = "Replace=true beats ServerSideApply=true"
        yield warning("argocd-sync-option-conflict", path, said, "keep one of the two")


def check_retry(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse retry durations that Argo CD cannot read; it only finds out when it retries."""
    backoff = mapping(mapping(app.sync_policy.get("retry")).get("backoff"))
    for key in ("duration", "maxDuration"):
        value = app.literal(backoff.get(key))
        if value and not is_retry_duration(value):
            path = app.at("spec", "syncPolicy", "retry", "backoff", key)
            said = f'retry {key} "{value}" is not a duration'
            yield error("argocd-retry-duration", path, said, "write it as 30s, 5m or 1h30m")


def check_allow_empty(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Warn of allowEmpty with prune: an empty render deletes everything."""
    automated = mapping(app.sync_policy.get("automated"))
    if automated.get("allowEmpty") is True and automated.get("prune") is True:
        path = app.at("spec", "syncPolicy", "automated", "allowEmpty")
        said = "with prune and allowEmpty an empty source deletes every resource"
        yield warning("argocd-allow-empty", path, said, "remove allowEmpty")


def check_namespace_metadata(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Warn of metadata for a namespace that Argo CD does not make."""
    given = app.sync_policy.get("managedNamespaceMetadata")
    if given and "CreateNamespace=true" not in app.sync_options:
        path = app.at("spec", "syncPolicy", "managedNamespaceMetadata")
        said = "managedNamespaceMetadata has no effect without CreateNamespace=true"
        yield warning("argocd-namespace-metadata", path, said)


def check_ignored_pointers(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse JSON pointers that point nowhere."""
    for path, pointer in _ignored(app, "jsonPointers"):
        if not pointer.startswith("/"):
            hint = f"write /{pointer.lstrip('.').replace('.', '/')}" if pointer else ""
            said = f'jsonPointer "{pointer}" must begin with /'
            yield error("argocd-ignore-pointer", path, said, hint)
        elif _BAD_ESCAPE.search(pointer):
            said = f'jsonPointer "{pointer}": ~ must be written ~0, and / in a key ~1'
            yield error("argocd-ignore-pointer", path, said)


def check_ignored_expressions(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse jq expressions that cannot compile: one of them voids the whole list."""
    for path, expression in _ignored(app, "jqPathExpressions"):
        fault = jq_fault(expression)
        if fault:
            said = f'jqPathExpression "{expression}": {fault}'
            yield error("argocd-ignore-jq", path, said)


def check_ignore_effect(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Warn of entries that ignore nothing; note where they change the display only."""
    ways = ("jsonPointers", "jqPathExpressions", "managedFieldsManagers")
    differences = items(app.spec.get("ignoreDifferences"))
    for index, item in enumerate(differences):
        if not any(mapping(item).get(way) for way in ways):
            path = app.at("spec", "ignoreDifferences", index)
            said = f"an ignoreDifferences entry without {', '.join(ways)} ignores nothing"
            yield warning("argocd-ignore-empty", path, said)
    meant = "RespectIgnoreDifferences=true" in app.sync_options or app.name in scope.display_only
    if differences and not meant:
        said = "ignoreDifferences changes the display only: each sync still writes those fields"
        hint = "add the sync option RespectIgnoreDifferences=true"
        yield notice("argocd-ignore-display", app.at("spec", "ignoreDifferences"), said, hint)


def _ignored(app: Application, key: str) -> Iterator[tuple[Path, str]]:
    for index, item in enumerate(items(app.spec.get("ignoreDifferences"))):
        for place, entry in entries(mapping(item).get(key)):
            if app.literal(entry) is not None:
                yield app.at("spec", "ignoreDifferences", index, key, place), entry


RULES = (
    check_destination,
    check_sync_options,
    check_retry,
    check_allow_empty,
    check_namespace_metadata,
    check_ignored_pointers,
    check_ignored_expressions,
    check_ignore_effect,
)
