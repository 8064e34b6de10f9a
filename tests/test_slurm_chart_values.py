"""Raw values of the Slurm charts: every node set has the keys of the defaults, old keys name new ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from gitops_gen.catalog.charts import chart_keys_from, chart_objects, check_values
from gitops_gen.diagnostics import Severity
from gitops_gen.maintain.charts import KnownChart, known_charts, read_facts
from gitops_gen.maintain.shapes import shape_entries, told_by_shapes
from gitops_gen.model import ChartKeys, Json, Object
from gitops_gen.traced import parse_path

ROOT = ("spec", "components", "slurm", "values")
CHARTS = tuple(chart for chart in known_charts() if chart.component == "slurm")
CURRENT, SUPERSEDED = "1.2.1", "1.1.2"


def known_ids(chart: KnownChart) -> str:
    return f"{chart.chart}-{chart.version}"


def keys_of(chart: str, version: str) -> ChartKeys:
    known = next(it for it in CHARTS if (it.chart, it.version) == (chart, version))
    return chart_keys_from(read_facts(known.facts_file()), read_facts(known.extra_file()))


@pytest.fixture(scope="module")
def slurm() -> ChartKeys:
    return keys_of("slurm", CURRENT)


@pytest.fixture(scope="module")
def older() -> ChartKeys:
    return keys_of("slurm", SUPERSEDED)


def said(values: Object, keys: ChartKeys) -> list[tuple[str, str]]:
    """Return message and hint of each finding."""
    return [(it.message, it.hint) for it in check_values(values, keys, ROOT)]


def unknown(key: str, version: str = CURRENT) -> str:
    return f'values key "{key}" is not known to chart slurm {version}'


def nested(path: str, value: Json = "x") -> Object:
    tree: Json = value
    for part in reversed(parse_path(path)):
        tree = {str(part): tree}
    assert isinstance(tree, dict)
    return tree


# --- each key of a map has the keys of another -----------------------------------------------


@pytest.mark.parametrize("version", [CURRENT, SUPERSEDED])
@pytest.mark.parametrize(
    "path",
    [
        "nodesets.gpu.podSpec.tolerations",
        "nodesets.gpu.podSpec.volumes",
        "nodesets.gpu.slurmd.volumeMounts",
        "loginsets.main.podSpec.tolerations",
        "loginsets.main.login.env",
        "controller.podSpec.topologySpreadConstraints",
    ],
)
def test_every_set_has_the_keys_of_the_defaults(path: str, version: str) -> None:
    assert said(nested(path, []), keys_of("slurm", version)) == []


@pytest.mark.parametrize("version", [CURRENT, SUPERSEDED])
@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("nodesets.gpu.tolerations", "use nodesets.gpu.podSpec.tolerations"),
        ("nodesets.gpu.affinity", "use nodesets.gpu.podSpec.affinity"),
        ("nodesets.gpu.nodeSelector", "use nodesets.gpu.podSpec.nodeSelector"),
        ("loginsets.main.tolerations", "use loginsets.main.podSpec.tolerations"),
        ('nodesets["a.b"].tolerations', 'use nodesets["a.b"].podSpec.tolerations'),
        ("nodesets.gpu.volumeMounts", "use nodesets.gpu.slurmd.volumeMounts"),
        ("nodesets.gpu.image", "use nodesets.gpu.slurmd.image"),
        ("loginsets.main.securityContext", "use loginsets.main.login.securityContext"),
        (
            "nodesets.gpu.slurmd.volumes",
            "volumes belong to the pod (podSpec.volumes), volumeMounts to the container",
        ),
        (
            "nodesets.gpu.podSpec.volumeMounts",
            "volumeMounts belong to the container (slurmd, login, slurmctld, …), volumes to the pod",
        ),
        ("nodesets.gpu.replica", 'did you mean "nodesets.gpu.replicas"?'),
        ("nodesets.gpu.podSpec.toleration", 'did you mean "nodesets.gpu.podSpec.tolerations"?'),
        ("nodesets.gpu.slurmd.image.tags", 'did you mean "nodesets.gpu.slurmd.image.tag"?'),
        ("loginsets.main.service.spec.typ", 'did you mean "loginsets.main.service.spec.type"?'),
        ("partitions.train.nodeSets", 'did you mean "partitions.train.nodesets"?'),
        ("accounting.podSpec.nodeselector", 'did you mean "accounting.podSpec.nodeSelector"?'),
    ],
)
def test_misplaced_key_names_its_place_below_the_users_own_key(path: str, hint: str, version: str) -> None:
    assert said(nested(path), keys_of("slurm", version)) == [(unknown(path, version), hint)]


def test_items_of_lists_are_checked_as_kubernetes_has_them(slurm: ChartKeys) -> None:
    values = nested("nodesets.gpu.slurmd.volumeMounts", [{"name": "home", "mountpath": "/home"}])
    assert said(values, slurm) == [
        (
            unknown("nodesets.gpu.slurmd.volumeMounts[0].mountpath"),
            'did you mean "nodesets.gpu.slurmd.volumeMounts[].mountPath"?',
        )
    ]


@pytest.mark.parametrize(
    "values",
    [
        {"nodesets": {"gpu": {}, "cpu": {"replicas": 2, "extraConfMap": {"Gres": ["gpu:8"]}}}},
        {"nodesets": {"gpu": {"slurmd": {"image": "registry.example.com/slurmd@sha256:0"}}}},
        {"nodesets": {"gpu": {"slurmd": {"resources": {"limits": {"nvidia.com/gpu": 8}}}}}},
        {"nodesets": {"gpu": {"podSpec": {"nodeSelector": {"a/b": "c"}, "hostNetwork": True}}}},
        {"nodesets": {"gpu": {"metadata": {"annotations": {"a/b": "c"}}}}},
        {"nodesets": {"gpu": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 1}}}}},
        {"partitions": {"train": {"nodesets": ["gpu"], "configMap": {"MaxTime": "UNLIMITED"}}, "all": None}},
        {"controller": {"service": {"port": 6817, "nodePort": 30817, "spec": {"type": "NodePort"}}}},
        {
            "controller": {
                "extraConfMap": {"MaxNodeCount": 64},
                "extraConf": "A=b",
                "externalConfig": {"port": 1},
            }
        },
        {"configFiles": {"gres.conf": "x"}, "prologScripts": {"a.sh": "x"}, "clusterName": "hpc"},
        {"imagePullSecrets": [{"name": "pull"}], "slurmKey": {"secretRef": {"name": "a", "key": "b"}}},
    ],
)
def test_right_values_pass(slurm: ChartKeys, values: Object) -> None:
    assert said(values, slurm) == []


@pytest.mark.parametrize(
    ("path", "hint"),
    [("nodesets", "each node set is its key"), ("loginsets", "each login set is its key")],
)
def test_list_of_sets_is_answered_with_the_map(slurm: ChartKeys, path: str, hint: str) -> None:
    assert said({path: [{"name": "gpu"}]}, slurm) == [
        (f'values key "{path}" must be an object, not an array', f"write a map: the name of {hint}")
    ]


def test_set_that_is_no_map_is_an_error(slurm: ChartKeys) -> None:
    assert said({"nodesets": {"gpu": 4}}, slurm) == [
        ('values key "nodesets.gpu" must be an object, not the integer 4', "")
    ]


# --- older values ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("slurm.extraSlurmConf", "gone since v0.4.0: extraSlurmConf is controller.extraConfMap"),
        ("compute.nodesets", "gone since v0.4.0: compute.nodesets is nodesets"),
        ("login.replicas", "gone since v0.4.0: use loginsets"),
        ("mariadb.enabled", "gone since v0.4.0: the chart brings no database"),
        ("authcred.image", "remove it: gone since v0.4.0"),
        ("jwt.hs256", "gone since v0.4.0: jwt.hs256.secretName is jwtKey.secretRef"),
        ("slurm-exporter.enabled", "gone since v1.0.0: slurmctld serves metrics itself"),
        ("controller.image", "use controller.slurmctld.image"),
        ("controller.tolerations", "use controller.podSpec.tolerations"),
        ("controller.servicePort", "remove it: the operator expects the default port"),
        ("controller.persistence.size", "use controller.persistence.resources.requests.storage"),
        ("accounting.initconf", "remove it: gone since v1.0.0"),
        ("slurmKeyRef", "use slurmKey.secretRef with slurmKey.create: false"),
        ("jwtHs256KeyRef", "use jwtKey.secretRef with jwtKey.create: false"),
        ("priorityClassName", "use priorityClass.enabled and priorityClass.name"),
        ("loginsets.slinky.sssdConf", "use sssd.secretRef, one for the whole cluster"),
        ("nodesets.slinky.useResourceLimits", "remove it: gone since v1.1.0"),
        ("nodesets.slinky.taintKubeNodes", "remove it: gone since v1.2.0"),
        ("nodesets.slinky.nodeConfig", "use nodesets.slinky.extraConfMap"),
        ("controller.ha", "it comes with v1.3.0"),
        ("vendor.google.a3ultra", "it comes with v1.3.0"),
    ],
)
def test_values_of_other_releases_are_answered_with_the_new_place(
    slurm: ChartKeys, path: str, hint: str
) -> None:
    ((message, told),) = said(nested(path), slurm)
    assert message == unknown(path if path in slurm.hints or "sets." in path else path.partition(".")[0])
    assert told.startswith(hint)


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("nodesetDefaults.replicas", "it came with v1.2.0: write it into each of nodesets"),
        ("controller.inplaceReconfigure", "it came with v1.2.0"),
        ("nodesets.gpu.pinToNode", "it came with v1.2.0"),
        ("nodesets.gpu.slurmd.image.digest", "it came with v1.2.0: write the image as one text"),
    ],
)
def test_newer_keys_are_told_from_unknown_ones(older: ChartKeys, path: str, hint: str) -> None:
    ((_, told),) = said(nested(path), older)
    assert told.startswith(hint)


@pytest.mark.parametrize(
    ("version", "path", "reason"),
    [
        (CURRENT, "nodesets.gpu.podSpec.hostname", "the chart names pods after the key of the node set"),
        (CURRENT, "nodesets.gpu.ssh.sssdConfRef", "the chart writes it from sssd.secretRef"),
        (SUPERSEDED, "nodesets.gpu.taintKubeNodes", "the operator ignores it since v1.1.1"),
    ],
)
def test_keys_without_effect_say_why(version: str, path: str, reason: str) -> None:
    (found,) = check_values(nested(path), keys_of("slurm", version), ROOT)
    assert (found.code, found.severity) == ("dead-values-key", Severity.WARNING)
    assert found.message == f'values key "{path}" has no effect in chart slurm {version}: {reason}'


@pytest.mark.parametrize(
    "path",
    ["controller.logfile.image.tag", "nodesets.gpu.slurmd.image.tag", "loginsets.main.initconf.image.tag"],
)
def test_tag_latest_is_discouraged(slurm: ChartKeys, path: str) -> None:
    (found,) = check_values(nested(path, "latest"), slurm, ROOT)
    assert (found.code, found.severity) == ("discouraged-value", Severity.WARNING)
    assert (found.path, found.on_key) == ((*ROOT, *parse_path(path)), False)
    assert found.message == f'values key "{path}" should not be "latest"'
    assert found.hint == "name a version: latest changes without a commit, and nodes run different ones"
    assert said(nested(path, "3.24.1"), slurm) == []


@pytest.mark.parametrize("chart", [it for it in CHARTS if "crds" not in it.chart], ids=known_ids)
def test_every_hint_answers_its_key(chart: KnownChart) -> None:
    keys = keys_of(chart.chart, chart.version)
    for name, hint in keys.hints.items():
        if name.endswith("[]"):
            values = nested(name.removesuffix("[]"), [])
            told = [it for it in check_values(values, keys, ROOT) if it.code == "values-type"]
        else:
            told = [it for it in check_values(nested(name), keys, ROOT) if it.code == "unknown-values-key"]
        parent = name.rpartition(".")[0]
        assert [it.hint for it in told] == [hint.replace("{here}", parent)], name


# --- shapes and objects ----------------------------------------------------------------------

SETS: Mapping[str, Json] = {
    "nodesets": {"gpu": {}, "off": {"enabled": False}, "gone": None},
    "loginsets": {"main": {}},
}


@pytest.mark.parametrize("version", [CURRENT, SUPERSEDED])
def test_each_set_is_an_object_of_its_own_name(version: str) -> None:
    found = chart_objects(keys_of("slurm", version), SETS, "slurm", "slurm")
    named = {it.name for it in found if it.kind in ("NodeSet", "LoginSet")} - {"slurm-worker-slinky"}
    assert named == {"slurm-worker-gpu", "slurm-login-main"}


@pytest.mark.parametrize("version", [CURRENT, SUPERSEDED])
def test_key_secrets_are_made_unless_switched_off(version: str) -> None:
    keys = keys_of("slurm", version)
    off: Object = {"slurmKey": {"create": False}, "jwtKey": {"create": False}}

    def secrets(values: Object) -> set[str]:
        return {it.name for it in chart_objects(keys, values, "hpc", "slurm") if it.kind == "Secret"}

    assert secrets({}) == {"hpc-auth-slurm", "hpc-auth-jwt"}
    assert secrets(off) == set()
    assert secrets({**off, "loginsets": {"main": {}}}) == {"hpc-sssd-conf"}
    given: Object = {"loginsets": {"main": {}}, "sssd": {"secretRef": {"name": "sssd", "key": "sssd.conf"}}}
    assert secrets({**off, **given}) == set()


@pytest.mark.parametrize("version", [CURRENT, SUPERSEDED])
@pytest.mark.parametrize("key", ["slurmKey", "jwtKey"])
def test_key_secret_that_a_user_names_is_made_only_with_create(key: str, version: str) -> None:
    other = {"slurmKey": "jwtKey", "jwtKey": "slurmKey"}[key]

    def secrets(create: bool) -> set[str]:
        values: Object = {key: {"create": create, "secretRef": {"name": "own"}}, other: {"create": False}}
        found = chart_objects(keys_of("slurm", version), values, "slurm", "slurm")
        return {it.name for it in found if it.kind == "Secret"}

    assert (secrets(True), secrets(False)) == ({"own"}, set())


def test_priority_class_is_named_by_its_value(slurm: ChartKeys) -> None:
    values: Object = {"priorityClass": {"enabled": True, "create": True, "name": "hpc"}}
    found = chart_objects(slurm, values, "slurm", "slurm")
    assert [it.name for it in found if it.namespace is None] == ["hpc"]


@pytest.mark.parametrize("version", [CURRENT, SUPERSEDED])
def test_cluster_scoped_objects_of_operator_and_crds(version: str) -> None:
    def scoped(chart: str) -> set[tuple[str, str]]:
        found = chart_objects(keys_of(chart, version), {}, chart, "slinky")
        return {(it.kind, it.name) for it in found if it.namespace is None}

    roles = {(kind, name) for kind in ("ClusterRole", "ClusterRoleBinding") for name in OPERATOR}
    webhooks = {
        (kind, "slurm-operator-webhook")
        for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
    }
    assert scoped("slurm-operator") == roles | webhooks
    plurals = ("accountings", "controllers", "loginsets", "nodesets", "restapis", "tokens")
    assert scoped("slurm-operator-crds") == {
        ("CustomResourceDefinition", f"{it}.slinky.slurm.net") for it in plurals
    }


OPERATOR = ("slurm-operator", "slurm-operator-webhook")


def test_shapes_come_from_kubernetes_and_crds(tmp_path: Path) -> None:
    crd = tmp_path / "crd.json"
    schema = {
        "properties": {
            "strategy": {
                "type": "object",
                "properties": {
                    "type": {"type": "string"},
                    "unavailable": {"x-kubernetes-int-or-string": True},
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                    "steps": {"type": "array", "items": {"properties": {"name": {"type": "string"}}}},
                },
            }
        }
    }
    version = {"schema": {"openAPIV3Schema": {"properties": {"spec": schema}}}}
    crd.write_text(json.dumps({"spec": {"versions": [version]}}))
    chart = KnownChart(
        component="none",
        chart="none",
        version="1.0.0",
        upstream="",
        release="none",
        checked="2026-12-07",
        kubernetes="1.35.0",
        sources={},
        shapes={"a.strategy": "crd.json#strategy", "a.service": "kubernetes#ServiceSpec"},
    )
    found = shape_entries(chart, tmp_path)
    source = "crd.json, strategy"
    assert {name: it for name, it in found.items() if name.startswith("a.strategy")} == {
        "a.strategy.type": {"type": "string", "source": source},
        "a.strategy.unavailable": {"type": ["integer", "string"], "source": source},
        "a.strategy.labels": {"type": "object", "source": source, "open": True},
        "a.strategy.steps": {"type": "array", "source": source},
        "a.strategy.steps[]": {"type": "object", "source": source},
        "a.strategy.steps[].name": {"type": "string", "source": source},
    }
    source = "Kubernetes 1.35.0 API, ServiceSpec"
    assert found["a.service.ports[].targetPort"] == {
        "type": ["integer", "number", "string"],
        "source": source,
    }
    assert found["a.service.selector"] == {"type": "object", "source": source, "open": True}
    assert found["a.service.type"] == {"type": "string", "source": source}


def test_shapes_add_only_what_values_do_not_tell() -> None:
    keys: dict[str, Object] = {
        "a": {"type": "integer", "default": 1},
        "b": {"type": "null", "default": None},
        "c": {"type": "string", "default": "25%"},
        "d": {"type": "object", "open": False},
    }
    entries: dict[str, Object] = {
        "a": {"type": "integer"},
        "b": {"type": "integer"},
        "c": {"type": ["integer", "string"]},
        "d": {"type": "object", "open": True},
        "e": {"type": "string"},
    }
    assert sorted(told_by_shapes(keys, entries)) == ["b", "c", "d", "e"]


@pytest.mark.parametrize("chart", CHARTS, ids=known_ids)
def test_likeness_leads_to_known_keys(chart: KnownChart) -> None:
    keys = keys_of(chart.chart, chart.version)
    likes = {str(entry["like"]) for entry in keys.extra.values() if "like" in entry}
    assert sorted(likes - keys.keys.keys()) == []
