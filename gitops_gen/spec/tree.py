"""A JSON Schema in, its parts out: the one for a kind, the one at a path, and the nearest word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gitops_gen.diagnostics import Path

Schema = Mapping[str, Any]

_BEGUN = 3


def part_for(schema: Schema, kind: object = "Cluster") -> Schema:
    """Return the schema of one document kind; an unknown kind is held to that of a Cluster."""
    name = "ClusterBase" if kind == "ClusterBase" else "Cluster"
    parts: Mapping[str, Schema] = schema.get("$defs", {})
    return parts.get(name, schema)


def step(schema: Schema, part: str | int) -> Schema | None:
    """Return the schema of a key or item below what `schema` describes, None if there is none."""
    for one in (schema, *branches(schema)):
        found = one.get("items") if isinstance(part, int) else _property(one, part)
        if isinstance(found, Mapping):
            return found
    return None


def at(schema: Schema, path: Path) -> Schema | None:
    """Return the schema of the value at `path`, None where the schema says nothing of it."""
    here: Schema | None = schema
    for part in path:
        here = step(here, part) if here is not None else None
    return here


def branches(schema: Schema) -> tuple[Schema, ...]:
    """Return the alternatives of `oneOf` and `anyOf`."""
    return (*schema.get("oneOf", ()), *schema.get("anyOf", ()))


def properties(schema: Schema) -> dict[str, Schema]:
    """Return the named properties of an object, those of its alternatives included."""
    found: dict[str, Schema] = {}
    for one in (*reversed(branches(schema)), schema):
        found.update(one.get("properties", {}))
    return found


def descendants(schema: Schema, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield each key below `schema` with its dotted path; a list is written `name[]`."""
    for key, below in properties(schema).items():
        path = f"{prefix}{key}"
        yield key, path
        items = below.get("items")
        if isinstance(items, Mapping):
            yield from descendants(items, f"{path}[].")
        yield from descendants(below, f"{path}.")


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known word that `word` was most likely meant to be, None if none is near."""
    import difflib

    by_plain = {plain(item): item for item in known}
    wanted = plain(word)
    if wanted in by_plain:
        return by_plain[wanted]
    swapped = [item for item in by_plain if sorted(item) == sorted(wanted)]
    close = swapped or difflib.get_close_matches(wanted, by_plain, n=1, cutoff=cutoff)
    begun = [item for item in by_plain if _is_begun(item, wanted) or _is_begun(wanted, item)]
    found = close or (begun if len(begun) == 1 else [])
    return by_plain[found[0]] if found else None


def _is_begun(word: str, by: str) -> bool:
    return len(by) >= _BEGUN and word.startswith(by)


def plain(word: str) -> str:
    """Return the word without case and separators: `node_pools` and `nodePools` are alike."""
    return re.sub(r"[\s_-]", "", word).lower()


def _property(schema: Schema, key: str) -> Any:
    found = schema.get("properties", {}).get(key)
    return found if found is not None else schema.get("additionalProperties")
