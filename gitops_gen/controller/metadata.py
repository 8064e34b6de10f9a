"""The metadata of any object in, what Kubernetes refuses or Argo CD ignores in it out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.controller.documents import Application, Scope, entries, mapping
from gitops_gen.controller.durations import is_go_integer
from gitops_gen.controller.findings import error, listed, suggestion, warning
from gitops_gen.controller.names import is_label_value, is_qualified_name, is_subdomain
from gitops_gen.controller.options import check_conflicts, check_option, split_list
from gitops_gen.controller.shape import too_new
from gitops_gen.diagnostics import Diagnostic

WAVE = "argocd.argoproj.io/sync-wave"
SYNC_OPTIONS = "argocd.argoproj.io/sync-options"
COMPARE_OPTIONS = "argocd.argoproj.io/compare-options"
_HOOK = "argocd.argoproj.io/hook"
_DELETE_POLICY = "argocd.argoproj.io/hook-delete-policy"
_TRACKING = "argocd.argoproj.io/tracking-id"


def check_name(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse names that are no DNS-1123 subdomain."""
    name, longest = app.literal(app.metadata.get("name")), scope.facts.limits.name
    if not app.name and "generateName" not in app.metadata:
        yield error("argocd-name", app.at("metadata"), "metadata.name is missing")
    elif name and not is_subdomain(name, longest):
        said = f'name "{name}" must be a DNS name: a-z, 0-9, - and ., at most {longest} characters'
        yield error("argocd-name", app.at("metadata", "name"), said)


