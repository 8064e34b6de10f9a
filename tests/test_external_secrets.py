"""What the Applications of External Secrets say, and when somebody else must run it."""

from __future__ import annotations

from typing import Any

import pytest

from gitops_gen.model import Application, HelmSource, Pruning
from tests.specs import compile_text, findings, spec_text

POOL = "- {name: cpu, nodes: 3, os: ubuntu-24.04}\n"
ON = "externalSecrets: {enabled: true}"
STORE = "env: lab\nsecrets: {store: external-secrets, storeRef: {name: vault}}\n"
KEPT = {"annotations": {"argocd.argoproj.io/sync-options": "Prune=false,Delete=false"}}
PARTS = ("", "webhook", "certController")


def apps(components: str = ON, body: str = "env: lab\n", pools: str = POOL) -> dict[str, Application]:
    plan = compile_text(spec_text(body, pools=pools, components=components)).plan
    return {item.name: item for item in plan.applications}


def values(components: str = ON, body: str = "env: lab\n", pools: str = POOL) -> dict[str, Any]:
    source = apps(components, body, pools)["external-secrets"].sources[0]
    assert isinstance(source, HelmSource)
    assert source.release_name == "external-secrets"
    return source.values.data


def parts(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the values of controller, webhook and certificate controller."""
    return [found[name] if name else found for name in PARTS]


def test_defaults_keep_only_the_definitions() -> None:
    assert values() == {"crds": KEPT}
    assert apps()["external-secrets"].pruning is Pruning.CONFIRM


def test_provided_renders_nothing() -> None:
    found = apps("externalSecrets: {provided: true}\nmonitoring: {enabled: true}")
    assert not {"external-secrets", "external-secrets-metrics"} & found.keys()


def test_namespace_enforces_restricted_pods() -> None:
    (namespace,) = apps()["external-secrets"].namespaces
    assert (namespace.name, namespace.labels) == (
        "external-secrets",
        {"pod-security.kubernetes.io/enforce": "restricted"},
    )


def test_it_comes_before_everything_that_has_secrets() -> None:
    body = f"{STORE}registry: {{pullSecrets: [pull]}}\n"
    others = "certManager: {enabled: true}\nmonitoring: {enabled: true}\nkeda: {enabled: true}"
    found = apps(f"{ON}\n{others}", body)
    made = {
        name: app.wave
        for name, app in found.items()
        if any(item.object.data["kind"] == "ExternalSecret" for item in app.manifests)
    }
    assert made == {"cert-manager": -40, "kube-prometheus-stack": -30, "keda": -15}
    assert found["namespaces"].wave < found["external-secrets"].wave == -50


def test_it_does_not_make_its_own_pull_secret() -> None:
    app = apps(body=f"{STORE}registry: {{pullSecrets: [pull]}}\n")["external-secrets"]
    assert (app.secrets, app.manifests) == ((), ())
    assert app.notes == (
        "The ClusterSecretStore `vault` is yours, with what it logs in by: apply it as soon as this "
        "Application is healthy. Until then the ExternalSecrets of later Applications are degraded.",
        "External Secrets cannot make what its own images are pulled with. Make the Secret by hand: "
        "`kubectl -n external-secrets create secret generic pull --type=kubernetes.io/dockerconfigjson "
        "--from-file=.dockerconfigjson`.",
    )


def test_a_store_of_one_namespace_is_needed_in_each() -> None:
    body = "secrets: {store: external-secrets, storeRef: {kind: SecretStore, name: vault}}\n"
    (note,) = apps(body=body)["external-secrets"].notes
    assert note.startswith(
        "The SecretStore `vault` is yours, with what it logs in by: apply it in each namespace with Secrets "
        "of this tree as soon as"
    )


def test_pull_secret_must_exist_where_the_store_is_another() -> None:
    app = apps(body="registry: {pullSecrets: [pull]}\n")["external-secrets"]
    (secret,) = app.secrets
    assert (secret.namespace, secret.name, app.notes) == ("external-secrets", "pull", ())


@pytest.mark.parametrize(
    ("components", "body", "found"),
    [
        ("certManager: {enabled: true}", STORE, True),
        (f"{ON}\ncertManager: {{enabled: true}}", STORE, False),
        ("externalSecrets: {provided: true}\ncertManager: {enabled: true}", STORE, False),
        ("externalSecrets: {enabled: false}\ncertManager: {enabled: true}", STORE, True),
        ("certManager: {enabled: true}", "secrets: {store: sealed-secrets}\n", False),
        ("certManager: {enabled: true}", "", False),
    ],
)
def test_somebody_must_run_it_where_it_is_used(components: str, body: str, found: bool) -> None:
    said = [item.code for item in findings(spec_text(body, pools=POOL, components=components))]
    assert ("external-secrets-not-installed" in said) is found


def test_service_monitor_comes_after_monitoring() -> None:
    both = f"{ON}\nmonitoring: {{enabled: true}}"
    found = apps(both)
    assert found["external-secrets"].wave < found["kube-prometheus-stack"].wave
    assert found["kube-prometheus-stack"].wave < found["external-secrets-metrics"].wave
    (manifest,) = found["external-secrets-metrics"].manifests
    assert manifest.object.data == {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": {
            "name": "external-secrets",
            "namespace": "external-secrets",
            "labels": {"release": "kube-prometheus-stack"},
        },
        "spec": {
            "jobLabel": "app.kubernetes.io/name",
            "selector": {"matchLabels": {"app.kubernetes.io/instance": "external-secrets"}},
            "endpoints": [{"port": "metrics", "path": "/metrics"}],
        },
    }
    assert [part["metrics"] for part in parts(values(both))] == [{"service": {"enabled": True}}] * 3


def test_high_availability_elects_leaders_and_spreads_every_part() -> None:
    found = values("externalSecrets: {enabled: true, highAvailability: true}")
    assert found["leaderElect"] is True
    for part in parts(found):
        assert (part["replicaCount"], part["podDisruptionBudget"]) == (2, {"enabled": True})
    assert found["global"]["topologySpreadConstraints"] == [
        {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"}
    ]


def test_log_level_reaches_every_part() -> None:
    found = values("externalSecrets: {enabled: true, logLevel: debug}")
    assert [part["log"] for part in parts(found)] == [{"level": "debug"}] * 3


def test_tolerations_and_pull_secrets_are_those_of_every_pod() -> None:
    components = "externalSecrets: {enabled: true, tolerations: [{key: dedicated, operator: Exists}]}"
    assert values(components, "registry: {pullSecrets: [pull]}\n")["global"] == {
        "imagePullSecrets": [{"name": "pull"}],
        "tolerations": [{"key": "dedicated", "operator": "Exists"}],
    }


@pytest.mark.parametrize(
    ("mirrors", "wanted"),
    [
        ("{ghcr.io: r.example.com/ghcr}", "r.example.com/ghcr/external-secrets/external-secrets"),
        ("{ghcr.io/external-secrets: r.example.com/eso}", "r.example.com/eso/external-secrets"),
    ],
)
def test_mirror_holds_the_image_of_every_part(mirrors: str, wanted: str) -> None:
    found = values(body=f"registry: {{mirrors: {mirrors}}}\n")
    assert [part["image"] for part in parts(found)] == [{"repository": wanted}] * 3


def test_only_the_controller_goes_through_the_proxy() -> None:
    body = 'proxy: {https: "http://proxy.example.com:3128", noProxy: [10.0.0.0/8, .svc]}\n'
    found = values(body=body)
    assert found["extraEnv"] == [
        {"name": "HTTPS_PROXY", "value": "http://proxy.example.com:3128"},
        {"name": "NO_PROXY", "value": "10.0.0.0/8,.svc"},
    ]
    assert found.keys() == {"crds", "extraEnv"}


@pytest.mark.parametrize(
    ("distribution", "os", "wanted"), [("openshift", "rhcos", "force"), ("kubeadm", "ubuntu-24.04", None)]
)
def test_users_of_pods_are_left_to_openshift(distribution: str, os: str, wanted: str | None) -> None:
    body = f'kubernetes: {{version: "1.35", distribution: {distribution}}}\n'
    found = values(body=body, pools=POOL.replace("ubuntu-24.04", os))
    compatibility = found.get("global", {}).get("compatibility", {}).get("openshift", {})
    assert compatibility.get("adaptSecurityContext") == wanted


def test_air_gap_needs_a_mirror_of_its_registry() -> None:
    body = "airGap: true\nregistry: {mirrors: {docker.io: r.example.com/hub}}\n"
    (found,) = (
        item
        for item in findings(spec_text(body, pools=POOL, components=ON))
        if item.code == "air-gap-mirror-missing"
    )
    assert found.message == (
        "images of External Secrets come from ghcr.io (ghcr.io/external-secrets/external-secrets among "
        "them), and there is no mirror of it"
    )


def test_written_back_certificates_are_no_difference() -> None:
    ignored = apps()["external-secrets"].ignore_differences
    assert {(item.kind, item.name) for item in ignored} == {
        ("ValidatingWebhookConfiguration", "externalsecret-validate"),
        ("ValidatingWebhookConfiguration", "secretstore-validate"),
    }
