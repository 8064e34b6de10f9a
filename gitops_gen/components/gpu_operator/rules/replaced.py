"""Our values and the raw ones in, items of our lists that the raw ones drop out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.gpu_operator.context import OWN, Context
from gitops_gen.diagnostics import Diagnostic, Path, Severity
from gitops_gen.model import Json, Traced
from gitops_gen.traced import format_path

_TOLERATIONS = "tolerations"


def replaced_lists(context: Context, ours: Traced) -> Iterator[Diagnostic]:
    """Yield lists of the raw values that leave out what the spec needs there: lists replace.

    Without a toleration nothing runs on the pool; a variable may be found another way.
    """
    for path, mine in _lists(ours.data, ()):
        theirs = _written(dict(context.part.values), path)
        lost = [item for item in mine if item not in theirs] if isinstance(theirs, list) else []
        if lost:
            severe = path[-1] == _TOLERATIONS
            names = ", ".join(_name(item) for item in lost)
            yield Diagnostic(
                code="values-list-replaced",
                severity=Severity.WARNING if severe else Severity.NOTICE,
                message=f"values.{format_path(path)} replaces the list that follows from the spec, and "
                f"drops {names}",
                path=("spec", *OWN, "values", *path),
                hint="write these items too, or say it in the spec rather than in the raw values",
            )


def _lists(value: Json, at: Path) -> Iterator[tuple[Path, list[Json]]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _lists(item, (*at, key))
    elif isinstance(value, list):
        yield at, value


def _written(values: Json, path: Path) -> Json:
    found = values
    for part in path:
        found = found.get(str(part)) if isinstance(found, dict) else None
    return found


def _name(item: Json) -> str:
    if isinstance(item, dict):
        return str(item.get("name") or item.get("key"))
    return str(item)