def check_labels(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse labels that Kubernetes refuses, on the object and on the namespace it makes."""
    limits = scope.facts.limits
    for place in (("metadata",), ("spec", "syncPolicy", "managedNamespaceMetadata")):
        for key, value in _mapping_at(app, *place, "labels").items():
            path, shown = app.at(*place, "labels", key), app.literal(value)
            if not is_qualified_name(str(key), limits.label, limits.name):
                yield error("argocd-label", path, f'"{key}" is no label key')
            elif not isinstance(value, str):
                said = f"label {key} must be a string, not {value!r}"
                yield error("argocd-label", path, said, f'quote it: "{value}"')
            elif shown is not None and not is_label_value(shown, limits.label):
                said = f'label {key}: "{value}" is no label value, at most {limits.label} characters'
                yield error("argocd-label", path, said)


def check_annotations(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse annotations that are no strings (the wave has its own rule) or whose key is none."""
    limits = scope.facts.limits
    for key, value in app.annotations.items():
        path = app.at("metadata", "annotations", key)
        if not is_qualified_name(str(key), limits.label, limits.name):
            yield error("argocd-annotation", path, f'"{key}" is no annotation key')
        elif not isinstance(value, str) and key != WAVE:
            said = f"annotation {key} must be a string, not {value!r}"
            yield error("argocd-annotation", path, said, f'quote it: "{value}"')


def check_wave(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a wave that is no string of an integer: Argo CD would read it as wave 0."""
    value = app.annotations.get(WAVE)
    path = app.at("metadata", "annotations", WAVE)
    if value is not None and not isinstance(value, str):
        said = f"sync-wave must be a string, not {value!r}"
        yield error("argocd-sync-wave", path, said, f'quote it: "{value}"')
    shown = app.literal(value)
    if shown is not None and not is_go_integer(shown):
        said = f'sync-wave "{shown}" is not an integer and would count as 0'
        yield error("argocd-sync-wave", path, said)


def check_hooks(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse unknown hook types and deletion policies, and types that came later."""
    hooks = scope.facts.hooks
    path = app.at("metadata", "annotations", _HOOK)
    for name in _annotation_list(app, _HOOK):
        if name not in hooks.types:
            said = f'"{name}" is not a hook of Argo CD'
            yield error("argocd-hook", path, said, suggestion(name, hooks.types))
        elif not scope.supports(hooks.types[name].since):
            yield too_new(path, f"the hook {name}", hooks.types[name].since, scope)
    for name in _annotation_list(app, _DELETE_POLICY):
        if name not in hooks.delete_policies:
            place = app.at("metadata", "annotations", _DELETE_POLICY)
            said = f'"{name}" is not a hook-delete-policy'
            hint = f"write {listed(hooks.delete_policies)}"
            yield error("argocd-hook-delete-policy", place, said, hint)


def check_resource_options(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Check the option annotations of an object that is no Application."""
    facts = scope.facts
    for kind, key, known in (
        ("sync", SYNC_OPTIONS, facts.sync_options.options),
        ("compare", COMPARE_OPTIONS, facts.compare_options.options),
    ):
        options, path = _annotation_list(app, key), app.at("metadata", "annotations", key)
        for option in options:
            yield from check_option(option, path, known, scope, kind=kind, on_app=False)
        yield from check_conflicts(options, path, kind)


def check_compare_options(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Check an Application's compare options; ServerSideDiff off brings false drift back (C54)."""
    path = app.at("metadata", "annotations", COMPARE_OPTIONS)
    options, known = _annotation_list(app, COMPARE_OPTIONS), scope.facts.compare_options.options
    for option in options:
        yield from check_option(option, path, known, scope, kind="compare", on_app=True)
    yield from check_conflicts(options, path, "compare")
    if "ServerSideDiff=false" in options:
        said = "ServerSideDiff is off: fields that a CRD defaults show as drift for ever"
        yield warning("argocd-server-side-diff-off", path, said, "write ServerSideDiff=true")


def check_misplaced_options(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse sync options as an annotation of the Application, save what protects a child (C55)."""
    path = app.at("metadata", "annotations", SYNC_OPTIONS)
    for option in _annotation_list(app, SYNC_OPTIONS):
        if option.partition("=")[0] not in scope.facts.sync_options.on_applications:
            yield error(
                "argocd-sync-options-annotation",
                path,
                f'"{option}" as an annotation of the Application does not reach its resources',
                "move it to spec.syncPolicy.syncOptions",
            )
        else:
            known = scope.facts.sync_options.options
            yield from check_option(option, path, known, scope, kind="sync", on_app=False)


def check_finalizers(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse misspelt finalizers of Argo CD, warn of those that it sets itself."""
    known = scope.facts.finalizers
    for index, name in entries(app.metadata.get("finalizers")):
        path = app.at("metadata", "finalizers", index)
        if name in known.controller:
            said = f"the finalizer {name} is set by Argo CD itself"
            yield warning("argocd-finalizer-managed", path, said, "remove it")
        elif name in known.cascade or app.literal(name) is None:
            continue
        elif "argocd" in name or "argoproj" in name or "resources-finalizer" in name:
            said = f'"{name}" is not a finalizer of Argo CD: nothing would ever remove it'
            yield error("argocd-finalizer", path, said, suggestion(name, known.cascade))


def check_managed_fields(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Warn of what the controller owns: status, a running operation, the tracking id."""
    for key in ("status", "operation"):
        if key in app.data:
            said = f"{key} belongs to the controller"
            yield warning("argocd-managed-field", app.at(key), said, "remove it")
    if _TRACKING in app.annotations:
        path = app.at("metadata", "annotations", _TRACKING)
        yield warning("argocd-managed-field", path, "tracking-id belongs to the controller", "remove it")


def _annotation_list(app: Application, key: str) -> tuple[str, ...]:
    value = app.literal(app.annotations.get(key))
    return split_list(value or "")


def _mapping_at(app: Application, *path: str) -> dict[str, object]:
    value: object = app.data
    for key in path:
        value = mapping(value).get(key)
    return dict(mapping(value))


OBJECT_RULES = (check_labels, check_annotations, check_wave, check_hooks)
"""Rules for any object that Argo CD applies."""

RESOURCE_RULES = (*OBJECT_RULES, check_resource_options)
"""Rules for objects that are neither Application nor project."""

RULES = (
    check_name,
    *OBJECT_RULES,
    check_compare_options,
    check_misplaced_options,
    check_finalizers,
    check_managed_fields,
)
"""Rules for Applications."""
