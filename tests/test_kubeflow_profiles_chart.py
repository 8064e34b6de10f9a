"""The chart `kubeflow-profiles`, rendered by the real helm: objects, refusals, and no Namespace ever."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml

from gitops_gen.diagnostics import ToolError
from gitops_gen.emit import emit
from gitops_gen.resources import chart_files, data_folder
from gitops_gen.shell.command import Command, find_kustomize, run
from tests.crds import crds, faults, needs_upstream, strict

NAME = "kubeflow-profiles"
CHART = data_folder("charts") / NAME
GOLDEN = Path(__file__).parent / "charts" / NAME
TEAMS = GOLDEN / "three-teams.yaml"
SCHEMA = json.loads(chart_files(NAME)["values.schema.json"])
KUBEFLOW = os.environ.get("GITOPS_GEN_KUBEFLOW", "")
Helm = tuple[str, ...]


def template(helm: Helm, values: Path | Mapping[str, Any], *more: str) -> str:
    """Return what helm makes of values from a file or of these."""
    given = ("-", emit(values)) if isinstance(values, Mapping) else (str(values), None)
    argv = (*helm, "template", NAME, str(CHART), "--values", given[0], *more)
    return run(Command(argv=argv, stdin=given[1])).stdout


def objects(helm: Helm, values: Path | Mapping[str, Any], *more: str) -> dict[str, Any]:
    """Return the objects by `kind/name`, with the namespace in front where there is one."""
    loaded = [item for item in yaml.safe_load_all(template(helm, values, *more)) if item]
    keyed = {key(item): item for item in loaded}
    assert len(keyed) == len(loaded), "an object stands twice"
    return keyed


def key(item: Any) -> str:
    metadata = item["metadata"]
    space = f"{metadata['namespace']}/" if "namespace" in metadata else ""
    return f"{space}{item['kind']}/{metadata['name']}"


def team(**parts: Any) -> dict[str, Any]:
    """Return values with one profile."""
    return {"profiles": [{"name": "team-a", "owner": "ada@example.com", **parts}]}


def refusal(helm: Helm, values: Mapping[str, Any]) -> str:
    with pytest.raises(ToolError) as raised:
        template(helm, values)
    return str(raised.value)


def test_rendered_teams_are_the_golden_ones(helm: Helm, request: pytest.FixtureRequest) -> None:
    made = "".join(f"---\n{emit(item)}" for _, item in sorted(objects(helm, TEAMS).items()))
    golden = GOLDEN / "three-teams.expected.yaml"
    if request.config.getoption("--update-golden"):
        golden.write_text(made, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == made


def test_two_renders_are_equal(helm: Helm) -> None:
    assert template(helm, TEAMS) == template(helm, TEAMS)


def test_chart_passes_helms_own_checks(helm: Helm) -> None:
    run(Command(argv=(*helm, "lint", "--strict", str(CHART), "--values", str(TEAMS))))


def test_no_profiles_make_nothing(helm: Helm) -> None:
    assert objects(helm, {"profiles": []}) == {}


def test_example_in_the_values_file_is_right(helm: Helm) -> None:
    lines = chart_files(NAME)["values.yaml"].splitlines()
    start = lines.index("# profiles:")
    example = yaml.safe_load("\n".join(line[2:] for line in lines[start : lines.index("profiles: []")]))
    jsonschema.Draft7Validator(SCHEMA).validate(example)
    assert {name.rpartition("/")[0] for name in objects(helm, example)} == {
        "Profile",
        "team-vision/AuthorizationPolicy",
        "team-vision/LimitRange",
        "team-vision/PodDefault",
        "team-vision/RoleBinding",
    }


def test_every_key_of_a_profile_stands_in_the_golden_values() -> None:
    given = yaml.safe_load(TEAMS.read_text(encoding="utf-8"))["profiles"]
    known = SCHEMA["definitions"]
    assert {name for item in given for name in item} == known["profile"]["properties"].keys()
    pod_defaults = [entry for item in given for entry in item.get("podDefaults", [])]
    assert {name for item in pod_defaults for name in item} == known["podDefault"]["properties"].keys()


# --- what Argo CD does with the objects --------------------------------------------------------------


def test_no_namespace_is_made_and_all_but_profiles_lie_in_one(helm: Helm) -> None:
    for item in objects(helm, TEAMS).values():
        assert item["kind"] != "Namespace"
        assert ("namespace" in item["metadata"]) is (item["kind"] != "Profile")


def test_profiles_come_first_and_are_never_taken_away(helm: Helm) -> None:
    for item in objects(helm, TEAMS).values():
        annotations = item["metadata"].get("annotations", {})
        wave = int(annotations.get("argocd.argoproj.io/sync-wave", "0"))
        if item["kind"] == "Profile":
            assert wave == -2
            assert annotations["argocd.argoproj.io/sync-options"] == "Prune=false,Delete=false"
            assert annotations["helm.sh/resource-policy"] == "keep"
        else:
            assert wave == 0
            assert "argocd.argoproj.io/sync-options" not in annotations


def test_profiles_can_be_made_alone(helm: Helm) -> None:
    alone = objects(helm, TEAMS, "--set", "contents=false")
    assert sorted(alone) == ["Profile/1e3", "Profile/team-plain", "Profile/team-vision"]
    assert alone == {name: item for name, item in objects(helm, TEAMS).items() if name in alone}


# --- against upstream's schemas ----------------------------------------------------------------------


@pytest.mark.parametrize("version", ["1.32", "1.35"])
def test_objects_of_kubernetes_fit_its_schemas(helm: Helm, version: str) -> None:
    kinds = set()
    for item in objects(helm, TEAMS).values():
        if item["kind"] in ("LimitRange", "RoleBinding"):
            kinds.add(item["kind"])
            kubernetes_validate.validate(item, version, strict=True)
    assert kinds == {"LimitRange", "RoleBinding"}


@needs_upstream
def test_objects_of_kubeflow_fit_its_crds(helm: Helm) -> None:
    known = crds("kubeflow/26.03")
    kinds = set()
    for name, item in objects(helm, TEAMS).items():
        if item["apiVersion"].startswith("kubeflow.org/"):
            kinds.add(item["kind"])
            assert faults(item, known[item["apiVersion"], item["kind"]]) == [], name
    assert kinds == {"Profile", "PodDefault"}


@needs_upstream
def test_schema_of_the_chart_knows_the_fields_of_pod_defaults() -> None:
    spec = crds("kubeflow/26.03")["kubeflow.org/v1alpha1", "PodDefault"]["properties"]["spec"]
    ours = SCHEMA["definitions"]["podDefault"]["properties"].keys() - {"name", "description", "label"}
    assert spec["properties"].keys() - {"desc", "selector"} == ours


@pytest.mark.skipif(not KUBEFLOW, reason="GITOPS_GEN_KUBEFLOW names no checkout of Kubeflow's manifests")
def test_policies_fit_istios_crd(helm: Helm) -> None:
    file = Path(KUBEFLOW) / "common" / "istio" / "istio-crds" / "base" / "crd.yaml"
    loaded = [item for item in yaml.load_all(file.read_bytes(), Loader=yaml.CSafeLoader) if item]
    (crd,) = [
        item for item in loaded if item["metadata"]["name"] == "authorizationpolicies.security.istio.io"
    ]
    schemas = {f"security.istio.io/{item['name']}": strict(item) for item in crd["spec"]["versions"]}
    policies = [item for item in objects(helm, TEAMS).values() if item["kind"] == "AuthorizationPolicy"]
    assert len(policies) == 3
    for item in policies:
        assert faults(item, schemas[item["apiVersion"]]) == []


# --- contributors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("user", "role", "name"),
    [
        ("grace@example.com", "edit", "user-grace-example-com-clusterrole-edit"),
        ("Grace.M.Hopper+ml@EXAMPLE.com", "view", "user-grace-m-hopper-ml-example-com-clusterrole-view"),
        ("a--b__c@x.org", "admin", "user-a-b-c-x-org-clusterrole-admin"),
        ("_service_", "edit", "user-service-clusterrole-edit"),
        ("jürgen@example.com", "edit", "user-j-rgen-example-com-clusterrole-edit"),
        ("110169484474386276334", "view", "user-110169484474386276334-clusterrole-view"),
    ],
)
def test_contributors_are_named_and_marked_as_the_dashboard_does_it(
    helm: Helm, user: str, role: str, name: str
) -> None:
    """KFAM lists RoleBindings by these annotations and finds both objects by this name."""
    made = objects(helm, team(contributors=[{"user": user, "role": role}]))
    binding = made[f"team-a/RoleBinding/{name}"]
    policy = made[f"team-a/AuthorizationPolicy/{name}"]
    assert binding["metadata"]["annotations"] == {"user": user, "role": role}
    assert policy["metadata"]["annotations"] == {"user": user, "role": role}
    assert binding["roleRef"]["name"] == f"kubeflow-{role}"
    assert [item["name"] for item in binding["subjects"]] == [user]
    assert policy["spec"]["rules"][0]["when"] == [
        {"key": "request.headers[kubeflow-userid]", "values": [user]}
    ]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"contributors": [{"user": "ada@example.com", "role": "edit"}]},
            "profile team-a: the owner ada@example.com cannot be a contributor, too: owners are admins",
        ),
        (
            {
                "contributors": [
                    {"user": "a.b@x.org", "role": "edit"},
                    {"user": "a-b@x.org", "role": "edit"},
                ]
            },
            "profile team-a: the contributors a.b@x.org and a-b@x.org have one name, "
            "user-a-b-x-org-clusterrole-edit",
        ),
        (
            {"podDefaults": [{"name": "x", "description": "one"}, {"name": "x", "description": "two"}]},
            "profile team-a: the podDefault x stands twice",
        ),
        (
            {
                "plugins": [
                    {
                        "kind": "WorkloadIdentity",
                        "spec": {"gcpServiceAccount": f"{name}@p.iam.gserviceaccount.com"},
                    }
                    for name in ("one", "two")
                ]
            },
            "profile team-a: the plugin WorkloadIdentity stands twice",
        ),
        (
            {"quota": {"limits.cpu": 4}},
            "profile team-a: the quota counts limits.cpu, so pods without such a limit are refused: "
            "give limitRange.default.cpu",
        ),
    ],
)
def test_what_the_schema_cannot_see_is_refused(helm: Helm, parts: Mapping[str, Any], message: str) -> None:
    assert f"kubeflow-profiles: {message}" in refusal(helm, team(**parts))


def test_profile_stands_once(helm: Helm) -> None:
    twice = {"profiles": [{"name": "team-a", "owner": owner} for owner in ("ada", "barbara")]}
    assert "kubeflow-profiles: profile team-a: the name stands twice" in refusal(helm, twice)


# --- quotas and limits -------------------------------------------------------------------------------

QUANTITIES = {
    "2048Gi": "2Ti",
    "1500Mi": "1500Mi",
    "1024Ki": "1Mi",
    "1048576Ki": "1Gi",
    "512Gi": "512Gi",
    "0Gi": "0",
    "0": "0",
    "500m": "500m",
    "1500m": "1500m",
    "2000m": "2",
    "2000000m": "2k",
    "8": "8",
    "1000": "1k",
    "1000000": "1M",
    "1500": "1500",
    "1048576": "1048576",
    "64G": "64G",
    "64000M": "64G",
    "5000E": "5000E",
}


def test_quotas_are_written_in_the_form_that_the_controller_writes_back(helm: Helm) -> None:
    """Any other form would be changed to and fro between Argo CD and the controller."""
    given = {f"requests.example.com/r{index}": text for index, text in enumerate(QUANTITIES)}
    hard = objects(helm, team(quota=given))["Profile/team-a"]["spec"]["resourceQuotaSpec"]["hard"]
    assert {given[name]: quantity for name, quantity in hard.items()} == QUANTITIES


def test_numbers_are_quantities_as_well(helm: Helm) -> None:
    given = {"pods": 8, "requests.storage": 1073741824, "requests.cpu": 999999999999999, "secrets": 0}
    hard = objects(helm, team(quota=given))["Profile/team-a"]["spec"]["resourceQuotaSpec"]["hard"]
    assert hard == {
        "pods": "8",
        "requests.storage": "1073741824",
        "requests.cpu": "999999999999999",
        "secrets": "0",
    }


def test_kubectl_writes_the_same_form() -> None:
    """kubectl reads and writes quantities with the library of the controller."""
    try:
        (program, *_) = find_kustomize()
    except ToolError as error:
        pytest.skip(str(error))
    if not program.endswith("kubectl"):
        pytest.skip("kubectl is not at hand, only kustomize")
    asked = {text: quantity for text, quantity in QUANTITIES.items() if text != "5000E"}  # beyond 64 bits
    hard = ",".join(f"requests.example.com/r{index}={text}" for index, text in enumerate(asked))
    argv = (program, "create", "quota", "q", f"--hard={hard}", "--dry-run=client", "-o", "json")
    said = json.loads(run(Command(argv=argv)).stdout)["spec"]["hard"]
    assert list(asked.values()) == [said[f"requests.example.com/r{index}"] for index in range(len(asked))]


@pytest.mark.parametrize(
    ("quota", "limits", "made"),
    [
        ({"requests.nvidia.com/gpu": 8}, None, None),
        ({"requests.cpu": 8}, None, {"defaultRequest": {"cpu": "100m"}}),
        ({"cpu": 8, "memory": "8Gi"}, None, {"defaultRequest": {"cpu": "100m", "memory": "128Mi"}}),
        (
            {"requests.cpu": 8, "requests.memory": "8Gi"},
            {"defaultRequest": {"cpu": 1}},
            {"defaultRequest": {"cpu": "1", "memory": "128Mi"}},
        ),
        ({"requests.cpu": 8}, {"default": {"cpu": 1}}, {"default": {"cpu": "1"}}),
        ({"requests.cpu": 8}, {"min": {"cpu": "10m"}}, {"min": {"cpu": "10m"}}),
        ({"requests.cpu": 8, "limits.cpu": 16}, {"max": {"cpu": 4}}, {"max": {"cpu": "4"}}),
        ({"limits.memory": "8Gi"}, {"default": {"memory": "1Gi"}}, {"default": {"memory": "1Gi"}}),
        (None, {"max": {"ephemeral-storage": "1024Mi"}}, {"max": {"ephemeral-storage": "1Gi"}}),
    ],
)
def test_containers_get_what_the_quota_counts(
    helm: Helm, quota: Mapping[str, Any] | None, limits: Mapping[str, Any] | None, made: Any
) -> None:
    parts = {"quota": quota, "limitRange": limits}
    found = objects(helm, team(**{name: value for name, value in parts.items() if value}))
    ours = found.get("team-a/LimitRange/kf-limit-range")
    assert (ours and ours["spec"]["limits"]) == (made and [{"type": "Container", **made}])


# --- the schema --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"profile": []}, "'profile'"),
        ({"profiles": [{"name": "a"}]}, "'owner'"),
        ({"profiles": [{"owner": "a"}]}, "'name'"),
        ({"userIdheader": "x"}, "'userIdheader'"),
        ({"principals": {"ingressgateway": "a/ns/b/sa/c"}}, "'ingressgateway'"),
        ({"defaultRequests": {"gpu": 1}}, "'gpu'"),
        (team(ownerkind="User"), "'ownerkind'"),
        (team(quotas={"pods": 1}), "'quotas'"),
        (team(limitRange={"defaultRequests": {"cpu": 1}}), "'defaultRequests'"),
        (team(contributors=[{"email": "x@y.z", "role": "edit"}]), "'email'"),
        (team(contributors=[{"user": "x@y.z"}]), "'role'"),
        (team(podDefaults=[{"name": "x", "desc": "y"}]), "'desc'"),
        (team(podDefaults=[{"name": "x"}]), "'description'"),
        (team(podDefaults=[{"name": "x", "description": "y", "nodeSelector": {}}]), "'nodeSelector'"),
        (
            team(plugins=[{"kind": "WorkloadIdentity", "spec": {"gcpServiceAcount": "x"}}]),
            "'gcpServiceAcount'",
        ),
    ],
)
def test_typos_and_missing_keys_are_refused_by_name(helm: Helm, values: Mapping[str, Any], said: str) -> None:
    assert said in refusal(helm, values)


WRONG = [
    team(name="Team-A"),
    team(name="team_a"),
    team(name="a" * 64),
    team(name="team-a-"),
    team(owner=""),
    team(owner="ada example"),
    team(owner=["ada"]),
    team(ownerKind="ServiceAccount"),
    team(labels={"a": 1}),
    team(quota={}),
    team(quota={"pods": "1.5Gi"}),
    team(quota={"pods": 0.5}),
    team(quota={"pods": -1}),
    team(quota={"pods": "08"}),
    team(quota={"pods": "8GB"}),
    team(quota={"pods": "1e3"}),
    team(quota={"pods": None}),
    team(quota={"request cpu": 1}),
    team(limitRange={}),
    team(limitRange={"default": {"cpu": "1.5"}}),
    team(contributors=[{"user": "a", "role": "owner"}]),
    team(contributors=[{"user": "a b", "role": "edit"}]),
    team(podDefaults=[{"name": "X", "description": "y"}]),
    team(podDefaults=[{"name": "x", "description": ""}]),
    team(podDefaults=[{"name": "x", "description": "y", "label": "a b"}]),
    team(podDefaults=[{"name": "x", "description": "y", "env": [{"value": "1"}]}]),
    team(podDefaults=[{"name": "x", "description": "y", "env": [{"name": "A", "value": 1}]}]),
    team(podDefaults=[{"name": "x", "description": "y", "tolerations": [{"effect": "Never"}]}]),
    team(podDefaults=[{"name": "x", "description": "y", "volumeMounts": [{"name": "v", "path": "/v"}]}]),
    team(plugins=[{"kind": "Azure", "spec": {}}]),
    team(plugins=[{"kind": "AwsIamForServiceAccount", "spec": {"awsIamRole": "role"}}]),
    team(plugins=[{"kind": "WorkloadIdentity", "spec": {"gcpServiceAccount": "x@y.z"}}]),
    {"userIdHeader": "x y"},
    {"principals": {"ingressGateway": "cluster.local/sa/x", "pipelinesUI": "a/ns/b/sa/c"}},
    {"contents": "no"},
]


@pytest.mark.parametrize("values", WRONG, ids=json.dumps)
def test_wrong_value_is_refused(values: Mapping[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(SCHEMA).validate(values)


def test_helm_refuses_what_the_schema_refuses(helm: Helm) -> None:
    """One run for all profiles, as helm starts slowly; it must name each of them."""
    values = {"profiles": [item["profiles"][0] for item in WRONG if "profiles" in item]}
    said = refusal(helm, values)
    named = {int(number) for number in re.findall(r"/profiles/(\d+)", said)}
    assert named == set(range(len(values["profiles"])))


def test_right_values_pass_the_schema() -> None:
    given = yaml.safe_load(TEAMS.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(SCHEMA).validate(given)
    jsonschema.Draft7Validator(SCHEMA).validate(yaml.safe_load(chart_files(NAME)["values.yaml"]))
    jsonschema.Draft7Validator(SCHEMA).validate({"global": {"anything": 1}})


def test_every_object_of_the_schema_is_closed_or_open_on_purpose() -> None:
    """Open are what Helm hands in, and parts of a pod, which the CRD closes."""
    is_open = [path for path, part in parts(SCHEMA) if part.get("type") == "object" and not closed(part)]
    assert is_open == [
        "properties.global",
        "definitions.podDefault.properties.env.items.properties.valueFrom",
        "definitions.named.items",
    ]


def closed(part: Mapping[str, Any]) -> bool:
    return "additionalProperties" in part


def parts(value: Any, path: str = "") -> list[tuple[str, Any]]:
    if not isinstance(value, dict):
        return []
    below = [item for name, child in value.items() for item in parts(child, f"{path}.{name}".lstrip("."))]
    return [(path, value), *below]
