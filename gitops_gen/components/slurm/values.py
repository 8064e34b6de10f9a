"""A cluster spec in, the values of the slurm chart out, in the order in which they are written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from gitops_gen.components.mariadb_operator.database import Database
from gitops_gen.components.operators import pull_secret_names
from gitops_gen.components.slurm.config import Keyword, dbd_conf, files, partition_conf, slurm_conf
from gitops_gen.components.slurm.context import Context, own
from gitops_gen.components.slurm.logins import logins
from gitops_gen.components.slurm.node_sets import node_sets
from gitops_gen.components.slurm.outside import outside_aliases, outside_config
from gitops_gen.components.slurm.pods import (
    at_margin,
    image_values,
    placement,
    pod_settings,
    resource_values,
    shipped,
)
from gitops_gen.components.slurm.settings import Database as Existing
from gitops_gen.components.slurm.settings import Host, KeyRef, Persistence
from gitops_gen.model import Json, Object, Setting, from_rule, from_spec
from gitops_gen.traced import put

_KEYS_STAY = from_rule("keys that the chart makes are new at each render and immutable in the cluster")
_FOUND_BY = from_rule("slurmctld writes itself into slurm.conf by names that must not change")
_TOLD = from_rule("a running slurmctld takes over changed files instead of being restarted")
_RESTARTED = from_rule("a changed file restarts slurmctld, which would not notice it otherwise")
_SHARED = from_rule("on shared pools the priority decides whose pods stay")


def chart_values(context: Context, database: Database | None) -> Iterator[Setting]:
    """Yield the settings of the slurm chart; `database` is that of the MariaDB operator, if it runs one."""
    yield from _cluster(context)
    yield from _priority_class(context)
    if context.settings.controller.external is None:
        yield from _files(context)
    yield from _controller(context)
    yield from _rest_api(context)
    yield from _accounting(context, database)
    yield from _sssd(context)
    yield from logins(context)
    yield from node_sets(context)
    if context.settings.controller.external is None:
        yield from _partitions(context)
    yield from _job_mapping(context)


def _cluster(context: Context) -> Iterator[Setting]:
    settings = context.settings
    if settings.controller.external is None:
        yield put("clusterName", settings.cluster_name, own("clusterName"))
    yield from pull_secret_names(context.spec, "imagePullSecrets")
    if settings.images.pull_policy != "IfNotPresent":
        yield put("imagePullPolicy", settings.images.pull_policy, own("images", "pullPolicy"))
    for name, source in (("slurm", settings.keys.slurm), ("jwt", settings.keys.jwt)):
        yield put((f"{name}Key", "create"), False, _KEYS_STAY)
        yield from _reference((f"{name}Key", "secretRef"), source.secret_ref, "keys", name, "secretRef")
    jwks = settings.keys.jwks
    if jwks is not None:
        yield put("jwksKeys.enabled", True, own("keys", "jwks"))
        at = ("keys", "jwks", "configMapRef")
        yield from _reference(("jwksKeys", "configMapRef"), jwks.config_map_ref, *at)


def _reference(path: tuple[str, ...], ref: KeyRef, *place: str) -> Iterator[Setting]:
    yield put((*path, "name"), ref.name, own(*place, "name"))
    yield put((*path, "key"), ref.key, own(*place, "key"))


def has_priority_class(context: Context) -> bool:
    """Whether Slurm's pods have a PriorityClass: as the spec says, else where they share a pool."""
    asked = context.settings.priority_class.enabled
    return any(worker.pool.use == "shared" for worker in context.found) if asked is None else asked


def _priority_class(context: Context) -> Iterator[Setting]:
    if not has_priority_class(context):
        return
    wanted = context.settings.priority_class
    shared = (from_spec("nodePools", worker.pool_index, "use") for worker in context.found)
    why = (*shared, _SHARED) if wanted.enabled is None else (own("priorityClass", "enabled"),)
    yield put("priorityClass.enabled", True, *why)
    yield put("priorityClass.create", True, *why)
    if wanted.name != "slurm-system-critical":
        yield put("priorityClass.name", wanted.name, own("priorityClass", "name"))
    # The chart prints an empty description as null, which the API server does not take.
    yield put("priorityClass.description", "Daemons, logins and workers of Slurm.", *why)
    if wanted.value != 1000000000:
        yield put("priorityClass.value", wanted.value, own("priorityClass", "value"))
    if wanted.preemption != "PreemptLowerPriority":
        yield put("priorityClass.preemptionPolicy", wanted.preemption, own("priorityClass", "preemption"))


