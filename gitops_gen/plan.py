"""A typed spec and the components in, a Plan out: every Application with its values and objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from gitops_gen.catalog.charts import chart_objects, check_values
from gitops_gen.catalog.secret_values import secret_values
from gitops_gen.diagnostics import Diagnostic, Path, Severity
from gitops_gen.model import (
    Application,
    Catalog,
    ClusterSpec,
    Component,
    ComponentFacts,
    ComponentSpec,
    HealthCheck,
    HelmSource,
    Json,
    Plan,
    Pruning,
    Source,
)
from gitops_gen.namespaces import namespace_conflicts, namespaces_application, reserved_namespaces
from gitops_gen.permitted import State as State
from gitops_gen.permitted import permitted, vanished
from gitops_gen.secrets import external_secrets, store_without_operator
from gitops_gen.traced import overlay, parse_path


def plan_cluster(
    spec: ClusterSpec, components: Sequence[Component], catalog: Catalog, previous: State
) -> Plan:
    """Plan every Application of the cluster, in the order of their names.

    The user's raw `values` are laid over last, then the chart's objects are known. `previous`
    is the state of the last render; a change in it is an error unless the spec accepts it.
    """
    rendered = [item for item in components if spec.rendered(item.name)]
    parts = [
        _finish(app, spec.components[item.name], item.facts, spec.registry.charts)
        for item in rendered
        for app in item.plan(spec)
    ]
    apps = list(external_secrets(parts, spec))
    if any(app.namespaces for app in apps):
        apps.append(namespaces_application(spec, apps))
    state = locked_state(spec, apps)
    return Plan(
        spec=spec,
        applications=tuple(sorted(apps, key=lambda app: app.name)),
        state=state,
        permitted=permitted(spec, components, apps),
        health_checks=(
            *_common_health_checks(catalog),
            *(check for item in components for check in item.health_checks()),
        ),
        diagnostics=(
            *_delivery(spec),
            *store_without_operator(spec, components),
            *_unreachable_charts(spec, parts),
            *_values_findings(parts, spec, rendered),
            *namespace_conflicts(parts),
            *reserved_namespaces(spec, parts),
            *_unknown_window_apps(spec, apps),
            *_state_changes(spec, state, previous),
            *vanished(spec, previous),
        ),
    )


def _common_health_checks(catalog: Catalog) -> Iterator[HealthCheck]:
    match catalog.data["health"]:
        case {"checks": [*checks]}:
            for item in checks:
                match item:
                    case {"group": str(group), "kind": str(kind), "lua": str(lua)}:
                        yield HealthCheck(group=group, kind=kind, lua=lua)


def known_objects(source: HelmSource, facts: ComponentFacts, namespace: str) -> HelmSource:
    """Return the source with the identities of what its chart makes with its values."""
    try:
        keys = facts.chart_keys(source.chart, source.version)
    except KeyError:
        return source
    made = chart_objects(keys, source.values.data, source.release_name, namespace)
    return replace(source, objects=tuple(dict.fromkeys((*source.objects, *made))))


def _finish(
    app: Application, part: ComponentSpec, facts: ComponentFacts, mirrors: Mapping[str, str]
) -> Application:
    """Lay the user's overlay, chart mirrors and sync choices over one planned Application."""
    sources = tuple(_mirrored(_finish_source(source, app, part, facts), mirrors) for source in app.sources)
    sync = part.sync
    is_main = any(_is_main(source, facts) for source in sources)
    pruning = {None: app.pruning, True: Pruning.ON, False: Pruning.OFF}[sync.prune]
    return replace(
        app,
        sources=sources,
        wave=sync.wave if sync.wave is not None and is_main else app.wave,
        pruning=pruning,
        automated=app.automated if sync.automated is None else sync.automated,
        sync_options=tuple(dict.fromkeys((*app.sync_options, *sync.sync_options))),
    )


def _mirrored(source: Source, mirrors: Mapping[str, str]) -> Source:
    if isinstance(source, HelmSource) and source.repo_url in mirrors:
        return replace(source, repo_url=mirrors[source.repo_url], upstream_url=source.repo_url)
    return source


def _finish_source(source: Source, app: Application, part: ComponentSpec, facts: ComponentFacts) -> Source:
    if not isinstance(source, HelmSource):
        return source
    if _is_main(source, facts) and part.values:
        values = overlay(source.values, part.values, _overlay_path(part.name))
        source = replace(source, values=values)
    return known_objects(source, facts, app.namespace)


