"""What KubeRay's Applications and Ray clusters say about the operator and the pools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import dedent, indent
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml
from lupa import lua51  # type: ignore[import-untyped]

from gitops_gen.components.kuberay.health import health_checks
from gitops_gen.model import Application, HelmSource, Pruning
from gitops_gen.plan import state_text
from gitops_gen.resources import resources
from tests.specs import codes, compile_text, findings, spec_text
from tests.trees import Case, cases, prepared

CPU = "- {name: cpu, nodes: 3, os: ubuntu-24.04, nodeSelector: {node.example.com/pool: cpu}}\n"
MACHINE = "machine: {sockets: 2, coresPerSocket: 32, memory: 512Gi, reserved: {cores: 2, memory: 16Gi}}"
IMAGE = "docker.io/rayproject/ray:2.56.1-gpu"
CASES = [item for item in cases() if "/kuberay/" in str(item.golden)]
FIELDS: Any = resources().component("kuberay").facts.table("raycluster-1.7.0")["fields"]
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}


def pool(more: str = "gpu: {model: h100-sxm-80gb, count: 8}", *, name: str = "h100") -> str:
    head = f"""\
        - name: {name}
          nodes: 4
          os: ubuntu-24.04
          nodeSelector: {{node.example.com/pool: {name}}}
          {MACHINE}
        """
    return CPU + dedent(head) + indent(dedent(more).rstrip("\n") + "\n", "  ")


def ray(cluster: str = "", *, groups: str = "", more: str = "", version: str = "2.56.1") -> str:
    """Return the components with one Ray cluster `a`."""
    workers = f", workerGroups: [{groups}]" if groups else ""
    item = f"{{name: a, version: {version}, image: '{IMAGE}'{cluster}{workers}}}"
    return f"gpuOperator: {{enabled: true}}\nkuberay: {{enabled: true, clusters: [{item}]}}\n{more}"


def apps(components: str, *, pools: str = CPU, body: str = "") -> dict[str, Application]:
    plan = compile_text(spec_text(body, pools=pools, components=components)).plan
    return {item.name: item for item in plan.applications}


def values(operator: str = "", *, more: str = "", body: str = "") -> dict[str, Any]:
    text = f"kuberay: {{enabled: true{operator}}}\n{more}"
    source = apps(text, body=body)["kuberay-operator"].sources[0]
    assert isinstance(source, HelmSource)
    return source.values.data


def cluster(components: str, *, pools: str = CPU, body: str = "") -> dict[str, Any]:
    found: Any = apps(components, pools=pools, body=body)["ray-a"].manifests[0].object.data
    spec: dict[str, Any] = found["spec"]
    return spec


def worker(group: str, *, pools: str, more: str = "") -> dict[str, Any]:
    """Return the only worker group of a cluster, its container's limits as `limits`."""
    (found,) = cluster(ray(groups=group, more=more), pools=pools)["workerGroupSpecs"]
    container = found["template"]["spec"]["containers"][0]
    assert container["resources"]["limits"] == container["resources"]["requests"]
    return {**found, "limits": container["resources"]["limits"]}


# --- the operator --------------------------------------------------------------------------------


def test_operator_needs_no_values_and_its_crds_are_pruned_on_approval() -> None:
    app = apps("kuberay: {enabled: true}")["kuberay-operator"]
    assert values() == {}
    assert (app.stack, app.namespace, app.wave, app.pruning) == ("platform", "kuberay", -20, Pruning.CONFIRM)
    assert app.namespaces[0].labels == {"pod-security.kubernetes.io/enforce": "restricted"}
    source = app.sources[0]
    assert isinstance(source, HelmSource)
    crds = {item.name for item in source.objects if item.kind == "CustomResourceDefinition"}
    assert crds == {"rayclusters.ray.io", "raycronjobs.ray.io", "rayjobs.ray.io", "rayservices.ray.io"}


