"""An ApplicationSet's generators in, combinations that Argo CD refuses and names made twice out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from gitops_gen.controller.documents import Document, Scope, items, mapping, text
from gitops_gen.controller.findings import error, warning
from gitops_gen.diagnostics import Diagnostic, Path

_COMBINATIONS = ("matrix", "merge")
_PLACEHOLDER = re.compile(r"\{\{\s*\.?([A-Za-z_][\w.-]*)\s*\}\}")


def check_generators(appset: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Check each generator and what it combines."""
    spec = mapping(appset.data.get("spec"))
    if spec.get("generators") == []:
        yield error("appset-generator-empty", ("spec", "generators"), "there is no generator")
    for index, item in enumerate(items(spec.get("generators"))):
        yield from _generator(mapping(item), ("spec", "generators", index), 0, scope)


def _generator(item: Mapping[str, object], path: Path, depth: int, scope: Scope) -> Iterator[Diagnostic]:
    kinds = [key for key in item if key != "selector"]
    if not kinds:
        yield error("appset-generator-empty", path, "a generator names no kind")
    if depth and len(kinds) > 1:
        said = f"a combined generator is of one kind, not {' and '.join(kinds)}"
        yield error("appset-generator-kinds", path, said, "split it")
    yield from _git(item, path)
    for kind in _COMBINATIONS:
        if kind in item:
            yield from _combination(kind, mapping(item[kind]), (*path, kind), depth, scope)


def _combination(
    kind: str, data: Mapping[str, object], path: Path, depth: int, scope: Scope
) -> Iterator[Diagnostic]:
    children, limits = items(data.get("generators")), scope.facts.limits
    if kind == "matrix" and len(children) != limits.matrix_generators:
        said = f"matrix combines exactly {limits.matrix_generators} generators, not {len(children)}"
        yield error("appset-matrix-size", (*path, "generators"), said)
    if kind == "merge" and len(children) < limits.merge_generators:
        said = f"merge combines at least {limits.merge_generators} generators, not {len(children)}"
        yield error("appset-merge-size", (*path, "generators"), said)
    if kind == "merge":
        yield from _merge_keys(data, path)
    if depth > 1:
        yield error("appset-nesting", path, "combinations nest once only", "combine fewer generators")
        return
    for index, child in enumerate(children):
        yield from _generator(mapping(child), (*path, "generators", index), depth + 1, scope)


def _merge_keys(data: Mapping[str, object], path: Path) -> Iterator[Diagnostic]:
    keys = [text(key) for key in items(data.get("mergeKeys"))]
    if not keys:
        yield error("appset-merge-keys", path, "merge needs at least one of mergeKeys")
        return
    for index, child in enumerate(items(data.get("generators"))):
        elements = items(mapping(mapping(child).get("list")).get("elements"))
        sets = Counter(tuple(repr(mapping(item).get(key)) for key in keys) for item in elements)
        for values in [values for values, count in sets.items() if count > 1]:
            said = f"two elements have the same {', '.join(keys)}: {', '.join(values)}"
            place = (*path, "generators", index, "list", "elements")
            yield error("appset-merge-unique", place, said)


def _git(item: Mapping[str, object], path: Path) -> Iterator[Diagnostic]:
    if "git" not in item:
        return
    git = mapping(item["git"])
    if not git.get("files") and not git.get("directories"):
        yield error("appset-git-items", (*path, "git"), "a git generator needs files or directories")
    elif git.get("files") and git.get("directories"):
        said = "files is ignored beside directories"
        yield warning("appset-git-both", (*path, "git", "files"), said, "use two generators")


def generated_names(appset: Document) -> tuple[str, ...]:
    """Return the names of the Applications that list generators make, where they can be told."""
    spec = mapping(appset.data.get("spec"))
    name = text(mapping(mapping(spec.get("template")).get("metadata")).get("name"))
    made: list[str] = []
    for item in items(spec.get("generators")):
        if list(mapping(item)) == ["list"]:
            elements = items(mapping(mapping(item)["list"]).get("elements"))
            made += _filled(name, elements)
    return tuple(made)


def _filled(name: str, elements: Sequence[object]) -> list[str]:
    filled = (_fill(name, mapping(element)) for element in elements)
    return [made for made in filled if made and "{{" not in made]


def _fill(name: str, values: Mapping[str, object]) -> str:
    return _PLACEHOLDER.sub(lambda found: str(values.get(found[1], found[0])), name)


def check_generated_names(appset: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse list elements that make two Applications of one name."""
    for name, count in Counter(generated_names(appset)).items():
        if count > 1:
            path = ("spec", "template", "metadata", "name")
            said = f'{count} elements make an Application of the same name "{name}"'
            yield error("appset-duplicate-name", path, said)


RULES = (check_generators, check_generated_names)
