"""Where pods of a pool may run."""

from __future__ import annotations

from typing import Any

import pytest

from gitops_gen.components.placement import found_by_name, named_nodes, toleration
from gitops_gen.model import NodePool, Taint


@pytest.mark.parametrize(
    ("selector", "names", "by_name"),
    [
        ({"pool": "a"}, (), False),
        ({"pool": "a"}, ("n1", "n2"), True),
        ({"pool": "a"}, ("n1",), False),
        ({}, ("n1",), True),
        ({}, (), False),
    ],
)
def test_names_count_where_they_are_all_or_stand_alone(
    selector: dict[str, str], names: tuple[str, ...], by_name: bool
) -> None:
    pool = NodePool(name="a", nodes=2, node_selector=selector, node_names=names)
    assert found_by_name(pool) is by_name


def test_each_name_is_a_term_of_its_own() -> None:
    found: Any = named_nodes(NodePool(name="a", nodes=2, node_names=("n1", "n2")))
    wanted = found["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert wanted["nodeSelectorTerms"] == [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
        for name in ("n1", "n2")
    ]


def test_taint_without_value_is_tolerated_whatever_it_says() -> None:
    assert toleration(Taint(key="a", effect="NoSchedule")) == {
        "key": "a",
        "operator": "Exists",
        "effect": "NoSchedule",
    }
    assert toleration(Taint(key="a", value="b", effect="NoExecute")) == {
        "key": "a",
        "operator": "Equal",
        "value": "b",
        "effect": "NoExecute",
    }
