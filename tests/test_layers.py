"""Lower layers never import higher ones, and the pure ones import nothing that does I/O."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "gitops_gen"
LAYERS = (
    ("diagnostics", "model"),
    ("mask", "traced", "emit", "prose", "spec.load", "spec.text", "spec.resolve", "spec.compose", "spec.syntax",
     "spec.source_map", "spec.extends", "spec.merge", "spec.tree", "spec.schema", "spec.explain",
     "spec.checker", "spec.failure", "spec.faults", "spec.wording", "spec.document"),
    ("catalog", "controller", "pools", "devices", "spec.build", "spec.rules", "spec.versions"),
    ("components", "plan", "namespaces", "secrets"),
    ("argocd", "render", "readme", "report", "stages"),
    ("shell", "resources"),
    ("cli", "maintain"),
)  # fmt: skip
PURE = 5
IMPURE = {"os", "subprocess", "socket", "time", "random", "tempfile", "shutil", "urllib.request", "threading"}


def layer(module: str) -> int:
    name = module.removeprefix("gitops_gen").removeprefix(".")
    found = [
        index for index, names in enumerate(LAYERS) for item in names if name == item or name.startswith(f"{item}.")
    ]
    assert found, f"{module} stands in no layer"
    return found[0]


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        if name not in ("__init__", "spec", "maintain", "cli", "shell"):
            yield name, path


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (item.name for item in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{item.name}" for item in node.names)


MODULES = [pytest.param(name, path, id=name) for name, path in modules()]


@pytest.mark.parametrize(("name", "path"), MODULES)
def test_module_imports_no_higher_layer(name: str, path: Path) -> None:
    own = layer(name)
    if own >= PURE:
        return
    ours = {item for item in imports(path) if item.startswith("gitops_gen.")}
    known = {module for module, _ in modules()}
    used = {item.removeprefix("gitops_gen.") for item in ours} & known
    assert {item for item in used if layer(item) > own} == set()


@pytest.mark.parametrize(("name", "path"), MODULES)
def test_pure_module_imports_nothing_that_does_io(name: str, path: Path) -> None:
    if layer(name) < PURE:
        assert set(imports(path)) & IMPURE == set()
        calls = [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open"
        ]
        assert calls == []


@pytest.mark.parametrize(("name", "path"), MODULES)
def test_no_component_is_named_outside_its_folder(name: str, path: Path) -> None:
    if name.startswith(("components", "maintain")):
        return
    components = {item.name for item in (PACKAGE / "components").iterdir() if item.is_dir()}
    assert not {item for item in imports(path) for folder in components if f"components.{folder}" in item}
