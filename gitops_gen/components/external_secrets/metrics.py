"""A cluster spec in, the Application that lets Prometheus scrape External Secrets out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops_gen.model import (
    Application,
    ClusterSpec,
    ComponentFacts,
    DirectorySource,
    Json,
    Manifest,
    Setting,
    from_fact,
    from_rule,
    from_spec,
)
from gitops_gen.traced import collect, put

_WAVE = -20
_AFTER = from_rule(
    "ServiceMonitors come after monitoring, which comes after External Secrets: "
    "in the chart's own Application its kind would not exist yet"
)


def metrics_application(spec: ClusterSpec, facts: ComponentFacts) -> Application:
    """Return the Application `external-secrets-metrics` with one ServiceMonitor."""
    part = spec.components[facts.name]
    monitor = collect(_service_monitor(spec, facts, part.namespace))
    return Application(
        name="external-secrets-metrics",
        component=facts.name,
        stack=facts.stack,
        namespace=part.namespace,
        wave=_WAVE,
        sources=(DirectorySource(manifests=(Manifest(object=monitor),)),),
        origins=(from_spec("components", "monitoring"), _AFTER),
    )


def _service_monitor(spec: ClusterSpec, facts: ComponentFacts, namespace: str) -> Iterator[Setting]:
    metrics: Any = facts.data["metrics"]
    charts: Any = facts.data["charts"]
    on = from_spec("components", "monitoring")
    fact = from_fact(f"external_secrets/component.yaml: metrics ({metrics['source']})")
    yield put("apiVersion", "monitoring.coreos.com/v1", on)
    yield put("kind", "ServiceMonitor", on)
    yield put("metadata.name", charts[0]["name"], on)
    yield put("metadata.namespace", namespace, from_spec("components", facts.name, "namespace"))
    labels: Json = dict(spec.service_monitor_labels)
    if labels:
        yield put("metadata.labels", labels, on)
    yield put("spec.jobLabel", "app.kubernetes.io/name", fact)
    label = ("spec", "selector", "matchLabels", "app.kubernetes.io/instance")
    yield put(label, charts[0]["name"], fact)
    endpoint: Json = {"port": metrics["port"], "path": "/metrics"}
    yield put("spec.endpoints[]", endpoint, fact)
