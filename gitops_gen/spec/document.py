"""A loaded document in, a finding out if it is no cluster spec at all."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Json

API_VERSION = "gitops-gen/v1alpha1"
_CODE = "wrong-document"


def check_document(data: Json) -> Iterator[Diagnostic]:
    """Yield one error unless `data` is a Cluster of the API version that we read."""
    if not isinstance(data, dict):
        yield Diagnostic(code=_CODE, message="a cluster spec is a mapping", hint=_hint())
        return
    version, kind = data.get("apiVersion"), data.get("kind")
    if version != API_VERSION:
        yield Diagnostic(
            code=_CODE,
            message=f"this is {_named(version, kind)}, not a cluster spec",
            path=("apiVersion",) if "apiVersion" in data else (),
            hint=_hint(),
        )
    elif kind == "ClusterBase":
        yield Diagnostic(
            code=_CODE,
            message="a ClusterBase is never rendered: it only lends its fields to clusters",
            path=("kind",),
            hint="name this file under `extends` of a `kind: Cluster`",
        )
    elif kind != "Cluster":
        yield Diagnostic(
            code=_CODE,
            message=f"this is {_named(version, kind)}, not a cluster spec",
            path=("kind",) if "kind" in data else (),
            hint=_hint(),
        )


def _named(version: Json, kind: Json) -> str:
    if version is None and kind is None:
        return "a document without apiVersion and kind"
    return f'apiVersion "{version}" with kind "{kind}"'


def _hint() -> str:
    return f"a spec starts with `apiVersion: {API_VERSION}` and `kind: Cluster`"