# --- slurmctld ---------------------------------------------------------------------------------


def _files(context: Context) -> Iterator[Setting]:
    for name, text, origins in files(context.settings, context.found):
        yield put(("configFiles", name), at_margin(text), *origins)
    settings = context.settings
    scripts = {
        "prolog": settings.prolog,
        "epilog": settings.epilog,
        "prologSlurmctld": settings.prolog_slurmctld,
        "epilogSlurmctld": settings.epilog_slurmctld,
    }
    for kind, texts in scripts.items():
        for name, text in texts.items():
            yield put((f"{kind}Scripts", name), text, own(kind, name))


def _controller(context: Context) -> Iterator[Setting]:
    controller = context.settings.controller
    if controller.external is not None:
        yield from _external("controller", controller.external)
        return
    yield from image_values(context, ("controller", "slurmctld"), "slurmctld")
    yield from resource_values(("controller", "slurmctld"), controller.resources, "controller")
    yield from image_values(context, ("controller", "reconfigure"), "slurmctld")
    yield from image_values(context, ("controller", "logfile"), "sidecar")
    if controller.inplace_reconfigure and context.supports("inplaceReconfigure"):
        yield put("controller.inplaceReconfigure", True, own("controller", "inplaceReconfigure"), _TOLD)
    else:
        path = ("controller", "metadata", "annotations", "checksum/config")
        yield put(path, _checksum(context), _RESTARTED)
    yield from _persistence(context, controller.persistence)
    yield from outside_config(context)
    conf = slurm_conf(context.settings, context.found, context.release)
    yield from _lines(("controller", "extraConfMap"), conf)
    fields = placement(controller, "controller")
    yield from pod_settings(("controller", "podSpec"), fields, controller.pod_spec, ("controller",))
    yield from _metrics(context)


def _external(daemon: str, host: Host) -> Iterator[Setting]:
    yield put(f"{daemon}.external", True, own(daemon, "external"))
    for name, value in (("host", host.host), ("port", host.port)):
        yield put(f"{daemon}.externalConfig.{name}", value, own(daemon, "external", name))


def _checksum(context: Context) -> str:
    texts: dict[str, Json] = {".".join(map(str, item.path)): item.value for item in _files(context)}
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:16]


def _persistence(context: Context, volume: Persistence) -> Iterator[Setting]:
    place = ("controller", "persistence")
    if not volume.enabled:
        yield put((*place, "enabled"), False, own(*place, "enabled"))
        return
    if volume.existing_claim is not None:
        yield put((*place, "existingClaim"), volume.existing_claim, own(*place, "existingClaim"))
        return
    usual = context.spec.storage.default_class
    if volume.storage_class is not None:
        yield put((*place, "storageClassName"), volume.storage_class, own(*place, "storageClass"))
    elif usual is not None:
        yield put((*place, "storageClassName"), usual, from_spec("storage", "defaultClass"))
    if volume.access_modes != Persistence().access_modes:
        yield put((*place, "accessModes"), [*volume.access_modes], own(*place, "accessModes"))
    if volume.size is not None:
        yield put((*place, "resources", "requests", "storage"), volume.size, own(*place, "size"))


def _metrics(context: Context) -> Iterator[Setting]:
    wanted = context.metrics
    if wanted is None:
        return
    place = ("controller", "metrics")
    scaled = tuple(own("nodeSets", worker.index, "replicas") for worker in context.autoscaled)
    why = (own(*place), *scaled) if context.settings.controller.metrics else scaled
    yield put((*place, "enabled"), True, *why)
    if not (wanted.service_monitor and "monitoring" in context.spec.components):
        return
    monitor = (*place, "serviceMonitor")
    yield put((*monitor, "enabled"), True, *why, from_spec("components", "monitoring"))
    for name, label in context.spec.service_monitor_labels.items():
        yield put((*monitor, "labels", name), label, from_spec("components", "monitoring"))
    if wanted.interval != "30s":
        yield put((*monitor, "interval"), wanted.interval, own(*place, "interval"))
    if wanted.endpoints != type(wanted)().endpoints:
        paths: list[Json] = [{"path": f"/metrics/{name}"} for name in wanted.endpoints]
        yield put((*monitor, "endpoints"), paths, own(*place, "endpoints"))


# --- the other daemons -------------------------------------------------------------------------


