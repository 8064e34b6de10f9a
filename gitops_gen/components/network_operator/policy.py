"""Fabric pools in, the NicClusterPolicy and NicNodePolicy objects out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from gitops_gen.components.network_operator.fabric import (
    FabricPool,
    SharedResource,
    shared_resources,
)
from gitops_gen.components.network_operator.objects import (
    header,
    node_term,
    selector_origin,
    tolerations,
)
from gitops_gen.components.network_operator.settings import (
    NetworkOperatorSettings,
    Ofed,
)
from gitops_gen.images import mirrored
from gitops_gen.model import (
    ClusterSpec,
    ComponentFacts,
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

POLICY = "nic-cluster-policy"
_OWN = ("components", "networkOperator")
_ONE_NAME = from_rule(f"the operator accepts one NicClusterPolicy, named {POLICY}")
_EXPLICIT = from_rule("written out, so that the API server's default is no difference")
_RDMA_SELECTORS = {
    "interfaces": "ifNames",
    "vendorIds": "vendors",
    "deviceIds": "deviceIDs",
    "linkTypes": "linkTypes",
}
_SRIOV_SELECTORS = {
    "interfaces": "pfNames",
    "pciAddresses": "pciAddresses",
    "vendorIds": "vendors",
    "deviceIds": "devices",
    "linkTypes": "linkTypes",
}
_DRAIN = {
    "enable": "drain",
    "force": "drainForce",
    "deleteEmptyDir": "drainDeleteEmptyDir",
    "timeoutSeconds": "drainTimeoutSeconds",
    "podSelector": "drainPods",
}


def policies(
    spec: ClusterSpec,
    settings: NetworkOperatorSettings,
    pools: Sequence[FabricPool],
    facts: ComponentFacts,
) -> Iterator[Manifest]:
    """Yield the cluster's NicClusterPolicy and, where pools differ in OFED, one policy per pool."""
    if not pools:
        return
    writer = _Writer(spec, settings, facts)
    yield Manifest(object=collect(writer.cluster_policy(pools)), cluster_scoped=True)
    if ofed_per_pool(pools):
        for pool in operator_ofed(pools):
            yield Manifest(object=collect(writer.node_policy(pool)), cluster_scoped=True)


def operator_ofed(pools: Sequence[FabricPool]) -> tuple[FabricPool, ...]:
    """Return the pools whose network driver the operator brings."""
    return tuple(pool for pool in pools if pool.fabric.ofed == "operator")


def ofed_per_pool(pools: Sequence[FabricPool]) -> bool:
    """Say whether some pools bring their driver and others do not."""
    return 0 < len(operator_ofed(pools)) < len(pools)


def brings_plugins(spec: ClusterSpec, facts: ComponentFacts) -> bool:
    """Say whether Multus and the usual network plugins have to come with the policy."""
    cni: Any = facts.data["cni"]
    return spec.kubernetes.distribution not in cni["own"]


def deployed_parts(spec: ClusterSpec, pools: Sequence[FabricPool], facts: ComponentFacts) -> Iterator[str]:
    """Yield the parts of the policies that these pools lead to."""
    attached = [pool for pool in pools if attaches(pool)]
    plugins = attached if brings_plugins(spec, facts) else []
    wanted = {
        "ofedDriver": operator_ofed(pools),
        "rdmaSharedDevicePlugin": shared_resources(pools, "rdmaSharedDevicePlugin"),
        "sriovDevicePlugin": shared_resources(pools, "sriovDevicePlugin"),
        "nvIpam": [pool for pool in pools if pool.fabric.network],
        "cniPlugins": plugins,
        "multus": plugins,
        "ipoib": [pool for pool in attached if pool.kind == "IPoIBNetwork"],
    }
    yield from (part for part, because in wanted.items() if because)


