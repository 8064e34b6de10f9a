"""A cluster spec in, what slurmctld, the operator or the API server would refuse out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.slurm import sacctmgr, scripts, storage
from gitops_gen.components.slurm.context import Context, context_of
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.values import job_mapping
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.model import ClusterSpec, ComponentFacts

_OWN = ("spec", "components", "slurm")
_LEVELS = {"error": Severity.ERROR, "warning": Severity.WARNING, "notice": Severity.NOTICE}


def check(spec: ClusterSpec, facts: ComponentFacts) -> Iterator[Diagnostic]:
    """Yield every finding about the Slurm cluster of this tree."""
    if spec.rendered(facts.name) is None:
        return
    context = context_of(spec, facts)
    for finding in _findings(context):
        yield Diagnostic(
            code=finding.code,
            severity=_LEVELS[finding.level],
            message=finding.message,
            path=(*_OWN, *finding.path),
            hint=finding.hint,
            on_key=finding.on_key,
        )


def _findings(context: Context) -> Iterator[Finding]:
    settings = context.settings
    priority = context.data["dcgm"]["priority"] if job_mapping(context) is not None else None
    yield from storage.findings(settings)
    yield from scripts.findings(settings, dcgm_priority=priority)
    yield from sacctmgr.findings(settings)
