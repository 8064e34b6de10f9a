"""MIG layouts, sharing and metrics of a cluster in, the ConfigMaps that carry them out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator

import msgspec

from gitops_gen.components.gpu_operator.context import Context, of_pool, own
from gitops_gen.components.gpu_operator.recipes import GpuPool
from gitops_gen.components.gpu_operator.resources import base_resources
from gitops_gen.emit import emit
from gitops_gen.model import Json, MigLayout, Object, Origin
from gitops_gen.pools import MIG_DISABLED, devices, whole_gpus
from gitops_gen.pools import mig_config as mig_set

_METRICS_KEY = "dcgm-metrics.csv"
_UNSHARED = "unshared"


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """A ConfigMap whose name carries a hash of its content, since the operator watches only names.

    `origins` say why it is there, `of_key` why each key is.
    """

    name: str
    data: dict[str, str]
    origins: tuple[Origin, ...]
    of_key: dict[str, tuple[Origin, ...]]
    default: str = ""


def device_plugin_config(context: Context) -> Config | None:
    """Return the device plugin's configurations by pool, None where no pool shares its GPUs.

    Nodes without a label get `default`: a pool that shares nothing, or the only way of sharing.
    """
    if not context.shared_pools or context.settings.gpu_cluster.enabled:
        return None
    documents = {pool.name: _sharing(context, pool) for pool in context.pools}
    origins: dict[str, tuple[Origin, ...]] = {
        pool.name: (of_pool(pool, "gpu", "sharing"),) for pool in context.pools
    }
    default = _default_key(context, documents)
    if default == _UNSHARED:
        documents[default] = {"version": "v1"}
        origins[default] = ()
    return _config(
        "device-plugin-config",
        {key: emit(document) for key, document in documents.items()},
        tuple(of_pool(pool, "gpu", "sharing") for pool in context.shared_pools),
        origins,
        default,
    )


def mig_config(context: Context) -> Config | None:
    """Return the MIG manager's layouts, None where its own map has every layout in use.

    A map of our own replaces the manager's for all nodes: it also holds each set in use.
    """
    layouts = [pool for pool in context.mig_pools if pool.pool.gpu and _layouts(pool)]
    if not layouts or context.settings.gpu_cluster.enabled:
        return None
    disabled: Json = [{"devices": "all", "mig-enabled": False}]
    sets: dict[str, Json] = {MIG_DISABLED: disabled}
    for pool in context.mig_pools:
        if not _layouts(pool):
            sets[mig_set(pool.pool)] = _uniform(context, pool)
    for pool in layouts:
        sets[pool.name] = list(_layout_entries(pool))
    document: Object = {"version": "v1", "mig-configs": sets}
    origins = tuple(of_pool(pool, "gpu", "mig") for pool in context.mig_pools)
    key = context.facts.mig.key
    return _config("mig-parted-config", {key: emit(document)}, origins, {key: origins})


def metrics_config(context: Context) -> Config | None:
    """Return the exporter's own list of metrics, None where it keeps the usual one."""
    lines = context.settings.dcgm_exporter.metrics
    if not lines:
        return None
    origins = (own("dcgmExporter", "metrics"),)
    data = {_METRICS_KEY: "".join(f"{line}\n" for line in lines)}
    return _config("dcgm-metrics", data, origins, {_METRICS_KEY: origins})


def _config(
    name: str,
    data: dict[str, str],
    origins: tuple[Origin, ...],
    of_key: dict[str, tuple[Origin, ...]],
    default: str = "",
) -> Config:
    text = json.dumps([data, default], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return Config(
        name=f"{name}-{digest}",
        data=data,
        origins=origins,
        of_key=of_key,
        default=default,
    )


# --- sharing -----------------------------------------------------------------------------------


def _sharing(context: Context, pool: GpuPool) -> Object:
    sharing = pool.pool.gpu.sharing if pool.pool.gpu else None
    if sharing is None:
        return {"version": "v1"}
    names = base_resources(context, pool)
    if sharing.mps is not None:
        mps = sharing.mps
        part = _shared(names, mps.replicas, renameByDefault=mps.rename_by_default)
        return {"version": "v1", "sharing": {"mps": part}}
    slicing = sharing.time_slicing
    assert slicing is not None
    part = _shared(
        names,
        slicing.replicas,
        renameByDefault=slicing.rename_by_default,
        failRequestsGreaterThanOne=slicing.fail_requests_greater_than_one,
    )
    return {"version": "v1", "sharing": {"timeSlicing": part}}


def _shared(names: Iterable[str], replicas: int, **switches: bool) -> Json:
    resources: Json = [{"name": name, "replicas": replicas} for name in names]
    return {**{key: True for key, on in switches.items() if on}, "resources": resources}


def _default_key(context: Context, documents: dict[str, Object]) -> str:
    for pool in context.pools:
        if pool not in context.shared_pools:
            return pool.name
    first, *others = documents.values()
    return next(iter(documents)) if all(item == first for item in others) else _UNSHARED


# --- MIG ---------------------------------------------------------------------------------------


def _layouts(pool: GpuPool) -> tuple[MigLayout, ...]:
    return pool.pool.gpu.mig.layout if pool.pool.gpu and pool.pool.gpu.mig else ()


def _uniform(context: Context, pool: GpuPool) -> Json:
    """One entry for every model; filtered by PCI id where models make different counts of it."""
    alike = [other for other in context.mig_pools if mig_set(other.pool) == mig_set(pool.pool)]
    counts = {other.accelerator.id: _devices(other) for other in alike}
    if len({json.dumps(item, sort_keys=True) for item in counts.values()}) == 1:
        return [{"devices": "all", "mig-enabled": True, "mig-devices": _devices(pool)}]
    models = {other.accelerator.id: other for other in alike}
    return [
        {
            "device-filter": _device_filter(other, context.facts.node_features.vendor),
            "devices": "all",
            "mig-enabled": True,
            "mig-devices": _devices(other),
        }
        for other in models.values()
    ]


def _devices(pool: GpuPool) -> Json:
    wanted = pool.pool.gpu.mig.profile if pool.pool.gpu and pool.pool.gpu.mig else None
    profiles = {item.name: item.count for item in pool.accelerator.mig_profiles}
    return {wanted: profiles[wanted]} if wanted in profiles and wanted else {}


def _device_filter(pool: GpuPool, vendor: str) -> Json:
    return [f"0x{pci.upper()}{vendor.upper()}" for pci in pool.accelerator.pci_ids]


def _layout_entries(pool: GpuPool) -> Iterator[Json]:
    """One entry for each part of the layout; GPUs that it leaves out stay whole."""
    gpu = pool.pool.gpu
    assert gpu is not None
    for part in _layouts(pool):
        chosen: Json = "all" if part.devices == "all" else [*part.devices]
        profiles: dict[str, Json] = dict(part.profiles)
        yield {"devices": chosen, "mig-enabled": True, "mig-devices": profiles}
    if whole_gpus(gpu):
        cut = {index for part in _layouts(pool) for index in devices(part, gpu)}
        rest: list[Json] = [index for index in range(gpu.count) if index not in cut]
        yield {"devices": rest, "mig-enabled": False}
