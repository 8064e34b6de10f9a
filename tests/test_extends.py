"""Layers of specs: what wins, what merges, what is removed, and where each value comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops_gen.diagnostics import Position, SpecError
from gitops_gen.emit import emit
from gitops_gen.spec.compose import read_mapping
from gitops_gen.spec.load import Loaded, load_cluster
from gitops_gen.spec.merge import merge
from gitops_gen.spec.source_map import plain_data
from tests.yaml_values import examples

CLUSTER = "apiVersion: gitops-gen/v1alpha1\nkind: Cluster\n"
BASE = "apiVersion: gitops-gen/v1alpha1\nkind: ClusterBase\n"


def load(files: Mapping[str, str], file: str = "clusters/lab/cluster.yaml") -> Loaded:
    def read(path: str) -> bytes:
        if path not in files:
            raise FileNotFoundError(2, "No such file or directory", path)
        return files[path].encode()

    return load_cluster(file, read)


def spec(files: Mapping[str, str]) -> Any:
    data: Any = load(files).data
    return data["spec"]


def faults(files: Mapping[str, str]) -> list[tuple[str, str, Position | None]]:
    with pytest.raises(SpecError) as caught:
        load(files)
    return [(item.code, item.message, item.position) for item in caught.value.diagnostics]


def at(file: str, line: int, column: int) -> Position:
    return Position(file=file, line=line, column=column)


LAYERS = {
    "clusters/lab/cluster.yaml": CLUSTER
    + """\
extends: [../site.yaml]
metadata:
  name: lab
  labels: {tier: gold}
spec:
  env: lab
  proxy: null
  nodePools:
    - name: b
      nodes: 20
    - {name: c, nodes: 30}
  registry: {pullSecrets: [mine]}
""",
    "clusters/site.yaml": BASE
    + """\
extends: [base/company.yaml, base/pools.yaml]
metadata: {name: site, labels: {site: north}}
spec:
  env: staging
  argocd: {namespace: gitops}
""",
    "clusters/base/company.yaml": BASE
    + """\
metadata: {name: company, labels: {owner: us, tier: tin}}
spec:
  env: prod
  argocd: {version: "3.5", namespace: argocd}
  proxy: {http: "http://proxy"}
  registry: {pullSecrets: [one, two]}
""",
    "clusters/base/pools.yaml": BASE
    + """\
spec:
  nodePools:
    - {name: a, nodes: 1}
    - {name: b, nodes: 2, os: ubuntu-24.04}
