"""The `shapes` of a chart (charts.yaml) in; the keys of maps that its templates hand to CRDs and pods out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from gitops_gen.maintain.charts import KnownChart, read_yaml
from gitops_gen.model import Json, Object

_API = "io.k8s.api.core.v1."
_AMOUNTS = ("IntOrString", "Quantity")


def shape_entries(chart: KnownChart, folder: Path) -> dict[str, Object]:
    """List the keys below each values path that has a shape.

    A shape is `kubernetes#<kind of core/v1>`, told two levels deep, or `<file>#<path below spec>`
    of a CRD, told whole; files are looked up from the unpacked chart's folder.
    """
    found: dict[str, Object] = {}
    for path, shape in chart.shapes.items():
        file, _, part = shape.partition("#")
        if file == "kubernetes":
            definitions = _definitions(chart.kubernetes)
            source = f"Kubernetes {chart.kubernetes} API, {part}"
            found |= dict(_fields(path, definitions[_API + part], definitions, source, 2))
        else:
            schema = _spec_part(folder / file, part)
            found |= dict(_properties(path, schema, f"{Path(file).name}, {part}"))
    return found


def told_by_shapes(keys: Mapping[str, Object], entries: Mapping[str, Object]) -> dict[str, Object]:
    """Leave out what values.yaml tells as well: keys with a type of their own and no looser one."""
    return {
        path: entry
        for path, entry in entries.items()
        if (known := keys.get(path)) is None
        or known["type"] == "null"
        or isinstance(entry["type"], list)
        or (entry.get("open") and not known.get("open"))
    }


@cache
def _definitions(version: str) -> Mapping[str, Any]:
    """Read Kubernetes' own definitions from the package that the tests validate with."""
    schemas = files("kubernetes_validate") / "kubernetes-json-schema" / f"v{version}-local"
    found: dict[str, Any] = json.loads((schemas / "_definitions.json").read_bytes())
    return dict(found["$defs"])


def _fields(
    path: str, definition: Mapping[str, Any], definitions: Mapping[str, Any], source: str, depth: int
) -> Iterator[tuple[str, Object]]:
    for name, field in definition["properties"].items():
        full = f"{path}.{name}"
        below = _resolved(field, definitions)
        entry: Object = {"type": _type(field, below), "source": source}
        items = _resolved(field.get("items") or {}, definitions)
        if "properties" in below and depth > 1:
            yield full, entry
            yield from _fields(full, below, definitions, source, depth - 1)
        elif "properties" in items and depth > 1:
            yield full, entry
            yield f"{full}[]", {"type": "object", "source": source}
            yield from _fields(f"{full}[]", items, definitions, source, depth - 1)
        else:
            yield full, {**entry, "open": True} if entry["type"] == "object" else entry


def _resolved(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = field.get("$ref")
    return field if reference is None else definitions[reference.rpartition("/")[2]]


def _type(field: Mapping[str, Any], below: Mapping[str, Any]) -> Json:
    if str(field.get("$ref", "")).endswith(_AMOUNTS):
        return ["integer", "number", "string"]
    given = below.get("type", "object" if "properties" in below else "any")
    named = [item for item in (given if isinstance(given, list) else [given]) if item != "null"]
    return named[0] if len(named) == 1 else list(named)


def _spec_part(file: Path, part: str) -> Mapping[str, Any]:
    """Read the schema of one part of a CRD's `spec`."""
    version = read_yaml(file)["spec"]["versions"][0]
    schema: Mapping[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    for name in part.split("."):
        schema = schema["properties"][name]
    return schema


def _properties(path: str, schema: Mapping[str, Any], source: str) -> Iterator[tuple[str, Object]]:
    for name, below in schema.get("properties", {}).items():
        full = f"{path}.{name}"
        kind: Json = ["integer", "string"] if below.get("x-kubernetes-int-or-string") else below["type"]
        items = below.get("items", {})
        if "properties" in below:
            yield full, {"type": kind, "source": source}
            yield from _properties(full, below, source)
        elif "properties" in items:
            yield full, {"type": kind, "source": source}
            yield f"{full}[]", {"type": "object", "source": source}
            yield from _properties(f"{full}[]", items, source)
        else:
            yield full, {"type": kind, "source": source, **({"open": True} if kind == "object" else {})}
