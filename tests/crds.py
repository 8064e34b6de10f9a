"""Upstream's CRDs beside the checkout, as schemas that refuse unknown fields as a strict API server does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

UPSTREAM = Path(__file__).resolve().parents[2] / "shared" / "upstream"
needs_upstream = pytest.mark.skipif(
    not UPSTREAM.is_dir(), reason="upstream's CRDs are not beside the checkout"
)


@cache
def crds(*folders: str) -> Mapping[tuple[str, str], Any]:
    """Return the schema of each served `(apiVersion, kind)` of the CRDs below the folders."""
    return {
        (f"{crd['spec']['group']}/{version['name']}", crd["spec"]["names"]["kind"]): strict(version)
        for crd in _documents(folders)
        for version in crd["spec"]["versions"]
        if version["served"]
    }


def faults(document: Any, schema: Any) -> list[str]:
    """Return what the schema has against a document."""
    found = jsonschema.Draft202012Validator(schema).iter_errors(document)
    return [f"{item.json_path}: {item.message}" for item in found]


def strict(version: Any) -> Any:
    """Return a version's schema with unknown fields refused; metadata is the API server's business."""
    schema = deepcopy(version["schema"]["openAPIV3Schema"])
    schema["properties"] |= {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
    }
    pending = [schema]
    while pending:
        item = pending.pop()
        if item.pop("x-kubernetes-int-or-string", False):
            item.pop("anyOf", None)
            item["type"] = ["integer", "string"]
        if "properties" in item and not item.get("x-kubernetes-preserve-unknown-fields"):
            item.setdefault("additionalProperties", False)
        pending += list(item.get("properties", {}).values())
        below = (item.get("items"), item.get("additionalProperties"))
        pending += [value for value in below if isinstance(value, dict)]
    return schema


def crd_files(folder: Path) -> list[Path]:
    """Return the files with CRDs in the folder of a chart; a chart of CRDs holds nothing else."""
    patterns = ("*.yaml",) if folder.parent.name.endswith("-crds") else ("*crd*.yaml", "crds/*.yaml")
    return sorted({file for pattern in patterns for file in folder.rglob(pattern)})


def _documents(folders: tuple[str, ...]) -> Iterator[Any]:
    for folder in folders:
        files = crd_files(UPSTREAM / folder)
        assert files, folder
        for file in files:
            loaded = yaml.load_all(file.read_bytes(), Loader=yaml.CSafeLoader)
            yield from (item for item in loaded if item and item["kind"] == "CustomResourceDefinition")
