"""Lower layers never import higher ones, and the pure ones import nothing that does I/O."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "gitops_gen"
LAYERS = (
    "diagnostics model",
    "mask traced emit prose spec.load spec.text spec.resolve spec.compose spec.syntax spec.source_map "
    "spec.extends spec.merge spec.tree spec.schema spec.explain spec.checker spec.failure spec.faults "
    "spec.wording spec.document spec.place",
    "catalog controller pools devices images spec.build spec.rules spec.versions",
    "components plan permitted namespaces secrets",
    "argocd ownership render readme report stages",
    "shell resources",
    "cli maintain",
)
"""Modules from the lowest layer to the highest; a name stands for everything below it, too."""
PURE = 5
IMPURE = (
    "asyncio concurrent datetime fcntl fileinput getpass glob http io multiprocessing os pathlib.Path "
    "platform random secrets shutil signal socket ssl subprocess sys tempfile threading time "
    "urllib.request uuid"
)


def layer(module: str) -> int:
    name = module.removeprefix("gitops_gen").removeprefix(".")
    found = [
        index
        for index, names in enumerate(LAYERS)
        for item in names.split()
        if f"{name}.".startswith(f"{item}.")
    ]
    assert found, f"{module} stands in no layer"
    return found[0]


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        if name not in ("__init__", "spec", "maintain", "cli", "shell"):
            yield name, path


def imports(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (item.name for item in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "a relative import hides its layer"
            yield str(node.module)
            yield from (f"{node.module}.{item.name}" for item in node.names)


def impure(source: str) -> list[str]:
    """What a source uses that touches disk, environment, clock, network, processes or chance."""
    used = [
        item
        for item in imports(source)
        if f"{item}.".startswith(tuple(f"{name}." for name in IMPURE.split()))
    ]
    calls = (node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    names = (item.id for item in calls if isinstance(item, ast.Name))
    return [*used, *(name for name in names if name in ("open", "input", "print", "__import__"))]


MODULES = [pytest.param(name, path, id=name) for name, path in modules()]


@pytest.mark.parametrize(("name", "path"), MODULES)
def test_module_imports_no_higher_layer(name: str, path: Path) -> None:
    if layer(name) < PURE:
        known = {module for module, _ in modules()}
        used = {item.removeprefix("gitops_gen.") for item in imports(path.read_text(encoding="utf-8"))}
        assert {item for item in used & known if layer(item) > layer(name)} == set()


@pytest.mark.parametrize(("name", "path"), MODULES)
def test_pure_module_does_no_io(name: str, path: Path) -> None:
    if layer(name) < PURE:
        assert impure(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(("name", "path"), MODULES)
def test_no_component_is_named_outside_its_folder(name: str, path: Path) -> None:
    if name.startswith(("components", "maintain")):
        return
    folders = [item.name for item in (PACKAGE / "components").iterdir() if item.is_dir()]
    theirs = tuple(f"gitops_gen.components.{folder}" for folder in folders)
    assert [item for item in imports(path.read_text(encoding="utf-8")) if item.startswith(theirs)] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import os.path", ["os.path"]),
        ("from os import environ", ["os", "os.environ"]),
        ("def f():\n    import time", ["time"]),
        ("from pathlib import Path", ["pathlib.Path"]),
        ("from pathlib import PurePosixPath", []),
        ("from urllib.parse import quote", []),
        ("import ostrich", []),
        ("open('x')", ["open"]),
    ],
)
def test_io_is_seen(source: str, found: list[str]) -> None:
    assert impure(source) == found
