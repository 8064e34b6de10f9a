"""What every component can read of the whole cluster: its Prometheus, and the fabric of each pool."""

from __future__ import annotations

from typing import Any

import pytest

from gitops_gen.model import PoolResources
from gitops_gen.resources import resources
from gitops_gen.spec.build import advertise
from tests.specs import compile_text, findings, spec_text
from tests.test_build import build, fake
from tests.test_network_operator import pool

OTHER = "http://prometheus.observe.svc:9090"
ADDRESSES = "network: {subnet: 192.168.100.0/22}"
BOTH = "gpuOperator: {enabled: true}\nnetworkOperator: {enabled: true}"


# --- Prometheus --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("monitoring", "wanted"),
    [
        ("monitoring: {enabled: true}", "http://kube-prometheus-stack-prometheus.monitoring.svc:9090"),
        (
            "monitoring: {enabled: true, namespace: observe}",
            "http://kube-prometheus-stack-prometheus.observe.svc:9090",
        ),
        (f"monitoring: {{provided: true, prometheusURL: '{OTHER}'}}", OTHER),
        ("monitoring: {provided: true}", ""),
        ("monitoring: {provided: true, namespace: observe}", ""),
        ("monitoring: {enabled: false}", ""),
        ("{}", ""),
    ],
)
def test_prometheus_answers_where_whoever_runs_it_says(monitoring: str, wanted: str) -> None:
    assert compile_text(spec_text(components=monitoring)).plan.spec.prometheus_url == wanted


@pytest.mark.parametrize(
    "address",
    [
        "prometheus.observe.svc:9090",
        "ftp://prometheus",
        "https://",
        "http://user:secret@prometheus:9090",
        "http://a b",
    ],
)
def test_address_of_prometheus_is_an_address_without_a_login(address: str) -> None:
    text = spec_text(components=f"monitoring: {{provided: true, prometheusURL: '{address}'}}")
    (found,) = (item for item in findings(text) if item.severity == "error")
    assert found.code == "bad-pattern"
    assert "an address that begins with https:// or http://, without a password or token" in (
        found.message + found.hint
    )


def test_address_of_prometheus_may_have_a_path() -> None:
    address = "https://metrics.example.com/prometheus/"
    text = spec_text(components=f"monitoring: {{provided: true, prometheusURL: '{address}'}}")
    assert compile_text(text).plan.spec.prometheus_url == address


# --- fabric ------------------------------------------------------------------------------------


def offered(
    fabric: str, *, components: str = BOTH, more: str = "gpu: {model: h100-sxm-80gb, count: 8}\n"
) -> PoolResources:
    text = spec_text(pools=pool(fabric, more=more), components=components)
    (found,) = compile_text(text).plan.spec.resources
    return found


@pytest.mark.parametrize(
    ("fabric", "whole_node", "networks"),
    [
        # Shared devices: a pod takes one share, and joins each network once.
        (
            f"{{type: infiniband, rdma: sharedDevice, interfaces: [ib0, ib1], {ADDRESSES}}}",
            {"rdma/rdma_shared_device_ib": 1},
            ("default/h100-ib0", "default/h100-ib1"),
        ),
        # Without addresses there is no network to join.
        (
            "{type: infiniband, rdma: sharedDevice, interfaces: [ib0, ib1]}",
            {"rdma/rdma_shared_device_ib": 1},
            (),
        ),
        # Devices of a pod's own: all of them, and one attachment each.
        (
            "{type: infiniband, rdma: hostDevice, interfaces: [ib0, ib1, ib2]}",
            {"nvidia.com/hostdev": 3},
            ("default/h100",) * 3,
        ),
        (
            "{type: roce, rdma: sriov, interfaces: [eth0, eth1], numVfs: 4}",
            {"nvidia.com/sriov_rdma_roce": 8},
            ("default/h100",) * 8,
        ),
    ],
)
def test_a_pod_of_a_whole_node_takes_its_part_of_the_fabric(
    fabric: str, whole_node: dict[str, int], networks: tuple[str, ...]
) -> None:
    found = offered(fabric)
    assert (found.whole_node, found.networks) == (whole_node, networks)
    assert found.resources["nvidia.com/gpu"] == 8


def test_networks_are_those_of_the_namespace_that_they_serve() -> None:
    components = "gpuOperator: {enabled: true}\nnetworkOperator: {enabled: true, networkNamespace: jobs}"
    fabric = f"{{type: infiniband, rdma: sharedDevice, interfaces: [ib0], {ADDRESSES}}}"
    assert offered(fabric, components=components).networks == ("jobs/h100",)


def test_fabric_of_a_network_operator_elsewhere_counts_as_well() -> None:
    components = "gpuOperator: {enabled: true}\nnetworkOperator: {provided: true}"
    found = offered("{type: infiniband, rdma: hostDevice, interfaces: [ib0]}", components=components)
    assert found.whole_node == {"nvidia.com/hostdev": 1}


def test_pool_without_fabric_asks_for_nothing_more() -> None:
    (found,) = compile_text(spec_text()).plan.spec.resources
    assert (found.whole_node, found.networks) == ({}, ())


def test_what_whole_nodes_ask_for_is_joined_over_components() -> None:
    def says(**more: Any) -> PoolResources:
        return PoolResources(pool="a", nodes=2, use="kubernetes", resources={}, labels={}, **more)

    first = says(whole_node={"rdma/a": 1}, networks=("default/one",))
    second = says(whole_node={"rdma/b": 2}, networks=("default/two", "default/two"))
    parts = (fake("first", says=(first,)), fake("second", says=(second,)), fake("third", says=(says(),)))
    on = {name: {"enabled": True} for name in ("first", "second", "third")}
    spec = build(on, [{"name": "a", "nodes": 2}], parts).spec
    (joined,) = advertise(spec, parts, resources().catalog).resources
    assert joined.whole_node == {"rdma/a": 1, "rdma/b": 2}
    assert joined.networks == ("default/one", "default/two", "default/two")
