"""What the gpu-operator chart is told about environments, drivers, sharing, metrics and registries."""

from __future__ import annotations

from typing import Any

import pytest

from gitops_gen.traced import origins_of
from tests.gpu_operator import app, chart, cluster, part, pool, values

ALWAYS = {
    "operator": {"upgradeCRD": False},
    "node-feature-discovery": {"postDeleteCleanup": False},
}
SNAP = "/var/snap/microk8s"
CPU = "- {name: cpu, nodes: 2, nodeSelector: {node.example.com/pool: cpu}}\n"
UNMONITORED = {"dcgmExporter": {"serviceMonitor": {"enabled": False}}}


def test_smallest_cluster_sets_only_what_argo_cd_needs() -> None:
    assert values() == {**ALWAYS, **UNMONITORED}


def test_chart_version_keeps_its_v_and_release_its_name() -> None:
    source = chart(app())
    assert (source.repo_url, source.chart, source.version, source.release_name) == (
        "https://helm.ngc.nvidia.com/nvidia",
        "gpu-operator",
        "v26.7.0",
        "gpu-operator",
    )


@pytest.mark.parametrize(
    ("distribution", "os", "expected"),
    [
        ("k3s", "ubuntu-24.04", {"toolkit": {"env": [
            {"name": "CONTAINERD_SOCKET", "value": "/run/k3s/containerd/containerd.sock"}]}}),
        ("rke2", "ubuntu-22.04", {"toolkit": {"env": [
            {"name": "CONTAINERD_SOCKET", "value": "/run/k3s/containerd/containerd.sock"}]}}),
        ("microk8s", "ubuntu-24.04", {"toolkit": {"env": [
            {"name": "CONTAINERD_CONFIG", "value": f"{SNAP}/current/args/containerd-template.toml"},
            {"name": "CONTAINERD_SOCKET", "value": f"{SNAP}/common/run/containerd.sock"},
            {"name": "RUNTIME_CONFIG_SOURCE", "value": f"file={SNAP}/current/args/containerd.toml"}]}}),
        ("gke", "cos", {
            "hostPaths": {"driverInstallDir": "/home/kubernetes/bin/nvidia"},
            "toolkit": {"installDir": "/home/kubernetes/bin/nvidia",
                        "env": [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]},
            "driver": {"enabled": False}}),
        ("gke", "ubuntu-24.04", {"toolkit": {"env": [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]}}),
        ("eks", "al2023-nvidia", {"toolkit": {"enabled": False}, "driver": {"enabled": False}}),
        ("eks", "bottlerocket-nvidia", {
            "toolkit": {"enabled": False}, "devicePlugin": {"enabled": False}, "driver": {"enabled": False}}),
        ("eks", "ubuntu-24.04", {}),
        ("aks", "ubuntu-22.04", {
            "operator": {"upgradeCRD": False, "runtimeClass": "nvidia-container-runtime"},
            "toolkit": {"enabled": False}, "driver": {"enabled": False}}),
        ("oke", "oracle-linux-8", {
            "toolkit": {"enabled": False}, "devicePlugin": {"enabled": False}, "driver": {"enabled": False}}),
        ("kubeadm", "dgx-os-7", {"toolkit": {"enabled": False}, "driver": {"enabled": False}}),
        ("talos", "talos", {"toolkit": {"enabled": False}, "driver": {"enabled": False}}),
    ],
)  # fmt: skip
def test_environment_decides_paths_and_operands(distribution: str, os: str, expected: dict[str, Any]) -> None:
    found = values(pool(os=os), body=cluster(distribution))
    assert found == {**ALWAYS, **UNMONITORED, **expected}


def test_distribution_decides_where_no_gpu_pool_is_known() -> None:
    socket = {"name": "CONTAINERD_SOCKET", "value": "/run/k3s/containerd/containerd.sock"}
    assert values(CPU, body=cluster("k3s"))["toolkit"] == {"env": [socket]}
    assert values(CPU, body=cluster("kubeadm")) == {**ALWAYS, **UNMONITORED}
    assert values(CPU, body=cluster("aks")) == {**ALWAYS, **UNMONITORED}


def test_openshift_brings_its_own_feature_discovery_and_driver_toolkit() -> None:
    found = values(pool(os="rhcos"), body=cluster("openshift"))
    assert found == {
        "operator": {"upgradeCRD": False, "use_ocp_driver_toolkit": True},
        "platform": {"openshift": True},
        "nfd": {"enabled": False},
        **UNMONITORED,
    }


def test_preinstalled_driver_is_said_once_at_the_pool() -> None:
    assert values(pool(more="driver: preinstalled"))["driver"] == {"enabled": False}


