"""Real `helm template` runs of an unpacked chart in; its objects and their conditions out.

Every boolean key, and those that charts.yaml names, is flipped alone and below the switch that it
depends on; an object's condition is the least set of values that makes it appear.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gitops_gen.maintain.charts import (
    KnownChart,
    dump_facts,
    known_charts,
    read_facts,
    read_yaml,
    section,
    subchart_switches,
)
from gitops_gen.maintain.renders import ANY_TEXT, Assignment, Identity, Rendered, Renderer
from gitops_gen.model import Json, Object
from gitops_gen.shell.command import find_helm

Condition = frozenset[tuple[str, str]]
Toggles = Mapping[str, tuple[Json, Json]]
_SWITCHES = frozenset({"enabled", "enable", "create", "deploy", "deployCR"})


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
    names = _tellable(start, _relevant({name for name, _ in start}, toggles, effective), toggles)
    gone = list(zip(start, fewer, strict=True))
    gone += [((name, toggles[name][0]), it) for name, it in _removers(renderer, start, new, names, toggles)]
    return {
        identity: _condition(
            pair for pair, found in gone if (pair in start if found is None else identity not in found)
        )
        for identity in new
    }


def _tellable(start: Assignment, names: list[str], toggles: Toggles) -> list[str]:
    """Leave out keys that would name objects by the same made-up text as `start` does."""
    if all(value != ANY_TEXT for _, value in start):
        return names
    return [name for name in names if toggles[name][1] != ANY_TEXT]


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
    """Choose the keys worth flipping beside `names`: near switches, the great ones, those of charts.yaml."""
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
    chosen = {name for name, (_, flip) in toggles.items() if not isinstance(flip, bool)}
    return sorted((near | great | chosen) - names)


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


def settled(entries: list[Object], real: Renderer) -> list[Object]:
    """Correct names that the longer release name had cut short, from renders with the real one."""
    made: set[Identity] = set()
    for assignment in {json.dumps(it): it for it in (_assignment(it, real.chart) for it in entries)}.values():
        made |= real.render(assignment) or set()
    told = {_as_made(entry, real.chart.release) for entry in entries}
    spare = sorted(made - told, key=_order)
    return [
        entry
        if (own := _as_made(entry, real.chart.release)) in made or _is_named(own)
        else {**entry, "name": _nearest(own, spare)}
        for entry in entries
    ]


def _as_made(entry: Object, release: str) -> Identity:
    namespace = entry["namespace"]
    return Identity(
        str(entry["group"]),
        str(entry["kind"]),
        str(entry["name"]).replace("{release}", release),
        None if namespace is None else str(namespace).replace("{release}", release),
        entry.get("hook") is True,
    )


def _nearest(own: Identity, spare: list[Identity]) -> str:
    """Choose the unclaimed object of that kind whose name begins most alike."""
    kin = [it.name for it in spare if it._replace(name=own.name) == own]
    return max(kin, key=lambda name: _alike(name, own.name))


def _alike(one: str, other: str) -> int:
    """Count the letters with which both begin."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(other))


def _is_named(identity: Identity) -> bool:
    """Say whether values or keys of the user stand in the name, which only the user can tell."""
    return any(mark in f"{identity.name} {identity.namespace}" for mark in ("{values.", "{keys."))


def _assignment(entry: Object, chart: KnownChart) -> Assignment:
    """Return values for which the chart makes the object."""
    alternatives = entry.get("when")
    first = alternatives[0] if isinstance(alternatives, list) else {}
    assert isinstance(first, dict)
    tried = {name: value for values in (*chart.scenarios, chart.toggles) for name, value in values.items()}
    return tuple(
        (name, tried.get(name, ANY_TEXT) if isinstance(it, dict) else it) for name, it in first.items()
    )


def _order(identity: Identity) -> tuple[str, ...]:
    return tuple(str(part) for part in identity)


def identify(chart: KnownChart, folder: Path, helm: tuple[str, ...]) -> None:
    """Write the objects of an unpacked chart into its fact file."""
    kinds = read_yaml(Path(__file__).with_name("cluster_kinds.yaml"))["kinds"]
    facts = read_facts(chart.facts_file())
    keys = section(facts, "keys")
    toggles = toggles_of(chart, keys, section(read_facts(chart.extra_file()), "extra"))
    renderer = Renderer(chart=chart, folder=folder, helm=helm, cluster_kinds=kinds)
    defaults = {name: entry.get("default") for name, entry in keys.items()}
    found = discover(renderer, toggles, defaults)
    real = Renderer(chart=chart, folder=folder, helm=helm, cluster_kinds=kinds, suffix="")
    facts["objects"] = [*settled(found, real)]
    chart.facts_file().write_text(dump_facts(facts), "utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Write identities of all charts found in a folder, or of one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--charts", type=Path, required=True, help="folder of unpacked charts")
    parser.add_argument("--only", help="one chart, as <chart>-<version>")
    options = parser.parse_args(arguments)
    for chart in known_charts():
        folder = options.charts / f"{chart.chart}-{chart.version}"
        if folder.exists() and options.only in (None, folder.name):
            identify(chart, folder, find_helm())
            print(f"identified {folder.name}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
