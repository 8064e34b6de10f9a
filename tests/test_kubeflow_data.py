"""The release catalogue of Kubeflow: what kustomize makes of each path, and what is kept by hand."""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitops_gen.maintain import kubeflow
from gitops_gen.maintain.kubeflow_facts import (
    address_key,
    cluster_kinds,
    path_facts,
    plain_name,
    read_objects,
)
from gitops_gen.maintain.kubeflow_images import image_places, mark_moved, moved_images

RELEASES = ("26.03", "v1.11.0")
LIMIT = 262144
"""Bytes of an annotation; a client-side apply of a bigger object fails."""
EXTRAS = {
    name: json.loads((kubeflow.UPSTREAM / f"kubeflow-{name}.extra.json").read_text()) for name in RELEASES
}
FACTS = {name: json.loads(kubeflow.release_file(name).read_text()) for name in RELEASES}
CHECKOUT, BASES = "GITOPS_GEN_KUBEFLOW", "GITOPS_GEN_KUBEFLOW_BASES"

pytestmark = pytest.mark.filterwarnings("error")
each_release = pytest.mark.parametrize("release", RELEASES)
Part = dict[str, Any]


def parts(release: str) -> dict[str, Part]:
    found: dict[str, Part] = EXTRAS[release]["parts"]
    return found


def paths(release: str) -> dict[str, Part]:
    found: dict[str, Part] = FACTS[release]["paths"]
    return found


def variants(release: str) -> Iterator[tuple[str, Part, str]]:
    """Yield part and path, alternatives included."""
    for name, part in parts(release).items():
        yield name, part, part["path"]
        for other in part.get("alternatives", {}).values():
            yield name, part, other["path"]


def closure(release: str, name: str) -> set[str]:
    """Return the part with all that it needs before it."""
    found, left = set(), [name]
    while left:
        part = left.pop()
        if part not in found:
            found.add(part)
            left += [need["part"] for need in parts(release)[part]["needs"]]
    return found


def identity(item: Mapping[str, Any]) -> tuple[str, str, str | None, str]:
    return item["group"], item["kind"], item["namespace"], item["name"]


def place_of(item: Mapping[str, Any]) -> str:
    """Name an object as the other sections of its path do."""
    return f"{item['kind']}/{item['namespace'] or ''}/{item.get('generated', item['name'])}"


def places(facts: Part) -> set[str]:
    return {place_of(item) for item in facts["objects"]}


def identities(facts: Part) -> set[tuple[str, str, str | None, str]]:
    return {identity(item) for item in facts["objects"]}


# --- what upstream's example installs ------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "counts"),
    [
        (
            "26.03",
            {
                "paths": 27,
                "objects": 675,
                "crds": 74,
                "webhooks": 28,
                "workloads": 51,
                "images": 53,
                "over": 8,
            },
        ),
        (
            "v1.11.0",
            {
                "paths": 29,
                "objects": 653,
                "crds": 70,
                "webhooks": 27,
                "workloads": 50,
                "images": 52,
                "over": 6,
            },
        ),
    ],
)
def test_example_has_the_size_that_upstream_makes(release: str, counts: dict[str, int]) -> None:
    example = [paths(release)[path] for path in FACTS[release]["example"]]
    found = {
        name: sum(len(path[name]) for path in example)
        for name in ("objects", "crds", "webhooks", "workloads")
    }
    found["paths"] = len(example)
    found["images"] = len({image for path in example for image in path["images"]})
    found["over"] = sum(crd["bytes"] > LIMIT for path in example for crd in path["crds"].values())
    assert found == counts


@each_release
def test_no_two_paths_of_the_example_make_one_object(release: str) -> None:
    made = Counter(
        identity(item) for path in FACTS[release]["example"] for item in paths(release)[path]["objects"]
    )
    assert [item for item, count in made.items() if count > 1] == []


@each_release
def test_parts_that_are_not_optional_are_the_example_without_what_is_refused(release: str) -> None:
    own = {part["path"] for part in parts(release).values() if not part.get("optional")}
    assert own == set(FACTS[release]["example"]) - set(EXTRAS[release]["refused"])


@each_release
def test_every_path_is_built_and_no_other(release: str) -> None:
    named = {path for _, _, path in variants(release)}
    assert set(paths(release)) == named | set(FACTS[release]["example"])


@each_release
def test_every_block_kept_by_hand_has_source_and_date(release: str) -> None:
    extra = EXTRAS[release]
    blocks = [
        extra,
        extra["kubernetes"],
        extra["kustomizeVersions"],
        *extra["faults"],
        *extra["platforms"].values(),
    ]
    assert [
        it for it in blocks if not it["source"] or not re.fullmatch(r"\d{4}-\d\d-\d\d", it["checked"])
    ] == []
    assert extra["release"] == FACTS[release]["release"] == release


