"""Fabric pools in, what is wrong with how they get their network driver out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from gitops_gen.components.network_operator.fabric import FabricPool
from gitops_gen.components.network_operator.findings import fabric_finding
from gitops_gen.components.network_operator.policy import ofed_per_pool, operator_ofed
from gitops_gen.components.network_operator.settings import NetworkOperatorSettings, Ofed
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.model import ClusterSpec, ComponentFacts

_OWN = ("spec", "components", "networkOperator")


def check_drivers(
    spec: ClusterSpec, pools: Sequence[FabricPool], facts: ComponentFacts
) -> Iterator[Diagnostic]:
    """Yield every finding about the pools whose network driver the operator brings."""
    data: Any = facts.data
    distribution = spec.kubernetes.distribution
    settings = cast(NetworkOperatorSettings, spec.components[facts.name].settings)
    if operator_ofed(pools):
        yield from _packages(spec, settings.ofed)
    yield from _upgrade(settings.ofed)
    for pool in operator_ofed(pools):
        if distribution in data["ofed"]["onHost"]:
            yield fabric_finding(
                pool,
                "ofed-on-host-image",
                f'pool "{pool.pool.name}": the node images of {distribution} bring the network driver, '
                "a second one breaks them",
                "set fabric.ofed: host",
                "ofed",
                on_key=True,
            )
        else:
            yield from _system(pool, data["ofed"], settings.ofed)
        if ofed_per_pool(pools):
            yield from _own_policy(pool, data["limits"]["nodePolicyName"])


def _own_policy(pool: FabricPool, longest: int) -> Iterator[Diagnostic]:
    """A pool that differs from others in its driver needs a policy of its own."""
    name = pool.pool.name
    if not pool.pool.node_selector:
        yield fabric_finding(
            pool,
            "fabric-needs-node-selector",
            f'pool "{name}" brings its network driver and another pool does not, '
            "but no label tells its nodes apart",
            f"give {name} a nodeSelector",
            "ofed",
            on_key=True,
        )
    if len(name) > longest:
        yield Diagnostic(
            code="fabric-pool-name-too-long",
            message=f'pool "{name}" needs a NicNodePolicy of its own, '
            f"whose name may have {longest} characters at most",
            path=("spec", "nodePools", pool.index, "name"),
            hint="shorten the pool's name, or let all fabric pools agree on fabric.ofed",
        )


def _system(pool: FabricPool, data: Any, ofed: Ofed) -> Iterator[Diagnostic]:
    """There are driver images for some operating systems only."""
    system = pool.pool.os
    if system is None:
        return
    if system not in data["images"]:
        sealed = system in data["sealed"]
        reason = "takes no kernel module of a container" if sealed else "has no published driver image"
        yield fabric_finding(
            pool,
            "ofed-unavailable",
            f'pool "{pool.pool.name}" asks the operator for its network driver, but {system} {reason}',
            "set fabric.ofed: host, and use the driver that the nodes bring",
            "ofed",
            severity=Severity.ERROR if sealed else Severity.WARNING,
            on_key=True,
        )
    elif ofed.force_precompiled and system not in data["precompiled"]:
        yield Diagnostic(
            code="ofed-precompiled-unavailable",
            severity=Severity.WARNING,
            message=f"ofed.forcePrecompiled is on, but no precompiled network driver is published "
            f'for {system} (pool "{pool.pool.name}")',
            path=(*_OWN, "ofed", "forcePrecompiled"),
            hint="remove forcePrecompiled, or build the image and offer it at your mirror",
            on_key=True,
        )


def _packages(spec: ClusterSpec, ofed: Ofed) -> Iterator[Diagnostic]:
    if spec.air_gap and not ofed.force_precompiled and not ofed.repo_config:
        yield Diagnostic(
            code="air-gap-driver-packages",
            severity=Severity.WARNING,
            message="the network driver's container installs kernel headers and compilers from package "
            "repositories, which this cluster does not reach",
            path=_OWN,
            hint="name a ConfigMap with your repositories under ofed.repoConfig, or set "
            "ofed.forcePrecompiled",
            on_key=True,
        )


def _upgrade(ofed: Ofed) -> Iterator[Diagnostic]:
    """What a drain needs has no effect without one."""
    needs = {
        "drainPods": (ofed.drain_pods is not None, ofed.drain, "drain"),
        "drainForce": (ofed.drain_force, ofed.drain, "drain"),
        "waitForPods": (ofed.wait_for_pods is not None, ofed.auto_upgrade, "autoUpgrade"),
        "safeLoad": (ofed.safe_load, ofed.auto_upgrade, "autoUpgrade"),
    }
    for key, (written, on, switch) in needs.items():
        if written and not on:
            yield Diagnostic(
                code="ofed-setting-unused",
                severity=Severity.WARNING,
                message=f"ofed.{key} has no effect while ofed.{switch} is off",
                path=(*_OWN, "ofed", key),
                hint=f"remove ofed.{key}, or switch ofed.{switch} on",
                on_key=True,
            )
