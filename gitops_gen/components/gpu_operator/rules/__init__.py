"""A cluster in, every finding on its GPU Operator part out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gitops_gen.components.gpu_operator.context import OWN, Context, Effective
from gitops_gen.components.gpu_operator.rules.claims import claim_rules
from gitops_gen.components.gpu_operator.rules.driver import driver_rules
from gitops_gen.components.gpu_operator.rules.driver_objects import driver_object_rules
from gitops_gen.components.gpu_operator.rules.environment import environment_rules
from gitops_gen.components.gpu_operator.rules.features import feature_rules
from gitops_gen.components.gpu_operator.rules.network import network_rules
from gitops_gen.components.gpu_operator.rules.overlay import overlay_rules
from gitops_gen.components.gpu_operator.rules.pools import pool_rules
from gitops_gen.components.gpu_operator.rules.registry import registry_rules
from gitops_gen.components.gpu_operator.rules.replaced import replaced_lists
from gitops_gen.components.gpu_operator.rules.settled import settled_rules
from gitops_gen.components.gpu_operator.rules.systems import system_rules
from gitops_gen.components.gpu_operator.rules.unread import unread_rules
from gitops_gen.components.gpu_operator.rules.upgrade import upgrade_rules
from gitops_gen.components.gpu_operator.values import chart_values
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Json, Traced
from gitops_gen.traced import collect, overlay


def component_rules(context: Context, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
    """Yield the findings; `previous` is the state of the last render.

    What the chart will see counts: the raw values are laid over before they are checked. Pools
    that share a fault of a common setting say it once.
    """
    return dict.fromkeys(_findings(context, previous))


def _findings(context: Context, previous: Mapping[str, Json]) -> Iterator[Diagnostic]:
    yield from environment_rules(context)
    yield from system_rules(context)
    ours = collect(chart_values(context))
    values = effective_values(context, ours)
    yield from pool_rules(context)
    yield from driver_rules(context, values)
    yield from driver_object_rules(context, values)
    yield from network_rules(context, values)
    yield from feature_rules(context, values)
    yield from claim_rules(context, values)
    yield from registry_rules(context)
    yield from overlay_rules(context, values)
    yield from settled_rules(context, ours, values)
    yield from replaced_lists(context, ours)
    yield from unread_rules(context)
    yield from upgrade_rules(context, previous)


def effective_values(context: Context, ours: Traced) -> Effective:
    """Return the chart values as they will be, the user's raw values laid over ours."""
    written = context.part.values
    merged = overlay(ours, written, ("spec", *OWN, "values"))
    return Effective(merged.data, dict(written), context.keys)
