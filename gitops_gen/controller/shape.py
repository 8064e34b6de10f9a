"""An object and the table of known fields in, unknown, missing, mistyped and too new fields out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitops_gen.controller.documents import Document, Scope
from gitops_gen.controller.facts import Shape
from gitops_gen.controller.findings import error, suggestion
from gitops_gen.diagnostics import Diagnostic, Path

_PLAIN: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "object": (dict,),
    "intOrString": (int, str),
}


def check_shape(document: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Yield what the API server would refuse or drop: it prunes fields that it does not know."""
    return _check_fields(document.kind, document.data, (), scope)


def _check_fields(name: str, data: Mapping[str, object], path: Path, scope: Scope) -> Iterator[Diagnostic]:
    fields = {key.removesuffix("!"): shape for key, shape in scope.facts.types[name].items()}
    for key, value in data.items():
        if key in fields:
            yield from _too_new(name, key, (*path, key), scope)
            yield from _check_value(fields[key], value, (*path, key), scope)
        else:
            yield error(
                "argocd-unknown-field",
                (*path, key),
                f"{_show((*path, key))} is not a field of Argo CD's {name}; it would be dropped",
                suggestion(str(key), fields),
            )
    yield from _missing(name, data, path, scope)


def _missing(name: str, data: Mapping[str, object], path: Path, scope: Scope) -> Iterator[Diagnostic]:
    for key in scope.facts.types[name]:
        field = key.removesuffix("!")
        if field != key and field not in data:
            yield error("argocd-missing-field", path, f"{_show((*path, field))} is required")


def _too_new(name: str, key: str, path: Path, scope: Scope) -> Iterator[Diagnostic]:
    since = scope.facts.field_floors.fields.get(f"{name}.{key}")
    if not scope.supports(since):
        yield too_new(path, _show(path), since, scope)


def too_new(path: Path, what: str, since: str | None, scope: Scope) -> Diagnostic:
    """Return the finding that `what` needs a newer Argo CD than the one that reads it."""
    return error(
        "argocd-field-too-new",
        path,
        f"{what} needs Argo CD {since}; this one is {scope.version.text}",
        "leave it out, or raise the Argo CD version",
    )


def _check_value(shape: Shape, value: object, path: Path, scope: Scope) -> Iterator[Diagnostic]:
    if isinstance(shape, list):
        yield from _check_list(shape[0], value, path, scope)
    elif isinstance(shape, dict):
        yield from _check_map(shape["string"], value, path, scope)
    elif shape in scope.facts.types:
        if isinstance(value, Mapping):
            yield from _check_fields(shape, value, path, scope)
        else:
            yield _mistyped("a mapping", value, path)
    elif shape != "any" and not _is_plain(shape, value):
        yield _mistyped(_SAID[shape], value, path)


def _check_list(item: str, value: object, path: Path, scope: Scope) -> Iterator[Diagnostic]:
    if not isinstance(value, list | tuple):
        yield _mistyped("a list", value, path)
        return
    for index, part in enumerate(value):
        yield from _check_value(item, part, (*path, index), scope)


def _check_map(item: str, value: object, path: Path, scope: Scope) -> Iterator[Diagnostic]:
    if not isinstance(value, Mapping):
        yield _mistyped("a mapping", value, path)
        return
    for key, part in value.items():
        yield from _check_value(item, part, (*path, key), scope)


_SAID = {
    "string": "a string",
    "integer": "an integer",
    "boolean": "true or false",
    "object": "a mapping",
    "intOrString": "an integer or a string",
}


def _is_plain(shape: str, value: object) -> bool:
    if isinstance(value, bool):
        return shape == "boolean"
    return isinstance(value, _PLAIN[shape])


def _mistyped(wanted: str, value: object, path: Path) -> Diagnostic:
    quoted = "null" if value is None else repr(value)
    hint = f'quote it: "{value}"' if wanted == "a string" and isinstance(value, int | float) else ""
    return error("argocd-field-type", path, f"{_show(path)} must be {wanted}, not {quoted}", hint)


def _show(path: Path) -> str:
    shown = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return shown.removeprefix(".")
