"""The lock of a tree in, what it was made from and whether that still holds out.

Light on purpose: a run in which nothing changed imports no more than this.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from gitops_gen import __version__
from gitops_gen.diagnostics import SpecError
from gitops_gen.shell.exchange import interrupted, standing
from gitops_gen.shell.specs import Reader, SpecFile
from gitops_gen.spec.load import load_cluster, parse
from gitops_gen.spec.place import LOCK, default_path

_DIGEST = Path(__file__).parents[1] / "catalog" / "compiled.digest"


class LockedSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The digests of the files that a tree was made from."""

    files: Mapping[str, str] = {}


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """What a tree's lock says of its last render."""

    tool: str = ""
    catalogue: str = ""
    charts: Mapping[str, str] = {}
    spec: LockedSpec = LockedSpec()
    files: Mapping[str, str] = {}
    state: Mapping[str, Mapping[str, Any]] = {}


@cache
def catalogue_digest() -> str:
    """Return the digest of the compiled catalogue without loading it."""
    return _DIGEST.read_text(encoding="ascii").strip()


def read_lock(target: Path) -> Lock:
    """Return the lock of a tree, empty if there is none or if it is not what we write."""
    try:
        return msgspec.json.decode((standing(target) / LOCK).read_bytes(), type=Lock)
    except (OSError, ValueError, RecursionError):
        return Lock()


def current_tree(file: SpecFile, output: Path | None) -> Path | None:
    """Return the folder of the tree if nothing changed since it was rendered, else None."""
    try:
        loaded = load_cluster(file.source, Reader(file.repo_root))
    except SpecError:
        return None
    target = likely_target(loaded.data, file, output)
    return target if target is not None and is_current(file, target) else None


def is_current(file: SpecFile, target: Path) -> bool:
    """Say whether a tree was made from these very inputs and stands untouched.

    Decided by digests alone: spec files, tool, catalogue and every file of the tree.
    """
    lock = read_lock(target)
    return (
        lock.tool == __version__
        and lock.catalogue == catalogue_digest()
        and file.source in lock.spec.files
        and _unchanged(file.repo_root, lock.spec.files)
        and bool(lock.files)
        and not interrupted(target)
        and _unchanged(target, lock.files)
    )


def likely_target(data: object, file: SpecFile, output: Path | None) -> Path | None:
    """Guess the tree's folder before the spec is checked; None while it has no name."""
    match data:
        case {"metadata": {"name": str(name)}, "spec": {"gitops": {"path": str(path)}}} if output is None:
            return file.repo_root / path
        case {"metadata": {"name": str(name)}}:
            return file.repo_root / default_path(file.source, name) if output is None else output / name
    return None


def quick_look(file: SpecFile) -> tuple[str, Path] | None:
    """Return the name of a cluster and the folder of its tree without checks, None if it has none."""
    try:
        data = load_cluster(file.source, Reader(file.repo_root)).data
    except SpecError:
        return None
    target = likely_target(data, file, None)
    match data:
        case {"metadata": {"name": str(name)}} if target is not None:
            return name, target
    return None


def other_owner(file: SpecFile, lock: Lock) -> str | None:
    """Return the spec that a tree was made from, if that is another one and is still there."""
    sources = lock.spec.files
    if file.source in sources:
        return None
    return next((source for source in sources if _is_cluster(file.repo_root, source)), None)


def _is_cluster(repo_root: Path, source: str) -> bool:
    try:
        data = parse(Reader(repo_root)(source), source).data
    except (OSError, ValueError, SpecError):
        return False
    return isinstance(data, dict) and data.get("kind") == "Cluster"


def _unchanged(root: Path, digests: Mapping[str, str]) -> bool:
    try:
        return all(
            hashlib.sha256((root / path).read_bytes()).hexdigest() == digest
            for path, digest in digests.items()
        )
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return False
