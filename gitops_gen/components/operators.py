"""What plain operators have alike: mirrored images, replicas spread over nodes, the proxy, metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from gitops_gen.components.parts import fact_file
from gitops_gen.images import mirrored, split_registry
from gitops_gen.model import (
    Application,
    ClusterSpec,
    ComponentFacts,
    DirectorySource,
    Json,
    Manifest,
    Object,
    Origin,
    Setting,
    from_fact,
    from_rule,
    from_spec,
)
from gitops_gen.traced import collect, parse_path, put

_METRICS_WAVE = -20
_KEPT = from_rule("with a CRD goes every object of its kind, and what these objects own")


def mirrored_images(spec: ClusterSpec, images: Any, fact: Origin) -> Iterator[Setting]:
    """Yield registry and repository of each of `images["used"]` that has a mirror.

    An item names the `image` and the `key` of its map in the values; `whole: true` says that the
    chart has no key for the registry and takes it as a part of the repository.
    """
    for item in images["used"]:
        found = mirrored(item["image"], spec.registry.mirrors)
        if found is None:
            continue
        mirror, origin = found
        if item.get("whole"):
            yield put(f"{item['key']}.repository", mirror, origin, fact)
        else:
            yield from _split_image(item["key"], item["image"], mirror, origin, fact)


def _split_image(key: str, image: str, mirror: str, *origins: Origin) -> Iterator[Setting]:
    """The mirror of a whole registry leaves the repository behind it as it is."""
    _, path = split_registry(image)
    registry = mirror.removesuffix(f"/{path}")
    if registry == mirror:
        registry, path = split_registry(mirror)
        yield put(f"{key}.repository", path, *origins)
    yield put(f"{key}.registry", registry, *origins)


def pull_secret_names(spec: ClusterSpec, key: str) -> Iterator[Setting]:
    """Yield the pull Secrets of the spec as the list of references that pods take."""
    if spec.registry.pull_secrets:
        names: list[Json] = [{"name": name} for name in spec.registry.pull_secrets]
        yield put(key, names, from_spec("registry", "pullSecrets"))


def spread_over_nodes(labels: Mapping[str, str]) -> Object:
    """Return a constraint for pods with these labels, none where the chart adds its own.

    A cluster of one node still runs them all.
    """
    constraint: Object = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
    }
    if labels:
        constraint["labelSelector"] = {"matchLabels": dict(labels)}
    return constraint


def kept_definitions(key: str) -> Iterator[Setting]:
    """Yield the annotation, below the map `key`, by which Argo CD never deletes the chart's CRDs."""
    path = (*parse_path(key), "argocd.argoproj.io/sync-options")
    yield put(path, "Prune=false,Delete=false", _KEPT)


def proxy_environment(spec: ClusterSpec, key: str, exceptions: Iterable[str] = ()) -> Iterator[Setting]:
    """Yield the proxy as a list of environment variables, one item each.

    `exceptions` are names that the operator must reach directly, added to those of the spec.
    """
    proxy = spec.proxy
    if proxy.http is None and proxy.https is None:
        return
    direct = dict.fromkeys((*proxy.no_proxy, *exceptions))
    wanted = {"HTTP_PROXY": proxy.http, "HTTPS_PROXY": proxy.https, "NO_PROXY": ",".join(direct) or None}
    fields = {"HTTP_PROXY": "http", "HTTPS_PROXY": "https", "NO_PROXY": "noProxy"}
    for name, value in wanted.items():
        if value is not None:
            variable: Json = {"name": name, "value": value}
            yield put(f"{key}[]", variable, from_spec("proxy", fields[name]))


def metrics_application(spec: ClusterSpec, facts: ComponentFacts, title: str, endpoint: Json) -> Application:
    """Return the Application `<chart>-metrics` with one ServiceMonitor for all Services of the chart.

    It is for operators that come before monitoring: beside their chart, its kind would not exist yet.
    """
    part = spec.components[facts.name]
    chart = str(cast(Any, facts.data)["charts"][0]["name"])
    monitor = collect(_service_monitor(spec, facts, chart, endpoint))
    after = from_rule(
        f"ServiceMonitors come after monitoring, which comes after {title}: "
        "in the chart's own Application its kind would not exist yet"
    )
    return Application(
        name=f"{chart}-metrics",
        component=facts.name,
        stack=facts.stack,
        namespace=part.namespace,
        wave=_METRICS_WAVE,
        sources=(DirectorySource(manifests=(Manifest(object=monitor),)),),
        origins=(from_spec("components", "monitoring"), after),
    )


def _service_monitor(
    spec: ClusterSpec, facts: ComponentFacts, chart: str, endpoint: Json
) -> Iterator[Setting]:
    metrics: Any = facts.data["metrics"]
    on = from_spec("components", "monitoring")
    fact = from_fact(f"{fact_file(facts)}: metrics ({metrics['source']})")
    yield put("apiVersion", "monitoring.coreos.com/v1", on)
    yield put("kind", "ServiceMonitor", on)
    yield put("metadata.name", chart, on)
    namespace = spec.components[facts.name].namespace
    yield put("metadata.namespace", namespace, from_spec("components", facts.name, "namespace"))
    if spec.service_monitor_labels:
        yield put("metadata.labels", dict(spec.service_monitor_labels), on)
    yield put("spec.jobLabel", "app.kubernetes.io/name", fact)
    yield put(("spec", "selector", "matchLabels", "app.kubernetes.io/instance"), chart, fact)
    yield put("spec.endpoints[]", endpoint, fact)
