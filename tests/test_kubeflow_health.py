"""The health of Profiles, run as Argo CD runs it: Lua 5.1 with the object as `obj`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from lupa import lua51  # type: ignore[import-untyped]

from gitops_gen.components.kubeflow.health import health_checks

REFUSED = "namespace already exist, but not owned by profile creator ada@example.com"
WAITING = (
    "waiting for the Profile controller; it refuses a namespace team-vision that was there before, "
    "which only its log tells"
)
DONE = "the controller has made the namespace and the owner's rights"


def health(
    finalizers: Sequence[str] | None = None, status: Mapping[str, Any] | None = None
) -> tuple[str, str]:
    """Return what the check says of a Profile."""
    (check,) = health_checks()
    data: dict[str, Any] = {"metadata": {"name": "team-vision"}, "spec": {"owner": {"kind": "User"}}}
    if finalizers is not None:
        data["metadata"]["finalizers"] = finalizers
    if status is not None:
        data["status"] = status
    runtime = lua51.LuaRuntime(unpack_returned_tuples=True)
    # What Argo CD opens of Lua's libraries besides a safe part of `os`.
    for name in ("string", "math", "io", "os", "debug", "coroutine"):
        runtime.globals()[name] = None
    runtime.globals().obj = runtime.table_from(data, recursive=True)
    found = runtime.execute(check.lua)
    return found["status"], found["message"]


def conditions(*types: str) -> dict[str, Any]:
    return {"conditions": [{"type": item, "message": REFUSED} for item in types]}


def test_profiles_alone_are_judged() -> None:
    assert [(check.group, check.kind) for check in health_checks()] == [("kubeflow.org", "Profile")]


@pytest.mark.parametrize("finalizers", [None, [], ["foregroundDeletion"]])
@pytest.mark.parametrize("status", [None, {}, {"conditions": []}])
def test_profile_that_the_controller_has_not_finished_is_waited_for(
    finalizers: Sequence[str] | None, status: Mapping[str, Any] | None
) -> None:
    assert health(finalizers, status) == ("Progressing", WAITING)


@pytest.mark.parametrize("finalizers", [["profile-finalizer"], ["a.example.com/b", "profile-finalizer"]])
@pytest.mark.parametrize("status", [None, {}, conditions("Successful")])
def test_profile_with_the_controllers_finalizer_is_healthy(
    finalizers: Sequence[str], status: Mapping[str, Any] | None
) -> None:
    assert health(finalizers, status) == ("Healthy", DONE)


@pytest.mark.parametrize("finalizers", [None, ["profile-finalizer"]])
def test_failed_profile_is_degraded_and_says_why(finalizers: Sequence[str] | None) -> None:
    assert health(finalizers, conditions("Failed")) == ("Degraded", REFUSED)
    assert health(finalizers, conditions("Successful", "Failed")) == ("Degraded", REFUSED)


def test_last_condition_counts() -> None:
    """The controller appends conditions and removes none."""
    assert health(["profile-finalizer"], conditions("Failed", "Successful")) == ("Healthy", DONE)


def test_failure_without_a_message_is_told_as_one() -> None:
    failed = {"conditions": [{"type": "Failed"}]}
    assert health(None, failed) == ("Degraded", "the Profile controller has failed")
