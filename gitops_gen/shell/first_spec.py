"""A few choices in, a first spec on the disk out, with the schema beside the repository's root."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from gitops_gen.diagnostics import Diagnostic, SpecError, errors
from gitops_gen.emit import emit
from gitops_gen.model import Object
from gitops_gen.resources import resources
from gitops_gen.shell.cluster import knowledge
from gitops_gen.shell.specs import git_top
from gitops_gen.spec.document import API_VERSION
from gitops_gen.spec.load import parse
from gitops_gen.stages import compile_cluster

SCHEMA_FILE = ".gitops-gen/cluster.schema.json"
EXAMPLE_URL = "https://git.example.com/platform/clusters.git"
_ORIGIN = re.compile(r'^\[remote "origin"\](?:\n[^\[].*)*?\n\s*url\s*=\s*(\S+)', re.MULTILINE)
_READABLE = re.compile(r"https://|ssh://|[^/@\s]+@[^/:\s]+:")
_CREDENTIALS = re.compile(r"^(https?://)[^/@]*@")
_NOT_DNS = re.compile(r"[^a-z0-9-]+")


def write_first_spec(
    path: Path, *, name: str | None, distribution: str, gpu: str, env: str, repo_url: str | None
) -> Path:
    """Write a first spec and the schema for editors; SpecError if the spec exists already.

    ValueError says which choices make no spec. A folder gets a `cluster.yaml`. The spec's first
    line leads editors to the schema.
    """
    file = path / "cluster.yaml" if path.is_dir() or not path.suffix else path
    if file.exists():
        message = f"{file} exists already: `init` never overwrites"
        raise SpecError((Diagnostic(code="spec-exists", message=message, hint="name another file"),))
    url = repo_url or origin(file.parent) or EXAMPLE_URL
    document = first_spec(name or _name(file), distribution, gpu, env, url)
    _check(document, file.name)
    file.parent.mkdir(parents=True, exist_ok=True)
    top = git_top(file.parent) or file.parent
    schema = top / SCHEMA_FILE
    schema.parent.mkdir(exist_ok=True)
    schema.write_text(json.dumps(resources().schema, indent=1) + "\n", encoding="utf-8")
    relative = Path(os.path.relpath(schema, file.parent)).as_posix()
    file.write_text(emit(document, f"yaml-language-server: $schema={relative}"), encoding="utf-8")
    return file


def origin(folder: Path) -> str | None:
    """Return the https or SSH address of the remote `origin`, without credentials, None without one."""
    top = git_top(folder)
    try:
        text = (top / ".git" / "config").read_text(encoding="utf-8") if top else ""
    except (OSError, UnicodeDecodeError):
        return None
    found = _ORIGIN.search(text)
    url = _CREDENTIALS.sub(r"\1", found.group(1)) if found else ""
    return url if _READABLE.match(url) else None


def first_spec(name: str, distribution: str, gpu: str, env: str, repo_url: str) -> Object:
    """Return the smallest useful spec: one pool of GPU nodes and the GPU Operator."""
    pool: Object = {
        "name": "gpu",
        "nodes": 1,
        "os": _first_os(distribution),
        "nodeSelector": {"node.example.com/pool": "gpu"},
        "gpu": {"model": gpu, "count": 8},
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "Cluster",
        "metadata": {"name": name},
        "spec": {
            "env": env,
            "kubernetes": {"version": "1.35", "distribution": distribution},
            "gitops": {"repoURL": repo_url, "revision": "main"},
            "nodePools": [pool],
            "components": {"gpuOperator": {"enabled": True}},
        },
    }


def _name(file: Path) -> str:
    folder = file.resolve().parent.name if file.name == "cluster.yaml" else file.stem
    return _NOT_DNS.sub("-", folder.lower()).strip("-") or "cluster"


def _check(document: Object, source: str) -> None:
    """Raise ValueError if the choices make no spec that can be rendered."""
    try:
        compile_cluster(parse(emit(document).encode(), source), source, knowledge(resources()))
    except SpecError as error:
        found = [
            f"{item.message} ({item.hint})" if item.hint else item.message
            for item in errors(error.diagnostics)
        ]
        raise ValueError("; ".join(found)) from error


def _first_os(distribution: str) -> str | None:
    """Return the operating system that a first spec starts with."""
    match resources().catalog.data["distributions"]:
        case {"distributions": dict(known), "usual": {"os": str(usual)}}:
            match known.get(distribution):
                case {"os": [str(first), *_]}:
                    return first
            return usual
    return None
