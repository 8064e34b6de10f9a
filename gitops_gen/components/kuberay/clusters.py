"""A cluster spec in, one Application for each Ray cluster out: RayCluster and what scrapes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from gitops_gen.catalog.versions import Met, Version
from gitops_gen.components.kuberay.pods import head_template, start_parameters, worker_template
from gitops_gen.components.kuberay.settings import Cluster, KuberaySettings, Scaling
from gitops_gen.components.kuberay.workers import Placed, groups_of
from gitops_gen.components.parts import pull_secrets, secured_namespace
from gitops_gen.model import (
    Application,
    ClusterSpec,
    CommandBlock,
    ComponentFacts,
    DirectorySource,
    IgnoreDifference,
    Json,
    Manifest,
    NamespaceRequest,
    NodePool,
    Object,
    Origin,
    Pruning,
    SecretRequest,
    Setting,
    from_fact,
    from_rule,
    from_spec,
)
from gitops_gen.traced import collect, put

_WAVE = 0
_OPTIONS = ("metadata", "annotations", "argocd.argoproj.io/sync-options")
_OTHER_APP = from_rule("its kind comes with the operator, in another Application")


def cluster_applications(
    spec: ClusterSpec, settings: KuberaySettings, facts: ComponentFacts
) -> Iterator[Application]:
    """Yield one Application for each Ray cluster, in the order of the spec."""
    for index in range(len(settings.clusters)):
        yield _application(spec, settings, index, facts)


def _application(
    spec: ClusterSpec, settings: KuberaySettings, index: int, facts: ComponentFacts
) -> Application:
    data: Any = facts.data
    cluster = settings.clusters[index]
    own = ("components", facts.name, "clusters", index)
    objects = [collect(_ray_cluster(spec, settings, index, data))]
    if "monitoring" in spec.components:
        objects.append(collect(_pod_monitor(spec, cluster, own, data["ray"])))
    return Application(
        name=f"ray-{cluster.name}",
        component=facts.name,
        stack=data["stackOfClusters"]["name"],
        namespace=cluster.namespace,
        wave=_WAVE,
        sources=(DirectorySource(manifests=tuple(Manifest(object=item) for item in objects)),),
        namespaces=(_namespace(settings, cluster, own, facts),),
        secrets=tuple(_secrets(spec, cluster, data["ray"])),
        ignore_differences=tuple(_autoscaled(cluster)),
        keeps_ignored=False,
        pruning=Pruning.CONFIRM,
        notes=tuple(_notes(cluster)),
        commands=tuple(_commands(cluster, data["ray"])),
        origins=(from_spec(*own),),
    )


def _ray_cluster(spec: ClusterSpec, settings: KuberaySettings, index: int, data: Any) -> Iterator[Setting]:
    cluster = settings.clusters[index]
    own = ("components", "kuberay", "clusters", index)
    at = from_spec(*own)
    yield put("apiVersion", "ray.io/v1", at)
    yield put("kind", "RayCluster", at)
    yield put("metadata.name", cluster.name, from_spec(*own, "name"))
    yield put("metadata.namespace", cluster.namespace, from_spec(*own, "namespace"))
    yield put(_OPTIONS, "SkipDryRunOnMissingResource=true", _OTHER_APP)
    yield put("spec.rayVersion", cluster.version, from_spec(*own, "version"))
    yield from _auth(cluster, own)
    yield from _autoscaling(cluster, own, data["ray"])
    if cluster.upgrade_strategy != "None":
        yield put("spec.upgradeStrategy.type", cluster.upgrade_strategy, from_spec(*own, "upgradeStrategy"))
    yield from _head(spec, cluster, own)
    for placed in groups_of(spec, settings, index, data):
        yield put("spec.workerGroupSpecs[]", _group(spec, placed, data), *_group_origins(placed))


def _auth(cluster: Cluster, own: tuple[str | int, ...]) -> Iterator[Setting]:
    mode = from_spec(*own, "auth")
    yield put("spec.authOptions.mode", cluster.auth, mode)
    if cluster.auth == "token" and cluster.auth_secret is not None:
        yield put("spec.authOptions.secretName", cluster.auth_secret, from_spec(*own, "authSecret"))


def autoscales(cluster: Cluster) -> bool:
    """Say whether Ray chooses the number of workers of any group."""
    return any(isinstance(group.replicas, Scaling) for group in cluster.worker_groups)


def _autoscaling(cluster: Cluster, own: tuple[str | int, ...], ray: Any) -> Iterator[Setting]:
    if not autoscales(cluster):
        return
    yield put("spec.enableInTreeAutoscaling", True, from_spec(*own, "workerGroups"))
    if Version.parse(cluster.version).meets(Version.parse(ray["autoscalerV2"])) is not Met.NO:
        fact = from_fact(f"kuberay/component.yaml: ray ({ray['source']})")
        yield put("spec.autoscalerOptions.version", "v2", from_spec(*own, "version"), fact)
    idle = from_spec(*own, "idleTimeoutSeconds")
    yield put("spec.autoscalerOptions.idleTimeoutSeconds", cluster.idle_timeout_seconds, idle)


def _head(spec: ClusterSpec, cluster: Cluster, own: tuple[str | int, ...]) -> Iterator[Setting]:
    head = from_spec(*own, "head")
    pools = {pool.name: pool for pool in spec.node_pools}
    pool = pools.get(cluster.head.pool) if cluster.head.pool is not None else None
    inside = from_rule("the dashboard stays inside the cluster")
    yield put("spec.headGroupSpec.serviceType", "ClusterIP", inside)
    parameters: Object = {} if cluster.head.run_tasks else {"num-cpus": "0"}
    yield put("spec.headGroupSpec.rayStartParams", parameters, from_spec(*own, "head", "runTasks"))
    template = head_template(spec, cluster, pool)
    if not autoscales(cluster):
        cast(dict[str, Json], template["spec"])["automountServiceAccountToken"] = False
    image = from_spec(*own, "image")
    yield put("spec.headGroupSpec.template", template, head, image, *_of_pool(spec, pool))


def _of_pool(spec: ClusterSpec, pool: NodePool | None) -> Iterator[Origin]:
    if pool is not None:
        yield from_spec("nodePools", spec.node_pools.index(pool))


def _group(spec: ClusterSpec, placed: Placed, data: Any) -> Object:
    low, high = placed.bounds
    group: Object = {"groupName": placed.group.name, "replicas": low, "minReplicas": low, "maxReplicas": high}
    if placed.hosts > 1:
        group["numOfHosts"] = placed.hosts
    group["rayStartParams"] = start_parameters(placed, data["gpuResources"])
    group["template"] = worker_template(spec, placed)
    return group


def _group_origins(placed: Placed) -> tuple[Origin, ...]:
    return from_spec(*placed.at), from_spec("nodePools", placed.pool_index)


def _pod_monitor(
    spec: ClusterSpec, cluster: Cluster, own: tuple[str | int, ...], ray: Any
) -> Iterator[Setting]:
    on, fact = (
        from_spec("components", "monitoring"),
        from_fact(f"kuberay/component.yaml: ray ({ray['source']})"),
    )
    yield put("apiVersion", "monitoring.coreos.com/v1", on)
    yield put("kind", "PodMonitor", on)
    yield put("metadata.name", f"ray-{cluster.name}", on, from_spec(*own, "name"))
    yield put("metadata.namespace", cluster.namespace, from_spec(*own, "namespace"))
    if spec.service_monitor_labels:
        yield put("metadata.labels", dict(spec.service_monitor_labels), on)
    yield put(("spec", "selector", "matchLabels", ray["clusterLabel"]), cluster.name, fact)
    yield put("spec.podMetricsEndpoints[]", {"port": ray["metricsPort"]}, fact)


def _namespace(
    settings: KuberaySettings, cluster: Cluster, own: tuple[str | int, ...], facts: ComponentFacts
) -> NamespaceRequest:
    """Clusters of one namespace share its level."""
    levels: Any = facts.data["podSecurity"]
    mates = (item for item in settings.clusters if item.namespace == cluster.namespace)
    rdma = any(group.rdma for item in mates for group in item.worker_groups)
    level = levels["rdma"] if rdma else levels["clusters"]
    return secured_namespace(facts, cluster.namespace, level, levels["source"], from_spec(*own))


def _secrets(spec: ClusterSpec, cluster: Cluster, ray: Any) -> Iterator[SecretRequest]:
    yield from pull_secrets(spec, cluster.namespace, f"the Ray cluster {cluster.name}")
    if cluster.auth == "token" and cluster.auth_secret is not None:
        yield SecretRequest(
            namespace=cluster.namespace,
            name=cluster.auth_secret,
            keys=(ray["tokenKey"],),
            purpose=f"the token of the Ray cluster {cluster.name}",
        )


def _autoscaled(cluster: Cluster) -> Iterator[IgnoreDifference]:
    """The autoscaler writes the number of workers, and which of them go.

    They stand in one list, of which a sync that kept them would keep the rest, too (D25).
    """
    if autoscales(cluster):
        yield IgnoreDifference(
            group="ray.io",
            kind="RayCluster",
            name=cluster.name,
            jq_path_expressions=(
                ".spec.workerGroupSpecs[]?.replicas",
                ".spec.workerGroupSpecs[]?.scaleStrategy",
            ),
        )


def _notes(cluster: Cluster) -> Iterator[str]:
    name = f"{cluster.namespace}/{cluster.name}"
    if cluster.upgrade_strategy == "None":
        yield (
            f"A new image or size of the Ray cluster {name} reaches new pods only: delete its pods, or set "
            "`upgradeStrategy: Recreate`."
        )


def _commands(cluster: Cluster, ray: Any) -> Iterator[CommandBlock]:
    port = ray["dashboardPort"]
    service = f"service/{cluster.name}-head-svc"
    lines = [f"kubectl -n {cluster.namespace} port-forward {service} {port}:{port}"]
    if cluster.auth == "token":
        secret = cluster.auth_secret or cluster.name
        path = f"{{.data.{ray['tokenKey']}}}"
        lines.append(f"kubectl -n {cluster.namespace} get secret {secret} -o jsonpath='{path}' | base64 -d")
    yield CommandBlock(purpose=f"the dashboard of the Ray cluster {cluster.name}", lines=tuple(lines))
