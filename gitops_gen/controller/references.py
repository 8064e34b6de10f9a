"""An Application in, what is wrong with its `ref` sources, value files and parameters out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitops_gen.controller.documents import (
    Application,
    Scope,
    Source,
    ValueFile,
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
    for ref, source in app.refs:
        path = (*source.path, "ref")
        if not is_ref(ref):
            said = f'ref "{ref}" may only hold letters, digits, _ and -'
            yield error("argocd-ref-name", path, said)
        elif ref in seen:
            yield error("argocd-ref-duplicate", path, f'two sources have the ref "{ref}"')
        seen.add(ref)


def check_ref_sources(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a ref on a chart; warn where a ref source is also rendered because it has a path."""
    for ref, source in app.refs:
        if source.is_chart:
            said = f'the source with ref "{ref}" may not have a chart'
            hint = "value files come from Git sources only"
            yield error("argocd-ref-chart", (*source.path, "ref"), said, hint)
        elif source.text("path"):
            said = f'the source with ref "{ref}" has a path, so its files are applied too'
            hint = "split it: one source with ref, one with path"
            yield warning("argocd-ref-with-path", (*source.path, "path"), said, hint)


def check_ref_known(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse `$name/…` where no source of the same Application has that ref."""
    known = {ref for ref, _ in app.refs}
    for file in app.value_files:
        if not file.ref or file.ref in known:
            continue
        if app.is_multi_source:
            there = f"known refs: {listed(sorted(known))}" if known else "no source has a ref"
            said = f'"{file.entry}" names the unknown ref "{file.ref}"'
            yield error("argocd-ref-unknown", file.path, said, there)
        elif file.ref.strip("{}") not in scope.facts.build_environment.names:
            said = f'"{file.entry}": refs work in spec.sources only, here ${file.ref} is replaced by nothing'
            yield error("argocd-ref-unknown", file.path, said, "use spec.sources with a ref source")


def check_ref_placement(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse `$ref` anywhere but at the start of a value file or file parameter."""
    known = {ref for ref, _ in app.refs}
    for file in app.value_files:
        for name in [name for name in _inner_names(file) if name in known]:
            said = f'"{file.entry}": ${name} must be the first part of the path'
            hint = f"write ${name}/<path from the root>"
            yield error("argocd-ref-placement", file.path, said, hint)
        if file.ref in known and not file.entry.partition("/")[2].strip("/"):
            said = f'"{file.entry}" names a repository, not a file in it'
            hint = f"write {file.entry.rstrip('/')}/<file>"
            yield error("argocd-ref-placement", file.path, said, hint)


def check_ref_in_kustomize(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse `$ref` in kustomize, which does not know it."""
    known = {ref for ref, _ in app.refs}
    for path, entry in _kustomize_files(app):
        if entry.startswith("$") and entry[1:].partition("/")[0] in known:
            yield error("argocd-ref-placement", path, f'"{entry}": refs do not work in kustomize')


def check_ref_revisions(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse two revisions of one repository among a source and the refs that it uses."""
    by_ref = dict(app.refs)
    for source in app.sources:
        seen: dict[str, tuple[str, Source]] = {}
        if source.is_git:
            seen[normalise_repository(source.repo_url)] = ("the source itself", source)
        used = [file.ref for file in app.value_files if file.source is source and file.ref in by_ref]
        for name in dict.fromkeys(used):
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


def _revision(source: Source) -> str:
    return source.text("targetRevision") or "HEAD"


def check_value_files(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse value files that leave the repository or have a scheme that is not read."""
    for file in app.value_files:
        known = _SCHEME.match(file.entry)
        if known:
            if known[1].lower() not in scope.facts.helm.values_file_schemes:
                said = f'"{file.entry}": value files are not read over {known[1]}'
                yield error("argocd-value-file-scheme", file.path, said)
        elif app.literal(file.entry) and _has_known_path(file) and _seen(file) is None:
            said = f'"{file.entry}" leaves the repository'
            yield error("argocd-value-file-outside", file.path, said)


def check_value_globs(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse globs in value files where Argo CD does not expand them yet."""
    floor = scope.facts.feature_floors["valueFileGlobs"]
    if scope.supports(floor.since):
        return
    for file in app.value_files:
        if "valueFiles" in file.path and has_glob(file.entry) and not _SCHEME.match(file.entry):
            yield too_new(file.path, floor.name, floor.since, scope)


def check_value_files_exist(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse value files of our own repository that are not there."""
    by_ref = dict(app.refs)
    for file in app.value_files if scope.files else ():
        owner = by_ref.get(file.ref) if file.ref else file.source
        if owner is None or not owner.is_git or file.source.helm.get("ignoreMissingValueFiles") is True:
            continue
        name = _seen(file) if app.literal(file.entry) and _has_known_path(file) else None
        own = normalise_repository(owner.repo_url) in scope.repositories
        if own and name and not _SCHEME.match(file.entry) and not _exists(name, scope):
            said = f'"{file.entry}": {owner.repo_url} has no file {name}'
            yield error("argocd-value-file-missing", file.path, said)


def _seen(file: ValueFile) -> str | None:
    """Return the file's path from the repository's root, None if it leaves it; refs start there."""
    if file.ref:
        return resolve("", file.entry.partition("/")[2])
    return resolve("" if file.source.is_chart else file.source.text("path"), file.entry)


def _has_known_path(file: ValueFile) -> bool:
    """Say whether nothing behind the ref is substituted."""
    return "$" not in (file.entry.partition("/")[2] if file.ref else file.entry)


def _exists(name: str, scope: Scope) -> bool:
    if has_glob(name):
        return any(path_matches(name, known) for known in scope.files)
    return name in scope.files


def check_substitution(app: Application, scope: Scope) -> Iterator[Diagnostic]:
    """Warn of `$name` in paths and parameters that Argo CD would replace by nothing."""
    known = {ref for ref, _ in app.refs}
    for path, entry in _substituted(app, known):
        for found in _VARIABLE.finditer(entry):
            name = found[1] if found[1] is not None else found[2]
            is_ref_path = found.start() == 0 and name in known
            if name and not is_ref_path and name not in scope.facts.build_environment.names:
                said = f'"{entry}": Argo CD replaces {found[0]} by nothing'
                yield warning("argocd-substitution", path, said, "write $$ for a dollar sign")


def _substituted(app: Application, known: set[str]) -> Iterator[tuple[Path, str]]:
    """Yield what is substituted, save the value files of which other rules speak."""
    for file in app.value_files:
        if (not file.ref or file.ref in known) and not known.intersection(_inner_names(file)):
            yield file.path, file.entry
    for source in app.sources:
        for index, item in enumerate(items(source.helm.get("parameters"))):
            place = (*source.path, "helm", "parameters", index, "value")
            yield place, text(mapping(item).get("value"))


def _inner_names(file: ValueFile) -> list[str]:
    return [part[1:] for part in file.entry.split("/")[1:] if part.startswith("$")]


def _kustomize_files(app: Application) -> Iterator[tuple[Path, str]]:
    for source in app.sources:
        kustomize = mapping(source.data.get("kustomize"))
        for index, entry in entries(kustomize.get("components")):
            yield (*source.path, "kustomize", "components", index), entry
        for index, item in enumerate(items(kustomize.get("patches"))):
            entry = text(mapping(item).get("path"))
            yield (*source.path, "kustomize", "patches", index, "path"), entry


RULES = (
    check_ref_names,
    check_ref_sources,
    check_ref_known,
    check_ref_placement,
    check_ref_in_kustomize,
    check_ref_revisions,
    check_value_files,
    check_value_globs,
    check_value_files_exist,
    check_substitution,
)
