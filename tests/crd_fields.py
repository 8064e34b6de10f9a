"""Recorded fields of CRDs, as schemas that refuse unknown fields as a strict API server does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import jsonschema

from gitops_gen.maintain.charts import COMPONENTS

_ORDER = ("enum", "pattern", "minimum", "maximum", "minLength", "maxLength")


@cache
def schemas(component: str, chart: str, version: str) -> Mapping[tuple[str, str], Any]:
    """Return the schema of each `(apiVersion, kind)` whose fields are kept for a chart."""
    file = COMPONENTS / component / "upstream" / f"{chart}-{version}.fields.json"
    facts = json.loads(file.read_bytes())
    return {
        (facts["apiVersion"], kind): _kind(fields)
        for kind, fields in facts.items()
        if isinstance(fields, dict) and "spec" in fields
    }


def field_faults(document: Any, component: str, chart: str, version: str) -> list[str]:
    """Return what the recorded fields have against an object; KeyError if its kind is not recorded."""
    schema = schemas(component, chart, version)[document["apiVersion"], document["kind"]]
    found = jsonschema.Draft202012Validator(schema).iter_errors(document)
    return [f"{item.json_path}: {item.message}" for item in found]


def _kind(fields: Mapping[str, Any]) -> Any:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["apiVersion", "kind", "metadata", *(["spec"] if fields["spec"].get("required") else [])],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": _schema("spec", fields),
        },
    }


def _schema(path: str, fields: Mapping[str, Any]) -> Any:
    entry = fields[path]
    found = {key: entry[key] for key in _ORDER if key in entry}
    if entry["type"] != "any":
        kinds = entry["type"] if isinstance(entry["type"], list) else [entry["type"]]
        found["type"] = [*kinds, "null"] if entry.get("nullable") else kinds
    if entry.get("nullable") and "enum" in found:
        found["enum"] = [*found["enum"], None]
    if f"{path}[]" in fields:
        found["items"] = _schema(f"{path}[]", fields)
    elif f"{path}.*" in fields:
        found["additionalProperties"] = _schema(f"{path}.*", fields)
    elif entry["type"] == "object" and not entry.get("free"):
        below = {it.removeprefix(f"{path}."): it for it in fields if it.startswith(f"{path}.")}
        own = {name: full for name, full in below.items() if "." not in name and not name.endswith("[]")}
        found["properties"] = {name: _schema(full, fields) for name, full in own.items()}
        found["required"] = [name for name, full in own.items() if _must_stand(fields[full])]
        found["additionalProperties"] = False
    return found


def _must_stand(entry: Mapping[str, Any]) -> bool:
    """The API server fills in defaults before it looks for what is required."""
    return entry.get("required") is True and "default" not in entry
