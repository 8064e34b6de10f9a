"""A spec file in, its compiled plan and rendered tree out: the pure stages fed from the disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from gitops_gen import __version__
from gitops_gen.catalog.versions import Version
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.plan import State
from gitops_gen.render import Inputs, render
from gitops_gen.resources import Resources, chart_files, template
from gitops_gen.shell.lock import Lock, likely_target, other_owner, read_lock
from gitops_gen.shell.specs import Reader, SpecFile
from gitops_gen.spec.load import load_cluster, parse
from gitops_gen.stages import Compiled, Knowledge, check_base, compile_cluster


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """One cluster, checked and planned; `inputs` are the digests of what it was made from."""

    file: SpecFile
    compiled: Compiled
    inputs: Inputs

    def tree(self) -> Mapping[str, bytes]:
        """Render every file of the tree, the lock included."""
        made = self.compiled
        readme = template("tree-readme.md.j2")
        rendered = render(made.plan, made.documents, self.inputs, readme, chart_files)
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


def base_findings(file: SpecFile, known: Resources) -> tuple[Diagnostic, ...] | None:
    """Return the faults of a ClusterBase by itself, None for any other document."""
    loaded = parse(Reader(file.repo_root)(file.source), file.source)
    is_base = isinstance(loaded.data, dict) and loaded.data.get("kind") == "ClusterBase"
    return check_base(loaded, knowledge(known)) if is_base else None


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


def _previous(data: object, file: SpecFile, output: Path | None) -> State:
    target = likely_target(data, file, output)
    lock = read_lock(target) if target is not None else Lock()
    if other_owner(file, lock) is not None:
        return {}
    charts = {f"charts.{name}": version for name, version in lock.charts.items() if _is_version(version)}
    return {**lock.state, "charts": charts}


def _is_version(text: str) -> bool:
    try:
        Version.parse(text)
    except ValueError:
        return False
    return True
