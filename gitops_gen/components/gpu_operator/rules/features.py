"""Optional features in, combinations that the chart, the API or the nodes refuse out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gitops_gen.components.gpu_operator.context import OWN, Context, Effective
from gitops_gen.diagnostics import Diagnostic, Path, Severity

_MONITOR = "dcgmExporter.serviceMonitor.enabled"
_NFD = "nfd.enabled"
_GPU = "nvidia.com/"


def feature_rules(context: Context, values: Effective) -> Iterator[Diagnostic]:
    """Yield findings on metrics, device injection, discovery and the namespace."""
    yield from _supported(context)
    yield from _service_monitor(context, values)
    yield from _injection(context, values)
    yield from _discovery(context, values)
    yield from _user_namespaces(context)


def _supported(context: Context) -> Iterator[Diagnostic]:
    settings = context.settings
    wanted: dict[str, tuple[bool, tuple[str, ...]]] = {
        "nri": (settings.cdi.nri, ("cdi", "nri")),
        "kata": (settings.sandbox_workloads.mode == "kata", ("sandboxWorkloads", "mode")),
        "gpuCluster": (settings.gpu_cluster.enabled, ("gpuCluster", "enabled")),
        "podLabels": (settings.dcgm_exporter.pod_labels, ("dcgmExporter", "podLabels")),
        "kubeletRootDir": (settings.kubelet_root_dir is not None, ("kubeletRootDir",)),
    }
    for feature, (asked, place) in wanted.items():
        if asked and feature not in context.version.supports:
            able = [name for name, facts in context.facts.versions.items() if feature in facts.supports]
            yield Diagnostic(
                code="feature-needs-newer-version",
                message=f"GPU Operator {context.part.version} does not know {'.'.join(place)}",
                path=("spec", *OWN, *place),
                hint=f"versions that do: {', '.join(able)}",
            )


def _service_monitor(context: Context, values: Effective) -> Iterator[Diagnostic]:
    wanted = values.get(_MONITOR) is True and values.get("dcgmExporter.enabled") is True
    if wanted and "monitoring" not in context.spec.components:
        yield Diagnostic(
            code="service-monitor-needs-monitoring",
            message="dcgmExporter.serviceMonitor needs the ServiceMonitor CRD, but monitoring is off",
            path=values.place(_MONITOR, *OWN, "dcgmExporter", "serviceMonitor"),
            hint="switch components.monitoring on (or write `provided: true` there), or leave "
            "serviceMonitor out",
        )


def _injection(context: Context, values: Effective) -> Iterator[Diagnostic]:
    nri = values.get("cdi.nriPluginEnabled") is True
    place = values.place("cdi.nriPluginEnabled", *OWN, "cdi", "nri")
    for path, name in (("cdi.enabled", "cdi.enabled"), ("toolkit.enabled", "the container toolkit")):
        if nri and values.get(path) is False:
            yield Diagnostic(
                code="nri-needs-cdi" if path == "cdi.enabled" else "nri-needs-toolkit",
                message=f"the NRI plugin works through {name}, which is off",
                path=place,
                hint=f"switch {name} on, or leave cdi.nri out",
            )
    if values.get("cdi.enabled") is False:
        yield Diagnostic(
            code="cdi-disabled",
            severity=Severity.WARNING,
            message="without CDI containers get their GPUs the legacy way, which CRI-O needs manual "
            "steps for and which MPS and RKE2 no longer expect",
            path=values.place("cdi.enabled", *OWN, "cdi", "enabled"),
            hint="leave cdi.enabled at true",
        )


# --- neighbours ----------------------------------------------------------------------------------


def _discovery(context: Context, values: Effective) -> Iterator[Diagnostic]:
    if values.in_overlay(_NFD) and values.get(_NFD) is True and not context.nfd_enabled:
        yield Diagnostic(
            code="two-node-feature-discoveries",
            message="gpuOperator.values switches Node Feature Discovery on, but somebody else runs it "
            "already: two of them fight over CRDs and labels",
            path=values.place(_NFD),
            hint="remove nfd.enabled from gpuOperator.values",
        )


def _user_namespaces(context: Context) -> Iterator[Diagnostic]:
    """Look at the raw values of every component: whatever asks for GPUs in a user namespace."""
    for name, other in context.spec.components.items():
        for key, value in other.values.items():
            if _asks_for_gpus(value):
                for place in _host_users(value, ("spec", "components", name, "values", key)):
                    yield Diagnostic(
                        code="user-namespace-without-gpu",
                        severity=Severity.WARNING,
                        message="pods with hostUsers: false cannot use the GPUs that the operator serves",
                        path=place,
                        hint="leave hostUsers out where pods use GPUs",
                    )


def _entries(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _asks_for_gpus(value: Any) -> bool:
    return any(str(key).startswith(_GPU) or _asks_for_gpus(item) for key, item in _entries(value))


def _host_users(value: Any, place: Path) -> Iterator[Path]:
    for key, item in _entries(value):
        if key == "hostUsers" and item is False:
            yield (*place, key)
        yield from _host_users(item, (*place, key))
