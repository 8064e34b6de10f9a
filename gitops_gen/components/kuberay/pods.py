"""A Ray cluster and its pools in, the pod templates of its head and workers out."""

from __future__ import annotations

import re
from typing import Any

from gitops_gen.components.kuberay.settings import Cluster
from gitops_gen.components.kuberay.workers import Placed
from gitops_gen.components.placement import found_by_name, named_nodes, toleration
from gitops_gen.images import mirrored
from gitops_gen.model import ClusterSpec, Json, NodePool, Object

_NETWORKS = "k8s.v1.cni.cncf.io/networks"


def image_of(spec: ClusterSpec, cluster: Cluster) -> str:
    """Return the image to pull: the cluster's own, or its mirror."""
    found = mirrored(cluster.image, spec.registry.mirrors)
    return cluster.image if found is None else found[0]


def head_template(spec: ClusterSpec, cluster: Cluster, pool: NodePool | None) -> Object:
    """Return the head's pod template; `pool` None leaves the node to the scheduler."""
    size: Object = {"cpu": str(cluster.head.cpu), "memory": cluster.head.memory}
    return {"spec": {"containers": [_container("ray-head", spec, cluster, size)], **_place(spec, pool)}}


def worker_template(spec: ClusterSpec, placed: Placed) -> Object:
    """Return the pod template of one worker group; limits are requests, so nothing is lent out."""
    container = _container("ray-worker", spec, placed.cluster, _worker_size(placed))
    if placed.group.rdma:
        container["securityContext"] = {"capabilities": {"add": ["IPC_LOCK"]}}
    body: Object = {"containers": [container], **_place(spec, placed.pool)}
    body["automountServiceAccountToken"] = False
    if placed.group.runtime_class is not None:
        body["runtimeClassName"] = placed.group.runtime_class
    if placed.group.rdma and placed.networks:
        return {"metadata": {"annotations": {_NETWORKS: ",".join(placed.networks)}}, "spec": body}
    return {"spec": body}


def start_parameters(placed: Placed, gpus: Any) -> dict[str, Json]:
    """Return what the operator does not tell Ray by itself: GPUs whose resource it does not know."""
    is_gpu = placed.pool.gpu is not None and placed.resource is not None
    if is_gpu and not re.search(gpus["known"], placed.resource or ""):
        return {gpus["parameter"]: str(placed.devices)}
    return {}


def _worker_size(placed: Placed) -> Object:
    size: Object = {}
    if placed.cpu is not None:
        size["cpu"] = str(placed.cpu)
    if placed.memory is not None:
        size["memory"] = placed.memory
    if placed.resource is not None:
        size[placed.resource] = str(placed.devices)
    if placed.group.rdma:
        size |= {name: str(count) for name, count in placed.whole_node.items()}
    return size


def _container(name: str, spec: ClusterSpec, cluster: Cluster, size: Object) -> Object:
    container: Object = {"name": name, "image": image_of(spec, cluster)}
    if cluster.env:
        container["env"] = [{"name": key, "value": value} for key, value in cluster.env.items()]
    container["resources"] = {"limits": size, "requests": dict(size)}
    return container


def _place(spec: ClusterSpec, pool: NodePool | None) -> Object:
    found: Object = {}
    if spec.registry.pull_secrets:
        found["imagePullSecrets"] = [{"name": name} for name in spec.registry.pull_secrets]
    if pool is None:
        return found
    if pool.node_selector:
        found["nodeSelector"] = dict(pool.node_selector)
    if found_by_name(pool):
        found["affinity"] = named_nodes(pool)
    if pool.taints:
        found["tolerations"] = [toleration(taint) for taint in pool.taints]
    return found
