"""`gitops-gen init`: writes a first spec to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gitops_gen.cli.output import say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(init)


def init(
    path: Annotated[Path, typer.Argument(help="The spec to write.")] = Path("cluster.yaml"),
    name: Annotated[str | None, typer.Option(help="Cluster name; default: the folder's name.")] = None,
    distribution: Annotated[str, typer.Option(help="Kubernetes distribution.")] = "kubeadm",
    gpu: Annotated[str, typer.Option(help="Accelerator id, see `gitops-gen catalog`.")] = "h100-sxm-80gb",
    env: Annotated[str, typer.Option(help="What the cluster is for: prod, staging or lab.")] = "prod",
    repo_url: Annotated[
        str | None,
        typer.Option("--repo-url", help="Git repository that Argo CD reads; default: the remote `origin`."),
    ] = None,
) -> None:
    """Write a first spec to start from.

    It has one GPU pool and the GPU Operator, and can be rendered as it stands. An existing file is
    never overwritten.

    Example: gitops-gen init clusters/lab/cluster.yaml --gpu a100-sxm-80gb
    """
    from gitops_gen.shell.first_spec import EXAMPLE_URL, write_first_spec
    from gitops_gen.shell.specs import OUTSIDE_GIT, git_top

    try:
        written = write_first_spec(
            path, name=name, distribution=distribution, gpu=gpu, env=env, repo_url=repo_url
        )
    except ValueError as error:
        raise typer.BadParameter(f"no spec can be made of this: {error}") from error
    say(f"wrote {written}", err=True)
    if EXAMPLE_URL in written.read_text(encoding="utf-8"):
        say("note: no remote `origin` is known here: put your own repository into gitops.repoURL", err=True)
    if git_top(written.parent) is None:
        say(OUTSIDE_GIT, err=True)
    say(f"next: edit it, then `gitops-gen validate {written}` and `gitops-gen render {written}`", err=True)