def _rest_api(context: Context) -> Iterator[Setting]:
    wanted = context.settings.rest_api
    if wanted.replicas != 1:
        yield put("restapi.replicas", wanted.replicas, own("restApi", "replicas"))
    yield from image_values(context, ("restapi", "slurmrestd"), "slurmrestd")
    yield from resource_values(("restapi", "slurmrestd"), wanted.resources, "restApi")
    fields = {**placement(wanted, "restApi"), **outside_aliases(context)}
    yield from pod_settings(("restapi", "podSpec"), fields, wanted.pod_spec, ("restApi",))


def _accounting(context: Context, database: Database | None) -> Iterator[Setting]:
    wanted = context.settings.accounting
    if not wanted.enabled:
        return
    yield put("accounting.enabled", True, own("accounting", "enabled"))
    if wanted.external is not None:
        yield from _external("accounting", wanted.external)
        return
    yield from image_values(context, ("accounting", "slurmdbd"), "slurmdbd")
    yield from resource_values(("accounting", "slurmdbd"), wanted.resources, "accounting")
    yield from _storage(context, database)
    yield from _lines(("accounting", "extraConfMap"), dbd_conf(context.settings))
    fields = placement(wanted, "accounting")
    yield from pod_settings(("accounting", "podSpec"), fields, wanted.pod_spec, ("accounting",))


def _lines(path: tuple[str, ...], lines: tuple[Keyword, ...]) -> Iterator[Setting]:
    for line in lines:
        yield put((*path, line.name), line.text, *line.origins)


def _storage(context: Context, database: Database | None) -> Iterator[Setting]:
    choice = context.settings.accounting.database
    place, path = ("accounting", "database"), ("accounting", "storageConfig")
    if database is not None:
        at = own(*place, "mariadbOperator")
        key: Object = {"name": database.password_secret, "key": database.password_key}
        wanted: dict[str, Json] = {
            "host": database.host,
            "port": database.port,
            "database": database.database,
            "username": database.username,
            "passwordKeyRef": key,
        }
        for name, value in wanted.items():
            if value != _USUAL.get(name):
                yield put((*path, name), value, at)
        return
    for kind, existing in (
        ("external", choice and choice.external),
        ("cloudSQL", choice and choice.cloud_sql),
    ):
        if isinstance(existing, Existing):
            yield from _existing(existing, path, (*place, kind))


_USUAL: dict[str, Json] = {"port": 3306, "database": "slurm_acct_db", "username": "slurm"}


def _existing(database: Existing, path: tuple[str, ...], place: tuple[str, ...]) -> Iterator[Setting]:
    yield put((*path, "host"), database.host, own(*place, "host"))
    fields: dict[str, tuple[str, Json]] = {
        "port": ("port", database.port),
        "database": ("name", database.name),
        "username": ("username", database.username),
    }
    for name, (field, value) in fields.items():
        if value != _USUAL[name]:
            yield put((*path, name), value, own(*place, field))
    yield from _reference((*path, "passwordKeyRef"), database.password_ref, *place, "passwordRef")


def _sssd(context: Context) -> Iterator[Setting]:
    if context.settings.sssd is not None:
        yield from _reference(("sssd", "secretRef"), context.settings.sssd.secret_ref, "sssd", "secretRef")


# --- partitions and what else ------------------------------------------------------------------


def _partitions(context: Context) -> Iterator[Setting]:
    for index, item in enumerate(context.settings.partitions):
        at = ("partitions", item.name)
        yield put((*at, "enabled"), True, own("partitions", index))
        yield put((*at, "nodesets"), [*item.node_sets], own("partitions", index, "nodeSets"))
        yield from _lines((*at, "configMap"), partition_conf(context.settings, index))
    yield from shipped(context, "partitions", {item.name for item in context.settings.partitions})


def job_mapping(context: Context) -> str | None:
    """Return the folder in which DCGM's exporter looks for the jobs of GPUs, None where it does not."""
    part = context.spec.components.get("gpuOperator")
    asked: Any = getattr(part.settings, "dcgm_exporter", None) if part is not None else None
    if asked is None or not asked.enabled or not asked.slurm_job_mapping:
        return None
    return str(getattr(asked.slurm_job_mapping, "directory", context.data["dcgm"]["directory"]))


def _job_mapping(context: Context) -> Iterator[Setting]:
    folder = job_mapping(context)
    if folder is None or context.settings.controller.external is not None:
        return
    asked = from_spec("components", "gpuOperator", "dcgmExporter", "slurmJobMapping")
    yield put("vendor.nvidia.dcgm.enabled", True, asked)
    if folder != context.data["dcgm"]["directory"]:
        yield put("vendor.nvidia.dcgm.jobMappingDir", folder, asked)
