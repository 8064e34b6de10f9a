"""A chart's fact files and a user's values in; findings on keys and the objects made out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import cast

from gitops_gen.diagnostics import Diagnostic, Path, Severity
from gitops_gen.model import ChartKeys, Json, ObjectIdentity
from gitops_gen.traced import format_path, parse_path

_INDEX = re.compile(r"\[\d+\]")
_AMOUNT = re.compile(r"\d+(\.\d+)?(%|m|[KMGTP]i?)\Z")
_ITEM = "[]"
_BARE_ITEM = re.compile(r'(?<!")\[\](?!")')
_EACH = "*"
_KEYS = re.compile(r"\{keys\.([^{}]+)\}")
_MARK = re.compile(r"\{(?:values\.)?([^{}]+)\}")
_ANY = frozenset({"any", "null"})
_SCALARS = frozenset({"boolean", "integer", "number", "string"})
_WORDS: Mapping[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def chart_keys_from(data: Mapping[str, Json], extra: Mapping[str, Json]) -> ChartKeys:
    """Read a chart's derived facts (`data`) and those kept by hand (`extra`, may be empty)."""
    keys = _entries(data["keys"])
    more = _with_parents(_entries(extra.get("extra")), keys)
    objects = data.get("objects")
    assert isinstance(objects, list)
    return ChartKeys(
        chart=str(data["chart"]),
        version=str(data["version"]),
        keys=keys,
        extra=more,
        dead={path: str(entry["reason"]) for path, entry in _entries(extra.get("dead")).items()},
        open=frozenset(_entries(extra.get("open"))) | _free_maps({**keys, **more}, more),
        hints={path: str(entry["hint"]) for path, entry in _entries(extra.get("hints")).items()},
        objects=tuple(item for item in objects if isinstance(item, dict)),
    )


def check_values(values: Mapping[str, Json], keys: ChartKeys, path: Path) -> Iterator[Diagnostic]:
    """Check a values overlay that stands at `path` of the spec against the chart's known keys.

    Unknown keys and wrong shapes are errors, dead keys and mixed-up scalars warnings. `null`
    removes a default and is always allowed; below an open map everything is.

    An entry `like: other` in the facts has the keys of `other`, and `map.*` stands for each key of
    `map` that is not known by name; suggestions are written with the user's own key.
    """
    yield from _check_map(values, (), "", keys, path)


def chart_objects(
    keys: ChartKeys,
    values: Mapping[str, Json],
    release: str,
    namespace: str,
    *,
    possible: bool = False,
) -> tuple[ObjectIdentity, ...]:
    """Return the objects that the chart makes with `values` over its defaults.

    With `possible` also those that other values switch on, named as these values name them.
    """
    made = (item for item in keys.objects if possible or _holds_any(item.get("when"), keys, values))
    own = {"{release}": release, "{namespace}": namespace}
    named = (one for item in made for one in _each_named(item, values))
    return tuple(dict.fromkeys(_identity(item, own, keys, values) for item in named))


def _check_map(
    values: Mapping[str, Json], at: Path, name: str, keys: ChartKeys, root: Path
) -> Iterator[Diagnostic]:
    for key, value in values.items():
        yield from _check_value(value, (*at, key), _known_name(name, key, keys), keys, root)


def _check_value(value: Json, at: Path, name: str, keys: ChartKeys, root: Path) -> Iterator[Diagnostic]:
    """Check the value at `at`, whose key the facts call `name`."""
    entry = keys.extra.get(name) or keys.keys.get(name)
    if name in keys.dead:
        yield _dead(at, keys.dead[name], keys, root)
    elif entry is None:
        yield _unknown(at, name, keys, root)
    elif value is None:
        return
    elif (fault := _type_fault(value, entry)) is not None:
        yield _mistyped(value, at, entry, fault, keys.hints.get(name + _ITEM, ""), root)
    else:
        yield from _discouraged(value, at, entry, root)
        if name not in keys.open:
            yield from _check_below(value, at, name, keys, root)


def _check_below(value: Json, at: Path, name: str, keys: ChartKeys, root: Path) -> Iterator[Diagnostic]:
    if isinstance(value, dict):
        yield from _check_map(value, at, name, keys, root)
    elif isinstance(value, list) and name + _ITEM in keys.extra:
        for index, item in enumerate(value):
            if isinstance(item, dict):
                yield from _check_map(item, (*at, index), name + _ITEM, keys, root)


def _known_name(parent: str, key: str | int, keys: ChartKeys) -> str:
    """Return what the facts call the key of a map or list that they call `parent`."""
    if isinstance(key, int):
        return parent + _ITEM
    part = format_path((key,))
    name = f"{parent}.{part}" if parent and not part.startswith("[") else parent + part
    each = f"{parent}.{_EACH}"
    if each in keys.extra and name not in keys.extra and name not in keys.keys:
        name = each
    return str(keys.extra.get(name, {}).get("like", name))


