"""What concerns the cluster as a whole in, findings on names, Kubernetes and Secrets out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitops_gen.catalog.versions import Version
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Catalog, ClusterSpec
from gitops_gen.spec.rules.place import warning

_LONGEST_NAME = 40
_PLACEHOLDERS = ("cluster", "namespace", "name")
_BRACES = re.compile(r"\{([^{}]*)\}|([{}])")


def name_lengths(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Warn of a name that makes names of Applications longer than a label value may be."""
    if len(spec.name) > _LONGEST_NAME:
        yield warning(
            "cluster-name-too-long",
            f'"{spec.name}" has {len(spec.name)} characters; with more than {_LONGEST_NAME} the names of '
            "Applications, <cluster>-<app>, may pass the 63 of a label value",
            ("metadata", "name"),
            "shorten it; what else tells the cluster apart can be a label",
        )


def kubernetes_versions(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a version that no Kubernetes has."""
    text = spec.kubernetes.version
    if Version.parse(text).numbers[0] != 1:
        yield Diagnostic(
            code="bad-kubernetes-version",
            message=f'"{text}" is not a version of Kubernetes',
            path=("spec", "kubernetes", "version"),
            hint='write the minor as "1.35", or the whole version as kubectl version shows it',
        )


def unused_store(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Warn of a store that nothing reads."""
    secrets = spec.secrets
    if secrets.store != "external-secrets" and secrets.store_ref is not None:
        yield warning(
            "store-reference-unused",
            f'storeRef names the store "{secrets.store_ref.name}", but store is {secrets.store}',
            ("spec", "secrets", "storeRef"),
            "write store: external-secrets, or remove storeRef",
        )


def air_gap(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a cluster that reaches nothing outside and pulls its images from there."""
    if spec.air_gap and not spec.registry.mirrors:
        yield Diagnostic(
            code="air-gap-without-mirrors",
            message="the cluster reaches nothing outside, but no registry has a mirror",
            path=("spec", "airGap"),
            hint="add registry.mirrors, such as {nvcr.io: registry.example.com/nvcr}",
        )


def key_templates(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a key template with a placeholder that nothing fills, or without the Secret's name."""
    template = spec.secrets.key_template
    path = ("spec", "secrets", "keyTemplate")
    found = [inside or brace for inside, brace in _BRACES.findall(template)]
    wrong = [word for word in found if word not in _PLACEHOLDERS]
    if wrong:
        yield Diagnostic(
            code="bad-key-template",
            message=f'keyTemplate "{template}" holds "{wrong[0]}"; what is filled in is '
            "{cluster}, {namespace} and {name}",
            path=path,
            hint="write each as {cluster}, {namespace} or {name}",
        )
    elif "name" not in found:
        yield Diagnostic(
            code="bad-key-template",
            message=f'keyTemplate "{template}" lacks {{name}}: all Secrets would have one key',
            path=path,
            hint="add {name}, and {namespace} where two Secrets have one name",
        )


RULES = (name_lengths, kubernetes_versions, unused_store, air_gap, key_templates)