@each_release
def test_versions_that_are_stated_are_in_order(release: str) -> None:
    stated = EXTRAS[release]["kubernetes"]
    order = [tuple(map(int, stated[name].split("."))) for name in ("min", "recommended", "max")]
    assert order == sorted(order)


# --- parts ---------------------------------------------------------------------------------------


@each_release
def test_needs_are_closed_and_acyclic(release: str) -> None:
    graph = {name: {need["part"] for need in part["needs"]} for name, part in parts(release).items()}
    assert set(TopologicalSorter(graph).static_order()) == set(graph)


@each_release
def test_companions_are_parts_that_do_not_come_earlier_anyway(release: str) -> None:
    for name, part in parts(release).items():
        companions = {item["part"] for item in part.get("with", [])}
        assert companions <= set(parts(release))
        assert companions & closure(release, name) == set()


@each_release
def test_nothing_comes_before_what_it_needs(release: str) -> None:
    known = parts(release)
    late = [
        (name, need["part"])
        for name, part in known.items()
        for need in part["needs"]
        if known[need["part"]]["wave"] > part["wave"]
    ]
    assert late == []


@each_release
def test_reasons_are_given_once_for_each_need(release: str) -> None:
    for part in parts(release).values():
        needs = [*part["needs"], *part.get("with", [])]
        assert len({need["part"] for need in needs}) == len(needs)
        assert all(need["reason"] and need["reason"][-1] != "." for need in needs)
        assert part["why"].endswith(".")


@each_release
def test_kinds_of_another_part_are_needed(release: str) -> None:
    """A path that holds, say, a VirtualService needs the part with that CRD."""
    owners = {
        (name.partition(".")[2], crd["kind"]): owner
        for owner, part in parts(release).items()
        for name, crd in paths(release)[part["path"]]["crds"].items()
    }
    for name, _, path in variants(release):
        kinds = {(item["group"], item["kind"]) for item in paths(release)[path]["objects"]}
        wanted = {owners[kind] for kind in kinds if kind in owners}
        assert wanted <= closure(release, name), f"{name} ({path})"


@each_release
def test_namespaces_that_a_path_uses_are_made_by_what_it_needs(release: str) -> None:
    makers = {
        item["name"]: name
        for name, part in parts(release).items()
        for item in paths(release)[part["path"]]["objects"]
        if item["kind"] == "Namespace"
    }
    for name, _, path in variants(release):
        used = {item["namespace"] for item in paths(release)[path]["objects"]} - {None, "", "kube-system"}
        assert {makers[namespace] for namespace in used} <= closure(release, name), f"{name} ({path})"


@each_release
def test_own_namespace_is_asked_for_exactly_where_a_path_sets_none(release: str) -> None:
    for name, part in parts(release).items():
        unset = any(item["namespace"] == "" for item in paths(release)[part["path"]]["objects"])
        assert unset == part.get("ownNamespace", False) == (part["namespace"] == ""), name


@each_release
def test_destination_namespace_is_one_that_the_path_or_its_needs_make(release: str) -> None:
    for name, part in parts(release).items():
        if part["namespace"]:
            made = {
                item["name"]
                for other in closure(release, name)
                for item in paths(release)[parts(release)[other]["path"]]["objects"]
                if item["kind"] == "Namespace"
            }
            used = {item["namespace"] for item in paths(release)[part["path"]]["objects"]} - {None}
            assert part["namespace"] in made or part["namespace"] not in used, name


@each_release
def test_alternatives_make_again_only_what_is_listed(release: str) -> None:
    for name, part in parts(release).items():
        elsewhere = {
            f"{kind}/{namespace or ''}/{called}"
            for other, it in parts(release).items()
            if other != name
            for _, kind, namespace, called in identities(paths(release)[it["path"]])
        }
        for key, other in part.get("alternatives", {}).items():
            twice = places(paths(release)[other["path"]]) & elsewhere
            assert sorted(twice) == other.get("duplicates", []), f"{name}: {key}"
            assert other["when"]
            assert other["why"]


@each_release
def test_placeholders_of_an_alternative_stand_in_its_objects(release: str) -> None:
    found = [
        (item["in"], other["path"])
        for part in parts(release).values()
        for other in part.get("alternatives", {}).values()
        for item in other.get("placeholders", [])
    ]
    assert found
    assert all(place in places(paths(release)[path]) for place, path in found)


