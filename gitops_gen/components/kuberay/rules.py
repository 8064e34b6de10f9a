"""A cluster spec in, what is wrong with its Ray clusters and their operator out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from gitops_gen.catalog.versions import Met, Version
from gitops_gen.components.kuberay.findings import finding, pool_findings
from gitops_gen.components.kuberay.settings import Cluster, KuberaySettings
from gitops_gen.components.kuberay.worker_rules import check_workers
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.images import split_registry, unreachable_images
from gitops_gen.model import ClusterSpec, ComponentFacts


def check(spec: ClusterSpec, facts: ComponentFacts) -> Iterator[Diagnostic]:
    """Yield every finding about the operator and the Ray clusters of this tree."""
    part = spec.components.get(facts.name)
    if part is None:
        return
    settings, data = cast(KuberaySettings, part.settings), cast(Any, facts.data)
    if part.provided:
        yield from _not_rendered(settings)
        return
    yield from _add_on(spec, settings)
    yield from _images(spec, settings, data)
    for index, cluster in enumerate(settings.clusters):
        yield from _watched(settings, index, cluster)
        yield from _auth(index, cluster, data["ray"])
        yield from _version(index, cluster)
        yield from _head_pool(spec, index, cluster)
    yield from check_workers(spec, settings, data)


def _not_rendered(settings: KuberaySettings) -> Iterator[Diagnostic]:
    if settings.clusters:
        yield finding(
            "kuberay-clusters-not-rendered",
            "kuberay is provided by somebody else, so nothing is rendered for it, its clusters included",
            ("clusters",),
            "remove `provided`; where the add-on of GKE runs the operator, write operator: {managedBy: gke}",
            on_key=True,
        )


def _add_on(spec: ClusterSpec, settings: KuberaySettings) -> Iterator[Diagnostic]:
    distribution = spec.kubernetes.distribution
    if settings.operator.managed_by == "gke" and distribution != "gke":
        yield finding(
            "kuberay-add-on-elsewhere",
            f'operator.managedBy is "gke", but the distribution is "{distribution}": it has no such add-on',
            ("operator", "managedBy"),
            "leave it out, so that this tree installs the operator",
        )


def _images(spec: ClusterSpec, settings: KuberaySettings, data: Any) -> Iterator[Diagnostic]:
    if settings.operator.managed_by == "self":
        yield from unreachable_images(spec, "KubeRay", (data["image"]["repository"],))
    images = (_repository(cluster.image) for cluster in settings.clusters)
    yield from unreachable_images(spec, "the Ray clusters", images)


def _repository(image: str) -> str:
    registry, path = split_registry(image.partition("@")[0])
    return f"{registry}/{path.partition(':')[0]}"


def _watched(settings: KuberaySettings, index: int, cluster: Cluster) -> Iterator[Diagnostic]:
    namespaces = settings.operator.namespaces
    if namespaces and cluster.namespace not in namespaces:
        yield finding(
            "kuberay-namespace-not-watched",
            f'Ray cluster "{cluster.name}" is in the namespace {cluster.namespace}, '
            f"but the operator watches {', '.join(namespaces)} only: nothing would run it",
            ("clusters", index),
            f"add {cluster.namespace} to operator.namespaces, or move the cluster",
        )


def _auth(index: int, cluster: Cluster, ray: Any) -> Iterator[Diagnostic]:
    known = Version.parse(cluster.version).meets(Version.parse(ray["token"])) is not Met.NO
    if cluster.auth == "disabled":
        yield finding(
            "kuberay-without-auth",
            f'Ray cluster "{cluster.name}" asks for no token: every pod that reaches its dashboard, port '
            f"{ray['dashboardPort']}, or its client port can run code on all of its nodes",
            ("clusters", index, "auth") if known else ("clusters", index),
            "remove `auth`; the operator makes the token"
            if known
            else f"take Ray {ray['token']} or later, or keep other pods away and accept this",
            severity=Severity.WARNING,
        )
    elif not known:
        yield finding(
            "kuberay-auth-too-old",
            f"Ray {cluster.version} knows no tokens; they came with {ray['token']}",
            ("clusters", index, "version"),
            f"take Ray {ray['token']} or later, or write auth: disabled and keep other pods away",
        )


def _version(index: int, cluster: Cluster) -> Iterator[Diagnostic]:
    """An image is often tagged with its release, and what stands behind it: `2.56.1-py311-gpu`."""
    tag = split_registry(cluster.image.partition("@")[0])[1].partition(":")[2]
    release = tag.partition("-")[0]
    if release.count(".") == 2 and release.replace(".", "").isdigit() and release != cluster.version:
        yield finding(
            "kuberay-image-version-differs",
            f'image tag "{tag}" looks like Ray {release}, but version says {cluster.version}: '
            "the operator would start it with the flags of another release",
            ("clusters", index, "version"),
            f"write version: {release}, or take another image",
            severity=Severity.WARNING,
        )


def _head_pool(spec: ClusterSpec, index: int, cluster: Cluster) -> Iterator[Diagnostic]:
    if cluster.head.pool is not None:
        yield from pool_findings(spec, cluster.head.pool, ("clusters", index, "head", "pool"))
