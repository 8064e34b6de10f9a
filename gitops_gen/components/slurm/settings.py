"""The component's own part of the spec, typed; `schema.yaml` documents each field."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gitops_gen.model import Words

Time = str | int
Value = None | bool | int | float | str | list[int | float | str]
Config = dict[str, Value]
Tolerations = tuple[dict[str, str], ...]


class KeyRef(Words, frozen=True, kw_only=True):
    """A key in a Secret or ConfigMap of Slurm's namespace."""

    name: str
    key: str


class SecretSource(Words, frozen=True, kw_only=True):
    """A Secret that exists."""

    secret_ref: KeyRef


class ConfigMapSource(Words, frozen=True, kw_only=True):
    """A ConfigMap that exists."""

    config_map_ref: KeyRef


class Image(Words, frozen=True, kw_only=True):
    """An image, or the part of one that differs from the profile's."""

    repository: str | None = None
    tag: str | None = None
    digest: str | None = None


class Resources(Words, frozen=True, kw_only=True):
    """Requests and limits of one container."""

    requests: dict[str, str | int] = {}
    limits: dict[str, str | int] = {}


class Operator(Words, frozen=True, kw_only=True):
    """Who runs the Slinky operator, and how."""

    managed_by: Literal["self", "gke", "cluster-director"] = "self"
    replicas: int = 1
    log_level: str = "info"
    namespaces: tuple[str, ...] = ()
    node_selector: dict[str, str] = {}
    tolerations: Tolerations = ()
    propagated_node_conditions: tuple[str, ...] = ()


class Images(Words, frozen=True, kw_only=True):
    """Images of each part; None takes the profile's."""

    profile: Literal["slinky", "google", "custom"] | None = None
    series: str | None = None
    system: str | None = None
    slurmctld: Image | None = None
    slurmd: Image | None = None
    slurmdbd: Image | None = None
    slurmrestd: Image | None = None
    login: Image | None = None
    sidecar: Image | None = None
    pull_policy: str = "IfNotPresent"


class Keys(Words, frozen=True, kw_only=True):
    """Keys by which the daemons trust each other."""

    slurm: SecretSource
    jwt: SecretSource
    jwks: ConfigMapSource | None = None


class Host(Words, frozen=True, kw_only=True):
    """A daemon outside the cluster."""

    host: str
    port: int


class Persistence(Words, frozen=True, kw_only=True):
    """The volume of slurmctld."""

    enabled: bool = True
    existing_claim: str | None = None
    size: str | None = None
    storage_class: str | None = None
    access_modes: tuple[str, ...] = ("ReadWriteOnce",)


class Metrics(Words, frozen=True, kw_only=True):
    """slurmctld's own metrics."""

    enabled: bool = True
    service_monitor: bool = True
    interval: str = "30s"
    endpoints: tuple[str, ...] = ("jobs", "nodes", "partitions", "scheduler")


class Controller(Words, frozen=True, kw_only=True):
    """slurmctld and slurm.conf."""

    external: Host | None = None
    persistence: Persistence = Persistence()
    metrics: bool | Metrics = False
    config: Config = {}
    inplace_reconfigure: bool = True
    resources: Resources = Resources()
    node_selector: dict[str, str] = {}
    tolerations: Tolerations = ()
    pod_spec: dict[str, Any] = {}


class Scaling(Words, frozen=True, kw_only=True):
    """Automatic scaling of a node set by pending jobs."""

    min: int
    max: int
    threshold: int = 1
    cooldown_seconds: int = 300


class Limits(Words, frozen=True, kw_only=True):
    """Processors and memory of each node for Slurm, where they differ from the pool's."""

    cpu: int | None = None
    memory: str | None = None


class UpdateStrategy(Words, frozen=True, kw_only=True):
    """How the pods of a node set are replaced after a change."""

    type: Literal["RollingUpdate", "OnDelete", "ScheduledUpdate"] = "RollingUpdate"
    max_unavailable: int | str | None = None
    start_time: str | None = None
    duration: str | None = None


class Ssh(Words, frozen=True, kw_only=True):
    """SSH to the nodes of one's own jobs."""

    extra_sshd_config: str | None = None