@each_release
def test_groups_hold_every_part_that_users_choose(release: str) -> None:
    extra = EXTRAS[release]
    chosen = {part for group in extra["groups"].values() for part in group}
    assert chosen <= set(parts(release))
    assert {name for preset in extra["presets"].values() for name in preset} <= set(extra["groups"])
    wave = {name for name, part in parts(release).items() if part["wave"] >= 0}
    assert wave <= chosen


@pytest.mark.parametrize(
    ("release", "part", "needs"),
    [
        ("26.03", "trainer", {"kubeflow-namespace"}),
        ("26.03", "spark-operator", {"kubeflow-namespace"}),
        (
            "26.03",
            "jupyter-web-app",
            {
                *("kubeflow-namespace", "istio-crds", "istio-namespace", "istio-install", "kubeflow-roles"),
                *("kubeflow-istio-resources", "oauth2-proxy", "dex", "profiles", "dashboard", "cert-manager"),
                *("admission-webhook", "notebook-controller"),
            },
        ),
        (
            "v1.11.0",
            "kserve",
            {
                *("kubeflow-namespace", "cert-manager", "istio-crds", "istio-namespace", "istio-install"),
                *("kubeflow-istio-resources", "cluster-local-gateway", "knative-serving"),
            },
        ),
    ],
)
def test_closure_of_a_part(release: str, part: str, needs: set[str]) -> None:
    assert closure(release, part) - {part} == needs


def test_knative_is_needed_in_one_mode_of_kserve_only() -> None:
    conditional = [
        (name, need["part"], need["when"])
        for name, part in parts("26.03").items()
        for need in part["needs"]
        if "when" in need
    ]
    assert conditional == [
        ("kserve", "knative-serving", {"kserve.mode": "knative"}),
        ("dashboard", "dex", {"auth.oidc": None}),
    ]


# --- differences that Argo CD has to ignore ------------------------------------------------------


@each_release
def test_ignored_differences_name_objects_of_the_part(release: str) -> None:
    for name, part in parts(release).items():
        for _, _, path in (it for it in variants(release) if it[0] == name):
            made = {(group, kind, called) for group, kind, _, called in identities(paths(release)[path])}
            told = {
                (entry["group"], entry["kind"], target)
                for entry in part.get("ignoreDifferences", [])
                for target in entry["names"]
            }
            assert told <= made, f"{name} ({path})"


@each_release
def test_everything_that_is_filled_at_run_time_is_ignored(release: str) -> None:
    for name, part in parts(release).items():
        facts = paths(release)[part["path"]]
        filled = {tuple(webhook.split("/")) for webhook in facts["webhooks"]}
        filled |= {
            ("CustomResourceDefinition", crd) for crd, it in facts["crds"].items() if "conversion" in it
        }
        filled |= {("ClusterRole", role) for role in facts["aggregated"]}
        filled |= {
            ("Secret", secret.split("/")[2])
            for secret, it in facts["secrets"].items()
            if "data" not in it and "stringData" not in it
        }
        told = {
            (entry["kind"], target)
            for entry in part.get("ignoreDifferences", [])
            for target in entry["names"]
        }
        assert told == filled, name


def test_istiod_may_turn_its_failure_policy() -> None:
    policies = [
        (name, entry["names"])
        for name, part in parts("26.03").items()
        for entry in part.get("ignoreDifferences", [])
        if ".webhooks[]?.failurePolicy" in entry["jq"]
    ]
    assert policies == [("istio-install", ["istio-validator-istio-system"])]


# --- images --------------------------------------------------------------------------------------


@each_release
def test_hidden_images_stand_where_they_are_said_to(release: str) -> None:
    for path, facts in paths(release).items():
        for item in facts["hidden"]:
            assert item["in"] in places(facts), path
            if "key" in item:
                assert item["key"] in facts["data"][item["in"]]
            elif "container" in item:
                workload = facts["workloads"][item["in"]]
                container = {**workload.get("initContainers", {}), **workload["containers"]}[
                    item["container"]
                ]
                assert "env" not in item or item["env"] in container["env"]


@each_release
def test_images_of_workloads_are_all_reached_by_kustomize(release: str) -> None:
    assert [path for path, facts in paths(release).items() if "unreached" in facts] == []
    for facts in paths(release).values():
        used = {
            container["image"]
            for workload in facts["workloads"].values()
            for field in ("containers", "initContainers")
            for container in workload.get(field, {}).values()
        }
        assert sorted(used) == facts["images"]


