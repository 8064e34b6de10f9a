"""A cluster spec in, what slurmctld, the operator or the API server would refuse out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.slurm import sacctmgr, scripts, storage
from gitops_gen.components.slurm.conf import text_of
from gitops_gen.components.slurm.conf.rules import findings as conf_findings
from gitops_gen.components.slurm.conf.table import table_from
from gitops_gen.components.slurm.config import derived_config
from gitops_gen.components.slurm.context import Context, context_of
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.images import image, used_parts
from gitops_gen.components.slurm.rules.daemons import daemons
from gitops_gen.components.slurm.rules.devices import devices
from gitops_gen.components.slurm.rules.images import images
from gitops_gen.components.slurm.rules.node_sets import node_sets
from gitops_gen.components.slurm.rules.operator import operator
from gitops_gen.components.slurm.rules.overlay import overlay
from gitops_gen.components.slurm.rules.pods import pod_keys, pods
from gitops_gen.components.slurm.rules.scaling import scaling
from gitops_gen.components.slurm.values import chart_values, job_mapping
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.images import unreachable_images
from gitops_gen.model import ClusterSpec, ComponentFacts
from gitops_gen.traced import collect

_OWN = ("spec", "components", "slurm")


def check(spec: ClusterSpec, facts: ComponentFacts) -> Iterator[Diagnostic]:
    """Yield every finding about the Slurm cluster of this tree."""
    if spec.rendered(facts.name) is None:
        return
    context = context_of(spec, facts)
    for finding in _findings(context):
        yield Diagnostic(
            code=finding.code,
            severity=Severity(finding.level),
            message=finding.message,
            path=(*_OWN, *finding.path),
            hint=finding.hint,
            on_key=finding.on_key,
        )
    yield from pod_keys(context)
    yield from unreachable_images(spec, "Slurm", _repositories(context))


def _findings(context: Context) -> Iterator[Finding]:
    settings = context.settings
    priority = context.data["dcgm"]["priority"] if job_mapping(context) is not None else None
    yield from operator(context)
    yield from images(context)
    yield from node_sets(context)
    yield from devices(context)
    yield from scaling(context)
    yield from daemons(context)
    yield from pods(context)
    if context.part.values:
        yield from overlay(context, collect(chart_values(context, None)).data)
    if settings.controller.external is None:
        yield from _configuration(context)
    yield from storage.findings(settings)
    yield from scripts.findings(settings, dcgm_priority=priority)
    if settings.accounting.enabled:
        yield from sacctmgr.findings(settings)


def _configuration(context: Context) -> Iterator[Finding]:
    """Yield what Slurm would refuse or ignore of its configuration files, by the keywords of its series."""
    table = table_from(context.facts.table(f"slurm-conf-{context.series}"))
    own = derived_config(context.settings, context.found, context.release)
    folded = {name.lower() for name in own}
    operator_own = context.release["writes"]["slurm"]
    read = {name: text for name, text in operator_own.items() if name.lower() not in folded}
    yield from conf_findings(
        context.settings,
        context.found,
        table,
        read={**read, **{name: text_of(value) for name, value in own.items()}},
        release=context.part.version,
    )


def _repositories(context: Context) -> Iterator[str]:
    """Yield what the cluster pulls, before any mirror."""
    if context.self_run:
        for part in context.data["images"]["operator"].values():
            if "repository" in part:
                yield part["repository"]
    for part in used_parts(context):
        found = image(context, part).upstream
        if found:
            yield found
