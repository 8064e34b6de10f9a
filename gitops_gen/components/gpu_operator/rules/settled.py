"""Our values and the raw ones in, raw values that deny what the spec decides out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.gpu_operator.context import Context, Effective
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Json, Traced

_CLAIMS, _POLICY = "gpuCluster.deployCR", "clusterPolicy.deployCR"
_NFD = "nfd.enabled"


def settled_rules(context: Context, ours: Traced, values: Effective) -> Iterator[Diagnostic]:
    """Yield raw values against the spec: node labels, resources, quotas and objects go by the spec."""
    derived = Effective(ours.data, {}, context.keys)
    for path, place in context.facts.settled.values.items():
        mine, theirs = derived.get(path), values.get(path)
        if values.in_overlay(path) and mine != theirs and _matters(context, derived, values, path):
            yield Diagnostic(
                code="values-contradict-spec",
                message=f"values.{path} is {_word(theirs)}, but {_word(mine)} follows from the spec, and "
                "node labels, resources and other components go by that",
                path=values.place(path),
                hint=f"say it under spec.{place}, and leave it out here",
            )


def _matters(context: Context, derived: Effective, values: Effective, path: str) -> bool:
    """Leave out what another rule refuses with more to say, and what the spec leaves open."""
    if path in context.facts.settled.if_derived:
        return bool(derived.get(path.rsplit(".", 1)[0] + ".name"))
    if path == "migManager.enabled":
        return bool(context.mig_pools)
    if path == _NFD:
        return values.get(path) is False
    if path == _POLICY:
        return not values.in_overlay(_CLAIMS)
    if path == _CLAIMS:
        return values.get(_POLICY) is False or values.get(path) is False
    return path in context.keys.keys


def _word(value: Json) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "nothing" if value in (None, "") else f'"{value}"'
