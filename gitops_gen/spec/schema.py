"""The base schema and component fragments in; the whole schema, faults and filled-in data out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gitops_gen.spec.checker import Checker
from gitops_gen.spec.tree import Schema, part_for

if TYPE_CHECKING:
    from gitops_gen.diagnostics import Diagnostic, Path
    from gitops_gen.spec.failure import Raw

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NEEDED = ("required", "minItems", "minProperties", "if", "then", "else", "dependentRequired")


class ClusterSchema(dict[str, Any]):
    """A cluster schema that compiles its checkers once, on first use."""

    @cached_property
    def cluster(self) -> Checker:
        """The checker of documents of kind Cluster."""
        return Checker(part_for(self, "Cluster"))

    @cached_property
    def base(self) -> Checker:
        """The checker of documents of kind ClusterBase, where nothing is required."""
        return Checker(part_for(self, "ClusterBase"))


def cluster_schema(base: Schema, fragments: Mapping[str, Schema]) -> ClusterSchema:
    """Join the base schema and the component fragments into the schema of a whole document.

    Each fragment gets the properties that all components share. `$ref` is resolved, so that the
    parts stand alone: `$defs.Cluster`, and `$defs.ClusterBase`, the same with nothing required.
    """
    shared = base["$defs"]
    whole = _resolve({key: value for key, value in base.items() if key != "$defs"}, shared)
    parts = whole["properties"]["spec"]["properties"]["components"]["properties"]
    for name in sorted(fragments):
        parts[name] = _component(name, fragments[name], shared)
    return ClusterSchema(
        {
            "$schema": _DIALECT,
            "title": whole.pop("title"),
            "description": whole["description"],
            "type": "object",
            "if": {"required": ["kind"], "properties": {"kind": {"const": "ClusterBase"}}},
            "then": {"$ref": "#/$defs/ClusterBase"},
            "else": {"$ref": "#/$defs/Cluster"},
            "$defs": {"Cluster": whole, "ClusterBase": _nothing_required(whole)},
        }
    )


def with_versions(fragment: Schema, version: str, versions: Iterable[str], namespace: str) -> dict[str, Any]:
    """Return the fragment with what the shared properties say for one component."""
    known = [version, *(item for item in versions if item != version)]
    own = {
        "version": {"default": version, "examples": known},
        "namespace": {"default": namespace},
    }
    return {**fragment, "x-shared": own}


def with_models(schema: Schema, gpus: Iterable[str], tpus: Iterable[str]) -> ClusterSchema:
    """Return the schema with the catalogue's accelerator ids as examples, which editors offer."""
    models = {"gpu": list(gpus), "tpu": list(tpus)}
    for part in ("Cluster", "ClusterBase"):
        for kind, ids in models.items():
            schema = _replaced(schema, ("$defs", part, *_pool_keys(kind), "model", "examples"), ids)
    return ClusterSchema(schema)


def _pool_keys(kind: str) -> tuple[str, ...]:
    below = ("properties", "spec", "properties", "nodePools", "items", "properties", kind)
    return (*below, "properties")


