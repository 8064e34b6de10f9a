"""Real `helm template` runs of an unpacked chart in; its objects and their conditions out.

Every boolean key, and those that charts.yaml names, is flipped alone and below the switch that it
depends on; an object's condition is the least set of values that makes it appear.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import yaml

from gitops_gen.maintain.charts import (
    HelmLoader,
    KnownChart,
    dump_facts,
    known_charts,
    read_facts,
    read_yaml,
    section,
    subchart_switches,
)
from gitops_gen.model import Json, Object
from gitops_gen.traced import parse_path

Assignment = tuple[tuple[str, Json], ...]
Condition = frozenset[tuple[str, str]]
Toggles = Mapping[str, tuple[Json, Json]]
_KEEP = "-zq"
_SET = "zq-set"
_SWITCHES = frozenset({"enabled", "enable", "create", "deploy", "deployCR"})


class Identity(NamedTuple):
    """An object as a chart names it.

    `{release}` and `{namespace}` stand for the install's own, `{values.<path>}` for a value.
    """

    group: str
    kind: str
    name: str
    namespace: str | None
    hook: bool


Rendered = frozenset[Identity] | None


@dataclass(slots=True)
class Renderer:
    """Renders one chart with values set; remembers results; None where the chart refuses."""

    chart: KnownChart
    folder: Path
    helm: Path
    cluster_kinds: Mapping[str, list[str]]
    _seen: dict[str, Rendered] = field(default_factory=dict)

    def render(self, assignment: Assignment) -> Rendered:
        """Return the objects made with these values over the chart's defaults."""
        values = json.dumps(_nested(assignment), sort_keys=True)
        if values not in self._seen:
            self._seen[values] = self._run(values, _named_by(assignment))
        return self._seen[values]

    def render_all(self, assignments: Iterable[Assignment]) -> list[Rendered]:
        """Render several, two at a time."""
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(self.render, assignments))

    def _run(self, values: str, named_by: str) -> Rendered:
        release = self.chart.release + _KEEP
        command = [
            str(self.helm),
            "template",
            release,
            str(self.folder),
            "--namespace",
            f"ns{_KEEP}",
        ]
        command += [
            "--include-crds",
            "--skip-tests",
            "--kube-version",
            self.chart.kubernetes,
            "-f",
            "-",
        ]
        command += [option for it in self.chart.api_versions for option in ("--api-versions", it)]
        done = subprocess.run(command, input=values, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode != 0:
            return None
        return frozenset(self._identities(done.stdout, release, named_by))

    def _identities(self, text: str, release: str, named_by: str) -> Iterator[Identity]:
        for group, kind, metadata in object_heads(text):
            cluster = kind in self.cluster_kinds.get(group, ())
            annotations = metadata.get("annotations")
            namespace = str(metadata.get("namespace") or f"ns{_KEEP}")
            yield Identity(
                group,
                kind,
                _marked(str(metadata.get("name")), release).replace(_SET, f"{{values.{named_by}}}"),
                None if cluster else _marked(namespace, release),
                isinstance(annotations, dict) and "helm.sh/hook" in annotations,
            )


def object_heads(text: str) -> Iterator[tuple[str, str, Object]]:
    """Yield group, kind and metadata of each object in rendered text, without reading the rest."""
    for document in re.split(r"^---.*$", text, flags=re.MULTILINE):
        version = re.search(r"^apiVersion:\s*[\"']?([^\s\"']+)", document, re.MULTILINE)
        kind = re.search(r"^kind:\s*[\"']?(\w+)", document, re.MULTILINE)
        if version is None or kind is None:
            continue
        group = version[1].rpartition("/")[0]
        if kind[1].endswith("List"):
            for item in yaml.load(document, Loader=HelmLoader).get("items") or []:  # noqa: S506
                yield group, kind[1].removesuffix("List"), item["metadata"]
            continue
        block = re.search(r"^metadata:.*\n((?:[ \t#].*\n|\n)*)", document + "\n", re.MULTILINE)
        assert block is not None, document[:200]
        yield group, kind[1], yaml.load(block[0], Loader=HelmLoader)["metadata"]  # noqa: S506


def discover(renderer: Renderer, toggles: Toggles, defaults: Mapping[str, Json]) -> list[Object]:
    """Find all objects with their conditions; `toggles` maps a key to its default and flip."""
    flips: list[Assignment] = [((name, flip),) for name, (_, flip) in toggles.items()]
    base = renderer.render(())
    assert base is not None, f"{renderer.folder} does not render with its defaults"
    singles = dict(zip(toggles, renderer.render_all(flips), strict=True))
    effective = [name for name, found in singles.items() if found is not None and base - found]
    conditions: dict[Identity, set[Condition]] = {}
    for identity in base:
        gone = (it for it, found in singles.items() if found is not None and identity not in found)
        conditions[identity] = {_condition((name, toggles[name][0]) for name in gone)}
    starts = [flip for flip in flips if (singles[flip[0][0]] or base) - base]
    starts += _pairs(toggles, singles, subchart_switches(renderer.folder))
    starts += map(_scenario, renderer.chart.scenarios)
    with ThreadPoolExecutor(2) as pool:
        told = pool.map(lambda start: _explain(renderer, start, base, toggles, effective), starts)
        for needs in told:
            for identity, condition in needs.items():
                conditions.setdefault(identity, set()).add(condition)
    return [_entry(it, conditions[it], defaults) for it in sorted(conditions, key=_order)]


def _explain(
    renderer: Renderer,
    start: Assignment,
    base: frozenset[Identity],
    toggles: Toggles,
    effective: Iterable[str],
) -> dict[Identity, Condition]:
    """Say which values of `start`, and which defaults, each object that it adds needs."""
    parts = [tuple(pair for pair in start if pair != other) for other in start]
    fewer = [renderer.render(part) for part in parts]
    known = frozenset().union(*(found or frozenset() for found in fewer)) if len(start) == 2 else base
    new = (renderer.render(start) or frozenset()) - base - known
    if not new:
        return {}
    names = _relevant({name for name, _ in start}, toggles, effective)
    gone = list(zip(start, fewer, strict=True))
    gone += [((name, toggles[name][0]), it) for name, it in _removers(renderer, start, new, names, toggles)]
    return {
        identity: _condition(
            pair
            for pair, found in gone
            if (pair in start if found is None else identity not in found)
        )
        for identity in new
    }


def _removers(
    renderer: Renderer, start: Assignment, new: frozenset[Identity], names: list[str], toggles: Toggles
) -> Iterator[tuple[str, Rendered]]:
    """Find the keys whose flip takes away some of the `new` objects, halving the group of suspects."""
    if not names:
        return
    found = renderer.render((*start, *((name, toggles[name][1]) for name in names)))
    if found is not None and new <= found:
        return
    if len(names) == 1:
        yield names[0], found
        return
    middle = len(names) // 2
    yield from _removers(renderer, start, new, names[:middle], toggles)
    yield from _removers(renderer, start, new, names[middle:], toggles)


def _condition(pairs: Iterable[tuple[str, Json]]) -> Condition:
    return frozenset((name, json.dumps(value, sort_keys=True)) for name, value in pairs)


def _relevant(names: set[str], toggles: Toggles, effective: Iterable[str]) -> list[str]:
    """Choose the keys worth flipping beside `names`: near switches and the great ones."""
    above = {name[:at] for name in names for at in _dots(name)}
    beside = tuple(
        f"{name.rpartition('.')[0]}."
        for name in names
        if "." in name and name.rpartition(".")[2] in _SWITCHES
    )
    near = {
        name
        for name, (default, _) in toggles.items()
        if name.rpartition(".")[0] in above or (default is True and name.startswith(beside))
    }
    great = {name for name in effective if name.count(".") <= 1}
    return sorted((near | great) - names)


def _dots(name: str) -> Iterator[int]:
    return (at for at, letter in enumerate(name) if letter == ".")


def _pairs(
    toggles: Toggles, singles: Mapping[str, Rendered], subcharts: Mapping[str, str]
) -> Iterator[Assignment]:
    """Pair each switch that is off with the keys below it that are off as well."""
    off = [name for name, (default, _) in toggles.items() if not default]
    for switch in off:
        parent, _, leaf = switch.rpartition(".")
        if leaf not in _SWITCHES or not parent or toggles[switch][1] is not True:
            continue
        below = (f"{parent}.", f"{subcharts[switch]}." if switch in subcharts else f"{parent}.")
        for name in off:
            if name != switch and name.startswith(below) and singles[name] is not None:
                yield ((switch, True), (name, toggles[name][1]))


def _named_by(assignment: Assignment) -> str:
    return next((name for name, value in assignment if value == _SET), "")


def _scenario(values: Mapping[str, Json]) -> Assignment:
    return tuple(sorted(values.items()))


def toggles_of(
    chart: KnownChart, keys: Mapping[str, Object], extra: Mapping[str, Object]
) -> dict[str, tuple[Json, Json]]:
    """List the keys to flip: all booleans and what charts.yaml names, as `(default, flip)`."""
    found: dict[str, tuple[Json, Json]] = {}
    for name, entry in keys.items():
        if entry["type"] == "boolean" and name not in chart.ignored:
            found[name] = (entry["default"], not entry["default"])
    for name, entry in extra.items():
        if entry["type"] == "boolean" and "[]" not in name and name not in keys:
            found[name] = (None, True)
    for name, value in chart.toggles.items():
        found[name] = (keys.get(name, {}).get("default"), value)
    return found


def _entry(identity: Identity, conditions: set[Condition], defaults: Mapping[str, Json]) -> Object:
    entry: Object = {
        "group": identity.group,
        "kind": identity.kind,
        "name": identity.name,
        "namespace": identity.namespace,
    }
    if identity.hook:
        entry["hook"] = True
    least = [it for it in conditions if not any(other < it for other in conditions)]
    if frozenset() not in least:
        entry["when"] = [
            {name: _wanted(json.loads(value), defaults.get(name)) for name, value in sorted(it)}
            for it in sorted(least, key=sorted)
        ]
    return entry


def _wanted(value: Json, default: Json) -> Json:
    """Write a condition: an equal value, or any but the default where the value was made up."""
    made_up = value != default and not isinstance(value, bool)
    return {"not": default} if made_up else value


def _order(identity: Identity) -> tuple[str, ...]:
    return tuple(str(part) for part in identity)


def _marked(name: str, release: str) -> str:
    return name.replace(release, "{release}").replace(f"ns{_KEEP}", "{namespace}")


def _nested(assignment: Assignment) -> Object:
    tree: Object = {}
    for name, value in assignment:
        *parents, leaf = (str(part) for part in parse_path(name))
        at = tree
        for part in parents:
            below = at.setdefault(part, {})
            assert isinstance(below, dict)
            at = below
        at[leaf] = value
    return tree


def identify(chart: KnownChart, folder: Path, helm: Path) -> None:
    """Write the objects of an unpacked chart into its fact file."""
    kinds = read_yaml(Path(__file__).with_name("cluster_kinds.yaml"))["kinds"]
    facts = read_facts(chart.facts_file())
    keys = section(facts, "keys")
    toggles = toggles_of(chart, keys, section(read_facts(chart.extra_file()), "extra"))
    renderer = Renderer(chart=chart, folder=folder, helm=helm, cluster_kinds=kinds)
    defaults = {name: entry.get("default") for name, entry in keys.items()}
    facts["objects"] = [*discover(renderer, toggles, defaults)]
    chart.facts_file().write_text(dump_facts(facts), "utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Write identities of all charts found in a folder, or of one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--charts", type=Path, required=True, help="folder of unpacked charts")
    parser.add_argument("--only", help="one chart, as <chart>-<version>")
    parser.add_argument("--helm", type=Path, default=Path("helm"))
    options = parser.parse_args(arguments)
    for chart in known_charts():
        folder = options.charts / f"{chart.chart}-{chart.version}"
        if folder.exists() and options.only in (None, folder.name):
            identify(chart, folder, options.helm)
            print(f"identified {folder.name}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
