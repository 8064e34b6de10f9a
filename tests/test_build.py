"""Components that others require are switched on, and the tree has its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from gitops_gen.model import (
    Application,
    ClusterSpec,
    ComponentFacts,
    HealthCheck,
    PoolResources,
    Requirement,
)
from gitops_gen.resources import resources
from gitops_gen.spec.build import advertise, build_spec
from gitops_gen.spec.place import default_path
from gitops_gen.spec.schema import cluster_schema
from tests.specs import compile_text, spec_text

FRAGMENT: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "database": {"type": "string", "default": "none"},
        "ha": {"type": "boolean", "default": False},
    },
}


@dataclass(frozen=True)
class Fake:
    """A component with a name, requirements and what its nodes advertise."""

    facts: ComponentFacts
    says: tuple[PoolResources, ...] = ()

    @property
    def name(self) -> str:
        return self.facts.name

    def build(self, data: Mapping[str, Any]) -> object:
        return dict(data)

    def advertise(self, spec: ClusterSpec) -> Iterable[PoolResources]:
        return self.says

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Any]) -> Iterable[Any]:
        return ()

    def plan(self, spec: ClusterSpec) -> Iterable[Application]:
        return ()

    def health_checks(self) -> Iterable[HealthCheck]:
        return ()


def fake(name: str, *requires: Requirement, says: tuple[PoolResources, ...] = ()) -> Fake:
    facts = replace(
        resources().components[0].facts,
        name=name,
        namespace=name,
        version="1.0.0",
        requires=requires,
        data={},
        schema=FRAGMENT,
    )
    return Fake(facts=facts, says=says)


SLURM = fake("slurm", Requirement(component="webhooks", reason="its webhooks need certificates"),
             Requirement(component="database", reason="accounting needs one", when="ha"))  # fmt: skip
PARTS = (fake("database"), SLURM, fake("webhooks"))


def build(components: Mapping[str, Any], pools: list[Any] | None = None, parts: Any = PARTS) -> Any:
    written = {
        "apiVersion": "gitops-gen/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": "test"},
        "spec": {
            "kubernetes": {"version": "1.35", "distribution": "kubeadm"},
            "gitops": {"repoURL": "https://git.example.com/x.git"},
            "nodePools": pools or [],
            "components": components,
        },
    }
    schema = cluster_schema(resources().base_schema, {item.name: FRAGMENT for item in parts})
    return build_spec(written, schema, parts, "clusters/test/cluster.yaml")


def test_required_component_is_switched_on_with_the_reason() -> None:
    built = build({"slurm": {"enabled": True}})
    assert sorted(built.spec.components) == ["slurm", "webhooks"]
    assert built.spec.components["webhooks"].required_by == ("slurm",)
    assert [(item.code, item.severity, item.message) for item in built.diagnostics] == [
        (
            "component-required",
            "notice",
            "webhooks is switched on because slurm requires it: its webhooks need certificates",
        )
    ]


def test_requirement_may_depend_on_a_setting() -> None:
    built = build({"slurm": {"enabled": True, "ha": True}})
    assert sorted(built.spec.components) == ["database", "slurm", "webhooks"]


def test_required_component_that_is_switched_off_is_an_error() -> None:
    built = build({"slurm": {"enabled": True}, "webhooks": {"enabled": False}})
    found = built.diagnostics[0]
    assert (found.code, found.severity, found.path) == (
        "required-component-disabled",
        "error",
        ("spec", "components", "webhooks", "enabled"),
    )
    assert found.message == (
        "webhooks is switched off, but slurm requires it: its webhooks need certificates"
    )
    assert found.hint == "remove `enabled: false`, or write `provided: true` if somebody else runs webhooks"


@pytest.mark.parametrize(
    ("own", "base", "found"),
    [
        ("keda: {highAvailability: true}", "", ["component-not-enabled"]),
        ("keda: {}", "", ["component-not-enabled"]),
        ("keda: {provided: false}", "", ["component-not-enabled"]),
        ("keda: {enabled: false, highAvailability: true}", "", []),
        ("keda: {provided: true}", "", []),
        ("certManager: {version: v1.20.2}\nmariadbOperator: {enabled: true}", "", ["component-required"]),
        ("certManager: {enabled: true}", "keda: {highAvailability: true}", []),
        ("keda: {highAvailability: true}", "keda: {version: 2.20.2}", ["component-not-enabled"]),
        ("keda: {highAvailability: true}", "keda: {enabled: false}", []),
    ],
)
def test_component_is_not_left_off_silently(own: str, base: str, found: list[str]) -> None:
    """A base holds settings for whichever cluster wants them; a cluster's own file means what it names."""
    text = spec_text("env: lab", pools="", components=own)
    files = {
        "base.yaml": f"apiVersion: gitops-gen/v1alpha1\nkind: ClusterBase\nspec: {{components: {{{base}}}}}"
    }
    diagnostics = compile_text(f"extends: [../../base.yaml]\n{text}", files=files).diagnostics
    assert [item.code for item in diagnostics] == found


