"""What the real charts make of our values: objects that the API server takes, from keys that all matter.

These tests need helm and the unpacked charts. Plain tests guard the same from recorded facts: the
keys (test_conformance_values), pods (test_slurm_values) and how the chart prints (test_slurm_quoting).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml

from gitops_gen.diagnostics import SpecError
from gitops_gen.maintain.charts import COMPONENTS, HelmLoader
from gitops_gen.model import Object, ObjectIdentity
from gitops_gen.traced import format_path
from tests.crd_fields import field_faults
from tests.crds import UPSTREAM
from tests.slurm_cases import (
    PREVIOUS,
    SELF_RUN,
    SLURM,
    chart_folder,
    helm_source,
    objects_of,
    operator_folder,
    params,
    previous_release,
    rendered,
)
from tests.slurm_pods import CONTAINERS, pod_faults, without_nulls
from tests.trees import Case, tree

SLINKY = "slinky.slurm.net/v1beta1"
CRDS = "slurm-operator-crds"
CLUSTER_SCOPED = (
    "ClusterRole",
    "ClusterRoleBinding",
    "MutatingWebhookConfiguration",
    "PriorityClass",
    "ValidatingWebhookConfiguration",
)
CERT_MANAGER = "cert-manager.io/v1"


def slurm(helm: tuple[str, ...], case: Case, values: Mapping[str, Any] | None = None) -> str:
    source = helm_source(case, "slurm")
    folder = chart_folder("slurm", source.version)
    text = rendered(helm, folder, source.release_name, "slurm", values or source.values.data)
    assert text is not None, case.name
    return text


def operator(helm: tuple[str, ...], case: Case, scratch: Path) -> str:
    source = helm_source(case, "slurm-operator")
    folder = operator_folder(source.version, scratch)
    text = rendered(helm, folder, source.release_name, "slinky", source.values.data)
    assert text is not None, case.name
    return text


# --- objects -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", params(SLURM))
def test_two_renders_are_equal_and_make_no_secret(helm: tuple[str, ...], case: Case) -> None:
    text = slurm(helm, case)
    assert slurm(helm, case) == text
    assert "Secret" not in [item["kind"] for item in objects_of(text)]


@pytest.mark.parametrize("case", params(SLURM))
def test_objects_of_slurm_fit_crds_and_kubernetes(helm: tuple[str, ...], case: Case) -> None:
    version = helm_source(case, "slurm").version
    found = objects_of(slurm(helm, case))
    kinds = [item["kind"] for item in found if item["apiVersion"] == SLINKY]
    assert {"Controller", "RestApi", "NodeSet"} <= set(kinds)
    for item in found:
        if item["apiVersion"] == SLINKY:
            assert field_faults(defaulted(item, version), "slurm", CRDS, version) == [], item["metadata"]
        else:
            kubernetes_validate.validate(whole(item), "1.35", strict=True)


@pytest.mark.parametrize("case", params(SLURM))
def test_pods_of_slurm_fit_kubernetes(helm: tuple[str, ...], case: Case) -> None:
    seen = []
    for item in objects_of(slurm(helm, case)):
        spec: Any = item.get("spec") or {}
        parts = {name: spec[name] for name in CONTAINERS if name in spec}
        if item["apiVersion"] == SLINKY and parts:
            seen += list(parts)
            assert pod_faults(spec["template"], parts) == [], item["metadata"]
    assert {"slurmd", "slurmrestd"} <= set(seen)


@pytest.mark.parametrize("case", params(SELF_RUN))
def test_objects_of_the_operator_fit_kubernetes(helm: tuple[str, ...], case: Case, tmp_path: Path) -> None:
    found = objects_of(operator(helm, case, tmp_path))
    assert [item["kind"] for item in found].count("Deployment") == 2
    for item in found:
        assert item["kind"] != "Secret"
        if item["apiVersion"] != CERT_MANAGER:
            kubernetes_validate.validate(without_nulls(item), "1.35", strict=True)


@pytest.mark.parametrize("case", params(SLURM))
def test_chart_makes_the_planned_objects(helm: tuple[str, ...], case: Case) -> None:
    found = {identity(item, "slurm") for item in objects_of(slurm(helm, case))}
    assert found == set(helm_source(case, "slurm").objects)


@pytest.mark.parametrize("case", params(SELF_RUN))
def test_operators_chart_makes_the_planned_objects(helm: tuple[str, ...], case: Case, tmp_path: Path) -> None:
    found = {identity(item, "slinky") for item in objects_of(operator(helm, case, tmp_path))}
    assert found == set(helm_source(case, "slurm-operator").objects)


@pytest.mark.parametrize("case", params(SLURM))
def test_what_lies_beside_the_chart_names_what_it_makes(helm: tuple[str, ...], case: Case) -> None:
    names = {
        (item["kind"], item["metadata"]["name"]) for item in map(dictionary, objects_of(slurm(helm, case)))
    }
    targets = [
        item["spec"]["scaleTargetRef"]
        for name, text in tree(case.spec).items()
        if "/manifests/scaledobject-" in name
        for item in [yaml.safe_load(text)]
    ]
    assert {(item["kind"], item["name"]) for item in targets} <= names


def identity(item: Object, namespace: str) -> ObjectIdentity:
    group = str(item["apiVersion"]).rpartition("/")[0]
    metadata = dictionary(item["metadata"])
    kind = str(item["kind"])
    own = None if kind in CLUSTER_SCOPED else str(metadata.get("namespace") or namespace)
    return ObjectIdentity(group=group, kind=kind, name=metadata["name"], namespace=own)


def dictionary(value: Any) -> dict[str, Any]:
    assert isinstance(value, dict)
    return value


def whole(item: Any) -> Any:
    """Return an object with its numbers as Kubernetes reads them: Helm prints large ones as 1e+09."""
    if isinstance(item, dict):
        return {key: whole(value) for key, value in item.items()}
    return int(item) if isinstance(item, float) and item.is_integer() else item


@cache
def defaults(version: str, kind: str) -> frozenset[str]:
    file = COMPONENTS / "slurm" / "upstream" / f"{CRDS}-{version}.fields.json"
    fields = json.loads(file.read_bytes())[kind]
    own = {name.removeprefix("spec."): entry for name, entry in fields.items() if name.count(".") == 1}
    return frozenset(name for name, entry in own.items() if "default" in entry)


def defaulted(item: Any, version: str) -> Any:
    """Return an object as the API server sees it, which puts the default where null stands."""
    known = defaults(version, item["kind"])
    spec = {key: value for key, value in item["spec"].items() if value is not None or key not in known}
    return {**item, "spec": spec}


# --- the release before, and recipes -----------------------------------------------------------

RECIPES = UPSTREAM.parent / "facts" / "data" / "slinky-recipes-v1.2.1.yaml"


def misfits(found: list[Any], version: str) -> Iterator[str]:
    """Yield what CRDs and Kubernetes have against the objects that the chart makes."""
    for item in found:
        spec = item.get("spec") or {}
        if item["apiVersion"] == SLINKY:
            yield from field_faults(defaulted(item, version), "slurm", CRDS, version)
            parts = {name: spec[name] for name in CONTAINERS if name in spec}
            if parts:
                yield from pod_faults(spec["template"], parts)
        else:
            kubernetes_validate.validate(whole(item), "1.35", strict=True)


@pytest.mark.parametrize("case", params(SLURM))
def test_previous_release_makes_what_fits_of_the_same_specs(helm: tuple[str, ...], case: Case) -> None:
    folder = chart_folder("slurm", PREVIOUS)
    try:
        source = previous_release(case)
    except SpecError:
        return  # test_slurm_values says which and why
    text = rendered(helm, folder, source.release_name, "slurm", source.values.data)
    assert text is not None
    found = objects_of(text)
    assert list(misfits(found, PREVIOUS)) == []
    assert {identity(item, "slurm") for item in found} == set(source.objects)
    unread = idle(helm, folder, source.release_name, source.values.data)
    assert [name for name in unread if name not in NEVER_MADE or not outside(case)] == []


def test_recipes_make_what_fits(helm: tuple[str, ...]) -> None:
    """The values that upstream's guides lead to, apart from our own."""
    folder = chart_folder("slurm", "1.2.1")
    if not RECIPES.is_file():
        pytest.skip("the recipes beside the checkout are missing")
    recipes = [item for item in yaml.load_all(RECIPES.read_bytes(), Loader=HelmLoader) if item]
    assert len(recipes) > 15
    for recipe in recipes:
        text = rendered(helm, folder, "slurm", "slurm", recipe)
        assert text is not None, recipe["_recipe"]
        own = [item for item in objects_of(text) if item["apiVersion"] in (SLINKY, "v1")]
        assert list(misfits(own, "1.2.1")) == [], recipe["_recipe"]


