"""The health of the Slinky kinds, run as Argo CD runs it: Lua 5.1 with the object as `obj`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from lupa import lua51  # type: ignore[import-untyped]

from gitops_gen.components.slurm.health import BLIND, GROUP, health_checks

CHECKS = {check.kind: check.lua for check in health_checks()}


def health(kind: str, status: Mapping[str, Any] | None, **spec: Any) -> tuple[str, str]:
    """Return what the check says of an object of generation 3."""
    runtime = lua51.LuaRuntime(unpack_returned_tuples=True)
    data: dict[str, Any] = {"kind": kind, "metadata": {"name": "x", "generation": 3}, "spec": spec}
    if status is not None:
        data["status"] = status
    runtime.globals().obj = runtime.table_from(data, recursive=True)
    found = runtime.execute(CHECKS[kind])
    return found["status"], found["message"]


def node_set(strategy: str | None = None, **status: Any) -> tuple[str, str]:
    """Return the health of a node set whose status is up to date."""
    spec = {} if strategy is None else {"updateStrategy": {"type": strategy}}
    return health("NodeSet", {"observedGeneration": 3, "nodeSetHash": "a", **status}, **spec)


def test_every_kind_of_the_operator_is_judged() -> None:
    assert sorted(CHECKS) == ["Accounting", "Controller", "LoginSet", "NodeSet", "RestApi", "Token"]
    assert {check.group for check in health_checks()} == {GROUP} == {"slinky.slurm.net"}


@pytest.mark.parametrize("kind", ["LoginSet", "NodeSet", "Token"])
@pytest.mark.parametrize("status", [None, {}, {"conditions": []}])
def test_object_that_the_operator_has_not_seen_is_waited_for(
    kind: str, status: Mapping[str, Any] | None
) -> None:
    assert health(kind, status) == ("Progressing", "waiting for the Slurm operator")


@pytest.mark.parametrize("kind", BLIND)
@pytest.mark.parametrize("status", [None, {}])
def test_kind_without_a_status_is_never_waited_for(kind: str, status: Mapping[str, Any] | None) -> None:
    found, message = health(kind, status)
    assert found == "Healthy"
    assert message.startswith("the operator reports no state; whether slurm")


@pytest.mark.parametrize(("kind", "daemon"), [("Controller", "slurmctld"), ("Accounting", "slurmdbd")])
def test_external_daemon_has_no_pods_to_look_at(kind: str, daemon: str) -> None:
    assert health(kind, None, external=True) == ("Healthy", f"{daemon} runs outside the cluster")
    inside = f"the operator reports no state; whether {daemon} runs is seen at its pods"
    assert health(kind, None, external=False) == ("Healthy", inside)


def test_node_set_is_healthy_with_all_of_its_pods() -> None:
    found = node_set(desired=4, replicas=4, readyReplicas=4, updatedReplicas=4)
    assert found == ("Healthy", "4 of 4 pods are ready")


def test_node_set_waits_for_a_change_to_be_seen() -> None:
    status = {"observedGeneration": 2, "desired": 1, "replicas": 1, "readyReplicas": 1, "updatedReplicas": 1}
    expected = ("Progressing", "waiting for the Slurm operator to see the last change")
    assert health("NodeSet", status) == expected


def test_node_set_waits_for_its_pods() -> None:
    found = node_set(desired=4, replicas=3, readyReplicas=1, updatedReplicas=3)
    assert found == ("Progressing", "1 of 4 pods are ready")


def test_new_node_set_without_pods_speaks_of_no_earlier_version() -> None:
    assert node_set(desired=4) == ("Progressing", "0 of 4 pods are ready")


def test_node_set_scaled_to_nothing_is_healthy() -> None:
    assert node_set() == ("Healthy", "0 of 0 pods are ready")


def test_node_set_of_daemon_mode_counts_the_nodes_that_match() -> None:
    status = {"observedGeneration": 3, "desired": 2, "replicas": 2, "readyReplicas": 1, "updatedReplicas": 2}
    assert health("NodeSet", status, scalingMode="DaemonSet")[0] == "Progressing"
    assert health("NodeSet", status | {"readyReplicas": 2}, scalingMode="DaemonSet")[0] == "Healthy"


def test_pods_that_wait_for_their_jobs_do_not_hold_up_a_sync() -> None:
    found = node_set(desired=1, replicas=3, readyReplicas=3, updatedReplicas=3)
    assert found == ("Healthy", "1 of 1 pods are ready; 2 more go once their jobs have ended")


@pytest.mark.parametrize("strategy", [None, "RollingUpdate"])
def test_rolling_update_is_waited_for(strategy: str | None) -> None:
    found = node_set(strategy, desired=4, replicas=4, readyReplicas=4, updatedReplicas=1)
    assert found == ("Progressing", "4 of 4 pods are ready; 3 are of an earlier version")


@pytest.mark.parametrize(
    ("strategy", "until"),
    [("OnDelete", "until somebody deletes them"), ("ScheduledUpdate", "until the scheduled update")],
)
def test_update_that_waits_for_somebody_is_not_waited_for(strategy: str, until: str) -> None:
    found = node_set(strategy, desired=4, replicas=4, readyReplicas=4, updatedReplicas=1)
    assert found == ("Healthy", f"4 of 4 pods are ready; 3 are of an earlier version {until}")
    assert node_set(strategy, desired=4, replicas=4, readyReplicas=3, updatedReplicas=1)[0] == "Progressing"


def test_state_of_the_slurm_nodes_is_told_but_does_not_count() -> None:
    found = node_set(
        desired=3, replicas=3, readyReplicas=3, updatedReplicas=3, slurmDown=1, slurmDrain=2, slurmIdle=0
    )
    message = "3 of 3 pods are ready; 1 of its Slurm nodes down; 2 of its Slurm nodes draining or drained"
    assert found == ("Healthy", message)


@pytest.mark.parametrize(
    ("replicas", "pods", "status", "message"),
    [
        (None, 1, "Healthy", "1 of 1 pods exist; whether they are ready is not in the status"),
        (2, 2, "Healthy", "2 of 2 pods exist; whether they are ready is not in the status"),
        (0, None, "Healthy", "0 of 0 pods exist; whether they are ready is not in the status"),
        (2, None, "Progressing", "0 of 2 pods exist"),
        (2, 3, "Progressing", "3 of 2 pods exist; pods are being replaced"),
    ],
)
def test_login_set_has_as_many_pods_as_it_wants(
    replicas: int | None, pods: int | None, status: str, message: str
) -> None:
    spec = {} if replicas is None else {"replicas": replicas}
    seen: dict[str, Any] = {"selector": "app=login"} | ({} if pods is None else {"replicas": pods})
    assert health("LoginSet", seen, **spec) == (status, message)


def test_token_is_healthy_once_it_was_issued() -> None:
    found = health("Token", {"issuedAt": "2026-12-01T00:00:00Z"})
    assert found == ("Healthy", "issued at 2026-12-01T00:00:00Z")
