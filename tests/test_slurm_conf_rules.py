"""The rules of slurm.conf over whole specs: each fault is found alone, and good specs are left in peace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitops_gen.components.slurm.conf.text import Value
from tests.codes import source_codes
from tests.slurm_conf import SERIES, found, said, table

FAULTS: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    (Path(__file__).parent / "slurm_conf_faults.yaml").read_text(encoding="utf-8")
)
CASES = [(code, case) for code, cases in FAULTS.items() for case in cases]
GOOD: dict[str, Any] = {
    "nodeSets": [
        {
            "name": "h100",
            "pool": "h100",
            "features": ["hopper"],
            "weight": 10,
            "config": {"TmpDisk": 500000},
        },
        {"name": "cpu", "pool": "cpu", "replicas": {"min": 1, "max": 8}, "ordinalPadding": 2},
    ],
    "partitions": [
        {
            "name": "train",
            "nodeSets": ["h100"],
            "default": True,
            "maxTime": "7-00:00:00",
            "defaultTime": "01:00:00",
            "preemptMode": "OFF",
            "qos": "high",
            "exclusive": "NODE",
            "overSubscribe": "FORCE:2",
            "config": {"DefMemPerCPU": 7000, "DefCpuPerGPU": 24, "Topology": "racks"},
        },
        {
            "name": "all",
            "nodeSets": ["ALL"],
            "maxTime": 240,
            "preemptMode": "REQUEUE",
            "priorityTier": 1,
            "allowQos": ["normal"],
            "config": {"DefMemPerNode": 64000},
        },
    ],
    "controller": {
        "metrics": True,
        "config": {
            "PreemptType": "preempt/partition_prio",
            "PreemptMode": ["SUSPEND", "GANG"],
            "PriorityType": "priority/multifactor",
            "PriorityWeightQOS": 100000,
            "SchedulerParameters": ["bf_window=10080", "bf_continue"],
            "SlurmctldParameters": ["idle_on_node_suspend"],
            "PrologFlags": ["X11"],
            "PrivateData": ["jobs", "usage"],
            "MetricsParameters": "ignore_private_data",
            "UnkillableStepTimeout": 180,
            "MaxJobCount": 1000000,
            "GresTypes": ["nic"],
            "InteractiveStepOptions": "--interactive --preserve-env --pty $SHELL",
            "DownNodes": "h100-0 State=DOWN Reason=broken",
        },
    },
    "accounting": {
        "enabled": True,
        "enforce": ["associations", "limits", "qos"],
        "tres": ["license/ansys"],
        "qos": [
            {"name": "high", "maxWall": "2-00:00:00", "maxTresPerUser": {"gres/gpu": 16, "cpu": 512}},
            {"name": "normal", "grpTres": {"gres/gpu:h100": 64, "license/ansys": 5}},
        ],
        "config": {"PurgeJobAfter": "12month", "TrackWCKey": True},
    },
    "cgroup": {"AllowedRAMSpace": 98, "MemorySwappiness": 0},
    "gres": {"lines": ["NodeName=cpu-[00-07] Name=nic Count=1"]},
    "topology": [
        {
            "topology": "racks",
            "cluster_default": True,
            "tree": {
                "switches": [
                    {"switch": "top", "children": "rack[1-2]"},
                    {"switch": "rack1", "nodes": "h100-[0-3]"},
                    {"switch": "rack2", "nodes": "cpu-[00-07]"},
                ]
            },
        },
        {
            "topology": "blocks",
            "block": {"block_sizes": [4, 16], "blocks": [{"block": "b1", "nodes": "h100-0"}]},
        },
        {"topology": "plain", "flat": True},
    ],
    "plugstack": ["optional /usr/lib/slurm/lua.so", "include /etc/slurm/plugstack.d/*"],
    "jobSubmitLua": "function slurm_job_submit() return 0 end\nslurm_job_modify = slurm_job_submit\n",
}


@pytest.mark.parametrize(("code", "case"), CASES)
def test_a_fault_is_found_alone(code: str, case: dict[str, Any]) -> None:
    items = found(case["spec"])
    assert {item.code for item in items} == {code}
    assert [said(item) for item in items] == case["finds"]


@pytest.mark.parametrize(("code", "case"), CASES)
def test_a_fault_has_its_place_in_the_spec(code: str, case: dict[str, Any]) -> None:
    for item in found(case["spec"]):
        place: Any = case["spec"]
        *head, last = item.path
        for step in head:
            place = place[step]
        missing = item.path[:1] == ("topology",) and last not in place
        assert missing or place[last] is not None


def test_every_code_has_a_fault() -> None:
    given = {code for code, file in source_codes().items() if file.startswith("components/slurm/conf/")}
    assert given == set(FAULTS)


def test_a_good_spec_is_left_in_peace() -> None:
    assert [said(item) for item in found(GOOD)] == []


def test_the_older_series_has_its_own_words_for_exclusive_nodes() -> None:
    part = {"name": "train", "nodeSets": ["h100"], "config": {"OverSubscribe": "EXCLUSIVE"}}
    sets = [{"name": "h100", "pool": "h100"}]
    assert found({"images": {"series": "25.11"}, "nodeSets": sets, "partitions": [part]}) == ()
    newer = found({"nodeSets": sets, "partitions": [part]})
    assert [item.code for item in newer] == ["slurm-value"]


def test_an_empty_cluster_has_no_faults() -> None:
    assert found({}) == ()
    assert found({"version": "1.1.2", "images": {"series": "25.11"}}) == ()


VALUES = st.one_of(
    st.booleans(),
    st.integers(-(2**40), 2**40),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=12),
    st.lists(st.one_of(st.text(max_size=6), st.integers(), st.floats()), min_size=1, max_size=3),
)


@given(st.sampled_from(SERIES), st.data())
def test_no_value_of_any_keyword_breaks_the_rules(series: str, data: st.DataObject) -> None:
    scopes = table(series).scopes
    config: dict[str, dict[str, Value]] = {
        scope: data.draw(st.dictionaries(st.sampled_from(sorted(scopes[scope])), VALUES, max_size=4))
        for scope in ("global", "node", "partition", "dbd", "cgroup")
    }
    words = st.sampled_from(["Name=", "gpu", " ", "Count=", "8", "#", "\n", '"', "[", "File=/dev/x", ","])
    lines = data.draw(st.lists(st.lists(words, min_size=1, max_size=9).map("".join), max_size=2))
    items = found(
        {
            "images": {"series": series},
            "nodeSets": [{"name": "h100", "pool": "h100", "config": config["node"]}],
            "partitions": [{"name": "train", "nodeSets": ["h100"], "config": config["partition"]}],
            "controller": {"config": config["global"]},
            "accounting": {"config": config["dbd"]},
            "cgroup": config["cgroup"],
            "gres": {"lines": lines},
        }
    )
    assert all(item.message and item.hint and item.path for item in items)
    assert all("\n" not in item.message + item.hint for item in items)


TREES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["switches", "switch", "nodes", "children", "blocks", "block_sizes", "dims", "x"]
            ),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=8,
)
KINDS = st.sampled_from(["tree", "block", "flat", "ring", "torus3d", "cluster_default", "topology", "other"])


@given(st.sampled_from(SERIES), st.lists(st.dictionaries(KINDS, TREES, max_size=3), max_size=3))
def test_no_topology_breaks_the_rules(series: str, topology: list[dict[str, Any]]) -> None:
    items = found({"images": {"series": series}, "topology": topology})
    assert {item.code for item in items} <= {"slurm-topology"}
    assert not any("\n" in item.message + item.hint for item in items)
