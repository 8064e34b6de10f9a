"""What the Network Operator's policies, networks and values say about the pools' fabric."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import jsonschema
import pytest
import yaml

from gitops_gen.components.network_operator.addresses import (
    blocks,
    read_network,
    read_range,
)
from gitops_gen.components.network_operator.health import health_checks
from gitops_gen.model import Application, HelmSource
from tests.specs import codes, compile_text, findings, spec_text

CHARTS = "charts: {'https://helm.ngc.nvidia.com/nvidia': r.example.com/c}"
ALONE = "networkOperator: {enabled: true}"
IPOIB = "{type: infiniband, rdma: sharedDevice, interfaces: [ibp24s0, ibp41s0], \
network: {subnet: 192.168.100.0/22}}"


def pool(fabric: str, *, name: str = "h100", nodes: int = 4, more: str = "") -> str:
    return dedent(
        f"""\
        - name: {name}
          nodes: {nodes}
          os: ubuntu-24.04
          nodeSelector: {{node.example.com/pool: {name}}}
          fabric: {fabric}
        """
    ) + indent(dedent(more), "  ")


def app(pools: str, *, components: str = ALONE, body: str = "") -> Application:
    plan = compile_text(spec_text(body, pools=pools, components=components)).plan
    return next(item for item in plan.applications if item.name == "network-operator")


def values(pools: str, *, components: str = ALONE, body: str = "") -> dict[str, Any]:
    source = app(pools, components=components, body=body).sources[0]
    assert isinstance(source, HelmSource)
    return source.values.data


def objects(pools: str, *, components: str = ALONE, body: str = "") -> dict[str, Any]:
    found = app(pools, components=components, body=body).manifests
    documents: list[Any] = [item.object.data for item in found]
    return {f"{item['kind']}/{item['metadata']['name']}": item for item in documents}


def policy(pools: str, **more: str) -> dict[str, Any]:
    spec: dict[str, Any] = objects(pools, **more)["NicClusterPolicy/nic-cluster-policy"]["spec"]
    return spec


def test_gpu_operator_owns_node_feature_discovery() -> None:
    both = f"gpuOperator: {{enabled: true}}\n{ALONE}"
    gpu = "gpu: {model: h100-sxm-80gb, count: 8}\n"
    assert values(pool(IPOIB, more=gpu), components=both)["nfd"] == {
        "enabled": False,
        "deployNodeFeatureRules": False,
    }


def test_provided_node_feature_discovery_keeps_the_rule_for_adapters() -> None:
    provided = f"{ALONE}\nnodeFeatureDiscovery: {{provided: true}}"
    assert values(pool(IPOIB), components=provided)["nfd"] == {"enabled": False}


def test_standing_alone_brings_node_feature_discovery_to_tainted_pools() -> None:
    taint = "taints: [{key: slurm, value: only, effect: NoSchedule}]\n"
    found = values(pool(IPOIB, more=taint))
    assert "nfd" not in found
    assert found["node-feature-discovery"]["worker"]["tolerations"][-1] == {
        "key": "slurm",
        "operator": "Equal",
        "value": "only",
        "effect": "NoSchedule",
    }


def test_argo_cd_applies_the_crds() -> None:
    assert values(pool(IPOIB))["upgradeCRDs"] is False


@pytest.mark.parametrize(
    ("fabric", "parts", "network", "resource"),
    [
        (
            "{type: roce, rdma: sharedDevice, interfaces: [ens1f0np0], network: {subnet: 10.0.0.0/22}}",
            {"ofedDriver", "rdmaSharedDevicePlugin", "nvIpam", "secondaryNetwork"},
            "MacvlanNetwork/h100",
            {"rdma/rdma_shared_device_roce": 63},
        ),
        (
            "{type: infiniband, rdma: sharedDevice, interfaces: [ib0], network: {subnet: 10.0.0.0/22}}",
            {"ofedDriver", "rdmaSharedDevicePlugin", "nvIpam", "secondaryNetwork"},
            "IPoIBNetwork/h100",
            {"rdma/rdma_shared_device_ib": 63},
        ),
        (
            "{type: roce, rdma: hostDevice, interfaces: [ens1f0np0, ens2f0np0]}",
            {"ofedDriver", "sriovDevicePlugin", "secondaryNetwork"},
            "HostDeviceNetwork/h100",
            {"nvidia.com/hostdev": 2},
        ),
        (
            "{type: roce, rdma: sriov, numVfs: 8, interfaces: [ens1f0np0, ens2f0np0]}",
            {"ofedDriver", "secondaryNetwork"},
            "SriovNetwork/h100",
            {"nvidia.com/sriov_rdma_roce": 16},
        ),
        (
            "{type: infiniband, rdma: sriov, numVfs: 8, interfaces: [ib0]}",
            {"ofedDriver", "secondaryNetwork"},
            "SriovIBNetwork/h100",
            {"nvidia.com/sriov_rdma_ib": 8},
        ),
    ],
)
def test_profile_follows_from_the_fabric(
    fabric: str, parts: set[str], network: str, resource: dict[str, int]
) -> None:
    assert set(policy(pool(fabric))) - {"nodeAffinity"} == parts
    assert network in objects(pool(fabric))
    compiled = compile_text(spec_text(pools=pool(fabric), components=ALONE))
    assert compiled.plan.spec.resources[0].resources == resource


def test_sriov_switches_its_operator_on() -> None:
    sriov = pool("{type: roce, rdma: sriov, numVfs: 8, interfaces: [ens1f0np0]}")
    assert values(sriov)["sriovNetworkOperator"] == {"enabled": True}
    assert "sriovNetworkOperator" not in values(pool(IPOIB))
    assert objects(sriov)["SriovNetworkNodePolicy/h100"]["spec"] == {
        "resourceName": "sriov_rdma_roce",
        "nodeSelector": {"node.example.com/pool": "h100"},
        "nicSelector": {"pfNames": ["ens1f0np0"]},
        "numVfs": 8,
        "isRdma": True,
        "deviceType": "netdevice",
        "linkType": "ETH",
    }


def test_policy_is_not_labelled_as_helms() -> None:
    metadata = objects(pool(IPOIB))["NicClusterPolicy/nic-cluster-policy"]["metadata"]
    assert "labels" not in metadata
    assert metadata["annotations"] == {
        "argocd.argoproj.io/sync-options": "SkipDryRunOnMissingResource=true,Prune=confirm,Delete=confirm",
        "argocd.argoproj.io/sync-wave": "1",
    }


def test_api_server_defaults_are_written_out() -> None:
    driver = policy(pool(IPOIB))["ofedDriver"]
    assert driver["imagePullSecrets"] == []
    assert driver["forcePrecompiled"] is False
    assert driver["terminationGracePeriodSeconds"] == 300


def test_pools_share_one_plugin_configuration() -> None:
    pools = pool("{type: infiniband, rdma: sharedDevice, interfaces: [ib0]}") + pool(
        "{type: roce, rdma: sharedDevice, interfaces: [ens1f0np0]}", name="l40s"
    )
    config = json.loads(policy(pools)["rdmaSharedDevicePlugin"]["config"])
    assert config == {
        "configList": [
            {
                "resourceName": "rdma_shared_device_ib",
                "rdmaHcaMax": 63,
                "selectors": {"ifNames": ["ib0"]},
            },
            {
                "resourceName": "rdma_shared_device_roce",
                "rdmaHcaMax": 63,
                "selectors": {"ifNames": ["ens1f0np0"]},
            },
        ]
    }


def test_pools_of_one_resource_join_their_interfaces() -> None:
    pools = pool("{type: infiniband, rdma: sharedDevice, interfaces: [ib0]}") + pool(
        "{type: infiniband, rdma: sharedDevice, interfaces: [ib1]}", name="h200"
    )
    config = json.loads(policy(pools)["rdmaSharedDevicePlugin"]["config"])
    assert [item["selectors"] for item in config["configList"]] == [{"ifNames": ["ib0", "ib1"]}]


def test_adapters_without_names_are_told_by_vendor_and_link() -> None:
    found = policy(pool("{type: infiniband, rdma: sharedDevice}"))
    config = json.loads(found["rdmaSharedDevicePlugin"]["config"])
    assert config["configList"][0]["selectors"] == {
        "vendors": ["15b3"],
        "linkTypes": ["infiniband"],
    }
    assert "secondaryNetwork" not in found


def test_mixed_network_drivers_become_node_policies() -> None:
    pools = pool("{type: infiniband, rdma: sharedDevice, interfaces: [ib0]}") + pool(
        "{type: roce, rdma: hostDevice, interfaces: [ens1f0np0], ofed: host}",
        name="serve",
    )
    found = objects(pools)
    assert "ofedDriver" not in found["NicClusterPolicy/nic-cluster-policy"]["spec"]
    assert found["NicNodePolicy/h100"]["spec"]["nodeSelector"] == {"node.example.com/pool": "h100"}
    assert "NicNodePolicy/serve" not in found


def test_each_interface_gets_a_network_on_one_address_pool() -> None:
    found = objects(pool(IPOIB))
    assert found["IPoIBNetwork/h100-ibp24s0"]["spec"]["master"] == "ibp24s0"
    ipam = json.loads(found["IPoIBNetwork/h100-ibp41s0"]["spec"]["ipam"])
    assert ipam == {"type": "nv-ipam", "poolName": "h100"}
    assert found["IPPool/h100"]["metadata"]["namespace"] == "nvidia-network-operator"
    assert found["IPPool/h100"]["spec"] == {
        "subnet": "192.168.100.0/22",
        "perNodeBlockSize": 32,
        "nodeSelector": {
            "nodeSelectorTerms": [
                {
                    "matchExpressions": [
                        {
                            "key": "node.example.com/pool",
                            "operator": "In",
                            "values": ["h100"],
                        }
                    ]
                }
            ]
        },
    }


def test_mirror_and_pull_secret_reach_chart_and_policy() -> None:
    body = "registry: {mirrors: {nvcr.io: r.example.com/nvcr}, pullSecrets: [pull]}\n"
    assert values(pool(IPOIB), body=body)["operator"]["repository"] == (
        "r.example.com/nvcr/nvidia/cloud-native"
    )
    driver = policy(pool(IPOIB), body=body)["ofedDriver"]
    assert (driver["repository"], driver["imagePullSecrets"]) == (
        "r.example.com/nvcr/nvidia/mellanox",
        ["pull"],
    )


def test_oke_brings_the_network_driver_itself() -> None:
    oke = 'kubernetes: {version: "1.34", distribution: oke}\n'
    assert "ofed-on-host-image" in codes(spec_text(oke, pools=pool(IPOIB), components=ALONE))
    host = pool(IPOIB.replace("rdma:", "ofed: host, rdma:"))
    assert codes(spec_text(oke, pools=host, components=ALONE)) == []


@pytest.mark.parametrize(("nodes", "wanted"), [(31, []), (32, ["ip-pool-too-small"])])
def test_address_pool_must_have_a_block_for_each_node(nodes: int, wanted: list[str]) -> None:
    """A /22 leaves 1022 addresses, 31 whole blocks of 32."""
    text = spec_text(pools=pool(IPOIB, nodes=nodes), components=ALONE)
    assert codes(text) == wanted


@pytest.mark.parametrize(
    ("subnet", "size", "room"),
    [
        ("10.0.0.0/24", 254, 1),
        ("10.0.0.0/24", 255, 0),
        ("10.0.0.0/31", 1, 2),
        ("10.0.0.0/30", 1, 2),
    ],
)
def test_first_and_last_address_are_not_given(subnet: str, size: int, room: int) -> None:
    assert blocks(read_network(subnet), size) == room


@pytest.mark.parametrize("text", ["10.0.0.9-10.0.0.1", "10.0.0.1-fe80::1", "ten", "10.0.0.1/24"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_range(text)


def test_range_may_be_one_address_or_a_network() -> None:
    assert [str(item) for item in read_range("10.0.0.7")] == ["10.0.0.7", "10.0.0.7"]
    assert [str(item) for item in read_range("10.0.0.0/30")] == ["10.0.0.0", "10.0.0.3"]


def test_every_kind_of_the_operator_has_a_health_check() -> None:
    assert [item.kind for item in health_checks()] == [
        "NicClusterPolicy",
        "NicNodePolicy",
        "MacvlanNetwork",
        "IPoIBNetwork",
        "HostDeviceNetwork",
    ]
    assert {item.group for item in health_checks()} == {"mellanox.com"}


TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
TERM = {
    "key": TEXT,
    "operator": {"enum": ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]},
    "values": {"type": "array", "items": TEXT},
}


def shape(required: str = "", **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required.split(),
        "properties": properties,
    }


OTHER_KINDS = {
    "SriovNetworkNodePolicy": shape(
        "nicSelector nodeSelector numVfs resourceName",
        resourceName=TEXT,
        nodeSelector=TEXTS,
        nicSelector=shape(
            vendor=TEXT,
            deviceID=TEXT,
            pfNames={"type": "array", "items": TEXT},
            rootDevices={"type": "array", "items": TEXT},
        ),
        numVfs={"type": "integer", "minimum": 0},
        isRdma={"type": "boolean"},
        deviceType={"enum": ["netdevice", "vfio-pci"]},
        linkType={"enum": ["eth", "ETH", "ib", "IB"]},
        mtu={"type": "integer", "minimum": 1},
    ),
    "SriovNetwork": shape(
        "resourceName",
        networkNamespace=TEXT,
        resourceName=TEXT,
        ipam=TEXT,
        logLevel={"enum": ["panic", "error", "warning", "info", "debug", ""]},
    ),
    "SriovIBNetwork": shape(
        "resourceName",
        networkNamespace=TEXT,
        resourceName=TEXT,
        ipam=TEXT,
        linkState={"enum": ["auto", "enable", "disable"]},
    ),
    "IPPool": shape(
        "perNodeBlockSize subnet",
        subnet=TEXT,
        perNodeBlockSize=NUMBER,
        gateway=TEXT,
        exclusions={"type": "array", "items": shape("endIP startIP", startIP=TEXT, endIP=TEXT)},
        nodeSelector=shape(
            "nodeSelectorTerms",
            nodeSelectorTerms={
                "type": "array",
                "items": shape(matchExpressions={"type": "array", "items": shape("key operator", **TERM)}),
            },
        ),
    ),
}
"""What we use of kinds whose CRDs are not beside the checkout: of the SR-IOV operator's in chart
network-operator 26.4.1 and of nvidia-k8s-ipam's at network-operator-v26.4.1."""

