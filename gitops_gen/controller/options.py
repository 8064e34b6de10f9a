"""Option lists of Argo CD in, unknown, misplaced, mistyped and too new options out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitops_gen.controller.documents import Scope
from gitops_gen.controller.facts import Option
from gitops_gen.controller.findings import error, listed, suggestion, warning
from gitops_gen.diagnostics import Diagnostic, Path


def check_option(
    option: str,
    path: Path,
    known: Mapping[str, Option],
    scope: Scope,
    *,
    kind: str,
    on_app: bool,
) -> Iterator[Diagnostic]:
    """Yield why Argo CD would not act on one option; `kind` is `sync` or `compare`.

    The comparison is exact and case-sensitive; what matches nothing is silently ignored.
    """
    key, _, value = option.partition("=")
    found = known.get(key)
    if found is None:
        said = f'"{option}" is not a {kind} option of Argo CD and would be ignored'
        yield error(f"argocd-{kind}-option-unknown", path, said, suggestion(key, known))
    elif value not in found.values:
        choices = listed(f"{key}={item}" if item else key for item in found.values)
        said = f'"{option}" is not a value that Argo CD reads and would be ignored'
        yield error(f"argocd-{kind}-option-value", path, said, f"write {choices}")
    elif not (found.app if on_app else found.resource):
        where = "a resource's annotation" if on_app else "an Application"
        said = f'"{option}" is read on {where} only and would be ignored here'
        yield error(f"argocd-{kind}-option-level", path, said)
    elif on_app and not scope.supports(found.since):
        yield _too_new(option, found, path, scope)


def _too_new(option: str, found: Option, path: Path, scope: Scope) -> Diagnostic:
    make = warning if found.severity == "warning" else error
    return make(
        "argocd-field-too-new",
        path,
        f"the option {option} of an Application needs Argo CD {found.since}; "
        f"this one is {scope.version.text}",
        "set it as an annotation on each resource",
    )


def check_conflicts(options: tuple[str, ...], path: Path, kind: str) -> Iterator[Diagnostic]:
    """Yield options that are set to two values."""
    seen: dict[str, str] = {}
    for option in options:
        key, _, value = option.partition("=")
        other = seen.setdefault(key, value)
        if other != value:
            said = f"{key} is set to {other} and to {value}"
            yield warning(f"argocd-{kind}-option-conflict", path, said, "keep one of the two")


def split_list(value: str) -> tuple[str, ...]:
    """Return the items of an annotation's comma list, trimmed."""
    return tuple(item.strip() for item in value.split(",") if item.strip())
