"""The component's own part of the spec, typed."""

from __future__ import annotations

from typing import Literal

from gitops_gen.model import Words


class ExternalSecretsSettings(Words, frozen=True, kw_only=True):
    """How External Secrets runs."""

    high_availability: bool = False
    log_level: Literal["debug", "info", "error"] = "info"
    tolerations: tuple[dict[str, str], ...] = ()
