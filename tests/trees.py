"""The specs whose trees are committed, and their trees rendered once per test process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gitops_gen.render import own_charts
from gitops_gen.resources import resources
from gitops_gen.shell.cluster import Prepared, prepare
from gitops_gen.shell.specs import SpecFile

ROOT = Path(__file__).parents[1]
LOCK = ".gitops-gen.lock"


@dataclass(frozen=True)
class Case:
    """One spec with the folder of its golden tree; a case's tree is compared without its lock."""

    spec: SpecFile
    golden: Path
    whole: bool

    @property
    def name(self) -> str:
        """The case as pytest prints it."""
        return str(self.golden.parent.relative_to(ROOT))


def cases() -> list[Case]:
    """Return every cluster of `clusters/` and every case of a component."""
    found = []
    for path in sorted((ROOT / "clusters").glob("*/cluster.yaml")):
        spec = SpecFile(repo_root=ROOT, source=path.relative_to(ROOT).as_posix())
        found.append(Case(spec, path.parent / "rendered", whole=True))
    for path in sorted((ROOT / "gitops_gen" / "components").glob("*/cases/*/cluster.yaml")):
        spec = SpecFile(repo_root=path.parent, source="cluster.yaml")
        found.append(Case(spec, path.parent / "expected", whole=False))
    return found


@cache
def prepared(spec: SpecFile) -> Prepared:
    """Check and plan a spec as if it had never been rendered."""
    return prepare(spec, resources(), output=Path("/nonexistent"))


@cache
def tree(spec: SpecFile) -> Mapping[str, str]:
    """Render a spec; paths below the tree with their text."""
    return {path: raw.decode() for path, raw in prepared(spec).tree().items()}


def own_yaml(spec: SpecFile) -> Mapping[str, str]:
    """Return the YAML files of a tree that are written, not copied: charts of ours hold templates."""
    files = tree(spec)
    charts = tuple(f"{folder}/" for folder, _ in own_charts(prepared(spec).compiled.plan))
    return {
        path: text for path, text in files.items() if path.endswith(".yaml") and not path.startswith(charts)
    }


def wanted(case: Case) -> Mapping[str, str]:
    """Return what the golden folder of a case should hold."""
    files = tree(case.spec)
    return files if case.whole else {path: text for path, text in files.items() if path != LOCK}