# --- findings ----------------------------------------------------------------------------------


def _unknown(at: Path, name: str, keys: ChartKeys, root: Path) -> Diagnostic:
    return Diagnostic(
        code="unknown-values-key",
        message=(f'values key "{format_path(at)}" is not known to chart {keys.chart} {keys.version}'),
        path=(*root, *at),
        hint=_hint(at, name, keys),
        on_key=True,
    )


def _dead(at: Path, reason: str, keys: ChartKeys, root: Path) -> Diagnostic:
    return Diagnostic(
        code="dead-values-key",
        message=(
            f'values key "{format_path(at)}" has no effect in chart {keys.chart} {keys.version}: {reason}'
        ),
        severity=Severity.WARNING,
        path=(*root, *at),
        hint="remove it",
        on_key=True,
    )


def _discouraged(value: Json, at: Path, entry: Mapping[str, Json], root: Path) -> Iterator[Diagnostic]:
    against = entry.get("discouraged")
    if isinstance(value, str) and isinstance(against, dict) and value in against:
        yield Diagnostic(
            code="discouraged-value",
            severity=Severity.WARNING,
            message=f'values key "{format_path(at)}" should not be "{value}"',
            path=(*root, *at),
            hint=str(against[value]),
        )


def _mistyped(
    value: Json, at: Path, entry: Mapping[str, Json], fault: Severity, for_list: str, root: Path
) -> Diagnostic:
    expected = " or ".join(_types(entry))
    quote = isinstance(value, int | float) and expected == "string"
    return Diagnostic(
        code="values-type",
        message=f'values key "{format_path(at)}" must be {_article(expected)}, not {_shown(value)}',
        severity=fault,
        path=(*root, *at),
        hint=f"quote it: {_quoted(value)}" if quote else for_list if isinstance(value, list) else "",
    )


def _article(words: str) -> str:
    return f"an {words}" if words[0] in "aeiou" else f"a {words}"


def _shown(value: Json) -> str:
    if isinstance(value, list | dict):
        return _article(_WORDS[type(value)])
    return f"the {_WORDS[type(value)]} {_plain(value)}"


def _quoted(value: Json) -> str:
    return f'"{_plain(value)}"'


def _plain(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value!r}".replace("'", '"')


# --- types -------------------------------------------------------------------------------------


def _type_fault(value: Json, entry: Mapping[str, Json]) -> Severity | None:
    """Weigh a type that differs from the known ones; None when it is right or cannot be judged."""
    given = _WORDS[type(value)]
    known = _types(entry)
    if given in known or _ANY.intersection(known) or (given == "integer" and "number" in known):
        return None
    if given not in _SCALARS or not _SCALARS.intersection(known):
        return Severity.ERROR
    default = entry.get("default")
    if default == "" or (given != "boolean" and _AMOUNT.match(str(default)) is not None):
        return None
    return Severity.ERROR if "boolean" in (given, *known) else Severity.WARNING


def _types(entry: Mapping[str, Json]) -> tuple[str, ...]:
    known = entry.get("type")
    return tuple(str(item) for item in known) if isinstance(known, list) else (str(known),)


# --- hints -------------------------------------------------------------------------------------


def _hint(at: Path, name: str, keys: ChartKeys) -> str:
    """Say what to write instead; `{here}` in a hint of the facts is the map that the key stands in."""
    parts = _split(name)
    told = next((keys.hints[item] for item in _covering(parts) if item in keys.hints), None)
    if told is not None:
        return told.replace("{here}", format_path(at[:-1]))
    near = _nearest_sibling(parts, keys) or _same_leaf(parts, keys)
    return f'did you mean "{_as_written(near, at, keys)}"?' if near else ""


def _as_written(known: str, at: Path, keys: ChartKeys) -> str:
    """Write a known key below the user's own keys, where the facts call these otherwise."""
    name = ""
    for size, key in enumerate(at, start=1):
        name = _known_name(name, key, keys)
        own = _INDEX.sub(_ITEM, format_path(at[:size]))
        if name != own and known.startswith((f"{name}.", f"{name}[")):
            return own + known[len(name) :]
    return known


def _covering(parts: tuple[str, ...]) -> Iterator[str]:
    """Yield the names under which a hint may be written: `a.b`, `*.b`, `a`; longest first."""
    for size in range(len(parts), 0, -1):
        for start in range(size):
            yield _join(("*", *parts[start:size]) if start else parts[:size])


