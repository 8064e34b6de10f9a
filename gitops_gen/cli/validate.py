"""`gitops-gen validate`: specs in, findings out."""

from __future__ import annotations

import typer

from gitops_gen.cli.common import (
    EXIT_INVALID,
    DiagnosticFormat,
    Format,
    Outcome,
    Specs,
    Strict,
    collisions,
    examine_all,
    exit_status,
    print_diagnostics,
)
from gitops_gen.cli.output import say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(validate)


def validate(specs: Specs = None, strict: Strict = False, form: DiagnosticFormat = Format.TEXT) -> None:
    """Check specs and print every finding.

    Writes nothing. Exit status 3 if a spec is invalid.

    Example: gitops-gen validate clusters/prod/cluster.yaml --format github
    """
    outcomes = examine_all(specs, strict=strict)
    clashes = collisions(outcomes)
    found = dict.fromkeys((*clashes, *(one for item in outcomes for one in item.diagnostics)))
    print_diagnostics(found, form, to_stderr=False)
    if form is Format.TEXT:
        say(_verdict(outcomes, bool(clashes)), err=True)
    raise typer.Exit(EXIT_INVALID if clashes else exit_status(outcomes))


def _verdict(outcomes: list[Outcome], clash: bool) -> str:
    valid = sum(item.valid for item in outcomes)
    if len(outcomes) == 1:
        return "the spec is valid" if valid else "the spec is invalid"
    return f"{valid} of {len(outcomes)} specs are valid" + (", but not together" if clash else "")
