"""What Argo CD gets: destinations, versions, protection, waves and projects as the spec says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from gitops_gen import argocd
from gitops_gen.diagnostics import SpecError
from tests.specs import codes, compile_text, findings, spec_text

MONITORED = "gpuOperator: {enabled: true}\nmonitoring: {enabled: true}"


def documents(text: str) -> dict[str, Any]:
    return dict(compile_text(text).documents)


def gpu_app(text: str) -> dict[str, Any]:
    found: dict[str, Any] = documents(text)["apps/gpu/gpu-operator/application.yaml"]
    return found


@pytest.mark.parametrize(
    ("body", "destination"),
    [
        ("", {"server": "https://kubernetes.default.svc"}),
        ("argocd: {destination: {name: prod-1}}", {"name": "prod-1"}),
        ("argocd: {destination: {server: https://10.0.0.1:6443}}", {"server": "https://10.0.0.1:6443"}),
    ],
)
def test_destination_is_in_cluster_by_name_or_by_server(body: str, destination: dict[str, str]) -> None:
    made = documents(spec_text(body))
    app = made["apps/gpu/gpu-operator/application.yaml"]
    assert app["spec"]["destination"] == {**destination, "namespace": "gpu-operator"}
    assert made["apps/project.yaml"]["spec"]["destinations"] == [
        {**destination, "namespace": "default"},
        {**destination, "namespace": "gpu-operator"},
    ]


@pytest.mark.parametrize("name", ["bootstrap/root.yaml", "apps/gpu/stack.yaml", "apps/platform/stack.yaml"])
def test_root_and_stacks_stay_where_argocd_runs(name: str) -> None:
    made = documents(spec_text("argocd: {namespace: gitops, destination: {name: prod-1}}"))[name]
    assert made["spec"]["destination"] == {"server": "https://kubernetes.default.svc", "namespace": "gitops"}
    assert made["spec"]["project"] == "test-root"
    assert made["metadata"]["namespace"] == "gitops"


@pytest.mark.parametrize(
    "url",
    [
        "https://git.example.com/platform/clusters.git",
        "ssh://git@git.example.com:2222/platform/clusters.git",
        "git@git.example.com:platform/clusters.git",
    ],
)
def test_every_form_of_a_repository_url_is_kept(url: str) -> None:
    made = documents(spec_text(f"gitops: {{repoURL: '{url}', revision: release-1, path: sites/a/b}}"))
    app = made["apps/gpu/gpu-operator/application.yaml"]
    assert app["spec"]["sources"][1] == {
        "repoURL": url,
        "targetRevision": "refs/heads/release-1",
        "ref": "values",
    }
    assert app["spec"]["sources"][0]["helm"]["valueFiles"] == [
        "$values/sites/a/b/apps/gpu/gpu-operator/values.yaml"
    ]
    assert url in made["apps/project.yaml"]["spec"]["sourceRepos"]
    assert made["bootstrap/project-root.yaml"]["spec"]["sourceRepos"] == [url]


@pytest.mark.parametrize(
    ("version", "prune", "confirmed"),
    [("3.3", False, False), ("3.3.14", False, False), ("3.4", True, True), ("3.5", True, True)],
)
def test_costly_objects_are_protected_as_the_version_can(version: str, prune: bool, confirmed: bool) -> None:
    policy = gpu_app(spec_text(f'argocd: {{version: "{version}"}}'))["spec"]["syncPolicy"]
    assert policy["automated"]["prune"] is prune
    assert ("Prune=confirm" in policy["syncOptions"]) is confirmed


def test_versions_outside_the_supported_lines_are_refused() -> None:
    assert codes(spec_text('argocd: {version: "3.2"}')) == ["unsupported-argocd-version"]


def test_field_newer_than_argocd_is_refused() -> None:
    window = "{kind: deny, schedule: '0 9 * * 1-5', duration: 9h, syncOverrun: true}"
    assert codes(spec_text(f'argocd: {{version: "3.4", syncWindows: [{window}]}}')) == [
        "argocd-field-too-new"
    ]


def test_sync_windows_name_applications_in_full() -> None:
    window = "{kind: deny, schedule: '0 9 * * 1-5', duration: 9h, timeZone: Asia/Seoul, apps: [gpu-operator]}"
    made = documents(spec_text(f"argocd: {{syncWindows: [{window}]}}"))["apps/project.yaml"]
    assert made["spec"]["syncWindows"] == [
        {
            "kind": "deny",
            "schedule": "0 9 * * 1-5",
            "duration": "9h",
            "applications": ["test-gpu-operator"],
            "timeZone": "Asia/Seoul",
        }
    ]


def test_automated_sync_can_be_switched_off_for_all_or_for_one() -> None:
    off = documents(spec_text("argocd: {automated: false}"))
    assert "automated" not in off["apps/gpu/gpu-operator/application.yaml"]["spec"]["syncPolicy"]
    assert "automated" not in off["bootstrap/root.yaml"]["spec"]["syncPolicy"]
    one = spec_text(
        components="gpuOperator: {enabled: true, sync: {automated: false}}\nmonitoring: {enabled: true}"
    )
    made = documents(one)
    assert "automated" not in made["apps/gpu/gpu-operator/application.yaml"]["spec"]["syncPolicy"]
    kube = made["apps/platform/kube-prometheus-stack/application.yaml"]
    assert kube["spec"]["syncPolicy"]["automated"] == {"prune": True, "selfHeal": True}


def test_users_sync_choices_reach_the_application() -> None:
    text = (
        "gpuOperator: {enabled: true, sync: {wave: 7, prune: false, syncOptions: [ApplyOutOfSyncOnly=true]}}"
    )
    app = gpu_app(spec_text(components=text))
    assert app["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"] == "7"
    assert app["spec"]["syncPolicy"]["automated"]["prune"] is False
    assert "ApplyOutOfSyncOnly=true" in app["spec"]["syncPolicy"]["syncOptions"]


@pytest.mark.parametrize("keeps", [True, False])
def test_ignored_fields_survive_a_sync_where_the_app_says_so(keeps: bool) -> None:
    plan = compile_text(spec_text(pools="", components="certManager: {enabled: true}")).plan
    planned = next(app for app in plan.applications if app.name == "cert-manager")
    assert planned.keeps_ignored
    made = argocd.application(replace(planned, keeps_ignored=keeps), plan.spec).data["spec"]
    assert isinstance(made, dict)
    policy = made["syncPolicy"]
    assert isinstance(policy, dict)
    options = policy["syncOptions"]
    assert isinstance(options, list)
    assert made["ignoreDifferences"]
    assert ("RespectIgnoreDifferences=true" in options) is keeps


def test_misspelt_sync_option_is_refused_at_its_line() -> None:
    text = spec_text(components="gpuOperator: {enabled: true, sync: {syncOptions: [serverSideApply=true]}}")
    with pytest.raises(SpecError) as caught:
        compile_text(text)
    (found,) = [item for item in caught.value.diagnostics if item.severity == "error"]
    assert found.code == "argocd-sync-option-unknown"
    assert found.position is not None
    assert (
        found.position.line
        == text.splitlines().index(
            "    gpuOperator: {enabled: true, sync: {syncOptions: [serverSideApply=true]}}"
        )
        + 1
    )


def test_platform_comes_first_and_gates_nothing_else() -> None:
    made = documents(spec_text(components=MONITORED))
    waves = {
        name: made[f"apps/{name}/stack.yaml"]["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"]
        for name in ("platform", "gpu")
    }
    assert waves == {"platform": "-10", "gpu": "0"}
    assert made["apps/project.yaml"]["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"] == "-100"


def test_argocd_cm_is_the_same_for_every_cluster() -> None:
    small = documents(spec_text())["bootstrap/argocd-cm.yaml"]["data"]
    large = documents(spec_text(components=MONITORED))["bootstrap/argocd-cm.yaml"]["data"]
    assert small == large
    assert {
        "resource.customizations.health.argoproj.io_Application",
        "resource.customizations.health.nvidia.com_ClusterPolicy",
        "resource.customizations.health.mellanox.com_NicClusterPolicy",
        "resource.compareoptions",
    } <= set(small)


def test_labels_of_the_cluster_stand_on_its_applications() -> None:
    text = spec_text().replace("  name: test\n", "  name: test\n  labels: {site: seoul}\n")
    assert gpu_app(text)["metadata"]["labels"]["site"] == "seoul"


def test_only_the_root_keeps_everything_when_it_is_deleted() -> None:
    made = documents(spec_text())
    assert "finalizers" not in made["bootstrap/root.yaml"]["metadata"]
    assert made["apps/gpu/stack.yaml"]["metadata"]["finalizers"] == ["resources-finalizer.argocd.argoproj.io"]


def test_names_that_an_older_version_made_stay_allowed() -> None:
    new = documents(spec_text())["apps/project.yaml"]["spec"]["clusterResourceWhitelist"]
    old = documents(spec_text(components="gpuOperator: {enabled: true, version: v25.10.1}"))
    names = {(item["kind"], item["name"]) for item in new}
    assert {
        (item["kind"], item["name"]) for item in old["apps/project.yaml"]["spec"]["clusterResourceWhitelist"]
    } <= names


@pytest.mark.parametrize(
    ("name", "body", "found"),
    [
        ("kube-system", "", ["namespace-reserved"]),
        ("default", "argocd: {destination: {name: prod-1}}", ["namespace-reserved"]),
        ("argocd", "", ["namespace-reserved"]),
        ("gitops", "argocd: {namespace: gitops}", ["namespace-reserved"]),
        ("argocd", "argocd: {namespace: gitops}", []),
        ("argocd", "argocd: {destination: {name: prod-1}}", []),
        ("argocd", "argocd: {destination: {name: in-cluster}}", ["namespace-reserved"]),
    ],
)
def test_no_component_lives_in_a_namespace_that_is_not_ours(name: str, body: str, found: list[str]) -> None:
    for enabled in ("true", "false"):
        text = spec_text(body, components=f"gpuOperator: {{enabled: {enabled}, namespace: {name}}}")
        assert codes(text) == found


def permitted(text: str) -> tuple[set[tuple[str, str]], set[str]]:
    """Return the cluster-scoped objects and the namespaces that the project permits."""
    spec = documents(text)["apps/project.yaml"]["spec"]
    kinds = {(item["kind"], item["name"]) for item in spec["clusterResourceWhitelist"]}
    return kinds, {item["namespace"] for item in spec["destinations"]}


def test_what_a_setting_switches_off_can_still_be_pruned() -> None:
    """A ClusterPolicy gives way to a GPUCluster: Argo CD prunes it only while it is permitted."""
    kinds, _ = permitted(spec_text())
    assert {("ClusterPolicy", "cluster-policy"), ("GPUCluster", "gpu-cluster")} <= kinds


def test_objects_named_after_pools_can_still_be_pruned() -> None:
    kinds, _ = permitted(spec_text())
    assert {("NVIDIADriver", "*"), ("NodeFeatureRule", "*")} <= kinds
    assert not [name for kind, name in kinds if kind == "NVIDIADriver" and name != "*"]


def test_component_that_is_switched_off_can_still_be_removed() -> None:
    on, places = permitted(spec_text(components=MONITORED))
    off, still = permitted(spec_text(components="gpuOperator: {enabled: false}\nmonitoring: {enabled: true}"))
    assert (off, still) == (on, places)
    assert ("Namespace", "gpu-operator") in off
    gone, left = permitted(spec_text(components="monitoring: {enabled: true}"))
    assert ("ClusterPolicy", "cluster-policy") not in gone
    assert "gpu-operator" not in left


def test_component_that_is_switched_off_keeps_its_own_namespace_permitted() -> None:
    text = "gpuOperator: {enabled: false, namespace: nvidia, version: v25.10.1}"
    kinds, places = permitted(spec_text(components=text))
    assert ("Namespace", "nvidia") in kinds
    assert "nvidia" in places
    assert ("GPUCluster", "gpu-cluster") not in kinds


@pytest.mark.parametrize("version", ["v1.2.3", "foo"])
def test_component_that_is_switched_off_may_have_a_version_that_nobody_knows(version: str) -> None:
    kinds, _ = permitted(spec_text(components=f"gpuOperator: {{enabled: false, version: {version}}}"))
    assert kinds == permitted(spec_text(components="gpuOperator: {enabled: false}"))[0]


def test_component_is_switched_off_before_it_leaves_the_spec() -> None:
    previous = {"gpu-operator": {"spec.components.gpuOperator.namespace": "gpu-operator"}}
    for components in ("{}", "monitoring: {enabled: true}"):
        assert codes(spec_text(components=components), previous=previous) == ["component-vanished"]
    for part in ("{enabled: false}", "{provided: true}", "{enabled: true}"):
        assert codes(spec_text(components=f"gpuOperator: {part}"), previous=previous) == []


def test_external_secrets_make_what_an_app_needs() -> None:
    body = "secrets: {store: external-secrets, storeRef: {name: vault}, keyTemplate: 'k8s/{cluster}/{name}'}"
    made = documents(spec_text(body, components=MONITORED))
    secret = made["apps/platform/kube-prometheus-stack/manifests/externalsecret-grafana-admin.yaml"]
    assert secret["spec"]["secretStoreRef"] == {"kind": "ClusterSecretStore", "name": "vault"}
    assert secret["spec"]["data"][0]["remoteRef"]["key"] == "k8s/test/grafana-admin"
    assert secret["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"] == "-1"


def test_external_secret_without_known_keys_takes_them_all() -> None:
    body = "secrets: {store: external-secrets, storeRef: {name: vault}}"
    part = "gpuOperator: {enabled: true, driver: {envSecret: proxy-login}}"
    made = documents(spec_text(body, components=part))
    spec = made["apps/gpu/gpu-operator/manifests/externalsecret-proxy-login.yaml"]["spec"]
    assert spec["dataFrom"] == [{"extract": {"key": "test/gpu-operator/proxy-login"}}]
    assert "data" not in spec


@pytest.mark.parametrize(
    ("version", "rendered"),
    [("1.35", "1.35.0"), ("1.35.2", "1.35.2"), ("1.35.2-gke.1842000", "1.35.2"), ("v1.34.1+k3s1", "1.34.1")],
)
def test_charts_are_rendered_for_the_version_that_argo_cd_hands_on(version: str, rendered: str) -> None:
    text = spec_text(f'kubernetes: {{version: "{version}", distribution: kubeadm}}')
    assert gpu_app(text)["spec"]["sources"][0]["helm"]["kubeVersion"] == rendered


def test_spec_without_components_still_makes_a_tree() -> None:
    made = documents(spec_text(components="{}"))
    assert sorted(made) == [
        "apps/project.yaml",
        "bootstrap/argocd-cm.yaml",
        "bootstrap/kustomization.yaml",
        "bootstrap/project-root.yaml",
        "bootstrap/root.yaml",
    ]


def test_changed_state_is_refused_and_released_by_an_accept() -> None:
    text = spec_text()
    app = next(item for item in compile_text(text).plan.applications if item.name == "gpu-operator")
    path = next(iter(app.state))
    previous = {"gpu-operator": {**app.state, path: "something else"}}
    assert "locked-state-changed" in codes(text, previous=previous)
    accept = (
        f"accept: [{{code: locked-state-changed, path: {path}, from: something else, "
        f'to: "{app.state[path]}", reason: planned}}]'
    )
    assert codes(spec_text(accept), previous=previous) == []
    assert codes(spec_text(accept)) == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda text: text.replace("name: test\n", "name: other\n", 1), "metadata.name"),
        (lambda text: text.replace("{namespace: argocd}", "{namespace: gitops}"), "spec.argocd.namespace"),
        (
            lambda text: text.replace("{namespace: argocd}", "{destination: {name: prod}}"),
            "spec.argocd.destination",
        ),
    ],
)
def test_cluster_cannot_move_silently(change: Callable[[str], str], path: str) -> None:
    text = spec_text("argocd: {namespace: argocd}")
    previous = compile_text(text).plan.state
    (found,) = [item for item in findings(change(text), previous=previous) if item.severity == "error"]
    assert found.code == "locked-state-changed"
    assert found.message.startswith(f"{path} was ")
    assert "at the last render of this cluster" in found.message


def test_charts_come_from_their_mirror() -> None:
    body = "registry: {charts: {'https://helm.ngc.nvidia.com/nvidia': 'https://charts.example.com/nvidia'}}"
    made = documents(spec_text(body))
    assert gpu_app(spec_text(body))["spec"]["sources"][0]["repoURL"] == "https://charts.example.com/nvidia"
    assert made["apps/project.yaml"]["spec"]["sourceRepos"] == [
        "https://charts.example.com/nvidia",
        "https://git.example.com/platform/clusters.git",
    ]


@pytest.mark.parametrize(("version", "confirmed"), [("3.3", False), ("3.4", True)])
def test_costly_apps_wait_before_they_are_deleted(version: str, confirmed: bool) -> None:
    policy = gpu_app(spec_text(f'argocd: {{version: "{version}"}}'))["spec"]["syncPolicy"]
    assert ("Delete=confirm" in policy["syncOptions"]) is confirmed
