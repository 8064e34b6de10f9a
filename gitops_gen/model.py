"""Words of the product: the typed cluster spec, provenance, and the plan made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Literal, Protocol

import msgspec

from gitops_gen import __version__
from gitops_gen.diagnostics import Diagnostic, Path, Position

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Object = dict[str, Json]


class Words(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Base of every typed part of a spec: frozen, camelCase in YAML, defaults from the schema (D3)."""


# --- spec: pools -------------------------------------------------------------------------------


class Taint(Words, frozen=True, kw_only=True):
    """A taint as Kubernetes writes it; without `value` the key alone counts."""

    key: str
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class Reserved(Words, frozen=True, kw_only=True):
    """What the node and its DaemonSets keep for themselves."""

    cores: int = 0
    memory: str = "0"


class Machine(Words, frozen=True, kw_only=True):
    """What is installed in one node."""

    sockets: int
    cores_per_socket: int
    threads_per_core: int = 1
    memory: str
    reserved: Reserved = Reserved()


class MigLayout(Words, frozen=True, kw_only=True):
    """Profiles made on the listed GPUs of a node, `{profile: count per GPU}`."""

    devices: tuple[int, ...] | Literal["all"]
    profiles: dict[str, int]


class Mig(Words, frozen=True, kw_only=True):
    """Either one profile on every GPU, or a custom layout."""

    profile: str | None = None
    layout: tuple[MigLayout, ...] = ()


class TimeSlicing(Words, frozen=True, kw_only=True):
    """The device plugin's time-slicing of one resource."""

    replicas: int
    rename_by_default: bool = False
    fail_requests_greater_than_one: bool = False


class Mps(Words, frozen=True, kw_only=True):
    """The device plugin's MPS sharing of one resource."""

    replicas: int
    rename_by_default: bool = False
    fail_requests_greater_than_one: bool = True


class Sharing(Words, frozen=True, kw_only=True):
    """How several pods use one GPU; at most one of the two."""

    time_slicing: TimeSlicing | None = None
    mps: Mps | None = None


class Gpu(Words, frozen=True, kw_only=True):
    """The GPUs of one node; `model` is an accelerator id of the catalogue."""

    model: str
    count: int
    mig: Mig | None = None
    sharing: Sharing | None = None


class Tpu(Words, frozen=True, kw_only=True):
    """The TPU chips of one node."""

    model: str
    count: int


class FabricNetwork(Words, frozen=True, kw_only=True):
    """Addresses of the secondary network (NVIDIA IPAM pool)."""

    subnet: str
    per_node_block_size: int = 32
    gateway: str | None = None
    exclude: tuple[str, ...] = ()


class Fabric(Words, frozen=True, kw_only=True):
    """The network between nodes that carries RDMA."""

    type: Literal["infiniband", "roce"]
    rdma: Literal["sharedDevice", "hostDevice", "sriov"]
    interfaces: tuple[str, ...] = ()
    vendor_ids: tuple[str, ...] = ("15b3",)
    device_ids: tuple[str, ...] = ()
    pci_addresses: tuple[str, ...] = ()
    resource_name: str | None = None
    mtu: int | None = None
    num_vfs: int | None = None
    ofed: Literal["operator", "host"] = "operator"
    network: FabricNetwork | None = None


class NodePool(Words, frozen=True, kw_only=True):
    """Nodes of one kind: what they are, how to find them and who may use them."""

    name: str
    nodes: int
    os: str | None = None
    architecture: Literal["amd64", "arm64"] | None = None
    driver: Literal["operator", "preinstalled"] | None = None
    use: Literal["kubernetes", "slurm", "shared"] = "kubernetes"
    machine: Machine | None = None
    node_selector: dict[str, str] = {}
    node_names: tuple[str, ...] = ()
    taints: tuple[Taint, ...] = ()
    gpu: Gpu | None = None
    tpu: Tpu | None = None
    fabric: Fabric | None = None


# --- spec: cluster -----------------------------------------------------------------------------


class Kubernetes(Words, frozen=True, kw_only=True):
    """The cluster's Kubernetes; `version` is a minor (`1.35`) or a full version."""

    version: str
    distribution: Literal[
        "kubeadm", "k3s", "rke2", "microk8s", "eks", "gke", "aks", "oke", "openshift", "talos"
    ]


