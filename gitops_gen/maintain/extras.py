"""Templates and CRDs of an unpacked chart in; missing entries of its `.extra.json` out.

Entries that are there already are never changed: the file is kept by hand, this only finds what
values.yaml does not list (keys that templates read, maps printed whole) and reports keys that no
template reads, which a person weighs and records as dead.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from gitops_gen.maintain.charts import (
    KnownChart,
    dump_facts,
    known_charts,
    read_chart,
    read_facts,
    read_yaml,
    section,
    subchart_switches,
)
from gitops_gen.maintain.derive import derive_keys
from gitops_gen.maintain.reads import ITEM, Read, Use, chart_reads
from gitops_gen.maintain.shapes import shape_entries, told_by_shapes
from gitops_gen.model import Json, Object

_DEEP = frozenset({"affinity", "nodeAffinity", "podAffinity", "podAntiAffinity"})


def missing_extra(keys: Mapping[str, Object], reads: Mapping[str, Read]) -> dict[str, Object]:
    """List the keys that only templates read, with a type where keys of that name agree on one."""
    names = {name for name in reads if name not in keys and ITEM not in name}
    parents = {name.rpartition(".")[0] for name in names}
    found: dict[str, Object] = {}
    for name in names:
        kind = "object" if name in parents else _likely_type(name, keys)
        found[name] = {"type": kind, "source": reads[name].file}
        if kind == "object" and name not in parents:
            found[name]["open"] = True
    return found


def open_maps(keys: Mapping[str, Object], reads: Mapping[str, Read]) -> dict[str, Object]:
    """List maps that templates print whole although values.yaml or templates name keys in them."""
    return {
        name: {"source": read.file}
        for name, read in reads.items()
        if read.use is Use.WHOLE
        and keys.get(name, {}).get("type") == "object"
        and any(other != name and _within(other, name) for other in (*keys, *reads))
    }


def unread(keys: Mapping[str, Object], reads: Mapping[str, Read]) -> Iterator[str]:
    """Yield the keys that no template reads by themselves or as part of a map handed on."""
    handed = [name for name, read in reads.items() if read.use is not Use.SINGLE]
    for name, entry in keys.items():
        if entry["type"] == "object" and not entry["open"]:
            continue
        shared = re.sub(r"^[^.]+\.global\.", "global.", name)
        if not any(_within(shared, other) for other in handed) and not any(
            _within(other, shared) for other in reads
        ):
            yield name


def schema_entries(name: str, schema: Mapping[str, Json], source: str) -> Iterator[tuple[str, Object]]:
    """Yield the keys below `name` that a CRD's schema allows there."""
    items = schema.get("items")
    if isinstance(items, dict):
        if isinstance(items.get("properties"), dict):
            yield name + ITEM, {"type": "object", "source": source}
            yield from schema_entries(name + ITEM, items, source)
        return
    properties = schema.get("properties")
    for key, below in (properties if isinstance(properties, dict) else {}).items():
        assert isinstance(below, dict)
        full = f"{name}.{key}"
        yield full, {"type": schema_type(below), "source": source, **_openness(key, below)}
        if key not in _DEEP:
            yield from schema_entries(full, below, source)


def schema_type(schema: Mapping[str, Json]) -> Json:
    """Name the type as fact files do."""
    if schema.get("x-kubernetes-int-or-string"):
        return ["integer", "string"]
    return schema.get("type", "any")


def _openness(key: str, schema: Mapping[str, Json]) -> Object:
    free = "additionalProperties" in schema or schema.get("x-kubernetes-preserve-unknown-fields")
    bare = schema.get("type") == "object" and "properties" not in schema
    return {"open": True} if free or bare or key in _DEEP else {}


def _likely_type(name: str, keys: Mapping[str, Object]) -> Json:
    leaf = name.rpartition(".")[2]
    if leaf.lower().endswith(("annotations", "labels")) and leaf != "honorLabels":
        return "object"
    types = {
        str(entry["type"])
        for other, entry in keys.items()
        if other.rpartition(".")[2] == leaf and entry["type"] != "null"
    }
    return types.pop() if len(types) == 1 else "any"


def _within(name: str, above: str) -> bool:
    return name == above or name.startswith((f"{above}.", f"{above}["))