@pytest.mark.parametrize(
    ("part", "entry"),
    [
        (
            "pipelines",
            {
                "image": "quay.io/argoproj/argoexec:v3.7.3",
                "in": "Deployment/kubeflow/workflow-controller",
                "container": "workflow-controller",
                "arg": "--executor-image",
            },
        ),
        (
            "pipelines",
            {
                "image": "ghcr.io/kubeflow/kfp-launcher:2.16.0",
                "in": "Deployment/kubeflow/ml-pipeline",
                "container": "ml-pipeline-api-server",
                "env": "V2_LAUNCHER_IMAGE",
            },
        ),
        (
            "pipelines",
            {
                "image": "ghcr.io/kubeflow/kfp-frontend",
                "in": "ConfigMap/kubeflow/kubeflow-pipelines-profile-controller-code",
                "key": "sync.py",
            },
        ),
        (
            "kserve",
            {
                "image": "kserve/storage-initializer:v0.16.0",
                "in": "ClusterStorageContainer//default",
                "field": "spec.container.image",
            },
        ),
        (
            "kserve",
            {
                "image": "nvcr.io/nvidia/tritonserver:23.05-py3",
                "in": "ClusterServingRuntime//kserve-tritonserver",
                "field": "spec.containers.0.image",
                "transformed": True,
            },
        ),
        (
            "katib",
            {
                "image": "ghcr.io/kubeflow/katib/suggestion-enas:v0.19.0",
                "in": "ConfigMap/kubeflow/katib-config",
                "key": "katib-config.yaml",
            },
        ),
        (
            "jupyter-web-app",
            {
                "image": "ghcr.io/kubeflow/kubeflow/notebook-servers/rstudio-tidyverse:v1.10.0",
                "in": "ConfigMap/kubeflow/jupyter-web-app-config",
                "key": "spawner_ui_config.yaml",
            },
        ),
        (
            "istio-install",
            {
                "image": "gcr.io/istio-release/proxyv2:1.29.0",
                "in": "ConfigMap/istio-system/istio-sidecar-injector",
                "key": "values",
            },
        ),
        (
            "tensorboard-controller",
            {
                "image": "tensorflow/tensorflow:2.5.1",
                "in": "ConfigMap/kubeflow/tensorboard-controller-config",
                "key": "TENSORBOARD_IMAGE",
            },
        ),
    ],
)
def test_image_that_runs_later_is_found(part: str, entry: dict[str, object]) -> None:
    assert entry in paths("26.03")[parts("26.03")[part]["path"]]["hidden"]


# --- names, namespaces, data ---------------------------------------------------------------------


@each_release
def test_only_config_maps_and_secrets_have_generated_names(release: str) -> None:
    for facts in paths(release).values():
        made = [item for item in facts["objects"] if "generated" in item]
        assert {item["kind"] for item in made} <= {"ConfigMap", "Secret"}
        assert all(re.fullmatch(rf"{re.escape(it['generated'])}-[a-z0-9]{{10}}", it["name"]) for it in made)
        assert len({(it["kind"], it["namespace"], it["generated"]) for it in made}) == len(made)


def test_hash_is_told_from_a_name() -> None:
    made = {
        item["generated"]: item["name"]
        for item in paths("26.03")["applications/profiles/pss"]["objects"]
        if "generated" in item
    }
    assert made == {
        "namespace-labels-data": "namespace-labels-data-2k29b64d74",
        "profiles-config": "profiles-config-5h9m86f79f",
    }


@each_release
def test_sections_name_objects_of_their_path(release: str) -> None:
    for path, facts in paths(release).items():
        for section in ("data", "secrets", "workloads", "services", "claims"):
            assert set(facts[section]) <= places(facts), f"{path}: {section}"
        assert {f"CustomResourceDefinition//{name}" for name in facts["crds"]} <= places(facts)


@each_release
def test_scope_of_a_kind_decides_whether_there_is_a_namespace(release: str) -> None:
    scopes = {
        (name.partition(".")[2], crd["kind"]): crd["scope"]
        for facts in paths(release).values()
        for name, crd in facts["crds"].items()
    }
    for facts in paths(release).values():
        for item in facts["objects"]:
            scope = scopes.get((item["group"], item["kind"]))
            assert scope is None or (scope == "Cluster") == (item["namespace"] is None), item


@pytest.mark.parametrize(
    ("part", "place", "address"),
    [
        (
            "admission-webhook",
            "Deployment/kubeflow/admission-webhook-deployment",
            {"name": "deployment", "namespace": "kubeflow"},
        ),
        (
            "notebook-controller",
            "ConfigMap/kubeflow/notebook-controller-config",
            {"name": "notebook-controller-config", "namespace": "notebook-controller-system"},
        ),
        (
            "kubeflow-istio-resources",
            "Gateway/kubeflow/kubeflow-gateway",
            {"name": "kubeflow-gateway", "namespace": ""},
        ),
        (
            "trainer",
            "Deployment/kubeflow-system/jobset-controller-manager",
            {"name": "jobset-controller-manager", "namespace": "kubeflow"},
        ),
        ("dex", "ConfigMap/auth/dex", None),
        ("jupyter-web-app", "ConfigMap/kubeflow/jupyter-web-app-config", None),
    ],
)
def test_object_is_patched_by_the_name_it_has_before_the_path_changes_it(
    part: str, place: str, address: object
) -> None:
    facts = paths("26.03")[parts("26.03")[part]["path"]]
    assert [item.get("address") for item in facts["objects"] if place == place_of(item)] == [address]