def test_aks_pool_without_driver_needs_nothing() -> None:
    found = values(pool(os="ubuntu-22.04", more="driver: operator"), body=cluster("aks"))
    assert found == {**ALWAYS, **UNMONITORED}


def test_driver_stays_on_for_the_pools_that_need_it() -> None:
    mixed = pool("a", more="driver: preinstalled") + pool("b")
    assert "driver" not in values(mixed)


def test_nri_leaves_the_socket_to_the_runtime() -> None:
    found = values(pool(os="ubuntu-22.04"), components=part("cdi: {nri: true}"), body=cluster("rke2"))
    assert found["cdi"] == {"nriPluginEnabled": True}
    assert "toolkit" not in found


def test_clouds_reboot_nodes_to_change_mig_layouts() -> None:
    sliced = pool("a100", model="a100-sxm-40gb", os="al2023-nvidia", gpu="mig: {profile: 3g.20gb}")
    found = values(sliced, components=part("mig: {strategy: mixed}"), body=cluster("eks"))
    assert found["migManager"] == {"env": [{"name": "WITH_REBOOT", "value": "true"}]}
    assert found["mig"] == {"strategy": "mixed"}


def test_oke_with_the_operators_plugin_keeps_host_devices_to_itself() -> None:
    components = part("devicePlugin: {enabled: true}")
    found = values(pool(os="oracle-linux-8"), components=components, body=cluster("oke"))
    assert found["devicePlugin"] == {"env": [{"name": "MOFED_ENABLED", "value": "false"}]}


# --- placement -----------------------------------------------------------------------------------


def test_pool_taints_are_tolerated_beside_upstreams_own() -> None:
    taints = "taints: [{key: slurm, value: only, effect: NoSchedule}, {key: reserved, effect: NoExecute}]"
    found = values(pool(more=taints) + CPU)
    added = [
        {"key": "slurm", "operator": "Equal", "value": "only", "effect": "NoSchedule"},
        {"key": "reserved", "operator": "Exists", "effect": "NoExecute"},
    ]
    gpu = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    control = {
        "key": "node-role.kubernetes.io/control-plane",
        "operator": "Equal",
        "value": "",
        "effect": "NoSchedule",
    }
    assert found["daemonsets"] == {"tolerations": [gpu, *added]}
    assert found["node-feature-discovery"] == {
        "worker": {"tolerations": [control, gpu, *added]},
        "postDeleteCleanup": False,
    }


def test_taint_that_upstream_tolerates_changes_nothing() -> None:
    taint = "taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]"
    found = values(pool(more=taint) + CPU)
    assert found == {**ALWAYS, **UNMONITORED}


def test_soft_taint_needs_no_toleration() -> None:
    found = values(pool(more="taints: [{key: spot, effect: PreferNoSchedule}]"))
    assert found == {**ALWAYS, **UNMONITORED}


def test_large_cluster_gives_the_operator_memory() -> None:
    assert "resources" not in values(pool(nodes=300))["operator"]
    assert values(pool(nodes=301))["operator"]["resources"] == {"limits": {"memory": "1400Mi"}}


# --- metrics -------------------------------------------------------------------------------------


def test_service_monitor_carries_the_labels_that_prometheus_selects_by() -> None:
    found = values(components=part(others="monitoring: {enabled: true}\n"))
    assert found["dcgmExporter"]["serviceMonitor"] == {
        "enabled": True,
        "additionalLabels": {"release": "kube-prometheus-stack"},
    }


def test_prometheus_of_somebody_else_may_select_by_other_labels() -> None:
    monitoring = "monitoring: {provided: true}\n"
    found = values(components=part("dcgmExporter: {additionalLabels: {release: prom}}", others=monitoring))
    assert found["dcgmExporter"] == {
        "serviceMonitor": {"enabled": True, "additionalLabels": {"release": "prom"}}
    }


def test_metrics_settings_reach_the_exporter() -> None:
    exporter = """\
    dcgm: true
    dcgmExporter:
      interval: 30s
      additionalLabels: {team: gpu}
      slurmJobMapping: true
      podLabels: true
    """
    found = values(components=part(exporter, others="monitoring: {enabled: true}\n"))
    assert found["dcgm"] == {"enabled": True}
    assert found["dcgmExporter"] == {
        "serviceMonitor": {
            "enabled": True,
            "additionalLabels": {"release": "kube-prometheus-stack", "team": "gpu"},
            "interval": "30s",
        },
        "hpcJobMapping": {"enabled": True, "directory": "/var/lib/dcgm-exporter/job-mapping"},
        "enablePodLabels": True,
    }


