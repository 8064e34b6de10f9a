"""An Application in, what is wrong with its `ref` sources, value files and parameters out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitops_gen.controller.documents import (
    Application,
    Scope,
    Source,
    entries,
    items,
    mapping,
    text,
)
from gitops_gen.controller.findings import error, listed, warning
from gitops_gen.controller.globs import has_glob, path_matches
from gitops_gen.controller.names import is_ref, normalise_repository, short_revision
from gitops_gen.controller.shape import too_new
from gitops_gen.controller.sources import resolve
from gitops_gen.diagnostics import Diagnostic, Path

_VARIABLE = re.compile(r"\$(?:\$|\{([^}]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def check_ref_names(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse ref names with other signs than letters, digits, `_` and `-`, and repeated ones."""
    seen: set[str] = set()
    for source, ref in _refs(app):
        path = (*source.path, "ref")
        if not is_ref(ref):
            said = f'ref "{ref}" may only hold letters, digits, _ and -'
            yield error("argocd-ref-name", path, said)
        elif ref in seen:
            yield error("argocd-ref-duplicate", path, f'two sources have the ref "{ref}"')
        seen.add(ref)


def check_ref_sources(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a ref on a chart; warn where a ref source is also rendered because it has a path."""
    for source, ref in _refs(app):
        path = (*source.path, "ref")
        if source.is_chart:
            said = f'the source with ref "{ref}" may not have a chart'
            yield error("argocd-ref-chart", path, said, "value files come from Git sources only")
        elif source.text("path"):
            said = f'the source with ref "{ref}" has a path, so its files are applied too'
            hint = "split it: one source with ref, one with path"
            yield warning("argocd-ref-with-path", (*source.path, "path"), said, hint)


def check_ref_known(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse `$name/…` where no source of the same Application has that ref."""
    known = {ref for _, ref in _refs(app)}
    for _, path, entry in _helm_files(app):
        name = _leading(entry)
        if not name or name in known:
            continue
        if app.is_multi_source:
            there = f"known refs: {listed(sorted(known))}" if known else "no source has a ref"
            yield error("argocd-ref-unknown", path, f'"{entry}" names the unknown ref "{name}"', there)
        elif name.strip("{}") not in scope.facts.build_environment.names:
            said = f'"{entry}": refs work in spec.sources only, here ${name} is replaced by nothing'
            yield error("argocd-ref-unknown", path, said, "use spec.sources with a ref source")


def check_ref_placement(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse `$ref` anywhere but at the start of a value file or file parameter."""
    known = {ref for _, ref in _refs(app)}
    for _, path, entry in _helm_files(app):
        inner = [part[1:] for part in entry.split("/")[1:] if part.startswith("$")]
        for name in [name for name in inner if name in known]:
            said = f'"{entry}": ${name} must be the first part of the path'
            yield error("argocd-ref-placement", path, said, f"write ${name}/<path from the root>")
        if _leading(entry) in known and not entry.partition("/")[2].strip("/"):
            said = f'"{entry}" names a repository, not a file in it'
            yield error("argocd-ref-placement", path, said, f"write {entry.rstrip('/')}/<file>")
    for path, entry in _kustomize_files(app):
        if _leading(entry) in known:
            said = f'"{entry}": refs do not work in kustomize'
            yield error("argocd-ref-placement", path, said)


def check_ref_revisions(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse two revisions of one repository among a source and the refs that it uses."""
    by_ref = {ref: source for source, ref in _refs(app)}
    for source in app.sources:
        seen: dict[str, tuple[str, Source]] = {}
        if source.is_git:
            seen[normalise_repository(source.repo_url)] = ("the source itself", source)
        used = [_leading(entry) for owner, _, entry in _helm_files(app) if owner == source]
        for name in dict.fromkeys(name for name in used if name in by_ref):
            target = by_ref[name]
            url = normalise_repository(target.repo_url)
            who, other = seen.setdefault(url, (f"${name}", target))
            if not _same_revision(app, target, other, is_own=other is source):
                yield error(
                    "argocd-ref-revisions",
                    (*target.path, "targetRevision"),
                    f"{target.repo_url} is read at two revisions: ${name} at "
                    f'"{_revision(target)}", {who} at "{_revision(other)}"',
                    "use one revision of a repository in an Application",
                )


def _same_revision(app: Application, ref: Source, other: Source, *, is_own: bool) -> bool:
    """Compare as Argo CD does: refs among each other by their text, with the source by commit."""
    left, right = _revision(ref), _revision(other)
    if app.literal(left) is None or app.literal(right) is None:
        return True
    return short_revision(left) == short_revision(right) if is_own else left == right


def check_value_files(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse value files that leave the repository or have a scheme that is not read."""
    for source, path, entry in _helm_files(app):
        known = _SCHEME.match(entry)
        if known:
            if known[1].lower() not in scope.facts.helm.values_file_schemes:
                said = f'"{entry}": value files are not read over {known[1]}'
                yield error("argocd-value-file-scheme", path, said)
            continue
        folder, rest = _split(source, entry)
        if app.literal(entry) and "$" not in rest and resolve(folder, rest) is None:
            yield error("argocd-value-file-outside", path, f'"{entry}" leaves the repository')


def check_value_globs(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse globs in value files where Argo CD does not expand them yet."""
    floor = scope.facts.feature_floors["valueFileGlobs"]
    for source in app.sources:
        for index, entry in entries(source.helm.get("valueFiles")):
            if has_glob(entry) and not _SCHEME.match(entry) and not scope.supports(floor.since):
                place = (*source.path, "helm", "valueFiles", index)
                yield too_new(place, floor.name, floor.since, scope)


def check_value_files_exist(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse value files of our own repository that are not there."""
    if not scope.files:
        return
    by_ref = {ref: source for source, ref in _refs(app)}
    for source, path, entry in _helm_files(app):
        name = _leading(entry)
        owner = by_ref.get(name, source if not name else None)
        if owner is None or not owner.is_git or source.helm.get("ignoreMissingValueFiles") is True:
            continue
        file = resolve(*_split(source, entry))
        own = normalise_repository(owner.repo_url) in scope.repositories
        if own and file and app.literal(entry) and "$" not in file and not _exists(file, scope):
            said = f'"{entry}": {owner.repo_url} has no file {file}'
            yield error("argocd-value-file-missing", path, said)


def check_substitution(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Warn of `$name` in paths and parameters that Argo CD would replace by nothing."""
    known = {ref for _, ref in _refs(app)}
    for path, entry in _substituted(app):
        for found in _VARIABLE.finditer(entry):
            name = found[1] if found[1] is not None else found[2]
            is_ref_path = found.start() == 0 and name in known
            if name and not is_ref_path and name not in scope.facts.build_environment.names:
                yield warning(
                    "argocd-substitution",
                    path,
                    f'"{entry}": Argo CD replaces {found[0]} by nothing',
                    "write $$ for a dollar sign",
                )


def _refs(app: Application) -> Iterator[tuple[Source, str]]:
    if app.is_multi_source:
        for source in app.sources:
            if source.text("ref"):
                yield source, source.text("ref")


def _helm_files(app: Application) -> Iterator[tuple[Source, Path, str]]:
    for source in app.sources:
        for index, entry in entries(source.helm.get("valueFiles")):
            yield source, (*source.path, "helm", "valueFiles", index), entry
        for index, item in enumerate(items(source.helm.get("fileParameters"))):
            entry = text(mapping(item).get("path"))
            if entry:
                yield source, (*source.path, "helm", "fileParameters", index, "path"), entry


def _kustomize_files(app: Application) -> Iterator[tuple[Path, str]]:
    for source in app.sources:
        kustomize = mapping(source.data.get("kustomize"))
        for index, entry in entries(kustomize.get("components")):
            yield (*source.path, "kustomize", "components", index), entry
        for index, item in enumerate(items(kustomize.get("patches"))):
            entry = text(mapping(item).get("path"))
            yield (*source.path, "kustomize", "patches", index, "path"), entry


def _substituted(app: Application) -> Iterator[tuple[Path, str]]:
    known = {ref for _, ref in _refs(app)}
    for _, path, entry in _helm_files(app):
        inner = {part[1:] for part in entry.split("/")[1:]}
        if (not _leading(entry) or _leading(entry) in known) and not inner & known:
            yield path, entry
    for source in app.sources:
        for index, item in enumerate(items(source.helm.get("parameters"))):
            place = (*source.path, "helm", "parameters", index, "value")
            yield place, text(mapping(item).get("value"))


def _leading(entry: str) -> str:
    first = entry.partition("/")[0]
    return first[1:] if first.startswith("$") else ""


def _revision(source: Source) -> str:
    return source.text("targetRevision") or "HEAD"


def _split(source: Source, entry: str) -> tuple[str, str]:
    """Return the folder that an entry starts from and its path; refs start at the root."""
    if entry.startswith("$"):
        return "", entry.partition("/")[2]
    return ("" if source.is_chart else source.text("path")), entry


def _exists(file: str, scope: Scope) -> bool:
    if has_glob(file):
        return any(path_matches(file, known) for known in scope.files)
    return file in scope.files


RULES = (
    check_ref_names,
    check_ref_sources,
    check_ref_known,
    check_ref_placement,
    check_ref_revisions,
    check_value_files,
    check_value_globs,
    check_value_files_exist,
    check_substitution,
)