# --- values ------------------------------------------------------------------------------------


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict) and value:
        for key, below in value.items():
            yield from leaves(below, (*path, key))
    else:
        yield path


def changed(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, list):
        return value[:-1]
    return value + (1 if isinstance(value, int) else "x")


def with_changed(values: Any, path: tuple[str, ...]) -> Any:
    copy = deepcopy(values)
    below = copy
    for key in path[:-1]:
        below = below[key]
    below[path[-1]] = changed(below[path[-1]])
    return copy


def idle(helm: tuple[str, ...], folder: Path, release: str, values: Mapping[str, Any]) -> list[str]:
    """Return the values that can be changed without a change of what the chart prints."""
    text = rendered(helm, folder, release, "ns", values)
    assert text is not None
    return [
        format_path(path)
        for path in leaves(values)
        if rendered(helm, folder, release, "ns", with_changed(values, path)) == text
    ]


@pytest.mark.parametrize("case", params(SLURM))
def test_every_value_changes_what_the_chart_prints(helm: tuple[str, ...], case: Case) -> None:
    source = helm_source(case, "slurm")
    folder = chart_folder("slurm", source.version)
    found = idle(helm, folder, source.release_name, source.values.data)
    assert [name for name in found if name not in NEVER_MADE or not outside(case)] == []


# The chart leaves the keys alone where a daemon runs outside; another release of it might not.
NEVER_MADE = ("slurmKey.create", "jwtKey.create")


def outside(case: Case) -> bool:
    values: Any = helm_source(case, "slurm").values.data
    return bool(values["controller"].get("external") or values.get("accounting", {}).get("external"))


@pytest.mark.parametrize("case", params(SELF_RUN))
def test_every_value_changes_what_the_operators_chart_prints(
    helm: tuple[str, ...], case: Case, tmp_path: Path
) -> None:
    source = helm_source(case, "slurm-operator")
    folder = operator_folder(source.version, tmp_path)
    assert idle(helm, folder, source.release_name, source.values.data) == []
