"""What is wrong with a Ray cluster in, a diagnostic at its place out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.diagnostics import Diagnostic, Path, Severity
from gitops_gen.model import ClusterSpec


def finding(
    code: str,
    message: str,
    below: Path,
    hint: str,
    *,
    severity: Severity = Severity.ERROR,
    on_key: bool = False,
) -> Diagnostic:
    """Return a finding at a path below the component."""
    return Diagnostic(
        code=code,
        message=message,
        severity=severity,
        path=("spec", "components", "kuberay", *below),
        hint=hint,
        on_key=on_key,
    )


def pool_findings(spec: ClusterSpec, name: str, at: tuple[str | int, ...]) -> Iterator[Diagnostic]:
    """Yield an error where the pool does not exist or belongs to Slurm."""
    pools = {pool.name: pool for pool in spec.node_pools}
    if name not in pools:
        yield finding(
            "kuberay-pool-unknown",
            f'there is no node pool "{name}"',
            at,
            f"node pools of this spec: {', '.join(pools) or 'none'}",
        )
    elif pools[name].use == "slurm":
        yield finding(
            "kuberay-pool-of-slurm",
            f'the nodes of pool "{name}" belong to Slurm, and a node has one scheduler',
            at,
            "take another pool, or write use: shared for this one",
        )
