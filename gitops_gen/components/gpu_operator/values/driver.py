"""The driver's part of the spec in, the chart's `driver` values out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from gitops_gen.components.gpu_operator.context import (
    Context,
    environment,
    of_pool,
    of_recipe,
    own,
)
from gitops_gen.model import Json, Origin, Setting, from_fact, from_rule, from_spec
from gitops_gen.traced import put

_OWN_OBJECTS = from_rule("one NVIDIADriver for each pool; one for all nodes beside them would overlap")


def driver_values(context: Context) -> Iterator[Setting]:
    """Yield the driver: off, one for the cluster, or left to NVIDIADriver objects."""
    if not context.driver_enabled:
        yield from _off(context)
        return
    if context.driver_objects:
        yield from _driver_objects(context)
    if not context.own_driver_objects:
        yield from _one_driver(context)
    yield from _upgrade_policy(context)


def driver_environment(context: Context) -> Iterator[tuple[str, str, Origin]]:
    """Yield the variables of the driver container: the proxy's, then the user's own."""
    names = context.facts.proxy
    proxy = context.spec.proxy
    own_env = context.settings.driver.env
    values = {
        "http": proxy.http,
        "https": proxy.https,
        "noProxy": ",".join(proxy.no_proxy),
    }
    if context.spec.kubernetes.distribution not in names.provided_by:
        for spelling in (names.upper, names.lower):
            for key, name in spelling.items():
                value = values[key]
                if value and name not in own_env:
                    yield name, value, from_spec("proxy", key)
    for name, value in own_env.items():
        yield name, value, own("driver", "env", name)


def cert_config_map(context: Context) -> tuple[str, Origin] | None:
    """Return the ConfigMap with certificates for the driver container and where it is named."""
    if context.settings.driver.cert_config_map:
        return context.settings.driver.cert_config_map, own("driver", "certConfigMap")
    if context.spec.proxy.ca_config_map:
        return context.spec.proxy.ca_config_map, from_spec("proxy", "caConfigMap")
    return None


def rdma_settings(context: Context) -> Iterator[tuple[str, bool, tuple[Origin, ...]]]:
    """Yield the keys below `driver.rdma` that differ from the chart's."""
    if not context.settings.driver.rdma:
        return
    yield "enabled", True, (own("driver", "rdma"),)
    for pool in context.driver_pools:
        if pool.pool.fabric is not None and pool.pool.fabric.ofed == "host":
            yield (
                "useHostMofed",
                True,
                (own("driver", "rdma"), of_pool(pool, "fabric", "ofed")),
            )
            return


def upgrade_policy(context: Context) -> Iterator[tuple[str, Json, Origin]]:
    """Yield what the spec says of driver upgrades, by path below `upgradePolicy`."""
    policy: Any = msgspec.to_builtins(context.settings.driver.upgrade_policy)
    for key, value in policy.items():
        if isinstance(value, dict):
            for name, inner in value.items():
                if inner is not None:
                    yield (
                        f"{key}.{name}",
                        inner,
                        own("driver", "upgradePolicy", key, name),
                    )
        elif value is not None:
            yield key, value, own("driver", "upgradePolicy", key)


def _off(context: Context) -> Iterator[Setting]:
    origins = [origin for pool in context.pools for origin in (of_pool(pool, "driver"),)]
    yield put("driver.enabled", False, *origins, of_recipe(context.pools[0]))


def _driver_objects(context: Context) -> Iterator[Setting]:
    crd = context.settings.driver.nvidia_driver_crd
    asked = own("driver", "nvidiaDriverCRD", "enabled") if crd.enabled else own("gpuCluster", "enabled")
    yield put("driver.nvidiaDriverCRD.enabled", True, asked)
    if context.own_driver_objects:
        yield put("driver.nvidiaDriverCRD.deployDefaultCR", False, asked, _OWN_OBJECTS)


def _one_driver(context: Context) -> Iterator[Setting]:
    driver = context.settings.driver
    if driver.version is not None:
        yield put("driver.version", driver.version, own("driver", "version"))
    if driver.repository is not None:
        yield put("driver.repository", driver.repository, own("driver", "repository"))
    if driver.image is not None:
        yield put("driver.image", driver.image, own("driver", "image"))
    if driver.kernel_module_type is not None:
        yield put(
            "driver.kernelModuleType",
            driver.kernel_module_type,
            own("driver", "kernelModuleType"),
        )
    if driver.use_precompiled:
        yield put("driver.usePrecompiled", True, own("driver", "usePrecompiled"))
    for key, wanted, origins in rdma_settings(context):
        yield put(f"driver.rdma.{key}", wanted, *origins)
    for name, value, origin in driver_environment(context):
        for item in environment({name: value}):
            yield put("driver.env[]", dict(item), origin)
    yield from _config_maps(context)


def _config_maps(context: Context) -> Iterator[Setting]:
    driver = context.settings.driver
    if driver.env_secret:
        yield put("driver.secretEnv", driver.env_secret, own("driver", "envSecret"))
    if driver.repo_config_map:
        yield put(
            "driver.repoConfig.configMapName",
            driver.repo_config_map,
            own("driver", "repoConfigMap"),
        )
    cert = cert_config_map(context)
    if cert is not None:
        yield put("driver.certConfig.name", *cert)
    if driver.kernel_module_config_map:
        yield put(
            "driver.kernelModuleConfig.name",
            driver.kernel_module_config_map,
            own("driver", "kernelModuleConfigMap"),
        )
    if driver.virtual_topology_config_map:
        yield put(
            "driver.virtualTopology.config",
            driver.virtual_topology_config_map,
            own("driver", "virtualTopologyConfigMap"),
        )
    if driver.licensing is not None:
        secret = own("driver", "licensing", "secretName")
        yield put("driver.licensingConfig.secretName", driver.licensing.secret_name, secret)
        if not driver.licensing.nls:
            yield put(
                "driver.licensingConfig.nlsEnabled",
                False,
                own("driver", "licensing", "nls"),
            )


def _upgrade_policy(context: Context) -> Iterator[Setting]:
    """With own objects from the version on that has a policy in each of them, it goes there."""
    if context.own_driver_objects and "driverUpgradePolicyPerCR" in context.version.supports:
        return
    for path, value, origin in upgrade_policy(context):
        yield put(f"driver.upgradePolicy.{path}", value, origin)


def default_driver(context: Context) -> tuple[str, Origin]:
    """Return the driver version that the chart brings."""
    reference = context.version.reference(f"default driver of {context.part.version}")
    return context.version.driver, from_fact(reference)