class NodeSet(Words, frozen=True, kw_only=True):
    """Workers of one kind, bound to a node pool; `replicas` None takes every node of the pool."""

    name: str
    pool: str
    replicas: int | Scaling | None = None
    mode: Literal["StatefulSet", "DaemonSet"] = "StatefulSet"
    features: tuple[str, ...] = ()
    weight: int | None = None
    gpus: int | None = None
    limits: Limits = Limits()
    ordinal_padding: int = 0
    pin_to_node: bool = False
    protect_jobs: bool = True
    update_strategy: UpdateStrategy = UpdateStrategy()
    ssh: bool | Ssh = False
    config: Config = {}
    shared_memory: str | None = None
    host_network: bool = False
    image: Image | None = None
    env: dict[str, str] = {}
    volumes: tuple[str, ...] | None = None
    pod_spec: dict[str, Any] = {}


class Partition(Words, frozen=True, kw_only=True):
    """A queue over node sets; `ALL` among them stands for every node."""

    name: str
    node_sets: tuple[str, ...]
    default: bool = False
    max_time: Time | None = None
    default_time: Time | None = None
    min_nodes: int | None = None
    max_nodes: int | None = None
    priority_tier: int | None = None
    priority_job_factor: int | None = None
    preempt_mode: str | None = None
    grace_time: int | None = None
    qos: str | None = None
    allow_qos: tuple[str, ...] = ()
    allow_accounts: tuple[str, ...] = ()
    allow_groups: tuple[str, ...] = ()
    exclusive: str | None = None
    over_subscribe: str | None = None
    hidden: bool | None = None
    state: str = "UP"
    config: Config = {}


class Sssd(Words, frozen=True, kw_only=True):
    """Where users come from."""

    secret_ref: KeyRef


class LoginService(Words, frozen=True, kw_only=True):
    """How users reach sshd."""

    type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = "ClusterIP"
    internal: bool | None = None
    source_ranges: tuple[str, ...] = ()
    port: int = 22
    node_port: int | None = None
    load_balancer_class: str | None = None
    annotations: dict[str, str] = {}


class Login(Words, frozen=True, kw_only=True):
    """Login hosts of one kind."""

    name: str
    replicas: int = 1
    service: LoginService = LoginService()
    root_authorized_keys: tuple[str, ...] = ()
    extra_sshd_config: str | None = None
    image: Image | None = None
    privileged: bool = False
    resources: Resources = Resources()
    node_selector: dict[str, str] = {}
    tolerations: Tolerations = ()
    volumes: tuple[str, ...] | None = None
    pod_spec: dict[str, Any] = {}


class Database(Words, frozen=True, kw_only=True):
    """A database that exists."""

    host: str
    port: int = 3306
    name: str = "slurm_acct_db"
    username: str = "slurm"
    password_ref: KeyRef


class MariaDb(Words, frozen=True, kw_only=True):
    """A database that the MariaDB operator runs."""

    size: str
    storage_class: str | None = None
    name: str = "slurm_acct_db"
    username: str = "slurm"
    buffer_pool: str = "4Gi"


class DatabaseChoice(Words, frozen=True, kw_only=True):
    """Exactly one of the three."""

    external: Database | None = None
    cloud_sql: Database | None = msgspec.field(default=None, name="cloudSQL")
    mariadb_operator: MariaDb | None = None


class Qos(Words, frozen=True, kw_only=True):
    """A quality of service that must exist in the database."""

    name: str
    description: str | None = None
    priority: int | None = None
    max_wall: Time | None = None
    max_tres_per_user: dict[str, int] = {}
    max_jobs_per_user: int | None = None
    max_submit_per_user: int | None = None
    grp_tres: dict[str, int] = {}
    preempt: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


class Account(Words, frozen=True, kw_only=True):
    """An account that must exist in the database."""

    name: str
    description: str | None = None
    organization: str | None = None
    parent: str | None = None
    fairshare: int | None = None
    qos: tuple[str, ...] = ()
    default_qos: str | None = None
    users: tuple[str, ...] = ()