CASES = sorted((Path(__file__).parents[1] / "gitops_gen/components/network_operator/cases").iterdir())


def case_objects(case: Path) -> list[dict[str, Any]]:
    text = (case / "cluster.yaml").read_text(encoding="utf-8")
    planned = next(item for item in compile_text(text).plan.applications if item.name == "network-operator")
    return [item.object.data for item in planned.manifests]


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a structural schema that refuses unknown fields, as a strict API server does."""
    found = dict(schema)
    if "properties" in found and not found.get("x-kubernetes-preserve-unknown-fields"):
        found["additionalProperties"] = False
        found["properties"] = {key: strict(value) for key, value in found["properties"].items()}
    if isinstance(found.get("items"), dict):
        found["items"] = strict(found["items"])
    return found


def crd_schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas of the operator's own kinds, from the CRDs beside the checkout."""
    folder = Path(__file__).parents[2] / "shared/upstream/network-operator/v26.4.1/crds"
    if not folder.is_dir():
        pytest.skip("upstream's CRDs are not beside the checkout (../shared)")
    crds = [yaml.safe_load(file.read_text()) for file in sorted(folder.glob("*.yaml"))]
    return {
        crd["spec"]["names"]["kind"]: strict(
            crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        )
        for crd in crds
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.name))
def test_objects_validate_against_upstreams_crds(case: Path) -> None:
    schemas = crd_schemas()
    for item in case_objects(case):
        if item["apiVersion"] == "mellanox.com/v1alpha1":
            jsonschema.validate(item["spec"], schemas[item["kind"]])


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.name))
def test_objects_of_other_operators_hold_known_keys_and_types(case: Path) -> None:
    for item in case_objects(case):
        if item["apiVersion"] != "mellanox.com/v1alpha1":
            jsonschema.validate(item["spec"], OTHER_KINDS[item["kind"]])


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.name))
def test_plugin_configuration_selects_by_what_the_plugins_know(case: Path) -> None:
    known = {
        "rdmaSharedDevicePlugin": {"vendors", "deviceIDs", "ifNames", "linkTypes"},
        "sriovDevicePlugin": {
            "vendors",
            "devices",
            "pfNames",
            "pciAddresses",
            "linkTypes",
            "isRdma",
        },
    }
    for item in case_objects(case):
        for plugin, selectors in known.items():
            config = json.loads(item["spec"].get(plugin, {}).get("config", "{}"))
            for entry in (
                *config.get("configList", ()),
                *config.get("resourceList", ()),
            ):
                assert set(entry["selectors"]) <= selectors