class Gitops(Words, frozen=True, kw_only=True):
    """The Git repository that Argo CD reads and the tree's place in it."""

    repo_url: str = msgspec.field(name="repoURL")
    revision: str = "main"
    path: str | None = None
    delivery: Literal["multi-source", "wrapper-chart", "manifests"] = "multi-source"


class Destination(Words, frozen=True, kw_only=True):
    """The cluster that Argo CD deploys to: by name or by API server URL, in-cluster by default."""

    name: str | None = None
    server: str | None = None


class SyncWindow(Words, frozen=True, kw_only=True):
    """A sync window of the AppProject; `apps` names apps of the tree, empty means all."""

    kind: Literal["allow", "deny"]
    schedule: str
    duration: str
    time_zone: str = "UTC"
    apps: tuple[str, ...] = ()
    manual_sync: bool = False
    sync_overrun: bool = False
    description: str | None = None


class Retry(Words, frozen=True, kw_only=True):
    """Retries of a failed sync; durations as Go writes them."""

    limit: int = 10
    duration: str = "30s"
    factor: int = 2
    max_duration: str = "5m"


class ArgoCD(Words, frozen=True, kw_only=True):
    """The Argo CD that syncs the tree."""

    version: str = "3.5"
    namespace: str = "argocd"
    destination: Destination = Destination()
    sync_windows: tuple[SyncWindow, ...] = ()
    retry: Retry = Retry()
    automated: bool = True
    self_heal: bool = True
    prune: bool = True


class Storage(Words, frozen=True, kw_only=True):
    """Storage classes: `default_class` for one writer, `shared_class` for many."""

    default_class: str | None = None
    shared_class: str | None = None


class StoreRef(Words, frozen=True, kw_only=True):
    """The External Secrets store that holds the secrets."""

    kind: Literal["SecretStore", "ClusterSecretStore"] = "ClusterSecretStore"
    name: str


class Secrets(Words, frozen=True, kw_only=True):
    """Where Secrets come from; data never stands in Git."""

    store: Literal["existing", "external-secrets", "sealed-secrets"] = "existing"
    store_ref: StoreRef | None = None
    key_template: str = "{cluster}/{namespace}/{name}"


class Registry(Words, frozen=True, kw_only=True):
    """Mirrors of image registries and chart repositories, and the pull Secrets that images need."""

    mirrors: dict[str, str] = {}
    charts: dict[str, str] = {}
    pull_secrets: tuple[str, ...] = ()


class Proxy(Words, frozen=True, kw_only=True):
    """The HTTP proxy between the cluster and the Internet."""

    http: str | None = None
    https: str | None = None
    no_proxy: tuple[str, ...] = ()
    ca_config_map: str | None = None


class Accept(Words, frozen=True, kw_only=True):
    """A finding that the user has weighed: a warning, or an intended change of locked state."""

    code: str
    path: str
    reason: str
    from_value: str | None = msgspec.field(default=None, name="from")
    to_value: str | None = msgspec.field(default=None, name="to")


class Sync(Words, frozen=True, kw_only=True):
    """Overrides of how Argo CD syncs one component; None keeps the component's own choice."""

    wave: int | None = None
    prune: bool | None = None
    automated: bool | None = None
    sync_options: tuple[str, ...] = ()


class ComponentSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One component as the spec has it; `settings` is the component's own typed part."""

    name: str
    version: str
    namespace: str
    settings: object
    provided: bool = False
    values: Object = {}
    sync: Sync = Sync()
    required_by: tuple[str, ...] = ()


class PoolResources(msgspec.Struct, frozen=True, kw_only=True):
    """What the nodes of one pool will advertise, derived once for every component.

    `resources` counts per node; `labels` are the node labels that somebody must set;
    `product` is the value of `nvidia.com/gpu.product` where it is known. `accelerators` says
    that GPUs and TPUs are spoken for, even if pods cannot ask for any. `whole_node` is what a pod
    that takes a whole node asks for beside its accelerators, `networks` the secondary networks
    that it joins, as `namespace/name`.
    """

    pool: str
    nodes: int
    use: str
    resources: Mapping[str, int]
    labels: Mapping[str, str]
    product: str | None = None
    accelerators: bool = False
    whole_node: Mapping[str, int] = {}
    networks: tuple[str, ...] = ()


class ClusterSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A validated spec. `components` holds the ones that are on (or provided), by name; `retired`
    those that the spec names without switching them on.

    `path` is the tree's place in the repository; `source` the spec's own file there.
    `resources` says what the nodes of each pool advertise, in the order of the pools.
    `service_monitor_labels` are what the cluster's Prometheus selects ServiceMonitors by,
    `prometheus_url` is where it answers queries; empty where nobody said so.
    """

    name: str
    labels: Mapping[str, str]
    source: str
    path: str
    env: Literal["prod", "staging", "lab"]
    kubernetes: Kubernetes
    gitops: Gitops
    argocd: ArgoCD
    storage: Storage
    secrets: Secrets
    registry: Registry
    proxy: Proxy
    air_gap: bool
    node_pools: tuple[NodePool, ...]
    accept: tuple[Accept, ...]
    components: Mapping[str, ComponentSpec]
    retired: Mapping[str, ComponentSpec] = {}
    resources: tuple[PoolResources, ...] = ()
    service_monitor_labels: Mapping[str, str] = {}
    prometheus_url: str = ""

    def rendered(self, component: str) -> ComponentSpec | None:
        """Return the component if this tree installs it, None if it is off or provided."""
        found = self.components.get(component)
        return None if found is None or found.provided else found


# --- catalogue ---------------------------------------------------------------------------------


class MigProfile(msgspec.Struct, frozen=True, kw_only=True):
    """A MIG profile of one model: instances per GPU and the slices that one instance takes."""

    name: str
    count: int
    compute: int
    memory: int


class Accelerator(msgspec.Struct, frozen=True, kw_only=True):
    """One accelerator of the catalogue; memory in GB as its maker states it.

    `driver_min` is a driver version or branch, `driver_max` the last branch that supports it.
    `product` is the value of `nvidia.com/gpu.product`, `product_seen` whether it was seen in
    source or documentation rather than built by NVML's naming pattern. `slurm_type` is the GRES type
    of Slurm, `slurm_type_long` that of a cluster with another model of the same short type.
    """

    id: str
    vendor: Literal["nvidia", "amd", "google"]
    resource: str
    name: str
    memory: int | None = None
    architecture: str | None = None
    machine: Literal["amd64", "arm64"] = "amd64"
    mig_profiles: tuple[MigProfile, ...] = ()
    mig_compute: int = 0
    mig_memory: int = 0
    fabric_manager: Literal["none", "fabric-manager", "fabric-manager-nvlsm", "imex"] = "none"
    kernel_modules: Literal["open", "proprietary", "either"] = "either"
    driver_min: str | None = None
    driver_max: str | None = None
    mps_replicas_max: int = 48
    product: str | None = None
    product_seen: bool = False
    pci_ids: tuple[str, ...] = ()
    slurm_type: str | None = None
    slurm_type_long: str | None = None


class Catalog(msgspec.Struct, frozen=True, kw_only=True):
    """Upstream facts that no single component owns."""

    accelerators: Mapping[str, Accelerator]
    data: Mapping[str, Json]


# --- provenance --------------------------------------------------------------------------------

OriginKind = Literal["spec", "default", "fact", "rule"]


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Why a value is what it is: a spec path (set or defaulted), a fact or a rule of ours."""

    kind: OriginKind
    ref: str
    path: Path = ()
    position: Position | None = None


def from_spec(*path: str | int) -> Origin:
    """The value follows from the spec at `path`, below `spec`: `from_spec("env")`."""
    return Origin(kind="spec", ref="", path=("spec", *path))


def from_metadata(*path: str) -> Origin:
    """The value follows from the spec's metadata: `from_metadata("name")`."""
    return Origin(kind="spec", ref="", path=("metadata", *path))


def from_fact(ref: str) -> Origin:
    """The value follows from an upstream fact, named as `<file or sheet>: <fact>`."""
    return Origin(kind="fact", ref=ref)


