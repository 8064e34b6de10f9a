"""Metrics settings and the monitoring component in, the values of DCGM and its exporter out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.gpu_operator.config_maps import metrics_config
from gitops_gen.components.gpu_operator.context import Context, environment, own
from gitops_gen.components.gpu_operator.settings import JobMapping
from gitops_gen.model import Json, Setting, from_fact, from_rule, from_spec
from gitops_gen.traced import put

_MONITORING = "monitoring"


def metrics_values(context: Context) -> Iterator[Setting]:
    """Yield the host engine, the exporter and how Prometheus finds it."""
    if context.settings.dcgm:
        yield put("dcgm.enabled", True, own("dcgm"))
    if not context.settings.dcgm_exporter.enabled:
        yield put("dcgmExporter.enabled", False, own("dcgmExporter", "enabled"))
        return
    yield from _service_monitor(context)
    yield from _job_mapping(context)
    yield from _exporter(context)


def service_monitor_wanted(context: Context) -> bool:
    """Say whether Prometheus shall find the exporter: as asked, else where monitoring is on."""
    asked = context.settings.dcgm_exporter.service_monitor
    return _MONITORING in context.spec.components if asked is None else asked


def _service_monitor(context: Context) -> Iterator[Setting]:
    exporter = context.settings.dcgm_exporter
    wanted = service_monitor_wanted(context)
    switch = "dcgmExporter.serviceMonitor.enabled"
    on = from_spec("components", _MONITORING)
    asked = () if exporter.service_monitor is None else (own("dcgmExporter", "serviceMonitor"),)
    if not wanted:
        why = asked or (from_rule("there is no ServiceMonitor CRD while monitoring is off"),)
        if context.default(switch) is True:
            yield put(switch, False, *why)
        return
    yield put(switch, True, *(asked or (on,)))
    labels: dict[str, Json] = {**context.spec.service_monitor_labels}
    for key, value in labels.items():
        path = ("dcgmExporter", "serviceMonitor", "additionalLabels", key)
        yield put(
            path,
            value,
            on,
            from_rule("the labels by which the cluster's Prometheus selects"),
        )
    for key, label in exporter.additional_labels.items():
        path = ("dcgmExporter", "serviceMonitor", "additionalLabels", key)
        yield put(path, label, own("dcgmExporter", "additionalLabels", key))
    if exporter.interval:
        yield put(
            "dcgmExporter.serviceMonitor.interval",
            exporter.interval,
            own("dcgmExporter", "interval"),
        )


def _job_mapping(context: Context) -> Iterator[Setting]:
    asked = context.settings.dcgm_exporter.slurm_job_mapping
    if asked is False:
        return
    origin = own("dcgmExporter", "slurmJobMapping")
    facts = context.facts.slurm_job_mapping
    yield put("dcgmExporter.hpcJobMapping.enabled", True, origin)
    if isinstance(asked, JobMapping):
        yield put("dcgmExporter.hpcJobMapping.directory", asked.directory, origin)
    else:
        usual = from_fact(facts.reference("folder of the job mapping"))
        yield put("dcgmExporter.hpcJobMapping.directory", facts.directory, origin, usual)


def _exporter(context: Context) -> Iterator[Setting]:
    exporter = context.settings.dcgm_exporter
    config = metrics_config(context)
    if config is not None:
        yield put("dcgmExporter.config.name", config.name, *config.origins)
    if exporter.pod_labels:
        yield put("dcgmExporter.enablePodLabels", True, own("dcgmExporter", "podLabels"))
    for name, value in exporter.env.items():
        for item in environment({name: value}):
            yield put("dcgmExporter.env[]", dict(item), own("dcgmExporter", "env", name))