def with_settings(settings: str) -> str:
    return f"networkOperator: {{enabled: true, {settings}}}"


def on(distribution: str) -> str:
    return f'kubernetes: {{version: "1.35", distribution: {distribution}}}\n'


HOST = IPOIB.replace("rdma:", "ofed: host, rdma:")


def test_upgrade_evicts_pods_but_deletes_none_that_nobody_makes_again() -> None:
    assert policy(pool(IPOIB))["ofedDriver"]["upgradePolicy"] == {
        "autoUpgrade": True,
        "maxParallelUpgrades": 1,
        "safeLoad": False,
        "drain": {"enable": True, "force": False, "deleteEmptyDir": True, "timeoutSeconds": 300},
    }


def test_upgrade_waits_for_jobs_and_evicts_what_uses_the_fabric() -> None:
    ofed = (
        "ofed: {safeLoad: true, waitForPods: job=training, waitTimeoutSeconds: 3600, "
        "drainPods: fabric=yes, drainForce: true, drainDeleteEmptyDir: false}"
    )
    found = policy(pool(IPOIB), components=with_settings(ofed))["ofedDriver"]["upgradePolicy"]
    assert found["safeLoad"] is True
    assert found["waitForCompletion"] == {"podSelector": "job=training", "timeoutSeconds": 3600}
    assert found["drain"] == {
        "enable": True,
        "force": True,
        "deleteEmptyDir": False,
        "timeoutSeconds": 300,
        "podSelector": "fabric=yes",
    }


