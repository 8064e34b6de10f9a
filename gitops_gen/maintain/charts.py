"""The list of charts (charts.yaml) and unpacked charts in; values trees and fact files out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from gitops_gen.model import Json, Object

PACKAGE = Path(__file__).resolve().parents[1]
COMPONENTS = PACKAGE / "components"


class HelmLoader(yaml.CSafeLoader):
    """Reads values.yaml as Helm does: no sexagesimal numbers, dates, `yes`/`no` or `=` values."""


_SCALARS = {
    "bool": ("tTfF", r"true|True|TRUE|false|False|FALSE"),
    "null": ("~nN", r"~|null|Null|NULL|"),
    "int": ("-+0123456789", r"[-+]?(0x[0-9a-fA-F]+|0o?[0-7]+|[1-9][0-9]*|0)"),
    "merge": ("<", r"<<"),
    "float": ("-+.0123456789", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"),
}
HelmLoader.yaml_implicit_resolvers = {}
for _name, (_first, _pattern) in _SCALARS.items():
    HelmLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_name}", re.compile(f"^(?:{_pattern})$"), [*_first, ""]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownChart:
    """One chart at one version as charts.yaml lists it."""

    component: str
    chart: str
    version: str
    upstream: str
    release: str
    checked: str
    sources: Mapping[str, str]
    crds: Mapping[str, str] = field(default_factory=dict)
    shapes: Mapping[str, str] = field(default_factory=dict)
    kubernetes: str = ""
    api_versions: tuple[str, ...] = ()
    toggles: Mapping[str, Json] = field(default_factory=dict)
    scenarios: tuple[Mapping[str, Json], ...] = ()
    ignored: tuple[str, ...] = ()
    misread: tuple[str, ...] = ()
    crd_folder: str = ""

    def facts_file(self, components: Path = COMPONENTS) -> Path:
        """Where the derived facts are kept."""
        return components / self.component / "upstream" / f"{self.chart}-{self.version}.json"

    def extra_file(self, components: Path = COMPONENTS) -> Path:
        """Where the facts kept by hand are."""
        return self.facts_file(components).with_suffix(".extra.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """A chart's own values and those of its sub-charts, by name or alias."""

    own: Object
    subcharts: Mapping[str, Values]


def known_charts() -> tuple[KnownChart, ...]:
    """Read charts.yaml."""
    rows = read_yaml(Path(__file__).with_name("charts.yaml"))
    return tuple(KnownChart(**row) for row in rows)


def read_chart(folder: Path) -> Values:
    """Read an unpacked chart with its vendored sub-charts."""
    file = folder / "values.yaml"
    return Values(
        own=read_yaml(file) or {} if file.exists() else {},
        subcharts={name: read_chart(below) for name, below in subchart_folders(folder).items()},
    )


def subchart_folders(folder: Path) -> dict[str, Path]:
    """Find the vendored sub-charts of an unpacked chart, by alias where they have one."""
    dependencies = read_yaml(folder / "Chart.yaml").get("dependencies") or []
    aliases = {item["name"]: item.get("alias", item["name"]) for item in dependencies}
    below = sorted(path.parent for path in folder.glob("charts/*/Chart.yaml"))
    return {aliases.get(path.name, path.name): path for path in below}


def subchart_switches(folder: Path) -> dict[str, str]:
    """Read which key switches which sub-chart on."""
    dependencies = read_yaml(folder / "Chart.yaml").get("dependencies") or []
    return {
        item["condition"]: item.get("alias", item["name"]) for item in dependencies if "condition" in item
    }


def read_copy(folder: Path) -> Values:
    """Read a folder with `values.yaml` and, for sub-charts, `<name>.values.yaml`."""
    subcharts = {
        path.name.removesuffix(".values.yaml"): Values(own=read_yaml(path) or {}, subcharts={})
        for path in sorted(folder.glob("*.values.yaml"))
    }
    return Values(own=read_yaml(folder / "values.yaml") or {}, subcharts=subcharts)


def read_yaml(path: Path) -> Any:
    """Read one YAML document as Helm would."""
    return yaml.load(path.read_bytes(), Loader=HelmLoader)  # noqa: S506


def read_facts(path: Path) -> Object:
    """Read a fact file; an empty one where it does not exist yet."""
    return dict(json.loads(path.read_text("utf-8"))) if path.exists() else {}


def section(facts: Mapping[str, Json], name: str) -> dict[str, Object]:
    """Return one section of a fact file: its entries by name."""
    entries = facts.get(name)
    found = entries if isinstance(entries, dict) else {}
    return {key: entry for key, entry in found.items() if isinstance(entry, dict)}


def dump_facts(facts: Mapping[str, Json]) -> str:
    """Write a fact file: sections in the given order, each entry sorted on a line of its own."""
    parts = (f" {json.dumps(name)}: {_section(value)}" for name, value in facts.items())
    return "{\n" + ",\n".join(parts) + "\n}\n"


def dump_keys(keys: Mapping[str, Json]) -> str:
    """Write the `keys` section alone, as it stands in a fact file."""
    return _section(dict(keys))


def _section(value: Json) -> str:
    if isinstance(value, dict) and value:
        lines = (f"  {_line(key)}: {_line(value[key])}" for key in sorted(value))
        return "{\n" + ",\n".join(lines) + "\n }"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"  {_line(item)}" for item in value) + "\n ]"
    return _line(value)


def _line(value: Json) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
