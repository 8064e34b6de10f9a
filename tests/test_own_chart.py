"""A chart of ours in the tree: copied byte for byte, and every part of the engine knows it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from msgspec.structs import replace

from gitops_gen import __version__, argocd
from gitops_gen.cli.why import explain_key
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import (
    Application,
    ClusterSpec,
    ComponentFacts,
    ComponentSpec,
    DirectorySource,
    HealthCheck,
    Json,
    Manifest,
    ObjectIdentity,
    OwnChart,
    Plan,
    PoolResources,
    SecretRequest,
    Traced,
    from_rule,
    from_spec,
)
from gitops_gen.ownership import objects_made_twice
from gitops_gen.plan import plan_cluster
from gitops_gen.readme import source_text, tree_readme
from gitops_gen.render import Inputs, documents, render
from gitops_gen.resources import chart_files, data_folder, resources, template
from gitops_gen.shell.command import Command, run
from gitops_gen.stages import Compiled, controller_findings
from gitops_gen.traced import collect, put
from tests.specs import compile_text, spec_text
from tests.trees import cases, prepared, tree

NAME = "kubeflow-profiles"
FOLDER = f"apps/kubeflow/{NAME}"
BASE = compile_text(spec_text(components="certManager: {enabled: true}"))
FACTS = resources().component("certManager").facts
SECRET = SecretRequest(namespace="team-a", name="token", keys=("token",), purpose="reading data sets")
RULE = from_rule("a rule of the tests")


def identity(group: str, kind: str, name: str, namespace: str | None = None) -> ObjectIdentity:
    return ObjectIdentity(group=group, kind=kind, name=name, namespace=namespace)


OBJECTS = (
    identity("kubeflow.org", "Profile", "team-a"),
    identity("kubeflow.org", "Profile", "team-b"),
    identity("rbac.authorization.k8s.io", "RoleBinding", "user-grace-example-com-clusterrole-edit", "team-b"),
    identity("security.istio.io", "AuthorizationPolicy", "user-grace-example-com-clusterrole-edit", "team-b"),
)


class Teams:
    """A component of the tests that makes Profiles by a chart of ours."""

    name = "teams"
    facts: ComponentFacts = replace(FACTS, name="teams", data={}, requires=())

    def __init__(
        self, *, manifests: tuple[Manifest, ...] = (), secrets: tuple[SecretRequest, ...] = ()
    ) -> None:
        self.manifests, self.secrets = manifests, secrets

    def build(self, data: Mapping[str, Json]) -> object:
        return data

    def advertise(self, spec: ClusterSpec) -> Iterable[PoolResources]:
        return ()

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        return ()

    def health_checks(self) -> Iterable[HealthCheck]:
        return ()

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        chart = OwnChart(name=NAME, release_name=NAME, values=collect(self.values()), objects=OBJECTS)
        own = (DirectorySource(manifests=self.manifests),) if self.manifests else ()
        yield Application(
            name=NAME,
            component="teams",
            stack="kubeflow",
            namespace="kubeflow",
            wave=10,
            sources=(chart, *own),
            secrets=self.secrets,
            origins=(RULE,),
        )

    def values(self) -> Iterator[Any]:
        at = from_spec("components", "teams")
        teams: list[Json] = [
            {"name": "team-a", "owner": "ada@example.com"},
            {
                "name": "team-b",
                "owner": "barbara@example.com",
                "contributors": [{"user": "grace@example.com", "role": "edit"}],
            },
        ]
        for team in teams:
            yield put("profiles[]", team, at)


def planned(component: Teams | None = None, spec: ClusterSpec = BASE.plan.spec) -> Plan:
    part = ComponentSpec(name="teams", version="1.0", namespace="kubeflow", settings=None)
    return plan_cluster(
        replace(spec, components={"teams": part}), [component or Teams()], resources().catalog, {}
    )


def files(plan: Plan) -> Mapping[str, str]:
    inputs = Inputs(files={}, tool=__version__, catalog="")
    return render(plan, documents(plan), inputs, template("tree-readme.md.j2"), chart_files).files


def application(plan: Plan) -> Any:
    return documents(plan)[f"{FOLDER}/application.yaml"]


PLAN = planned()
TREE = files(PLAN)
(APP,) = PLAN.applications


def test_chart_lies_in_the_tree_byte_for_byte() -> None:
    folder = data_folder("charts") / NAME
    ours = {
        f"{FOLDER}/chart/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert {path: text.encode() for path, text in TREE.items() if path.startswith(f"{FOLDER}/chart/")} == ours
    assert f"{FOLDER}/chart/templates/_helpers.tpl" in ours


def test_values_lie_beside_the_chart() -> None:
    values = yaml.safe_load(TREE[f"{FOLDER}/values.yaml"])
    assert [team["name"] for team in values["profiles"]] == ["team-a", "team-b"]
    assert TREE[f"{FOLDER}/values.yaml"].startswith(
        "# generated by gitops-gen from clusters/test/cluster.yaml"
    )


def test_application_reads_the_chart_from_our_own_repository() -> None:
    assert application(PLAN)["spec"]["source"] == {
        "repoURL": "https://git.example.com/platform/clusters.git",
        "targetRevision": "refs/heads/main",
        "path": f"clusters/test/rendered/{FOLDER}/chart",
        "helm": {
            "releaseName": NAME,
            "valueFiles": ["../values.yaml"],
            "kubeVersion": "1.35.0",
            "skipTests": True,
        },
    }
    annotations = application(PLAN)["metadata"]["annotations"]
    assert annotations["argocd.argoproj.io/manifest-generate-paths"] == f"/clusters/test/rendered/{FOLDER}"


def test_chart_without_values_has_no_values_file() -> None:
    (chart,) = APP.sources
    assert isinstance(chart, OwnChart)
    bare = replace(chart, values=Traced(data={}, origins={}), api_versions=("kubeflow.org/v1",))
    plan = replace(PLAN, applications=(replace(APP, sources=(bare,)),))
    assert application(plan)["spec"]["source"]["helm"] == {
        "releaseName": NAME,
        "kubeVersion": "1.35.0",
        "apiVersions": ["kubeflow.org/v1"],
        "skipTests": True,
    }
    assert f"{FOLDER}/values.yaml" not in files(plan)


def test_objects_beside_the_chart_are_a_second_source() -> None:
    data: dict[str, Json] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x", "namespace": "team-a"},
    }
    plan = planned(Teams(manifests=(Manifest(object=Traced(data=data, origins={})),)))
    paths = [source["path"].rpartition("/")[2] for source in application(plan)["spec"]["sources"]]
    assert paths == ["chart", "manifests"]
    assert found(plan) == ()


def test_external_secrets_come_after_the_profile_whose_namespace_they_are_in() -> None:
    body = "secrets: {store: external-secrets, storeRef: {name: vault}}"
    spec = compile_text(spec_text(body, components="externalSecrets: {enabled: true}")).plan.spec
    made = documents(planned(Teams(secrets=(SECRET,)), spec))
    secret: Any = made[f"{FOLDER}/manifests/externalsecret-token.yaml"]
    profiles = chart_files(NAME)["templates/profiles.yaml"]
    assert secret["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"] == "-1"
    assert 'argocd.argoproj.io/sync-wave: "-2"' in profiles


def test_project_permits_what_the_chart_makes_and_no_more() -> None:
    spec: Any = documents(PLAN)["apps/project.yaml"]["spec"]
    assert spec["clusterResourceWhitelist"] == [
        {"group": "kubeflow.org", "kind": "Profile", "name": "team-a"},
        {"group": "kubeflow.org", "kind": "Profile", "name": "team-b"},
    ]
    assert [item["namespace"] for item in spec["destinations"]] == ["kubeflow", "team-b"]
    assert spec["sourceRepos"] == ["https://git.example.com/platform/clusters.git"]


def test_namespace_whose_profile_has_left_can_stay_permitted() -> None:
    """Without it Argo CD would neither see nor prune what the chart made there."""
    gone = (identity("rbac.authorization.k8s.io", "RoleBinding", "*", "team-c"),)
    plan = replace(PLAN, applications=(replace(APP, permits=gone),))
    spec: Any = documents(plan)["apps/project.yaml"]["spec"]
    before: Any = documents(PLAN)["apps/project.yaml"]["spec"]
    assert [item["namespace"] for item in spec["destinations"]] == ["kubeflow", "team-b", "team-c"]
    assert spec["clusterResourceWhitelist"] == before["clusterResourceWhitelist"]
    assert found(plan) == ()


def found(plan: Plan) -> tuple[Diagnostic, ...]:
    """Return what Argo CD's rules have against the tree."""
    return controller_findings(plan, documents(plan), resources().argocd, BASE.source_map)


