"""Options and programs of the whole test suite."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from gitops_gen.diagnostics import ToolError
from gitops_gen.shell.command import find_helm, find_kustomize


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-golden`, which rewrites expected files instead of comparing with them."""
    parser.addoption("--update-golden", action="store_true", help="rewrite expected files")


@pytest.fixture(scope="session")
def helm() -> tuple[str, ...]:
    """The real helm; in CI a missing one fails the test, elsewhere it skips with the reason."""
    return _found(find_helm)


@pytest.fixture(scope="session")
def kustomize() -> tuple[str, ...]:
    """The real kustomize, alone or inside kubectl; a missing one is treated as for helm."""
    return _found(find_kustomize)


def _found(find: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    try:
        return find()
    except ToolError as error:
        if os.environ.get("CI"):
            pytest.fail(f"{error} (`make tools` fetches one)")
        pytest.skip(f"{error} (`make tools` fetches one)")
