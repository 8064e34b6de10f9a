"""The wheel carries everything: installed in an empty environment it works from any directory."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment that holds the built wheel and what it depends on, nothing of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder / "dist"), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    venv.create(folder / "venv", with_pip=True)
    wheel = next((folder / "dist").glob("*.whl"))
    pip = [str(folder / "venv/bin/python"), "-m", "pip", "install", "--quiet", str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    return folder / "venv/bin/gitops-gen"


def call(tool: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    argv = [str(tool), *arguments]
    return subprocess.run(argv, cwd=cwd, env=clean, capture_output=True, text=True, check=False)


def test_wheel_works_from_another_directory(installed: Path, tmp_path: Path) -> None:
    assert call(installed, "--version", cwd=tmp_path).stdout == "gitops-gen 0.1.0\n"
    made = call(installed, "init", "lab/cluster.yaml", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "lab/.gitops-gen/cluster.schema.json").is_file()
    rendered = call(installed, "render", "lab/cluster.yaml", cwd=tmp_path)
    assert rendered.returncode == 0, rendered.stderr
    tree = tmp_path / "lab/rendered"
    assert (tree / "README.md").read_text(encoding="utf-8").startswith("# lab\n")
    assert (tree / "apps/gpu/gpu-operator/values.yaml").is_file()
    assert call(installed, "render", "--check", "lab/cluster.yaml", cwd=tmp_path).returncode == 0


def test_wheel_leaves_cases_and_tests_out(installed: Path) -> None:
    site = next((installed.parents[1] / "lib").glob("python*/site-packages/gitops_gen"))
    assert not list(site.rglob("cases"))
    assert (site / "_data/templates/tree-readme.md.j2").is_file()
    assert (site / "_data/schemas/cluster.schema.json").is_file()
    assert (site / "_data/charts/kubeflow-profiles/templates/_helpers.tpl").is_file()
    assert (site / "py.typed").is_file()