@pytest.mark.parametrize(
    ("ofed", "text"),
    [
        ("{}", "to one node at a time, each drained first; a pod without a controller stops it"),
        ("{maxParallelUpgrades: 0, drain: false}", "to all nodes at once, none of them drained"),
        ("{autoUpgrade: false}", "stays out until its pods (`-l nvidia.com/ofed-driver`) are deleted"),
    ],
)
def test_note_says_what_a_driver_upgrade_does_to_nodes(ofed: str, text: str) -> None:
    assert text in app(pool(IPOIB), components=with_settings(f"ofed: {ofed}")).notes[-1]
    assert not any("driver" in note for note in app(pool(HOST)).notes)


def test_proxy_reaches_the_driver_in_both_spellings() -> None:
    body = 'proxy: {https: "http://p:3128", noProxy: [.svc, 10.0.0.0/8], caConfigMap: company-ca}\n'
    ofed = with_settings("ofed: {env: {no_proxy: own}}")
    driver = policy(pool(IPOIB), components=ofed, body=body)["ofedDriver"]
    assert driver["env"] == [
        {"name": "HTTPS_PROXY", "value": "http://p:3128"},
        {"name": "https_proxy", "value": "http://p:3128"},
        {"name": "NO_PROXY", "value": ".svc,10.0.0.0/8"},
        {"name": "no_proxy", "value": "own"},
    ]
    assert driver["certConfig"] == {"name": "company-ca"}


