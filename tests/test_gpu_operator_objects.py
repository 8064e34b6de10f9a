"""The objects beside the chart, what nodes advertise, and how the Application treats the cluster."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gitops_gen.model import Application, PoolResources, Pruning
from gitops_gen.resources import resources
from gitops_gen.traced import origins_of
from tests.gpu_operator import app, chart, cluster, part, pool, values
from tests.specs import compile_text, findings, spec_text

LABEL = "nvidia.com/mig.config"
SHARING = "nvidia.com/device-plugin.config"
MIXED = part("mig: {strategy: mixed}")
LAYOUT = (
    "mig: {layout: [{devices: [0, 1, 2, 3], profiles: {1g.10gb: 2, 2g.20gb: 1, 3g.40gb: 1}}, "
    "{devices: [4, 5, 6, 7], profiles: {7g.80gb: 1}}]}"
)
A100 = (
    pool("sliced", model="a100-sxm-80gb", gpu="mig: {profile: 1g.10gb}")
    + pool("mixed", model="a100-sxm-80gb", gpu=LAYOUT)
    + pool("whole", model="a100-sxm-80gb")
)
SHARED = pool(
    "shared",
    model="l4",
    count=1,
    gpu="sharing: {timeSlicing: {replicas: 8, renameByDefault: true, failRequestsGreaterThanOne: true}}",
) + pool("whole", model="rtx-pro-6000-bse", count=2)


def objects(planned: Application) -> dict[str, Any]:
    documents: list[Any] = [item.object.data for item in planned.manifests]
    return {f"{item['kind']}/{item['metadata']['name']}": item for item in documents}


def advertised(pools: str, components: str = "") -> dict[str, PoolResources]:
    text = spec_text(pools=pools, components=components or part())
    return {item.pool: item for item in compile_text(text).plan.spec.resources}


def config(planned: Application) -> Any:
    (found,) = (item for item in objects(planned).values() if item["kind"] == "ConfigMap")
    return found


# --- sharing -------------------------------------------------------------------------------------


def test_sharing_has_a_key_for_each_pool_and_a_default_that_shares_nothing() -> None:
    planned = app(SHARED)
    found = config(planned)
    plugin: Any = chart(planned).values.data["devicePlugin"]
    assert plugin == {"config": {"name": found["metadata"]["name"], "default": "whole"}}
    assert {key: yaml.safe_load(text) for key, text in found["data"].items()} == {
        "shared": {
            "version": "v1",
            "sharing": {
                "timeSlicing": {
                    "renameByDefault": True,
                    "failRequestsGreaterThanOne": True,
                    "resources": [{"name": "nvidia.com/gpu", "replicas": 8}],
                }
            },
        },
        "whole": {"version": "v1"},
    }


def test_name_of_the_config_follows_its_content() -> None:
    first, again = (config(app(SHARED))["metadata"]["name"] for _ in range(2))
    other = config(app(SHARED.replace("replicas: 8", "replicas: 4")))["metadata"]["name"]
    assert first == again != other
    assert first.removeprefix("device-plugin-config-").isalnum()


def test_old_config_may_be_pruned_although_the_app_asks_first() -> None:
    planned = app(SHARED)
    annotations = config(planned)["metadata"]["annotations"]
    assert planned.pruning is Pruning.CONFIRM
    assert annotations == {"argocd.argoproj.io/sync-options": "Prune=true"}


def test_shared_gpus_are_advertised_by_their_new_name() -> None:
    found = advertised(SHARED)
    assert found["shared"].resources == {"nvidia.com/gpu.shared": 8}
    assert found["shared"].labels == {SHARING: "shared"}
    assert found["whole"].resources == {"nvidia.com/gpu": 2}
    assert found["whole"].labels == {SHARING: "whole"}


def test_only_pool_that_shares_is_the_default_and_needs_no_label() -> None:
    alone = pool("l4", model="l4", count=1, gpu="sharing: {mps: {replicas: 4}}")
    planned = app(alone)
    plugin: Any = chart(planned).values.data["devicePlugin"]
    assert plugin["config"]["default"] == "l4"
    assert yaml.safe_load(config(planned)["data"]["l4"]) == {
        "version": "v1",
        "sharing": {"mps": {"resources": [{"name": "nvidia.com/gpu", "replicas": 4}]}},
    }
    assert advertised(alone)["l4"].labels == {}


def test_unlabelled_nodes_share_nothing_where_pools_share_differently() -> None:
    two = pool("a", model="l4", count=1, gpu="sharing: {timeSlicing: {replicas: 4}}") + pool(
        "b", model="l4", count=1, gpu="sharing: {timeSlicing: {replicas: 2}}"
    )
    planned = app(two)
    plugin: Any = chart(planned).values.data["devicePlugin"]
    assert plugin["config"]["default"] == "unshared"
    assert yaml.safe_load(config(planned)["data"]["unshared"]) == {"version": "v1"}


# --- MIG -----------------------------------------------------------------------------------------


def test_custom_layout_stands_beside_every_set_in_use() -> None:
    planned = app(A100, components=MIXED)
    found = config(planned)
    assert list(found["data"]) == ["config.yaml"]
    assert yaml.safe_load(found["data"]["config.yaml"]) == {
        "version": "v1",
        "mig-configs": {
            "all-disabled": [{"devices": "all", "mig-enabled": False}],
            "all-1g.10gb": [{"devices": "all", "mig-enabled": True, "mig-devices": {"1g.10gb": 7}}],
            "mixed": [
                {
                    "devices": [0, 1, 2, 3],
                    "mig-enabled": True,
                    "mig-devices": {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1},
                },
                {"devices": [4, 5, 6, 7], "mig-enabled": True, "mig-devices": {"7g.80gb": 1}},
            ],
        },
    }
    data: Any = chart(planned).values.data
    assert data["migManager"] == {"config": {"name": found["metadata"]["name"]}}


def test_mig_instances_are_counted_for_each_node() -> None:
    found = advertised(A100, MIXED)
    assert found["sliced"].resources == {"nvidia.com/mig-1g.10gb": 56}
    assert found["mixed"].resources == {
        "nvidia.com/mig-1g.10gb": 8,
        "nvidia.com/mig-2g.20gb": 4,
        "nvidia.com/mig-3g.40gb": 4,
        "nvidia.com/mig-7g.80gb": 4,
    }
    labels = {name: item.labels for name, item in found.items()}
    assert labels == {
        "sliced": {LABEL: "all-1g.10gb"},
        "mixed": {LABEL: "mixed"},
        "whole": {LABEL: "all-disabled"},
    }


def test_usual_sets_need_no_config_of_ours() -> None:
    sliced = pool("sliced", model="a100-sxm-80gb", gpu="mig: {profile: 1g.10gb}")
    assert app(sliced, components=MIXED).manifests == ()
    assert "migManager" not in values(sliced, components=MIXED)


def test_gpus_outside_the_layout_stay_whole() -> None:
    some = pool("some", model="a100-sxm-80gb", gpu="mig: {layout: [{devices: [0], profiles: {3g.40gb: 2}}]}")
    layout = yaml.safe_load(config(app(some, components=MIXED))["data"]["config.yaml"])
    assert layout["mig-configs"]["some"] == [
        {"devices": [0], "mig-enabled": True, "mig-devices": {"3g.40gb": 2}},
        {"devices": [1, 2, 3, 4, 5, 6, 7], "mig-enabled": False},
    ]
    found = advertised(some, MIXED)["some"].resources
    assert found == {"nvidia.com/gpu": 7, "nvidia.com/mig-3g.40gb": 2}


def test_profile_that_models_make_in_different_numbers_is_filtered_by_model() -> None:
    models = (
        pool("small", model="a100-sxm-40gb", gpu="mig: {profile: 1g.10gb}")
        + pool("large", model="a100-sxm-80gb", gpu="mig: {profile: 1g.10gb}")
        + pool("own", model="a100-sxm-80gb", gpu=LAYOUT)
    )
    layout = yaml.safe_load(config(app(models, components=MIXED))["data"]["config.yaml"])
    entries = layout["mig-configs"]["all-1g.10gb"]
    assert [item["mig-devices"] for item in entries] == [{"1g.10gb": 4}, {"1g.10gb": 7}]
    filters = [set(item["device-filter"]) for item in entries]
    assert "0x20B010DE" in filters[0]
    assert "0x20B210DE" in filters[1]
    assert not filters[0] & filters[1]


# --- driver objects ------------------------------------------------------------------------------

DRIVERS = """\
driver:
  kernelModuleType: open
  upgradePolicy: {maxParallelUpgrades: 2, gpuPodDeletion: {timeoutSeconds: 600}}
  nvidiaDriverCRD:
    enabled: true
    pools: {v100: {version: 580.173.02, kernelModuleType: proprietary}}