@each_release
def test_addresses_are_told_only_where_they_differ(release: str) -> None:
    for facts in paths(release).values():
        for item in facts["objects"]:
            plain = {"name": item.get("generated", item["name"]), "namespace": item["namespace"] or ""}
            assert item.get("address") != plain


def test_remote_bases_are_those_of_two_parts() -> None:
    remote = {name: paths("26.03")[part["path"]]["remote"] for name, part in parts("26.03").items()}
    manifests = "https://github.com/argoproj/argo-workflows/manifests"
    assert {name: urls for name, urls in remote.items() if urls} == {
        "pipelines": [
            f"{manifests}/base/crds/minimal?ref=v3.7.3",
            f"{manifests}/base/workflow-controller?ref=v3.7.3",
            f"{manifests}/cluster-install-no-crds/workflow-controller-rbac?ref=v3.7.3",
        ],
        "trainer": ["https://github.com/kubernetes-sigs/jobset/releases/download/v0.10.1/manifests.yaml"],
    }


# --- credentials that everybody knows ------------------------------------------------------------


@each_release
def test_secrets_that_ship_with_values_are_all_known_as_public(release: str) -> None:
    shipped = {
        (name, secret, tuple(sorted(it.get("data", it.get("stringData", [])))))
        for name, part in parts(release).items()
        for secret, it in paths(release)[part["path"]]["secrets"].items()
        if "data" in it or "stringData" in it
    }
    known = {(it["part"], it["secret"], tuple(sorted(it["keys"]))) for it in EXTRAS[release]["credentials"]}
    assert known == shipped


@each_release
def test_all_readers_of_a_public_credential_are_named(release: str) -> None:
    for item in EXTRAS[release]["credentials"]:
        facts = paths(release)[parts(release)[item["part"]]["path"]]
        name = f"Secret/{item['secret'].split('/')[2]}"
        reading = {
            (workload, container): (
                {variable: source.rpartition("/")[2] for variable, source in it.get("from", {}).items()
                 if source.rpartition("/")[0] == name},
                name in it.get("envFrom", []),
            )
            for workload, pod in facts["workloads"].items()
            for container, it in pod["containers"].items()
        }  # fmt: skip
        told = {
            (reader["workload"], reader["container"]): (reader.get("env", {}), reader.get("envFrom", False))
            for reader in item["readers"]
        }
        assert {place: it for place, it in reading.items() if it != ({}, False)} == told, item["id"]


@each_release
def test_database_that_opens_without_a_password_reads_no_secret(release: str) -> None:
    servers = [item["server"] for item in EXTRAS[release]["credentials"] if "server" in item]
    assert [server["workload"] for server in servers] == ["Deployment/kubeflow/mysql"]
    for server in servers:
        path = parts(release)["pipelines"]["path"]
        workload = paths(release)[path]["workloads"][server["workload"]]
        assert workload["containers"][server["container"]]["env"] == [server["opens"]]
        assert "reads" not in workload


@each_release
def test_credentials_that_must_be_equal_name_each_other(release: str) -> None:
    known = {f"{it['secret']}/{key}" for it in EXTRAS[release]["credentials"] for key in it["keys"]}
    same = {other for it in EXTRAS[release]["credentials"] for other in it.get("same", {}).values()}
    assert same
    assert same <= known


@each_release
def test_no_value_of_a_secret_is_kept(release: str) -> None:
    text = kubeflow.release_file(release).read_text() + json.dumps(EXTRAS[release])
    assert [word for word in ("minio123", "$2y$", "$2a$", "user@example.com") if word in text] == []


# --- faults --------------------------------------------------------------------------------------


@each_release
def test_faults_name_parts_and_objects_that_exist(release: str) -> None:
    faults = EXTRAS[release]["faults"]
    assert len({fault["id"] for fault in faults}) == len(faults)
    for fault in faults:
        assert set(fault["parts"]) <= set(parts(release))
        assert fault["level"] in ("notice", "warning", "error")
        made = {
            place for part in fault["parts"] for place in places(paths(release)[parts(release)[part]["path"]])
        }
        assert {fault.get("object")} - {None} | {*fault.get("objects", [])} <= made