def test_argo_cd_has_nothing_against_the_tree() -> None:
    assert found(PLAN) == ()


def test_path_and_values_file_are_looked_for_in_the_tree() -> None:
    """The rules know the chart's folder and that of the values, or they would not see a wrong one."""
    made = dict(documents(PLAN))
    del made[f"{FOLDER}/values.yaml"]
    missing = controller_findings(PLAN, made, resources().argocd, BASE.source_map)
    assert [item.code for item in missing] == ["argocd-value-file-missing"]
    gone = controller_findings(
        replace(PLAN, applications=()), documents(PLAN), resources().argocd, BASE.source_map
    )
    assert "argocd-path-missing" in [item.code for item in gone]


def test_object_that_our_chart_and_another_app_make_is_an_error() -> None:
    other = replace(APP, name="other", sources=(replace(APP.sources[0], objects=OBJECTS[:1]),))
    plan = replace(PLAN, applications=(APP, other))
    (said,) = objects_made_twice(plan, BASE.source_map)
    assert (said.code, said.severity) == ("object-made-twice", "error")
    assert "both make the Profile team-a" in said.message


def test_readme_and_plan_name_the_chart() -> None:
    assert source_text(APP) == f"chart {NAME} {__version__} of this tree"
    assert f"chart {NAME} {__version__} of this tree" in tree_readme(PLAN, template("tree-readme.md.j2"))


