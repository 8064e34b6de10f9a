"""Whatever stands in a tree knows why: a line of the spec, a default, a fact or a rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gitops_gen import argocd
from gitops_gen.cli.why import explain_key
from gitops_gen.model import HelmSource, Origin, OwnChart, Traced
from gitops_gen.render import manifest_file
from gitops_gen.resources import resources
from gitops_gen.spec.tree import at, part_for
from gitops_gen.traced import format_path, origins_of
from tests.specs import compile_text, spec_text
from tests.trees import Case, cases, prepared

CASES = [pytest.param(case, id=case.name) for case in cases()]


def traced(case: Case) -> Iterator[tuple[str, Traced]]:
    """Yield every document of a plan that `why` can explain."""
    plan = prepared(case.spec).compiled.plan
    for app in plan.applications:
        yield f"{app.name} application", argocd.application(app, plan.spec)
        for source in app.sources:
            if isinstance(source, HelmSource | OwnChart):
                yield f"{app.name} values", source.values
        for manifest in app.manifests:
            yield f"{app.name} {argocd.manifest_identity(manifest).name}", manifest.object


def leaves(value: Any, here: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from leaves(item, (*here, key))
    elif here:
        yield here


def in_schema(path: tuple[str | int, ...]) -> bool:
    """Say whether the schema knows a path of the spec."""
    return at(part_for(resources().schema), path) is not None


@pytest.mark.parametrize("case", CASES)
def test_every_leaf_has_an_origin(case: Case) -> None:
    lost = [
        f"{name}: {format_path(path)}"
        for name, document in traced(case)
        for path in leaves(document.data)
        if not origins_of(document, path)
    ]
    assert lost == []


def origins(case: Case) -> Iterator[tuple[str, Origin]]:
    for name, document in traced(case):
        for path, group in document.origins.items():
            yield from ((f"{name}: {format_path(path)}", item) for item in group)


@pytest.mark.parametrize("case", CASES)
def test_every_spec_origin_is_a_path_of_the_spec_or_of_its_schema(case: Case) -> None:
    source_map = prepared(case.spec).compiled.source_map
    wrong = [
        f"{name} <- {format_path(item.path)}"
        for name, item in origins(case)
        if item.kind == "spec" and not source_map.has(item.path) and not in_schema(item.path)
    ]
    assert wrong == []


@pytest.mark.parametrize("case", CASES)
def test_why_has_a_reason_for_everything(case: Case) -> None:
    compiled = prepared(case.spec).compiled
    for app in compiled.plan.applications:
        taken: dict[str, Traced] = {}
        for manifest in app.manifests:
            taken[manifest_file(manifest, taken)] = manifest.object
        for path in ("", "application", *taken):
            for row in explain_key(compiled, app, path):
                assert row["because"], (app.name, row["path"])


@pytest.mark.parametrize("case", CASES)
def test_every_fact_and_rule_says_something(case: Case) -> None:
    """A fact names its file or sheet before a colon, a rule is a short sentence."""
    for name, item in origins(case):
        if item.kind == "fact":
            assert all(item.ref.partition(": ")), f"{name} <- {item.ref!r}"
        if item.kind == "rule":
            assert len(item.ref.split()) >= 3, f"{name} <- {item.ref!r}"


def test_a_path_that_the_schema_lacks_is_told_apart() -> None:
    assert in_schema(("spec", "nodePools", 0, "gpu", "model"))
    assert not in_schema(("spec", "nodePools", 0, "gpu", "nosuch"))
    assert not in_schema(("spec", "nosuch"))


def test_users_sync_choices_lead_back_to_their_lines() -> None:
    text = spec_text(
        components="gpuOperator: {enabled: true, sync: {wave: 7, prune: false, syncOptions: [Replace=true]}}"
    )
    plan = compile_text(text).plan
    app = next(item for item in plan.applications if item.name == "gpu-operator")
    document = argocd.application(app, plan.spec)
    sync = ("spec", "components", "gpuOperator", "sync")
    for path, key in (
        (("metadata", "annotations", "argocd.argoproj.io/sync-wave"), "wave"),
        (("spec", "syncPolicy", "automated", "prune"), "prune"),
        (("spec", "syncPolicy", "syncOptions", 2), "syncOptions"),
    ):
        assert (*sync, key) in [item.path for item in origins_of(document, path)], key


def test_an_app_of_ours_alone_names_no_component_of_the_spec() -> None:
    plan = compile_text(spec_text()).plan
    app = next(item for item in plan.applications if item.name == "namespaces")
    document = argocd.application(app, plan.spec)
    (origin,) = origins_of(document, ("spec", "destination", "namespace"))
    assert origin.kind == "rule"
