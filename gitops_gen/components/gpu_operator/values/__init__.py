"""A cluster in, the values of the gpu-operator chart out: only what the spec or a fact decides."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.gpu_operator.context import Context
from gitops_gen.components.gpu_operator.values.driver import driver_values
from gitops_gen.components.gpu_operator.values.environment import environment_values
from gitops_gen.components.gpu_operator.values.features import feature_values
from gitops_gen.components.gpu_operator.values.metrics import metrics_values
from gitops_gen.components.gpu_operator.values.placement import placement_values
from gitops_gen.components.gpu_operator.values.registry import registry_values
from gitops_gen.components.gpu_operator.values.sharing import sharing_values
from gitops_gen.model import Setting, from_rule
from gitops_gen.traced import put

_CRDS = from_rule("Argo CD applies the CRDs itself; the chart's hook would rewrite them before every sync")
_LABELS = from_rule("the hook would strip the labels of Node Feature Discovery off every node")


def chart_values(context: Context) -> Iterator[Setting]:
    """Yield the settings in the order in which they are written.

    With a GPUCluster the chart makes no ClusterPolicy and reads only some of its values.
    """
    reads = context.facts.gpu_cluster.reads
    for setting in _all_values(context):
        if not context.settings.gpu_cluster.enabled or setting.path[0] in reads:
            yield setting


def _all_values(context: Context) -> Iterator[Setting]:
    yield put("operator.upgradeCRD", False, _CRDS)
    yield from environment_values(context)
    yield from driver_values(context)
    yield from sharing_values(context)
    yield from feature_values(context)
    yield from metrics_values(context)
    yield from placement_values(context)
    yield from registry_values(context)
    if context.nfd_enabled:
        yield put("node-feature-discovery.postDeleteCleanup", False, _LABELS)