def test_older_chart_needs_no_word_to_leave_the_service_monitor_off() -> None:
    assert "dcgmExporter" not in values(components=part("version: v26.3.3"))


# --- driver --------------------------------------------------------------------------------------


def test_licensed_driver_comes_from_a_private_image() -> None:
    driver = """\
    driver:
      repository: registry.example.com/nvidia
      image: vgpu-guest-driver
      version: 580.126.20-grid
      imagePullSecrets: [vgpu-pull]
      licensing: {secretName: licence}
    """
    planned = app(components=part(driver))
    assert chart(planned).values.data["driver"] == {
        "version": "580.126.20-grid",
        "repository": "registry.example.com/nvidia",
        "image": "vgpu-guest-driver",
        "licensingConfig": {"secretName": "licence"},
        "imagePullSecrets": ["vgpu-pull"],
    }
    assert [(item.name, item.keys, item.type) for item in planned.secrets] == [
        ("vgpu-pull", (".dockerconfigjson",), "kubernetes.io/dockerconfigjson"),
        ("licence", ("gridd.conf", "client_configuration_token.tok"), "Opaque"),
    ]


def test_upgrade_policy_writes_only_what_is_said() -> None:
    policy = "driver: {upgradePolicy: {maxParallelUpgrades: 4, gpuPodDeletion: {timeoutSeconds: 600}}}"
    assert values(components=part(policy))["driver"]["upgradePolicy"] == {
        "maxParallelUpgrades": 4,
        "gpuPodDeletion": {"timeoutSeconds": 600},
    }


def test_host_network_driver_is_used_for_rdma() -> None:
    fabric = "fabric: {type: infiniband, rdma: sharedDevice, ofed: host, interfaces: [ibp24s0]}"
    found = values(pool(more=fabric), components=part("driver: {rdma: true}"))
    assert found["driver"] == {"rdma": {"enabled": True, "useHostMofed": True}}


def test_proxy_reaches_the_driver_in_both_spellings() -> None:
    proxy = """\
    proxy:
      https: http://proxy.example.com:3128
      noProxy: [10.0.0.0/8, .svc]
      caConfigMap: company-ca
    """
    planned = app(components=part('driver: {env: {NO_PROXY: "*"}}'), body=proxy)
    assert chart(planned).values.data["driver"] == {
        "env": [
            {"name": "HTTPS_PROXY", "value": "http://proxy.example.com:3128"},
            {"name": "https_proxy", "value": "http://proxy.example.com:3128"},
            {"name": "no_proxy", "value": "10.0.0.0/8,.svc"},
            {"name": "NO_PROXY", "value": "*"},
        ],
        "certConfig": {"name": "company-ca"},
    }
    assert [(item.kind, item.name) for item in planned.secrets] == [("ConfigMap", "company-ca")]


def test_secret_variables_of_the_driver_stay_out_of_git() -> None:
    planned = app(components=part("driver: {envSecret: proxy-login}"))
    assert chart(planned).values.data["driver"] == {"secretEnv": "proxy-login"}
    assert [(item.kind, item.name, item.keys) for item in planned.secrets] == [("Secret", "proxy-login", ())]


def test_old_hosts_keep_the_mig_manager_that_runs_there() -> None:
    """With a driver of the host the MIG manager runs on the host, else in the driver's container."""
    sliced = pool(
        "a100", model="a100-sxm-40gb", os="rhel-8", gpu="mig: {profile: 3g.20gb}", more="driver: preinstalled"
    )
    assert values(sliced)["migManager"] == {"version": "v0.12.3"}
    assert "migManager" not in values(sliced.replace("preinstalled", "operator"))


# --- features ------------------------------------------------------------------------------------


def test_kata_switches_mode_and_rules_of_the_chart() -> None:
    found = values(components=part("sandboxWorkloads: {mode: kata, defaultWorkload: vm-passthrough}"))
    assert found["sandboxWorkloads"] == {
        "enabled": True,
        "defaultWorkload": "vm-passthrough",
        "mode": "kata",
    }
    assert found["nfd"] == {"nodefeaturerules": True}


def test_gpu_cluster_replaces_the_cluster_policy() -> None:
    planned = app(
        components=part("gpuCluster: {enabled: true, featureGates: {DynamicMIG: true}}"),
        body=cluster("k3s", "1.35.1"),
    )
    found = chart(planned)
    assert found.values.data == {
        "operator": {"upgradeCRD": False},
        "driver": {"nvidiaDriverCRD": {"enabled": True}},
        "clusterPolicy": {"deployCR": False},
        "gpuCluster": {"deployCR": True},
        "draDriver": {"featureGates": {"DynamicMIG": True}},
        **UNMONITORED,
        "node-feature-discovery": {"postDeleteCleanup": False},
    }
    assert found.api_versions == ("resource.k8s.io/v1/DeviceClass",)


