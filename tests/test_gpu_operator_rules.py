"""What public reports tried on the GPU Operator: what is accepted, warned of and refused."""

from __future__ import annotations

from textwrap import indent

import pytest

from gitops_gen.diagnostics import Severity
from tests.gpu_operator import app, chart, cluster, part, pool
from tests.specs import codes, findings, spec_text


def raw(values: str) -> str:
    return part(f"values:\n{indent(values, '  ')}")


def codes_of(pools: str = "", *, components: str = "", body: str = "", charts: str = "") -> list[str]:
    text = spec_text(body, pools=pools or pool(), components=components or part())
    return codes(text, previous={"charts": {"charts.gpu-operator": charts}} if charts else None)


# --- controls: nothing to complain about ---------------------------------------------------------

TIME_SLICED = """\
toolkit:
  env:
    - {name: CONTAINERD_SOCKET, value: /run/k3s/containerd/containerd.sock}
    - {name: CONTAINERD_CONFIG, value: /etc/containerd/config.toml}
devicePlugin:
  config:
    create: true
    name: ts
    default: any
    data:
      any: |
        version: v1
        sharing:
          timeSlicing:
            renameByDefault: true
            failRequestsGreaterThanOne: true
            resources:
              - {name: nvidia.com/gpu, replicas: 8}
dcgmExporter:
  serviceMonitor:
    relabelings:
      - {sourceLabels: [__meta_kubernetes_pod_node_name], targetLabel: node}
"""
INSTALLED = """\
driver: {version: 580.126.20}
toolkit: {enabled: true}
dcgm: {enabled: false}
migManager: {enabled: true}
"""


@pytest.mark.parametrize(
    ("pools", "components", "body"),
    [
        (pool(), raw(TIME_SLICED), cluster("k3s")),
        (pool(more="driver: preinstalled"), raw(INSTALLED), ""),
        (pool(), raw("operator: {logging: {level: debug}}\nvalidator: {plugin: {env: []}}\n"), ""),
        (pool("a") + pool("b", more="driver: preinstalled", os="ubuntu-22.04"), part(), ""),
        (pool("b200", model="b200", more="driver: preinstalled"), part(), ""),
        (pool("v100", model="v100-sxm-32gb"), part("driver: {version: 580.173.02}"), ""),
        (pool("v100", model="v100-sxm-32gb", more="driver: preinstalled"), part(), ""),
        (pool(), part('driver: {version: "595", usePrecompiled: true}'), ""),
        (
            pool(),
            part("driver: {kernelModuleType: open, nvidiaDriverCRD: {enabled: true}}\ngds: true"),
            "",
        ),
        (pool(os="ubuntu-22.04"), part("cdi: {nri: true}"), cluster("rke2", "1.34.1")),
    ],
    ids=[
        *("time-slicing by hand", "preinstalled software", "overlay", "mixed owners", "own driver"),
        *("pinned for Volta", "own driver on Volta", "precompiled", "storage", "new enough for NRI"),
    ],
)
def test_control_draws_neither_error_nor_warning(pools: str, components: str, body: str) -> None:
    assert codes_of(pools, components=components, body=body) == []


# --- refused or warned of, in the settings and in the raw values alike ---------------------------


