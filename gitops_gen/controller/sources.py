"""An Application in, what is wrong with each of its sources out (everything but `$ref`)."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.controller.documents import Application, Scope, Source, items, mapping, text
from gitops_gen.controller.findings import error, listed, warning
from gitops_gen.controller.names import (
    is_constraint,
    is_exact_version,
    is_subdomain,
    normalise_repository,
    short_revision,
)
from gitops_gen.controller.shape import too_new
from gitops_gen.diagnostics import Diagnostic

_TYPES = ("helm", "kustomize", "directory", "plugin")


def check_source_present(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse an Application that reads nothing."""
    if not app.sources and "sourceHydrator" not in app.spec:
        yield error("argocd-source-missing", app.at("spec"), "it has neither source nor sources")


def check_source_ignored(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Warn of sources that another one hides: sourceHydrator beats sources beats source."""
    present = [key for key in ("sourceHydrator", "sources", "source") if app.spec.get(key)]
    for key in present[1:]:
        yield warning(
            "argocd-source-ignored",
            app.at("spec", key),
            f"spec.{key} is ignored, since spec.{present[0]} is set",
            f"remove spec.{key}",
        )


def check_source_complete(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a source without a repository, or without anything to read from it."""
    wanted = ("path", "chart", "ref") if app.is_multi_source else ("path", "chart")
    for source in app.sources:
        if source.data.get("repoURL") == "":
            yield error("argocd-source-incomplete", source.path, "a source's repoURL is empty")
        elif not any(source.text(key) for key in wanted):
            said = f"a source needs {listed(wanted)}"
            yield error("argocd-source-incomplete", source.path, said)


def check_chart_version(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a chart without a version, and one whose version moves by itself."""
    for source in app.sources:
        version = app.literal(source.data.get("targetRevision", ""))
        if not source.is_chart or version is None:
            continue
        chart, path = source.text("chart"), (*source.path, "targetRevision")
        if not version:
            said = f'chart "{chart}" has no targetRevision'
            yield error("argocd-chart-version-missing", source.path, said, "name its exact version")
        elif not is_exact_version(version):
            said = f'targetRevision "{version}" of chart "{chart}" must be an exact version'
            yield error("argocd-chart-version-floating", path, said, "name one such as 1.2.3")


def check_git_revision(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a moving revision of somebody else's Git repository, once our own ones are known."""
    if not scope.repositories:
        return
    for source in app.sources:
        revision = app.literal(source.data.get("targetRevision", ""))
        url = app.literal(source.data.get("repoURL"))
        if not source.is_git or revision is None or url is None:
            continue
        if normalise_repository(url) not in scope.repositories and _moves(revision, scope):
            yield error(
                "argocd-git-revision-floating",
                (*source.path, "targetRevision") if revision else source.path,
                f'{url} is read at "{revision or "HEAD"}", which moves without a review here',
                "name a tag or a commit",
            )


def _moves(revision: str, scope: Scope) -> bool:
    if revision.startswith("refs/tags/"):
        return False
    known = short_revision(revision) in scope.facts.floating_revisions.names
    return known or revision.startswith("refs/heads/") or is_constraint(revision)


def check_oci_form(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse `oci://` beside `chart`: the URL would be read as a whole artifact."""
    for source in app.sources:
        url = source.repo_url
        if not source.is_oci:
            continue
        if source.is_chart:
            bare, chart = url.removeprefix("oci://").rstrip("/"), source.text("chart")
            yield error(
                "argocd-oci-with-chart",
                (*source.path, "repoURL"),
                f'repoURL "{url}" with oci:// cannot be combined with chart "{chart}"',
                f"write repoURL {bare} beside the chart, or {url.rstrip('/')}/{chart} with path .",
            )
        else:
            floor = scope.facts.feature_floors["ociSource"]
            if not scope.supports(floor.since):
                yield too_new((*source.path, "repoURL"), floor.name, floor.since, scope)


def check_chart_path(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Warn of a path beside a chart, which is ignored."""
    for source in app.sources:
        if source.is_chart and source.text("path"):
            said = f'path "{source.text("path")}" is ignored beside a chart'
            yield warning("argocd-chart-with-path", (*source.path, "path"), said, "remove it")


def check_source_types(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse two of helm, kustomize, directory and plugin in one source."""
    for source in app.sources:
        used = [key for key in _TYPES if key in source.data]
        if len(used) > 1:
            said = f"a source is of one type, this one sets {' and '.join(used)}"
            yield error("argocd-source-types", (*source.path, used[1]), said, "split the source")


def check_path(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a path that is absolute or leaves the repository."""
    for source in app.sources:
        path = app.literal(source.data.get("path"))
        if path is None or source.is_chart:
            continue
        place = (*source.path, "path")
        if path.startswith("/"):
            said = f'path "{path}" must be relative to the repository'
            yield error("argocd-path-absolute", place, said, f"write {path.lstrip('/') or '.'}")
        elif resolve("", path) is None:
            yield error("argocd-path-outside", place, f'path "{path}" leaves the repository')


def check_path_exists(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a path of our own repository that holds no file."""
    for source in own_sources(app, scope):
        path = app.literal(source.data.get("path"))
        folder = resolve("", path) if path and not path.startswith("/") else None
        if folder and folder not in scope.folders:
            said = f'path "{path}" is not a folder of {source.repo_url}'
            yield error("argocd-path-missing", (*source.path, "path"), said)


def check_hidden_override(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse `.argocd-source*.yaml` beside the manifests, which silently changes the source."""
    for source in own_sources(app, scope):
        path = app.literal(source.data.get("path"))
        folder = resolve("", path) if path else None
        if folder is None:
            continue
        for name in (".argocd-source.yaml", f".argocd-source-{app.name}.yaml"):
            file = f"{folder}/{name}".lstrip("/")
            if file in scope.files:
                said = f"{file} would silently override the source"
                yield error("argocd-hidden-override", (*source.path, "path"), said, "remove it")


def check_retired_repository(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse repositories that their owners have given up."""
    for source in app.sources:
        url = normalise_repository(source.repo_url).split("://")[-1].rstrip("/")
        for retired in scope.facts.retired_repositories:
            if url == retired.repository:
                yield error(
                    "argocd-retired-repository",
                    (*source.path, "repoURL"),
                    f"{source.repo_url} is no longer filled",
                    f"use {retired.replacement}",
                )


def check_release_name(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a Helm release name that Helm refuses; without one it is the Application's name."""
    longest = scope.facts.limits.release_name
    for source in app.sources:
        if not source.is_chart and "helm" not in source.data:
            continue
        given = source.helm.get("releaseName") or app.metadata.get("name")
        name = app.literal(given)
        if name is None or is_subdomain(name, longest):
            continue
        if source.helm.get("releaseName"):
            path, said = (*source.path, "helm", "releaseName"), f'releaseName "{name}"'
        else:
            path, said = source.path, f'the release takes the Application\'s name "{name}", which'
        yield error(
            "argocd-release-name",
            path,
            f"{said} is no Helm release name: lower-case DNS, at most {longest} characters",
            "set a shorter helm.releaseName",
        )


def check_helm_version(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a helm.version that is none; `v4` came later than the others."""
    for source in app.sources:
        version = app.literal(source.helm.get("version"))
        path = (*source.path, "helm", "version")
        if version is not None and version not in scope.facts.enums.helm_versions:
            said = f'helm.version "{version}" is not supported'
            yield error("argocd-helm-version", path, said, "leave it out")
        floor = scope.facts.feature_floors["helmVersion4"]
        if version == "v4" and not scope.supports(floor.since):
            yield too_new(path, floor.name, floor.since, scope)


def check_values_hidden(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Warn of `values` beside `valuesObject`, which hides it."""
    for source in app.sources:
        if source.helm.get("values") and source.helm.get("valuesObject"):
            path = (*source.path, "helm", "values")
            said = "helm.values is ignored, since helm.valuesObject is set"
            yield warning("argocd-values-ignored", path, said, "merge the two")


def check_skip_crds(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse skipCrds where nothing installs the CRDs, warn where only a hook does (C12, C52)."""
    for source in app.sources:
        for upgrade in scope.facts.crd_upgrades:
            if source.text("chart") != upgrade.chart or source.helm.get("skipCrds") is not True:
                continue
            path = (*source.path, "helm", "skipCrds")
            if _switch(source, upgrade.value, upgrade.default):
                said = f"skipCrds leaves the CRDs to the hook that {upgrade.value} switches"
                yield warning("argocd-skip-crds", path, said, "let Argo CD apply the CRDs")
            else:
                said = f"with {upgrade.value}: false nothing would install or upgrade the CRDs"
                yield error("argocd-crds-not-installed", path, said, "remove skipCrds")


def _switch(source: Source, value_path: str, default: bool) -> bool:
    for parameter in items(source.helm.get("parameters")):
        if mapping(parameter).get("name") == value_path:
            return text(mapping(parameter).get("value")) != "false"
    value: object = source.helm.get("valuesObject") or _read(text(source.helm.get("values")))
    for key in value_path.split("."):
        value = mapping(value).get(key)
    return value if isinstance(value, bool) else default


def _read(values: str) -> object:
    import yaml

    try:
        return yaml.safe_load(values)
    except yaml.YAMLError:
        return None


def own_sources(app: Application, scope: Scope) -> Iterator[Source]:
    """Yield the Git sources of the repository whose files are known."""
    for source in app.sources:
        url = normalise_repository(source.repo_url)
        if scope.files and source.is_git and url in scope.repositories:
            yield source


def resolve(folder: str, path: str) -> str | None:
    """Return the path seen from the repository's root, None if it leaves it; the root is empty."""
    parts: list[str] = []
    for part in (path if path.startswith("/") else f"{folder}/{path}").split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


RULES = (
    check_source_present,
    check_source_ignored,
    check_source_complete,
    check_chart_version,
    check_git_revision,
    check_oci_form,
    check_chart_path,
    check_source_types,
    check_path,
    check_path_exists,
    check_hidden_override,
    check_retired_repository,
    check_release_name,
    check_helm_version,
    check_values_hidden,
    check_skip_crds,
)
