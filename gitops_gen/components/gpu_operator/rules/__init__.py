"""A cluster in, every finding on its GPU Operator part out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitops_gen.components.gpu_operator.context import Context
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Json


def component_rules(
    context: Context, previous: Mapping[str, Json]
) -> Iterator[Diagnostic]:
    """Yield the findings; `previous` is the state of the last render."""
    yield from ()
