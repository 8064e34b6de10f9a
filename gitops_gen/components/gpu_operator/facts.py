"""The component's compiled facts in, the same facts typed out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

Driver = Literal["operator", "preinstalled"]


class _Facts(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of the parts; `source` says where a part comes from, unknown keys are notes for people."""

    source: str = ""

    def reference(self, what: str) -> str:
        """Name the fact for provenance."""
        return f"gpu-operator: {what} ({self.source})"


class When(_Facts, frozen=True, kw_only=True):
    """Conditions of a recipe; an empty one holds always."""

    distribution: tuple[str, ...] = ()
    os: tuple[str, ...] = ()
    driver: tuple[Driver, ...] = ()


class Recipe(_Facts, frozen=True, kw_only=True):
    """What one environment needs; `driver` lists who can bring it, the usual one first.

    `without_nri` says that under NRI neither the toolkit's variables nor the notes apply.
    """

    name: str
    when: When
    driver: tuple[Driver, ...]
    switches: dict[str, bool]
    values: dict[str, Any]
    refusal: str = ""
    hint: str = ""
    alone: str = ""
    without_nri: bool = False
    notes: tuple[str, ...] = ()
    mig_notes: tuple[str, ...] = ()


class VersionFacts(_Facts, frozen=True, kw_only=True):
    """One chart version: its default driver, the systems with driver images, and what it can do."""

    driver: str
    supports: frozenset[str]
    rhel_tags: Literal["major", "minor"]
    owns_compute_domains: bool
    mig_config_name: str | None = None
    systems: tuple[str, ...]
    precompiled: dict[str, tuple[str, ...]]
    kubernetes_on: dict[str, tuple[str, ...]] = {}
    unvalidated_on: frozenset[str] = frozenset()
    unrendered_fields: tuple[str, ...] = ()


class ReleaseLines(_Facts, frozen=True, kw_only=True):
    """Release lines in order; upgrades go to the next one at most."""

    order: tuple[str, ...]


class Chart(_Facts, frozen=True, kw_only=True):
    """Where the chart is."""

    name: str
    repository: str


class DeployLabels(_Facts, frozen=True, kw_only=True):
    """Node labels that keep an operand off a node."""

    labels: dict[str, str]


class Reboot(_Facts, frozen=True, kw_only=True):
    """Clouds on which the MIG manager must reboot nodes."""

    distributions: tuple[str, ...]
    env: dict[str, str]


class MigFacts(_Facts, frozen=True, kw_only=True):
    """Names that the MIG manager knows."""

    key: str
    defaults: tuple[str, ...]


class SharingFacts(_Facts, frozen=True, kw_only=True):
    """Names that the device plugin knows."""

    misplaced: tuple[str, ...]


class Quotas(_Facts, frozen=True, kw_only=True):
    """The quota that critical pods need on some clouds."""

    distributions: tuple[str, ...]
    name: str
    pods: str
    priority_classes: tuple[str, ...]


class Labels(_Facts, frozen=True, kw_only=True):
    """Labels of the namespace."""

    labels: dict[str, str]


class ManyNodes(_Facts, frozen=True, kw_only=True):
    """Memory of the operator on large clusters."""

    above: int
    memory: str


class Notes(_Facts, frozen=True, kw_only=True):
    """Sentences for the tree's README on what the tree cannot do itself."""

    feature_discovery: str
    vgpu: str
    nri: str
    kata: str
    gpu_cluster: str
    rhel_tags: str


class OldSystems(_Facts, frozen=True, kw_only=True):
    """MIG managers for systems whose libraries are too old for the usual one."""

    versions: dict[str, str]


class ProxyNames(_Facts, frozen=True, kw_only=True):
    """Environment variables of the proxy, in both spellings."""

    upper: dict[str, str]
    lower: dict[str, str]
    provided_by: tuple[str, ...]


