"""The component's own part of the spec, typed; `schema.yaml` documents each field."""

from __future__ import annotations

from typing import Literal

from gitops_gen.model import Words


class Operator(Words, frozen=True, kw_only=True):
    """Who runs the KubeRay operator, and how."""

    managed_by: Literal["self", "gke"] = "self"
    replicas: int = 1
    namespaces: tuple[str, ...] = ()
    node_selector: dict[str, str] = {}
    tolerations: tuple[dict[str, str], ...] = ()


class Head(Words, frozen=True, kw_only=True):
    """The head of a Ray cluster; without `pool` any node may run it."""

    cpu: int = 4
    memory: str = "16Gi"
    pool: str | None = None
    run_tasks: bool = False


class Scaling(Words, frozen=True, kw_only=True):
    """Bounds between which Ray's autoscaler chooses."""

    min: int
    max: int


class WorkerGroup(Words, frozen=True, kw_only=True):
    """Workers of one kind, bound to a node pool; what is None follows from the pool."""

    name: str
    pool: str
    replicas: int | Scaling = 1
    workers_per_node: int = 1
    resource: str | None = None
    devices: int | None = None
    cpu: int | None = None
    memory: str | None = None
    rdma: bool = False
    runtime_class: str | None = None


class Cluster(Words, frozen=True, kw_only=True):
    """One Ray cluster."""

    name: str
    namespace: str = "ray"
    version: str
    image: str
    auth: Literal["token", "disabled"] = "token"
    auth_secret: str | None = None
    head: Head = Head()
    worker_groups: tuple[WorkerGroup, ...] = ()
    idle_timeout_seconds: int = 60
    upgrade_strategy: Literal["None", "Recreate"] = "None"
    env: dict[str, str] = {}


class KuberaySettings(Words, frozen=True, kw_only=True):
    """The operator and the Ray clusters of this tree."""

    operator: Operator = Operator()
    clusters: tuple[Cluster, ...] = ()
