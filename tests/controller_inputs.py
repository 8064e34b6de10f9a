"""Documents of tests/controller, changed at a path, and what the rules say about them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from gitops_gen.controller import ArgocdFacts, Document, check_documents, facts_from
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.traced import parse_path

HERE = Path(__file__).parent
FACTS = HERE.parent / "gitops_gen" / "catalog" / "data" / "argocd.yaml"
DELETED = object()


@cache
def facts() -> ArgocdFacts:
    return facts_from(yaml.safe_load(FACTS.read_bytes()))


def loaded(name: str) -> list[Any]:
    return deepcopy(_loaded(name))


@cache
def _loaded(name: str) -> list[Any]:
    return list(yaml.safe_load_all((HERE / "controller" / f"{name}.yaml").read_bytes()))


def changed(name: str, changes: Mapping[str, object]) -> Any:
    """Return the document with values set (or DELETED) at their paths, parents made as needed."""
    data = loaded(name)[0]
    for path, value in changes.items():
        *parents, last = parse_path(path)
        at: Any = data
        for part in parents:
            at = at[part] if isinstance(part, int) else at.setdefault(part, {})
        if value is DELETED:
            del at[last]
        else:
            at[last] = deepcopy(value)
    return data


def check(*data: Any, version: str = "3.5", **options: Any) -> tuple[Diagnostic, ...]:
    documents = [Document(f"{index}.yaml", item) for index, item in enumerate(data)]
    return check_documents(documents, argocd=facts(), version=version, **options)


def said(found: tuple[Diagnostic, ...]) -> list[str]:
    """Return the findings as a reader sees them, without the object's name."""
    return [
        f"{item.severity.value}[{item.code}] {'.'.join(map(str, item.path))}: "
        + item.message.split(": ", 1)[1]
        + (f" ({item.hint})" if item.hint else "")
        for item in found
    ]