class Images(_Facts, frozen=True, kw_only=True):
    """Operands whose images are pulled only in some settings."""

    sandbox: tuple[str, ...]
    kata: tuple[str, ...]
    gpu_cluster: tuple[str, ...]
    vgpu_host: tuple[str, ...]
    never: tuple[str, ...]
    nfd: str
    registries: tuple[str, ...]


class DriverImages(_Facts, frozen=True, kw_only=True):
    """Systems whose driver images do not exist for every processor."""

    amd64_only: frozenset[str] = msgspec.field(name="amd64Only")


class Settled(_Facts, frozen=True, kw_only=True):
    """Chart values that the spec decides, and where it does so."""

    values: dict[str, str]
    if_derived: frozenset[str]


class CoherentMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Models whose memory the driver manages coherently, from a branch on."""

    models: tuple[str, ...]
    since: str = msgspec.field(name="from")


class Drivers(_Facts, frozen=True, kw_only=True):
    """Limits of driver versions."""

    auto_modules: str
    gpu_cluster: str
    coherent_memory: CoherentMemory
    nvlink5: tuple[str, ...]
    last_for_volta: str


class RdmaFacts(_Facts, frozen=True, kw_only=True):
    """Device plugins that hand out too many verbs devices."""

    plugin_from: str
    plugin_to: str
    env: str


class NriFacts(_Facts, frozen=True, kw_only=True):
    """Runtimes that are new enough for NRI."""

    rke2: dict[str, str]
    crio_floor: str


class GpuClusterFacts(_Facts, frozen=True, kw_only=True):
    """Limits of GPUCluster, and what the chart still reads with it."""

    kubernetes: str
    api_versions: tuple[str, ...]
    reads: frozenset[str]
    ignores: tuple[str, ...]
    undocumented_on: frozenset[str]
    excludes: tuple[tuple[str, str], ...]
    needs: dict[str, str]


class Workloads(_Facts, frozen=True, kw_only=True):
    """The label that says what a node runs."""

    label: str
    container: str


class JobMappingFacts(_Facts, frozen=True, kw_only=True):
    """The usual folder of Slurm's job mapping."""

    directory: str


class LicensingFacts(_Facts, frozen=True, kw_only=True):
    """Keys of the licence Secret."""

    keys: tuple[str, ...]


class MovedImages(_Facts, frozen=True, kw_only=True):
    """Old names of images, by the values key that still may have them."""

    images: dict[str, tuple[str, ...]]


class IgnoredEnv(_Facts, frozen=True, kw_only=True):
    """Environment variables of the toolkit without effect, with the reason."""

    names: dict[str, str]


class NodeFeatures(_Facts, frozen=True, kw_only=True):
    """What Node Feature Discovery sees of a GPU."""

    vendor: str


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """A health check and the kinds that it is for."""

    group: str
    kinds: tuple[str, ...]
    lua: str


class GpuFacts(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All of component.yaml that this component reads."""

    stack: str
    versions: dict[str, VersionFacts]
    release_lines: ReleaseLines
    charts: tuple[Chart, ...]
    recipes: tuple[Recipe, ...]
    deploy_labels: DeployLabels
    reboot: Reboot
    mig: MigFacts
    sharing: SharingFacts
    quotas: Quotas
    namespace_labels: Labels
    many_nodes: ManyNodes
    notes: Notes
    mig_manager: OldSystems
    proxy: ProxyNames
    images: Images
    driver_images: DriverImages
    settled: Settled
    drivers: Drivers
    rdma: RdmaFacts
    nri: NriFacts
    gpu_cluster: GpuClusterFacts
    workloads: Workloads
    slurm_job_mapping: JobMappingFacts
    licensing: LicensingFacts
    moved_images: MovedImages
    ignored_env: IgnoredEnv
    node_features: NodeFeatures
    health: tuple[Health, ...]


def gpu_facts(data: Mapping[str, Any]) -> GpuFacts:
    """Convert the compiled `component.yaml`; msgspec.ValidationError if it has another shape."""
    return msgspec.convert(data, GpuFacts)
