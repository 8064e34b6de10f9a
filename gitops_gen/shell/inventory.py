"""Files of a rendered tree and the folder that should hold them in, what stands there in groups out."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gitops_gen.spec.place import LOCK

Names = tuple[str, ...]
"""Paths below the tree's folder, sorted."""

_PART = 1 << 16
"""Bytes read at once: a shorter part is the last."""

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
    root = os.fspath(target)
    there = _entries(root)
    ours = _digests(root) if there.get(LOCK) else {}
    groups: dict[Group, list[str]] = {}
    for path in {*files, *there}:
        group = _group(path, files.get(path), root, there.get(path), (ours or {}).get(path))
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


def _group(path: str, wanted: bytes | None, root: str, regular: bool | None, digest: str | None) -> Group:
    """Name the group of a path: `regular` is None if nothing stands there, `digest` is the old lock's."""
    if regular is None:
        return "missing"
    if wanted is None and digest is None:
        return "foreign"
    content = read(f"{root}/{path}") if regular else None
    if wanted is not None and content == wanted:
        return "unchanged"
    if path == LOCK:
        return "changed"
    if digest is None:
        return "taken"
    if content is None or hashlib.sha256(content).hexdigest() != digest:
        return "hand_edited"
    return "stale" if wanted is None else "changed"


def read(path: str) -> bytes:
    """Return the bytes of a regular file, never those that a symlink leads to."""
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        content = part = os.read(opened, _PART)
        while len(part) == _PART:
            part = os.read(opened, _PART)
            content += part
        return content
    finally:
        os.close(opened)


def _entries(root: str) -> dict[str, bool]:
    """Return every path below a folder that is no folder, and whether it is a regular file."""
    found: dict[str, bool] = {}
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        with suppress(FileNotFoundError), os.scandir(f"{root}/{prefix}") as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{prefix}{entry.name}/")
                else:
                    found[prefix + entry.name] = entry.is_file(follow_symlinks=False)
    return found


def _digests(root: str) -> dict[str, str] | None:
    """Return the digests of the files of the last render, None if the lock cannot be read."""
    try:
        lock = json.loads(read(f"{root}/{LOCK}"))
    except (ValueError, RecursionError):
        return None
    files = lock.get("files") if isinstance(lock, dict) else None
    if not isinstance(files, dict) or not all(isinstance(digest, str) for digest in files.values()):
        return None
    return files
