"""What the README shows is what the commands print, and the files that it names exist."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from gitops_gen.cli.main import app, main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FAULTY = """\
apiVersion: gitops-gen/v1alpha1
kind: Cluster
metadata:
  name: lab
spec:
  kubernetes:
    version: "1.35"
    distribution: rke2
  gitops:
    repoURL: https://git.example.com/platform/clusters.git
  nodePools:
    - name: a100
      nodes: 2
      os: ubuntu-24.04
      nodeSelector: {node.example.com/pool: a100}
      gpu:
        model: a100-sxm-80gb
        count: 8
        mig: {layout: [{devices: all, profiles: {1g.10gb: 3, 2g.20gb: 1, 3g.40gb: 1}}]}
  components:
    gpuOperator:
      enabled: true
"""


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    shutil.copytree(ROOT / "clusters", tmp_path / "clusters")
    (tmp_path / "clusters/lab").mkdir()
    (tmp_path / "clusters/lab/cluster.yaml").write_text(FAULTY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setattr(sys, "argv", command.split())
    with pytest.raises(SystemExit):
        main()
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "command",
    ["gitops-gen validate clusters/lab", "gitops-gen why clusters/a100-mig gpu-operator:toolkit.env"],
)
def test_readme_shows_what_the_command_prints(
    command: str, repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"$ {command}\n{printed(command, monkeypatch, capsys)}```" in README


def test_readme_shows_the_spec_that_init_writes(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(repo / "clusters/lab")
    printed("gitops-gen init clusters/lab/cluster.yaml --gpu a100-sxm-80gb", monkeypatch, capsys)
    written = (repo / "clusters/lab/cluster.yaml").read_text(encoding="utf-8")
    assert f"```yaml\n{written}```" in README


def test_readme_has_an_example_of_every_command() -> None:
    names = {command.name or getattr(command.callback, "__name__", "") for command in app.registered_commands}
    assert {name for name in names if f"| `{name}` |" not in README} == set()


def test_every_link_of_the_readme_leads_to_a_file() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert missing == []