def test_somebody_elses_feature_discovery_is_left_alone() -> None:
    found = values(components=part(others="nodeFeatureDiscovery: {provided: true}\n"))
    assert found == {"operator": {"upgradeCRD": False}, "nfd": {"enabled": False}, **UNMONITORED}


def test_what_the_tree_cannot_do_is_noted() -> None:
    sliced = pool("a100", model="a100-sxm-80gb", os="ubuntu-22.04", gpu="mig: {profile: 3g.40gb}")
    assert app().notes == ()
    (note,) = app(components=part("cdi: {nri: true}")).notes
    assert note.startswith("NRI: containerd (1.7.30, or 2.1 to 2.3) or CRI-O (1.34 or later)")
    (note,) = app(pool(os="ubuntu-22.04"), body=cluster("rke2")).notes
    assert note.startswith("RKE2: containerd must be 2.0 or later.")
    (note,) = app(pool(os="ubuntu-22.04"), components=part("cdi: {nri: true}"), body=cluster("rke2")).notes
    assert note.startswith("NRI: ")
    (note,) = app(sliced, body=cluster("aks")).notes
    assert note.startswith(
        "AKS: make node pools with a MIG layout of this spec without a GPU instance profile"
    )
    (note,) = app(components=part("driver: {version: 580.126.20-grid, licensing: {secretName: x}}")).notes
    assert note == "vGPU: blacklist the nouveau module on the nodes."
    sandbox = "sandboxWorkloads: {mode: kubevirt, vgpuManager: {repository: r.example.com, version: v1}}"
    assert app(components=part(sandbox)).notes == (note,)
    mirrors = MIRROR.replace("{nvcr.io:", "{registry.k8s.io: registry.example.com/k8s, nvcr.io:")
    components = part("driver: {repoConfigMap: repositories}")
    (note,) = app(pool(os="rhel-9"), components=components, body=f"{mirrors}airGap: true\n").notes
    assert note.startswith("Driver images for RHEL are tagged by major release")


# --- registry ------------------------------------------------------------------------------------

MIRROR = """\
registry:
  mirrors: {nvcr.io: registry.example.com/nvcr, nvcr.io/nvidia/cloud-native: other.example.com/native}
  pullSecrets: [pull]
"""


def test_every_image_in_use_comes_from_the_mirror() -> None:
    found = values(body=MIRROR)
    assert found["operator"] == {
        "upgradeCRD": False,
        "repository": "registry.example.com/nvcr/nvidia",
        "imagePullSecrets": ["pull"],
    }
    assert found["driver"]["manager"] == {"repository": "other.example.com/native"}
    assert found["migManager"]["repository"] == "other.example.com/native"
    assert found["toolkit"]["repository"] == "registry.example.com/nvcr/nvidia/k8s"


def test_pull_secrets_take_the_shape_of_each_key() -> None:
    found = values(body=MIRROR)
    assert found["node-feature-discovery"]["imagePullSecrets"] == [{"name": "pull"}]
    assert found["dcgmExporter"]["imagePullSecrets"] == ["pull"]


def test_images_that_nobody_pulls_are_not_named() -> None:
    found = values(body=MIRROR)
    unused = {
        "vfioManager",
        "vgpuManager",
        "kataSandboxDevicePlugin",
        "draDriver",
        "gds",
        "dcgm",
        "ccManager",
    }
    assert unused & found.keys() == set()


# --- provenance ----------------------------------------------------------------------------------


def test_each_value_knows_where_it_comes_from() -> None:
    source = chart(app(pool(os="ubuntu-22.04"), body=cluster("rke2")))
    refs = [item.ref for item in origins_of(source.values, ("toolkit", "env", 0))]
    paths = [item.path for item in origins_of(source.values, ("toolkit", "env", 0))]
    assert paths[:2] == [("spec", "kubernetes", "distribution"), ("spec", "nodePools", 0, "os")]
    assert refs[2] == "gpu-operator: recipe rke2 (rancher/rke2-docs advanced)"


def test_raw_values_survive_and_say_so() -> None:
    source = chart(app(components=part("values: {operator: {logging: {level: debug}}}")))
    assert source.values.data["operator"] == {"upgradeCRD": False, "logging": {"level": "debug"}}
    (origin,) = origins_of(source.values, ("operator", "logging", "level"))
    assert origin.path == ("spec", "components", "gpuOperator", "values", "operator", "logging", "level")
