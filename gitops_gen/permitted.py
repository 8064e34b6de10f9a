"""A spec and the components in, the objects that a project permits although nothing makes them now.

Argo CD neither prunes nor deletes what the project does not permit (D11, D17): an object that a
setting, a version or a removal takes out of the tree must stay permitted until it is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitops_gen.catalog.charts import chart_objects
from gitops_gen.catalog.versions import Version
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import (
    Application,
    ClusterSpec,
    Component,
    ComponentFacts,
    ComponentSpec,
    HelmSource,
    Json,
    ObjectIdentity,
)

State = Mapping[str, Mapping[str, Json]]
"""What may not change silently: `{app: {spec path: value}}`."""
ANY_NAME = "*"


def permitted(
    spec: ClusterSpec, components: Sequence[Component], apps: Iterable[Application]
) -> tuple[ObjectIdentity, ...]:
    """Return what the project permits beyond what the apps make.

    For the charts of the apps: every cluster-scoped object that this version or an older
    catalogued one can make (hooks apart: they go by themselves). For a component that the spec
    names without switching it on: all that it can make, in its namespace. For both: the
    cluster-scoped kinds that the component writes itself, under any name.
    """
    facts = {item.name: item.facts for item in components}
    found = [
        identity
        for app in apps
        if app.component in facts
        for source in app.sources
        if isinstance(source, HelmSource)
        for identity in _possible(source, facts[app.component], app.namespace)
        if identity.namespace is None
    ]
    for item in components:
        if item.name in spec.retired:
            found += _retired(spec.retired[item.name], item.facts)
        if item.name in spec.retired or spec.rendered(item.name):
            found += _own_kinds(item.facts)
    return tuple(dict.fromkeys(found))


def vanished(spec: ClusterSpec, previous: State) -> Iterator[Diagnostic]:
    """Yield an error for each app of the last render whose component the spec no longer names."""
    for app, state in sorted(previous.items()):
        for path in state:
            match path.split("."):
                case ["spec", "components", name, *_]:
                    if name not in spec.components and name not in spec.retired:
                        yield _vanished(app, name)
                    break


def _vanished(app: str, component: str) -> Diagnostic:
    return Diagnostic(
        code="component-vanished",
        message=f"app {app} was in the last render, and the spec no longer names {component}: "
        "the project would no longer permit its objects, so Argo CD could not remove them",
        path=("spec", "components"),
        on_key=True,
        hint=f"write `{component}: {{enabled: false}}` and remove that line in a later commit, "
        "when Argo CD has removed the app",
    )


def _retired(part: ComponentSpec, facts: ComponentFacts) -> Iterator[ObjectIdentity]:
    yield ObjectIdentity(group="", kind="Namespace", name=part.namespace)
    for name in _charts(facts):
        for version in _up_to(part.version, facts):
            yield from _objects(facts, name, version, part.values, name, part.namespace)


def _possible(source: HelmSource, facts: ComponentFacts, namespace: str) -> Iterator[ObjectIdentity]:
    for version in _up_to(source.version, facts):
        values = source.values.data
        yield from _objects(facts, source.chart, version, values, source.release_name, namespace)


def _objects(
    facts: ComponentFacts,
    chart: str,
    version: str,
    values: Mapping[str, Json],
    release: str,
    namespace: str,
) -> Iterator[ObjectIdentity]:
    try:
        keys = facts.chart_keys(chart, version)
    except KeyError:
        return
    # An object named by a value that is empty is not made; without a name a project permits them all.
    for item in chart_objects(keys, values, release, namespace, possible=True):
        if not item.hook and item.name:
            yield item


def _up_to(version: str, facts: ComponentFacts) -> Sequence[str]:
    """Return the version and the older ones; all, for one that is not (or no longer) catalogued."""
    if version not in facts.versions:
        return facts.versions
    chosen = Version.parse(version)
    return [item for item in facts.versions if Version.parse(item) <= chosen]


def _charts(facts: ComponentFacts) -> Iterator[str]:
    match facts.data.get("charts"):
        case [*charts]:
            for chart in charts:
                match chart:
                    case {"name": str(name)}:
                        yield name


def _own_kinds(facts: ComponentFacts) -> Iterator[ObjectIdentity]:
    match facts.data.get("clusterKinds"):
        case {"kinds": [*kinds]}:
            for item in kinds:
                match item:
                    case {"group": str(group), "kind": str(kind)}:
                        yield ObjectIdentity(group=group, kind=kind, name=ANY_NAME)
