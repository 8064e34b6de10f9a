"""The component's own part of the spec, typed."""

from __future__ import annotations

import msgspec

from gitops_gen.model import Words


class Ofed(Words, frozen=True, kw_only=True):
    """How the network driver is installed and upgraded."""

    auto_upgrade: bool = True
    max_parallel_upgrades: int = 1
    safe_load: bool = False
    wait_for_pods: str | None = None
    wait_timeout_seconds: int = 0
    drain: bool = True
    drain_pods: str | None = None
    drain_timeout_seconds: int = 300
    drain_delete_empty_dir: bool = True
    drain_force: bool = False
    force_precompiled: bool = False
    termination_grace_period_seconds: int = 300
    repo_config: str | None = None
    env: dict[str, str] = msgspec.field(default_factory=dict)


class NetworkOperatorSettings(Words, frozen=True, kw_only=True):
    """What the fabric of the pools does not say already."""

    ofed: Ofed = Ofed()
    rdma_hca_max: int = 63
    network_namespace: str = "default"
    tolerations: tuple[dict[str, str], ...] = ()
