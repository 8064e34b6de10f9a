"""What KEDA's Application says, and the ScaledObjects that other components ask for."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gitops_gen.components.keda.scaled_object import (
    Fallback,
    PrometheusQuery,
    Scaling,
    Target,
    scaled_object,
)
from gitops_gen.model import Application, HelmSource, Pruning, from_spec
from gitops_gen.traced import origins_of
from tests.crds import crds, faults, needs_upstream
from tests.specs import compile_text, findings, spec_text

POOL = "- {name: cpu, nodes: 3, os: ubuntu-24.04}\n"
ON = "keda: {enabled: true}"
KEPT = {"additionalAnnotations": {"argocd.argoproj.io/sync-options": "Prune=false,Delete=false"}}
PENDING_JOBS = Scaling(
    name="slurm-worker-h100",
    namespace="slurm",
    target=Target(api_version="slinky.slurm.net/v1beta1", kind="NodeSet", name="slurm-worker-h100"),
    min_replicas=1,
    max_replicas=4,
    trigger=PrometheusQuery(
        server_address="http://prometheus.monitoring.svc:9090",
        query='sum(slurm_partition_jobs_pending{partition="gpu"})',
        threshold="1",
    ),
)


def apps(components: str = ON, body: str = "env: lab\n") -> dict[str, Application]:
    plan = compile_text(spec_text(body, pools=POOL, components=components)).plan
    return {item.name: item for item in plan.applications}


def values(components: str = ON, body: str = "env: lab\n") -> dict[str, Any]:
    source = apps(components, body)["keda"].sources[0]
    assert isinstance(source, HelmSource)
    assert source.release_name == "keda"
    return source.values.data


def test_defaults_keep_only_the_definitions() -> None:
    assert values() == {"crds": KEPT}
    assert apps()["keda"].pruning is Pruning.CONFIRM


def test_provided_renders_nothing() -> None:
    assert "keda" not in apps("keda: {provided: true}\nmonitoring: {enabled: true}")


def test_namespace_enforces_restricted_pods() -> None:
    (namespace,) = apps()["keda"].namespaces
    assert (namespace.name, namespace.labels) == (
        "keda",
        {"pod-security.kubernetes.io/enforce": "restricted"},
    )


def test_keda_comes_after_monitoring_whose_kinds_its_chart_makes() -> None:
    found = apps(f"{ON}\nmonitoring: {{enabled: true}}")
    assert found["kube-prometheus-stack"].wave < found["keda"].wave == -15
    monitor = {"enabled": True, "additionalLabels": {"release": "kube-prometheus-stack"}}
    part = {"enabled": True, "serviceMonitor": monitor}
    assert values(f"{ON}\nmonitoring: {{enabled: true}}")["prometheus"] == {
        "operator": part,
        "metricServer": part,
        "webhooks": part,
    }


def test_another_prometheus_may_want_no_labels() -> None:
    found = values(f"{ON}\nmonitoring: {{provided: true, serviceMonitorLabels: {{}}}}")
    assert found["prometheus"]["operator"] == {"enabled": True, "serviceMonitor": {"enabled": True}}


def test_high_availability_doubles_and_spreads_every_part() -> None:
    found = values("keda: {enabled: true, highAvailability: true}")
    for part in ("operator", "metricsServer", "webhooks"):
        assert found[part]["replicaCount"] == 2
    assert found["podDisruptionBudget"] == {
        part: {"maxUnavailable": 1} for part in ("operator", "metricServer", "webhooks")
    }
    spread = found["topologySpreadConstraints"]
    assert {part: item["labelSelector"]["matchLabels"]["app"] for part, (item,) in spread.items()} == {
        "operator": "keda-operator",
        "metricsServer": "keda-operator-metrics-apiserver",
        "webhooks": "keda-admission-webhooks",
    }


@pytest.mark.parametrize(("distribution", "port"), [("gke", 10250), ("eks", None)])
def test_gke_reaches_pods_on_the_port_that_its_firewall_opens(distribution: str, port: int | None) -> None:
    found = values(body=f'kubernetes: {{version: "1.35", distribution: {distribution}}}\n')
    assert found.get("service", {}).get("portHttpsTarget") == port
    assert found.get("webhooks", {}).get("port") == port


def test_log_level_reaches_every_part() -> None:
    assert values("keda: {enabled: true, logLevel: error}")["logging"] == {
        "operator": {"level": "error"},
        "metricServer": {"zapLevel": "error"},
        "webhooks": {"level": "error"},
    }


def test_tolerations_are_those_of_every_pod() -> None:
    found = values("keda: {enabled: true, tolerations: [{key: dedicated, operator: Exists}]}")
    assert found["tolerations"] == [{"key": "dedicated", "operator": "Exists"}]


@pytest.mark.parametrize(
    ("mirrors", "wanted"),
    [
        ("{ghcr.io: r.example.com/ghcr}", {"registry": "r.example.com/ghcr"}),
        (
            "{ghcr.io/kedacore: r.example.com/keda}",
            {"repository": "keda/keda-admission-webhooks", "registry": "r.example.com"},
        ),
        (
            "{ghcr.io/kedacore/keda-admission-webhooks: r.example.com/w, ghcr.io: r.example.com/ghcr}",
            {"repository": "w", "registry": "r.example.com"},
        ),
        ("{ghcr.io/kedacore/keda: r.example.com/keda}", None),
        ("{docker.io: r.example.com/hub}", None),
    ],
)
def test_mirror_may_be_of_a_registry_a_path_or_an_image(mirrors: str, wanted: dict[str, str] | None) -> None:
    found = values(body=f"registry: {{mirrors: {mirrors}}}\n").get("image", {})
    assert found.get("webhooks") == wanted


def test_pull_secrets_must_exist() -> None:
    body = "registry: {pullSecrets: [pull]}\n"
    assert values(body=body)["imagePullSecrets"] == [{"name": "pull"}]
    (secret,) = apps(body=body)["keda"].secrets
    assert (secret.namespace, secret.name, secret.purpose) == ("keda", "pull", "pulling images of KEDA")


def test_its_own_parts_are_asked_without_the_proxy() -> None:
    body = 'proxy: {https: "http://proxy.example.com:3128", noProxy: [10.0.0.0/8, .svc]}\n'
    assert values(body=body)["env"] == [
        {"name": "HTTPS_PROXY", "value": "http://proxy.example.com:3128"},
        {"name": "NO_PROXY", "value": "10.0.0.0/8,.svc,.cluster.local"},
    ]


def test_air_gap_needs_a_mirror_of_its_registry() -> None:
    body = "airGap: true\nregistry: {mirrors: {docker.io: r.example.com/hub}}\n"
    (found,) = (
        item
        for item in findings(spec_text(body, pools=POOL, components=ON))
        if item.code == "air-gap-mirror-missing"
    )
    assert found.message == (
        "images of KEDA come from ghcr.io (ghcr.io/kedacore/keda among them), and there is no mirror of it"
    )


def test_written_back_certificates_are_no_difference() -> None:
    ignored = apps()["keda"].ignore_differences
    assert {(item.kind, item.name, *item.jq_path_expressions, *item.json_pointers) for item in ignored} == {
        ("ValidatingWebhookConfiguration", "keda-admission", ".webhooks[]?.clientConfig.caBundle"),
        ("APIService", "v1beta1.external.metrics.k8s.io", "/spec/caBundle"),
    }


def test_scaled_object_holds_target_bounds_and_query() -> None:
    assert scaled_object(PENDING_JOBS).data == {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {
            "name": "slurm-worker-h100",
            "namespace": "slurm",
            "annotations": {"argocd.argoproj.io/sync-options": "SkipDryRunOnMissingResource=true"},
        },
        "spec": {
            "scaleTargetRef": {
                "apiVersion": "slinky.slurm.net/v1beta1",
                "kind": "NodeSet",
                "name": "slurm-worker-h100",
            },
            "minReplicaCount": 1,
            "maxReplicaCount": 4,
            "cooldownPeriod": 300,
            "advanced": {
                "horizontalPodAutoscalerConfig": {
                    "behavior": {"scaleDown": {"stabilizationWindowSeconds": 300}}
                }
            },
            "triggers": [
                {
                    "type": "prometheus",
                    "metricType": "AverageValue",
                    "metadata": {
                        "serverAddress": "http://prometheus.monitoring.svc:9090",
                        "query": 'sum(slurm_partition_jobs_pending{partition="gpu"})',
                        "threshold": "1",
                    },
                }
            ],
        },
    }


def test_scaled_object_knows_where_it_comes_from() -> None:
    origin = from_spec("components", "slurm", "nodeSets", 0, "replicas")
    made = scaled_object(PENDING_JOBS, origin)
    assert origins_of(made, ("spec", "maxReplicaCount")) == (origin,)
    assert origins_of(made, ("spec", "triggers")) == (origin,)


def test_fallback_says_how_many_there_are_without_metrics() -> None:
    made: Any = scaled_object(replace(PENDING_JOBS, fallback=Fallback(failure_threshold=3, replicas=2))).data
    assert made["spec"]["fallback"] == {"failureThreshold": 3, "replicas": 2}


def test_window_of_the_autoscaler_is_an_hour_at_most() -> None:
    made: Any = scaled_object(replace(PENDING_JOBS, cooldown=7200)).data
    behavior = made["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    assert made["spec"]["cooldownPeriod"] == 7200
    assert behavior == {"scaleDown": {"stabilizationWindowSeconds": 3600}}


@pytest.mark.parametrize(("least", "most"), [(3, 2), (0, 0), (-1, 2)])
def test_bounds_must_be_a_range(least: int, most: int) -> None:
    with pytest.raises(ValueError, match=f"replicas from {least} to {most} are no range"):
        scaled_object(replace(PENDING_JOBS, min_replicas=least, max_replicas=most))


def test_fallback_needs_an_average() -> None:
    trigger = replace(PENDING_JOBS.trigger, metric_type="Value")
    assert scaled_object(replace(PENDING_JOBS, trigger=trigger)).data["kind"] == "ScaledObject"
    with pytest.raises(ValueError, match="KEDA takes no fallback for metrics of type Value"):
        scaled_object(
            replace(PENDING_JOBS, trigger=trigger, fallback=Fallback(failure_threshold=3, replicas=2))
        )


@needs_upstream
def test_scaled_object_fits_upstreams_crd() -> None:
    known = crds("keda/v2.20.2")[("keda.sh/v1alpha1", "ScaledObject")]
    whole = replace(PENDING_JOBS, fallback=Fallback(failure_threshold=3, replicas=2), min_replicas=0)
    assert faults(scaled_object(whole).data, known) == []
    made: Any = scaled_object(whole).data
    made["spec"]["cooldown"] = 300
    assert len(faults(made, known)) == 1
