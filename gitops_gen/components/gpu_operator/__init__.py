"""The NVIDIA GPU Operator as a component: one Application from the upstream chart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import msgspec

from gitops_gen.components.gpu_operator.advertise import advertised
from gitops_gen.components.gpu_operator.context import Context, context_of
from gitops_gen.components.gpu_operator.facts import GpuFacts, gpu_facts
from gitops_gen.components.gpu_operator.plan import application
from gitops_gen.components.gpu_operator.rules import component_rules
from gitops_gen.components.gpu_operator.settings import GpuOperatorSettings
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import (
    Application,
    ClusterSpec,
    ComponentFacts,
    HealthCheck,
    Json,
    PoolResources,
)


class GpuOperator(msgspec.Struct, frozen=True, dict=True):
    """Installs the GPU Operator and says what the GPU nodes advertise."""

    facts: ComponentFacts

    @property
    def name(self) -> str:
        """The component's name in the spec."""
        return self.facts.name

    @cached_property
    def known(self) -> GpuFacts:
        """The facts of component.yaml, typed."""
        return gpu_facts(self.facts.data)

    def build(self, data: Mapping[str, Json]) -> GpuOperatorSettings:
        """Return the typed settings."""
        return msgspec.convert(data, GpuOperatorSettings)

    def advertise(self, spec: ClusterSpec) -> Iterable[PoolResources]:
        """Say what the nodes of each GPU pool advertise; also where somebody else installs it."""
        return advertised(self.context(spec))

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check everything that the spec says about the GPU Operator, the raw values included."""
        if spec.rendered(self.name) is None:
            return ()
        return component_rules(self.context(spec), previous)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Application `gpu-operator`."""
        yield application(self.context(spec))

    def health_checks(self) -> Iterator[HealthCheck]:
        """Yield the checks for NVIDIA's kinds, which Argo CD does not know."""
        for check in self.known.health:
            for kind in check.kinds:
                yield HealthCheck(group=check.group, kind=kind, lua=check.lua)

    def context(self, spec: ClusterSpec) -> Context:
        """Return the cluster as the GPU Operator sees it."""
        return context_of(spec, self.facts, self.known)


COMPONENT = GpuOperator
