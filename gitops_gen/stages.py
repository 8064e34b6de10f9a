"""A loaded spec in, a checked Plan out: schema, build, rules and plan, one stage after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from gitops_gen import argocd
from gitops_gen.controller import ArgocdFacts, Document, check_documents
from gitops_gen.devices import unmanaged
from gitops_gen.diagnostics import Diagnostic, Path, Position, Severity, SpecError, errors
from gitops_gen.model import Accept, Catalog, ClusterSpec, Component, Object, Plan, Traced
from gitops_gen.ownership import objects_made_twice
from gitops_gen.plan import State, plan_cluster, state_text
from gitops_gen.render import documents, own_charts
from gitops_gen.spec.build import advertise, build_spec, silently_off
from gitops_gen.spec.document import check_document
from gitops_gen.spec.load import Loaded, SourceMap
from gitops_gen.spec.rules import base_rules
from gitops_gen.spec.schema import check_schema
from gitops_gen.spec.versions import version_rules
from gitops_gen.traced import format_path, origins_of

STATE_CODE = "locked-state-changed"


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """What every run shares: the catalogue, the components and the schema of a cluster spec."""

    catalog: Catalog
    components: Sequence[Component]
    schema: Mapping[str, Any]
    argocd: ArgocdFacts


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """A plan whose diagnostics are those of all stages, with positions; none is an error."""

    plan: Plan
    documents: Mapping[str, Object]
    source_map: SourceMap

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings and notices of every stage, in the order of their positions."""
        return self.plan.diagnostics


def compile_cluster(
    loaded: Loaded, source: str, knowledge: Knowledge, previous: State | None = None
) -> Compiled:
    """Check and plan one cluster; SpecError with all faults of the first stage that has errors.

    `source` is the spec's file in the repository, `previous` the state of the last render.
    """
    known = previous or {}
    found: list[Diagnostic] = []
    _stage(found, check_document(loaded.data), loaded.source_map)
    _stage(found, check_schema(loaded.data, knowledge.schema, loaded.source_map.raw), loaded.source_map)
    assert isinstance(loaded.data, dict)
    built = build_spec(loaded.data, knowledge.schema, knowledge.components, source)
    enabled = [item for item in knowledge.components if item.name in built.spec.components]
    versions = version_rules(built.spec, enabled)
    off = silently_off(built.spec, loaded.source_map)
    _stage(found, (*built.diagnostics, *off, *versions), loaded.source_map)
    basic = (*base_rules(built.spec, knowledge.catalog), *unmanaged(built.spec, knowledge.components))
    _stage(found, basic, loaded.source_map)
    spec = advertise(built.spec, enabled, knowledge.catalog)
    own = (fault for item in enabled for fault in item.rules(spec, _state_of(known)))
    _stage(found, own, loaded.source_map)
    plan = plan_cluster(spec, knowledge.components, knowledge.catalog, known)
    twice = objects_made_twice(plan, loaded.source_map)
    _stage(found, (*plan.diagnostics, *twice), loaded.source_map)
    made = documents(plan)
    _stage(found, controller_findings(plan, made, knowledge.argocd, loaded.source_map), loaded.source_map)
    left = _weigh(found, plan, loaded.source_map)
    checked = replace(plan, diagnostics=left)
    return Compiled(plan=checked, documents=made, source_map=loaded.source_map)


def check_base(loaded: Loaded, knowledge: Knowledge) -> tuple[Diagnostic, ...]:
    """Return the faults of a ClusterBase by itself, where nothing is required."""
    found = check_schema(loaded.data, knowledge.schema, loaded.source_map.raw)
    return loaded.source_map.locate(found)


def controller_findings(
    plan: Plan, made: Mapping[str, Object], facts: ArgocdFacts, source_map: SourceMap
) -> tuple[Diagnostic, ...]:
    """Return what Argo CD's controller would refuse or ignore in the tree, at the lines that caused it."""
    spec = plan.spec
    apps = {argocd.application_name(spec, app.name): app for app in plan.applications}

    def locate_in(name: str) -> Callable[[Path], Position | None] | None:
        app = apps.get(name)
        return None if app is None else lambda path: _cause(argocd.application(app, spec), path, source_map)

    checked = [
        Document(f"{spec.path}/{file}", data, locate_in(_name(data)))
        for file, data in made.items()
        if "kind" in data
    ]
    charts = [f"{folder}/Chart.yaml" for folder, _ in own_charts(plan)]
    return check_documents(
        checked,
        argocd=facts,
        version=spec.argocd.version,
        files=[f"{spec.path}/{file}" for file in (*made, *charts)],
        repositories=[spec.gitops.repo_url],
        objects={name: tuple(argocd.objects(app)) for name, app in apps.items()},
        namespace=spec.argocd.namespace,
        display_only=[name for name, app in apps.items() if not app.keeps_ignored],
    )


def _name(data: Object) -> str:
    metadata = data.get("metadata")
    return str(metadata.get("name")) if isinstance(metadata, dict) else ""


def _cause(made: Traced, path: Path, source_map: SourceMap) -> Position | None:
    """Return the line of the spec that a part of an Application comes from, if one is to blame."""
    for origin in origins_of(made, path):
        if origin.kind == "spec" and source_map.has(origin.path):
            return source_map.value(origin.path)
    return None


def _stage(found: list[Diagnostic], new: Iterable[Diagnostic], source_map: SourceMap) -> None:
    found.extend(source_map.locate(tuple(new)))
    if errors(found):
        raise SpecError(source_map.locate(found))


def _state_of(previous: State) -> Mapping[str, Any]:
    return {path: value for state in previous.values() for path, value in state.items()}


def _weigh(found: Sequence[Diagnostic], plan: Plan, source_map: SourceMap) -> tuple[Diagnostic, ...]:
    """Leave out the warnings that the spec accepts; warn of an accept that matches nothing."""
    accepted = [item for item in found if _is_accepted(item, plan.spec, source_map)]
    unused = [
        _unused(index, accept)
        for index, accept in enumerate(plan.spec.accept)
        if not _is_used(accept, accepted, plan, source_map)
    ]
    left = [item for item in found if item not in accepted]
    return source_map.locate((*left, *unused))


def _is_accepted(item: Diagnostic, spec: ClusterSpec, source_map: SourceMap) -> bool:
    return item.severity is not Severity.ERROR and any(
        _matches(accept, item, source_map) for accept in spec.accept
    )


def _matches(accept: Accept, item: Diagnostic, source_map: SourceMap) -> bool:
    paths = (source_map.show(item.path), format_path(item.path))
    return accept.code == item.code and accept.path in paths


def _is_used(accept: Accept, accepted: Iterable[Diagnostic], plan: Plan, source_map: SourceMap) -> bool:
    if accept.code == STATE_CODE:
        values = (state[accept.path] for state in plan.state.values() if accept.path in state)
        return any(state_text(value) == accept.to_value for value in values)
    return any(_matches(accept, item, source_map) for item in accepted)


def _unused(index: int, accept: Accept) -> Diagnostic:
    return Diagnostic(
        code="accept-unused",
        severity=Severity.WARNING,
        message=f'nothing to accept: no warning or notice "{accept.code}" at "{accept.path}"',
        path=("spec", "accept", index),
        hint="remove the entry, or copy what a warning prints after `accept:`",
    )
