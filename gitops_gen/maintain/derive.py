"""Upstream's values.yaml in; `{values path: {type, default, open}}` of the fact file out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path

from gitops_gen.diagnostics import Path as KeyPath
from gitops_gen.maintain.charts import (
    KnownChart,
    Values,
    dump_facts,
    known_charts,
    read_chart,
    read_copy,
    read_facts,
)
from gitops_gen.model import Json, Object
from gitops_gen.traced import format_path

_TYPES: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


def derive_keys(values: Values) -> dict[str, Object]:
    """List every path of the merged values; an empty map is open, a list is one value."""
    return {format_path(path): entry for path, entry in _entries((), merged_values(values))}


def merged_values(values: Values) -> Object:
    """Merge sub-chart values under their names and their globals into `global`; the parent wins."""
    tree: Object = {}
    for name, below in values.subcharts.items():
        inner = merged_values(below)
        merge(tree, {name: inner, **({"global": inner["global"]} if inner.get("global") else {})})
    merge(tree, values.own)
    return tree


def merge(base: Object, over: Mapping[str, Json]) -> None:
    """Merge `over` into `base` as Helm does: maps merge, everything else replaces."""
    for key, value in over.items():
        below = base.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            merge(below, value)
        elif value is not None or key not in base:
            base[key] = deepcopy(value)


def stale_keys(values: Values, recorded: Mapping[str, Json], subcharts: Iterable[str]) -> list[str]:
    """Compare recorded keys with those of `values`, which may lack some of the `subcharts`.

    Below a sub-chart whose values are missing, only what the parent sets can be compared: its
    leaves must be recorded alike.
    """
    missing = [name for name in subcharts if name not in values.subcharts]
    missing += ["global"] if missing else []
    derived = derive_keys(values)
    whole = {path: entry for path, entry in derived.items() if not _below(path, missing)}
    known = {path: entry for path, entry in recorded.items() if not _below(path, missing)}
    partial = (path for path in derived if path not in whole and derived[path]["type"] != "object")
    return sorted(
        {path for path in whole.keys() | known.keys() if whole.get(path) != known.get(path)}
        | {path for path in partial if derived[path] != recorded.get(path)}
    )


def check(charts: Iterable[KnownChart], upstream: Path) -> Iterator[str]:
    """Yield one sentence per chart whose fact file differs from the copied upstream values."""
    for chart in charts:
        copy = upstream / chart.upstream
        recorded = read_facts(chart.facts_file()).get("keys")
        if not (copy / "values.yaml").exists():
            continue
        if not isinstance(recorded, dict):
            yield f"{chart.chart} {chart.version}: no keys recorded"
            continue
        values = read_copy(copy)
        stale = stale_keys(values, recorded, chart.sources.keys() - {"values.yaml"})
        if stale:
            yield f"{chart.chart} {chart.version}: differs at {', '.join(stale)}"


def derive(chart: KnownChart, folder: Path) -> None:
    """Write the keys of an unpacked chart into its fact file and keep what else stands there."""
    file = chart.facts_file()
    old = read_facts(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    facts: Object = {
        "chart": chart.chart,
        "version": chart.version,
        "checked": chart.checked,
        "source": dict(chart.sources),
        "keys": dict(derive_keys(read_chart(folder))),
        "objects": old.get("objects", []),
    }
    file.write_text(dump_facts(facts), "utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Derive from unpacked charts, or with `--check` compare with copied upstream values."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--charts", type=Path, help="folder of unpacked charts")
    parser.add_argument("--check", action="store_true", help="compare with --upstream")
    parser.add_argument("--upstream", type=Path, default=Path("../shared/upstream"))
    options = parser.parse_args(arguments)
    if not options.check and options.charts is None:
        parser.error("give --charts DIR or --check")
    if options.check:
        return _report(check(known_charts(), options.upstream), options.upstream)
    for chart in known_charts():
        folder = options.charts / f"{chart.chart}-{chart.version}"
        if folder.exists():
            derive(chart, folder)
            print(f"derived {chart.facts_file().name}", file=sys.stderr)
    return 0


def _report(faults: Iterator[str], upstream: Path) -> int:
    if not upstream.is_dir():
        print(f"chart facts not compared: {upstream} is missing", file=sys.stderr)
        return 0
    found = list(faults)
    print("\n".join(found or ["chart facts are fresh"]))
    return 1 if found else 0


def _entries(path: KeyPath, value: Json) -> Iterator[tuple[KeyPath, Object]]:
    if path:
        yield path, _entry(value)
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _entries((*path, key), below)


def _entry(value: Json) -> Object:
    if isinstance(value, dict):
        return {"type": "object", "open": not value}
    return {"type": _TYPES[type(value)], "default": value}


def _below(path: str, names: Iterable[str]) -> bool:
    return any(path == name or path.startswith((f"{name}.", f"{name}[")) for name in names)


if __name__ == "__main__":
    sys.exit(main())
