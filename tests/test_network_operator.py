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
from tests.specs import codes, compile_text, spec_text

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


OTHER_KEYS = {
    "SriovNetworkNodePolicy": {
        *(
            "resourceName",
            "nodeSelector",
            "nicSelector",
            "numVfs",
            "isRdma",
            "deviceType",
        ),
        *("linkType", "mtu"),
    },
    "SriovNetwork": {"networkNamespace", "resourceName", "ipam"},
    "SriovIBNetwork": {"networkNamespace", "resourceName", "ipam"},
    "IPPool": {"subnet", "perNodeBlockSize", "gateway", "exclusions", "nodeSelector"},
}
"""Keys of kinds whose CRDs are not beside the checkout (SR-IOV operator 1.x, nvidia-k8s-ipam)."""

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
def test_objects_of_other_operators_hold_known_keys_only(case: Path) -> None:
    for item in case_objects(case):
        if item["apiVersion"] != "mellanox.com/v1alpha1":
            assert set(item["spec"]) <= OTHER_KEYS[item["kind"]], item["metadata"]["name"]


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
