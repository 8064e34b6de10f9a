"""The objects that a path's own patches see in; what a patch has to call each final object out.

Argo CD appends patches to the path's kustomization, whose namespace and name prefix are applied after
them: there an object may have another name or namespace than in the end, and kustomize finds no other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from gitops_gen.diagnostics import ToolError
from gitops_gen.maintain.kubeflow_facts import Addresses, Manifest, address_key, plain_name
from gitops_gen.model import Json, Object

LATE = ("namespace", "namePrefix", "nameSuffix")
"""Fields of a kustomization that take effect after its patches."""
_MARK = "moved.invalid/address"


def marking_patches(early: Iterable[Manifest]) -> list[Json]:
    """Make a strategic merge patch without a target for each object; it notes its own address there."""
    return [{"patch": json.dumps(_patch(item))} for item in early]


def told_addresses(marked: Iterable[Manifest]) -> Addresses:
    """Read the addresses that reached the final objects; ToolError if one got none."""
    return {address_key(item): json.loads(_mark(item)) for item in marked}


def _patch(manifest: Manifest) -> Object:
    address: Object = {"name": plain_name(manifest), "namespace": manifest["metadata"].get("namespace", "")}
    metadata = {name: value for name, value in address.items() if value}
    return {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "metadata": {**metadata, "annotations": {_MARK: json.dumps(address)}},
    }


def _mark(manifest: Manifest) -> str:
    annotations = manifest["metadata"].get("annotations") or {}
    if _MARK not in annotations:
        raise ToolError(f"no patch reached {'/'.join(address_key(manifest)[1:])}")
    return str(annotations[_MARK])