class Accounting(Words, frozen=True, kw_only=True):
    """slurmdbd, its database, and what must exist in it."""

    enabled: bool = False
    external: Host | None = None
    database: DatabaseChoice | None = None
    enforce: tuple[str, ...] = ()
    tres: tuple[str, ...] = ()
    qos: tuple[Qos, ...] = ()
    accounts: tuple[Account, ...] = ()
    bootstrap_job: bool = False
    config: Config = {}
    resources: Resources = Resources()
    node_selector: dict[str, str] = {}
    tolerations: Tolerations = ()
    pod_spec: dict[str, Any] = {}


class DisruptionBudget(Words, frozen=True, kw_only=True):
    """Exactly one of the two."""

    min_available: int | None = None
    max_unavailable: int | None = None


class RestApi(Words, frozen=True, kw_only=True):
    """slurmrestd."""

    replicas: int = 1
    disruption_budget: DisruptionBudget | None = None
    resources: Resources = Resources()
    node_selector: dict[str, str] = {}
    tolerations: Tolerations = ()
    pod_spec: dict[str, Any] = {}


class Nfs(Words, frozen=True, kw_only=True):
    """An NFS export."""

    server: str
    path: str


class Filestore(Words, frozen=True, kw_only=True):
    """A Filestore instance of Google Cloud."""

    instance: str
    location: str
    ip: str
    share: str
    size: str


class Claim(Words, frozen=True, kw_only=True):
    """A PersistentVolumeClaim that is rendered."""

    size: str
    storage_class: str | None = None
    access_modes: tuple[str, ...] = ("ReadWriteMany",)


class Volume(Words, frozen=True, kw_only=True):
    """A volume of logins and node sets; exactly one of the kinds is set."""

    name: str
    mount_path: str
    sub_path: str | None = None
    read_only: bool = False
    mounted_by: tuple[Literal["logins", "nodeSets"], ...] = ("logins", "nodeSets")
    nfs: Nfs | None = None
    filestore: Filestore | None = None
    pvc: Claim | None = None
    claim: str | None = None
    host_path: str | None = None
    memory: str | None = None


class Gres(Words, frozen=True, kw_only=True):
    """What is said of GRES beyond the pools."""

    auto_detect: Literal["nvidia", "nvml", "rsmi", "off"] | None = None
    lines: tuple[str, ...] = ()


class Pyxis(Words, frozen=True, kw_only=True):
    """Containers for jobs."""

    enabled: bool = False
    enroot_config: dict[str, str] = {}


class HealthCheckProgram(Words, frozen=True, kw_only=True):
    """slurmd's own health check; one of program and script is set."""

    program: str | None = None
    script: str | None = None
    interval: int
    node_state: tuple[str, ...] = ("ANY", "CYCLE")


class PriorityClass(Words, frozen=True, kw_only=True):
    """PriorityClass of Slurm's pods; `enabled` None follows from shared pools."""

    enabled: bool | None = None
    name: str = "slurm-system-critical"
    value: int = 1000000000
    preemption: str = "PreemptLowerPriority"


class SlurmSettings(Words, frozen=True, kw_only=True):
    """One Slurm cluster."""

    cluster_name: str
    operator: Operator = Operator()
    images: Images = Images()
    keys: Keys
    controller: Controller = Controller()
    node_sets: tuple[NodeSet, ...] = ()
    partitions: tuple[Partition, ...] = ()
    sssd: Sssd | None = None
    logins: tuple[Login, ...] = ()
    accounting: Accounting = Accounting()
    rest_api: RestApi = RestApi()
    volumes: tuple[Volume, ...] = ()
    prolog: dict[str, str] = {}
    epilog: dict[str, str] = {}
    prolog_slurmctld: dict[str, str] = {}
    epilog_slurmctld: dict[str, str] = {}
    cgroup: Config = {}
    gres: Gres = Gres()
    topology: tuple[dict[str, Any], ...] = ()
    plugstack: tuple[str, ...] = ()
    job_submit_lua: str | None = None
    config_files: dict[str, str] = {}
    pyxis: Pyxis = Pyxis()
    health_check: HealthCheckProgram | None = None
    priority_class: PriorityClass = PriorityClass()
