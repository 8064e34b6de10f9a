"""The component's own part of the spec, typed."""

from __future__ import annotations

from gitops_gen.model import Words


class CertManagerSettings(Words, frozen=True, kw_only=True):
    """How cert-manager runs."""

    high_availability: bool = False
    webhook_host_network: bool = False
    tolerations: tuple[dict[str, str], ...] = ()
