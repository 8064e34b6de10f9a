"""What a component requires may depend on its settings: one value, an equal value, any item of a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from gitops_gen.model import Requirement
from gitops_gen.resources import resources
from gitops_gen.spec.build import build_spec
from gitops_gen.spec.schema import cluster_schema
from tests.test_build import Fake, fake

SETS: Mapping[str, Any] = {
    "type": "array",
    "default": [],
    "items": {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string"},
            "scale": {"type": "object", "properties": {"max": {"type": "integer"}}},
            "tags": {"type": "array", "items": {"type": "string"}},
            "kind": {"type": "string", "default": "plain"},
            "parts": {
                "type": "array",
                "items": {"type": "object", "properties": {"on": {"type": "boolean"}}},
            },
        },
    },
}
FRAGMENT: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "operator": {
            "type": "object",
            "default": {},
            "additionalProperties": False,
            "properties": {"managedBy": {"type": "string", "default": "self"}, "port": {"type": "integer"}},
        },
        "database": {"type": "object", "properties": {"own": {"type": "object"}}},
        "sets": SETS,
    },
}
PLAIN: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}


def needing(when: str | None) -> tuple[Fake, ...]:
    """Return a component that requires `wanted` on one condition, and `wanted`."""
    owner = fake("owner", Requirement(component="wanted", reason="it has to be", when=when))
    return (Fake(facts=replace(owner.facts, schema=FRAGMENT)), fake("wanted"))


def switched_on(when: str | None, settings: Mapping[str, Any]) -> bool:
    written = {
        "apiVersion": "gitops-gen/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": "test"},
        "spec": {
            "kubernetes": {"version": "1.35", "distribution": "kubeadm"},
            "gitops": {"repoURL": "https://git.example.com/x.git"},
            "components": {"owner": {"enabled": True, **settings}},
        },
    }
    schema = cluster_schema(resources().base_schema, {"owner": FRAGMENT, "wanted": PLAIN})
    built = build_spec(written, schema, needing(when), "cluster.yaml")
    said = [item.message for item in built.diagnostics]
    on = "wanted" in built.spec.components
    assert said == (["wanted is switched on because owner requires it: it has to be"] if on else [])
    return on


@pytest.mark.parametrize(
    ("when", "settings", "wanted"),
    [
        # The schema's defaults count as if they were written.
        ("operator.managedBy=self", {}, True),
        ("operator.managedBy=self", {"operator": {"port": 1}}, True),
        ("operator.managedBy=self", {"operator": {"managedBy": "gke"}}, False),
        ("operator.managedBy=gke", {"operator": {"managedBy": "gke"}}, True),
        ("operator.managedBy=sel", {}, False),
        # A number is compared as it is written.
        ("operator.port=80", {"operator": {"port": 80}}, True),
        ("operator.port=8", {"operator": {"port": 80}}, False),
        # A path alone must lead to something.
        ("database.own", {}, False),
        ("database.own", {"database": {}}, False),
        ("database.own", {"database": {"own": {}}}, False),
        ("database.own", {"database": {"own": {"size": 1}}}, True),
        ("operator.port", {"operator": {"port": 0}}, False),
        ("operator.managedBy.more", {}, False),
        # Any item of a list is enough.
        ("sets[].scale.max", {}, False),
        ("sets[].scale.max", {"sets": [{"name": "a"}]}, False),
        ("sets[].scale.max", {"sets": [{"name": "a"}, {"name": "b", "scale": {"max": 4}}]}, True),
        ("sets[].scale.max", {"sets": [{"scale": {"max": 0}}]}, False),
        ("sets[].kind=plain", {"sets": [{"kind": "other"}]}, False),
        ("sets[].kind=plain", {"sets": [{"kind": "other"}, {}]}, True),
        ("sets[].tags[]=gpu", {"sets": [{"tags": ["cpu"]}, {"tags": ["a", "gpu"]}]}, True),
        ("sets[].tags[]=gpu", {"sets": [{"tags": ["gpus"]}]}, False),
        ("sets[].parts[].on", {"sets": [{"parts": [{"on": False}, {"on": True}]}]}, True),
        ("sets[].parts[].on", {"sets": [{"parts": [{"on": False}]}]}, False),
        # Without brackets, a list is something if it is not empty.
        ("sets", {}, False),
        ("sets", {"sets": [{}]}, True),
        (None, {}, True),
    ],
)
def test_requirement_holds_where_its_condition_does(
    when: str | None, settings: Mapping[str, Any], wanted: bool
) -> None:
    assert switched_on(when, settings) is wanted


def test_conditions_of_components_name_settings_that_there_are() -> None:
    """A slip in a path would leave a requirement out for ever."""
    checked = []
    for component in resources().components:
        for requirement in component.facts.requires:
            if requirement.when is not None:
                path = requirement.when.partition("=")[0]
                assert _has(component.facts.schema, path.split(".")), (component.name, path)
                checked.append(component.name)
    assert checked


def _has(schema: Mapping[str, Any], keys: list[str]) -> bool:
    """Say whether a fragment knows a path, through lists where the path has brackets."""
    for key in keys:
        options = [schema, *schema.get("oneOf", ()), *schema.get("anyOf", ())]
        found = [one["properties"] for one in options if "properties" in one]
        name = key.removesuffix("[]")
        below = next((part[name] for part in found if name in part), None)
        if below is None or (key.endswith("[]") and "items" not in below):
            return False
        schema = below["items"] if key.endswith("[]") else below
    return True