@pytest.mark.parametrize(
    ("pools", "components", "body", "expected"),
    [
        ("", raw("dcgmExporter: {serviceMonitor: {enabled: true}}\n"), "",
         ["service-monitor-needs-monitoring"]),
        ("", raw("cdi: {enabled: false, nriPluginEnabled: true}\n"), "", ["cdi-disabled", "nri-needs-cdi"]),
        ("", raw("driver: {version: 580.173.02, usePrecompiled: true}\n"), "", ["precompiled-needs-branch"]),
        ("", raw('driver: {version: "580"}\n'), "", ["driver-version-incomplete"]),
        ("", raw("driver: {upgradePolicy: {drain: {enable: true}, maxParallelUpgrades: 0}}\n"), "",
         ["driver-drain-enabled", "driver-upgrade-unlimited"]),
        ("", raw("gdrcopy: {enabled: true}\ndriver: {usePrecompiled: true, version: \"580\"}\n"), "",
         ["precompiled-conflict"]),
        (pool("v100", model="v100-sxm-32gb"), raw("driver: {version: 590.44.01}\n"), "", ["driver-too-new"]),
        (pool(os="al2023"), part(), cluster("eks"), ["driver-container-unavailable"]),
        (pool(os="al2023-nvidia", more="driver: operator"), part(), cluster("eks"),
         ["driver-container-unavailable"]),
        (pool(os="cos", more="driver: operator"), part(), cluster("gke"), ["driver-container-unavailable"]),
        (pool(os="oracle-linux-9", more="driver: operator"), part(), cluster("oke"),
         ["driver-container-unavailable"]),
        (pool(more="driver: preinstalled"), part("gds: true"), "", ["kernel-module-needs-driver"]),
        ("", raw("gpuCluster: {deployCR: true}\nclusterPolicy: {deployCR: false}\n"),
         cluster("kubeadm", "1.33"), ["claims-need-kubernetes", "values-contradict-spec"]),
        ("", raw("nfd: {enabled: true}\n") + "nodeFeatureDiscovery: {provided: true}\n", "",
         ["two-node-feature-discoveries"]),
        ("", raw("devicePlugin: {version: v0.19.1}\n"), "", ["image-pin-older"]),
        ("", raw("dcgmExporter: {version: 3.3.9-3.6.1-ubuntu22.04}\ncdi: {enabled: false}\n"), "",
         ["cdi-disabled", "image-pin-older"]),
        (pool(more="fabric: {type: infiniband, rdma: sharedDevice, ofed: host, interfaces: [ibp24s0]}"),
         raw("devicePlugin: {version: v0.19.1}\n"), "", ["verbs-devices-exposed", "image-pin-older"]),
        (pool("x", model="l4", count=1, gpu="sharing: {mps: {replicas: 4}}"),
         part("mig: {strategy: mixed}"), "", ["mps-with-mixed-mig"]),
        (pool("x", model="a100-sxm-80gb", gpu="mig: {profile: 1g.10gb}"), part("mig: {strategy: none}"), "",
         ["mig-strategy-too-narrow"]),
        (pool(os="bottlerocket", more="driver: preinstalled"), part(), cluster("eks"),
         ["driver-container-unavailable"]),
        (pool(os="debian-12"), part(), "", ["driver-image-unlisted"]),
        (pool(os="azurelinux-3", more="driver: operator"), part(), cluster("aks"), ["driver-image-unlisted"]),
        (pool(os="ubuntu-26.04"), part("version: v26.3.3"), cluster("kubeadm", "1.34"),
         ["driver-image-unlisted"]),
        (pool("gh", model="gh200-96gb", os="rhel-9", count=1), part(), "", ["driver-image-unlisted"]),
        ("", part("gds: true\ndriver: {kernelModuleType: proprietary}"), "", ["storage-needs-open-modules"]),
        (pool("v100", model="v100-sxm-32gb"), part("gds: true\ndriver: {version: 580.173.02}"), "",
         ["storage-needs-open-modules"]),
        ("", raw("node-feature-discovery: {postDeleteCleanup: true}\n"), "", ["label-cleanup-enabled"]),
        ("", part("version: v26.3.3\nkubeletRootDir: /var/lib/k0s/kubelet"), cluster("kubeadm", "1.34"),
         ["feature-needs-newer-version"]),
    ],
)  # fmt: skip
def test_fault_is_found_wherever_it_is_said(
    pools: str, components: str, body: str, expected: list[str]
) -> None:
    assert sorted(codes_of(pools, components=components, body=body)) == sorted(expected)


@pytest.mark.parametrize(
    "key",
    [
        *("hostPaths: {toolkitInstallDir: /x}", "cdi: {default: true}", "nodeSelector: {a: b}"),
        *("operator: {defaultRuntime: containerd}", "driver: {useOpenKernelModules: true}"),
        *("operator: {initContainer: {image: cuda}}", "psp: {enabled: true}", "dcgm: {hostPort: 5555}"),
        *(
            "daemonsets: {nodeSelector: {a: b}}",
            "gfd: {affinity: {}}",
            "driver: {maxParallelUpgrades: 2}",
        ),
    ],
)
def test_key_that_the_chart_ignores_is_refused_with_a_hint(key: str) -> None:
    (found,) = findings(spec_text(components=raw(f"{key}\n")))
    assert (found.code, found.severity, bool(found.hint)) == ("unknown-values-key", Severity.ERROR, True)


@pytest.mark.parametrize(
    "pools",
    [
        pool(os="sles-15", more="driver: preinstalled"),
        pool(os="sles-15"),
        pool(os="rhel-9"),
        pool(os="rhcos"),
    ],
)
def test_driver_images_of_ones_own_may_be_for_any_system(pools: str) -> None:
    own = "driver: {repository: registry.example.com/nvidia}" if "sles-15" in pools else ""
    assert "driver-image-unlisted" not in codes_of(pools, components=part(own))