def test_policies_for_other_namespaces_are_told() -> None:
    fault = next(it for it in EXTRAS["v1.11.0"]["faults"] if it["id"] == "network-policies-in-one-namespace")
    made = paths("v1.11.0")["common/networkpolicies/base"]["objects"]
    meant = {item["address"]["namespace"] for item in made if place_of(item) in fault["objects"]}
    others = {item["address"]["namespace"] for item in made if "address" in item}
    assert meant == others
    assert len(fault["objects"]) == sum("address" in item for item in made) == 9
    assert all(namespace in fault["what"] for namespace in meant)


@each_release
def test_what_a_replaced_part_leaves_to_others_is_part_of_it(release: str) -> None:
    replaced = {name: it["replacedBy"] for name, it in parts(release).items() if "replacedBy" in it}
    assert [(name, it["component"]) for name, it in replaced.items()] == [("cert-manager", "certManager")]
    for name, it in replaced.items():
        assert set(it["leaves"]) <= places(paths(release)[parts(release)[name]["path"]])


def test_istio_is_of_two_versions() -> None:
    fault = next(it for it in EXTRAS["26.03"]["faults"] if it["id"] == "istio-version-skew")
    facts = [paths("26.03")[path] for name, _, path in variants("26.03") if name in fault["parts"]]
    images = {image for it in facts for image in it["images"]}
    assert images == {f"{image}:{fault['tag']}" for image in fault["images"]}
    injected = {
        item["image"]
        for it in facts
        for item in it["hidden"]
        if (item["in"], item["key"]) == (fault["injector"]["in"], fault["injector"]["key"])
    }
    assert injected == {f"gcr.io/istio-release/proxyv2:{fault['wants']}"}


@each_release
def test_jobset_comes_from_a_staging_registry(release: str) -> None:
    fault = next(it for it in EXTRAS[release]["faults"] if it["id"] == "jobset-staging-image")
    assert f"{fault['image']['from']}:v0.10.1" in paths(release)[parts(release)["trainer"]["path"]]["images"]


def test_old_example_makes_a_profile_that_nobody_can_use() -> None:
    made = paths("v1.11.0")["common/user-namespace/base"]["objects"]
    assert [item["name"] for item in made if item["kind"] == "Profile"] == ["$(profile-name)"]
    assert "user-namespace-unfilled" in {fault["id"] for fault in EXTRAS["v1.11.0"]["faults"]}


# --- how the facts are made ----------------------------------------------------------------------


OBJECTS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings-2k29b64d74, namespace: here}
data:
  WORKER_IMAGE: ghcr.io/example/worker:1.2
  form.yaml: |
    imageGroup: {options: [example/shell:3, example/desk@sha256:DIGEST]}
    plain: example/none:1
    imagePullPolicy: Always
  template: |
    {{ if .X }}
    image: "example/probe:4",
    {{ end }}
  code: get("X", "quay.io/example/code")
  values: '{"global": {"hub": "gcr.io/mesh", "tag": 9, "proxy": {"image": "proxy"}}}'
  link: https://ghcr.io/example/page:1
  _example: ghcr.io/example/documentation:1
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: server, namespace: here}
spec:
  replicas: 2
  template:
    spec:
      initContainers: [{name: first, image: example/first:1}]
      containers:
        - name: main
          image: example/main:1
          args: [--runner-image, example/runner:1, --other-image=example/other:1, --level, info]
          env:
            - {name: HELPER_IMAGE, value: example/helper:1}
            - {name: MODE, value: fast/slow}
            - {name: KEY, valueFrom: {secretKeyRef: {name: keys, key: main}}}
          envFrom: [{configMapRef: {name: settings-2k29b64d74}}]
      volumes:
        - {name: data, persistentVolumeClaim: {claimName: store}}
        - name: all
          projected: {sources: [{secret: {name: more}}]}
---
apiVersion: example.org/v1
kind: Runtime
metadata: {name: fast, namespace: there}
spec: {containers: [{name: x, image: example/fast:1}], image: {pull: never}}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: here}
stringData: {main: "", user: somebody}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: runtimes.example.org}
spec:
  group: example.org
  scope: Cluster
  names: {kind: Runtime}
  conversion: {strategy: Webhook}
  text: ≤ "image"
