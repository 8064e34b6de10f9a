"""`gitops-gen schema`: prints the JSON Schema of a cluster spec."""

from __future__ import annotations

import json

import typer

from gitops_gen.cli.output import say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(schema)


def schema() -> None:
    """Print the JSON Schema of a spec.

    Draft 2020-12, with a description and default on each field; for editors.

    Example: gitops-gen schema > cluster.schema.json
    """
    from gitops_gen.resources import resources

    say(json.dumps(resources().schema, indent=2, ensure_ascii=False))
