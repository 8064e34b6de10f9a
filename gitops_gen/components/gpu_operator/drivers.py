"""Pools whose driver the operator brings in, one NVIDIADriver object for each of them out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops_gen.components.gpu_operator.context import (
    Context,
    environment,
    of_pool,
    own,
)
from gitops_gen.components.gpu_operator.recipes import GpuPool
from gitops_gen.components.gpu_operator.settings import PoolDriver
from gitops_gen.components.gpu_operator.values.driver import (
    cert_config_map,
    default_driver,
    driver_environment,
    rdma_settings,
    upgrade_policy,
)
from gitops_gen.components.gpu_operator.values.placement import pool_tolerations
from gitops_gen.components.gpu_operator.values.registry import mirrored, pull_secrets
from gitops_gen.model import Json, Manifest, Origin, Setting, from_fact, from_rule
from gitops_gen.traced import collect, put

_SYNC_OPTIONS = ("metadata", "annotations", "argocd.argoproj.io/sync-options")
_COSTLY = from_rule("without this object its nodes lose the driver, so that removing it is confirmed")
_CRD = ("driver", "nvidiaDriverCRD")


def nvidia_drivers(context: Context) -> Iterator[Manifest]:
    """Yield one NVIDIADriver for each pool, chosen by the pool's node selector."""
    if context.own_driver_objects:
        for pool in context.driver_pools:
            yield Manifest(object=collect(_driver(context, pool)), cluster_scoped=True)


def pool_driver(context: Context, pool: GpuPool) -> PoolDriver:
    """Return what the spec says of one pool's driver."""
    return context.settings.driver.nvidia_driver_crd.pools.get(pool.name, PoolDriver())


def driver_version(context: Context, pool: GpuPool) -> tuple[str, Origin]:
    """Return the version that a pool's driver object gets: its own, everybody's or the chart's."""
    own_version = pool_driver(context, pool).version if context.own_driver_objects else None
    if own_version is not None:
        return own_version, own(*_CRD, "pools", pool.name, "version")
    if context.settings.driver.version is not None:
        return context.settings.driver.version, own("driver", "version")
    return default_driver(context)


def _driver(context: Context, pool: GpuPool) -> Iterator[Setting]:
    asked = own(*_CRD, "enabled")
    yield put("apiVersion", "nvidia.com/v1alpha1", asked)
    yield put("kind", "NVIDIADriver", asked)
    yield put("metadata.name", pool.name, of_pool(pool, "name"))
    yield put(_SYNC_OPTIONS, "Prune=confirm,Delete=confirm", _COSTLY)
    if "defaultDriverCR" in context.version.supports:
        yield put("spec.default", False, of_pool(pool, "nodeSelector"))
    yield from _image(context, pool)
    for key, value in pool.pool.node_selector.items():
        yield put(("spec", "nodeSelector", key), value, of_pool(pool, "nodeSelector", key))
    yield put(
        "spec.tolerations",
        pool_tolerations(context, pool.index),
        of_pool(pool, "taints"),
    )
    for key, wanted, origins in rdma_settings(context):
        yield put(f"spec.rdma.{key}", wanted, *origins)
    for name, value, origin in driver_environment(context):
        for item in environment({name: value}):
            yield put("spec.env[]", dict(item), origin)
    yield from _references(context)
    yield from _modules(context)
    if "driverUpgradePolicyPerCR" in context.version.supports:
        for path, setting, origin in upgrade_policy(context):
            inner = path.replace("gpuPodDeletion", "podDeletion")
            yield put(f"spec.upgradePolicy.{inner}", setting, origin)


def _image(context: Context, pool: GpuPool) -> Iterator[Setting]:
    """The image fields are required or defaulted by the CRD to another registry: written out."""
    chosen, everybody = pool_driver(context, pool), context.settings.driver
    place = own(*_CRD, "pools", pool.name)
    yield put("spec.driverType", chosen.driver_type, place)
    precompiled = everybody.use_precompiled if chosen.use_precompiled is None else chosen.use_precompiled
    yield put("spec.usePrecompiled", precompiled, place, own("driver", "usePrecompiled"))
    modules = chosen.kernel_module_type or everybody.kernel_module_type
    if modules is not None:
        yield put("spec.kernelModuleType", modules, place, own("driver", "kernelModuleType"))
    yield from _repository(context, chosen.repository or everybody.repository, place)
    image = chosen.image or everybody.image or context.default("driver.image")
    yield put("spec.image", image, place, own("driver", "image"))
    version, origin = driver_version(context, pool)
    yield put("spec.version", version, origin)
    for name, secret in pull_secrets(context, "driver"):
        yield put("spec.imagePullSecrets[]", name, secret)


def _repository(context: Context, chosen: str | None, place: Origin) -> Iterator[Setting]:
    if chosen is not None:
        yield put("spec.repository", chosen, place, own("driver", "repository"))
        return
    usual = str(context.default("driver.repository"))
    mirror = mirrored(usual, context.spec.registry.mirrors)
    fact = from_fact(f"gpu-operator: driver.repository of {context.part.version}")
    yield (put("spec.repository", usual, fact) if mirror is None else put("spec.repository", *mirror))


def _references(context: Context) -> Iterator[Setting]:
    driver = context.settings.driver
    named: dict[str, tuple[str | None, Origin]] = {
        "repoConfig": (driver.repo_config_map, own("driver", "repoConfigMap")),
        "certConfig": cert_config_map(context) or (None, own("driver", "certConfigMap")),
        "kernelModuleConfig": (
            driver.kernel_module_config_map,
            own("driver", "kernelModuleConfigMap"),
        ),
        "virtualTopologyConfig": (
            driver.virtual_topology_config_map,
            own("driver", "virtualTopologyConfigMap"),
        ),
    }
    for key, (name, origin) in named.items():
        if name:
            yield put(f"spec.{key}.name", name, origin)
    if driver.env_secret:
        yield put("spec.secretEnv", driver.env_secret, own("driver", "envSecret"))
    if driver.licensing is not None:
        secret = own("driver", "licensing")
        yield put("spec.licensingConfig.secretName", driver.licensing.secret_name, secret)
        yield put("spec.licensingConfig.nlsEnabled", driver.licensing.nls, secret)


def _modules(context: Context) -> Iterator[Setting]:
    """The driver pod loads these modules too; the objects do not share the chart's images."""
    for key, wanted in (
        ("gds", context.settings.gds),
        ("gdrcopy", context.settings.gdrcopy),
    ):
        if wanted:
            yield put(f"spec.{key}.enabled", True, own(key))
            yield from _module_image(context, key)


def _module_image(context: Context, key: str) -> Iterator[Setting]:
    fact = from_fact(f"gpu-operator: images of {context.part.version}")
    repository: Any = context.default(f"{key}.repository")
    mirror = mirrored(repository, context.spec.registry.mirrors)
    path = f"spec.{key}.repository"
    yield put(path, repository, fact) if mirror is None else put(path, *mirror)
    for part in ("image", "version"):
        value: Json = context.default(f"{key}.{part}")
        yield put(f"spec.{key}.{part}", value, fact)
    for name, secret in pull_secrets(context, key):
        yield put(f"spec.{key}.imagePullSecrets[]", name, secret)
