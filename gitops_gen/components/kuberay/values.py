"""A cluster spec in, the values of the kuberay-operator chart out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops_gen.components.kuberay.settings import Operator
from gitops_gen.images import mirrored
from gitops_gen.model import (
    ClusterSpec,
    ComponentFacts,
    Json,
    Object,
    ObjectIdentity,
    Origin,
    Setting,
    from_fact,
    from_rule,
    from_spec,
)
from gitops_gen.traced import put

_OWN = ("components", "kuberay", "operator")
_LEAST = from_rule("an operator of some namespaces needs no rights in the others")


def chart_values(spec: ClusterSpec, operator: Operator, facts: ComponentFacts) -> Iterator[Setting]:
    """Yield the settings of the chart in the order in which they are written."""
    data: Any = facts.data
    yield from _replicas(operator, data["pods"])
    yield from _image(spec, data["image"])
    if operator.node_selector:
        yield put("nodeSelector", dict(operator.node_selector), from_spec(*_OWN, "nodeSelector"))
    if operator.tolerations:
        wanted: list[Json] = [dict(item) for item in operator.tolerations]
        yield put("tolerations", wanted, from_spec(*_OWN, "tolerations"))
    if operator.namespaces:
        watched = from_spec(*_OWN, "namespaces")
        yield put("watchNamespace", list(operator.namespaces), watched)
        yield put("singleNamespaceInstall", True, watched, _LEAST)
    yield from _service_monitor(spec)


def watched_roles(operator: Operator, data: Any) -> Iterator[ObjectIdentity]:
    """Yield the Roles and RoleBindings that the chart makes in each watched namespace."""
    for namespace in operator.namespaces:
        for kind in ("Role", "RoleBinding"):
            yield ObjectIdentity(
                group="rbac.authorization.k8s.io",
                kind=kind,
                name=data["roles"]["name"],
                namespace=namespace,
            )


def _replicas(operator: Operator, pods: Any) -> Iterator[Setting]:
    if operator.replicas == 1:
        return
    several = from_spec(*_OWN, "replicas")
    apart: Object = {
        "weight": 100,
        "podAffinityTerm": {
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": {"matchLabels": {pods["label"]: pods["value"]}},
        },
    }
    term = "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution"
    yield put("replicas", operator.replicas, several)
    yield put(term, [apart], several, _fact(pods, "pods"))


def _image(spec: ClusterSpec, image: Any) -> Iterator[Setting]:
    found = mirrored(image["repository"], spec.registry.mirrors)
    if found is not None:
        yield put(image["key"], found[0], found[1], _fact(image, "image"))
    if spec.registry.pull_secrets:
        names: list[Json] = [{"name": name} for name in spec.registry.pull_secrets]
        yield put("imagePullSecrets", names, from_spec("registry", "pullSecrets"))


def _service_monitor(spec: ClusterSpec) -> Iterator[Setting]:
    if "monitoring" not in spec.components:
        return
    on = from_spec("components", "monitoring")
    yield put("metrics.serviceMonitor.enabled", True, on)
    if spec.service_monitor_labels:
        yield put("metrics.serviceMonitor.additionalLabels", dict(spec.service_monitor_labels), on)


def _fact(data: Any, what: str) -> Origin:
    return from_fact(f"kuberay/component.yaml: {what} ({data['source']})")
