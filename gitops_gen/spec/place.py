"""A spec's file and name in, the places of its tree and lock out."""

from __future__ import annotations

from pathlib import PurePosixPath

LOCK = ".gitops-gen.lock"
SPEC_NAME = "cluster.yaml"


def default_path(source: str, name: str) -> str:
    """Return the tree's place for a spec file: `rendered` beside a `cluster.yaml`."""
    file = PurePosixPath(source)
    folder = file.parent if file.name == SPEC_NAME else file.parent / name
    return str(folder / "rendered")
