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
    fields = scope.facts.types[name]
    for key, value in data.items():
        field, place = fields.get(key), (*path, key)
        if field is None:
            yield error(
                "argocd-unknown-field",
                place,
                f"{_show(place)} is not a field of Argo CD's {name}; it would be dropped",
                suggestion(str(key), fields),
            )
            continue
        if field.since and not scope.supports(field.since):
            yield too_new(place, _show(place), field.since, scope)
        yield from _check_value(field.shape, value, place, scope)
    for key, field in fields.items():
        if field.required and key not in data:
            yield error("argocd-missing-field", path, f"{_show((*path, key))} is required")


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
        if not isinstance(value, list):
            yield _mistyped("a list", value, path)
            return
        for index, part in enumerate(value):
            yield from _check_value(shape[0], part, (*path, index), scope)
    elif isinstance(shape, dict) or shape in scope.facts.types:
        if not isinstance(value, dict):
            yield _mistyped("a mapping", value, path)
        elif isinstance(shape, dict):
            for key, part in value.items():
                yield from _check_value(shape["string"], part, (*path, key), scope)
        else:
            yield from _check_fields(shape, value, path, scope)
    elif shape != "any" and not _is_plain(shape, value):
        yield _mistyped(_SAID[shape], value, path)


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