@pytest.mark.parametrize(
    ("distribution", "wanted"),
    [
        ("kubeadm", {}),
        (
            "k3s",
            {
                "cniBinDirectory": "/var/lib/rancher/k3s/data/cni",
                "cniNetworkDirectory": "/var/lib/rancher/k3s/agent/etc/cni/net.d",
            },
        ),
        (
            "microk8s",
            {
                "cniBinDirectory": "/var/snap/microk8s/current/opt/cni/bin",
                "cniNetworkDirectory": "/var/snap/microk8s/current/args/cni-network",
            },
        ),
        ("gke", {"cniBinDirectory": "/home/kubernetes/bin"}),
    ],
)
def test_network_plugins_go_where_the_runtime_looks(distribution: str, wanted: dict[str, str]) -> None:
    assert values(pool(HOST), body=on(distribution)).get("operator", {}) == wanted
    unattached = pool("{type: infiniband, rdma: sharedDevice, ofed: host, interfaces: [ib0]}")
    assert "operator" not in values(unattached, body=on(distribution))


def test_sriov_operator_uses_the_same_folder_for_plugins() -> None:
    sriov = pool("{type: roce, rdma: sriov, numVfs: 8, interfaces: [ens1f0np0]}")
    found = values(sriov, body=on("k3s"))["sriov-network-operator"]
    assert found["operator"] == {"cniBinPath": "/var/lib/rancher/k3s/data/cni"}


