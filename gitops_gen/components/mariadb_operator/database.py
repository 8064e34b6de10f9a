"""What a component needs of a database in; the objects from which the operator makes it out.

The facts about the operator were read in its source at tag v26.6.0:

- Whoever is `username` of a MariaDB gets all privileges on its `database` from the operator, but at most
  20 connections at a time. So the User is written here, under the name that the operator would give it:
  it then takes ours, and makes the Grant and the Database to it.
- A Secret with `generate: true` is made once, without an owner, and never written again; it needs no label.
- The operator writes defaults into `spec` of a MariaDB (port, TLS, claim template, services). They are all
  fields that are not written here, so Argo CD sees no difference and nothing has to be ignored.
- `storage.size` may grow. Name, database, user, storage class and the Secrets' references may not change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import msgspec

from gitops_gen.catalog.quantities import mebibytes, parse_memory
from gitops_gen.components.mariadb_operator.settings import MariadbOperatorSettings, Server
from gitops_gen.images import mirrored
from gitops_gen.model import (
    ClusterSpec,
    Json,
    Manifest,
    Object,
    Origin,
    Setting,
    from_fact,
    from_rule,
    from_spec,
)
from gitops_gen.traced import collect, put

_API = "k8s.mariadb.com/v1alpha1"
_KEY = "password"
_PORT = 3306
_CONNECTIONS = 200
_SERVER_CONNECTIONS = 220
_SYNC_OPTIONS = ("metadata", "annotations", "argocd.argoproj.io/sync-options")
_KEEP = from_rule("a database stays when it leaves the tree; deleting it is a decision of its own")
_ONCE = from_rule("the operator makes up the password once, so that none stands in Git")
_INNODB = from_fact(
    "Slurm 26.05 accounting.html: InnoDB settings (log files a quarter of the buffer pool, lock wait 900 s, "
    "no snapshot isolation); Slinky 1.2.1 hack/resources/mariadb.yaml: packets of 256M"
)
_MANY = from_fact(
    "Slurm 26.05 src/conmgr/conmgr.c: slurmdbd serves up to 150 connections, and each has one to the "
    "database; mariadb-operator v26.6.0 internal/controller/mariadb_controller.go: 20 by default"
)
_HALF_AS_MUCH = from_rule("the pod gets half as much memory again as the buffer pool has")


class DatabaseRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A database that a component asks for.

    `size` and `buffer_pool` are quantities such as `100Gi`; `storage_class` None means
    `spec.storage.defaultClass`, else the cluster's own. `at` is the place in the spec, below `spec`,
    whose keys `size`, `storageClass`, `name`, `username` and `bufferPool` say so. `namespace_at` is the
    place that names the namespace.
    """

    name: str
    namespace: str
    database: str
    username: str
    size: str
    buffer_pool: str
    at: tuple[str, ...]
    namespace_at: tuple[str, ...]
    storage_class: str | None = None
    tolerations: tuple[dict[str, str], ...] = ()


class Database(msgspec.Struct, frozen=True, kw_only=True):
    """The objects of a database and how its client reaches it; Secrets lie in its namespace.

    `secrets` are the names of the Secrets that the operator makes up, the client's first.
    """

    manifests: tuple[Manifest, ...]
    host: str
    port: int
    database: str
    username: str
    password_secret: str
    password_key: str
    secrets: tuple[str, ...]


def plan_database(spec: ClusterSpec, request: DatabaseRequest) -> Database:
    """Return the MariaDB and its User; both are kept when they leave the tree.

    The spec must have `mariadbOperator`, installed or provided: its version says which server runs.
    KeyError otherwise, ValueError where a quantity is none.
    """
    part = spec.components["mariadbOperator"]
    server = cast(MariadbOperatorSettings, part.settings).servers[part.version]
    return Database(
        manifests=(
            Manifest(object=collect(_server(spec, request, server))),
            Manifest(object=collect(_user(request))),
        ),
        host=f"{request.name}.{request.namespace}.svc",
        port=_PORT,
        database=request.database,
        username=request.username,
        password_secret=f"{request.name}-password",
        password_key=_KEY,
        secrets=(f"{request.name}-password", f"{request.name}-root"),
    )


def watches(spec: ClusterSpec, namespace: str) -> bool:
    """Say whether the operator looks after databases in a namespace; KeyError if there is none."""
    settings = cast(MariadbOperatorSettings, spec.components["mariadbOperator"].settings)
    return not settings.watch_namespaces or namespace in settings.watch_namespaces


