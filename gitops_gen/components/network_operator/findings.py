"""What is wrong with the fabric of a pool in, a diagnostic at its place out."""

from __future__ import annotations

from gitops_gen.components.network_operator.fabric import FabricPool
from gitops_gen.diagnostics import Diagnostic, Path, Severity


def fabric_finding(
    pool: FabricPool,
    code: str,
    message: str,
    hint: str,
    *below: str,
    severity: Severity = Severity.ERROR,
    on_key: bool = False,
) -> Diagnostic:
    """Return a finding at, or below, the pool's fabric."""
    path: Path = ("spec", "nodePools", pool.index, "fabric", *below)
    return Diagnostic(
        code=code,
        message=message,
        severity=severity,
        path=path,
        hint=hint,
        on_key=on_key,
    )