def test_tolerations_reach_every_deployment_beside_what_it_tolerates() -> None:
    wanted = {"key": "dedicated", "operator": "Exists"}
    components = with_settings("tolerations: [{key: dedicated, operator: Exists}]")
    sriov = pool("{type: roce, rdma: sriov, numVfs: 8, interfaces: [ens1f0np0]}")
    found = values(sriov, components=components)
    lists = [
        found["operator"]["tolerations"],
        found["sriov-network-operator"]["operator"]["tolerations"],
        found["node-feature-discovery"]["master"]["tolerations"],
        found["node-feature-discovery"]["gc"]["tolerations"],
    ]
    for item in lists:
        assert [entry["key"] for entry in item] == [
            "node-role.kubernetes.io/master",
            "node-role.kubernetes.io/control-plane",
            "dedicated",
        ]
    assert policy(sriov, components=components)["deploymentTolerations"] == [wanted]
    owned = f"gpuOperator: {{enabled: true}}\n{components}"
    gpu = "gpu: {model: h100-sxm-80gb, count: 8}\n"
    assert "node-feature-discovery" not in values(pool(IPOIB, more=gpu), components=owned)


@pytest.mark.parametrize(("distribution", "count"), [("gke", 1), ("aks", 0)])
def test_critical_pods_get_their_quota_where_one_is_needed(distribution: str, count: int) -> None:
    (namespace,) = app(pool(HOST), body=on(distribution)).namespaces
    assert len(namespace.quotas) == count
    for quota in namespace.quotas:
        found: Any = quota.data
        assert found["metadata"] == {
            "name": "network-operator-critical-pods",
            "namespace": "nvidia-network-operator",
        }
        assert found["spec"]["scopeSelector"]["matchExpressions"][0]["values"] == [
            "system-node-critical",
            "system-cluster-critical",
        ]


