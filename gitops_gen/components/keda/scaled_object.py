"""What to scale, by which query and how far in; KEDA's ScaledObject out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from gitops_gen.model import Json, Origin, Setting, Traced, from_rule
from gitops_gen.traced import collect, put

_LONGEST_STABILIZATION = 3600
_OTHER_APP = from_rule("the CRD comes with KEDA, which another Application installs")
_SCALE_DOWN = from_rule(
    "KEDA's own cooldown counts only from one replica to none; above that the autoscaler's window does"
)


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """The object to scale: any kind with a scale subresource, in the ScaledObject's namespace."""

    api_version: str
    kind: str
    name: str


class PrometheusQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A query that returns one number, and the number that one replica stands for.

    With `AverageValue` the autoscaler wants the number divided by `threshold` replicas; with
    `Value` it compares the number itself with `threshold`. `threshold` is a number as text.
    """

    server_address: str
    query: str
    threshold: str
    metric_type: Literal["AverageValue", "Value"] = "AverageValue"


class Fallback(msgspec.Struct, frozen=True, kw_only=True):
    """How many replicas there are once the query has failed that many times in a row."""

    failure_threshold: int
    replicas: int


class Scaling(msgspec.Struct, frozen=True, kw_only=True):
    """One ScaledObject; `cooldown` is in seconds."""

    name: str
    namespace: str
    target: Target
    min_replicas: int
    max_replicas: int
    trigger: PrometheusQuery
    cooldown: int = 300
    fallback: Fallback | None = None


def scaled_object(scaling: Scaling, *origins: Origin) -> Traced:
    """Return the ScaledObject (`keda.sh/v1alpha1`), each part with the given origins.

    A replica is taken away only after `cooldown` seconds (at most an hour above one replica).
    ValueError where KEDA's webhook would refuse it: fewer replicas at most than at least, or a
    fallback for a metric that is not an average.
    """
    if not 0 <= scaling.min_replicas <= scaling.max_replicas or scaling.max_replicas < 1:
        raise ValueError(f"replicas from {scaling.min_replicas} to {scaling.max_replicas} are no range")
    if scaling.fallback is not None and scaling.trigger.metric_type != "AverageValue":
        raise ValueError(f"KEDA takes no fallback for metrics of type {scaling.trigger.metric_type}")
    return collect(_settings(scaling, *origins))


def _settings(scaling: Scaling, *origins: Origin) -> Iterator[Setting]:
    yield put("apiVersion", "keda.sh/v1alpha1", *origins)
    yield put("kind", "ScaledObject", *origins)
    yield put("metadata.name", scaling.name, *origins)
    yield put("metadata.namespace", scaling.namespace, *origins)
    option = ("metadata", "annotations", "argocd.argoproj.io/sync-options")
    yield put(option, "SkipDryRunOnMissingResource=true", _OTHER_APP)
    yield put("spec.scaleTargetRef.apiVersion", scaling.target.api_version, *origins)
    yield put("spec.scaleTargetRef.kind", scaling.target.kind, *origins)
    yield put("spec.scaleTargetRef.name", scaling.target.name, *origins)
    yield put("spec.minReplicaCount", scaling.min_replicas, *origins)
    yield put("spec.maxReplicaCount", scaling.max_replicas, *origins)
    yield put("spec.cooldownPeriod", scaling.cooldown, *origins)
    window = "spec.advanced.horizontalPodAutoscalerConfig.behavior.scaleDown.stabilizationWindowSeconds"
    yield put(window, min(scaling.cooldown, _LONGEST_STABILIZATION), *origins, _SCALE_DOWN)
    if scaling.fallback is not None:
        yield put("spec.fallback.failureThreshold", scaling.fallback.failure_threshold, *origins)
        yield put("spec.fallback.replicas", scaling.fallback.replicas, *origins)
    yield put("spec.triggers[]", _trigger(scaling.trigger), *origins)


def _trigger(trigger: PrometheusQuery) -> Json:
    return {
        "type": "prometheus",
        "metricType": trigger.metric_type,
        "metadata": {
            "serverAddress": trigger.server_address,
            "query": trigger.query,
            "threshold": trigger.threshold,
        },
    }