def _is_main(source: Source, facts: ComponentFacts) -> bool:
    """The component's first chart is the one that the raw `values` belong to."""
    match facts.data.get("charts"):
        case [{"name": str(name)}, *_]:
            return isinstance(source, HelmSource) and source.chart == name
    return False


def _overlay_path(component: str) -> Path:
    return ("spec", "components", component, "values")


def _values_findings(
    apps: Iterable[Application], spec: ClusterSpec, components: Iterable[Component]
) -> Iterator[Diagnostic]:
    facts = {item.name: item.facts for item in components}
    for app in apps:
        part, known = spec.components[app.component], facts[app.component]
        for source in app.sources:
            if isinstance(source, HelmSource) and _is_main(source, known) and part.values:
                keys = known.chart_keys(source.chart, source.version)
                yield from check_values(part.values, keys, _overlay_path(part.name))
                yield from secret_values(part.values, keys, _overlay_path(part.name))


def _unreachable_charts(spec: ClusterSpec, apps: Iterable[Application]) -> Iterator[Diagnostic]:
    """Without the Internet, Argo CD needs the charts from somewhere else, too."""
    charts = {
        source.repo_url: source.chart
        for app in apps
        for source in app.sources
        if isinstance(source, HelmSource) and not source.upstream_url
    }
    for url, chart in sorted(charts.items()) if spec.air_gap else ():
        yield Diagnostic(
            code="chart-not-mirrored",
            severity=Severity.WARNING,
            message=f"airGap is on, but Argo CD would read chart {chart} from {url}",
            path=("spec", "airGap"),
            hint=f'add registry.charts: {{"{url}": https://…}}, or accept this where Argo CD itself '
            "reaches the Internet",
        )


def _delivery(spec: ClusterSpec) -> Iterator[Diagnostic]:
    if spec.gitops.delivery != "multi-source":
        yield Diagnostic(
            code="delivery-not-available",
            message=f'delivery "{spec.gitops.delivery}" cannot be rendered by this version yet',
            path=("spec", "gitops", "delivery"),
            hint="leave it out: `multi-source` gives Argo CD the upstream chart and our values",
        )


def _unknown_window_apps(spec: ClusterSpec, apps: Iterable[Application]) -> Iterator[Diagnostic]:
    names = sorted(app.name for app in apps)
    for index, window in enumerate(spec.argocd.sync_windows):
        for place, name in enumerate(window.apps):
            if name not in names:
                yield Diagnostic(
                    code="unknown-app",
                    message=f'sync window names "{name}", but this cluster has no such app',
                    path=("spec", "argocd", "syncWindows", index, "apps", place),
                    hint=f"apps of this cluster: {', '.join(names)}",
                )


def locked_state(spec: ClusterSpec, apps: Iterable[Application]) -> State:
    """Return what may not change silently, by app; `root` stands for the cluster as a whole.

    With another name, Argo CD or destination the old root would take its stacks down while the
    new one is not applied yet.
    """
    to = spec.argocd.destination
    own: dict[str, Json] = {
        "metadata.name": spec.name,
        "spec.argocd.namespace": spec.argocd.namespace,
        "spec.argocd.destination": to.name or to.server or "in-cluster",
    }
    return {"root": own, **{app.name: app.state for app in apps if app.state}}


def _state_changes(spec: ClusterSpec, state: State, previous: State) -> Iterator[Diagnostic]:
    for app, values in state.items():
        known = previous.get(app, {})
        for path, value in values.items():
            if path in known and known[path] != value and not _accepted(spec, path, known[path], value):
                yield _state_change(app, path, state_text(known[path]), state_text(value))


def state_text(value: Json) -> str:
    """Write a locked value as YAML would: strings as they are, the rest as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _accepted(spec: ClusterSpec, path: str, old: Json, new: Json) -> bool:
    return any(
        item.code == "locked-state-changed"
        and item.path == path
        and item.from_value == state_text(old)
        and item.to_value == state_text(new)
        for item in spec.accept
    )


def _state_change(app: str, path: str, old: str, new: str) -> Diagnostic:
    what = "this cluster" if app == "root" else f"app {app}"
    return Diagnostic(
        code="locked-state-changed",
        message=f'{path} was "{old}" at the last render of {what} and is "{new}" now: '
        "changing it loses data or tears running workloads down",
        path=parse_path(path),
        hint=f'set it back to "{old}", or release the change under spec.accept: '
        f'{{code: locked-state-changed, path: {path}, from: "{old}", to: "{new}", reason: …}}',
    )
