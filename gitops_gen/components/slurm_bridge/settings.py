"""The component's own part of the spec, typed; `schema.yaml` documents each field."""

from __future__ import annotations

from gitops_gen.model import Words


class SlurmBridgeSettings(Words, frozen=True, kw_only=True):
    """Whose pods Slurm schedules, where, and by which token."""

    partition: str
    managed_namespaces: tuple[str, ...]
    token_secret: str = "slurm-bridge-token"
    issue_token: bool = False
    token_user: str = "slurm"
    token_lifetime: str = "8760h"
    high_availability: bool = False
    tolerations: tuple[dict[str, str], ...] = ()
