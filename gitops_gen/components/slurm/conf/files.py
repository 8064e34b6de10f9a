"""topology.yaml, plugstack.conf and job_submit.lua in, what their readers would refuse out.

Source: topology.yaml(5) of the series; src/common/spank.c and src/plugins/job_submit/lua of Slurm 26.05.3.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gitops_gen.components.slurm.conf.grammar import Refusal
from gitops_gen.components.slurm.conf.hostlist import expand
from gitops_gen.components.slurm.conf.inputs import Inputs
from gitops_gen.components.slurm.conf.table import nearest
from gitops_gen.components.slurm.conf.text import text_of
from gitops_gen.components.slurm.conf.words import fault, listed, quoted, warning
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.diagnostics import Path

_LUA = ("slurm_job_submit", "slurm_job_modify")
_OPTIONS = ("required", "optional", "include")
_TOPOLOGY = "slurm-topology"


def file_findings(inputs: Inputs) -> Iterator[Finding]:
    """Yield what is wrong with files that Slurm reads by rules of their own."""
    yield from _topologies(inputs)
    yield from _partition_topologies(inputs)
    yield from _plugstack(inputs)
    yield from _lua(inputs)


def _topologies(inputs: Inputs) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for index, item in enumerate(inputs.settings.topology):
        path: Path = ("topology", index)
        name = item.get("topology")
        if not isinstance(name, str) or not name:
            yield fault(_TOPOLOGY, "a topology needs a name", "write `topology: <name>`", *path, "topology")
        elif first.setdefault(name, index) != index:
            yield fault(
                _TOPOLOGY, f"{quoted(name)} is a topology already", "give it another name", *path, "topology"
            )
        default = item.get("cluster_default", False)
        if not isinstance(default, bool):
            yield fault(_TOPOLOGY, "cluster_default is true or false", "write one", *path, "cluster_default")
        yield from _kind(inputs, item, path)


def _kind(inputs: Inputs, item: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    shapes = inputs.table.topology
    unknown = [key for key in item if key not in ("topology", "cluster_default", *shapes)]
    for key in unknown:
        near = nearest(key, ("cluster_default", *shapes))
        hint = f'did you mean "{near}"?' if near else f"kinds are {listed(shapes, 'and')}"
        what = f"Slurm {inputs.table.series} has no {quoted(key)} of a topology"
        yield fault(_TOPOLOGY, what, hint, *path, key, on_key=True)
    kinds = [key for key in item if key in shapes and item[key] is not False]
    if len(kinds) != 1 and not unknown:
        said = f"{listed(kinds, 'and')} exclude each other" if kinds else "a topology needs a kind"
        yield fault(_TOPOLOGY, said, f"write one of {listed(shapes)}", *path, on_key=True)
    for kind in kinds:
        yield from _shape(shapes[kind], item[kind], (*path, kind))


def _shape(shape: Any, value: Any, path: Path) -> Iterator[Finding]:
    if isinstance(shape, Mapping):
        if value is True and all(key.endswith("?") for key in shape):
            return
        if isinstance(value, Mapping):
            yield from _mapping(shape, value, path)
        else:
            keys = [key.rstrip("?") for key in shape]
            hint = f"write {path[-1]}: {{{', '.join(f'{key}: …' for key in keys)}}}"
            yield fault(_TOPOLOGY, f"{path[-1]} is a mapping of {listed(keys, 'and')}", hint, *path)
    elif isinstance(shape, Sequence) and not isinstance(shape, str):
        if not isinstance(value, list) or not value:
            yield fault(_TOPOLOGY, f"{path[-1]} is a list of items", "begin each item with a dash", *path)
            return
        for index, entry in enumerate(value):
            yield from _shape(shape[0], entry, (*path, index))
        yield from _repeated(shape[0], value, path)
    else:
        yield from _scalar(shape, value, path)


def _mapping(shape: Mapping[str, Any], value: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    known = {key.rstrip("?"): inner for key, inner in shape.items()}
    unknown = [key for key in value if key not in known]
    for key in unknown:
        near = nearest(str(key), tuple(known))
        hint = f'did you mean "{near}"?' if near else f"keys are {listed(known, 'and')}"
        yield fault(_TOPOLOGY, f"{quoted(str(key))} is no key here", hint, *path, key, on_key=True)
    for key, inner in known.items():
        if key in value:
            yield from _shape(inner, value[key], (*path, key))
        elif key in shape and not unknown:
            yield fault(_TOPOLOGY, f'"{key}" is missing', f"add `{key}`", *path)


def _repeated(shape: Any, items: Sequence[Any], path: Path) -> Iterator[Finding]:
    key = next((key for key, inner in shape.items() if inner == "name"), None)
    if key is None:
        return
    names = [item.get(key) if isinstance(item, Mapping) else None for item in items]
    for index, name in enumerate(names):
        if name is not None and name in names[:index]:
            yield fault(
                _TOPOLOGY, f"{quoted(str(name))} stands here twice", "give it another name", *path, index, key
            )


def _scalar(shape: str, value: Any, path: Path) -> Iterator[Finding]:
    fits = {
        "flag": isinstance(value, bool),
        "number": _is_count(value),
        "numbers": isinstance(value, list) and bool(value) and all(_is_count(item) for item in value),
    }.get(shape, isinstance(value, str) and bool(value))
    if not fits:
        what = {
            "flag": "true or false",
            "number": "a whole number",
            "numbers": "a list of whole numbers",
            "hosts": "a host list such as h100-[0-7]",
            "name": "a name",
        }[shape]
        yield fault(_TOPOLOGY, f"{path[-1]} is {what}", f"write {what}", *path)
        return
    hosts = expand(value) if shape == "hosts" else None
    if isinstance(hosts, Refusal):
        yield fault(_TOPOLOGY, f"{quoted(value)} is no host list: {hosts.reason}", hosts.hint, *path)
    if shape == "numbers":
        yield from _steps(value, path)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _steps(sizes: Sequence[int], path: Path) -> Iterator[Finding]:
    for index, (low, high) in enumerate(itertools.pairwise(sizes), 1):
        factor = high // low if low and high % low == 0 else 0
        if factor < 2 or factor & (factor - 1):
            yield fault(
                _TOPOLOGY,
                f"{high} is not {low} times a power of two",
                f"write such as {2 * low or 2}",
                *path,
                index,
            )


def _partition_topologies(inputs: Inputs) -> Iterator[Finding]:
    names = tuple(str(item.get("topology")) for item in inputs.settings.topology)
    for index, partition in enumerate(inputs.settings.partitions):
        for key, value in partition.config.items():
            name = text_of(value)
            if key.lower() == "topology" and name not in names:
                hint = f"write {listed(names)}" if names else "describe it under `topology`"
                yield fault(
                    _TOPOLOGY,
                    f"there is no topology {quoted(name)}",
                    hint,
                    "partitions",
                    index,
                    "config",
                    key,
                )


def _plugstack(inputs: Inputs) -> Iterator[Finding]:
    for index, line in enumerate(inputs.settings.plugstack):
        words = line.partition("#")[0].split()
        path: Path = ("plugstack", index)
        if "\n" in line or "\r" in line:
            yield fault("slurm-plugstack", "an item is one line", "write one item a line", *path)
        elif not words:
            continue
        elif words[0] not in _OPTIONS:
            yield fault(
                "slurm-plugstack",
                f"{quoted(words[0])} begins no line of plugstack.conf",
                "write required <plugin.so>, optional <plugin.so> or include <files>",
                *path,
            )
        elif len(words) == 1:
            yield fault("slurm-plugstack", f'nothing follows "{words[0]}"', "name the plugin's file", *path)
        elif words[0] == "required":
            yield warning(
                "slurm-plugstack-required",
                f"{words[1]} must be in the images of slurmctld, slurmd and logins, or their commands fail",
                "write optional, or an include with a glob, where only some images have it",
                *path,
            )


def _lua(inputs: Inputs) -> Iterator[Finding]:
    text = inputs.settings.job_submit_lua
    if text is None:
        return
    code = re.sub(r"--\[(=*)\[.*?\]\1\]|--[^\n]*", "", text, flags=re.DOTALL)
    missing = [name for name in _LUA if not re.search(rf"function\s+{name}\b|\b{name}\s*=[^=]", code)]
    if missing:
        yield fault(
            "slurm-job-submit",
            f"the script does not define {listed(missing, 'and')}; slurmctld stops",
            f"write function {missing[0]}(…) … return slurm.SUCCESS end",
            "jobSubmitLua",
        )
