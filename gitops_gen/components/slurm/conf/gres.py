"""Generic resources: `gpu:h100:8` in and out, and the lines of gres.conf checked.

Source: src/interfaces/gres.c of Slurm 26.05.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from gitops_gen.components.slurm.conf.grammar import Refusal, parse_count
from gitops_gen.components.slurm.conf.hostlist import expand
from gitops_gen.components.slurm.conf.table import Table, nearest
from gitops_gen.components.slurm.conf.words import fault, quoted, warning
from gitops_gen.components.slurm.finding import Finding

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_TYPE = re.compile(r"[A-Za-z0-9][-A-Za-z0-9_.]*")
_TOKEN = re.compile(r'([A-Za-z]+)=("[^"]*"|\S+)')
_HINT = "write <name>:<count> or <name>:<type>:<count>, such as gpu:h100:8"
_SHARED = ("shard", "mps")


class GresCount(msgspec.Struct, frozen=True, kw_only=True):
    """So many of one resource on a node; `type` is empty where it has none."""

    name: str
    type: str = ""
    count: int = 1
    no_consume: bool = False

    def __str__(self) -> str:
        parts = [self.name, self.type, "no_consume" if self.no_consume else "", str(self.count)]
        return ":".join(part for part in parts if part)


def parse_gres(text: str) -> GresCount | Refusal:
    """Return what one item of a node's `Gres` says; without a count there is one."""
    name, *rest = text.split(":")
    if not _NAME.fullmatch(name):
        return Refusal(reason=f'"{name}" is no name of a resource', hint=_HINT)
    counted = rest and rest[-1][:1].isdigit() and rest[-1][:1].isascii()
    count = parse_count(rest.pop()) if counted else 1
    if isinstance(count, Refusal):
        return count
    no_consume = bool(rest) and rest[-1].lower() == "no_consume"
    types = rest[:-1] if no_consume else rest
    if len(types) > 1 or not all(_TYPE.fullmatch(item) and not item[0].isdigit() for item in types):
        return Refusal(reason="it is no resource with a type and a count", hint=_HINT)
    return GresCount(name=name, type=types[0] if types else "", count=count, no_consume=no_consume)


def parse_gres_list(text: str) -> tuple[GresCount, ...] | Refusal:
    """Return the items of a node's `Gres`."""
    found = [parse_gres(item) for item in text.split(",")]
    refused = next((item for item in found if isinstance(item, Refusal)), None)
    return refused or tuple(item for item in found if isinstance(item, GresCount))


def check_gres_types(declared: Sequence[str], used: Mapping[str, Sequence[GresCount]]) -> Iterator[Finding]:
    """Yield what is wrong between `GresTypes` and the resources of each node set (S8)."""
    for name in _SHARED:
        if name in declared and "gpu" not in declared:
            yield fault(
                "slurm-gres-shared",
                f'"{name}" in GresTypes shares GPUs, but "gpu" is not in it',
                "add gpu to GresTypes",
            )
    for node_set, items in used.items():
        for name in dict.fromkeys(item.name for item in items):
            if name not in declared:
                yield fault(
                    "slurm-gres-types",
                    f'node set "{node_set}" has "{name}", which is not in GresTypes: Slurm ignores it',
                    f"add {name} to GresTypes",
                )


def check_gres_lines(
    table: Table, lines: Sequence[str], *, declared: Sequence[str], node_sets: int = 1
) -> Iterator[Finding]:
    """Yield what is wrong with lines of gres.conf, each at its index.

    `declared` are the names in GresTypes, `node_sets` how many kinds of nodes have resources.
    """
    seen: dict[tuple[str, str], bool] = {}
    for index, line in enumerate(lines):
        found = next(chain(_line(table, line, declared), _mixed(line, seen)), None)
        if found is not None:
            message = f"{quoted(line)}: {found.message}"
            yield msgspec.structs.replace(found, message=message, path=(index,))
        elif node_sets > 1 and not re.search(r"\bnodename=", line, re.IGNORECASE):
            yield warning(
                "slurm-gres-everywhere",
                f"{quoted(line)} has no NodeName, so that it counts on nodes of all {node_sets} node sets",
                "begin the line with NodeName=<node set>-[0-<last>]",
                index,
            )