class _Writer:
    """Writes the parts of the policies for one spec."""

    def __init__(
        self,
        spec: ClusterSpec,
        settings: NetworkOperatorSettings,
        facts: ComponentFacts,
    ) -> None:
        version = spec.components[facts.name].version
        versions: Any = facts.data["versions"]
        self._spec = spec
        self._settings = settings
        self._plugins = brings_plugins(spec, facts)
        self._images: Any = versions[version]["images"]
        self._images_fact = from_fact(
            f"network_operator/component.yaml: images of {version} ({versions[version]['imagesSource']})"
        )

    def cluster_policy(self, pools: Sequence[FabricPool]) -> Iterator[Setting]:
        """Yield the NicClusterPolicy."""
        on = tuple(pool.origin() for pool in pools)
        yield from header("NicClusterPolicy", POLICY, 1, *on, _ONE_NAME)
        if operator_ofed(pools) and not ofed_per_pool(pools):
            yield from self._ofed(operator_ofed(pools))
        yield from self._rdma_shared(shared_resources(pools, "rdmaSharedDevicePlugin"))
        yield from self._sriov_plugin(shared_resources(pools, "sriovDevicePlugin"))
        yield from self._ipam(pools)
        yield from self._secondary_network(pools)
        yield from _node_affinity(pools)
        for wanted, origin in tolerations(pools):
            yield put("spec.tolerations[]", wanted, origin)
        own: list[Json] = [dict(item) for item in self._settings.tolerations]
        if own:
            yield put("spec.deploymentTolerations", own, from_spec(*_OWN, "tolerations"))

    def node_policy(self, pool: FabricPool) -> Iterator[Setting]:
        """Yield the NicNodePolicy that brings the driver to one pool."""
        yield from header("NicNodePolicy", pool.pool.name, 1, pool.origin("ofed"))
        yield from self._ofed((pool,))
        selector: Json = dict(pool.pool.node_selector)
        yield put("spec.nodeSelector", selector, selector_origin(pool))
        for wanted, origin in tolerations((pool,)):
            yield put("spec.tolerations[]", wanted, origin)

    def _image(self, at: str, component: str, *origins: Origin) -> Iterator[Setting]:
        known = self._images[component]
        yield put(f"{at}.image", known["image"], *origins, self._images_fact)
        mirror = mirrored(known["repository"], self._spec.registry.mirrors)
        repository, because = (known["repository"], ()) if mirror is None else (mirror[0], mirror[1:])
        yield put(f"{at}.repository", repository, *because, self._images_fact)
        yield put(f"{at}.version", known["version"], self._images_fact)
        secrets: list[Json] = list(self._spec.registry.pull_secrets)
        yield put(
            f"{at}.imagePullSecrets",
            secrets,
            from_spec("registry", "pullSecrets"),
            _EXPLICIT,
        )

    def _ofed(self, pools: Sequence[FabricPool]) -> Iterator[Setting]:
        at, ofed = "spec.ofedDriver", self._settings.ofed
        yield from self._image(at, "ofedDriver", *(pool.origin("ofed") for pool in pools))
        for key, setting in (
            ("forcePrecompiled", ofed.force_precompiled),
            ("terminationGracePeriodSeconds", ofed.termination_grace_period_seconds),
        ):
            yield put(f"{at}.{key}", setting, from_spec(*_OWN, "ofed", key), _EXPLICIT)
        yield from _upgrade_policy(f"{at}.upgradePolicy", ofed)
        yield from _ofed_env(at, ofed, self._spec)
        if ofed.repo_config:
            yield put(
                f"{at}.repoConfig.name",
                ofed.repo_config,
                from_spec(*_OWN, "ofed", "repoConfig"),
            )
        if self._spec.proxy.ca_config_map:
            name = self._spec.proxy.ca_config_map
            yield put(f"{at}.certConfig.name", name, from_spec("proxy", "caConfigMap"))

    def _rdma_shared(self, resources: Sequence[SharedResource]) -> Iterator[Setting]:
        if not resources:
            return
        origins = _origins(resources)
        entries: list[Json] = [
            {
                "resourceName": item.resource,
                "rdmaHcaMax": self._settings.rdma_hca_max,
                "selectors": _named(item, _RDMA_SELECTORS),
            }
            for item in resources
        ]
        at = "spec.rdmaSharedDevicePlugin"
        yield from self._image(at, "rdmaSharedDevicePlugin", *origins)
        most = from_spec(*_OWN, "rdmaHcaMax")
        yield put(f"{at}.config", _text({"configList": entries}), *origins, most)

    def _sriov_plugin(self, resources: Sequence[SharedResource]) -> Iterator[Setting]:
        if not resources:
            return
        origins = _origins(resources)
        entries: list[Json] = [
            {
                "resourcePrefix": item.pools[0].prefix,
                "resourceName": item.resource,
                "selectors": {**_named(item, _SRIOV_SELECTORS), "isRdma": True},
            }
            for item in resources
        ]
        at = "spec.sriovDevicePlugin"
        yield from self._image(at, "sriovDevicePlugin", *origins)
        yield put(f"{at}.config", _text({"resourceList": entries}), *origins)

    def _ipam(self, pools: Sequence[FabricPool]) -> Iterator[Setting]:
        origins = tuple(pool.origin("network") for pool in pools if pool.fabric.network)
        if origins:
            yield from self._image("spec.nvIpam", "nvIpam", *origins)

    def _secondary_network(self, pools: Sequence[FabricPool]) -> Iterator[Setting]:
        attached = [pool for pool in pools if attaches(pool)]
        if not attached:
            return
        origins = tuple(pool.origin() for pool in attached)
        ipoib = tuple(pool.origin("type") for pool in attached if pool.kind == "IPoIBNetwork")
        at = "spec.secondaryNetwork"
        if self._plugins:
            yield from self._image(f"{at}.cniPlugins", "cniPlugins", *origins)
        if ipoib:
            yield from self._image(f"{at}.ipoib", "ipoib", *ipoib)
        if self._plugins:
            yield from self._image(f"{at}.multus", "multus", *origins)