def test_operator_of_some_namespaces_has_rights_in_them_only() -> None:
    app = apps("kuberay: {enabled: true, operator: {namespaces: [team-a, team-b]}}")["kuberay-operator"]
    source = app.sources[0]
    assert isinstance(source, HelmSource)
    assert source.values.data == {"watchNamespace": ["team-a", "team-b"], "singleNamespaceInstall": True}
    roles = {(item.kind, item.namespace) for item in source.objects if item.name == "kuberay-operator"}
    assert {("Role", "team-a"), ("RoleBinding", "team-b")} <= roles
    assert not any(item.kind.startswith("ClusterRole") for item in source.objects)
    assert app.notes == ("The operator watches namespaces that must exist: `team-a`, `team-b`.",)


def test_several_replicas_elect_one_and_keep_apart() -> None:
    found = values(", operator: {replicas: 2}")
    assert found["replicas"] == 2  # the chart elects one of them by default
    (term,) = found["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    label = {"app.kubernetes.io/name": "kuberay-operator"}
    assert term["podAffinityTerm"]["labelSelector"]["matchLabels"] == label


def test_prometheus_scrapes_the_operator() -> None:
    assert values(more="monitoring: {enabled: true}")["metrics"] == {
        "serviceMonitor": {"enabled": True, "additionalLabels": {"release": "kube-prometheus-stack"}}
    }


def test_operator_image_comes_from_the_mirror() -> None:
    body = "registry: {mirrors: {quay.io: r.example.com/quay}, pullSecrets: [pull]}\n"
    found = values(body=body)
    assert found["image"] == {"repository": "r.example.com/quay/kuberay/operator"}
    assert found["imagePullSecrets"] == [{"name": "pull"}]


def test_add_on_of_gke_leaves_the_clusters_alone_to_this_tree() -> None:
    body = 'kubernetes: {version: "1.35", distribution: gke}\n'
    text = ray().replace("clusters:", "operator: {managedBy: gke}, clusters:")
    found = apps(text, body=body)
    assert "kuberay-operator" not in found
    assert found["ray-a"].stack == "ray"


# --- Ray clusters --------------------------------------------------------------------------------


def test_cluster_without_workers_is_a_head_with_a_token() -> None:
    found = cluster(ray())
    assert found["authOptions"] == {"mode": "token"}
    assert found["headGroupSpec"]["serviceType"] == "ClusterIP"
    assert found["headGroupSpec"]["rayStartParams"] == {"num-cpus": "0"}
    size = found["headGroupSpec"]["template"]["spec"]["containers"][0]["resources"]
    assert size == {
        "limits": {"cpu": "4", "memory": "16Gi"},
        "requests": {"cpu": "4", "memory": "16Gi"},
    }
    assert "enableInTreeAutoscaling" not in found
    assert "workerGroupSpecs" not in found


def test_worker_takes_what_a_node_leaves() -> None:
    found = worker("{name: w, pool: h100, replicas: 2}", pools=pool())
    assert found["limits"] == {"cpu": "62", "memory": f"{496 * 1024}Mi", "nvidia.com/gpu": "8"}
    assert (found["replicas"], found["minReplicas"], found["maxReplicas"]) == (2, 2, 2)
    assert found["template"]["spec"]["nodeSelector"] == {"node.example.com/pool": "h100"}
    assert "numOfHosts" not in found


def test_workers_of_one_node_share_it() -> None:
    found = worker("{name: w, pool: h100, replicas: 8, workersPerNode: 4}", pools=pool())
    assert found["limits"] == {"cpu": "15", "memory": f"{124 * 1024}Mi", "nvidia.com/gpu": "2"}


def test_devices_and_sizes_can_be_chosen() -> None:
    found = worker("{name: w, pool: h100, devices: 0, cpu: 8, memory: 32Gi}", pools=pool())
    assert found["limits"] == {"cpu": "8", "memory": "32Gi"}


def test_taints_of_the_pool_are_tolerated() -> None:
    taints = "taints: [{key: a, value: b, effect: NoSchedule}, {key: c, effect: NoExecute}]"
    found = worker("{name: w, pool: h100}", pools=pool(f"{taints}\ngpu: {{model: l4, count: 1}}"))
    assert found["template"]["spec"]["tolerations"] == [
        {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"},
        {"key": "c", "operator": "Exists", "effect": "NoExecute"},
    ]


@pytest.mark.parametrize(
    ("gpu", "resource", "parameters"),
    [
        ("mig: {profile: 1g.10gb}", "nvidia.com/mig-1g.10gb", {}),
        ("mig: {profile: 1g.20gb}", "nvidia.com/mig-1g.20gb", {}),
        (
            "mig: {layout: [{devices: all, profiles: {1g.10gb+me: 1}}]}",
            "nvidia.com/mig-1g.10gb.me",
            {"num-gpus": "8"},
        ),
        (
            "sharing: {timeSlicing: {replicas: 2, renameByDefault: true}}",
            "nvidia.com/gpu.shared",
            {"num-gpus": "1"},
        ),
    ],
)
def test_ray_is_told_of_gpus_that_the_operator_does_not_know(
    gpu: str, resource: str, parameters: dict[str, str]
) -> None:
    pools = pool(f"gpu: {{model: h100-sxm-80gb, count: 8, {gpu}}}")
    each = ", devices: 1" if "sharing" in gpu else ""
    mixed = "gpuOperator: {enabled: true, mig: {strategy: mixed}}"
    text = ray(groups=f"{{name: w, pool: h100{each}}}").replace("gpuOperator: {enabled: true}", mixed)
    (found,) = cluster(text, pools=pools)["workerGroupSpecs"]
    assert resource in found["template"]["spec"]["containers"][0]["resources"]["limits"]
    assert found["rayStartParams"] == parameters


@pytest.mark.parametrize(
    ("topology", "count", "hosts"), [("2x2x1", 4, None), ("2x2x2", 4, 2), ("4x4x4", 4, 16), ("2x4", 8, None)]
)
def test_hosts_of_a_slice_follow_from_its_topology(topology: str, count: int, hosts: int | None) -> None:
    pools = (
        pool(f"tpu: {{model: v5p, count: {count}}}", name="tpu")
        .replace(
            "nodeSelector: {node.example.com/pool: tpu}",
            f"nodeSelector: {{cloud.google.com/gke-tpu-topology: {topology}}}",
        )
        .replace("nodes: 4", "nodes: 16")
    )
    found = worker("{name: w, pool: tpu}", pools=pools)
    assert found["limits"]["google.com/tpu"] == str(count)
    assert found.get("numOfHosts") == hosts


def test_autoscaler_writes_what_argo_cd_leaves_alone() -> None:
    groups = "{name: w, pool: h100, replicas: {min: 0, max: 4}}"
    text = ray(", idleTimeoutSeconds: 300", groups=groups)
    found = cluster(text, pools=pool())
    assert found["enableInTreeAutoscaling"] is True
    assert found["autoscalerOptions"] == {"version": "v2", "idleTimeoutSeconds": 300}
    (group,) = found["workerGroupSpecs"]
    assert (group["replicas"], group["minReplicas"], group["maxReplicas"]) == (0, 0, 4)
    (ignored,) = apps(text, pools=pool())["ray-a"].ignore_differences
    assert ".spec.workerGroupSpecs[]?.replicas" in ignored.jq_path_expressions
    assert apps(ray(groups="{name: w, pool: h100}"), pools=pool())["ray-a"].ignore_differences == ()


def test_changed_worker_groups_of_an_autoscaled_cluster_reach_it() -> None:
    """The groups are one list: a sync that kept two fields of it would keep all of it."""
    groups = "{name: w, pool: h100, replicas: {min: 0, max: 4}}"
    compiled = compile_text(spec_text(pools=pool(), components=ray(groups=groups)))
    made: Any = compiled.documents["apps/ray/ray-a/application.yaml"]
    assert made["spec"]["ignoreDifferences"][0]["kind"] == "RayCluster"
    assert "RespectIgnoreDifferences=true" not in made["spec"]["syncPolicy"]["syncOptions"]
    assert "argocd-ignore-display" not in [item.code for item in compiled.diagnostics]
    app = apps(ray(groups=groups), pools=pool())["ray-a"]
    said = [*app.notes, *(line for block in app.commands for line in block.lines)]
    assert [text for text in said if "apply" in text] == []


def test_only_an_autoscaled_head_talks_to_the_api_server() -> None:
    fixed = cluster(ray(groups="{name: w, pool: h100}"), pools=pool())
    scaled = cluster(ray(groups="{name: w, pool: h100, replicas: {min: 0, max: 1}}"), pools=pool())
    key = "automountServiceAccountToken"
    assert fixed["headGroupSpec"]["template"]["spec"][key] is False
    assert key not in scaled["headGroupSpec"]["template"]["spec"]
    assert scaled["workerGroupSpecs"][0]["template"]["spec"][key] is False


def test_fabric_brings_devices_networks_and_locked_memory() -> None:
    fabric = "fabric: {type: infiniband, rdma: sharedDevice, interfaces: [ibp24s0], \
network: {subnet: 192.168.100.0/22}}"
    pools = pool(f"gpu: {{model: h100-sxm-80gb, count: 8}}\n{fabric}")
    more = "networkOperator: {enabled: true}"
    plain = worker("{name: w, pool: h100}", pools=pools, more=more)
    assert set(plain["limits"]) == {"cpu", "memory", "nvidia.com/gpu"}
    found = worker("{name: w, pool: h100, rdma: true}", pools=pools, more=more)
    assert found["limits"]["rdma/rdma_shared_device_ib"] == "1"
    annotations = found["template"]["metadata"]["annotations"]
    assert annotations == {"k8s.v1.cni.cncf.io/networks": "default/h100"}
    container = found["template"]["spec"]["containers"][0]
    assert container["securityContext"] == {"capabilities": {"add": ["IPC_LOCK"]}}
    (namespace,) = apps(ray(groups="{name: w, pool: h100, rdma: true}", more=more), pools=pools)[
        "ray-a"
    ].namespaces
    assert namespace.labels == {"pod-security.kubernetes.io/enforce": "privileged"}


def test_images_and_pull_secrets_follow_the_registry() -> None:
    body = "registry: {mirrors: {docker.io: r.example.com/hub}, pullSecrets: [pull]}\n"
    found = cluster(ray(), body=body)["headGroupSpec"]["template"]["spec"]
    assert found["containers"][0]["image"] == "r.example.com/hub/rayproject/ray:2.56.1-gpu"
    assert found["imagePullSecrets"] == [{"name": "pull"}]
    asked = apps(ray(), body=body)["ray-a"].secrets
    assert [(item.namespace, item.name) for item in asked] == [("ray", "pull")]


def test_air_gap_needs_mirrors_of_operator_and_clusters() -> None:
    body = "airGap: true\nregistry: {mirrors: {nvcr.io: r.example.com/n, registry.k8s.io: r.example.com/k}}\n"
    text = spec_text(body, pools=CPU, components=ray().replace("gpuOperator: {enabled: true}\n", ""))
    found = [item.message for item in findings(text) if item.code == "air-gap-mirror-missing"]
    assert found == [
        "images of KubeRay come from quay.io (quay.io/kuberay/operator among them), "
        "and there is no mirror of it",
        "images of the Ray clusters come from docker.io (docker.io/rayproject/ray among them), "
        "and there is no mirror of it",
    ]


def test_token_of_ones_own_must_exist() -> None:
    app = apps(ray(", authSecret: tok"))["ray-a"]
    (asked,) = app.secrets
    assert (asked.namespace, asked.name, asked.keys) == ("ray", "tok", ("auth_token",))
    lines = [line for block in app.commands for line in block.lines]
    assert lines == [
        "kubectl -n ray port-forward service/a-head-svc 8265:8265",
        "kubectl -n ray get secret tok -o jsonpath='{.data.auth_token}' | base64 -d",
    ]


def test_disabled_auth_is_a_warning() -> None:
    text = spec_text(
        pools=CPU, components=ray(", auth: disabled").replace("gpuOperator: {enabled: true}\n", "")
    )
    assert codes(text) == ["kuberay-without-auth"]
    (found,) = [item for item in findings(text) if item.code == "kuberay-without-auth"]
    assert found.path[-1] == "auth"
    assert found.hint == "remove `auth`; the operator makes the token"


def test_pool_without_devices_gives_none() -> None:
    found = worker("{name: w, pool: cpu, cpu: 1, memory: 1Gi}", pools=pool())
    assert found["limits"] == {"cpu": "1", "memory": "1Gi"}


def test_gpus_that_are_claimed_cannot_be_asked_for() -> None:
    """With claims the nodes advertise no resource, so a worker would silently have no GPU."""
    claims = "gpuOperator: {enabled: true, gpuCluster: {enabled: true}}"
    text = ray(groups="{name: w, pool: h100}").replace("gpuOperator: {enabled: true}", claims)
    found = [item for item in findings(spec_text(pools=pool(), components=text)) if "resource" in item.code]
    assert [item.message for item in found] == [
        'the nodes of pool "h100" offer no GPUs or TPUs that pods can ask for by resource'
    ]
    without = text.replace("pool: h100", "pool: h100, devices: 0")
    assert "kuberay-resource-unknown" not in codes(spec_text(pools=pool(), components=without))


def test_groups_of_several_clusters_fill_one_pool() -> None:
    group = "workerGroups: [{name: w, pool: h100, replicas: %d}]"
    item = "{name: %s, version: 2.56.1, image: 'docker.io/rayproject/ray:2.56.1', %s}"
    for second, wanted in ((2, []), (3, ["kuberay-pool-too-small"])):
        items = ", ".join((item % ("a", group % 2), item % ("b", group % second)))
        text = f"gpuOperator: {{enabled: true}}\nkuberay: {{enabled: true, clusters: [{items}]}}\n"
        assert codes(spec_text(pools=pool(), components=text)) == wanted


def test_prometheus_scrapes_head_and_workers() -> None:
    app = apps(ray(more="monitoring: {enabled: true}"))["ray-a"]
    found: Any = app.manifests[1].object.data
    assert found["kind"] == "PodMonitor"
    assert found["metadata"]["labels"] == {"release": "kube-prometheus-stack"}
    assert found["spec"] == {
        "selector": {"matchLabels": {"ray.io/cluster": "a"}},
        "podMetricsEndpoints": [{"port": "metrics"}],
    }


def test_namespace_of_the_operator_is_locked() -> None:
    state = apps("kuberay: {enabled: true}")["kuberay-operator"].state
    assert {path: state_text(value) for path, value in state.items()} == {
        "spec.components.kuberay.namespace": "kuberay"
    }


# --- conformance ---------------------------------------------------------------------------------


def ray_clusters(case: Case) -> Iterator[dict[str, Any]]:
    for app in prepared(case.spec).compiled.plan.applications:
        for manifest in app.manifests:
            data: Any = manifest.object.data
            if data["kind"] == "RayCluster":
                yield data


def field_faults(path: str, value: Any) -> Iterator[str]:
    """Yield what the CRD's list of fields has against a value; pod templates are Kubernetes' own."""
    known = FIELDS.get(path)
    if known is None:
        yield f"{path}: unknown"
    elif known["type"] == "PodTemplateSpec":
        return
    elif not isinstance(value, TYPES[known["type"]]) or value not in known.get("enum", [value]):
        yield f"{path}: {value!r}"
    elif isinstance(value, dict):
        missing = set(known.get("required", [])) - value.keys()
        yield from (f"{path}.{key}: missing" for key in sorted(missing))
        for key, below in value.items() if "values" not in known else ():
            yield from field_faults(f"{path}.{key}", below)
    elif isinstance(value, list):
        for item in value:
            yield from field_faults(f"{path}[]", item)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_ray_clusters_have_fields_of_the_crd_only(case: Case) -> None:
    assert [fault for data in ray_clusters(case) for fault in field_faults("spec", data["spec"])] == []


def test_fields_of_the_crd_refuse_what_it_does_not_know() -> None:
    wrong = {"nosuch": 1, "rayVersion": 2, "authOptions": {"mode": "password"}}
    assert list(field_faults("spec", wrong)) == [
        "spec.headGroupSpec: missing",
        "spec.nosuch: unknown",
        "spec.rayVersion: 2",
        "spec.authOptions.mode: 'password'",
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_pod_templates_are_pods_of_kubernetes(case: Case) -> None:
    version = prepared(case.spec).compiled.plan.spec.kubernetes.version
    for data in ray_clusters(case):
        groups = [data["spec"]["headGroupSpec"], *data["spec"].get("workerGroupSpecs", [])]
        for group in groups:
            metadata = {"name": "x", **group["template"].get("metadata", {})}
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": group["template"]["spec"]}
            kubernetes_validate.validate(yaml.safe_load(yaml.safe_dump(pod)), version, strict=True)


def test_named_nodes_are_chosen_by_their_names() -> None:
    pools = (
        pool("nodeNames: [n1, n2]")
        .replace("nodeSelector: {node.example.com/pool: h100}", "")
        .replace("nodes: 4", "nodes: 2")
    )
    found = worker("{name: w, pool: h100}", pools=pools)
    affinity = found["template"]["spec"]["affinity"]["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [term["matchFields"][0]["values"] for term in terms] == [["n1"], ["n2"]]


# --- health --------------------------------------------------------------------------------------

CHECKS = {check.kind: check.lua for check in health_checks()}


def health(kind: str, status: Mapping[str, Any]) -> tuple[str, str]:
    runtime = lua51.LuaRuntime(unpack_returned_tuples=True)
    data = {"kind": kind, "metadata": {"name": "x", "generation": 2}, "status": status}
    runtime.globals().obj = runtime.table_from(data, recursive=True)
    found = runtime.execute(CHECKS[kind])
    return found["status"], found["message"]


def conditions(generation: int = 2, **states: str) -> dict[str, Any]:
    """Return a status; `HeadPodReady="True:all well"` is a condition with its message."""
    found = [
        {"type": name, "status": text.partition(":")[0], "reason": "R", "message": text.partition(":")[2]}
        for name, text in states.items()
    ]
    return {"observedGeneration": generation, "conditions": found}


@pytest.mark.parametrize(
    ("status", "wanted"),
    [
        (
            conditions(1, HeadPodReady="True", RayClusterProvisioned="True"),
            ("Progressing", "waiting for KubeRay"),
        ),
        (conditions(HeadPodReady="False:pulling"), ("Progressing", "pulling")),
        (conditions(HeadPodReady="True", RayClusterProvisioned="False:2 of 4"), ("Progressing", "2 of 4")),
        (
            conditions(HeadPodReady="True", RayClusterProvisioned="True"),
            ("Healthy", "head and workers are ready"),
        ),
        (conditions(HeadPodReady="True", ReplicaFailure="True:quota"), ("Degraded", "quota")),
        (conditions(RayClusterSuspended="True"), ("Suspended", "the cluster is suspended")),
    ],
)
def test_cluster_is_healthy_when_all_pods_were_ready(status: dict[str, Any], wanted: tuple[str, str]) -> None:
    assert health("RayCluster", status) == wanted


@pytest.mark.parametrize(
    ("state", "wanted"),
    [
        ("Running", "Progressing"),
        ("Complete", "Healthy"),
        ("Failed", "Degraded"),
        ("ValidationFailed", "Degraded"),
        ("Suspended", "Suspended"),
    ],
)
def test_job_is_as_healthy_as_its_deployment(state: str, wanted: str) -> None:
    assert health("RayJob", {"jobDeploymentStatus": state}) == (wanted, state)


def test_service_is_healthy_when_it_answers() -> None:
    assert health("RayService", conditions(Ready="True:2 endpoints")) == ("Healthy", "2 endpoints")
    assert health("RayService", conditions(Ready="False:none yet")) == ("Progressing", "none yet")
    failed = conditions(Ready="False:too long")
    failed["conditions"][0]["reason"] = "InitializingTimeout"
    assert health("RayService", failed) == ("Degraded", "too long")