def test_lock_knows_the_version_and_every_file() -> None:
    lock = json.loads(TREE[".gitops-gen.lock"])
    assert lock["charts"] == {NAME: __version__}
    assert f"{FOLDER}/chart/Chart.yaml" in lock["files"]


def test_why_explains_the_values_and_what_the_chart_has_by_default() -> None:
    compiled = Compiled(plan=PLAN, documents=documents(PLAN), source_map=BASE.source_map)
    (row,) = explain_key(compiled, APP, "profiles[0].owner")
    assert (row["path"], row["value"]) == ("profiles[0].owner", "ada@example.com")
    assert row["because"] == ["default: spec.components.teams"]
    (row,) = explain_key(compiled, APP, "defaultRequests.cpu")
    assert row["value"] == "100m"
    assert row["because"] == [f"chart: default of {NAME} {__version__}; this tree does not set it"]
    (row,) = explain_key(compiled, APP, "application.spec.source.path")
    assert row["because"] == [f"rule: the chart {NAME} of gitops-gen is copied into the tree"]


def test_unknown_chart_is_a_bug_of_ours() -> None:
    with pytest.raises(KeyError, match="nosuch"):
        chart_files("nosuch")


CHARTS = sorted(path.name for path in data_folder("charts").iterdir() if path.is_dir())


@pytest.mark.parametrize("name", CHARTS)
def test_chart_has_the_version_of_the_tool(name: str) -> None:
    chart = yaml.safe_load(chart_files(name)["Chart.yaml"])
    assert (chart["apiVersion"], chart["name"], chart["version"]) == ("v2", name, __version__)


@pytest.mark.parametrize("name", CHARTS)
def test_chart_has_no_file_that_the_root_or_a_stack_would_apply(name: str) -> None:
    """Their globs cross folders, so a template of that name would be read as an Application."""
    taken = {"application.yaml", "stack.yaml", "project.yaml"}
    assert taken.isdisjoint(path.rpartition("/")[2] for path in chart_files(name))


@pytest.mark.parametrize("name", CHARTS)
def test_chart_is_told_about_and_has_a_schema(name: str) -> None:
    assert {"README.md", "values.yaml", "values.schema.json"} <= chart_files(name).keys()
    jsonschema.Draft7Validator.check_schema(json.loads(chart_files(name)["values.schema.json"]))


def charts(plan: Plan) -> Iterator[tuple[Application, OwnChart]]:
    for app in plan.applications:
        yield from ((app, source) for source in app.sources if isinstance(source, OwnChart))


def trees() -> Iterator[tuple[Plan, Mapping[str, str]]]:
    """Yield the tree of this module, and those of every case."""
    yield PLAN, TREE
    for case in cases():
        yield prepared(case.spec).compiled.plan, tree(case.spec)


def test_values_fit_the_schema_of_their_chart() -> None:
    for plan, _ in trees():
        for app, chart in charts(plan):
            schema = json.loads(chart_files(chart.name)["values.schema.json"])
            found = jsonschema.Draft7Validator(schema).iter_errors(chart.values.data)
            assert [f"{plan.spec.name}/{app.name} {item.json_path}: {item.message}" for item in found] == []


def test_planned_objects_are_what_the_chart_makes(helm: tuple[str, ...], tmp_path: Path) -> None:
    """Rendered from the written tree, as Argo CD does it."""
    for number, (plan, text) in enumerate(trees()):
        for app, chart in charts(plan):
            folder = tmp_path / str(number) / app.name
            prefix = f"apps/{app.stack}/{app.name}/"
            for path in (path for path in text if path.startswith(prefix)):
                file = folder / path.removeprefix(prefix)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text[path], encoding="utf-8", newline="")
            values = ("--values", "../values.yaml") if chart.values.data else ()
            version = ("--kube-version", argocd.kube_version(plan.spec))
            argv = (*helm, "template", chart.release_name, ".", *values, *version)
            made = yaml.safe_load_all(run(Command(argv=argv, cwd=folder / "chart")).stdout)
            assert sorted(map(str, map(identity_of, made))) == sorted(map(str, chart.objects)), app.name


def identity_of(data: Any) -> ObjectIdentity:
    group, slash, _ = data["apiVersion"].partition("/")
    metadata = data["metadata"]
    return identity(group if slash else "", data["kind"], metadata["name"], metadata.get("namespace"))
