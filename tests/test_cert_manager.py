"""What cert-manager's Applications say."""

from __future__ import annotations

from typing import Any

import pytest

from gitops_gen.model import Application, HelmSource, Pruning
from tests.specs import compile_text, findings, spec_text

POOL = "- {name: cpu, nodes: 3, os: ubuntu-24.04}\n"
ON = "certManager: {enabled: true}"


def apps(components: str = ON, body: str = "") -> dict[str, Application]:
    plan = compile_text(spec_text(body, pools=POOL, components=components)).plan
    return {item.name: item for item in plan.applications}


def values(components: str = ON, body: str = "") -> dict[str, Any]:
    source = apps(components, body)["cert-manager"].sources[0]
    assert isinstance(source, HelmSource)
    return source.values.data


def test_crds_come_with_the_chart_and_prune_needs_approval() -> None:
    assert values() == {
        "crds": {"enabled": True},
        "startupapicheck": {"enabled": False},
    }
    assert apps()["cert-manager"].pruning is Pruning.CONFIRM
    assert apps()["cert-manager"].wave == -40


def test_provided_renders_nothing() -> None:
    found = apps("certManager: {provided: true}\nmonitoring: {enabled: true}")
    assert "cert-manager" not in found
    assert "kube-prometheus-stack" in found


def test_namespace_enforces_restricted_pods() -> None:
    (namespace,) = apps()["cert-manager"].namespaces
    assert namespace.labels == {"pod-security.kubernetes.io/enforce": "restricted"}


@pytest.mark.parametrize(("distribution", "wanted"), [("gke", "cert-manager"), ("eks", None)])
def test_leader_election_leaves_a_managed_kube_system_alone(distribution: str, wanted: str | None) -> None:
    body = f'kubernetes: {{version: "1.35", distribution: {distribution}}}\n'
    found = values(body=body).get("global", {}).get("leaderElection", {}).get("namespace")
    assert found == wanted


def test_service_monitor_comes_after_monitoring() -> None:
    found = apps(f"{ON}\nmonitoring: {{enabled: true}}")
    waves = {name: found[name].wave for name in found if name != "namespaces"}
    assert waves == {
        "cert-manager": -40,
        "kube-prometheus-stack": -30,
        "cert-manager-metrics": -20,
    }
    (manifest,) = found["cert-manager-metrics"].manifests
    assert manifest.object.data == {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": {
            "name": "cert-manager",
            "namespace": "cert-manager",
            "labels": {"release": "kube-prometheus-stack"},
        },
        "spec": {
            "jobLabel": "app.kubernetes.io/name",
            "selector": {"matchLabels": {"app.kubernetes.io/instance": "cert-manager"}},
            "endpoints": [{"targetPort": "http-metrics", "path": "/metrics"}],
        },
    }
    assert "prometheus" not in values(f"{ON}\nmonitoring: {{enabled: true}}")


def test_high_availability_sets_replicas_and_budgets() -> None:
    found = values("certManager: {enabled: true, highAvailability: true}")
    assert (found["replicaCount"], found["podDisruptionBudget"]) == (
        2,
        {"enabled": True},
    )
    for part, replicas in (("webhook", 3), ("cainjector", 2)):
        assert (found[part]["replicaCount"], found[part]["podDisruptionBudget"]) == (
            replicas,
            {"enabled": True},
        )
    parts = {"controller": found, "webhook": found["webhook"], "cainjector": found["cainjector"]}
    for component, part in parts.items():
        (spread,) = part["topologySpreadConstraints"]
        assert (spread["topologyKey"], spread["whenUnsatisfiable"]) == (
            "kubernetes.io/hostname",
            "ScheduleAnyway",
        )
        assert spread["labelSelector"]["matchLabels"] == {
            "app.kubernetes.io/instance": "cert-manager",
            "app.kubernetes.io/component": component,
        }


def test_mirror_proxy_and_pull_secrets() -> None:
    body = (
        "registry: {mirrors: {quay.io: r.example.com/quay}, pullSecrets: [pull]}\n"
        'proxy: {https: "http://proxy.example.com:3128", noProxy: [.svc, 10.0.0.0/8]}\n'
    )
    found = values(body=body)
    assert found["imageRegistry"] == "r.example.com/quay"
    assert found["global"] == {"imagePullSecrets": [{"name": "pull"}]}
    assert (found["https_proxy"], found["no_proxy"]) == (
        "http://proxy.example.com:3128",
        ".svc,10.0.0.0/8",
    )
    (secret,) = apps(body=body)["cert-manager"].secrets
    assert (secret.name, secret.type) == ("pull", "kubernetes.io/dockerconfigjson")


@pytest.mark.parametrize(
    ("mirrors", "wanted"),
    [
        ("{quay.io: r.example.com/quay}", {"imageRegistry": "r.example.com/quay"}),
        ("{quay.io/jetstack: r.example.com/jetstack}", {"imageRegistry": "r.example.com"}),
        (
            "{quay.io/jetstack: r.example.com/cm, quay.io: r.example.com/quay}",
            {"imageNamespace": "cm", "imageRegistry": "r.example.com"},
        ),
        (
            "{quay.io/jetstack: cm.example.com}",
            {"imageNamespace": "", "imageRegistry": "cm.example.com"},
        ),
        ("{docker.io: r.example.com/hub}", {}),
    ],
)
def test_mirror_may_be_of_a_registry_or_of_a_path(mirrors: str, wanted: dict[str, str]) -> None:
    found = values(body=f"registry: {{mirrors: {mirrors}}}\n")
    assert {key: found[key] for key in ("imageNamespace", "imageRegistry") if key in found} == wanted


def test_air_gap_needs_a_mirror_of_its_registry() -> None:
    body = "airGap: true\nregistry: {mirrors: {docker.io: r.example.com/hub}}\n"
    (found,) = findings(spec_text(body, pools=POOL, components=ON))
    assert (found.code, found.message) == (
        "air-gap-mirror-missing",
        "images of cert-manager come from quay.io (quay.io/jetstack/cert-manager-controller among them), "
        "and there is no mirror of it",
    )
    provided = "certManager: {provided: true}"
    assert findings(spec_text(body, pools=POOL, components=provided)) == ()


def test_webhook_on_the_hosts_network_has_a_port_of_its_own() -> None:
    components = "certManager: {enabled: true, webhookHostNetwork: true}"
    assert values(components)["webhook"] == {"hostNetwork": True, "securePort": 10260}
    (namespace,) = apps(components)["cert-manager"].namespaces
    assert namespace.labels == {"pod-security.kubernetes.io/enforce": "privileged"}
