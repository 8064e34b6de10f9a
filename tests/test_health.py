"""The health checks of argocd-cm, run as Argo CD runs them: Lua 5.1 with the object as `obj`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from lupa import lua51  # type: ignore[import-untyped]

import gitops_gen
from tests.specs import compile_text, spec_text

COMPONENTS = Path(gitops_gen.__file__).parent / "components"


def blind_kinds() -> dict[tuple[str, str], str]:
    """Return the checks of kinds whose status nobody ever writes: `BLIND` of a component's `health`."""
    found: dict[tuple[str, str], str] = {}
    for file in sorted(COMPONENTS.glob("*/health.py")):
        module = import_module(f"gitops_gen.components.{file.parent.name}.health")
        checks = {check.kind: check for check in module.health_checks()}
        blind = [checks[kind] for kind in getattr(module, "BLIND", ())]
        found |= {(check.group, check.kind): check.lua for check in blind}
    return found


BLIND = blind_kinds()
CHECKS = {
    **{(check.group, check.kind): check.lua for check in compile_text(spec_text()).plan.health_checks},
    **BLIND,
}
HEALTHY = {"health": {"status": "Healthy"}, "sync": {"status": "Synced"}}


def health(group: str, kind: str, status: Mapping[str, Any] | None) -> tuple[str, str]:
    """Return what a check says of an object: its health and the message."""
    runtime = lua51.LuaRuntime(unpack_returned_tuples=True)
    data: dict[str, Any] = {"kind": kind, "metadata": {"name": "x", "generation": 1}, "spec": {}}
    if status is not None:
        data["status"] = status
    runtime.globals().obj = runtime.table_from(data, recursive=True)
    found = runtime.execute(CHECKS[group, kind])
    return found["status"], found["message"] or ""


def application(**status: Any) -> tuple[str, str]:
    return health("argoproj.io", "Application", status)


def operation(phase: str, message: str) -> dict[str, str]:
    return {"phase": phase, "message": message}


@pytest.mark.parametrize(("group", "kind"), sorted(CHECKS.keys() - BLIND))
@pytest.mark.parametrize("status", [None, {}])
def test_new_object_is_waited_for(group: str, kind: str, status: Mapping[str, Any] | None) -> None:
    assert health(group, kind, status)[0] == "Progressing"


@pytest.mark.parametrize(("group", "kind"), sorted(BLIND))
@pytest.mark.parametrize("status", [None, {}])
def test_object_without_a_status_for_ever_says_so(
    group: str, kind: str, status: Mapping[str, Any] | None
) -> None:
    """Its component says `BLIND`: waiting would never end, and green alone would be a lie."""
    found, message = health(group, kind, status)
    assert found == "Healthy"
    assert "no state" in message


def test_synced_application_is_as_healthy_as_it_says() -> None:
    done = operation("Succeeded", "successfully synced")
    assert application(**HEALTHY, operationState=done) == ("Healthy", "")
    worse = {"health": {"status": "Degraded", "message": "a pod"}, "sync": {"status": "OutOfSync"}}
    assert application(**worse, operationState=done) == ("Degraded", "a pod")


def test_application_that_found_its_objects_in_place_needs_no_sync() -> None:
    assert application(**HEALTHY) == ("Healthy", "")


@pytest.mark.parametrize("said", ["Healthy", "Missing"])
def test_application_that_was_never_synced_is_waited_for(said: str) -> None:
    """A stack whose children are all missing calls itself healthy in Argo CD 3.3."""
    found = application(health={"status": said}, sync={"status": "OutOfSync"})
    assert found == ("Progressing", "waiting for the first sync")


def test_application_is_waited_for_while_it_syncs() -> None:
    """Between two of its waves a stack has healthy children and others that are still to come."""
    waiting = operation("Running", "waiting for healthy state of argoproj.io/Application/x-namespaces")
    found = application(health={"status": "Healthy"}, sync={"status": "OutOfSync"}, operationState=waiting)
    assert found == ("Progressing", "waiting for healthy state of argoproj.io/Application/x-namespaces")


@pytest.mark.parametrize("phase", ["Failed", "Error"])
def test_application_whose_sync_failed_is_degraded_until_it_is_synced(phase: str) -> None:
    failed = operation(phase, "one or more objects failed to apply")
    found = application(health={"status": "Healthy"}, sync={"status": "OutOfSync"}, operationState=failed)
    assert found == ("Degraded", "one or more objects failed to apply")
    assert application(**HEALTHY, operationState=failed) == ("Healthy", "")
