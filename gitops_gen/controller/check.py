"""Documents, facts and an Argo CD version in, every finding of the controller's rules out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from gitops_gen.catalog.versions import Version
from gitops_gen.controller import (
    applicationset,
    generators,
    metadata,
    permission,
    policy,
    project,
    references,
    sources,
    together,
    windows,
)
from gitops_gen.controller.documents import Document, Scope, application_of, mapping
from gitops_gen.controller.facts import ArgocdFacts
from gitops_gen.controller.findings import error
from gitops_gen.controller.names import normalise_repository
from gitops_gen.controller.shape import check_shape
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import ObjectIdentity

APPLICATION_RULES = (
    *metadata.RULES,
    *sources.RULES,
    *references.RULES,
    *policy.RULES,
    *permission.RULES,
)
TEMPLATE_RULES = tuple(rule for rule in APPLICATION_RULES if rule is not metadata.check_name)
PROJECT_RULES = (*project.RULES, *windows.RULES)
APPLICATION_SET_RULES = (*applicationset.RULES, *generators.RULES)


def check_documents(
    documents: Sequence[Document],
    *,
    argocd: ArgocdFacts,
    version: str,
    files: Collection[str] = (),
    repositories: Collection[str] = (),
    objects: Mapping[str, Sequence[ObjectIdentity]] | None = None,
    namespace: str = "argocd",
    display_only: Collection[str] = (),
) -> tuple[Diagnostic, ...]:
    """Return what Argo CD `version` would refuse or silently ignore, in the order of documents.

    `files` are the paths of the repository whose URLs are `repositories` (with them, value files
    and paths must exist, and other Git repositories need a fixed revision); `objects` what each
    Application makes, by its name; `namespace` Argo CD's own; `display_only` the Applications that
    mean their ignored fields to be written by each sync. Messages name object and file; `path`
    leads into the document; positions come from `Document.locate`.
    """
    scope = Scope(
        facts=argocd,
        version=Version.parse(version),
        namespace=namespace,
        files=frozenset(files),
        folders=_folders(files),
        repositories=frozenset(normalise_repository(url) for url in repositories),
        projects={item.name: item for item in documents if item.kind == "AppProject"},
        objects=objects or {},
        display_only=frozenset(display_only),
    )
    found = [(item, finding) for item in documents for finding in _check(item, scope)]
    found += [pair for rule in together.RULES for pair in rule(documents, scope)]
    return tuple(_placed(document, finding) for document, finding in found)


def _check(document: Document, scope: Scope) -> Iterator[Diagnostic]:
    if document.kind:
        yield from _check_api(document, scope)
        yield from check_shape(document, scope)
    match document.kind:
        case "Application":
            app = application_of(document.data)
            for rule in APPLICATION_RULES:
                yield from rule(app, scope)
        case "AppProject":
            for project_rule in PROJECT_RULES:
                yield from project_rule(document, scope)
            yield from _check_object(document, scope)
        case "ApplicationSet":
            yield from _check_set(document, scope)
        case _:
            yield from _check_object(document, scope)


def _check_set(document: Document, scope: Scope) -> Iterator[Diagnostic]:
    for rule in APPLICATION_SET_RULES:
        yield from rule(document, scope)
    yield from _check_object(document, scope)
    template = mapping(mapping(document.data.get("spec")).get("template"))
    app = application_of(template, ("spec", "template"), templated=True)
    for template_rule in TEMPLATE_RULES:
        yield from template_rule(app, scope)


def _check_object(document: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Check the metadata of an object that is no Application: hooks, waves, options."""
    app = application_of(document.data)
    for rule in metadata.RESOURCE_RULES:
        yield from rule(app, scope)


def _check_api(document: Document, scope: Scope) -> Iterator[Diagnostic]:
    version, known = document.data.get("apiVersion"), scope.facts.api_version
    if version != known:
        said = f'apiVersion "{version}" must be "{known}"'
        yield error("argocd-api-version", ("apiVersion",), said)


def _placed(document: Document, finding: Diagnostic) -> Diagnostic:
    position = document.locate(finding.path) if document.locate else None
    return replace(finding, message=f"{document.title}: {finding.message}", position=position)


def _folders(files: Collection[str]) -> frozenset[str]:
    parts = (file.split("/")[:-1] for file in files)
    return frozenset("/".join(part[:size]) for part in parts for size in range(1, len(part) + 1))
