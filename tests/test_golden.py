"""Every committed tree is what its spec renders to: the same files, then the same text."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.trees import Case, cases, wanted

CASES = [pytest.param(case, id=case.name) for case in cases()]


def committed(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write(folder: Path, files: dict[str, str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_committed_tree_is_what_the_spec_renders_to(case: Case, request: pytest.FixtureRequest) -> None:
    files = dict(wanted(case))
    if request.config.getoption("--update-golden"):
        write(case.golden, files)
    known = committed(case.golden)
    assert sorted(known) == sorted(files)
    for name, text in files.items():
        assert known[name] == text, name


@pytest.mark.parametrize("case", CASES)
def test_no_golden_file_is_too_long_to_read(case: Case) -> None:
    long = {name: text.count("\n") for name, text in wanted(case).items() if text.count("\n") > 300}
    kept = ("apps/project.yaml", "bootstrap/argocd-cm.yaml")
    assert {name for name in long if not name.endswith(kept)} == set()