""".replace("DIGEST", "0" * 64)


def test_places_of_images() -> None:
    main = {"in": "Deployment/here/server", "container": "main"}
    settings = {"in": "ConfigMap/here/settings"}
    assert image_places(read_objects(OBJECTS), frozenset()) == [
        {"image": f"example/desk@sha256:{'0' * 64}", **settings, "key": "form.yaml"},
        {"image": "example/fast:1", "in": "Runtime/there/fast", "field": "spec.containers.0.image"},
        {"image": "example/first:1", **main, "container": "first", "pulled": True},
        {"image": "example/helper:1", **main, "env": "HELPER_IMAGE"},
        {"image": "example/main:1", **main, "pulled": True},
        {"image": "example/other:1", **main, "arg": "--other-image"},
        {"image": "example/probe:4", **settings, "key": "template"},
        {"image": "example/runner:1", **main, "arg": "--runner-image"},
        {"image": "example/shell:3", **settings, "key": "form.yaml"},
        {"image": "gcr.io/mesh/proxy:9", **settings, "key": "values"},
        {"image": "ghcr.io/example/worker:1.2", **settings, "key": "WORKER_IMAGE"},
        {"image": "quay.io/example/code", **settings, "key": "code"},
    ]


def test_images_that_kustomize_cannot_move_are_told() -> None:
    moved = OBJECTS.replace("example/first", "moved.invalid/example/first")
    moved = moved.replace("example/fast", "moved.invalid/example/fast")
    found: dict[str, Any] = mark_moved(read_objects(OBJECTS), read_objects(moved), frozenset())
    assert found["images"] == ["example/first:1", "example/main:1"]
    assert found["unreached"] == ["example/main:1"]
    assert [item["image"] for item in found["hidden"] if item.get("transformed")] == ["example/fast:1"]


def test_images_are_moved_by_name_alone() -> None:
    images = ["b/c:1", "b/c:2", "host:5000/a", f"d/e:3@sha256:{'0' * 64}"]
    assert list(moved_images(images)) == [
        ("b/c", "moved.invalid/b/c"),
        ("d/e", "moved.invalid/d/e"),
        ("host:5000/a", "moved.invalid/host:5000/a"),
    ]


def test_facts_of_objects() -> None:
    objects = read_objects(OBJECTS)
    addresses: dict[tuple[str, str, str, str], Any] = {
        **{address_key(item): {"name": plain_name(item), "namespace": "here"} for item in objects[:2]},
        **{address_key(item): {"name": "early", "namespace": ""} for item in objects[2:]},
    }
    facts: dict[str, Any] = path_facts(objects, cluster_kinds(objects), addresses)
    assert [(it["kind"], it["name"], it["namespace"], it.get("generated")) for it in facts["objects"]] == [
        ("ConfigMap", "settings-2k29b64d74", "here", "settings"),
        ("Secret", "keys", "here", None),
        ("CustomResourceDefinition", "runtimes.example.org", None, None),
        ("Deployment", "server", "here", None),
        ("Runtime", "fast", None, None),
    ]
    assert [(it["kind"], it["address"]) for it in facts["objects"] if "address" in it] == [
        (kind, {"name": "early", "namespace": ""})
        for kind in ("Secret", "CustomResourceDefinition", "Runtime")
    ]
    size = len(json.dumps(objects[-1], separators=(",", ":"), ensure_ascii=False).encode())
    assert facts["crds"] == {
        "runtimes.example.org": {
            "kind": "Runtime",
            "scope": "Cluster",
            "bytes": size,
            "conversion": "Webhook",
        }
    }
    assert facts["secrets"] == {
        "Secret/here/keys": {"type": "Opaque", "stringData": ["main", "user"], "empty": ["main"]}
    }
    assert facts["data"]["Secret/here/keys"] == ["main", "user"]
    assert facts["workloads"] == {
        "Deployment/here/server": {
            "replicas": 2,
            "containers": {
                "main": {
                    "image": "example/main:1",
                    "env": ["HELPER_IMAGE", "MODE", "KEY"],
                    "from": {"KEY": "Secret/keys/main"},
                    "envFrom": ["ConfigMap/settings"],
                }
            },
            "initContainers": {"first": {"image": "example/first:1"}},
            "volumes": ["data", "all"],
            "claims": ["store"],
            "reads": ["ConfigMap/settings", "Secret/keys", "Secret/more"],
        }
    }


REMOTE = "https://github.com/example/engine"
ASSET = f"{REMOTE}/releases/download/v1/manifests.yaml"


def write(folder: Path, path: str, content: object) -> None:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(content))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of two paths, one of which needs a remote folder and a remote file."""
    folder = tmp_path / "checkout"
    write(folder, "example/kustomization.yaml", {"resources": ["../a", "../b/overlay"]})
    write(folder, "a/kustomization.yaml", {"configMapGenerator": [{"name": "plain", "literals": ["x=1"]}]})
    remote = [f"{REMOTE}/manifests/base?ref=v1", ASSET]
    write(folder, "b/base/kustomization.yaml", {"resources": remote})
    images = [{"name": "example/engine", "newName": "example/own"}]
    late = {"namespace": "late", "namePrefix": "late-"}
    write(folder, "b/overlay/kustomization.yaml", {"resources": ["../base"], "images": images, **late})
    engine = tmp_path / "engine/manifests/base"
    write(engine, "kustomization.yaml", {"resources": ["pod.yaml"]})
    pod = {"containers": [{"name": "engine", "image": "example/engine:1"}]}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "engine"}}
    write(engine, "pod.yaml", {**deployment, "spec": {"template": {"spec": pod}}})
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "all"}}
    write(tmp_path, "asset.yaml", {**role, "aggregationRule": {"clusterRoleSelectors": []}, "rules": []})
    return folder


