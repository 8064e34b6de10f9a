"""A cluster in, the GPU Operator's Application out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.gpu_operator.context import Context, own
from gitops_gen.components.gpu_operator.manifests import manifests
from gitops_gen.components.gpu_operator.values import chart_values
from gitops_gen.components.gpu_operator.values.driver import cert_config_map
from gitops_gen.model import (
    Application,
    DirectorySource,
    HelmSource,
    Json,
    NamespaceRequest,
    Pruning,
    SecretRequest,
    Source,
    Traced,
    from_fact,
    from_spec,
)
from gitops_gen.traced import collect, format_path, put

WAVE = 0
_PULL_SECRET = "kubernetes.io/dockerconfigjson"


def application(context: Context) -> Application:
    """Return the Application `gpu-operator`; its wave is that of the network operator (rdma)."""
    chart = context.facts.charts[0]
    return Application(
        name=chart.name,
        component=context.part.name,
        stack=context.facts.stack,
        namespace=context.part.namespace,
        wave=WAVE,
        sources=_sources(context),
        namespaces=(_namespace(context),),
        secrets=tuple(_secrets(context)),
        pruning=Pruning.CONFIRM,
        state=state(context),
        notes=tuple(_notes(context)),
        origins=(from_spec("components", context.part.name),),
    )


def state(context: Context) -> dict[str, Json]:
    """Return what may not change silently: how drivers and devices reach running nodes.

    Without Node Feature Discovery its CRDs would be pruned, and with them every node label. Nodes
    whose driver is said to be theirs lose the one that the operator brought.
    """
    place = f"spec.components.{context.part.name}"
    crd = context.settings.driver.nvidia_driver_crd
    return {
        f"{place}.namespace": context.part.namespace,
        f"{place}.driver.nvidiaDriverCRD.enabled": crd.enabled,
        f"{place}.gpuCluster.enabled": context.settings.gpu_cluster.enabled,
        "spec.components.nodeFeatureDiscovery.provided": not context.nfd_enabled,
        **{format_path(("spec", "nodePools", pool.name, "driver")): pool.driver for pool in context.pools},
    }


def _sources(context: Context) -> tuple[Source, ...]:
    chart = context.facts.charts[0]
    claims = context.settings.gpu_cluster.enabled
    helm = HelmSource(
        repo_url=chart.repository,
        chart=chart.name,
        version=context.part.version,
        release_name=chart.name,
        values=collect(chart_values(context)),
        api_versions=context.facts.gpu_cluster.api_versions if claims else (),
    )
    objects = tuple(manifests(context))
    return (helm, DirectorySource(manifests=objects)) if objects else (helm,)


def _namespace(context: Context) -> NamespaceRequest:
    facts = context.facts.namespace_labels
    return NamespaceRequest(
        name=context.part.namespace,
        labels=dict(facts.labels),
        quotas=tuple(_quotas(context)),
        origins=(own(), from_fact(facts.reference("labels of the namespace"))),
    )


def _quotas(context: Context) -> Iterator[Traced]:
    facts = context.facts.quotas
    if context.spec.kubernetes.distribution not in facts.distributions:
        return
    why = (from_spec("kubernetes", "distribution"), from_fact(facts.reference("quota")))
    classes: list[Json] = [*facts.priority_classes]
    scope: Json = {"scopeName": "PriorityClass", "operator": "In", "values": classes}
    yield collect(
        [
            put("apiVersion", "v1", *why),
            put("kind", "ResourceQuota", *why),
            put("metadata.name", facts.name, *why),
            put("metadata.namespace", context.part.namespace, own("namespace")),
            put("spec.hard.pods", facts.pods, *why),
            put("spec.scopeSelector.matchExpressions[]", scope, *why),
        ]
    )


# --- what must exist -----------------------------------------------------------------------------


def _secrets(context: Context) -> Iterator[SecretRequest]:
    namespace, settings = context.part.namespace, context.settings
    manager = settings.sandbox_workloads.vgpu_manager
    pulled = (
        *context.spec.registry.pull_secrets,
        *settings.driver.image_pull_secrets,
        *(manager.image_pull_secrets if manager else ()),
    )
    for name in dict.fromkeys(pulled):
        yield SecretRequest(
            namespace=namespace,
            name=name,
            keys=(".dockerconfigjson",),
            purpose="pulling images of the GPU Operator",
            type=_PULL_SECRET,
        )
    if settings.driver.licensing is not None:
        yield SecretRequest(
            namespace=namespace,
            name=settings.driver.licensing.secret_name,
            keys=context.facts.licensing.keys,
            purpose="vGPU licensing of the driver",
        )
    if settings.driver.env_secret:
        yield SecretRequest(
            namespace=namespace,
            name=settings.driver.env_secret,
            keys=(),
            purpose="environment of the driver container; each key is a variable",
        )
    yield from _config_maps(context)


def _config_maps(context: Context) -> Iterator[SecretRequest]:
    driver = context.settings.driver
    cert = cert_config_map(context) if context.driver_enabled else None
    named = {
        driver.repo_config_map: "package repositories of the driver container",
        cert[0] if cert else None: "certificates of the driver container",
        driver.kernel_module_config_map: "parameters of the kernel modules",
        driver.virtual_topology_config_map: "topology of the virtual machine (vGPU)",
        context.settings.gpu_clients_config_map: "host services that the MIG manager stops",
    }
    for name, purpose in named.items():
        if name is not None:
            yield SecretRequest(
                namespace=context.part.namespace,
                name=name,
                keys=(),
                purpose=purpose,
                kind="ConfigMap",
            )


def _notes(context: Context) -> Iterator[str]:
    """Yield what the tree cannot do itself, for its README."""
    facts = context.facts
    by_nri = context.settings.cdi.nri
    recipes = [recipe for recipe, _ in context.environments if not (by_nri and recipe.without_nri)]
    notes = [note for recipe in recipes for note in recipe.notes]
    notes += [note for pool in context.mig_pools for note in pool.recipe.mig_notes]
    yield from dict.fromkeys(notes)
    if not context.nfd_enabled:
        yield facts.notes.feature_discovery
    if _virtual_gpus(context):
        yield facts.notes.vgpu
    if context.settings.cdi.nri:
        yield facts.notes.nri
    if context.settings.sandbox_workloads.mode == "kata":
        yield facts.notes.kata
    if context.settings.gpu_cluster.enabled:
        yield facts.notes.gpu_cluster
    if context.spec.air_gap and _new_tags(context):
        yield facts.notes.rhel_tags


def _virtual_gpus(context: Context) -> bool:
    """Say whether a vGPU driver runs anywhere: a guest's with its licence, or a host's."""
    driver = context.settings.driver
    types = {chosen.driver_type for chosen in driver.nvidia_driver_crd.pools.values()}
    host = context.settings.sandbox_workloads.vgpu_manager is not None
    return driver.licensing is not None or host or bool(types - {"gpu"})


def _new_tags(context: Context) -> bool:
    """Say whether a mirror filled for an older version lacks the driver images of this one."""
    red_hat = [pool for pool in context.driver_pools if (pool.pool.os or "").startswith(("rhel", "rocky"))]
    return bool(red_hat) and context.version.rhel_tags == "major"