def crd_schemas(chart: KnownChart, folder: Path) -> dict[str, Mapping[str, Json]]:
    """Read the `spec` schemas that values are copied into, by the values path of their root."""
    found: dict[str, Mapping[str, Json]] = {}
    for root, file in chart.crds.items():
        crd = read_yaml(folder / file)
        schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        found[root] = schema["properties"]["spec"]
    return found


def copied_entries(
    reads: Mapping[str, Read], root: str, spec: Mapping[str, Json], source: str
) -> Iterator[tuple[str, Object]]:
    """Yield what a CRD says of the values that templates copy into it under the same path."""
    for name, read in reads.items():
        inner = name.removeprefix(f"{root}.") if root else name
        if read.use is not Use.WHOLE or ITEM in name or (root and inner == name):
            continue
        schema = _at(spec, inner)
        if schema is not None:
            yield name, {"type": schema_type(schema), "source": source, **_openness("", schema)}
            yield from schema_entries(name, schema, source)


def _at(schema: Mapping[str, Json], name: str) -> Mapping[str, Json] | None:
    for part in name.split("."):
        properties = schema.get("properties")
        below = properties.get(part) if isinstance(properties, dict) else None
        if not isinstance(below, dict):
            return None
        schema = below
    return schema


def complete(chart: KnownChart, folder: Path) -> list[str]:
    """Add what is missing to the chart's `.extra.json`; return the keys that nothing reads."""
    keys = derive_keys(read_chart(folder))
    old = read_facts(chart.extra_file())
    dead, extra = section(old, "dead"), section(old, "extra")
    likes = {name for name, entry in extra.items() if "like" in entry}
    settled = (*dead, *chart.misread, *likes)
    reads = {
        name: read
        for name, read in chart_reads(folder).items()
        if name in likes or not any(_within(name, other) for other in settled)
    }
    found = found_sections(keys, reads, chart, folder)
    closed = {*chart.shapes, *likes, *_each(extra), *(str(extra[name]["like"]) for name in likes)}
    found["open"] = {name: entry for name, entry in found["open"].items() if name not in closed}
    facts: Object = {"chart": chart.chart, "version": chart.version, "checked": chart.checked}
    for name in ("extra", "dead", "open", "hints"):
        facts[name] = {**found.get(name, {}), **section(old, name)}
    chart.extra_file().write_text(dump_facts(facts), "utf-8")
    switches = subchart_switches(folder)
    return [name for name in unread(keys, reads) if name not in (*dead, *switches)]


def _each(extra: Mapping[str, Object]) -> Iterator[str]:
    """Yield the maps whose keys are known by what stands below them (`map.*`)."""
    return (name.removesuffix(".*") for name in extra if name.endswith(".*"))


def found_sections(
    keys: Mapping[str, Object], reads: Mapping[str, Read], chart: KnownChart, folder: Path
) -> dict[str, dict[str, Object]]:
    """Find the `extra` and `open` entries: from templates, then from the CRDs and pods they fill."""
    copied: dict[str, Object] = {}
    for root, spec in crd_schemas(chart, folder).items():
        unseen = {name: read for name, read in reads.items() if name not in copied}
        copied |= dict(copied_entries(unseen, root, spec, chart.crds[root]))
    more = {name: entry for name, entry in copied.items() if _tells_more(name, entry, keys)}
    whole = {
        name: entry
        for name, entry in open_maps(keys, reads).items()
        if name not in copied or copied[name].get("open")
    }
    shapes = told_by_shapes(keys, shape_entries(chart, folder))
    return {"extra": missing_extra(keys, reads) | more | shapes, "open": whole}


def _tells_more(name: str, entry: Object, keys: Mapping[str, Object]) -> bool:
    known = keys.get(name)
    return known is None or (isinstance(entry["type"], list) and known["type"] != "null")


def main(arguments: list[str] | None = None) -> int:
    """Complete the extra files of all charts found and print the keys that no template reads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--charts", type=Path, required=True, help="folder of unpacked charts")
    options = parser.parse_args(arguments)
    for chart in known_charts():
        folder = options.charts / f"{chart.chart}-{chart.version}"
        if folder.exists():
            for name in complete(chart, folder):
                print(f"{folder.name}: no template reads {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
