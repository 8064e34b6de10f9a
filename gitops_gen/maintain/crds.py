"""CRDs of an unpacked chart in; the fields of each kind, `<chart>-<version>.fields.json`, out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gitops_gen.maintain.charts import KnownChart, dump_facts, known_charts, read_yaml
from gitops_gen.model import Object

_KEPT = ("enum", "nullable", "default", "format", "pattern", "minimum", "maximum", "minLength", "maxLength")


def fields_file(chart: KnownChart) -> Path:
    """Where the fields of a chart's CRDs are kept."""
    return chart.facts_file().with_suffix(".fields.json")


def kind_fields(folder: Path) -> dict[str, dict[str, Object]]:
    """List the fields of each kind whose CRD lies in a folder, `status` left out."""
    found: dict[str, dict[str, Object]] = {}
    for file in sorted(folder.glob("*.yaml")):
        crd = read_yaml(file)
        (version,) = (it for it in crd["spec"]["versions"] if it["storage"])
        schema = version["schema"]["openAPIV3Schema"]
        spec = schema["properties"]["spec"]
        found[crd["spec"]["names"]["kind"]] = {
            "spec": _entry(spec, required="spec" in schema.get("required", ())),
            **dict(_fields("spec", spec)),
        }
    return found


def derive_fields(chart: KnownChart, folder: Path) -> None:
    """Write the fields of an unpacked chart's CRDs, which are all of one group and version."""
    (first, *_) = sorted((folder / chart.crd_folder).glob("*.yaml"))
    spec = read_yaml(first)["spec"]
    facts: Object = {
        "chart": chart.chart,
        "version": chart.version,
        "checked": chart.checked,
        "source": dict(chart.sources),
        "apiVersion": f"{spec['group']}/{spec['versions'][0]['name']}",
        **{kind: {**fields} for kind, fields in kind_fields(folder / chart.crd_folder).items()},
    }
    fields_file(chart).write_text(dump_facts(facts), "utf-8")


def _fields(path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, Object]]:
    for name, below in schema.get("properties", {}).items():
        yield from _field(f"{path}.{name}", below, required=name in schema.get("required", ()))
    items, values = schema.get("items"), schema.get("additionalProperties")
    if isinstance(items, dict):
        yield from _field(f"{path}[]", items, required=False)
    if isinstance(values, dict):
        yield from _field(f"{path}.*", values, required=False)


def _field(path: str, schema: Mapping[str, Any], *, required: bool) -> Iterator[tuple[str, Object]]:
    yield path, _entry(schema, required=required)
    yield from _fields(path, schema)


def _entry(schema: Mapping[str, Any], *, required: bool) -> Object:
    """Describe one field: a `free` one takes anything, `*` and `[]` below it are its values and items."""
    amount = schema.get("x-kubernetes-int-or-string")
    entry: Object = {"type": ["integer", "string"] if amount else schema.get("type", "any")}
    if required:
        entry["required"] = True
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        entry["free"] = True
    return entry | {key: schema[key] for key in _KEPT if key in schema}


def main(arguments: list[str] | None = None) -> int:
    """Derive the fields of all charts that are found in a folder and name where their CRDs lie."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--charts", type=Path, required=True, help="folder of unpacked charts")
    options = parser.parse_args(arguments)
    for chart in known_charts():
        folder = options.charts / f"{chart.chart}-{chart.version}"
        if chart.crd_folder and folder.exists():
            derive_fields(chart, folder)
            print(f"derived {fields_file(chart).name}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
