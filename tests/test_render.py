"""The tree in memory: each path once and inside, each object in a file of its own name."""

from __future__ import annotations

import pytest

from gitops_gen import argocd
from gitops_gen.model import (
    Application,
    Deletion,
    DirectorySource,
    KustomizeSource,
    Manifest,
    Object,
    Traced,
    from_rule,
)
from gitops_gen.render import RenderedTree, manifest_file
from tests.specs import compile_text, spec_text

WHY = (from_rule("a rule of the tests"),)


def manifest(name: str, namespace: str | None) -> Manifest:
    metadata: Object = {"name": name} if namespace is None else {"name": name, "namespace": namespace}
    data: Object = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata}
    return Manifest(object=Traced(data=data, origins={}), cluster_scoped=namespace is None)


@pytest.mark.parametrize("path", ["/a", "a/../b", "..", "a//b", "./a", "", "a/", "taken"])
def test_path_stands_once_and_inside_the_tree(path: str) -> None:
    tree = RenderedTree()
    tree.add("taken", "first")
    with pytest.raises(ValueError, match=f"not a new path inside the tree: '{path}'"):
        tree.add(path, "second")
    assert tree.files == {"taken": "first"}


def test_files_are_sorted_by_path() -> None:
    tree = RenderedTree()
    for path in ("b", "a/z", "a/b"):
        tree.add(path, "")
    assert list(tree.files) == ["a/b", "a/z", "b"]


def test_object_lies_in_a_file_of_its_kind_and_name() -> None:
    first, second = manifest("reader", "one"), manifest("reader", "two")
    assert manifest_file(first, {}) == "role-reader.yaml"
    assert manifest_file(second, {"role-reader.yaml": {}}) == "role-two-reader.yaml"
    assert manifest_file(manifest("system:reader", None), {}) == "role-system-reader.yaml"


def app(**changed: object) -> Application:
    parts: dict[str, object] = {
        "name": "dashboard",
        "component": "kubeflow",
        "stack": "kubeflow",
        "namespace": "kubeflow",
        "wave": 3,
        "sources": (DirectorySource(manifests=(manifest("reader", "kubeflow"),)),),
        "origins": WHY,
    }
    return Application(**{**parts, **changed})  # type: ignore[arg-type]


def test_single_source_stands_under_source() -> None:
    spec = compile_text(spec_text()).plan.spec
    made = argocd.application(app(), spec).data["spec"]
    assert isinstance(made, dict)
    assert "sources" not in made
    assert made["source"] == {
        "repoURL": "https://git.example.com/platform/clusters.git",
        "targetRevision": "refs/heads/main",
        "path": "clusters/test/rendered/apps/kubeflow/dashboard/manifests",
    }


def test_kustomize_source_has_a_tag_and_inline_options() -> None:
    spec = compile_text(spec_text()).plan.spec
    options = Traced(data={"images": ["a/b=c/b:1"]}, origins={("images",): WHY})
    base = KustomizeSource(
        repo_url="https://github.com/kubeflow/manifests",
        revision="26.03",
        path="applications/dashboard",
        options=options,
    )
    made = argocd.application(app(sources=(base,)), spec).data["spec"]
    assert isinstance(made, dict)
    assert made["source"] == {
        "repoURL": "https://github.com/kubeflow/manifests",
        "path": "applications/dashboard",
        "targetRevision": "26.03",
        "kustomize": {"images": ["a/b=c/b:1"]},
    }


@pytest.mark.parametrize(
    ("deletion", "finalizers"),
    [(Deletion.FOREGROUND, ["resources-finalizer.argocd.argoproj.io"]), (Deletion.KEEP, None)],
)
def test_finalizer_decides_whether_objects_go_with_their_application(
    deletion: Deletion, finalizers: list[str] | None
) -> None:
    spec = compile_text(spec_text()).plan.spec
    metadata = argocd.application(app(deletion=deletion), spec).data["metadata"]
    assert isinstance(metadata, dict)
    assert metadata.get("finalizers") == finalizers
