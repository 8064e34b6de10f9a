"""Plain data that passed the schema in, a typed ClusterSpec out; switches on what is required."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from gitops_gen.devices import unclaimed
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.model import (
    Accept,
    ArgoCD,
    Catalog,
    ClusterSpec,
    Component,
    ComponentSpec,
    Gitops,
    Kubernetes,
    NodePool,
    PoolResources,
    Proxy,
    Registry,
    Secrets,
    Storage,
    Sync,
)
from gitops_gen.spec.place import default_path
from gitops_gen.spec.schema import fill_component, fill_defaults
from gitops_gen.spec.source_map import SourceMap

_COMMON = ("enabled", "provided", "version", "namespace", "values", "sync")
_Words = TypeVar("_Words")


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """The typed spec and what the build stage has to say about it."""

    spec: ClusterSpec
    diagnostics: tuple[Diagnostic, ...]


def build_spec(
    written: Mapping[str, Any],
    schema: Mapping[str, Any],
    components: Sequence[Component],
    source: str,
) -> Built:
    """Build the spec from merged data that passed `schema`; `source` is its file in the repository.

    A component that another one requires is switched on with a notice; one that was switched
    off with `enabled: false` is an error. Components are in the order of their names.
    """
    chosen, diagnostics = _choose(written["spec"].get("components", {}), components, schema)
    data = fill_defaults(_with_parts(written, chosen), schema)
    body = data["spec"]
    parts: Mapping[str, Mapping[str, Any]] = body["components"]
    named = {
        item.name: _component(item, parts[item.name], chosen.get(item.name, ()))
        for item in components
        if item.name in parts
    }
    built = {name: part for name, part in named.items() if name in chosen}
    gitops = _words(body["gitops"], Gitops)
    name = data["metadata"]["name"]
    spec = ClusterSpec(
        name=name,
        labels=data["metadata"].get("labels", {}),
        source=source,
        path=gitops.path if gitops.path is not None else default_path(source, name),
        env=body.get("env", "prod"),
        kubernetes=_words(body["kubernetes"], Kubernetes),
        gitops=gitops,
        argocd=_words(body.get("argocd", {}), ArgoCD),
        storage=_words(body.get("storage", {}), Storage),
        secrets=_words(body.get("secrets", {}), Secrets),
        registry=_words(body.get("registry", {}), Registry),
        proxy=_words(body.get("proxy", {}), Proxy),
        air_gap=body.get("airGap", False),
        node_pools=_words(body.get("nodePools", []), tuple[NodePool, ...]),
        accept=_words(body.get("accept", []), tuple[Accept, ...]),
        components=built,
        retired={name: part for name, part in named.items() if name not in chosen},
        service_monitor_labels=_service_monitor_labels(parts, built, components),
        prometheus_url=_prometheus_url(parts, built, components),
    )
    return Built(spec=spec, diagnostics=tuple(diagnostics))


def advertise(spec: ClusterSpec, components: Sequence[Component], catalog: Catalog) -> ClusterSpec:
    """Return the spec with what the nodes of each pool advertise, joined over the components.

    Devices of a pool that no component speaks for count whole.
    """
    found = [
        resources for item in components if item.name in spec.components for resources in item.advertise(spec)
    ]
    joined: dict[str, PoolResources] = {}
    for item in (*found, *unclaimed(spec, found, catalog)):
        joined[item.pool] = _join(joined[item.pool], item) if item.pool in joined else item
    order = [pool.name for pool in spec.node_pools]
    return replace(spec, resources=tuple(joined[name] for name in order if name in joined))


def silently_off(spec: ClusterSpec, source_map: SourceMap) -> Iterator[Diagnostic]:
    """Warn of each component that the spec names without saying whether it is on.

    Only the spec's own file is meant: a base holds settings for whichever cluster wants them.
    """
    for name in spec.retired:
        path = ("spec", "components", name)
        at = source_map.key(path)
        if at is not None and at.file == spec.source and not source_map.has((*path, "enabled")):
            yield Diagnostic(
                code="component-not-enabled",
                severity=Severity.WARNING,
                message=f"{name} stands in the spec without `enabled`, so it is not installed",
                path=path,
                on_key=True,
                hint="write `enabled: true` to install it, `enabled: false` to keep its lines for later, "
                "or `provided: true` if somebody else runs it",
            )


def _join(first: PoolResources, second: PoolResources) -> PoolResources:
    return replace(
        first,
        resources={**first.resources, **second.resources},
        labels={**first.labels, **second.labels},
        whole_node={**first.whole_node, **second.whole_node},
        networks=(*first.networks, *second.networks),
        product=first.product or second.product,
    )


def _with_parts(written: Mapping[str, Any], chosen: Iterable[str]) -> dict[str, Any]:
    body = written["spec"]
    parts = {**{name: {} for name in chosen}, **body.get("components", {})}
    return {**written, "spec": {**body, "components": parts}}


def _words(data: object, kind: type[_Words]) -> _Words:
    return msgspec.convert(data, kind)


def _choose(
    parts: Mapping[str, Mapping[str, Any]], components: Sequence[Component], schema: Mapping[str, Any]
) -> tuple[dict[str, tuple[str, ...]], list[Diagnostic]]:
    """Return the components that are on, each with the names of those that require it."""
    known = {item.name: item for item in components}
    chosen: dict[str, tuple[str, ...]] = {
        name: () for name, part in parts.items() if part.get("enabled") or part.get("provided")
    }
    diagnostics: list[Diagnostic] = []
    queue = sorted(chosen)
    while queue:
        name = queue.pop(0)
        if parts.get(name, {}).get("provided"):
            continue
        part = fill_component(name, parts.get(name, {}), schema)
        for wanted, reason in _required(known[name], part):
            if wanted not in chosen:
                diagnostics.append(_switched_on(wanted, name, reason, parts))
                queue.append(wanted)
            chosen[wanted] = (*chosen.get(wanted, ()), name)
    return chosen, diagnostics


def _required(item: Component, part: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for requirement in item.facts.requires:
        if requirement.when is None or _holds(requirement.when, part):
            yield requirement.component, requirement.reason


def _holds(condition: str, part: Mapping[str, Any]) -> bool:
    path, equals, wanted = condition.partition("=")
    found = list(_found(part, path.split(".")))
    return any(str(value) == wanted for value in found) if equals else any(found)


def _found(value: Any, keys: Sequence[str]) -> Iterator[Any]:
    """Yield what stands at a path; `[]` behind a key goes into each item of a list."""
    if not keys:
        yield value
    elif isinstance(value, Mapping) and keys[0].removesuffix("[]") in value:
        below = value[keys[0].removesuffix("[]")]
        for one in below if keys[0].endswith("[]") else (below,):
            yield from _found(one, keys[1:])


def _switched_on(wanted: str, by: str, reason: str, parts: Mapping[str, Mapping[str, Any]]) -> Diagnostic:
    if parts.get(wanted, {}).get("enabled") is False:
        return Diagnostic(
            code="required-component-disabled",
            message=f"{wanted} is switched off, but {by} requires it: {reason}",
            path=("spec", "components", wanted, "enabled"),
            hint=f"remove `enabled: false`, or write `provided: true` if somebody else runs {wanted}",
        )
    return Diagnostic(
        code="component-required",
        severity=Severity.NOTICE,
        message=f"{wanted} is switched on because {by} requires it: {reason}",
        path=("spec", "components", by),
        on_key=True,
    )


def _component(item: Component, part: Mapping[str, Any], required_by: tuple[str, ...]) -> ComponentSpec:
    own = {key: value for key, value in part.items() if key not in _COMMON}
    return ComponentSpec(
        name=item.name,
        version=part.get("version") or item.facts.version,
        namespace=part.get("namespace") or item.facts.namespace,
        settings=item.build(own),
        provided=part.get("provided", False),
        values=part.get("values", {}),
        sync=_words(part.get("sync", {}), Sync),
        required_by=required_by,
    )


def _service_monitor_labels(
    parts: Mapping[str, Mapping[str, Any]],
    built: Mapping[str, ComponentSpec],
    components: Sequence[Component],
) -> Mapping[str, str]:
    """Return what the cluster's Prometheus selects by: ours by the facts, a provided one as its user says."""
    for item in components:
        labels = item.facts.data.get("serviceMonitorLabels")
        if item.name in built and isinstance(labels, dict):
            provided = built[item.name].provided
            wanted = (parts[item.name].get("serviceMonitorLabels") or {}) if provided else labels
            return {key: str(value) for key, value in wanted.items()}
    return {}


def _prometheus_url(
    parts: Mapping[str, Mapping[str, Any]],
    built: Mapping[str, ComponentSpec],
    components: Sequence[Component],
) -> str:
    """Return where the cluster's Prometheus answers: ours by the facts, a provided one as its user says."""
    for item in components:
        match item.facts.data.get("prometheus"):
            case {"service": str(service), "port": int(port)} if item.name in built:
                if built[item.name].provided:
                    return str(parts[item.name].get("prometheusURL") or "")
                return f"http://{service}.{built[item.name].namespace}.svc:{port}"
    return ""
