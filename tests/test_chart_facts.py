"""Chart facts are derived from values, templates, CRDs and renders, and say what charts do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gitops_gen.catalog.charts import chart_keys_from, chart_objects
from gitops_gen.maintain import derive
from gitops_gen.maintain.charts import (
    KnownChart,
    Values,
    dump_facts,
    dump_keys,
    known_charts,
    read_chart,
    read_copy,
    read_facts,
    read_yaml,
    section,
)
from gitops_gen.maintain.extras import (
    missing_extra,
    open_maps,
    schema_entries,
    unread,
)
from gitops_gen.maintain.identities import discover, settled, toggles_of
from gitops_gen.maintain.reads import Read, Use, chart_reads, template_reads
from gitops_gen.maintain.renders import Renderer, object_heads
from gitops_gen.model import ChartKeys, Json, Object, ObjectIdentity

CHART = Path(__file__).parent / "charts" / "identities"
SHARED = Path(__file__).resolve().parents[2] / "shared"
needs_shared = pytest.mark.skipif(
    not (SHARED / "upstream").is_dir(), reason="the upstream copies beside the checkout are missing"
)


WITHOUT_VALUES = {
    ("keda", "2.20.2"),
    ("mariadb-operator-crds", "26.6.0"),
    ("slurm-bridge", "1.2.1"),
    ("slurm-operator-crds", "1.1.2"),
    ("slurm-operator-crds", "1.2.1"),
}
"""Charts of whose values.yaml there is no copy to derive from again (in the CRD charts it is empty)."""


def identity(chart: KnownChart) -> tuple[str, str]:
    return chart.chart, chart.version


def known_ids(chart: KnownChart) -> str:
    return f"{chart.chart}-{chart.version}"


def keys_of(chart: str, version: str) -> ChartKeys:
    known = next(it for it in known_charts() if (it.chart, it.version) == (chart, version))
    return chart_keys_from(read_facts(known.facts_file()), read_facts(known.extra_file()))


# --- keys from values.yaml -------------------------------------------------------------------


def test_keys_hold_type_default_and_openness() -> None:
    values = Values(
        own={"a": {"b": 1, "x.y": "s", "e": {}}, "l": [{"k": 1}], "n": None, "f": 1.5},
        subcharts={},
    )
    assert derive.derive_keys(values) == {
        "a": {"type": "object", "open": False},
        "a.b": {"type": "integer", "default": 1},
        'a["x.y"]': {"type": "string", "default": "s"},
        "a.e": {"type": "object", "open": True},
        "l": {"type": "array", "default": [{"k": 1}]},
        "n": {"type": "null", "default": None},
        "f": {"type": "number", "default": 1.5},
    }


def test_subchart_keys_stand_under_the_alias_and_the_parent_wins() -> None:
    keys = derive.derive_keys(read_chart(CHART))
    assert keys["aliased.size"] == {"type": "integer", "default": 2}
    assert keys["aliased.colour"] == {"type": "string", "default": "red"}
    assert keys["global.region"] == {"type": "string", "default": "north"}
    assert "sub.size" not in keys


def test_values_are_read_as_helm_reads_them(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text("a: 04:00:00\nb: yes\nc: =\nd: 2026-12-01\ne: 1e3\nf: 0o17\ng: ~\n")
    assert read_yaml(file) == {
        "a": "04:00:00",
        "b": "yes",
        "c": "=",
        "d": "2026-12-01",
        "e": 1000.0,
        "f": 15,
        "g": None,
    }


def test_fact_files_have_one_entry_a_line_in_order() -> None:
    facts: Object = {
        "chart": "x",
        "keys": {"b": {"type": "null"}, "a": {"z": 1, "y": 2}},
        "objects": [],
    }
    assert dump_facts(facts) == (
        '{\n "chart": "x",\n "keys": {\n  "a": {"y": 2, "z": 1},\n  "b": {"type": "null"}\n },\n'
        ' "objects": []\n}\n'
    )  # fmt: skip


def test_missing_subchart_values_leave_only_what_the_parent_sets_to_compare() -> None:
    recorded = derive.derive_keys(read_chart(CHART))
    parent = Values(own=read_yaml(CHART / "values.yaml"), subcharts={})
    assert derive.stale_keys(parent, recorded, ["aliased"]) == []
    changed: dict[str, Json] = {**recorded, "mode": {"type": "string", "default": "fancy"}}
    assert derive.stale_keys(parent, changed, ["aliased"]) == ["mode"]
    changed = {**recorded, "aliased.size": {"type": "integer", "default": 1}}
    assert derive.stale_keys(parent, changed, ["aliased"]) == ["aliased.size"]
    assert derive.stale_keys(parent, {**recorded, "new": {}}, ["aliased"]) == ["new"]


@needs_shared
def test_charts_that_cannot_be_derived_again_are_these() -> None:
    upstream = SHARED / "upstream"
    without = [it for it in known_charts() if not (upstream / it.upstream / "values.yaml").exists()]
    assert {identity(chart) for chart in without} == WITHOUT_VALUES


@needs_shared
@pytest.mark.parametrize(
    "chart", [it for it in known_charts() if identity(it) not in WITHOUT_VALUES], ids=known_ids
)
def test_deriving_again_gives_the_same_bytes(chart: KnownChart) -> None:
    values = read_copy(SHARED / "upstream" / chart.upstream)
    subcharts = chart.sources.keys() - {"values.yaml"}
    recorded = section(read_facts(chart.facts_file()), "keys")
    assert derive.stale_keys(values, recorded, subcharts) == []
    missing = subcharts - values.subcharts.keys()
    if not missing:
        assert dump_keys(derive.derive_keys(values)) == dump_keys(recorded)
        assert f'"keys": {dump_keys(recorded)}' in chart.facts_file().read_text("utf-8")


@needs_shared
def test_check_finds_all_charts_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    assert derive.main(["--check", "--upstream", str(SHARED / "upstream")]) == 0
    assert capsys.readouterr().out == "chart facts are fresh\n"


def test_check_says_when_there_is_nothing_to_compare_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert derive.main(["--check", "--upstream", str(tmp_path / "none")]) == 0
    assert "chart facts not compared" in capsys.readouterr().err


@needs_shared
@pytest.mark.parametrize("version", ["v26.7.0", "v26.3.3", "v25.10.1"])
def test_keys_agree_with_the_data_sheets(version: str) -> None:
    """The sheets leave out `global` of sub-charts and write `default: {}` of some empty maps."""
    sheet: dict[str, Any] = json.loads(
        (SHARED / "facts" / "data" / f"gpu-operator-{version}.keys.json").read_bytes()
    )
    plain = {name: {k: v for k, v in it.items() if v != {}} for name, it in sheet.items()}
    keys = keys_of("gpu-operator", version).keys
    assert {name: entry for name, entry in keys.items() if name in sheet} == plain
    assert {name.partition(".")[0] for name in keys.keys() - sheet.keys()} <= {"global"}


# --- keys that templates read ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "reads"),
    [
        ("{{ .Values.a.b }}", {("a", "b"): Use.SINGLE}),
        ("{{ $.Values.a }}", {("a",): Use.SINGLE}),
        ("{{ toYaml .Values.a | nindent 4 }}", {("a",): Use.WHOLE}),
        ('{{ include "x" .Values.a }}', {("a",): Use.PASSED}),
        (
            "{{ with .Values.a }}{{ .b }}{{ toYaml .c }}{{ end }}{{ .Values.d }}",
            {("a",): Use.SINGLE, ("a", "b"): Use.SINGLE, ("a", "c"): Use.WHOLE, ("d",): Use.SINGLE},
        ),
        ("{{ with .Values.a }}{{ toYaml . }}{{ end }}", {("a",): Use.WHOLE}),
        (
            "{{ range $k, $v := .Values.a }}{{ $v.b }}{{ end }}",
            {("a",): Use.WHOLE, ("a", "[]", "b"): Use.SINGLE},
        ),
        ("{{ $x := .Values.a }}{{ $x.b }}", {("a",): Use.SINGLE, ("a", "b"): Use.SINGLE}),
        ('{{ index .Values "a-b" "c" }}', {("a-b", "c"): Use.SINGLE}),
        ('{{ (index .Values "a-b").c }}', {("a-b", "c"): Use.SINGLE}),
        ("{{ if .Values.a }}x{{ else if .Values.b }}y{{ end }}", {("a",): Use.SINGLE, ("b",): Use.SINGLE}),
        ("{{/* .Values.a */}}{{ .Chart.Name }}", {}),
        ('{{ "text .Values.a" }}', {}),
    ],
)  # fmt: skip
def test_template_reads(template: str, reads: Mapping[tuple[str, ...], Use]) -> None:
    found: dict[tuple[str, ...], Use] = {}
    for path, use in template_reads(template):
        found[path] = max(use, found.get(path, use))
    assert found == reads


def test_extra_keys_dead_keys_and_open_maps_of_a_chart() -> None:
    keys = derive.derive_keys(read_chart(CHART))
    reads = chart_reads(CHART)
    assert missing_extra(keys, reads) == {
        "hidden": {"type": "any", "source": "templates/objects.yaml"},
        "aliased.shade": {"type": "any", "source": "charts/sub/templates/store.yaml"},
    }
    assert [*unread(keys, reads)] == ["aliased.enabled", "unused"]
    assert reads["labels"] == Read(Use.WHOLE, "templates/objects.yaml")


def test_map_printed_whole_is_open_although_it_lists_keys() -> None:
    keys: dict[str, Object] = {
        "a": {"type": "object", "open": False},
        "a.b": {"type": "integer", "default": 1},
    }
    reads = {"a": Read(Use.WHOLE, "t.yaml"), "a.b": Read(Use.SINGLE, "t.yaml")}
    assert open_maps(keys, reads) == {"a": {"source": "t.yaml"}}
    assert open_maps(keys, {"a": Read(Use.PASSED, "t.yaml")}) == {}


def test_crd_schema_closes_what_is_copied_into_it() -> None:
    schema: Object = {
        "properties": {
            "list": {"type": "array", "items": {"properties": {"name": {"type": "string"}}}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "limit": {"x-kubernetes-int-or-string": True},
        }
    }
    assert dict(schema_entries("m", schema, "crd")) == {
        "m.list": {"type": "array", "source": "crd"},
        "m.list[]": {"type": "object", "source": "crd"},
        "m.list[].name": {"type": "string", "source": "crd"},
        "m.labels": {"type": "object", "source": "crd", "open": True},
        "m.limit": {"type": ["integer", "string"], "source": "crd"},
    }


# --- objects from renders --------------------------------------------------------------------


def test_heads_of_objects_are_read_without_their_bodies() -> None:
    text = (
        "---\n# Source: a\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n    name: a\n"
        "spec:\n  name: not-this\n---\n\n---\napiVersion: v1\nkind: ConfigMapList\nitems:\n"
        "- metadata: {name: b, namespace: c}\n"
    )
    assert list(object_heads(text)) == [
        ("apps", "Deployment", {"name": "a"}),
        ("", "ConfigMap", {"name": "b", "namespace": "c"}),
    ]


OWN = KnownChart(
    component="none",
    chart="identities",
    version="1.0.0",
    upstream="",
    release="rel",
    checked="2026-12-01",
    kubernetes="1.35.0",
    sources={},
    scenarios=({"config.create": True, "config.name": "zq-set"},),
)


@pytest.fixture(scope="module")
def objects(helm: tuple[str, ...]) -> dict[str, Object]:
    """Objects of our own chart as found with the real helm, by kind and name."""
    keys = derive.derive_keys(read_chart(CHART))
    kinds = {"rbac.authorization.k8s.io": ["ClusterRole"]}
    kinds["apiextensions.k8s.io"] = ["CustomResourceDefinition"]
    renderer = Renderer(chart=OWN, folder=CHART, helm=helm, cluster_kinds=kinds)
    defaults = {name: entry.get("default") for name, entry in keys.items()}
    real = Renderer(chart=OWN, folder=CHART, helm=helm, cluster_kinds=kinds, suffix="")
    found = settled(discover(renderer, toggles_of(OWN, keys, {}), defaults), real)
    return {f"{it['kind']} {it['name']}": it for it in found}


@pytest.mark.parametrize(
    ("name", "namespace", "when"),
    [
        ("ConfigMap fixed", "{namespace}", None),
        ("ConfigMap {release}-store", "{namespace}", [{"aliased.enabled": True}]),
        ("ClusterRole {release}-reader", None, [{"role.create": True}]),
        ("Role {release}-reader", "kube-system", [{"role.create": True}]),
        ("Secret rel-long-na", "{namespace}", None),
        ("Service metrics", "{namespace}", [{"metrics.enabled": True}]),
        (
            "PrometheusRule rules",
            "{namespace}",
            [{"metrics.enabled": True, "metrics.rules.create": True}],
        ),
        ("ServiceAccount either", "{namespace}", [{"accounts.own": True}, {"accounts.shared": True}]),
        (
            "ConfigMap {values.config.name}",
            "{namespace}",
            [{"config.create": True, "config.name": {"not": ""}}],
        ),
        ("CustomResourceDefinition things.example.com", None, None),
    ],
)  # fmt: skip
def test_condition_is_the_least_that_makes_the_object_appear(
    objects: Mapping[str, Object], name: str, namespace: str | None, when: Json
) -> None:
    found = objects[name]
    assert (found["namespace"], found.get("when")) == (namespace, when)


def test_hooks_are_marked_and_tests_left_out(objects: Mapping[str, Object]) -> None:
    assert objects["Job {release}-check"]["hook"] is True
    assert [name for name in objects if name.startswith("Pod ")] == []


# --- objects of known charts -----------------------------------------------------------------


def cluster_scoped(objects: tuple[ObjectIdentity, ...]) -> set[tuple[str, str, str]]:
    return {(it.group, it.kind, it.name) for it in objects if it.namespace is None}


ARGO_VALUES: Mapping[str, Json] = {
    "operator": {"upgradeCRD": False},
    "node-feature-discovery": {"postDeleteCleanup": False},
}


@pytest.mark.parametrize(
    ("version", "own_crds"),
    [
        (
            "v26.7.0",
            {
                "clusterpolicies.nvidia.com",
                "computedomaincliques.resource.nvidia.com",
                "computedomains.resource.nvidia.com",
                "gpuclusters.nvidia.com",
                "nvidiadrivers.nvidia.com",
            },
        ),
        ("v26.3.3", {"clusterpolicies.nvidia.com", "nvidiadrivers.nvidia.com"}),
        ("v25.10.1", {"clusterpolicies.nvidia.com", "nvidiadrivers.nvidia.com"}),
    ],
)
def test_cluster_scoped_objects_of_the_gpu_operator(version: str, own_crds: set[str]) -> None:
    keys = keys_of("gpu-operator", version)
    found = cluster_scoped(chart_objects(keys, ARGO_VALUES, "gpu-operator", "gpu-operator"))
    nfd = {f"{it}.nfd.k8s-sigs.io" for it in ("nodefeatures", "nodefeaturegroups", "nodefeaturerules")}
    crd = ("apiextensions.k8s.io", "CustomResourceDefinition")
    rbac = "rbac.authorization.k8s.io"
    roles = (
        "gpu-operator",
        "gpu-operator-node-feature-discovery",
        "gpu-operator-node-feature-discovery-gc",
    )
    assert found == {
        *((*crd, name) for name in own_crds | nfd),
        ("nvidia.com", "ClusterPolicy", "cluster-policy"),
        *((rbac, kind, name) for kind in ("ClusterRole", "ClusterRoleBinding") for name in roles),
    }


def test_hooks_of_the_gpu_operator_follow_their_switches() -> None:
    keys = keys_of("gpu-operator", "v26.7.0")
    hooks = {it.name for it in chart_objects(keys, {}, "gpu-operator", "gpu") if it.hook}
    assert hooks == {
        "gpu-operator-cleanup-gpucluster",
        "gpu-operator-node-feature-discovery-prune",
        "gpu-operator-upgrade-crd",
        "gpu-operator-upgrade-crd-hook-binding",
        "gpu-operator-upgrade-crd-hook-role",
        "gpu-operator-upgrade-crd-hook-sa",
    }
    left = {it.name for it in chart_objects(keys, ARGO_VALUES, "gpu-operator", "gpu") if it.hook}
    assert left == {"gpu-operator-cleanup-gpucluster"}


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        ({}, {"ClusterPolicy"}),
        ({"driver": {"nvidiaDriverCRD": {"enabled": True}}}, {"ClusterPolicy", "NVIDIADriver"}),
        (
            {"driver": {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}}},
            {"ClusterPolicy"},
        ),
        (
            {
                "clusterPolicy": {"deployCR": False},
                "gpuCluster": {"deployCR": True},
                "driver": {"enabled": False},
            },
            {"GPUCluster"},
        ),
    ],
)
def test_custom_resources_of_the_gpu_operator(values: Object, kinds: set[str]) -> None:
    keys = keys_of("gpu-operator", "v26.7.0")
    found = chart_objects(keys, values, "gpu-operator", "gpu-operator")
    assert {it.kind for it in found if it.group == "nvidia.com"} == kinds


def test_config_maps_are_named_by_values() -> None:
    keys = keys_of("gpu-operator", "v26.7.0")
    values: Object = {"devicePlugin": {"config": {"create": True, "name": "sharing", "data": {"any": "x"}}}}
    found = chart_objects(keys, values, "gpu-operator", "gpus")
    assert ObjectIdentity(group="", kind="ConfigMap", name="sharing", namespace="gpus") in found


def test_own_nfd_is_left_out_with_its_crds() -> None:
    keys = keys_of("gpu-operator", "v26.7.0")
    found = chart_objects(keys, {"nfd": {"enabled": False}}, "gpu-operator", "gpu-operator")
    assert [it.name for it in found if "nfd" in it.name or "node-feature" in it.name] == []


@pytest.mark.parametrize(
    ("chart", "version"), [("cert-manager", "v1.20.2"), ("kube-prometheus-stack", "88.5.3")]
)
def test_some_charts_write_into_kube_system(chart: str, version: str) -> None:
    found = chart_objects(keys_of(chart, version), {}, chart, "own")
    assert {it.namespace for it in found if it.namespace is not None} == {"own", "kube-system"}


def test_leases_of_cert_manager_lie_where_its_values_say() -> None:
    values: Object = {"global": {"leaderElection": {"namespace": "certs"}}}
    found = chart_objects(keys_of("cert-manager", "v1.20.2"), values, "cert-manager", "certs")
    assert {it.namespace for it in found if it.namespace is not None} == {"certs"}


def test_cert_manager_brings_crds_only_when_asked() -> None:
    keys = keys_of("cert-manager", "v1.20.2")

    def crds(values: Object) -> int:
        found = chart_objects(keys, values, "cert-manager", "cert-manager")
        return sum(it.kind == "CustomResourceDefinition" for it in found)

    assert (crds({}), crds({"crds": {"enabled": True}})) == (0, 6)


@needs_shared
def test_cluster_scoped_objects_of_the_proven_project() -> None:
    project = read_yaml(SHARED / "facts" / "proven" / "k3s-lab.project.yaml")
    allowed = {
        (it["group"], it["kind"], it["name"])
        for it in project["spec"]["clusterResourceWhitelist"]
        if it["kind"] != "Namespace"
    }
    gpu = chart_objects(keys_of("gpu-operator", "v26.7.0"), ARGO_VALUES, "gpu-operator", "gpu-operator")
    monitoring = chart_objects(
        keys_of("kube-prometheus-stack", "88.5.3"),
        {"grafana": {"enabled": False}},
        "kube-prometheus-stack",
        "monitoring",
    )
    assert cluster_scoped((*gpu, *monitoring)) == allowed


@pytest.mark.parametrize("chart", known_charts(), ids=known_ids)
def test_conditions_name_known_keys(chart: KnownChart) -> None:
    keys = keys_of(chart.chart, chart.version)
    assert keys.objects != ()
    named: set[str] = set()
    for item in keys.objects:
        alternatives = item.get("when", [])
        assert isinstance(alternatives, list)
        named |= {name for it in alternatives if isinstance(it, dict) for name in it}
    assert sorted(named - keys.keys.keys() - keys.extra.keys()) == []
