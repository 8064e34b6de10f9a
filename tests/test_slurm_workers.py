"""What follows from the pools for Slurm: workers, GRES, configuration files."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops_gen.components.slurm.conf import merge_config, text_of
from gitops_gen.components.slurm.config import (
    cgroup_conf,
    files,
    node_conf,
    partition_conf,
    slurm_conf,
)
from gitops_gen.components.slurm.gres_conf import gres_conf
from gitops_gen.components.slurm.settings import SlurmSettings
from gitops_gen.components.slurm.workers import Worker, workers
from gitops_gen.model import (
    ArgoCD,
    ClusterSpec,
    Gitops,
    Kubernetes,
    NodePool,
    PoolResources,
    Proxy,
    Registry,
    Secrets,
    Storage,
)
from gitops_gen.resources import resources

MACHINE = {
    "sockets": 2,
    "coresPerSocket": 56,
    "threadsPerCore": 2,
    "memory": "2048Gi",
    "reserved": {"cores": 4, "memory": "64Gi"},
}
KEYS = {
    "slurm": {"secretRef": {"name": "slurm-auth-slurm", "key": "slurm.key"}},
    "jwt": {"secretRef": {"name": "slurm-auth-jwt", "key": "jwt.key"}},
}
SINCE_1_2: Any = {"writes": {"slurm": {}}}
CATALOG = resources().catalog
FACTS: Any = next(item.facts.data for item in resources().components if item.name == "slurm")
BEFORE_1_2: Any = FACTS["versions"]["1.1.2"]


def settings(**parts: Any) -> SlurmSettings:
    return msgspec.convert({"clusterName": "hpc", "keys": KEYS, **parts}, SlurmSettings)


def cluster(*pools: dict[str, Any], resources: tuple[PoolResources, ...] = ()) -> ClusterSpec:
    return ClusterSpec(
        name="test",
        labels={},
        source="cluster.yaml",
        path="clusters/test",
        env="prod",
        kubernetes=Kubernetes(version="1.35", distribution="kubeadm"),
        gitops=Gitops(repo_url="https://git.example.com/clusters.git"),
        argocd=ArgoCD(),
        storage=Storage(),
        secrets=Secrets(),
        registry=Registry(),
        proxy=Proxy(),
        air_gap=False,
        node_pools=tuple(msgspec.convert({"use": "slurm", **pool}, NodePool) for pool in pools),
        accept=(),
        components={},
        resources=resources,
    )


def h100(**more: Any) -> dict[str, Any]:
    return {
        "name": "h100",
        "nodes": 4,
        "machine": MACHINE,
        "gpu": {"model": "h100-sxm-80gb", "count": 8},
        **more,
    }


def offered(pool: str, **more: Any) -> PoolResources:
    return PoolResources(pool=pool, nodes=4, use="slurm", labels={}, **more)


GPUS = offered("h100", resources={"nvidia.com/gpu": 8})


def derive(spec: ClusterSpec, one: SlurmSettings) -> tuple[Worker, ...]:
    return workers(spec, one, CATALOG)


def text(found: Any) -> dict[str, str]:
    return {item.name: item.text for item in found}


def test_four_places_agree_about_gpus() -> None:
    one = settings(nodeSets=[{"name": "h100", "pool": "h100"}], accounting={"enabled": True})
    found = derive(cluster(h100(), resources=(GPUS,)), one)
    assert found[0].devices == {"nvidia.com/gpu": 8}
    assert text(node_conf(found[0]))["Gres"] == "gpu:h100:8"
    conf = text(slurm_conf(one, found, SINCE_1_2))
    assert conf["GresTypes"] == "gpu"
    assert conf["AccountingStorageTRES"] == "gres/gpu,gres/gpu:h100"
    assert gres_conf(one, found) == "AutoDetect=nvidia\n"


def test_limits_leave_the_reserve_and_shared_memory_is_half() -> None:
    found = derive(cluster(h100(), resources=(GPUS,)), settings(nodeSets=[{"name": "h100", "pool": "h100"}]))
    assert (found[0].cpus, found[0].memory) == (216, 1984 * 1024)
    assert found[0].shared_memory == f"{992 * 1024}Mi"
    assert (found[0].least, found[0].most) == (4, 4)


def test_limits_of_the_node_set_win() -> None:
    one = settings(nodeSets=[{"name": "h100", "pool": "h100", "limits": {"cpu": 64, "memory": "100Gi"}}])
    found = derive(cluster(h100()), one)
    assert (found[0].cpus, found[0].memory) == (64, 100 * 1024)


def test_a_pool_without_machine_has_no_limits() -> None:
    found = derive(cluster(h100(machine=None)), settings(nodeSets=[{"name": "h100", "pool": "h100"}]))
    assert (found[0].cpus, found[0].memory, found[0].shared_memory) == (None, None, None)


def test_a_cpu_pool_has_no_gres_anywhere() -> None:
    one = settings(nodeSets=[{"name": "cpu", "pool": "cpu", "weight": 1}], accounting={"enabled": True})
    found = derive(cluster({"name": "cpu", "nodes": 8, "machine": MACHINE}), one)
    assert found[0].gres == ()
    assert found[0].devices == {}
    assert found[0].shared_memory is None
    assert text(node_conf(found[0])) == {"Weight": "1"}
    assert gres_conf(one, found) == ""
    assert "GresTypes" not in text(slurm_conf(one, found, SINCE_1_2))


def test_a_whole_node_takes_its_share_of_the_fabric() -> None:
    fabric = {"type": "infiniband", "rdma": "sharedDevice", "interfaces": ["ib0"]}
    pool = offered(
        "h100",
        resources={"nvidia.com/gpu": 8, "rdma/h100": 63},
        whole_node={"rdma/h100": 1},
        networks=("default/h100-ib0",),
    )
    one = settings(nodeSets=[{"name": "h100", "pool": "h100"}])
    found = derive(cluster(h100(fabric=fabric), resources=(pool,)), one)
    assert found[0].devices == {"nvidia.com/gpu": 8, "rdma/h100": 1}
    assert found[0].networks == ("default/h100-ib0",)
    assert text(slurm_conf(one, found, SINCE_1_2))["PropagateResourceLimitsExcept"] == "MEMLOCK"


def test_fewer_gpus_are_fewer_in_every_place() -> None:
    one = settings(nodeSets=[{"name": "h100", "pool": "h100", "gpus": 4}])
    found = derive(cluster(h100(), resources=(GPUS,)), one)
    assert found[0].devices == {"nvidia.com/gpu": 4}
    assert text(node_conf(found[0]))["Gres"] == "gpu:h100:4"


def test_mig_instances_are_gres_by_profile() -> None:
    gpu = {"model": "a100-sxm-80gb", "count": 8, "mig": {"profile": "2g.20gb"}}
    pool = offered("a100", resources={"nvidia.com/mig-2g.20gb": 24})
    one = settings(nodeSets=[{"name": "a100", "pool": "a100"}])
    found = derive(cluster({"name": "a100", "nodes": 2, "gpu": gpu}, resources=(pool,)), one)
    assert found[0].devices == {"nvidia.com/mig-2g.20gb": 24}
    assert [str(item) for item in found[0].gres] == ["gpu:2g.20gb:24"]
    assert gres_conf(one, found) == "AutoDetect=nvml\n"


def test_tpus_are_counted_by_node_name() -> None:
    tpu = {"name": "tpu", "nodes": 2, "tpu": {"model": "v5e", "count": 8}}
    pool = offered("tpu", resources={"google.com/tpu": 8})
    one = settings(nodeSets=[{"name": "h100", "pool": "h100"}, {"name": "tpu", "pool": "tpu"}])
    found = derive(cluster(h100(), tpu, resources=(GPUS, pool)), one)
    assert found[1].devices == {"google.com/tpu": 8}
    assert (
        gres_conf(one, found)
        == "NodeName=h100-[0-3] AutoDetect=nvidia\nNodeName=tpu-[0-1] Name=tpu Count=8\n"
    )
    assert text(slurm_conf(one, found, SINCE_1_2))["GresTypes"] == "gpu,tpu"


def test_models_with_one_short_type_get_the_long_ones() -> None:
    first = {"name": "old", "nodes": 2, "gpu": {"model": "a100-sxm-40gb", "count": 8}}
    second = {"name": "new", "nodes": 2, "gpu": {"model": "a100-sxm-80gb", "count": 8}}
    one = settings(nodeSets=[{"name": "old", "pool": "old"}, {"name": "new", "pool": "new"}])
    found = derive(cluster(first, second), one)
    assert [str(worker.gres[0]) for worker in found] == ["gpu:a100-sxm4-40gb:8", "gpu:a100-sxm4-80gb:8"]


def test_models_that_share_a_short_type_have_different_long_ones() -> None:
    rows = CATALOG.accelerators.values()
    short = [row.slurm_type for row in rows]
    shared = [row for row in rows if short.count(row.slurm_type) > 1]
    assert len(shared) == 11
    assert len({row.slurm_type_long for row in shared}) == len(shared)
    assert all(str(row.slurm_type) in str(row.slurm_type_long) for row in shared)


@pytest.mark.parametrize(
    ("node_set", "expected"),
    [
        ({"replicas": 1}, "h100-0"),
        ({"replicas": 12}, "h100-[0-11]"),
        ({"replicas": 12, "ordinalPadding": 3}, "h100-[000-011]"),
        ({"replicas": {"min": 1, "max": 4}}, "h100-[0-3]"),
        ({"replicas": 0}, ""),
        ({"mode": "DaemonSet"}, "n1,n2"),
    ],
)
def test_names_of_nodes(node_set: dict[str, Any], expected: str) -> None:
    pool = h100(nodeNames=["n1.example.com", "n2.example.com"])
    found = derive(cluster(pool), settings(nodeSets=[{"name": "h100", "pool": "h100", **node_set}]))
    assert found[0].hosts == expected


def test_a_node_set_of_an_unknown_pool_is_left_to_the_rules() -> None:
    assert derive(cluster(h100()), settings(nodeSets=[{"name": "x", "pool": "nowhere"}])) == ()


def test_parameters_that_the_operator_dropped_are_written_since_1_2_only() -> None:
    one = settings(nodeSets=[{"name": "h100", "pool": "h100"}])
    found = derive(cluster(h100()), one)
    conf = text(slurm_conf(one, found, SINCE_1_2))
    assert conf["PrologFlags"] == "Contain"
    assert conf["SlurmctldParameters"] == "enable_stepmgr"
    assert conf["ReturnToService"] == "2"
    assert text(slurm_conf(one, found, BEFORE_1_2)) == {}


def test_the_users_keyword_wins_and_lists_of_switches_are_joined() -> None:
    one = settings(
        controller={
            "config": {"returnToService": 1, "PrologFlags": ["X11"], "PriorityWeightFairshare": 100000}
        }
    )
    conf = text(slurm_conf(one, (), SINCE_1_2))
    assert conf["ReturnToService"] == "1"
    assert conf["PrologFlags"] == "Contain,X11"
    assert conf["PriorityWeightFairshare"] == "100000"


def test_many_nodes_raise_the_operators_bound() -> None:
    one = settings(nodeSets=[{"name": "h100", "pool": "h100", "replicas": 1025}])
    found = derive(cluster(h100(nodes=1025)), one)
    assert text(slurm_conf(one, found, SINCE_1_2))["MaxNodeCount"] == "1025"


def test_default_and_state_stand_on_every_partition() -> None:
    one = settings(
        partitions=[
            {
                "name": "train",
                "nodeSets": ["h100"],
                "default": True,
                "maxTime": "7-00:00:00",
                "config": {"OverSubscribe": "NO"},
            },
            {
                "name": "prep",
                "nodeSets": ["cpu"],
                "maxTime": "UNLIMITED",
                "hidden": False,
                "allowQos": ["a", "b"],
            },
        ]
    )
    assert text(partition_conf(one, 0)) == {
        "Default": "YES",
        "State": "UP",
        "MaxTime": "7-00:00:00",
        "OverSubscribe": "NO",
    }
    assert text(partition_conf(one, 1)) == {
        "Default": "NO",
        "State": "UP",
        "MaxTime": "UNLIMITED",
        "AllowQos": "a,b",
        "Hidden": "NO",
    }


def test_jobs_are_confined_unless_the_spec_says_otherwise() -> None:
    assert "ConstrainSwapSpace=no\n" in cgroup_conf(settings(cgroup={"constrainSwapSpace": "no"}))
    assert "ConstrainDevices=yes\n" in cgroup_conf(settings())


def test_files_beside_slurm_conf() -> None:
    one = settings(
        jobSubmitLua="-- lua\n", configFiles={"oci.conf": "x\n"}, gres={"lines": ["Name=nic Count=1"]}
    )
    assert [name for name, _, _ in files(one, ())] == [
        "cgroup.conf",
        "gres.conf",
        "job_submit.lua",
        "oci.conf",
    ]
    assert text(slurm_conf(one, (), SINCE_1_2))["JobSubmitPlugins"] == "lua"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, "YES"),
        (False, "NO"),
        (100000, "100000"),
        (1e6, "1000000"),
        (0.5, "0.5"),
        (["a", 1], "a,1"),
        ("0x1", "0x1"),
    ],
)
def test_text_of(value: Any, expected: str) -> None:
    assert text_of(value) == expected


def test_an_option_of_the_users_replaces_ours() -> None:
    assert merge_config({"SlurmctldParameters": "a=1,b"}, {"slurmctldparameters": "A=2"}) == {
        "SlurmctldParameters": "b,A=2"
    }


@given(st.dictionaries(st.from_regex(r"[A-Za-z]{1,8}", fullmatch=True), st.text("abc,=", min_size=1)))
def test_merging_is_without_case(own: dict[str, str]) -> None:
    merged = merge_config({"ReturnToService": "2"}, own)
    assert len({name.lower() for name in merged}) == len(merged)


def test_further_resources_are_counted_beside_the_detected_ones() -> None:
    pool = {"name": "h100", "nodes": 2, "machine": MACHINE, "gpu": {"model": "h100-sxm-80gb", "count": 8}}
    one = settings(nodeSets=[{"name": "h100", "pool": "h100", "gres": {"nic": 2}}])
    found = workers(cluster(pool), one, CATALOG)
    assert text(node_conf(found[0]))["Gres"] == "gpu:h100:8,nic:2"
    assert text(slurm_conf(one, found, SINCE_1_2))["GresTypes"] == "gpu,nic"
    assert gres_conf(one, found) == "AutoDetect=nvidia\nNodeName=h100-[0-1] Name=nic Count=2\n"


def test_lines_of_the_spec_take_the_place_of_detection_and_counts() -> None:
    pool = {"name": "h100", "nodes": 2, "machine": MACHINE, "gpu": {"model": "h100-sxm-80gb", "count": 2}}
    lines = [
        "NodeName=h100-[0-1] Name=gpu Type=h100 File=/dev/nvidia[0-1]",
        "Name=nic File=/dev/infiniband/uverbs[0-1]",
    ]
    one = settings(nodeSets=[{"name": "h100", "pool": "h100", "gres": {"nic": 2}}], gres={"lines": lines})
    found = workers(cluster(pool), one, CATALOG)
    assert gres_conf(one, found).splitlines() == ["NodeName=h100-[0-1] AutoDetect=off", *lines]


def test_node_set_without_nodes_has_no_line() -> None:
    pools = [
        {"name": name, "nodes": 2, "machine": MACHINE, "gpu": {"model": model, "count": 8}}
        for name, model in (("h100", "h100-sxm-80gb"), ("amd", "mi300x"))
    ]
    sets = [{"name": "h100", "pool": "h100"}, {"name": "amd", "pool": "amd", "replicas": 0}]
    one = settings(nodeSets=sets)
    assert gres_conf(one, workers(cluster(*pools), one, CATALOG)) == "AutoDetect=nvidia\n"
