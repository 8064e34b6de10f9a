"""The examples render as they stand, without errors and without warnings."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from gitops_gen.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "shared" / "examples"
RENDERED = ("gpu-only", "k3s-lab", "a100-mig", "slurm-only", "gke-addon")
needs_examples = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="no ../shared/examples beside the checkout")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples")
    return tmp_path / "examples"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["gitops-gen", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@needs_examples
@pytest.mark.parametrize("name", RENDERED)
def test_example_renders_as_it_stands(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "validate", "--strict", "--format", "json", f"{name}.yaml") == 0
    found = json.loads(capsys.readouterr().out)
    assert {item["severity"] for item in found["diagnostics"]} <= {"notice"}
    assert run(monkeypatch, "render", "--strict", f"{name}.yaml", "--output", "out") == 0
    assert (folder / "out" / name / "apps/gpu/gpu-operator/application.yaml").is_file()


@needs_examples
@pytest.mark.parametrize("name", RENDERED)
def test_committed_cluster_is_the_example(name: str) -> None:
    root = Path(__file__).parents[1] / "clusters"
    example = (EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8")
    committed = (root / name / "cluster.yaml").read_text(encoding="utf-8")
    assert committed == example.replace("[base/company.yaml]", "[../base/company.yaml]")