def _replaced(schema: Schema, keys: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return a copy with one part replaced; all that does not lead to it is shared."""
    key, *rest = keys
    return {**schema, key: _replaced(schema[key], tuple(rest), value) if rest else value}


def check_schema(data: Any, schema: Schema, raw: Raw | None = None) -> tuple[Diagnostic, ...]:
    """Return every fault of a document; `raw` gives the text that the user wrote for a scalar."""
    whole = schema if isinstance(schema, ClusterSchema) else ClusterSchema(schema)
    is_base = isinstance(data, dict) and data.get("kind") == "ClusterBase"
    checker = whole.base if is_base else whole.cluster
    if checker.validator.is_valid(data):
        return ()
    from gitops_gen.spec.faults import faults

    return faults(data, checker, raw or _unknown_text)


def _unknown_text(path: Path) -> str | None:
    return None


def fill_defaults(data: Any, schema: Schema) -> Any:
    """Return valid data with the defaults of all keys that are left out; `data` stays as it is.

    Whole numbers written as `2.0` become integers where only integers are taken.
    """
    kind = data.get("kind") if isinstance(data, dict) else None
    return _fill(data, part_for(schema, kind))


def fill_component(name: str, data: Any, schema: Schema) -> Any:
    """Return one component's part of a valid document with its defaults; unknown names stay as they are."""
    parts = part_for(schema)["properties"]["spec"]["properties"]["components"]["properties"]
    return _fill(data, parts[name]) if name in parts else data


def _fill(value: Any, schema: Schema) -> Any:
    chosen = _alternative(value, schema)
    if isinstance(value, dict):
        return _fill_object(value, chosen)
    if isinstance(value, list) and isinstance(chosen.get("items"), Mapping):
        return [_fill(item, chosen["items"]) for item in value]
    if isinstance(value, float) and value.is_integer() and _takes_only_integers(schema):
        return int(value)
    return value


def _takes_only_integers(schema: Schema) -> bool:
    """JSON Schema takes 2.0 for an integer; the typed model does not."""
    kinds = [one.get("type") for one in (schema, *schema.get("oneOf", ()), *schema.get("anyOf", ()))]
    return "integer" in kinds and "number" not in kinds


def _fill_object(value: dict[str, Any], schema: Schema) -> dict[str, Any]:
    known: Mapping[str, Schema] = schema.get("properties", {})
    others = schema.get("additionalProperties")
    free = others if isinstance(others, Mapping) else {}
    filled = {key: _fill(item, known.get(key, free)) for key, item in value.items()}
    for key, below in known.items():
        if key not in filled and "default" in below:
            filled[key] = _fill(deepcopy(below["default"]), below)
    return filled


def _alternative(value: Any, schema: Schema) -> Schema:
    """Return the alternative that describes a container such as `value`, else the schema itself."""
    kind = "object" if isinstance(value, dict) else "array"
    for one in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        if one.get("type") == kind:
            return dict(one)
    return schema


def _component(name: str, fragment: Schema, shared: Mapping[str, Schema]) -> dict[str, Any]:
    """Return the schema of one component: its own settings and those that all share."""
    own = _resolve(
        {key: value for key, value in fragment.items() if key not in ("$defs", "x-shared")},
        {**shared, **fragment.get("$defs", {})},
    )
    common = _resolve(shared["component"], shared)["properties"]
    clash = sorted(common.keys() & own.get("properties", {}).keys())
    if clash:
        raise ValueError(f"the schema of {name} repeats shared properties: {', '.join(clash)}")
    for key, extra in fragment.get("x-shared", {}).items():
        common[key].update(extra)
    properties = {**common, **own.get("properties", {})}
    return {**own, "type": "object", "additionalProperties": False, "properties": properties}


def _resolve(value: Any, shared: Mapping[str, Schema]) -> Any:
    """Return a copy in which each `$ref` to a shared definition is replaced by its text."""
    if isinstance(value, list):
        return [_resolve(item, shared) for item in value]
    if not isinstance(value, Mapping):
        return value
    own = {key: _resolve(item, shared) for key, item in value.items() if key != "$ref"}
    if "$ref" not in value:
        return own
    return {**_resolve(shared[value["$ref"].removeprefix("#/$defs/")], shared), **own}


def _nothing_required(schema: Any) -> Any:
    """Return a copy of a schema that accepts any part of what the schema accepts."""
    kept = {key: value for key, value in schema.items() if key not in _NEEDED}
    for key in ("oneOf", "anyOf"):
        if all(set(one) == {"required"} for one in kept.get(key, ())):
            kept.pop(key, None)
        else:
            kept[key] = [_nothing_required(one) for one in kept[key]]
    for key in ("properties", "patternProperties"):
        if key in kept:
            kept[key] = {name: _nothing_required(item) for name, item in kept[key].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(kept.get(key), Mapping):
            kept[key] = _nothing_required(kept[key])
    return kept
