"""What is applied once by hand: `kubectl apply -k bootstrap` finds every file and changes none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from gitops_gen.emit import emit
from gitops_gen.shell.command import Command, run
from tests.specs import compile_text, spec_text
from tests.trees import ROOT

CLUSTERS = sorted((ROOT / "clusters").glob("*/rendered/bootstrap"))


def built(kustomize: tuple[str, ...], folder: Path) -> list[Any]:
    text = run(Command(argv=(*kustomize, str(folder)))).stdout
    return by_kind([item for item in yaml.safe_load_all(text) if item])


def files(folder: Path) -> list[Any]:
    """Return the objects that stand in a folder beside its kustomization."""
    paths = [path for path in sorted(folder.iterdir()) if path.name != "kustomization.yaml"]
    return by_kind([yaml.safe_load(path.read_text(encoding="utf-8")) for path in paths])


def by_kind(documents: list[Any]) -> list[Any]:
    return sorted(documents, key=lambda item: (item["kind"], item["metadata"]["name"]))


@pytest.mark.parametrize("folder", CLUSTERS, ids=lambda folder: folder.parents[1].name)
def test_kustomize_builds_the_bootstrap_folder(folder: Path, kustomize: tuple[str, ...]) -> None:
    made = built(kustomize, folder)
    assert [item["kind"] for item in made] == ["AppProject", "Application", "ConfigMap"]
    assert made == files(folder)


def test_bootstrap_builds_for_an_argo_cd_elsewhere(tmp_path: Path, kustomize: tuple[str, ...]) -> None:
    text = spec_text("argocd: {namespace: gitops, destination: {server: https://10.0.0.1:6443}}")
    for name, document in compile_text(text).documents.items():
        if name.startswith("bootstrap/"):
            (tmp_path / name.removeprefix("bootstrap/")).write_text(emit(document), encoding="utf-8")
    assert {item["metadata"]["namespace"] for item in built(kustomize, tmp_path)} == {"gitops"}