def _nearest_sibling(parts: tuple[str, ...], keys: ChartKeys) -> str | None:
    *parent, leaf = parts
    siblings = {_folded(other[-1]): other for other in _known(keys) if [*other[:-1]] == parent}
    found = get_close_matches(_folded(leaf), siblings, n=1, cutoff=0.75)
    return _join(siblings[found[0]]) if found else None


def _same_leaf(parts: tuple[str, ...], keys: ChartKeys) -> str | None:
    """Find the key of that name elsewhere which shares most of the path, then the shortest."""
    *parent, leaf = parts
    others = (other for other in _known(keys) if _folded(other[-1]) == _folded(leaf))
    best = min(others, key=lambda it: (-len({*it} & {*parent}), len(it), it), default=None)
    return _join(best) if best else None


def _known(keys: ChartKeys) -> Iterator[tuple[str, ...]]:
    names = (*keys.keys, *keys.extra)
    return (_split(name) for name in names if name not in keys.dead and not name.endswith(f".{_EACH}"))


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


# --- names -------------------------------------------------------------------------------------


@lru_cache(maxsize=16384)
def _split(name: str) -> tuple[str, ...]:
    """Split the name of a key; `[]` (any item of a list) is a part of its own."""
    return tuple(str(part) for part in parse_path(_BARE_ITEM.sub(f'["{_ITEM}"]', name)))


def _join(parts: Iterable[str]) -> str:
    return format_path(tuple(parts)).replace(f'["{_ITEM}"]', _ITEM).replace('["*"]', "*")


def _entries(section: Json) -> dict[str, Mapping[str, Json]]:
    entries = section if isinstance(section, dict) else {}
    return {name: entry for name, entry in entries.items() if isinstance(entry, dict)}


def _with_parents(
    extra: Mapping[str, Mapping[str, Json]], keys: Mapping[str, Mapping[str, Json]]
) -> dict[str, Mapping[str, Json]]:
    """Add the maps that lead to the extra keys, so that each of them is known as well."""
    found = dict(extra)
    for name in extra:
        if (parent := name.rpartition(".")[0]) in found or parent in keys or not parent:
            continue
        parts = _split(name)
        for size in range(1, len(parts)):
            above = _join(parts[:size])
            if above not in keys:
                found.setdefault(above, {"type": "array" if parts[size] == _ITEM else "object"})
    return found


def _free_maps(
    entries: Mapping[str, Mapping[str, Json]], extra: Mapping[str, Mapping[str, Json]]
) -> frozenset[str]:
    """Find the maps that are open, save those that recorded keys below them close."""
    closed = {name[:at] for name in extra for at, letter in enumerate(name) if letter == "."}
    free = (
        name
        for name, entry in entries.items()
        if entry.get("open") is True or entry.get("type") in ("any", "null")
    )
    return frozenset(free) - closed


# --- objects -----------------------------------------------------------------------------------


def _holds_any(alternatives: Json, keys: ChartKeys, values: Mapping[str, Json]) -> bool:
    """Say whether one of the conditions holds; without any, the object is always made."""
    if not isinstance(alternatives, list):
        return True
    return any(
        all(_holds(wanted, _effective(name, keys, values)) for name, wanted in condition.items())
        for condition in alternatives
        if isinstance(condition, dict)
    )


def _holds(wanted: Json, found: Json) -> bool:
    if isinstance(wanted, dict) and "not" in wanted:
        return found != wanted["not"]
    return found == wanted


def _effective(name: str, keys: ChartKeys, values: Mapping[str, Json]) -> Json:
    at: object = values
    for part in _split(name):
        if not isinstance(at, dict) or part not in at:
            return keys.keys.get(name, {}).get("default")
        at = at[part]
    return cast(Json, at)


def _each_named(item: Mapping[str, Json], values: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    """Yield the object once for each of the user's keys where its name holds `{keys.<map>}`."""
    mark = _KEYS.search(str(item["name"]))
    if mark is None:
        yield item
        return
    below: object = values
    for part in _split(mark[1]):
        below = below.get(part) if isinstance(below, dict) else None
    for key, value in (below if isinstance(below, dict) else {}).items():
        if value is not None and not (isinstance(value, dict) and value.get("enabled") is False):
            yield {**item, "name": str(item["name"]).replace(mark[0], key)}


def _identity(
    item: Mapping[str, Json], own: Mapping[str, str], keys: ChartKeys, values: Mapping[str, Json]
) -> ObjectIdentity:
    def fill(text: Json) -> str:
        return _MARK.sub(lambda mark: own.get(mark[0]) or str(_effective(mark[1], keys, values)), str(text))

    return ObjectIdentity(
        group=str(item["group"]),
        kind=str(item["kind"]),
        name=fill(item["name"]),
        namespace=None if item.get("namespace") is None else fill(item["namespace"]),
        hook=item.get("hook") is True,
    )
