"""A version that its maker has named but whose chart was never read is refused and never recommended."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.model import ClusterSpec, Component, ComponentSpec, Kubernetes
from gitops_gen.spec.versions import version_rules

VERSIONS = {
    "1.2.1": {"state": "current", "kubernetes": {"min": "1.29", "max": "1.35"}},
    "1.1.2": {"state": "superseded", "kubernetes": {"min": "1.29", "max": "1.35"}},
    "1.3.0": {"state": "known", "kubernetes": {"min": "1.35", "max": "1.37"}},
}


def found(version: str, *, kubernetes: str = "1.35", provided: bool = False) -> list[Diagnostic]:
    """Return what is said of one component at `version`."""
    part = ComponentSpec(name="slurm", version=version, namespace="slurm", settings=None, provided=provided)
    cluster = Kubernetes(version=kubernetes, distribution="kubeadm")
    spec: Any = SimpleNamespace(components={"slurm": part}, kubernetes=cluster)
    facts = SimpleNamespace(data={"versions": VERSIONS}, version="1.2.1")
    component: Any = SimpleNamespace(name="slurm", facts=facts)
    return [*version_rules(cast(ClusterSpec, spec), [cast(Component, component)])]


def test_version_known_by_name_is_refused() -> None:
    (one,) = found("1.3.0")
    assert (one.code, one.severity) == ("unknown-version", Severity.ERROR)
    assert one.message == 'slurm version "1.3.0" is known, but its chart is not catalogued yet'
    assert one.hint == "versions that can be rendered: 1.2.1, 1.1.2"
    assert one.path == ("spec", "components", "slurm", "version")


def test_version_that_nobody_named_is_unknown() -> None:
    (one,) = found("9.9.9")
    assert one.message == 'slurm version "9.9.9" is not known'
    assert one.hint == "versions that can be rendered: 1.2.1, 1.1.2"


@pytest.mark.parametrize("version", ["1.3.0", "1.2.1"])
def test_provided_component_may_run_a_version_known_by_name(version: str) -> None:
    assert found(version, provided=True) == []


def test_version_known_by_name_is_never_recommended() -> None:
    (one,) = found("1.2.1", kubernetes="1.36")
    assert one.code == "kubernetes-untested"
    assert one.hint == "no catalogued version supports it yet"


def test_superseded_version_is_a_notice() -> None:
    (one,) = found("1.1.2")
    assert (one.code, one.severity) == ("superseded-version", Severity.NOTICE)