def test_longest_mirror_wins() -> None:
    mirrors = "{nvcr.io: r.example.com/nvcr, nvcr.io/nvidia/mellanox: r.example.com/mellanox}"
    body = f"registry: {{mirrors: {mirrors}}}\n"
    assert values(pool(IPOIB), body=body)["operator"] == {
        "repository": "r.example.com/nvcr/nvidia/cloud-native",
        "ofedDriver": {"initContainer": {"repository": "r.example.com/mellanox"}},
    }
    assert policy(pool(IPOIB), body=body)["nvIpam"]["repository"] == "r.example.com/mellanox"


def test_air_gap_needs_a_mirror_of_what_is_pulled_only() -> None:
    """The injector's image on ghcr.io is named by the SR-IOV operator, but never deployed."""
    sriov = pool("{type: roce, rdma: sriov, numVfs: 8, ofed: host, interfaces: [ens1f0np0]}")
    body = f"airGap: true\nregistry: {{mirrors: {{%s: r.example.com/m}}, {CHARTS}}}\n"
    assert codes(spec_text(body % "nvcr.io", pools=sriov, components=ALONE)) == []
    (found,) = findings(spec_text(body % "quay.io", pools=sriov, components=ALONE))
    assert (found.code, found.message) == (
        "air-gap-mirror-missing",
        "images of the Network Operator come from nvcr.io (nvcr.io/nvidia/cloud-native among them), "
        "and there is no mirror of it",
    )


@pytest.mark.parametrize(
    ("fabric", "ofed", "wanted"),
    [
        (IPOIB, "{}", ["air-gap-driver-packages"]),
        (IPOIB, "{repoConfig: packages}", []),
        (IPOIB, "{forcePrecompiled: true}", []),
        (HOST, "{}", []),
    ],
)
def test_air_gap_needs_packages_for_a_driver_built_on_the_node(
    fabric: str, ofed: str, wanted: list[str]
) -> None:
    body = f"airGap: true\nregistry: {{mirrors: {{nvcr.io: r.example.com/m}}, {CHARTS}}}\n"
    assert codes(spec_text(body, pools=pool(fabric), components=with_settings(f"ofed: {ofed}"))) == wanted


@pytest.mark.parametrize(
    ("distribution", "system", "fabric", "severities"),
    [
        ("talos", "talos", IPOIB, ["error"]),
        ("gke", "cos", IPOIB, ["error"]),
        ("gke", "cos", HOST, []),
        ("aks", "azurelinux-3", IPOIB, ["warning"]),
        ("kubeadm", "debian-12", IPOIB, ["warning"]),
        ("kubeadm", "dgx-os-7", IPOIB, []),
        ("kubeadm", "rhel-10", IPOIB, []),
    ],
)
def test_driver_images_exist_for_some_systems_only(
    distribution: str, system: str, fabric: str, severities: list[str]
) -> None:
    pools = pool(fabric).replace("ubuntu-24.04", system)
    found = findings(spec_text(on(distribution), pools=pools, components=ALONE))
    assert [item.severity for item in found if item.code == "ofed-unavailable"] == severities


def test_two_plugins_cannot_advertise_one_resource() -> None:
    pools = pool("{type: roce, rdma: hostDevice, resourceName: nic, interfaces: [a]}") + pool(
        "{type: roce, rdma: sriov, numVfs: 4, resourceName: nic, interfaces: [b]}", name="l40s"
    )
    (found,) = findings(spec_text(pools=pools, components=ALONE))
    assert (found.code, found.message) == (
        "fabric-resource-conflict",
        'pools "h100" (hostDevice) and "l40s" (sriov) share nvidia.com/nic, '
        "which two different device plugins would advertise",
    )