def attaches(pool: FabricPool) -> bool:
    """Say whether pods get an interface of the fabric: shared adapters need addresses for that."""
    return pool.fabric.network is not None or pool.fabric.rdma != "sharedDevice"


def _upgrade_policy(at: str, ofed: Ofed) -> Iterator[Setting]:
    own = (*_OWN, "ofed")
    yield put(f"{at}.autoUpgrade", ofed.auto_upgrade, from_spec(*own, "autoUpgrade"))
    most = from_spec(*own, "maxParallelUpgrades")
    yield put(f"{at}.maxParallelUpgrades", ofed.max_parallel_upgrades, most)
    yield put(f"{at}.safeLoad", ofed.safe_load, from_spec(*own, "safeLoad"), _EXPLICIT)
    if ofed.wait_for_pods is not None:
        pods = from_spec(*own, "waitForPods")
        yield put(f"{at}.waitForCompletion.podSelector", ofed.wait_for_pods, pods)
        most_seconds = from_spec(*own, "waitTimeoutSeconds")
        yield put(f"{at}.waitForCompletion.timeoutSeconds", ofed.wait_timeout_seconds, most_seconds)
    for key, value in (
        ("enable", ofed.drain),
        ("force", ofed.drain_force),
        ("deleteEmptyDir", ofed.drain_delete_empty_dir),
        ("timeoutSeconds", ofed.drain_timeout_seconds),
        ("podSelector", ofed.drain_pods),
    ):
        if value is not None:
            yield put(f"{at}.drain.{key}", value, from_spec(*own, _DRAIN[key]))


def _ofed_env(at: str, ofed: Ofed, spec: ClusterSpec) -> Iterator[Setting]:
    """The driver's package managers read the proxy in upper and in lower case."""
    proxy = {
        "HTTP_PROXY": (spec.proxy.http, "http"),
        "HTTPS_PROXY": (spec.proxy.https, "https"),
        "NO_PROXY": (",".join(spec.proxy.no_proxy), "noProxy"),
    }
    for upper, (value, key) in proxy.items():
        for name in (upper, upper.lower()):
            if value and name not in ofed.env:
                yield put(f"{at}.env[]", {"name": name, "value": value}, from_spec("proxy", key))
    for name, value in ofed.env.items():
        own = from_spec(*_OWN, "ofed", "env", name)
        yield put(f"{at}.env[]", {"name": name, "value": value}, own)


def _node_affinity(pools: Sequence[FabricPool]) -> Iterator[Setting]:
    """Keep the DaemonSets on the pools, unless one of them cannot be told by its labels."""
    if any(not pool.pool.node_selector for pool in pools):
        return
    at = "spec.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[]"
    for pool in pools:
        yield put(at, node_term(pool), selector_origin(pool))


def _named(item: SharedResource, names: dict[str, str]) -> Object:
    return {names[key]: list(values) for key, values in item.selectors.items()}


def _origins(resources: Sequence[SharedResource]) -> tuple[Origin, ...]:
    return tuple(pool.origin() for item in resources for pool in item.pools)


def _text(config: Object) -> str:
    return json.dumps(config, indent=2) + "\n"