def test_provided_component_meets_a_requirement_and_is_not_rendered() -> None:
    built = build({"slurm": {"enabled": True}, "webhooks": {"provided": True}})
    assert built.diagnostics == ()
    assert built.spec.components["webhooks"].provided
    assert built.spec.rendered("webhooks") is None
    assert built.spec.rendered("slurm") is not None


def test_switched_on_component_has_its_defaults() -> None:
    built = build({"slurm": {"enabled": True}})
    assert built.spec.components["webhooks"].settings == {"database": "none", "ha": False}
    assert built.spec.components["webhooks"].namespace == "webhooks"


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("clusters/prod/cluster.yaml", "clusters/prod/rendered"),
        ("cluster.yaml", "rendered"),
        ("specs/prod.yaml", "specs/lab/rendered"),
        ("prod.yaml", "lab/rendered"),
    ],
)
def test_tree_lies_beside_its_spec(source: str, path: str) -> None:
    assert default_path(source, "lab") == path


def test_what_components_advertise_is_joined_by_pool() -> None:
    pools = [
        {"name": "a", "nodes": 2, "gpu": {"model": "l4", "count": 4}},
        {"name": "b", "nodes": 1, "gpu": {"model": "t4", "count": 1}},
        {"name": "c", "nodes": 1},
    ]
    gpus = PoolResources(
        pool="a",
        nodes=2,
        use="kubernetes",
        resources={"nvidia.com/gpu.shared": 8},
        labels={"x": "1"},
        accelerators=True,
    )
    network = PoolResources(pool="a", nodes=2, use="kubernetes", resources={"rdma/ib": 63}, labels={"y": "2"})
    parts = (fake("gpus", says=(gpus,)), fake("network", says=(network,)))
    spec = build({"gpus": {"enabled": True}, "network": {"enabled": True}}, pools, parts).spec
    made = advertise(spec, parts, resources().catalog).resources
    assert [(item.pool, item.resources, item.labels) for item in made] == [
        ("a", {"nvidia.com/gpu.shared": 8, "rdma/ib": 63}, {"x": "1", "y": "2"}),
        ("b", {"nvidia.com/gpu": 1}, {}),
    ]


@pytest.mark.parametrize(
    ("monitoring", "labels"),
    [
        ("{enabled: true}", {"release": "kube-prometheus-stack"}),
        ("{provided: true, serviceMonitorLabels: {team: metrics}}", {"team": "metrics"}),
        ("{provided: true}", {}),
    ],
)
def test_prometheus_is_selected_by_the_labels_of_whoever_runs_it(
    monitoring: str, labels: dict[str, str]
) -> None:
    text = spec_text(components=f"gpuOperator: {{enabled: true}}\nmonitoring: {monitoring}")
    assert compile_text(text).plan.spec.service_monitor_labels == labels