@pytest.mark.parametrize("distribution", ["eks", "gke", "oke"])
@pytest.mark.parametrize("driver", ["", "driver: preinstalled"])
def test_os_must_be_said_where_the_node_image_decides(distribution: str, driver: str) -> None:
    unsaid = pool(more=driver).replace("  os: ubuntu-24.04\n", "")
    assert codes_of(unsaid, body=cluster(distribution)) == ["gpu-pool-without-os"]
    assert codes_of(unsaid, body=cluster("kubeadm")) == []


def test_precompiled_branches_follow_the_version() -> None:
    branch = 'driver: {version: "570", usePrecompiled: true}'
    old = codes_of(components=part(f"version: v26.3.3\n{branch}"), body=cluster("kubeadm", "1.34"))
    assert (old, codes_of(components=part(branch))) == ([], ["precompiled-unavailable"])


# --- claims --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("gpuCluster: {enabled: true, featureGates: {DynamicMIG: true, MPSSupport: true}}",
         ["feature-gates-conflict"]),
        ("gpuCluster: {enabled: true, featureGates: {DynamicMIG: true, MPSSupport: false}}", []),
        ("gpuCluster: {enabled: true, featureGates: {DeviceMetadata: true}}", ["feature-gates-conflict"]),
        ("gpuCluster: {enabled: true, featureGates: {DeviceMetadata: true, PassthroughSupport: true}}", []),
        ("gpuCluster: {enabled: true}\nsandboxWorkloads: {mode: kubevirt}\ntoolkit: {env: {A: b}}",
         ["claims-leave-unread", "claims-leave-unread"]),
    ],
)  # fmt: skip
def test_claims_refuse_gates_that_conflict_and_name_what_they_leave_unread(
    settings: str, expected: list[str]
) -> None:
    assert codes_of(components=part(settings), body=cluster("kubeadm", "1.35.1")) == expected


def test_claims_on_gke_have_no_documented_way() -> None:
    claims = part("gpuCluster: {enabled: true}")
    assert codes_of(pool(os="cos"), components=claims, body=cluster("gke", "1.35.1")) == [
        "claims-undocumented"
    ]


# --- raw values against the spec -----------------------------------------------------------------

SLICED = pool("a100", model="a100-sxm-80gb", gpu="mig: {profile: 1g.10gb}")
CUT = pool(
    "cut", model="a100-sxm-80gb", gpu="mig: {layout: [{devices: all, profiles: {1g.10gb: 2, 2g.20gb: 2}}]}"
)
SHARED = pool("l4", model="l4", count=1, gpu="sharing: {timeSlicing: {replicas: 4}}")


@pytest.mark.parametrize(
    ("pools", "settings", "values", "path"),
    [
        (SLICED, "", "mig: {strategy: mixed}", "mig.strategy"),
        (SLICED, "", "migManager: {enabled: false}", "migManager.enabled"),
        (CUT, "mig: {strategy: mixed}", "migManager: {config: {name: own}}", "migManager.config.name"),
        (SHARED, "", "devicePlugin: {enabled: false}", "devicePlugin.enabled"),
        (SHARED, "", "devicePlugin: {config: {name: own}}", "devicePlugin.config.name"),
        (SHARED, "", "devicePlugin: {config: {default: none}}", "devicePlugin.config.default"),
        ("", "", "driver: {nvidiaDriverCRD: {enabled: true}}", "driver.nvidiaDriverCRD.enabled"),
        ("", "driver: {nvidiaDriverCRD: {enabled: true}}", "driver: {nvidiaDriverCRD: {enabled: false}}",
         "driver.nvidiaDriverCRD.enabled"),
        ("", "", "sandboxWorkloads: {enabled: true}", "sandboxWorkloads.enabled"),
        ("", "", "clusterPolicy: {deployCR: false}", "clusterPolicy.deployCR"),
        ("", "", "gpuCluster: {deployCR: true}\nclusterPolicy: {deployCR: false}", "gpuCluster.deployCR"),
        ("", "", "nfd: {enabled: false}", "nfd.enabled"),
    ],
)  # fmt: skip
def test_raw_value_may_not_deny_what_the_spec_decides(
    pools: str, settings: str, values: str, path: str
) -> None:
    components = part(f"{settings}\nvalues:\n{indent(values, '  ')}")
    found = findings(spec_text(cluster("kubeadm", "1.35.1"), pools=pools or pool(), components=components))
    denied = [item for item in found if item.code == "values-contradict-spec"]
    place = ("spec", "components", "gpuOperator", "values", *path.split("."))
    assert [item.path for item in denied] == [place]


