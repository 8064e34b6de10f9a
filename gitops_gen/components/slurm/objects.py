"""A cluster spec in, the objects beside the slurm chart out: scaling, names, volumes, files."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.keda.scaled_object import PrometheusQuery, Scaling, Target, scaled_object
from gitops_gen.components.slurm.bootstrap import bootstrap_job
from gitops_gen.components.slurm.context import FULLNAME, Context, own
from gitops_gen.components.slurm.images import image
from gitops_gen.components.slurm.node_sets import worker_files
from gitops_gen.components.slurm.outside import is_address as is_address
from gitops_gen.components.slurm.outside import outside_objects
from gitops_gen.components.slurm.storage import manifests as volume_objects
from gitops_gen.components.slurm.workers import Worker
from gitops_gen.model import Manifest, Object, Origin, Setting, Traced, from_rule, from_spec
from gitops_gen.traced import collect, put

API = "slinky.slurm.net/v1beta1"
_ALL = "ALL"
_LEAST = from_rule("a drain of nodes leaves that much of the REST API, which the operator itself needs")


def objects(context: Context) -> tuple[Manifest, ...]:
    """Return the objects that the Application `slurm` has beside its chart."""
    settings = context.settings
    found = [
        *volume_objects(
            settings.volumes, fullname=FULLNAME, namespace=context.namespace, storage=context.spec.storage
        ),
        *(file.manifest for file in worker_files(context)),
        *(Manifest(object=scaler(context, worker)) for worker in context.autoscaled),
        *_budget(context),
        *outside_objects(context),
    ]
    if settings.accounting.enabled and settings.accounting.bootstrap_job:
        found += bootstrap_job(
            settings,
            fullname=FULLNAME,
            namespace=context.namespace,
            image=image(context, "login").text,
            pull_secrets=context.spec.registry.pull_secrets,
        )
    return tuple(found)


# --- automatic scaling -------------------------------------------------------------------------


def scaler(context: Context, worker: Worker) -> Traced:
    """Return the ScaledObject of a node set: as many nodes as are busy, and more for waiting jobs."""
    bounds = worker.scaled
    assert bounds is not None
    name = f"{FULLNAME}-worker-{worker.name}"
    scaling = Scaling(
        name=name,
        namespace=context.namespace,
        target=Target(api_version=API, kind="NodeSet", name=name),
        min_replicas=bounds.min,
        max_replicas=bounds.max,
        trigger=PrometheusQuery(
            server_address=context.spec.prometheus_url, query=query(context, worker), threshold="1"
        ),
        cooldown=bounds.cooldown_seconds,
    )
    return scaled_object(scaling, own("nodeSets", worker.index, "replicas"), own("partitions"))


def query(context: Context, worker: Worker) -> str:
    """Return how many nodes the set should have: those with jobs, and one for so many waiting jobs.

    A series that is missing counts as none, so that an empty cluster is not an unknown one.
    """
    bounds = worker.scaled
    assert bounds is not None
    partitions = "|".join(partitions_of(context, worker))
    at = f'namespace="{context.namespace}"'
    nodes = f"{worker.name}-[0-9]+"
    busy = f'count(slurm_node_cpus_alloc{{{at},node=~"{nodes}"}} > 0)'
    waiting = f'sum(slurm_partition_jobs_pending{{{at},partition=~"{partitions}"}})'
    share = f" / {bounds.threshold}" if bounds.threshold > 1 else ""
    return f"({busy} or vector(0)) + ({waiting} or vector(0)){share}"


def partitions_of(context: Context, worker: Worker) -> tuple[str, ...]:
    """Return the partitions whose jobs may run on the node set."""
    return tuple(
        item.name
        for item in context.settings.partitions
        if worker.name in item.node_sets or _ALL in item.node_sets
    )


# --- the daemons -------------------------------------------------------------------------------


def _budget(context: Context) -> Iterator[Manifest]:
    """An object of ours: the chart's own writes both fields, one of them as null."""
    wanted = context.settings.rest_api.disruption_budget
    if wanted is None:
        return
    by = own("restApi", "disruptionBudget")
    labels: Object = {"app.kubernetes.io/name": "slurmrestd", "app.kubernetes.io/instance": FULLNAME}
    settings = [*_head(context, "policy/v1", "PodDisruptionBudget", f"{FULLNAME}-restapi", by)]
    if wanted.min_available is not None:
        settings.append(put("spec.minAvailable", wanted.min_available, by, _LEAST))
    if wanted.max_unavailable is not None:
        settings.append(put("spec.maxUnavailable", wanted.max_unavailable, by, _LEAST))
    settings.append(put("spec.selector.matchLabels", labels, by))
    yield Manifest(object=collect(settings))


def _head(context: Context, version: str, kind: str, name: str, *by: Origin) -> Iterator[Setting]:
    yield put("apiVersion", version, *by)
    yield put("kind", kind, *by)
    yield put("metadata.name", name, *by)
    yield put("metadata.namespace", context.namespace, from_spec("components", "slurm", "namespace"))
