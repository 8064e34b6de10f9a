"""An object has one Application: two that make it are told apart from one, with both lines."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Application, DirectorySource, HelmSource, Manifest, Origin, Traced, from_rule
from gitops_gen.model import from_spec as spec_origin
from gitops_gen.ownership import objects_made_twice
from tests.specs import compile_text, spec_text

IMAGE = "docker.io/rayproject/ray:2.56.1"
RAY = f"""\
kuberay:
  enabled: true
  clusters:
    - {{name: a, version: 2.56.1, image: '{IMAGE}'}}
    - {{name: b, version: 2.56.1, image: '{IMAGE}'}}
"""
POOLS = "- {name: cpu, nodes: 3, os: ubuntu-24.04, nodeSelector: {node.example.com/pool: cpu}}\n"
COMPILED = compile_text(spec_text(pools=POOLS, components=RAY))
FIRST = ("components", "kuberay", "clusters", 0)
SECOND = ("components", "kuberay", "clusters", 1)


def app(name: str) -> Application:
    return next(item for item in COMPILED.plan.applications if item.name == name)


def holding(name: str, *origins: Origin, objects: int = 1) -> Application:
    """Return an app of the plan that makes the ConfigMap `shared` because of these origins."""
    metadata = {"name": "shared", "namespace": "ray"}
    data = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    made = Manifest(object=Traced(data=data, origins={("metadata",): origins}))  # type: ignore[arg-type]
    return replace(app(name), sources=(DirectorySource(manifests=(made,) * objects),), origins=origins)


def found(*changed: Application) -> tuple[Diagnostic, ...]:
    """Return what is said when these apps stand in the plan instead of those of their names."""
    names = {item.name for item in changed}
    rest = [item for item in COMPILED.plan.applications if item.name not in names]
    plan = replace(COMPILED.plan, applications=(*rest, *changed))
    return COMPILED.source_map.locate(objects_made_twice(plan, COMPILED.source_map))


def test_apps_with_objects_of_their_own_are_left_alone() -> None:
    assert found() == ()


@pytest.mark.parametrize("turned", [False, True])
def test_later_line_is_shown_and_the_earlier_one_named(turned: bool) -> None:
    both = [holding("ray-a", spec_origin(*FIRST)), holding("ray-b", spec_origin(*SECOND))]
    (said,) = found(*(reversed(both) if turned else both))
    assert (said.code, said.severity) == ("object-made-twice", "error")
    assert said.message == (
        "the apps ray-b and ray-a (line 14) both make the ConfigMap ray/shared: "
        "each sync would take it from the other"
    )
    assert said.position is not None
    assert said.position.line == 15


def test_side_without_a_line_is_named_alone() -> None:
    rule = from_rule("nobody asked for this one")
    (said,) = found(holding("ray-a", spec_origin(*FIRST)), holding("ray-b", rule))
    assert said.message.startswith("the apps ray-a and ray-b both make the ConfigMap ray/shared")
    assert said.position is not None
    assert said.position.line == 14


def test_one_app_makes_an_object_once() -> None:
    (said,) = found(holding("ray-a", spec_origin(*FIRST), objects=2))
    assert said.message == "the app ray-a makes the ConfigMap ray/shared twice"


def test_apps_of_one_name_would_overwrite_each_other() -> None:
    twin = replace(holding("ray-a", spec_origin(*SECOND)), sources=())
    (said,) = found(app("ray-a"), twin)
    assert said.message == "the app ray-a makes the Application argocd/test-ray-a twice (line 14)"
    assert said.severity == "error"
    assert said.position is not None
    assert said.position.line == 15


def test_object_of_a_chart_is_a_warning_and_its_hooks_do_not_count() -> None:
    planned = app("kuberay-operator")
    (source,) = planned.sources
    assert isinstance(source, HelmSource)
    (account,) = [item for item in source.objects if item.kind == "ServiceAccount" and item.namespace]
    copy = replace(account, name="shared", namespace="ray", kind="ConfigMap")
    chart = replace(planned, sources=(replace(source, objects=(copy, copy)),))
    (said,) = found(holding("ray-a", spec_origin(*FIRST)), chart)
    assert said.severity == "warning"
    hooks = replace(planned, sources=(replace(source, objects=(replace(copy, hook=True),)),))
    assert found(hooks, replace(app("ray-a"), sources=hooks.sources)) == ()
    assert len(found(chart, replace(app("ray-a"), sources=chart.sources))) == 1
