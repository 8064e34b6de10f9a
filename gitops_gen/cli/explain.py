"""`gitops-gen explain`: a field of the spec in, its documentation out."""

from __future__ import annotations

from typing import Annotated

import typer

from gitops_gen.cli.output import say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(explain)


def explain(
    field: Annotated[
        str, typer.Argument(help="A field below `spec`, such as nodePools.gpu.mig; empty for all of it.")
    ] = "",
    recursive: Annotated[
        bool, typer.Option("--recursive", help="List the keys of every level below.")
    ] = False,
) -> None:
    """Print the documentation of a field.

    What it means, its type, its default and the values that are allowed.

    Example: gitops-gen explain components.gpuOperator.driver --recursive
    """
    from gitops_gen.resources import resources
    from gitops_gen.spec.explain import explain as explain_field
    from gitops_gen.spec.explain import explained_text

    try:
        found = explain_field(resources().schema, field, recursive=recursive)
    except KeyError as error:
        raise typer.BadParameter(str(error.args[0])) from error
    say(explained_text(found))
