"""All documents in, what is wrong between them out: names twice, waves that do not wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitops_gen.controller.documents import Document, Scope, mapping, text
from gitops_gen.controller.findings import error, notice, warning
from gitops_gen.controller.generators import generated_names
from gitops_gen.controller.metadata import WAVE
from gitops_gen.diagnostics import Diagnostic

Finding = tuple[Document, Diagnostic]


def check_names(documents: Sequence[Document], scope: Scope) -> Iterator[Finding]:
    """Refuse two objects of one kind, namespace and name, generated Applications included."""
    seen: dict[tuple[str, str, str], Document] = {}
    for document in documents:
        for kind, name in _made(document):
            key = (kind, _namespace(document) or scope.namespace, name)
            first = seen.setdefault(key, document)
            if first is not document:
                said = f'{first.file} already makes the {kind} "{name}"'
                yield document, error("argocd-duplicate-name", ("metadata", "name"), said)


def _made(document: Document) -> Iterator[tuple[str, str]]:
    if document.kind and document.name:
        yield document.kind, document.name
    if document.kind == "ApplicationSet":
        for name in dict.fromkeys(generated_names(document)):
            yield "Application", name


def check_wave_health(documents: Sequence[Document], scope: Scope) -> Iterator[Finding]:
    """Say that waves of Applications wait for nothing without their health check (C41)."""
    waved = {_wave(item): item for item in documents if item.kind == "Application"}
    if len(waved) < 2:
        return
    key, last = scope.facts.application_health.key, list(waved.values())[-1]
    path = ("metadata", "annotations")
    settings = [item for item in documents if _is_settings(item)]
    if not settings:
        said = f"waves of Applications wait only if argocd-cm holds {key}"
        yield last, notice("argocd-wave-health", path, said)
    elif not any(key in mapping(item.data.get("data")) for item in settings):
        said = f"argocd-cm has no {key}: waves of Applications order their creation only"
        yield last, warning("argocd-wave-health", path, said, "add the health check")


def _is_settings(document: Document) -> bool:
    return document.data.get("kind") == "ConfigMap" and document.name == "argocd-cm"


def _wave(document: Document) -> str:
    annotations = mapping(mapping(document.data.get("metadata")).get("annotations"))
    return text(annotations.get(WAVE)) or "0"


def _namespace(document: Document) -> str:
    return text(mapping(document.data.get("metadata")).get("namespace"))


RULES = (check_names, check_wave_health)
