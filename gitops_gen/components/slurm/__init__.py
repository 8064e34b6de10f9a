"""Slinky Slurm as a component: CRDs, operator, accounting database and one Slurm cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from gitops_gen.components.slurm.context import context_of
from gitops_gen.components.slurm.health import health_checks
from gitops_gen.components.slurm.plan import applications
from gitops_gen.components.slurm.rules import check
from gitops_gen.components.slurm.settings import SlurmSettings
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Application, ClusterSpec, ComponentFacts, HealthCheck, Json, PoolResources


class Slurm(msgspec.Struct, frozen=True):
    """Runs one Slurm cluster on the node pools that the spec binds its node sets to."""

    facts: ComponentFacts

    @property
    def name(self) -> str:
        """The component's name in the spec."""
        return self.facts.name

    def build(self, data: Mapping[str, Json]) -> SlurmSettings:
        """Return the typed settings."""
        return msgspec.convert(data, SlurmSettings)

    def advertise(self, spec: ClusterSpec) -> Iterable[PoolResources]:
        """Nodes advertise nothing because of Slurm."""
        return ()

    def rules(self, spec: ClusterSpec, previous: Mapping[str, Json]) -> Iterable[Diagnostic]:
        """Check everything that slurmctld, the operator or the API server would refuse or ignore."""
        return check(spec, self.facts)

    def plan(self, spec: ClusterSpec) -> Iterator[Application]:
        """Yield the Applications of CRDs, operator, database and Slurm."""
        yield from applications(context_of(spec, self.facts))

    def health_checks(self) -> Iterable[HealthCheck]:
        """Argo CD knows none of Slinky's kinds."""
        return health_checks()


COMPONENT = Slurm
