"""Node sets that KEDA scales in, what keeps them from growing and shrinking out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.slurm.context import Context
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.settings import Scaling
from gitops_gen.diagnostics import Path


def scaling(context: Context) -> Iterator[Finding]:
    """Yield what keeps a node set from growing and shrinking by itself."""
    for worker in context.autoscaled:
        path: Path = ("nodeSets", worker.index, "replicas")
        bounds = worker.scaled
        assert isinstance(bounds, Scaling)
        if bounds.min > bounds.max:
            yield Finding(
                code="slurm-scaling-range",
                message=f"at least {bounds.min} and at most {bounds.max} nodes is no range",
                hint=f"write {{min: {bounds.max}, max: {bounds.min}}}",
                path=path,
            )
        if bounds.min == 0:
            yield Finding(
                code="slurm-scaling-zero",
                level="warning",
                message="Slurm refuses a job at once while its partition has no node that ever registered "
                "(Requested node configuration is not available), so that nothing waits and nothing grows",
                hint="write min: 1, or accept this after a try on your own cluster",
                path=(*path, "min"),
            )
        yield from _scaled_by(context, path)


def _scaled_by(context: Context, path: Path) -> Iterator[Finding]:
    asked, metrics = context.settings.controller, context.metrics
    reason = None
    if asked.external is not None:
        reason = ("slurmctld runs elsewhere", "write a fixed number")
    elif metrics is not None and not metrics.service_monitor:
        reason = ("controller.metrics.serviceMonitor is off", "leave serviceMonitor out")
    elif metrics is not None and not {"nodes", "partitions"} <= set(metrics.endpoints):
        reason = ("controller.metrics.endpoints leaves out nodes or partitions", "add nodes and partitions")
    elif not context.spec.prometheus_url:
        reason = ("nobody says where Prometheus answers", "write monitoring.prometheusURL")
    if reason is not None:
        yield Finding(
            code="slurm-scaling-metrics",
            message=f"KEDA counts busy nodes and waiting jobs by Prometheus, but {reason[0]}",
            hint=reason[1],
            path=path,
        )
    elif not asked.metrics:
        yield Finding(
            code="slurm-scaling-needs-metrics",
            level="notice",
            message="slurmctld's metrics are on, since a node set is scaled by them",
            hint="write controller.metrics: true to say so yourself",
            path=path,
        )
