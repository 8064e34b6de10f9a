"""Optional features in, their values out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.gpu_operator.context import Context, own
from gitops_gen.model import Json, Setting, from_fact
from gitops_gen.traced import put


def feature_values(context: Context) -> Iterator[Setting]:
    """Yield GPUDirect, device injection, virtual machines and the GPUCluster."""
    settings = context.settings
    if settings.gds:
        yield put("gds.enabled", True, own("gds"))
    if settings.gdrcopy:
        yield put("gdrcopy.enabled", True, own("gdrcopy"))
    if not settings.cdi.enabled:
        yield put("cdi.enabled", False, own("cdi", "enabled"))
    if settings.cdi.nri:
        yield put("cdi.nriPluginEnabled", True, own("cdi", "nri"))
    yield from _sandbox(context)
    yield from _gpu_cluster(context)


def _sandbox(context: Context) -> Iterator[Setting]:
    sandbox = context.settings.sandbox_workloads
    if sandbox.mode == "none":
        return
    mode = own("sandboxWorkloads", "mode")
    yield put("sandboxWorkloads.enabled", True, mode)
    if sandbox.default_workload != context.default("sandboxWorkloads.defaultWorkload"):
        default = own("sandboxWorkloads", "defaultWorkload")
        yield put("sandboxWorkloads.defaultWorkload", sandbox.default_workload, default)
    if sandbox.mode == "kata":
        yield put("sandboxWorkloads.mode", "kata", mode)
        rules = from_fact("gpu-operator: Kata needs the labels of the chart's node feature rules")
        yield put("nfd.nodefeaturerules", True, mode, rules)
    yield from _vgpu_manager(context)


def _vgpu_manager(context: Context) -> Iterator[Setting]:
    manager = context.settings.sandbox_workloads.vgpu_manager
    if manager is None:
        return
    place = ("sandboxWorkloads", "vgpuManager")
    yield put("vgpuManager.enabled", True, own(*place))
    yield put("vgpuManager.repository", manager.repository, own(*place, "repository"))
    if manager.image != context.default("vgpuManager.image"):
        yield put("vgpuManager.image", manager.image, own(*place, "image"))
    yield put("vgpuManager.version", manager.version, own(*place, "version"))


def _gpu_cluster(context: Context) -> Iterator[Setting]:
    cluster = context.settings.gpu_cluster
    if not cluster.enabled:
        return
    yield put("clusterPolicy.deployCR", False, own("gpuCluster", "enabled"))
    yield put("gpuCluster.deployCR", True, own("gpuCluster", "enabled"))
    if not cluster.compute_domains:
        yield put(
            "draDriver.computeDomains.enabled",
            False,
            own("gpuCluster", "computeDomains"),
        )
    if cluster.feature_gates:
        gates: dict[str, Json] = dict(cluster.feature_gates)
        yield put("draDriver.featureGates", gates, own("gpuCluster", "featureGates"))
