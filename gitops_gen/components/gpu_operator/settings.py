"""The component's own part of the spec, typed."""

from __future__ import annotations

from typing import Literal

import msgspec

from gitops_gen.model import Words

KernelModules = Literal["auto", "open", "proprietary"]
DriverType = Literal["gpu", "vgpu", "vgpu-host-manager"]
Workload = Literal["container", "vm-passthrough", "vm-vgpu"]


class MigSettings(Words, frozen=True, kw_only=True):
    """How MIG instances are advertised."""

    strategy: Literal["none", "single", "mixed"] = "single"


class Licensing(Words, frozen=True, kw_only=True):
    """vGPU licensing."""

    secret_name: str
    nls: bool = True


class WaitForCompletion(Words, frozen=True, kw_only=True):
    """Pods that are waited for before a node is upgraded."""

    pod_selector: str | None = None
    timeout_seconds: int | None = None


class GpuPodDeletion(Words, frozen=True, kw_only=True):
    """How pods that use GPUs are removed."""

    force: bool | None = None
    timeout_seconds: int | None = None
    delete_empty_dir: bool | None = None


class Drain(Words, frozen=True, kw_only=True):
    """Draining of whole nodes."""

    enable: bool | None = None
    force: bool | None = None
    pod_selector: str | None = None
    timeout_seconds: int | None = None
    delete_empty_dir: bool | None = None


class UpgradePolicy(Words, frozen=True, kw_only=True):
    """How the driver is upgraded on running nodes; None leaves the chart's choice."""

    auto_upgrade: bool | None = None
    max_parallel_upgrades: int | None = None
    max_unavailable: str | None = None
    wait_for_completion: WaitForCompletion = WaitForCompletion()
    gpu_pod_deletion: GpuPodDeletion = GpuPodDeletion()
    drain: Drain = Drain()


class PoolDriver(Words, frozen=True, kw_only=True):
    """What differs in the driver of one pool; None takes what all pools have."""

    version: str | None = None
    repository: str | None = None
    image: str | None = None
    kernel_module_type: KernelModules | None = None
    use_precompiled: bool | None = None
    driver_type: DriverType = "gpu"


class NvidiaDriverCRD(Words, frozen=True, kw_only=True):
    """NVIDIADriver objects in place of one driver for the whole cluster."""

    enabled: bool = False
    per_pool: bool = True
    pools: dict[str, PoolDriver] = {}


class DriverSettings(Words, frozen=True, kw_only=True):
    """The driver on pools whose driver the operator brings."""

    version: str | None = None
    repository: str | None = None
    image: str | None = None
    image_pull_secrets: tuple[str, ...] = ()
    kernel_module_type: KernelModules | None = None
    use_precompiled: bool = False
    rdma: bool = False
    env: dict[str, str] = {}
    env_secret: str | None = None
    repo_config_map: str | None = None
    cert_config_map: str | None = None
    kernel_module_config_map: str | None = None
    licensing: Licensing | None = None
    virtual_topology_config_map: str | None = None
    upgrade_policy: UpgradePolicy = UpgradePolicy()
    nvidia_driver_crd: NvidiaDriverCRD = msgspec.field(name="nvidiaDriverCRD", default=NvidiaDriverCRD())


class Operand(Words, frozen=True, kw_only=True):
    """An operand that the node image may bring; `enabled` None follows from the environment."""

    enabled: bool | None = None
    env: dict[str, str] = {}


class JobMapping(Words, frozen=True, kw_only=True):
    """Where Slurm's prolog writes which job uses which GPU."""

    directory: str


class DcgmExporter(Words, frozen=True, kw_only=True):
    """GPU metrics for Prometheus; `service_monitor` None follows from the monitoring component."""

    enabled: bool = True
    service_monitor: bool | None = None
    interval: str | None = None
    additional_labels: dict[str, str] = {}
    slurm_job_mapping: bool | JobMapping = False
    metrics: tuple[str, ...] = ()
    pod_labels: bool = False
    env: dict[str, str] = {}


class Cdi(Words, frozen=True, kw_only=True):
    """How containers get their GPUs."""

    enabled: bool = True
    nri: bool = False


class VgpuManager(Words, frozen=True, kw_only=True):
    """The vGPU host driver, from an image of the user's own."""

    repository: str
    image: str = "vgpu-manager"
    version: str
    image_pull_secrets: tuple[str, ...] = ()


class SandboxWorkloads(Words, frozen=True, kw_only=True):
    """Virtual machines and Kata containers with GPUs."""

    mode: Literal["none", "kubevirt", "kata"] = "none"
    default_workload: Workload = "container"
    pools: dict[str, Workload] = {}
    vgpu_manager: VgpuManager | None = None


class GpuCluster(Words, frozen=True, kw_only=True):
    """GPUs as claims in place of the device plugin."""

    enabled: bool = False
    compute_domains: bool = True
    feature_gates: dict[str, bool] = {}
    standalone_crds: bool = msgspec.field(name="standaloneCRDs", default=False)


class GpuOperatorSettings(Words, frozen=True, kw_only=True):
    """Everything that a spec may say about the GPU Operator itself."""

    mig: MigSettings = MigSettings()
    driver: DriverSettings = DriverSettings()
    toolkit: Operand = Operand()
    device_plugin: Operand = Operand()
    dcgm_exporter: DcgmExporter = DcgmExporter()
    dcgm: bool = False
    gds: bool = False
    gdrcopy: bool = False
    cdi: Cdi = Cdi()
    sandbox_workloads: SandboxWorkloads = SandboxWorkloads()
    gpu_cluster: GpuCluster = GpuCluster()
    node_labels: Literal["list", "node-feature-rule"] = "list"
    gpu_clients_config_map: str | None = None
    kubelet_root_dir: str | None = None
