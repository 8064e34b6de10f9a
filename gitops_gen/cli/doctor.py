"""`gitops-gen doctor`: says whether the programs and files that gitops-gen relies on are there."""

from __future__ import annotations

import sys

import typer

from gitops_gen.cli.output import say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor() -> None:
    """Check what gitops-gen works with.

    The catalogue and Python must be there. git, helm and kustomize are for proving and sharing
    trees: no command of this version runs them.

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
        note = "" if program.usable else " (optional: no command of this version needs it)"
        say(f"{'ok' if program.usable else 'missing':8} {program.name} {program.detail}{note}")
