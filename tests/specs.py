"""Small specs as text, compiled without a disk."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent, indent

from gitops_gen.diagnostics import Diagnostic, SpecError
from gitops_gen.plan import State
from gitops_gen.resources import resources
from gitops_gen.shell.cluster import knowledge
from gitops_gen.spec.load import load_cluster
from gitops_gen.stages import Compiled, compile_cluster

POOL = """\
- name: h100
  nodes: 2
  os: ubuntu-24.04
  nodeSelector: {node.example.com/pool: h100}
  gpu: {model: h100-sxm-80gb, count: 8}
"""


def spec_text(body: str = "", *, pools: str = POOL, components: str = "gpuOperator: {enabled: true}") -> str:
    """Return a whole spec; `body` is added below `spec`, `pools` and `components` below their keys."""
    head = dedent(
        """\
        apiVersion: gitops-gen/v1alpha1
        kind: Cluster
        metadata:
          name: test
        spec:
        """
    )
    own = dedent(body).rstrip("\n") + "\n" if body else ""
    parts = "".join(
        f"  {key}: {value}\n"
        for key, value in (
            ("kubernetes", '{version: "1.35", distribution: kubeadm}'),
            ("gitops", "{repoURL: https://git.example.com/platform/clusters.git}"),
        )
        if f"{key}:" not in own
    )
    lists = f"  nodePools:\n{indent(dedent(pools), '    ')}" if pools else ""
    return head + parts + indent(own, "  ") + lists + f"  components:\n{indent(dedent(components), '    ')}\n"


def compile_text(
    text: str, *, files: Mapping[str, str] | None = None, previous: State | None = None
) -> Compiled:
    """Compile a spec that stands at `clusters/test/cluster.yaml`; SpecError as the stages raise it."""
    source = "clusters/test/cluster.yaml"
    known = {source: text, **(files or {})}

    def read(path: str) -> bytes:
        if path not in known:
            raise FileNotFoundError(path)
        return known[path].encode()

    return compile_cluster(load_cluster(source, read), source, knowledge(resources()), previous)


def findings(text: str, *, previous: State | None = None) -> tuple[Diagnostic, ...]:
    """Return every finding of a spec, errors included."""
    try:
        return compile_text(text, previous=previous).diagnostics
    except SpecError as error:
        return error.diagnostics


def codes(text: str, *, previous: State | None = None) -> list[str]:
    """Return the codes of every finding of a spec that is an error or a warning."""
    return [item.code for item in findings(text, previous=previous) if item.severity != "notice"]
