"""A spec file in, its compiled plan and rendered tree out: the pure stages fed from the disk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gitops_gen import __version__
from gitops_gen.catalog.versions import Version
from gitops_gen.diagnostics import Diagnostic, SpecError
from gitops_gen.plan import State
from gitops_gen.render import LOCK, Inputs, render
from gitops_gen.resources import Resources, template
from gitops_gen.shell.exchange import interrupted, standing
from gitops_gen.shell.specs import Reader, SpecFile
from gitops_gen.spec.build import default_path
from gitops_gen.spec.load import load_cluster, parse
from gitops_gen.stages import Compiled, Knowledge, compile_cluster


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


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """One cluster, checked and planned; `inputs` are the digests of what it was made from."""

    file: SpecFile
    compiled: Compiled
    inputs: Inputs

    def tree(self) -> Mapping[str, bytes]:
        """Render every file of the tree, the lock included."""
        made = self.compiled
        rendered = render(made.plan, made.documents, self.inputs, template("tree-readme.md.j2"))
        return {path: text.encode() for path, text in rendered.files.items()}

    def target(self, output: Path | None) -> Path:
        """Return the folder of the tree: its place in the repository, or below `output`."""
        spec = self.compiled.plan.spec
        return self.boundary(output) / (spec.path if output is None else spec.name)

    def boundary(self, output: Path | None) -> Path:
        """Return the folder that the tree must not leave: the repository, or `output`."""
        return self.file.repo_root if output is None else output


def knowledge(known: Resources) -> Knowledge:
    """Return what the pure stages need of the resources."""
    return Knowledge(
        catalog=known.catalog, components=known.components, schema=known.schema, argocd=known.argocd
    )


def prepare(file: SpecFile, known: Resources, output: Path | None = None) -> Prepared:
    """Read, check and plan one cluster; SpecError with all faults of the first stage that has any.

    The state of the last render is read from the lock of the tree that will be written.
    """
    reader = Reader(file.repo_root)
    loaded = load_cluster(file.source, reader)
    previous = _previous(loaded.data, file, output)
    compiled = compile_cluster(loaded, file.source, knowledge(known), previous)
    inputs = Inputs(files=dict(sorted(reader.digests.items())), tool=__version__, catalog=known.digest)
    return Prepared(file=file, compiled=compiled, inputs=inputs)


def read_lock(target: Path) -> Lock:
    """Return the lock of a tree, empty if there is none or if it is not what we write."""
    try:
        return msgspec.json.decode((standing(target) / LOCK).read_bytes(), type=Lock)
    except (OSError, ValueError, RecursionError):
        return Lock()


def current_tree(file: SpecFile, output: Path | None, catalog: str) -> Path | None:
    """Return the folder of the tree if nothing changed since it was rendered, else None."""
    try:
        loaded = load_cluster(file.source, Reader(file.repo_root))
    except SpecError:
        return None
    target = _target(loaded.data, file, output)
    return target if target is not None and is_current(file, target, catalog) else None


def is_current(file: SpecFile, target: Path, catalog: str) -> bool:
    """Say whether a tree was made from these very inputs and stands untouched.

    Decided by digests alone: spec files, tool, catalogue and every file of the tree.
    """
    lock = read_lock(target)
    return (
        lock.tool == __version__
        and lock.catalogue == catalog
        and file.source in lock.spec.files
        and _unchanged(file.repo_root, lock.spec.files)
        and bool(lock.files)
        and not interrupted(target)
        and _unchanged(target, lock.files)
    )


def _unchanged(root: Path, digests: Mapping[str, str]) -> bool:
    try:
        return all(
            hashlib.sha256((root / path).read_bytes()).hexdigest() == digest
            for path, digest in digests.items()
        )
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return False


def _previous(data: object, file: SpecFile, output: Path | None) -> State:
    target = _target(data, file, output)
    lock = read_lock(target) if target is not None else Lock()
    if other_owner(file, lock) is not None:
        return {}
    charts = {f"charts.{name}": version for name, version in lock.charts.items() if _is_version(version)}
    return {**lock.state, "charts": charts}


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


def _is_version(text: str) -> bool:
    try:
        Version.parse(text)
    except ValueError:
        return False
    return True


def _target(data: object, file: SpecFile, output: Path | None) -> Path | None:
    """Guess the tree's folder before the spec is checked; None while it has no name."""
    match data:
        case {"metadata": {"name": str(name)}, "spec": {"gitops": {"path": str(path)}}} if output is None:
            return file.repo_root / path
        case {"metadata": {"name": str(name)}}:
            return file.repo_root / default_path(file.source, name) if output is None else output / name
    return None


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


def quick_look(file: SpecFile) -> tuple[str, Path] | None:
    """Return the name of a cluster and the folder of its tree without checks, None if it has none."""
    try:
        data = load_cluster(file.source, Reader(file.repo_root)).data
    except SpecError:
        return None
    target = _target(data, file, None)
    match data:
        case {"metadata": {"name": str(name)}} if target is not None:
            return name, target
    return None
