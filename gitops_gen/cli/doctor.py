"""`gitops-gen doctor`: says whether the programs and files that gitops-gen relies on are there."""

from __future__ import annotations

import sys

import typer

from gitops_gen.cli.common import EXIT_FINE, EXIT_TOOL
from gitops_gen.cli.output import say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor() -> None:
    """Check the programs that are needed.

    Python, git, helm, kustomize and the catalogue; exit status 5 if one is missing.

    Example: gitops-gen doctor
    """
    from gitops_gen import __version__
    from gitops_gen.resources import resources
    from gitops_gen.shell.command import Program, find_programs

    known = resources()
    say(
        f"ok       gitops-gen {__version__}, catalogue {known.digest[:12]}, "
        f"{len(known.components)} components"
    )
    say(f"ok       python {sys.version.split()[0]}")
    found: tuple[Program, ...] = find_programs()
    for program in found:
        say(f"{'ok' if program.usable else 'missing':8} {program.name} {program.detail}")
    raise typer.Exit(EXIT_FINE if all(program.usable for program in found) else EXIT_TOOL)
