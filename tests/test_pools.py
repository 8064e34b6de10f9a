"""What the nodes of a pool offer: counted once, from the pool alone."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gitops_gen.model import Machine, NodePool
from gitops_gen.pools import (
    MigStrategy,
    advertised,
    allocatable_cores,
    allocatable_memory,
    pool_resources,
    total,
)
from tests.catalogue import accelerator

MIXED = [
    {"devices": [0, 1, 2, 3], "profiles": {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1}},
    {"devices": [4, 5, 6, 7], "profiles": {"7g.80gb": 1}},
]


def _pool(gpu: dict[str, Any], name: str = "gpu", nodes: int = 2) -> NodePool:
    return msgspec.convert({"name": name, "nodes": nodes, "gpu": {"count": 8, **gpu}}, NodePool)


def _resources(gpu: dict[str, Any], strategy: MigStrategy = "mixed") -> dict[str, int]:
    return dict(pool_resources(_pool(gpu), accelerator(gpu["model"]), strategy))


def _layout(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"model": "a100-sxm-80gb", "mig": {"layout": list(parts)}}


@pytest.mark.parametrize(
    ("gpu", "strategy", "resources"),
    [
        ({"model": "h100-sxm-80gb"}, "single", {"nvidia.com/gpu": 8}),
        ({"model": "mi300x"}, "single", {"amd.com/gpu": 8}),
        (
            {"model": "a100-sxm-80gb", "mig": {"profile": "1g.10gb"}},
            "mixed",
            {"nvidia.com/mig-1g.10gb": 56},
        ),
        ({"model": "a100-sxm-80gb", "mig": {"profile": "1g.10gb"}}, "single", {"nvidia.com/gpu": 56}),
        ({"model": "a100-sxm-80gb", "mig": {"profile": "1g.10gb"}}, "none", {"nvidia.com/gpu": 8}),
        (
            {"model": "a100-sxm-40gb", "mig": {"profile": "1g.10gb"}},
            "mixed",
            {"nvidia.com/mig-1g.10gb": 32},
        ),
        (
            {"model": "h100-sxm-80gb", "mig": {"profile": "1g.10gb+me"}},
            "mixed",
            {"nvidia.com/mig-1g.10gb.me": 8},
        ),
        (
            _layout(*MIXED),
            "mixed",
            {
                "nvidia.com/mig-1g.10gb": 8,
                "nvidia.com/mig-2g.20gb": 4,
                "nvidia.com/mig-3g.40gb": 4,
                "nvidia.com/mig-7g.80gb": 4,
            },
        ),
        (
            _layout({"devices": [0, 1], "profiles": {"3g.40gb": 2}}),
            "mixed",
            {"nvidia.com/gpu": 6, "nvidia.com/mig-3g.40gb": 4},
        ),
        (
            _layout({"devices": "all", "profiles": {"3g.40gb": 2}}),
            "mixed",
            {"nvidia.com/mig-3g.40gb": 16},
        ),
    ],
)
def test_resources_of_a_node(gpu: dict[str, Any], strategy: MigStrategy, resources: dict[str, int]) -> None:
    assert _resources(gpu, strategy) == resources


@pytest.mark.parametrize(
    ("sharing", "resources"),
    [
        ({"timeSlicing": {"replicas": 4}}, {"nvidia.com/gpu": 32}),
        ({"timeSlicing": {"replicas": 4, "renameByDefault": True}}, {"nvidia.com/gpu.shared": 32}),
        ({"mps": {"replicas": 10}}, {"nvidia.com/gpu": 80}),
        ({"mps": {"replicas": 10, "renameByDefault": True}}, {"nvidia.com/gpu.shared": 80}),
    ],
)
def test_sharing_multiplies_and_may_rename(sharing: dict[str, Any], resources: dict[str, int]) -> None:
    assert _resources({"model": "l4", "sharing": sharing}) == resources


def test_time_slicing_of_instances_counts_each_of_their_resources() -> None:
    sharing = {"timeSlicing": {"replicas": 3, "renameByDefault": True}}
    gpu = {"model": "a100-sxm-80gb", "mig": {"profile": "2g.20gb"}, "sharing": sharing}
    assert _resources(gpu) == {"nvidia.com/mig-2g.20gb.shared": 72}
    assert _resources(gpu, "single") == {"nvidia.com/gpu.shared": 72}


def test_tpu_and_bare_pools() -> None:
    tpu = msgspec.convert({"name": "tpu", "nodes": 2, "tpu": {"model": "v5e", "count": 4}}, NodePool)
    assert pool_resources(tpu, accelerator("v5e"), "single") == {"google.com/tpu": 4}
    cpu = msgspec.convert({"name": "cpu", "nodes": 2}, NodePool)
    assert pool_resources(cpu, accelerator("t4"), "single") == {}


def test_labels_of_a_cluster_that_cuts_some_gpus() -> None:
    gpus = {
        "sliced": {"model": "a100-sxm-80gb", "mig": {"profile": "1g.10gb+me"}},
        "a100-mixed": _layout(*MIXED),
        "whole": {"model": "a100-sxm-80gb"},
        "l4": {"model": "l4"},
    }
    labels = {
        name: dict(
            advertised(
                _pool(gpu, name), accelerator(gpu["model"]), "mixed", mig_in_cluster=True
            ).labels
        )
        for name, gpu in gpus.items()
    }  # fmt: skip
    assert labels == {
        "sliced": {"nvidia.com/mig.config": "all-1g.10gb.me"},
        "a100-mixed": {"nvidia.com/mig.config": "a100-mixed"},
        "whole": {"nvidia.com/mig.config": "all-disabled"},
        "l4": {},
    }


def test_nothing_to_label_where_gpus_are_whole_and_shared_alike() -> None:
    found = advertised(_pool({"model": "h100-sxm-80gb"}), accelerator("h100-sxm-80gb"), "single")
    assert dict(found.labels) == {}


def test_several_sharing_configurations_are_chosen_by_the_name_of_the_pool() -> None:
    found = advertised(_pool({"model": "l4"}, "whole"), accelerator("l4"), "single", several_configs=True)
    assert dict(found.labels) == {"nvidia.com/device-plugin.config": "whole"}


@pytest.mark.parametrize(
    ("gpu", "strategy", "product"),
    [
        ({"model": "t4"}, "single", "Tesla-T4"),
        ({"model": "t4", "sharing": {"timeSlicing": {"replicas": 4}}}, "single", "Tesla-T4-SHARED"),
        (
            {"model": "t4", "sharing": {"timeSlicing": {"replicas": 4, "renameByDefault": True}}},
            "single",
            "Tesla-T4",
        ),
        (
            {"model": "h100-sxm-80gb", "mig": {"profile": "1g.10gb"}},
            "single",
            "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb",
        ),
        ({"model": "h100-sxm-80gb", "mig": {"profile": "1g.10gb"}}, "mixed", "NVIDIA-H100-80GB-HBM3"),
        (
            {
                "model": "a100-sxm-40gb",
                "mig": {"profile": "1g.5gb"},
                "sharing": {"timeSlicing": {"replicas": 2}},
            },
            "single",
            "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED",
        ),
        (_layout(*MIXED), "single", "NVIDIA-A100-SXM4-80GB"),
        ({"model": "mi300x"}, "single", None),
    ],
)
def test_product_label(gpu: dict[str, Any], strategy: MigStrategy, product: str | None) -> None:
    assert advertised(_pool(gpu), accelerator(gpu["model"]), strategy).product == product


def test_total_counts_all_nodes_of_all_pools() -> None:
    gpus = ({"model": "a100-sxm-80gb", "mig": {"profile": "1g.10gb"}}, _layout(*MIXED))
    found = [
        advertised(_pool(gpu, nodes=nodes), accelerator(gpu["model"]), "mixed")
        for nodes, gpu in zip((4, 2), gpus, strict=True)
    ]
    assert total(found, "nvidia.com/mig-1g.10gb") == 4 * 56 + 2 * 8
    assert total(found, "nvidia.com/gpu") == 0


@pytest.mark.parametrize(
    ("machine", "cores", "memory"),
    [
        ({"sockets": 2, "coresPerSocket": 56, "threadsPerCore": 2, "memory": "2048Gi"}, 224, 2097152),
        (
            {
                "sockets": 2,
                "coresPerSocket": 32,
                "threadsPerCore": 2,
                "memory": "512Gi",
                "reserved": {"cores": 2, "memory": "32Gi"},
            },
            124,
            491520,
        ),
        (
            {"sockets": 1, "coresPerSocket": 16, "memory": "64G", "reserved": {"cores": 1, "memory": "500M"}},
            15,
            60558,
        ),
    ],
)
def test_what_a_node_leaves_to_pods(machine: dict[str, Any], cores: int, memory: int) -> None:
    """Reserved cores are whole ones: both of their hardware threads stay with the node."""
    given = msgspec.convert(machine, Machine)
    assert (allocatable_cores(given), allocatable_memory(given)) == (cores, memory)
