"""Where trees of clusters stand in, findings on trees that would stand in each other's way out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from gitops_gen.diagnostics import Diagnostic, Position, SpecError
from gitops_gen.shell.lock import other_owner, read_lock
from gitops_gen.shell.specs import SpecFile, display
from gitops_gen.spec.place import LOCK

_HINT = "give each cluster a folder of its own with gitops.path"


def name_collisions(names: Mapping[str, list[str]]) -> tuple[Diagnostic, ...]:
    """Return an error for each cluster name that stands in several specs.

    A name that ends in another cluster's `-root` or `-stack-…` collides, too: Applications and
    projects of both would have one name in one Argo CD.
    """
    found = [
        Diagnostic(
            code="cluster-name-collision",
            message=f'cluster name "{name}" stands in {len(files)} specs: {", ".join(files)}',
            hint="names of Applications start with the cluster's name: give each cluster its own",
        )
        for name, files in sorted(names.items())
        if len(files) > 1
    ]
    for name in sorted(names):
        for other in _taken_by(name, names):
            found.append(
                Diagnostic(
                    code="cluster-name-collision",
                    message=f'cluster name "{name}" is also what cluster "{other}" calls its own objects',
                    hint="rename one of the two clusters",
                )
            )
    return tuple(found)


def _taken_by(name: str, names: Iterable[str]) -> list[str]:
    known = set(names)
    head, root, _ = name.rpartition("-root")
    stack, middle, _ = name.partition("-stack-")
    candidates = [head if root and name.endswith("-root") else "", stack if middle else ""]
    return [item for item in candidates if item in known]


def place_collisions(places: Mapping[SpecFile, Path]) -> tuple[Diagnostic, ...]:
    """Return an error for each tree that has the folder of another one, or lies inside it."""
    owners: dict[Path, SpecFile] = {}
    found = []
    for file, folder in places.items():
        first = owners.setdefault(folder, file)
        if first is not file:
            found.append(_collision(file, f"the folder of its tree is that of {first.label}, too"))
    for file, folder in places.items():
        outer = next((owners[above] for above in folder.parents if above in owners), None)
        if outer is not None:
            found.append(_collision(file, f"its tree lies inside the tree of {outer.label}"))
    return tuple(found)


def refuse_taken(file: SpecFile, target: Path) -> None:
    """Raise SpecError if `target` holds the tree of another spec, lies in a tree, or a tree in it."""
    faults = [*_other_owner(file, target), *_around(target), *_below(target)]
    if faults:
        raise SpecError(faults)


def _collision(file: SpecFile, message: str) -> Diagnostic:
    position = Position(file=file.label, line=0, column=0)
    return Diagnostic(code="tree-collision", message=message, hint=_HINT, position=position)


def _other_owner(file: SpecFile, target: Path) -> Iterator[Diagnostic]:
    """Yield an error if the tree was made from another spec that is still there."""
    source = other_owner(file, read_lock(target))
    if source is not None:
        label = display(file.repo_root, source)
        hint = f"{_HINT}; if {file.label} takes its place, remove {label} first"
        yield _taken(target, f"this folder holds the tree of {label}", hint)


def _around(target: Path) -> Iterator[Diagnostic]:
    for above in target.absolute().parents:
        if (above / LOCK).is_file():
            yield _taken(target, f"this folder lies inside the tree {os.path.relpath(above)}", _HINT)


def _below(target: Path) -> Iterator[Diagnostic]:
    for folder, folders, files in os.walk(target):
        folders.sort()
        if LOCK in files and Path(folder) != target:
            yield _taken(target, f"another tree lies inside this folder: {os.path.relpath(folder)}", _HINT)


def _taken(target: Path, message: str, hint: str) -> Diagnostic:
    position = Position(file=os.path.relpath(target), line=0, column=0)
    return Diagnostic(code="tree-taken", message=message, hint=hint, position=position)