def _line(table: Table, line: str, declared: Sequence[str]) -> Iterator[Finding]:
    if "#" in line or "\\" in line or "\n" in line:
        yield fault(
            "slurm-gres-line",
            "a line has no comment, no backslash and no break",
            "write one line of Key=Value",
        )
        return
    tokens = _TOKEN.findall(line)
    if not tokens or _TOKEN.sub("", line).strip():
        yield fault(
            "slurm-gres-line",
            "it is not made of Key=Value",
            "write such as NodeName=gpu-[0-3] Name=gpu Count=8",
        )
        return
    given = {key.lower(): value.strip('"') for key, value in tokens}
    yield from _keywords(table, tokens)
    yield from _values(table, given, declared)


def _mixed(line: str, seen: dict[tuple[str, str], bool]) -> Iterator[Finding]:
    """Yield a line that has a type where an earlier one of the same nodes has none, or the reverse."""
    given = {key.lower(): value for key, value in _TOKEN.findall(line)}
    name = given.get("name")
    if name is None:
        return
    typed = "type" in given
    if seen.setdefault((given.get("nodename", ""), name.lower()), typed) != typed:
        yield fault(
            "slurm-gres-mixed",
            f'an earlier line has "{name}" {"without" if typed else "with"} a type; slurmd does not start',
            "give each of them a type, or none",
        )


def _keywords(table: Table, tokens: Sequence[tuple[str, str]]) -> Iterator[Finding]:
    known = table.folded["gres"]
    for key, _ in tokens:
        if key.lower() not in known:
            near = nearest(key, tuple(table.scopes["gres"]))
            hint = f'did you mean "{near}"?' if near else f"known are {', '.join(table.scopes['gres'])}"
            yield fault("slurm-gres-line", f'"{key}" is no keyword of gres.conf', hint)
        elif known[key.lower()].state == "deprecated":
            row = known[key.lower()]
            yield fault("slurm-gres-line", f'"{row.name}" is deprecated', f"write {row.instead}")
    first = tokens[0][0].lower()
    if first not in ("name", "nodename", "autodetect"):
        yield fault(
            "slurm-gres-line",
            "it begins with none of NodeName, Name and AutoDetect",
            "put NodeName or Name first",
        )
    names = [key.lower() for key, _ in tokens]
    if len(set(names)) < len(names):
        yield fault("slurm-gres-line", "a keyword stands in it twice", "write each keyword once")


def _values(table: Table, given: Mapping[str, str], declared: Sequence[str]) -> Iterator[Finding]:
    detect, name = given.get("autodetect"), given.get("name")
    row = table.folded["gres"]["autodetect"]
    if detect is not None and detect.lower() not in row.values:
        yield fault(
            "slurm-gres-line",
            f'"{detect}" is no AutoDetect of Slurm {table.series}',
            f"write one of {', '.join(row.values)}",
        )
    if detect is not None and name is not None and "nodename" not in given:
        yield fault(
            "slurm-gres-line", "AutoDetect beside Name needs NodeName to take effect", "put NodeName first"
        )
    if detect is None and name is None:
        yield fault("slurm-gres-line", "it names no resource", "write Name=gpu, or AutoDetect=")
    if name is not None and name.lower() not in {item.lower() for item in declared}:
        yield fault(
            "slurm-gres-types",
            f'"{name}" is not in GresTypes, so that Slurm ignores the line',
            f"add {name} to GresTypes",
        )
    if "nodename" in given:
        hosts = expand(given["nodename"])
        if isinstance(hosts, Refusal):
            yield fault("slurm-gres-line", f"NodeName is no host list: {hosts.reason}", hosts.hint)
    yield from _devices(given)


def _devices(given: Mapping[str, str]) -> Iterator[Finding]:
    file = given.get("file")
    if file is not None and "multiplefiles" in given:
        yield fault("slurm-gres-line", "File and MultipleFiles exclude each other", "write one of them")
    flags = [item.lower() for item in given.get("flags", "").split(",")]
    if "no_gpu_env" in flags and any(item.endswith("_env") and item != "no_gpu_env" for item in flags):
        yield fault("slurm-gres-line", "no_gpu_env excludes the other env flags", "write one of them")
    count = parse_count(given["count"]) if "count" in given else None
    if isinstance(count, Refusal):
        yield fault("slurm-gres-line", f'Count="{given["count"]}" is not valid: {count.reason}', count.hint)
    elif count is not None and file is not None and given.get("name", "").lower() not in _SHARED:
        devices = expand(file.replace("/", "", 1).replace("/", "_"))
        if not isinstance(devices, Refusal) and len(devices) != count:
            yield fault(
                "slurm-gres-line",
                f"Count={count} differs from the {len(devices)} files",
                f"write Count={len(devices)}",
            )
