"""A cluster spec in, what its cloud, its mirrors and its adapters keep the Network Operator from out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gitops_gen.components.network_operator.fabric import FabricPool
from gitops_gen.components.network_operator.findings import fabric_finding
from gitops_gen.components.network_operator.policy import deployed_parts
from gitops_gen.components.network_operator.values import (
    chart_images,
    chart_parts,
    policy_images,
)
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.images import unreachable_images
from gitops_gen.model import ClusterSpec, ComponentFacts


def check_surroundings(
    spec: ClusterSpec, pools: Sequence[FabricPool], facts: ComponentFacts
) -> Iterator[Diagnostic]:
    """Yield what lies outside the fabric itself."""
    data: Any = facts.data
    yield from _images(spec, pools, facts)
    yield from _openshift(spec, facts)
    for pool in pools:
        yield from _adapters(spec, pool, data["adapters"])


def _images(spec: ClusterSpec, pools: Sequence[FabricPool], facts: ComponentFacts) -> Iterator[Diagnostic]:
    versions: Any = facts.data["versions"]
    version = versions[spec.components[facts.name].version]
    chart = (image for _, image in chart_images(version, chart_parts(spec, pools, facts)))
    own = policy_images(version, deployed_parts(spec, pools, facts))
    used = (image for image in (*chart, *own) if image not in version["neverPulled"])
    yield from unreachable_images(spec, "the Network Operator", used)


def _openshift(spec: ClusterSpec, facts: ComponentFacts) -> Iterator[Diagnostic]:
    if spec.kubernetes.distribution == "openshift":
        yield Diagnostic(
            code="openshift-without-olm",
            severity=Severity.NOTICE,
            message="NVIDIA documents the Network Operator on OpenShift through OLM, and OpenShift brings "
            "Multus and an SR-IOV operator of its own; this tree installs the Helm chart",
            path=("spec", "components", facts.name),
            on_key=True,
        )


def _adapters(spec: ClusterSpec, pool: FabricPool, data: Any) -> Iterator[Diagnostic]:
    vendor, others = data["vendor"], data["elsewhere"]
    if vendor not in pool.fabric.vendor_ids:
        yield fabric_finding(
            pool,
            "fabric-vendor-unsupported",
            f'pool "{pool.pool.name}" has no adapters of vendor {vendor}: what the operator deploys '
            "runs on nodes with NVIDIA adapters only",
            f'add "{vendor}" to fabric.vendorIds, or remove the fabric',
            "vendorIds",
        )
    distribution = spec.kubernetes.distribution
    if distribution in others:
        yield fabric_finding(
            pool,
            "fabric-adapters-missing",
            f"instances of {distribution} have {others[distribution]} adapters, which the Network Operator "
            f'does not serve: pool "{pool.pool.name}" will advertise nothing',
            "remove the fabric and install your cloud's device plugin, unless these nodes are your own",
            severity=Severity.WARNING,
            on_key=True,
        )
