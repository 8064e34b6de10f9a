"""Command line in, exit status out: collects the commands and catches what they raise."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from gitops_gen import __version__
from gitops_gen.cli import catalog, doctor, explain, init, plan, render, schema, validate, why
from gitops_gen.cli.common import EXIT_INVALID, EXIT_TOOL, print_diagnostics
from gitops_gen.cli.output import say, take_any_text
from gitops_gen.diagnostics import SpecError, ToolError

app = typer.Typer(
    name="gitops-gen",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"gitops-gen {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Turn a validated cluster spec into a Git tree that Argo CD syncs.

    Start with `gitops-gen init`, then `gitops-gen validate` and `gitops-gen render`.
    """


for _command in (init, validate, plan, render, explain, why, schema, catalog, doctor):
    _command.register(app)


def main() -> None:
    """Run the command line; the only place that turns errors into exit statuses."""
    take_any_text()
    try:
        app()
    except SpecError as error:
        print_diagnostics(error.diagnostics, to_stderr=True)
        sys.exit(EXIT_INVALID)
    except ToolError as error:
        say(f"gitops-gen: {error}", err=True)
        sys.exit(EXIT_TOOL)
    except OSError as error:
        at = os.fsdecode(error.filename) if error.filename else "the output"
        say(f"gitops-gen: {at} cannot be read or written: {error.strerror or error}", err=True)
        sys.exit(EXIT_TOOL)