def from_rule(ref: str) -> Origin:
    """The value follows from a rule of this project, said in one short sentence."""
    return Origin(kind="rule", ref=ref)


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One value to set at `path` and the reasons for it; `append` adds it to the list there."""

    path: Path
    value: Json
    origins: tuple[Origin, ...]
    append: bool = False


class Traced(msgspec.Struct, frozen=True, kw_only=True):
    """A document and the origins of its parts; a part without its own has its parent's."""

    data: Object
    origins: Mapping[Path, tuple[Origin, ...]]


# --- plan --------------------------------------------------------------------------------------


class ObjectIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """A Kubernetes object by name; `namespace` None means cluster-scoped."""

    group: str
    kind: str
    name: str
    namespace: str | None = None
    hook: bool = False


class HelmSource(msgspec.Struct, frozen=True, kw_only=True):
    """A chart at an exact version; OCI registries have a schemeless `repo_url`.

    `objects` are the identities of what the chart makes with these values. `upstream_url` is
    the repository that `repo_url` mirrors, empty for upstream's own.
    """

    repo_url: str
    chart: str
    version: str
    release_name: str
    values: Traced
    objects: tuple[ObjectIdentity, ...] = ()
    skip_crds: bool = False
    api_versions: tuple[str, ...] = ()
    upstream_url: str = ""


class KustomizeSource(msgspec.Struct, frozen=True, kw_only=True):
    """A path of a Git repository at a tag, with inline kustomize options (`patches`, `images`, …)."""

    repo_url: str
    revision: str
    path: str
    options: Traced
    objects: tuple[ObjectIdentity, ...] = ()


class OwnChart(msgspec.Struct, frozen=True, kw_only=True):
    """A chart of ours, copied into the tree as the app's `chart/` folder (D37).

    `name` is its folder below `charts/`; its version is that of gitops-gen. `objects` are the
    identities of what it makes with these values, which whoever plans it knows. An app has one chart.
    """

    name: str
    release_name: str
    values: Traced
    objects: tuple[ObjectIdentity, ...]
    version: str = __version__
    api_versions: tuple[str, ...] = ()


class DirectorySource(msgspec.Struct, frozen=True, kw_only=True):
    """The app's own `manifests/` folder: one object per file, `<kind>-<name>.yaml`."""

    manifests: tuple[Manifest, ...]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """An object that no chart makes. `cluster_scoped` decides how the AppProject allows it."""

    object: Traced
    cluster_scoped: bool = False


Source = HelmSource | OwnChart | KustomizeSource | DirectorySource


class Deletion(StrEnum):
    """What deleting an Application does to its objects."""

    KEEP = "keep"
    FOREGROUND = "foreground"


class Pruning(StrEnum):
    """What happens to objects that leave the tree: deleted, deleted on approval, or kept."""

    ON = "on"
    CONFIRM = "confirm"
    OFF = "off"


class IgnoreDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Fields that controllers write back; at least one kind of pointer is set."""

    group: str
    kind: str
    name: str | None = None
    json_pointers: tuple[str, ...] = ()
    jq_path_expressions: tuple[str, ...] = ()


class NamespaceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A Namespace that an app needs: labels, annotations and the quotas in it (whole objects)."""

    name: str
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    quotas: tuple[Traced, ...] = ()
    origins: tuple[Origin, ...] = ()


class SecretRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What must exist before the app syncs: a Secret or, with `kind`, a ConfigMap or a claim.

    `random_bytes` says that each key may hold that many random bytes, made once. A claim has no
    keys; `size` and `access_mode` are what it needs at least.
    """

    namespace: str
    name: str
    keys: tuple[str, ...] = ()
    purpose: str
    kind: Literal["Secret", "ConfigMap", "PersistentVolumeClaim"] = "Secret"
    type: str = "Opaque"
    random_bytes: int = 0
    size: str = ""
    access_mode: str = ""


class CommandBlock(msgspec.Struct, frozen=True, kw_only=True):
    """Ready commands for the tree's README: what they are for, and one line each."""

    purpose: str
    lines: tuple[str, ...]


class HealthCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A Lua health check for argocd-cm: group `""` stands for core kinds."""

    group: str
    kind: str
    lua: str


class Application(msgspec.Struct, frozen=True, kw_only=True):
    """One Argo CD Application before it is written; `name` is the app's short name.

    `wave` orders apps of one stack. `namespaces` are made by the namespaces app. `state` is
    what may not change silently, as `{spec path: value}`. `notes` and `commands` go into the
    tree's README. `keeps_ignored` says that a sync leaves ignored fields as they are in the cluster;
    without it they are ignored in comparisons alone, and each sync writes ours (D25). `permits` are
    objects that the app no longer makes and Argo CD must still prune (D17); a namespaced one
    permits its whole namespace.
    """

    name: str
    component: str
    stack: str
    namespace: str
    wave: int
    sources: tuple[Source, ...]
    namespaces: tuple[NamespaceRequest, ...] = ()
    secrets: tuple[SecretRequest, ...] = ()
    ignore_differences: tuple[IgnoreDifference, ...] = ()
    keeps_ignored: bool = True
    sync_options: tuple[str, ...] = ()
    deletion: Deletion = Deletion.FOREGROUND
    pruning: Pruning = Pruning.ON
    automated: bool = True
    state: Mapping[str, Json] = {}
    notes: tuple[str, ...] = ()
    commands: tuple[CommandBlock, ...] = ()
    permits: tuple[ObjectIdentity, ...] = ()
    origins: tuple[Origin, ...] = ()

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """Every object of the app's own `manifests/` folder."""
        return tuple(
            manifest
            for source in self.sources
            if isinstance(source, DirectorySource)
            for manifest in source.manifests
        )


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a cluster's tree will hold, before any text is made.

    `permitted` is what the project permits although no application makes it (any more).
    """

    spec: ClusterSpec
    applications: tuple[Application, ...]
    state: Mapping[str, Mapping[str, Json]] = {}
    permitted: tuple[ObjectIdentity, ...] = ()
    health_checks: tuple[HealthCheck, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


# --- components --------------------------------------------------------------------------------


class ChartKeys(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one chart at one version (`upstream/<chart>-<version>*.json`).

    `keys` maps a values path to `{type, default?, open?}`; `extra` the paths that only templates
    read; `dead` the paths that nothing reads, with the reason; `open` the maps that take any key.
    `objects` are identities with the conditions that switch them on.
    """

    chart: str
    version: str
    keys: Mapping[str, Mapping[str, Json]]
    extra: Mapping[str, Mapping[str, Json]]
    dead: Mapping[str, str]
    open: frozenset[str]
    hints: Mapping[str, str]
    objects: tuple[Mapping[str, Json], ...]


class Requirement(msgspec.Struct, frozen=True, kw_only=True):
    """Another component that must be on; with `when`, only if the settings say so.

    `when` is a settings path that must be truthy, such as `gpuCluster.enabled`, or equal a value,
    as in `operator.managedBy=self`; `[]` behind a list means any of its items.
    """

    component: str
    reason: str
    when: str | None = None


class ComponentFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One compiled `component.yaml` and schema fragment, with a reader of chart facts.

    `chart_keys(chart, version)` and `table(name)` return the same object for the same arguments;
    a table is `upstream/<name>.json`, facts that only some specs need. Both raise KeyError.
    """

    name: str
    stack: str
    namespace: str
    version: str
    versions: tuple[str, ...]
    requires: tuple[Requirement, ...]
    data: Mapping[str, Json]
    schema: Mapping[str, Json]
    catalog: Catalog
    chart_keys: Callable[[str, str], ChartKeys]
    table: Callable[[str], Mapping[str, Json]]


class Component(Protocol):
    """One product that the tree can install; a folder of `components/` exports one."""

    @property
    def name(self) -> str:
        """The component's name under `spec.components`."""
        ...

    @property
    def facts(self) -> ComponentFacts:
        """What is known of it."""
        ...

    def build(self, data: Mapping[str, Json]) -> object:
        """Return the typed settings from the component's part of the spec, defaults filled in."""
        ...

    def advertise(self, spec: ClusterSpec) -> Iterable[PoolResources]:
        """Say what the nodes of the pools will advertise because of this component, if anything."""
        ...

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check the component's part; `previous` is its state in the lock of the last render."""
        ...

    def plan(self, spec: ClusterSpec) -> Iterable[Application]:
        """Return the Applications that install it."""
        ...

    def health_checks(self) -> Iterable[HealthCheck]:
        """Return the health checks without which waves do not wait for its kinds."""
        ...
