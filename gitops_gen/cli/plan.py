"""`gitops-gen plan`: a spec in, what would be rendered out; writes nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitops_gen.cli.common import PrintFormat, ResultFormat, one_spec, print_diagnostics
from gitops_gen.cli.output import say

if TYPE_CHECKING:
    from gitops_gen.model import Plan
    from gitops_gen.secrets import Needed


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(plan)


def plan(
    spec: Annotated[
        Path | None,
        typer.Argument(help="The spec file, its folder, or the name of the cluster.", show_default=False),
    ] = None,
    form: PrintFormat = ResultFormat.TEXT,
) -> None:
    """Print what would be rendered.

    The Applications of a cluster, what its nodes will advertise and which labels they need.

    Example: gitops-gen plan clusters/prod/cluster.yaml --format json
    """
    outcome = one_spec(spec)
    assert outcome.prepared is not None
    print_diagnostics(outcome.diagnostics, to_stderr=True)
    made = outcome.prepared.compiled.plan
    say(json.dumps(plan_data(made), indent=2) if form is ResultFormat.JSON else plan_text(made))


def plan_data(plan: Plan) -> dict[str, object]:
    """Return the plan as data for other programs."""
    from gitops_gen.readme import label_commands, source_text
    from gitops_gen.secrets import needed

    commands = {item.pool: item.command for item in label_commands(plan.spec)}
    return {
        "cluster": plan.spec.name,
        "path": plan.spec.path,
        "pools": [
            {
                "name": item.pool,
                "nodes": item.nodes,
                "use": item.use,
                "resources": dict(item.resources),
                "labels": dict(item.labels),
                "labelCommand": commands.get(item.pool),
            }
            for item in plan.spec.resources
        ],
        "applications": [
            {
                "name": app.name,
                "component": app.component,
                "stack": app.stack,
                "wave": app.wave,
                "namespace": app.namespace,
                "source": source_text(app),
            }
            for app in plan.applications
        ],
        "secrets": [_needed_data(item) for item in needed(plan.applications)],
    }


def _needed_data(item: Needed) -> dict[str, object]:
    """Return one object that must exist; what does not apply to its kind is left out."""
    is_claim = item.kind == "PersistentVolumeClaim"
    return {
        "namespace": item.namespace,
        "kind": item.kind,
        "name": item.name,
        "keys": list(item.keys),
        "purpose": "; ".join(item.purposes),
        **({"randomBytes": dict(item.random)} if item.random else {}),
        **({"size": item.size, "accessMode": item.access_mode} if is_claim else {}),
    }


def plan_text(plan: Plan) -> str:
    """Return the plan for people: Applications in the order of their waves, then the pools."""
    from gitops_gen.readme import label_commands, source_text

    apps = sorted(plan.applications, key=lambda app: (app.stack != "platform", app.stack, app.wave, app.name))
    rows = [("STACK", "WAVE", "APPLICATION", "NAMESPACE", "SOURCE")]
    rows += [
        (app.stack, str(app.wave), f"{plan.spec.name}-{app.name}", app.namespace, source_text(app))
        for app in apps
    ]
    pools = [("POOL", "NODES", "USE", "EACH NODE ADVERTISES")]
    pools += [
        (
            item.pool,
            str(item.nodes),
            item.use,
            ", ".join(f"{count} x {name}" for name, count in item.resources.items()),
        )
        for item in plan.spec.resources
    ]
    parts = [table(rows)]
    if len(pools) > 1:
        parts.append(table(pools))
    labels = [item.command for item in label_commands(plan.spec)]
    if labels:
        parts.append("\n".join(["Node labels to set:", *(f"  {command}" for command in labels)]))
    return "\n\n".join(parts)


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows as columns, each as wide as its widest cell."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