"""


def test_each_pool_gets_a_driver_of_its_own() -> None:
    pools = pool("h100") + pool("v100", model="v100-sxm-32gb", os="ubuntu-22.04")
    planned = app(pools, components=part(DRIVERS))
    assert chart(planned).values.data["driver"] == {
        "nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}
    }
    found = objects(planned)
    assert list(found) == ["NVIDIADriver/h100", "NVIDIADriver/v100"]
    assert found["NVIDIADriver/v100"] == {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "NVIDIADriver",
        "metadata": {
            "name": "v100",
            "annotations": {"argocd.argoproj.io/sync-options": "Prune=confirm,Delete=confirm"},
        },
        "spec": {
            "default": False,
            "driverType": "gpu",
            "usePrecompiled": False,
            "kernelModuleType": "proprietary",
            "repository": "nvcr.io/nvidia",
            "image": "driver",
            "version": "580.173.02",
            "nodeSelector": {"node.example.com/pool": "v100"},
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
            "upgradePolicy": {"maxParallelUpgrades": 2, "podDeletion": {"timeoutSeconds": 600}},
        },
    }
    assert found["NVIDIADriver/h100"]["spec"]["version"] == "595.91.07"


def test_older_version_keeps_the_upgrade_policy_in_the_values() -> None:
    driver_part = "driver: {upgradePolicy: {maxParallelUpgrades: 4}, nvidiaDriverCRD: {enabled: true}}"
    body = f"version: v26.3.3\n{driver_part}"
    planned = app(components=part(body))
    driver: Any = chart(planned).values.data["driver"]
    assert driver["upgradePolicy"] == {"maxParallelUpgrades": 4}
    spec = objects(planned)["NVIDIADriver/h100"]["spec"]
    assert "upgradePolicy" not in spec
    assert "default" not in spec


# --- labels by rule ------------------------------------------------------------------------------

RULES = part("mig: {strategy: mixed}\nnodeLabels: node-feature-rule")


def test_rules_find_nodes_by_name_and_model_but_never_by_label() -> None:
    pools = pool(
        "sliced", model="a100-sxm-80gb", gpu="mig: {profile: 1g.10gb}", more="nodeNames: [gpu-1, gpu-2]"
    ) + pool("whole", model="a100-sxm-80gb")
    found = objects(app(pools, components=RULES))
    assert found["NodeFeatureRule/gpu-pool-sliced"]["spec"] == {
        "rules": [
            {
                "name": "labels of pool sliced",
                "labels": {LABEL: "all-1g.10gb"},
                "matchFeatures": [
                    {
                        "feature": "system.name",
                        "matchExpressions": {"nodename": {"op": "In", "value": ["gpu-1", "gpu-2"]}},
                    }
                ],
            }
        ]
    }
    (rule,) = found["NodeFeatureRule/gpu-pool-whole"]["spec"]["rules"]
    assert [item["feature"] for item in rule["matchFeatures"]] == ["pci.device", "system.name"]
    assert rule["matchFeatures"][1]["matchExpressions"] == {
        "nodename": {"op": "NotIn", "value": ["gpu-1", "gpu-2"]}
    }
    vendor = rule["matchFeatures"][0]["matchExpressions"]["vendor"]
    assert vendor == {"op": "In", "value": ["10de"]}


def test_rules_tell_one_model_apart_by_operating_system() -> None:
    pools = pool(
        "old",
        model="a100-sxm-80gb",
        os="ubuntu-22.04",
        gpu="mig: {profile: 1g.10gb}",
        more="driver: preinstalled",
    ) + pool("new", model="a100-sxm-80gb", more="driver: preinstalled")
    found = objects(app(pools, components=RULES))
    (rule,) = found["NodeFeatureRule/gpu-pool-old"]["spec"]["rules"]
    assert rule["matchFeatures"][1] == {
        "feature": "system.osrelease",
        "matchExpressions": {
            "ID": {"op": "In", "value": ["ubuntu"]},
            "VERSION_ID": {"op": "In", "value": ["22.04"]},
        },
    }


def test_pools_of_one_model_cannot_be_labelled_by_rule() -> None:
    found = findings(spec_text(pools=A100, components=RULES))
    assert [(item.code, item.path) for item in found] == [
        ("pool-not-discoverable", ("spec", "nodePools", index)) for index in range(3)
    ]


# --- virtual machines and mixed nodes ------------------------------------------------------------


def test_virtual_machines_are_chosen_by_label_and_offer_nothing_to_pods() -> None:
    pools = pool("vm", model="a40", os="ubuntu-22.04") + pool("pods", model="a40", os="ubuntu-22.04")
    found = advertised(pools, part("sandboxWorkloads: {mode: kubevirt, pools: {vm: vm-passthrough}}"))
    assert found["vm"].resources == {}
    assert found["vm"].labels == {"nvidia.com/gpu.workload.config": "vm-passthrough"}
    assert found["pods"].resources == {"nvidia.com/gpu": 8}
    assert found["pods"].labels == {}


def test_nodes_with_a_driver_are_spared_where_others_need_one() -> None:
    pools = pool("installed", more="driver: preinstalled") + pool("bare") + pool("dgx", os="dgx-os-7")
    labels = {name: item.labels for name, item in advertised(pools).items()}
    assert labels == {
        "installed": {"nvidia.com/gpu.deploy.driver": "false"},
        "bare": {},
        "dgx": {
            "nvidia.com/gpu.deploy.container-toolkit": "false",
            "nvidia.com/gpu.deploy.driver": "false",
        },
    }


def test_claims_leave_no_resource_to_ask_for() -> None:
    text = spec_text(cluster("kubeadm", "1.35.1"), components=part("gpuCluster: {enabled: true}"))
    (found,) = compile_text(text).plan.spec.resources
    assert (found.resources, found.labels) == ({}, {})


def test_provided_operator_still_advertises() -> None:
    components = "gpuOperator: {provided: true}\ncertManager: {enabled: true}\n"
    plan = compile_text(spec_text(pools=SHARED, components=components)).plan
    assert [item.name for item in plan.applications] == ["cert-manager", "namespaces"]
    assert plan.spec.resources[0].resources == {"nvidia.com/gpu.shared": 8}


def test_driver_image_follows_the_pools_that_run_containers() -> None:
    """A pool of virtual machines has no driver on the host, so its system may differ."""
    pools = pool("vm", os="ubuntu-22.04") + pool("pods")
    sandbox = "sandboxWorkloads: {mode: kubevirt, pools: {vm: vm-passthrough}}"
    mixed = [item.code for item in findings(spec_text(pools=pools, components=part()))]
    apart = [item.code for item in findings(spec_text(pools=pools, components=part(sandbox)))]
    assert (mixed, apart) == (["gpu-pools-mixed-os"], [])


# --- Application ---------------------------------------------------------------------------------


def test_namespace_is_privileged_and_outside_the_mesh() -> None:
    (request,) = app().namespaces
    assert request.name == "gpu-operator"
    assert request.labels == {
        "pod-security.kubernetes.io/enforce": "privileged",
        "pod-security.kubernetes.io/audit": "privileged",
        "pod-security.kubernetes.io/warn": "privileged",
        "istio-injection": "disabled",
    }
    assert request.quotas == ()


def test_gke_gets_the_quota_that_critical_pods_need() -> None:
    (request,) = app(pool(os="cos"), body=cluster("gke")).namespaces
    (quota,) = request.quotas
    assert quota.data == {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "gcp-critical-pods", "namespace": "gpu-operator"},
        "spec": {
            "hard": {"pods": "100"},
            "scopeSelector": {
                "matchExpressions": [
                    {
                        "scopeName": "PriorityClass",
                        "operator": "In",
                        "values": ["system-node-critical", "system-cluster-critical"],
                    }
                ]
            },
        },
    }


def test_state_names_what_tears_drivers_down() -> None:
    assert app().state == {
        "spec.components.gpuOperator.namespace": "gpu-operator",
        "spec.components.gpuOperator.driver.nvidiaDriverCRD.enabled": False,
        "spec.components.gpuOperator.gpuCluster.enabled": False,
        "spec.components.nodeFeatureDiscovery.provided": False,
        "spec.nodePools.h100.driver": "operator",
    }


def test_pool_that_loses_the_operators_driver_is_a_locked_change() -> None:
    state = {"gpu-operator": {"spec.nodePools.h100.driver": "operator"}}
    (found,) = findings(spec_text(pools=pool(more="driver: preinstalled")), previous=state)
    assert (found.code, found.path) == ("locked-state-changed", ("spec", "nodePools", "h100", "driver"))


@pytest.mark.parametrize("kind", ["ClusterPolicy", "NVIDIADriver", "GPUCluster", "ComputeDomain"])
def test_every_kind_with_a_state_has_a_health_check(kind: str) -> None:
    checks = {item.kind: item for item in resources().component("gpuOperator").health_checks()}
    assert checks[kind].group == ("resource.nvidia.com" if kind == "ComputeDomain" else "nvidia.com")
    assert "hs.status" in checks[kind].lua
    assert checks[kind].lua.rstrip().endswith("return hs")


def test_each_object_knows_where_it_comes_from() -> None:
    shared = pool("l4", model="l4", gpu="sharing: {timeSlicing: {replicas: 2}}")
    rules = pool("a100", model="a100-sxm-80gb", gpu=LAYOUT) + shared
    drivers = pool("v100", model="v100-sxm-32gb") + pool("h100")
    planned = app(rules, components=RULES), app(drivers, components=part(DRIVERS))
    manifests = [manifest for item in planned for manifest in item.manifests]
    assert [item.object.data["kind"] for item in manifests] == [
        *("ConfigMap", "ConfigMap", "NodeFeatureRule", "NodeFeatureRule"),
        *("NVIDIADriver", "NVIDIADriver"),
    ]
    for manifest in manifests:
        for key in manifest.object.data:
            assert origins_of(manifest.object, (key,)), (manifest.object.data["kind"], key)
