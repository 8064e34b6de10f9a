"""Files of a rendered tree and the folder that should hold them in, what stands there in groups out."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gitops_gen.render import LOCK

Names = tuple[str, ...]
"""Paths below the tree's folder, sorted."""

Group = Literal["missing", "unchanged", "changed", "taken", "stale", "hand_edited", "foreign"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """What stands in the folder of a tree, each path in one of the groups.

    Wanted: `missing`, `unchanged`, `changed`, and `taken`, which differs and was never ours. `stale` is
    ours and no longer wanted. `hand_edited` is ours, wanted or not, and differs from what we wrote and
    from what we want. `foreign` is the rest. Ours is what the lock of the last render lists.
    """

    missing: Names
    unchanged: Names
    changed: Names
    taken: Names
    stale: Names
    hand_edited: Names
    foreign: Names
    lock_readable: bool

    @property
    def settled(self) -> bool:
        """The folder is as it should be."""
        return not (self.missing or self.changed or self.taken or self.stale or self.hand_edited)


def take_inventory(files: Mapping[str, bytes], target: Path) -> Inventory:
    """Put every wanted path and every path below `target` into its group; a missing target is empty."""
    there = dict(_entries(target))
    ours = _digests(target) if there.get(LOCK) else {}
    groups: dict[Group, list[str]] = {}
    for path in {*files, *there}:
        group = _group(path, files.get(path), target, there.get(path), (ours or {}).get(path))
        groups.setdefault(group, []).append(path)
    named = {name: tuple(sorted(paths)) for name, paths in groups.items()}
    return Inventory(
        missing=named.get("missing", ()),
        unchanged=named.get("unchanged", ()),
        changed=named.get("changed", ()),
        taken=named.get("taken", ()),
        stale=named.get("stale", ()),
        hand_edited=named.get("hand_edited", ()),
        foreign=named.get("foreign", ()),
        lock_readable=ours is not None,
    )


def _group(path: str, wanted: bytes | None, target: Path, regular: bool | None, digest: str | None) -> Group:
    """Name the group of a path: `regular` is None if nothing stands there, `digest` is the old lock's."""
    if regular is None:
        return "missing"
    if wanted is None and digest is None:
        return "foreign"
    content = (target / path).read_bytes() if regular else None
    if wanted is not None and content == wanted:
        return "unchanged"
    if path == LOCK:
        return "changed"
    if digest is None:
        return "taken"
    if content is None or hashlib.sha256(content).hexdigest() != digest:
        return "hand_edited"
    return "stale" if wanted is None else "changed"


def _entries(folder: Path, prefix: str = "") -> Iterator[tuple[str, bool]]:
    """Yield every path below a folder that is no folder, and whether it is a regular file."""
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(folder / entry.name, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry.is_file(follow_symlinks=False)


def _digests(target: Path) -> dict[str, str] | None:
    """Return the digests of the files of the last render, None if the lock cannot be read."""
    try:
        lock = json.loads((target / LOCK).read_bytes())
    except (ValueError, RecursionError):
        return None
    files = lock.get("files") if isinstance(lock, dict) else None
    if not isinstance(files, dict) or not all(isinstance(digest, str) for digest in files.values()):
        return None
    return files
