"""Files of a rendered tree in, a folder that holds them out, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from gitops_gen.diagnostics import Diagnostic, Position, SpecError, ToolError
from gitops_gen.shell.exchange import Disk, Workplace, interrupted, standing, workplace
from gitops_gen.shell.inventory import Inventory, Names, read, take_inventory
from gitops_gen.spec.place import LOCK


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a write did; `foreign` files were never ours and were left alone."""

    created: Names
    changed: Names
    removed: Names
    unchanged: Names
    foreign: Names


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """How a folder differs from what would be written; `foreign` is no difference."""

    missing: Names
    differing: Names
    stale: Names
    hand_edited: Names
    foreign: Names


def write_tree(
    files: Mapping[str, bytes],
    target: Path,
    *,
    force: bool = False,
    inside: Path | None = None,
    disk: Disk | None = None,
) -> Written:
    """Make `target` hold exactly `files`, and whatever else is in it that we never wrote.

    `files` maps paths below the target to bytes and includes the lock. Nothing is touched if nothing
    changed. SpecError if a file was edited by hand, is not ours, or the lock cannot be read, unless
    `force`; also if a symlink stands in the way, below `inside` too. ToolError if the disk fails.
    """
    _check_paths(files)
    with _disk_faults(target):
        _refuse_links(target, inside)
        if _locked_alike(files, target) and not interrupted(target):
            with suppress(FileNotFoundError):  # another run replaces the tree while we look
                found = take_inventory(files, target)
                if found.settled:
                    return _written(found, files)
        with workplace(target, disk or Disk()) as place:
            found = take_inventory(files, target)
            _refuse(found, files, target, force)
            if not found.settled:
                _build(found, files, place)
                place.put_in_place()
    return _written(found, files)


def compare_tree(files: Mapping[str, bytes], target: Path, *, inside: Path | None = None) -> Compared:
    """Say how `target` differs from `files`; reads only. SpecError if the target is no folder."""
    _check_paths(files)
    with _disk_faults(target):
        _refuse_links(target, inside)
        found = take_inventory(files, standing(target))
    return Compared(
        missing=found.missing,
        differing=tuple(sorted((*found.changed, *found.taken))),
        stale=found.stale,
        hand_edited=found.hand_edited,
        foreign=found.foreign,
    )


def _locked_alike(files: Mapping[str, bytes], target: Path) -> bool:
    """Say whether the last render made the same files: a cheap look before the long one."""
    try:
        return read(os.fspath(target / LOCK)) == files.get(LOCK)
    except OSError:
        return False


def _written(found: Inventory, files: Mapping[str, bytes]) -> Written:
    edited = {path: path in files for path in found.hand_edited}
    return Written(
        created=found.missing,
        changed=tuple(sorted((*found.changed, *found.taken, *(path for path in edited if edited[path])))),
        removed=tuple(sorted((*found.stale, *(path for path in edited if not edited[path])))),
        unchanged=found.unchanged,
        foreign=found.foreign,
    )


def _check_paths(files: Mapping[str, bytes]) -> None:
    """Raise ValueError if a path is not a plain one below the target: that would be a bug of ours."""
    for path in files:
        if not {"", ".", ".."}.isdisjoint(path.split("/")) or "\0" in path:
            raise ValueError(f"not a path below the tree: {path!r}")
    twice = _folders_of(files) & files.keys()
    if twice:
        raise ValueError(f"a file and a folder have one path: {min(twice)!r}")


def _refuse_links(target: Path, inside: Path | None) -> None:
    """Refuse a target that is no folder, or that a symlink below `inside` leads to."""
    above = [item for item in target.parents if inside in item.parents] if inside is not None else []
    for folder in (*reversed(above), target):
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise SpecError((_no_folder(folder),))


def _refuse(found: Inventory, files: Mapping[str, bytes], target: Path, force: bool) -> None:
    """Raise SpecError with everything that must not be overwritten; `force` lets files go, never folders."""
    faults = list(_in_the_way(found, files, target))
    if not force:
        faults += _protected(found, target)
    if faults:
        raise SpecError(sorted(faults, key=lambda item: item.position.file if item.position else ""))


def _protected(found: Inventory, target: Path) -> Iterator[Diagnostic]:
    if not found.lock_readable:
        yield _refusal(
            "broken-lock",
            target / LOCK,
            "the lock of the last render cannot be read, so nobody can tell which files were edited by hand",
            "restore it from Git, or overwrite the tree with `--force`",
        )
        return
    for path in found.hand_edited:
        yield _refusal(
            "hand-edited-file",
            target / path,
            "this file was edited by hand since the last render",
            "say it in the spec instead and undo the edit, or overwrite the file with `--force`",
        )
    for path in found.taken:
        yield _refusal(
            "foreign-file",
            target / path,
            "this file was not written by gitops-gen, and its place is needed",
            "move it elsewhere, or overwrite it with `--force`",
        )


def _in_the_way(found: Inventory, files: Mapping[str, bytes], target: Path) -> Iterator[Diagnostic]:
    """Yield what keeps a file from its place: files or symlinks for folders, folders for files."""
    folders = _folders_of(files)
    for path in found.foreign:
        if path in folders:
            yield _no_folder(target / path)
        elif _folders_of((path,)) & files.keys():
            yield _refusal(
                "foreign-file",
                target / path,
                "this file was not written by gitops-gen, and its folder stands where a file belongs",
                "move it elsewhere",
            )


def _no_folder(path: Path) -> Diagnostic:
    return _refusal(
        "tree-not-a-folder",
        path,
        f"a folder belongs here, not a {'symlink' if path.is_symlink() else 'file'}",
        "move it elsewhere: gitops-gen writes into real folders only",
    )


def _refusal(code: str, path: Path, message: str, hint: str) -> Diagnostic:
    position = Position(file=os.path.relpath(path), line=0, column=0)
    return Diagnostic(code=code, message=message, hint=hint, position=position)


def _build(found: Inventory, files: Mapping[str, bytes], place: Workplace) -> None:
    """Fill the new folder: what stays is carried over, what is new or differs is written."""
    kept = (*found.unchanged, *found.foreign)
    disk, old, new = place.disk, os.fspath(place.target), os.fspath(place.new)
    disk.make_folder(new, old)
    for folder in sorted(_folders_of((*files, *kept))):
        disk.make_folder(f"{new}/{folder}", f"{old}/{folder}")
    for path in kept:
        disk.carry(f"{old}/{path}", f"{new}/{path}")
    for path in sorted(files.keys() - set(kept)):
        disk.write(f"{new}/{path}", files[path])


def _folders_of(paths: Mapping[str, bytes] | Names) -> set[str]:
    """Return every folder that the paths need, the tree's own left out."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


@contextmanager
def _disk_faults(target: Path) -> Iterator[None]:
    """Turn what the disk refuses into a ToolError that names the file."""
    try:
        yield
    except OSError as error:
        at = error.filename or target
        raise ToolError(f"{target} cannot be written or compared: {at}: {error.strerror or error}") from error
