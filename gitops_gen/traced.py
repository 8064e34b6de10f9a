"""Settings in, one traced document out: values that know where they come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from functools import lru_cache

from gitops_gen.diagnostics import Path
from gitops_gen.model import Json, Object, Origin, Setting, Traced

_PART = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)', re.DOTALL)
_ESCAPED, _TO_ESCAPE, _BACKSLASHED = re.compile(r"\\(.)", re.DOTALL), re.compile(r'(["\\])'), r"\\\1"
_PLAIN = re.compile(r"[A-Za-z0-9_-]+\Z")


@lru_cache(maxsize=16384)
def parse_path(text: str) -> Path:
    """Read a values path such as `a.b["x.y"][0]`; ValueError if it is not one."""
    parts: list[str | int] = []
    at = 0
    while at < len(text):
        if text[at] == "." and parts:
            at += 1
        found = _PART.match(text, at)
        if found is None:
            raise ValueError(f"not a values path: {text!r}")
        quoted, index, plain = found.groups()
        parts.append(int(index) if index is not None else plain or _ESCAPED.sub(r"\1", quoted))
        at = found.end()
    return tuple(parts)


def format_path(path: Path) -> str:
    """Write a path as `a.b["x.y"][0]`, the inverse of `parse_path`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN.match(part):
            text += f".{part}" if text else part
        else:
            text += f'["{_TO_ESCAPE.sub(_BACKSLASHED, part)}"]'
    return text


def put(path: str | Path, value: Json, *origins: Origin) -> Setting:
    """Set `path` to `value`; a path that ends in `[]` appends to the list there."""
    append = isinstance(path, str) and path.endswith("[]")
    parts = parse_path(path.removesuffix("[]")) if isinstance(path, str) else path
    return Setting(path=parts, value=value, origins=origins, append=append)


def collect(settings: Iterable[Setting]) -> Traced:
    """Merge settings in order: maps merge, everything else replaces, appends add one item."""
    data: Object = {}
    origins: dict[Path, tuple[Origin, ...]] = {}
    for setting in settings:
        parent = _parent(data, setting.path)
        key = setting.path[-1]
        assert isinstance(key, str)
        if setting.append:
            items = parent.setdefault(key, [])
            assert isinstance(items, list)
            items.append(deepcopy(setting.value))
            origins[(*setting.path, len(items) - 1)] = setting.origins
        else:
            for path, value in _leaves(setting.path, setting.value):
                _set(data, origins, path, value, setting.origins)
    return Traced(data=data, origins=origins)


def overlay(base: Traced, values: Mapping[str, Json], path: Path) -> Traced:
    """Merge a user's raw values over `base`; each leaf's origin is its place under `path`."""
    data = deepcopy(base.data)
    origins = dict(base.origins)
    for key, top in values.items():
        for leaf, value in _leaves((key,), top):
            own = (Origin(kind="spec", ref="", path=(*path, *leaf)),)
            _set(data, origins, leaf, value, own)
    return Traced(data=data, origins=origins)


def origins_of(traced: Traced, path: Path) -> tuple[Origin, ...]:
    """Return the origins of the part at `path`: its own, else its parent's, else its children's."""
    for size in range(len(path), 0, -1):
        found = traced.origins.get(path[:size])
        if found is not None:
            return found
    below = (item for key, item in traced.origins.items() if key[: len(path)] == path)
    return tuple(dict.fromkeys(origin for group in below for origin in group))


def _set(
    data: Object,
    origins: dict[Path, tuple[Origin, ...]],
    path: Path,
    value: Json,
    own: tuple[Origin, ...],
) -> None:
    parent = _parent(data, path)
    key = str(path[-1])
    if value == {} and isinstance(parent.get(key), dict):
        return
    _drop(origins, path)
    parent[key] = deepcopy(value)
    origins[path] = own


def _leaves(path: Path, value: Json) -> Iterator[tuple[Path, Json]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves((*path, key), item)
    elif path:
        yield path, value


def _parent(data: Object, path: Path) -> Object:
    at = data
    for part in path[:-1]:
        assert isinstance(part, str)
        below = at.get(part)
        if not isinstance(below, dict):
            below = {}
            at[part] = below
        at = below
    return at


def _drop(origins: dict[Path, tuple[Origin, ...]], path: Path) -> None:
    for known in [known for known in origins if known[: len(path)] == path]:
        del origins[known]
