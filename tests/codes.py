"""The package's source in, the diagnostic codes that it can give out."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "gitops_gen"
ELSEWHERE = ("controller", "maintain")
"""Folders whose codes have tests of their own kind."""


def source_codes() -> dict[str, str]:
    """Return every code with the file that gives it."""
    trees = dict(_trees())
    takers = {name: place for tree in trees.values() for name, place in _takers(tree)}
    return {code: file for file, tree in trees.items() for code in _codes(tree, takers)}


def _trees() -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        relative = file.relative_to(PACKAGE)
        if relative.parts[0] not in ELSEWHERE:
            yield relative.as_posix(), ast.parse(file.read_text(encoding="utf-8"))


def _codes(tree: ast.Module, shared: Mapping[str, int]) -> Iterator[str]:
    """Yield the words given as `code`: to Diagnostic, or to a function that passes its own on."""
    constants = dict(_constants(tree))
    takers = {**shared, **dict(_takers(tree))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for value in _given(node, takers):
                yield from _words(value, constants)
        elif isinstance(node, ast.Assign) and any(_is_code(target) for target in node.targets):
            yield from _words(node.value, constants)


def _given(call: ast.Call, takers: Mapping[str, int]) -> Iterator[ast.expr]:
    yield from (item.value for item in call.keywords if item.arg == "code")
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in takers and takers[name] < len(call.args):
        yield call.args[takers[name]]


def _takers(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield functions that take a `code`, and classes whose `__init__` does, with its place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            inits = [item for item in node.body if isinstance(item, ast.FunctionDef)]
            for item in inits:
                if item.name == "__init__" and "code" in _parameters(item):
                    yield node.name, _parameters(item).index("code")
        elif isinstance(node, ast.FunctionDef) and "code" in _parameters(node):
            yield node.name, _parameters(node).index("code")


def _parameters(function: ast.FunctionDef) -> list[str]:
    names = [item.arg for item in function.args.args]
    return names[1:] if names[:1] == ["self"] else names


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value


def _is_code(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id == "code"


def _words(value: ast.expr, constants: Mapping[str, ast.expr]) -> Iterator[str]:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, ast.IfExp):
        yield from _words(value.body, constants)
        yield from _words(value.orelse, constants)
    elif isinstance(value, ast.Name) and value.id in constants:
        yield from _words(constants[value.id], {})
