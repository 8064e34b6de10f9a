"""The catalogue's own files, read as people wrote them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from gitops_gen.catalog.accelerators import accelerators_from
from gitops_gen.model import Accelerator

DATA = Path(__file__).parents[1] / "gitops_gen/catalog/data"


@cache
def rows(name: str) -> dict[str, Any]:
    """Return one data file."""
    loaded: dict[str, Any] = yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))
    return loaded


def accelerator(name: str) -> Accelerator:
    """Return an accelerator by id."""
    return accelerators_from(rows("accelerators"))[name]


ACCELERATORS = tuple(accelerators_from(rows("accelerators")).values())
MIG_CAPABLE = tuple(item for item in ACCELERATORS if item.mig_profiles)
