"""What the monitoring stack's Application says, and what its rules find."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gitops_gen.model import Application, HelmSource, Pruning, SecretRequest
from tests.schemas import PACKAGE
from tests.specs import codes, compile_text, findings, spec_text

POOL = "- {name: cpu, nodes: 3, os: ubuntu-24.04}\n"
ON = "monitoring: {enabled: true}"
CONTROL_PLANE = ("kubeControllerManager", "kubeScheduler", "kubeProxy", "kubeEtcd")


def app(components: str = ON, body: str = "env: lab\n", pools: str = POOL) -> Application:
    plan = compile_text(spec_text(body, pools=pools, components=components)).plan
    return next(item for item in plan.applications if item.name == "kube-prometheus-stack")


def values(components: str = ON, body: str = "env: lab\n", pools: str = POOL) -> dict[str, Any]:
    source = app(components, body, pools).sources[0]
    assert isinstance(source, HelmSource)
    assert source.release_name == "kube-prometheus-stack"
    return source.values.data


def on(distribution: str) -> str:
    return f'env: lab\nkubernetes: {{version: "1.34", distribution: {distribution}}}\n'


def test_grafana_password_is_never_made_up() -> None:
    assert values() == {"grafana": {"admin": {"existingSecret": "grafana-admin"}}}
    assert app().secrets == (
        SecretRequest(
            namespace="monitoring",
            name="grafana-admin",
            keys=("admin-user", "admin-password"),
            purpose="Grafana's administrator",
        ),
    )


@pytest.mark.parametrize("distribution", ["k3s", "rke2", "microk8s", "eks", "aks", "oke", "gke"])
def test_unreachable_scrapers_are_off(distribution: str) -> None:
    found = values(body=on(distribution))
    assert {name: found[name] for name in CONTROL_PLANE} == {
        name: {"enabled": False} for name in CONTROL_PLANE
    }
    assert ("coreDns" in found) is (distribution == "gke")


@pytest.mark.parametrize(("distribution", "system"), [("kubeadm", "ubuntu-24.04"), ("talos", "talos")])
def test_reachable_scrapers_stay_on_with_a_note(distribution: str, system: str) -> None:
    planned = app(body=on(distribution), pools=f"- {{name: cpu, nodes: 3, os: {system}}}\n")
    source = planned.sources[0]
    assert isinstance(source, HelmSource)
    assert not set(CONTROL_PLANE) & set(source.values.data)
    (note,) = planned.notes
    assert note.startswith(f"On {distribution} the controller manager, scheduler, etcd and kube-proxy")


def test_prune_needs_approval_and_webhooks_may_differ() -> None:
    planned = app()
    assert (planned.wave, planned.pruning) == (-30, Pruning.CONFIRM)
    assert {(item.kind, item.name) for item in planned.ignore_differences} == {
        ("MutatingWebhookConfiguration", "kube-prometheus-stack-admission"),
        ("ValidatingWebhookConfiguration", "kube-prometheus-stack-admission"),
    }
    (namespace,) = planned.namespaces
    assert namespace.labels == {"pod-security.kubernetes.io/enforce": "privileged"}


@pytest.mark.parametrize("state", ["enabled: true", "provided: true"])
def test_cert_manager_makes_the_webhooks_certificate(state: str) -> None:
    found = values(f"{ON}\ncertManager: {{{state}}}")
    assert found["prometheusOperator"]["admissionWebhooks"] == {"certManager": {"enabled": True}}


def test_volume_takes_the_clusters_class_unless_it_names_one() -> None:
    body = "env: lab\nstorage: {defaultClass: ceph-block}\n"
    found = values(
        "monitoring: {enabled: true, prometheus: {size: 50Gi, retention: 30d}, "
        "grafana: {size: 5Gi, storageClass: fast}}",
        body,
    )
    assert found["prometheus"]["prometheusSpec"] == {
        "retention": "30d",
        "storageSpec": {
            "volumeClaimTemplate": {
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "50Gi"}},
                    "storageClassName": "ceph-block",
                }
            }
        },
    }
    assert found["grafana"]["persistence"] == {
        "enabled": True,
        "size": "5Gi",
        "storageClassName": "fast",
    }
    assert found["grafana"]["deploymentStrategy"] == {"type": "Recreate"}


def test_node_exporter_tolerates_taints_that_evict() -> None:
    pools = (
        "- name: gpu\n  nodes: 1\n  os: ubuntu-24.04\n  taints:\n"
        "  - {key: nvidia.com/gpu, effect: NoSchedule}\n"
        "  - {key: maintenance, value: soon, effect: NoExecute}\n"
    )
    assert values(pools=pools)["prometheus-node-exporter"]["tolerations"] == [
        {"effect": "NoSchedule", "operator": "Exists"},
        {
            "key": "maintenance",
            "operator": "Equal",
            "value": "soon",
            "effect": "NoExecute",
        },
    ]


def test_mirrors_reach_only_the_images_that_run() -> None:
    body = "env: lab\nregistry: {mirrors: {docker.io: r.example.com/hub, ghcr.io: r.example.com/gh}}\n"
    found = values(body=body)
    assert found["grafana"]["image"] == {"registry": "r.example.com/hub"}
    assert "initChownData" not in found["grafana"]
    patch = found["prometheusOperator"]["admissionWebhooks"]["patch"]
    assert patch == {"image": {"registry": "r.example.com/gh"}}
    without = values("monitoring: {enabled: true, grafana: {enabled: false}}", body)
    assert without["grafana"] == {"enabled": False}


def test_metrics_without_a_volume_are_a_notice_in_production() -> None:
    (found,) = findings(spec_text("env: prod\n", pools=POOL, components=ON))
    assert (found.code, found.severity, found.message) == (
        "metrics-not-kept",
        "notice",
        "Prometheus has no volume: its metrics are lost whenever its pod moves",
    )


def test_class_without_a_size_is_refused() -> None:
    components = "monitoring: {enabled: true, alertmanager: {storageClass: fast}}"
    (found,) = findings(spec_text("env: lab\n", pools=POOL, components=components))
    assert (found.code, found.path) == (
        "volume-without-size",
        ("spec", "components", "monitoring", "alertmanager", "storageClass"),
    )


def test_mirror_of_a_path_replaces_the_repository_too() -> None:
    body = (
        "env: lab\nregistry: {mirrors: {quay.io: r.example.com/quay, "
        "quay.io/prometheus: r.example.com/prom, docker.io/grafana/grafana: r.example.com/graf}}\n"
    )
    found = values(body=body)
    assert found["prometheus"]["prometheusSpec"]["image"] == {
        "repository": "prom/prometheus",
        "registry": "r.example.com",
    }
    assert found["grafana"]["image"] == {"repository": "graf", "registry": "r.example.com"}
    assert found["prometheusOperator"]["image"] == {"registry": "r.example.com/quay"}


def test_air_gap_needs_a_mirror_of_every_registry_that_is_used() -> None:
    body = "env: lab\nairGap: true\nregistry: {mirrors: {quay.io: r.example.com/quay}}\n"
    found = findings(spec_text(body, pools=POOL, components=ON))
    assert {item.code for item in found} == {"air-gap-mirror-missing"}
    assert sorted(item.message.split()[7] for item in found) == ["docker.io", "ghcr.io", "registry.k8s.io"]
    less = "monitoring: {enabled: true, grafana: {enabled: false}}\ncertManager: {provided: true}"
    (left,) = findings(spec_text(body, pools=POOL, components=less))
    assert "registry.k8s.io/kube-state-metrics/kube-state-metrics among them" in left.message


def test_openshift_has_its_own_monitoring() -> None:
    pools = "- {name: cpu, nodes: 3, os: rhcos}\n"
    (found,) = findings(spec_text(on("openshift"), pools=pools, components=ON))
    assert (found.code, found.severity) == ("monitoring-already-there", "error")
    foreign = "monitoring: {provided: true, serviceMonitorLabels: {}}"
    assert findings(spec_text(on("openshift"), pools=pools, components=foreign)) == ()


def test_labels_of_a_foreign_prometheus_are_asked_for() -> None:
    (asked,) = findings(spec_text(pools=POOL, components="monitoring: {provided: true}"))
    assert (asked.code, asked.severity) == ("service-monitor-labels-unknown", "notice")
    own = "monitoring: {enabled: true, serviceMonitorLabels: {release: other}}"
    (unused,) = findings(spec_text("env: lab\n", pools=POOL, components=own))
    assert (unused.code, unused.severity) == ("service-monitor-labels-unused", "warning")


@pytest.mark.parametrize(
    ("kept", "wanted"), [("45GB", []), ("50GiB", []), ("51GB", ["retention-exceeds-volume"])]
)
def test_samples_must_fit_their_volume(kept: str, wanted: list[str]) -> None:
    components = f"monitoring: {{enabled: true, prometheus: {{size: 50Gi, retentionSize: {kept}}}}}"
    assert codes(spec_text("env: lab\n", pools=POOL, components=components)) == wanted


def settings_without_example(schema: dict[str, Any], path: str) -> list[str]:
    """Return the settings that neither a telling default, a choice nor an example explains."""
    found = []
    for name, part in schema.get("properties", {}).items():
        place = f"{path}.{name}"
        told = part.get("default") not in (None, [], {}) or "enum" in part or "examples" in part
        if not told and part["type"] not in ("boolean", "object"):
            found.append(place)
        found += settings_without_example(part, place)
    return found


@pytest.mark.parametrize("component", ["cert_manager", "monitoring", "network_operator"])
def test_every_setting_shows_how_it_is_written(component: str) -> None:
    file = PACKAGE / "components" / component / "schema.yaml"
    assert settings_without_example(yaml.safe_load(file.read_text()), component) == []
