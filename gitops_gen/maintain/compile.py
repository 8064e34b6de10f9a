"""Facts written for people (YAML) in; the JSON catalogue that ships and is read at run time out."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gitops_gen.maintain.charts import PACKAGE, HelmLoader
from gitops_gen.model import Json, Object

_NAME = re.compile(r"[a-z][A-Za-z0-9]*\Z")
_DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?\Z")
_TEXTS = ("name", "stack", "namespace", "version")
_SHAPE = frozenset((*_TEXTS, "versions", "charts", "requires"))
_STATES = ("current", "superseded", "known")


class FactsError(Exception):
    """Fact files that cannot be compiled; one sentence for each fault."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """The catalogue, and sentences on facts that name no source: fine to try, not to ship."""

    catalogue: Object
    unsourced: tuple[str, ...]


class _StrictLoader(HelmLoader):
    """Refuses a mapping that holds a key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [(key.tag, key.value) for key, _ in node.value]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise yaml.constructor.ConstructorError(None, None, f"key twice: {twice[1]}", node.start_mark)
        return super().construct_mapping(node, deep=deep)


def compile_catalogue(package: Path) -> Compiled:
    """Compile all facts below a package folder; FactsError lists everything that is wrong."""
    faults: list[str] = []
    files = sorted((package / "catalog/data").glob("*.yaml"))
    data = {file.stem: _read(file, package, faults) for file in files}
    components = dict(sorted(_components(package, faults)))
    base = package / "spec" / "schema.yaml"
    schema = _read(base, package, faults) if base.exists() else {}
    if faults:
        raise FactsError(faults)
    content: Object = {"components": {**components}, "data": {**data}, "schema": schema}
    missing = [f"catalog/data/{stem}.yaml: {it}" for stem in data for it in unsourced(data[stem])]
    for facts in components.values():
        own = {key: value for key, value in facts.items() if key not in (*_SHAPE, "package", "schema")}
        missing += (f"components/{facts['package']}/component.yaml: {it}" for it in unsourced(own))
    return Compiled(catalogue={**content, "digest": _digest(content, package)}, unsourced=tuple(missing))


def dump_catalogue(catalogue: Mapping[str, Json]) -> str:
    """Write the catalogue as JSON; facts keep the order in which people wrote them."""
    note = {"generated": "by python -m gitops_gen.maintain.compile, from the YAML facts"}
    return json.dumps({**note, **catalogue}, indent=1, ensure_ascii=False) + "\n"


def check_component(facts: Json, package: str) -> Iterator[str]:
    """Yield what is wrong with the shape of a `component.yaml`."""
    if not isinstance(facts, dict):
        yield "must be a mapping"
        return
    yield from (f"{key} must be text" for key in _TEXTS if not isinstance(facts.get(key), str))
    name = facts.get("name")
    if isinstance(name, str) and (not _NAME.match(name) or _snake(name) != package):
        yield f"name {name!r} does not belong to folder {package}"
    yield from _check_versions(facts.get("versions"), facts.get("version"))
    yield from _check_list(facts.get("charts"), "charts", ("name", "repository", "source", "checked"))
    yield from _check_list(facts.get("requires"), "requires", ("component", "reason"))


def _components(package: Path, faults: list[str]) -> Iterator[tuple[str, Object]]:
    for file in sorted(package.glob("components/*/component.yaml")):
        folder = file.parent.name
        facts = _read(file, package, faults)
        if facts is None:
            continue
        wrong = list(check_component(facts, folder))
        faults += (f"components/{folder}/component.yaml: {fault}" for fault in wrong)
        fragment = file.with_name("schema.yaml")
        if not fragment.exists():
            faults.append(f"components/{folder}: schema.yaml is missing")
        elif isinstance(facts, dict):
            schema = _read(fragment, package, faults)
            faults += (f"components/{folder}/schema.yaml: {it}" for it in _check_schema(schema))
            yield str(facts.get("name")), {"package": folder, **facts, "schema": schema}


def _check_versions(versions: object, default: Json) -> Iterator[str]:
    if not isinstance(versions, dict) or not versions:
        yield "versions must be a mapping of versions to facts"
        return
    if default not in versions:
        yield f"version {default} is not among versions"
    elif isinstance(chosen := versions[default], dict) and chosen.get("state") == "known":
        yield f"version {default} is known by name only: its chart is not catalogued"
    for version, facts in versions.items():
        where = f"versions.{version}"
        if not isinstance(version, str):
            yield f"{where} must be quoted"
        if not isinstance(facts, dict):
            yield f"{where} must be a mapping"
            continue
        if facts.get("state") not in _STATES:
            yield f"{where}.state must be one of {', '.join(_STATES)}"
        kubernetes = facts.get("kubernetes", {})
        if not isinstance(kubernetes, dict) or not all(
            isinstance(limit, str) for limit in kubernetes.values()
        ):
            yield f"{where}.kubernetes must hold min and max as quoted text"
        yield from _check_sourced(facts, where)