def _server(spec: ClusterSpec, request: DatabaseRequest, server: Server) -> Iterator[Setting]:
    asked = from_spec(*request.at)
    yield from _head(request, "MariaDB", request.name)
    yield from _image(spec, server)
    yield put("spec.rootPasswordSecretKeyRef", _generated(f"{request.name}-root"), asked, _ONCE)
    yield put("spec.database", request.database, from_spec(*request.at, "name"))
    yield put("spec.username", request.username, from_spec(*request.at, "username"))
    yield put("spec.passwordSecretKeyRef", _generated(f"{request.name}-password"), asked, _ONCE)
    yield put("spec.cleanupPolicy", "Skip", _KEEP)
    yield from _storage(spec, request)
    yield from _memory(request)
    if request.tolerations:
        wanted: list[Json] = [dict(item) for item in request.tolerations]
        yield put("spec.tolerations", wanted, asked)
    yield from _metrics(spec)


def _user(request: DatabaseRequest) -> Iterator[Setting]:
    asked = from_spec(*request.at)
    password: Object = {"name": f"{request.name}-password", "key": _KEY}
    yield from _head(request, "User", f"{request.name}-user")
    yield put("spec.mariaDbRef.name", request.name, asked)
    yield put("spec.name", request.username, from_spec(*request.at, "username"))
    yield put("spec.host", "%", asked)
    yield put("spec.passwordSecretKeyRef", password, asked)
    yield put("spec.maxUserConnections", _CONNECTIONS, _MANY)
    yield put("spec.cleanupPolicy", "Skip", _KEEP)


def _head(request: DatabaseRequest, kind: str, name: str) -> Iterator[Setting]:
    asked = from_spec(*request.at)
    yield put("apiVersion", _API, asked)
    yield put("kind", kind, asked)
    yield put("metadata.name", name, asked)
    yield put("metadata.namespace", request.namespace, from_spec(*request.namespace_at))
    yield put(_SYNC_OPTIONS, "Prune=false,Delete=false", _KEEP)


def _image(spec: ClusterSpec, server: Server) -> Iterator[Setting]:
    """A server of its own version: a new operator does not bring a new one by the way."""
    origins: list[Origin] = [from_fact(f"mariadb_operator/component.yaml: server ({server.source})")]
    found = mirrored(server.image, spec.registry.mirrors)
    repository = server.image
    if found is not None:
        repository, mirror = found
        origins.append(mirror)
    yield put("spec.image", f"{repository}:{server.tag}", *origins)
    if spec.registry.pull_secrets:
        names: list[Json] = [{"name": name} for name in spec.registry.pull_secrets]
        yield put("spec.imagePullSecrets", names, from_spec("registry", "pullSecrets"))


def _generated(name: str) -> Object:
    """The reference is one value for the API server, so it names its default, too."""
    return {"name": name, "key": _KEY, "generate": True}


def _storage(spec: ClusterSpec, request: DatabaseRequest) -> Iterator[Setting]:
    yield put("spec.storage.size", request.size, from_spec(*request.at, "size"))
    if request.storage_class is not None:
        at = from_spec(*request.at, "storageClass")
        yield put("spec.storage.storageClassName", request.storage_class, at)
    elif spec.storage.default_class is not None:
        at = from_spec("storage", "defaultClass")
        yield put("spec.storage.storageClassName", spec.storage.default_class, at)


def _memory(request: DatabaseRequest) -> Iterator[Setting]:
    pool = from_spec(*request.at, "bufferPool")
    size = parse_memory(request.buffer_pool)
    quantity = f"{mebibytes(size * 3 // 2)}Mi"
    yield put("spec.resources.requests.memory", quantity, pool, _HALF_AS_MUCH)
    yield put("spec.resources.limits.memory", quantity, pool, _HALF_AS_MUCH)
    yield put("spec.myCnf", _configuration(mebibytes(size)), pool, _INNODB, _MANY)


def _configuration(pool: int) -> str:
    """Write my.cnf for a buffer pool of so many MiB; MariaDB's M is 1024 times 1024 bytes.

    From MariaDB 11.6.2 on snapshot isolation is on by default, and slurmdbd stops at its first conflict.
    """
    lines = (
        "[mariadb]",
        "bind-address=*",
        "default_storage_engine=InnoDB",
        "binlog_format=row",
        "innodb_autoinc_lock_mode=2",
        f"innodb_buffer_pool_size={pool}M",
        "innodb_lock_wait_timeout=900",
        f"innodb_log_file_size={pool // 4}M",
        "innodb_snapshot_isolation=OFF",
        "max_allowed_packet=256M",
        f"max_connections={_SERVER_CONNECTIONS}",
    )
    return "".join(f"{line}\n" for line in lines)


def _metrics(spec: ClusterSpec) -> Iterator[Setting]:
    """The operator labels its ServiceMonitor with a release by itself, with others by inheritance."""
    if "monitoring" not in spec.components:
        return
    on = from_spec("components", "monitoring")
    yield put("spec.metrics.enabled", True, on)
    labels = dict(spec.service_monitor_labels)
    release = labels.pop("release", None)
    if release is not None:
        yield put("spec.metrics.serviceMonitor.prometheusRelease", release, on)
    for key, value in labels.items():
        yield put(("spec", "inheritMetadata", "labels", key), value, on)
