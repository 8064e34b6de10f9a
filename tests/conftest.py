"""Options of the whole test suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-golden`, which rewrites expected files instead of comparing with them."""
    parser.addoption("--update-golden", action="store_true", help="rewrite expected files")