""",
}


def test_layers_merge_from_company_to_cluster() -> None:
    assert load(LAYERS).data == {
        "apiVersion": "gitops-gen/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": "lab", "labels": {"owner": "us", "tier": "gold", "site": "north"}},
        "spec": {
            "env": "lab",
            "argocd": {"version": "3.5", "namespace": "gitops"},
            "registry": {"pullSecrets": ["mine"]},
            "nodePools": [
                {"name": "a", "nodes": 1},
                {"name": "b", "nodes": 20, "os": "ubuntu-24.04"},
                {"name": "c", "nodes": 30},
            ],
        },
    }


@pytest.mark.parametrize(
    ("path", "position"),
    [
        (("spec", "env"), at("clusters/lab/cluster.yaml", 8, 8)),
        (("spec", "argocd", "version"), at("clusters/base/company.yaml", 6, 21)),
        (("spec", "argocd", "namespace"), at("clusters/site.yaml", 7, 23)),
        (("spec", "argocd"), at("clusters/site.yaml", 7, 12)),
        (("spec", "argocd", "wave"), at("clusters/site.yaml", 7, 12)),
        (("spec", "nodePools", 0, "nodes"), at("clusters/base/pools.yaml", 5, 24)),
        (("spec", "nodePools", 1, "nodes"), at("clusters/lab/cluster.yaml", 12, 14)),
        (("spec", "nodePools", 1, "os"), at("clusters/base/pools.yaml", 6, 31)),
        (("spec", "nodePools", 1), at("clusters/lab/cluster.yaml", 11, 7)),
        (("spec", "nodePools", 2), at("clusters/lab/cluster.yaml", 13, 8)),
        (("spec", "registry", "pullSecrets"), at("clusters/lab/cluster.yaml", 14, 27)),
        (("metadata", "labels", "owner"), at("clusters/base/company.yaml", 3, 43)),
        (("spec", "proxy"), at("clusters/lab/cluster.yaml", 8, 3)),
    ],
)
def test_positions_point_to_the_file_that_set_the_value(
    path: tuple[str | int, ...], position: Position
) -> None:
    assert load(LAYERS).source_map.value(path) == position


def test_every_file_read_is_kept_for_its_lines_and_its_digest() -> None:
    source_map = load(LAYERS).source_map
    assert source_map.texts == LAYERS
    assert source_map.line(at("clusters/base/pools.yaml", 5, 24)) == "    - {name: a, nodes: 1}"
    assert source_map.show(("spec", "nodePools", 1, "os")) == "spec.nodePools[b].os"


@pytest.mark.parametrize(
    ("base", "top", "merged"),
    [
        ({"a": 1, "b": 2}, {"b": 3, "c": 4}, {"a": 1, "b": 3, "c": 4}),
        ({"a": {"x": 1, "y": {"z": 2}}}, {"a": {"y": {"w": 3}}},
         {"a": {"x": 1, "y": {"z": 2, "w": 3}}}),
        ({"a": {"x": 1}}, {"a": 2}, {"a": 2}),
        ({"a": 2}, {"a": {"x": 1}}, {"a": {"x": 1}}),
        ({"a": {"x": 1}}, {"a": {}}, {"a": {"x": 1}}),
        ({"a": 1, "b": {"c": 2}}, {"a": None, "b": None}, {}),
        ({"a": 1}, {"b": None}, {"a": 1, "b": None}),
        ({"a": None}, {"a": None}, {"a": None}),
        ({"a": None}, {"a": {"x": 1}}, {"a": {"x": 1}}),
        ({"l": [1, 2]}, {"l": [3]}, {"l": [3]}),
        ({"l": [{"name": "a"}]}, {"l": []}, {"l": []}),
        ({"l": [{"name": "a", "x": 1}, {"name": "b"}]},
         {"l": [{"name": "c"}, {"name": "a", "y": 2}]},
         {"l": [{"name": "a", "x": 1, "y": 2}, {"name": "b"}, {"name": "c"}]}),
        ({"l": [{"name": "a"}]}, {"l": [{"name": "b"}, {"key": "c"}]},
         {"l": [{"name": "b"}, {"key": "c"}]}),
        ({"l": [{"name": "a"}]}, {"l": [{"name": 1}]}, {"l": [{"name": 1}]}),
        ({"l": [{"name": "a", "x": 1}]}, {"l": [{"name": "a", "x": None}]}, {"l": [{"name": "a"}]}),
        ({"l": [{"name": "a", "x": 1}]}, {"l": [{"name": "a"}, {"name": "a", "x": 2}]},
         {"l": [{"name": "a", "x": 1}, {"name": "a", "x": 2}]}),
    ],
)  # fmt: skip
def test_later_wins_maps_merge_named_lists_merge_and_null_removes(
    base: dict[str, Any], top: dict[str, Any], merged: dict[str, Any]
) -> None:
    assert laid_over(base, top) == merged


def laid_over(*layers: dict[str, Any]) -> Any:
    nodes = [read_mapping(emit(layer).encode(), "x.yaml")[1] for layer in layers]
    result: Any = nodes[0]
    for node in nodes[1:]:
        result = merge(result, node)
    return plain_data(result)


_names = st.sampled_from("abcd")
_leaf = st.integers(0, 9) | st.lists(st.integers(0, 9), max_size=2)
_named_list = st.lists(
    st.fixed_dictionaries({"name": _names}, optional={"x": _leaf, "y": _leaf}),
    unique_by=lambda item: str(item["name"]),
    min_size=1,
    max_size=3,
)
# Keys keep their kind, and nothing is null: removal and change of kind forget the layer below.
_layer = st.dictionaries(_names, _leaf).map(lambda leaves: {f"leaf-{k}": v for k, v in leaves.items()})
_layers = st.tuples(
    _layer, st.dictionaries(_names, _layer, max_size=3), st.dictionaries(_names, _named_list)
).map(
    lambda parts: {
        **parts[0],
        **{f"map-{key}": value for key, value in parts[1].items()},
        **{f"list-{key}": value for key, value in parts[2].items()},
    }
)


@examples(100)
@given(one=_layers, two=_layers, three=_layers)
def test_merge_is_associative_where_nothing_is_removed(
    one: dict[str, Any], two: dict[str, Any], three: dict[str, Any]
) -> None:
    assert laid_over(laid_over(one, two), three) == laid_over(one, laid_over(two, three))


@examples(50)
@given(one=_layers, two=_layers)
def test_merge_is_idempotent_and_empty_layers_change_nothing(
    one: dict[str, Any], two: dict[str, Any]
) -> None:
    once = laid_over(one, two)
    assert laid_over(once, two) == once
    assert laid_over({}, one) == laid_over(one, {}) == one


def test_base_named_twice_by_different_ways_is_read_once() -> None:
    seen: list[str] = []
    files = {
        "c.yaml": CLUSTER + "extends: [a.yaml, b.yaml]\n",
        "a.yaml": BASE + "extends: [d/e.yaml]\nspec: {env: lab}\n",
        "b.yaml": BASE + "extends: [./d/../d/e.yaml]\n",
        "d/e.yaml": BASE + "spec: {env: prod, airGap: true}\n",
    }

    def read(path: str) -> bytes:
        seen.append(path)
        return files[path].encode()

    data: Any = load_cluster("c.yaml", read).data
    assert data["spec"] == {"env": "prod", "airGap": True}
    assert seen == ["c.yaml", "a.yaml", "d/e.yaml", "b.yaml"]


# --- faults ------------------------------------------------------------------------------------


def cluster_extending(*names: str) -> str:
    return CLUSTER + f"extends: [{', '.join(names)}]\n"


LAB = "clusters/lab/cluster.yaml"


def test_circle_of_files_is_shown() -> None:
    files = {
        LAB: cluster_extending("../a.yaml"),
        "clusters/a.yaml": BASE + "extends: [b.yaml]\n",
        "clusters/b.yaml": BASE + "extends:\n  - ../clusters/a.yaml\n",
    }
    shown = "clusters/a.yaml → clusters/b.yaml → clusters/a.yaml"
    message = f"files extend each other in a circle: {shown}"
    assert faults(files) == [("extends-cycle", message, at("clusters/b.yaml", 4, 5))]


def test_file_that_extends_itself_is_a_circle() -> None:
    message = f"files extend each other in a circle: {LAB} → {LAB}"
    assert faults({LAB: cluster_extending("cluster.yaml")}) == [("extends-cycle", message, at(LAB, 3, 11))]


def test_all_faults_of_all_files_are_told_in_order() -> None:
    files = {
        LAB: cluster_extending("../../../x.yaml", "/etc/passwd", "../none.yaml", "../bad.yaml", "5"),
        "clusters/bad.yaml": BASE + "spec: {a: yes, a: 1}\n",
    }
    assert faults(files) == [
        (
            "yaml-ambiguous-boolean",
            "`yes` is a boolean for some YAML readers and a string for others",
            at("clusters/bad.yaml", 3, 11),
        ),
        (
            "yaml-duplicate-key",
            'the key "a" is given twice; first on line 3, column 8',
            at("clusters/bad.yaml", 3, 16),
        ),
        ("extends-outside", '"../../../x.yaml" lies outside the repository', at(LAB, 3, 11)),
        ("extends-outside", '"/etc/passwd" lies outside the repository', at(LAB, 3, 28)),
        (
            "extends-missing",
            "the repository has no file clusters/none.yaml",
            at(LAB, 3, 41),
        ),
        ("extends-type", "`extends` takes a list of file names, not a number", at(LAB, 3, 68)),
    ]


@pytest.mark.parametrize(
    ("name", "shown", "error", "reason"),
    [
        ("..", "..", IsADirectoryError(21, "Is a directory"), "Is a directory"),
        ('"a\\0b"', "a\0b", ValueError("embedded null byte"), "embedded null byte"),
    ],
)
def test_base_that_cannot_be_read_is_told_with_the_reason(
    name: str, shown: str, error: Exception, reason: str
) -> None:
    def read(path: str) -> bytes:
        if path == LAB:
            return cluster_extending(name).encode()
        raise error

    with pytest.raises(SpecError) as caught:
        load_cluster(LAB, read)
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.position) == ("extends-missing", at(LAB, 3, 11))
    assert fault.message == f'cannot read "{shown}": {reason}'


def test_extends_must_be_a_list() -> None:
    assert faults({LAB: CLUSTER + "extends: ../a.yaml\n"}) == [
        ("extends-type", "`extends` takes a list of file names, not a string", at(LAB, 3, 10))
    ]


def test_only_bases_can_be_extended() -> None:
    files = {LAB: cluster_extending("../a.yaml"), "clusters/a.yaml": CLUSTER}
    message = (
        "this is apiVersion gitops-gen/v1alpha1, kind Cluster; `extends` takes files of kind ClusterBase"
    )
    assert faults(files) == [("extends-kind", message, at("clusters/a.yaml", 2, 7))]


@pytest.mark.parametrize(
    ("text", "shown", "line", "column"),
    [
        ("apiVersion: apps/v1\nkind: Deployment\n", "apiVersion apps/v1, kind Deployment", 1, 13),
        ("kind: Cluster\n", "kind Cluster", 1, 1),
        ("spec: {}\n", "a mapping without apiVersion and kind", 1, 1),
        ("apiVersion: gitops-gen/v1alpha1\n", "apiVersion gitops-gen/v1alpha1", 1, 1),
    ],
)
def test_documents_of_another_type_cannot_be_extended(text: str, shown: str, line: int, column: int) -> None:
    files = {LAB: cluster_extending("../a.yaml"), "clusters/a.yaml": text}
    message = f"this is {shown}; `extends` takes files of kind ClusterBase"
    assert faults(files) == [("wrong-document", message, at("clusters/a.yaml", line, column))]


def test_type_and_name_of_a_base_never_become_those_of_the_cluster() -> None:
    base = BASE + "metadata: {name: company, labels: {a: b}}\n"
    files = {LAB: "extends: [../a.yaml]\n", "clusters/a.yaml": base}
    assert load(files).data == {"metadata": {"labels": {"a": "b"}}}


def test_file_that_cannot_be_read_is_told_with_the_reason() -> None:
    message = "this file cannot be read: No such file or directory"
    assert faults({}) == [("no-spec", message, at(LAB, 0, 0))]


def test_layers_have_a_limit() -> None:
    files = {f"{n}.yaml": BASE + f"extends: [{n + 1}.yaml]\n" for n in range(100)}
    files[LAB] = cluster_extending("../../0.yaml")
    message = "more than 16 layers of `extends`"
    assert faults(files) == [("extends-too-deep", message, at("14.yaml", 3, 11))]