@pytest.mark.parametrize(
    ("pools", "components"),
    [
        (SLICED, part("mig: {strategy: mixed}\nvalues: {mig: {strategy: mixed}}")),
        (pool(), raw("migManager: {enabled: false}\ntoolkit: {enabled: false}\n")),
        (SHARED, raw("devicePlugin: {enabled: true}\n")),
        (pool(), part(others="nodeFeatureDiscovery: {provided: true}\n") + ""),
    ],
)
def test_raw_value_that_agrees_or_decides_for_itself_is_left_alone(pools: str, components: str) -> None:
    assert codes_of(pools, components=components) == []


def test_time_slicing_beside_mps_is_refused_in_a_config_by_hand() -> None:
    both = TIME_SLICED.replace(
        "          timeSlicing:",
        "          mps: {resources: [{name: nvidia.com/gpu, replicas: 2}]}\n          timeSlicing:",
    )
    assert codes_of(components=raw(both), body=cluster("k3s")) == ["sharing-two-ways"]


def test_all_faults_are_named_each_of_them_once() -> None:
    pools = pool("new") + pool("old", os="ubuntu-22.04")
    found = findings(spec_text(pools=pools, components=part('driver: {version: "580"}')))
    assert [(item.code, item.path) for item in found] == [
        ("gpu-pools-mixed-os", ("spec", "nodePools", 1, "os")),
        ("driver-version-incomplete", ("spec", "components", "gpuOperator", "driver", "version")),
    ]


# --- upgrades ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ("v26.3.3", "v26.7.0", []),
        ("v26.7.0", "v26.7.0", []),
        ("v25.10.1", "v26.3.3", []),
        ("v25.10.1", "v26.7.0", ["release-line-skipped"]),
        ("v26.7.0", "v26.3.3", ["release-line-skipped"]),
        ("v23.9.0", "v26.7.0", ["release-line-skipped"]),
    ],
)
def test_upgrade_goes_one_line_at_a_time(before: str, now: str, expected: list[str]) -> None:
    found = codes_of(components=part(f"version: {now}"), body=cluster("kubeadm", "1.34"), charts=before)
    assert found == expected


def test_driver_that_comes_with_the_chart_is_named_when_it_changes() -> None:
    state = {"charts": {"charts.gpu-operator": "v26.3.3"}}
    pinned = part("driver: {version: 580.126.20}")
    own = part("driver: {nvidiaDriverCRD: {enabled: true, pools: {h100: {version: 580.126.20}}}}")
    bodies = {
        "chart's": spec_text(pools=pool(), components=part()),
        "pinned": spec_text(pools=pool(), components=pinned),
        "per pool": spec_text(pools=pool(), components=own),
        "on the nodes": spec_text(pools=pool(more="driver: preinstalled"), components=part()),
    }
    found = {
        name: [item for item in findings(text, previous=state) if item.code == "driver-changes-with-chart"]
        for name, text in bodies.items()
    }
    assert {name for name, items in found.items() if items} == {"chart's"}
    (notice,) = found["chart's"]
    assert notice.message == (
        "v26.3.3 to v26.7.0 also changes the driver of h100 from 580.126.20 to 595.91.07: pods with "
        "GPUs are evicted node by node"
    )


def test_switch_to_driver_objects_needs_the_version_that_migrates() -> None:
    place = "spec.components.gpuOperator.driver.nvidiaDriverCRD.enabled"
    state = {"gpu-operator": {place: False}}
    crd = "driver: {nvidiaDriverCRD: {enabled: true}}"
    body = cluster("kubeadm", "1.34")
    old = codes(spec_text(body, components=part(f"version: v26.3.3\n{crd}")), previous=state)
    new = codes(spec_text(body, components=part(crd)), previous=state)
    assert old == ["driver-migration-unsupported"]
    assert new == ["locked-state-changed"]


def test_settings_reach_what_rules_see() -> None:
    """The chart's default, our value and the raw value are looked at as one."""
    components = part(
        'devicePlugin: {env: {MOFED_ENABLED: "false"}}\ngds: true\ndriver: {kernelModuleType: open}'
    )
    fabric = "fabric: {type: infiniband, rdma: sharedDevice, ofed: host, interfaces: [ibp24s0]}"
    assert codes_of(pool(more=fabric), components=components) == []
    assert chart(app(pool(more=fabric), components=components)).values.data["gds"] == {"enabled": True}