def _check_list(items: Json, where: str, keys: tuple[str, ...]) -> Iterator[str]:
    if not isinstance(items, list):
        yield f"{where} must be a list"
        return
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            yield f"{where}[{index}] must be a mapping"
            continue
        for key in keys:
            if not isinstance(item.get(key), str):
                yield f"{where}[{index}].{key} is missing"
        if "checked" in keys and isinstance(item.get("checked"), str):
            yield from _check_date(item["checked"], f"{where}[{index}]")


def unsourced(facts: Json) -> Iterator[str]:
    """Yield the blocks without source and date: their own, their entries' or the file's."""
    if not isinstance(facts, dict) or _is_sourced(facts):
        return
    for name, block in facts.items():
        entries = list(block.values()) if isinstance(block, dict) else block
        if not _is_sourced(block) and not (
            isinstance(entries, list) and entries and all(map(_is_sourced, entries))
        ):
            yield f"{name} names no source or no date (source: …, checked: 2026-12-01)"


def _is_sourced(block: Json) -> bool:
    return isinstance(block, dict) and not [*_check_sourced(block, "")]


def _check_sourced(block: Mapping[str, Json], where: str) -> Iterator[str]:
    if not block.get("source"):
        yield f"{where} names no source"
    yield from _check_date(block.get("checked"), where)


def _check_date(date: Json, where: str) -> Iterator[str]:
    if not isinstance(date, str) or not _DATE.match(date):
        yield f"{where}.checked must be a date such as 2026-12-01"


def _check_schema(schema: Json) -> Iterator[str]:
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield "must be a schema of type object"
        return
    if schema.get("additionalProperties") is not False:
        yield "must have additionalProperties: false"
    properties = schema.get("properties")
    for name, below in (properties if isinstance(properties, dict) else {}).items():
        if not isinstance(below, dict) or not (below.get("description") or "$ref" in below):
            yield f"property {name} has no description"


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def _read(file: Path, package: Path, faults: list[str]) -> Json:
    """Read one file; None, and a fault, where it is not YAML."""
    try:
        loaded: Json = yaml.load(file.read_bytes(), Loader=_StrictLoader)  # noqa: S506
    except yaml.MarkedYAMLError as err:
        line = f" in line {err.problem_mark.line + 1}" if err.problem_mark else ""
        faults.append(f"{file.relative_to(package).as_posix()}: {err.problem}{line}")
        return None
    return {} if loaded is None else loaded


def _digest(content: Mapping[str, Json], package: Path) -> str:
    """Hash everything that a render can depend on, chart facts included."""
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for file in sorted((package / "components").glob("*/upstream/*.json")):
        digest.update(f"{file.relative_to(package).as_posix()}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def outputs(catalogue: Mapping[str, Json], package: Path) -> dict[Path, str]:
    """Return the files to write with their text."""
    return {
        package / "catalog/compiled.json": dump_catalogue(catalogue),
        package / "catalog/compiled.digest": f"{catalogue['digest']}\n",
    }


def stale(files: Mapping[Path, str]) -> list[Path]:
    """Return the files whose text on disk is another."""
    return [it for it, text in files.items() if not it.exists() or it.read_text("utf-8") != text]


def main(arguments: list[str] | None = None, package: Path = PACKAGE) -> int:
    """Compile the catalogue, or with `--check` say what is stale or names no source."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 on any finding")
    options = parser.parse_args(arguments)
    try:
        compiled = compile_catalogue(package)
    except FactsError as err:
        print(err, file=sys.stderr)
        return 1
    files = outputs(compiled.catalogue, package)
    old = stale(files)
    findings = list(compiled.unsourced)
    if options.check:
        findings += (f"{file.name} is stale: run python -m gitops_gen.maintain.compile" for file in old)
    else:
        for file in old:
            file.write_text(files[file], "utf-8")
    print("".join(f"{line}\n" for line in findings), end="", file=sys.stderr)
    return 1 if options.check and findings else 0


if __name__ == "__main__":
    sys.exit(main())