@pytest.mark.parametrize("name", ["gpu", "gpu.shared", "mig-1g.10gb"])
def test_adapters_take_no_name_of_gpus(name: str) -> None:
    text = spec_text(
        pools=pool(f"{{type: roce, rdma: hostDevice, resourceName: {name}, interfaces: [a]}}"),
        components=ALONE,
    )
    assert "resource-name-taken" in codes(text)


def test_virtual_functions_of_infiniband_are_switched_on() -> None:
    found = objects(pool("{type: infiniband, rdma: sriov, numVfs: 8, interfaces: [ib0]}"))
    assert found["SriovIBNetwork/h100"]["spec"]["linkState"] == "enable"


def test_smallest_subnets_are_counted_and_explained() -> None:
    assert blocks(read_network("10.0.0.7/32"), 1) == 1
    assert blocks(read_network("fd00::/64"), 1) == 2**64 - 1
    network = "{subnet: 10.0.0.7/32, perNodeBlockSize: 1, exclude: [10.0.0.8]}"
    fabric = f"{{type: roce, rdma: sharedDevice, interfaces: [a], network: {network}}}"
    (found,) = findings(spec_text(pools=pool(fabric, nodes=1), components=ALONE))
    assert "10.0.0.7-10.0.0.7" in found.hint


def test_ipv6_networks_are_given_out() -> None:
    network = '{subnet: "fd52:2eb5:44::/120", perNodeBlockSize: 16, gateway: "fd52:2eb5:44::1"}'
    fabric = f"{{type: roce, rdma: sharedDevice, interfaces: [a], network: {network}}}"
    assert codes(spec_text(pools=pool(fabric), components=ALONE)) == []
    assert objects(pool(fabric))["IPPool/h100"]["spec"]["subnet"] == "fd52:2eb5:44::/120"


def test_foreign_network_operator_renders_nothing_and_still_advertises() -> None:
    compiled = compile_text(spec_text(pools=pool(IPOIB), components="networkOperator: {provided: true}"))
    assert [item.name for item in compiled.plan.applications] == []
    assert compiled.plan.spec.resources[0].resources == {"rdma/rdma_shared_device_ib": 63}


@pytest.mark.parametrize(
    ("fabric", "parts"),
    [(HOST, {"ipoib"}), ("{type: roce, rdma: hostDevice, ofed: host, interfaces: [a]}", set())],
)
def test_openshift_keeps_its_own_multus(fabric: str, parts: set[str]) -> None:
    pools = pool(fabric).replace("ubuntu-24.04", "rhcos")
    assert set(policy(pools, body=on("openshift")).get("secondaryNetwork", {})) == parts


@pytest.mark.parametrize(
    ("distribution", "wanted"), [("eks", ["fabric-adapters-missing"]), ("aks", []), ("gke", [])]
)
def test_clouds_with_other_adapters_are_named(distribution: str, wanted: list[str]) -> None:
    assert codes(spec_text(on(distribution), pools=pool(HOST), components=ALONE)) == wanted


def test_every_node_takes_a_block_where_no_label_tells_them_apart() -> None:
    fabric = "{type: roce, rdma: hostDevice, interfaces: [a], network: {subnet: 10.0.0.0/24}}"
    alone = pool(fabric).replace("  nodeSelector: {node.example.com/pool: h100}\n", "")
    cpu = "- {name: cpu, nodes: 4, os: ubuntu-24.04, nodeSelector: {node.example.com/pool: cpu}}\n"
    assert "ip-pool-too-small" not in codes(spec_text(pools=alone, components=ALONE))
    found = findings(spec_text(pools=alone + cpu, components=ALONE))
    (small,) = (item for item in found if item.code == "ip-pool-too-small")
    assert small.message == (
        '"10.0.0.0/24" has room for 7 blocks of 32 addresses, '
        "without a nodeSelector all nodes get one, these are 8 nodes"
    )