def test_paths_are_built_with_local_bases(checkout: Path, kustomize: tuple[str, ...], tmp_path: Path) -> None:
    before = {file: file.read_bytes() for file in checkout.rglob("*.yaml")}
    bases = {f"{REMOTE}?ref=v1": tmp_path / "engine", ASSET: tmp_path / "asset.yaml"}
    copy = kubeflow.checkout_with_bases(checkout, bases, tmp_path / "scratch")
    found: dict[str, Any] = kubeflow.release_facts(
        "1", copy, ["a", "b/overlay"], {"commit": "abc", "checked": "2026-12-07"}
    )
    assert found["example"] == ["a", "b/overlay"]
    assert [it["generated"] for it in found["paths"]["a"]["objects"]] == ["plain"]
    assert found["paths"]["a"]["remote"] == []
    assert found["paths"]["b/overlay"]["images"] == ["example/own:1"]
    assert "unreached" not in found["paths"]["b/overlay"]
    assert found["paths"]["b/overlay"]["aggregated"] == ["late-all"]
    assert [
        (it["name"], it["namespace"], it["address"]) for it in found["paths"]["b/overlay"]["objects"]
    ] == [
        ("late-engine", "late", {"name": "engine", "namespace": ""}),
        ("late-all", None, {"name": "all", "namespace": ""}),
    ]
    assert found["paths"]["b/overlay"]["remote"] == [f"{REMOTE}/manifests/base?ref=v1", ASSET]
    assert {file: file.read_bytes() for file in checkout.rglob("*.yaml")} == before
    assert json.loads(kubeflow.dump_release(found)) == found


def test_each_entry_takes_one_line() -> None:
    facts: Any = {
        "release": "1",
        "paths": {"a": {"objects": [{"kind": "X"}], "data": {"X//y": ["k"]}, "hidden": []}},
    }
    assert kubeflow.dump_release(facts).splitlines() == [
        "{",
        ' "release": "1",',
        ' "paths": {',
        '  "a": {',
        '   "objects": [',
        '    {"kind": "X"}',
        "   ],",
        '   "data": {',
        '    "X//y": ["k"]',
        "   },",
        '   "hidden": []',
        "  }",
        " }",
        "}",
    ]


@pytest.mark.parametrize("text", ["https://example.org/x", "=here", "https://example.org=/does/not/exist"])
def test_base_that_cannot_stand_in_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not URL=PATH with a path that exists"):
        kubeflow.parse_base(text)


@each_release
def test_recorded_facts_are_in_the_form_that_is_written(release: str) -> None:
    assert kubeflow.dump_release(FACTS[release]) == kubeflow.release_file(release).read_text()


def test_rebuilding_gives_the_recorded_facts(kustomize: tuple[str, ...]) -> None:
    """With a checkout at hand; paths whose remote bases have no stand-in are left out."""
    if CHECKOUT not in os.environ:
        pytest.skip(f"no checkout of Kubeflow's manifests: set {CHECKOUT} (and {BASES}, URL=PATH by spaces)")
    folder = Path(os.environ[CHECKOUT])
    bases = dict(kubeflow.parse_base(text) for text in os.environ.get(BASES, "").split())
    example = [*kubeflow.example_paths(folder)]
    release = next((name for name in RELEASES if FACTS[name]["example"] == example), None)
    assert release is not None, f"{folder} is a checkout of none of {', '.join(RELEASES)}"
    recorded = FACTS[release]
    local = [path for path, facts in recorded["paths"].items() if bases or not facts["remote"]]
    stamp = {"commit": recorded["commit"], "checked": recorded["checked"]}
    with tempfile.TemporaryDirectory() as scratch:
        copy = kubeflow.checkout_with_bases(folder, bases, Path(scratch))
        built: dict[str, Any] = kubeflow.release_facts(release, copy, local, stamp)
    assert built["kustomize"] == recorded["kustomize"], "another kustomize may write other hashes"
    assert list(built["paths"]) == sorted(local)
    for path in local:
        assert built["paths"][path] == recorded["paths"][path], path
