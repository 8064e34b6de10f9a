"""The spec in, everything that the parts of the component look at out, derived once."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from gitops_gen.components.slurm.settings import Metrics, SlurmSettings
from gitops_gen.components.slurm.workers import Worker, workers
from gitops_gen.model import ClusterSpec, ComponentFacts, ComponentSpec, Origin, from_fact, from_spec

FULLNAME = "slurm"
"""The name that the chart gives to everything, and thereby the release's: what it contains stays."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """One Slurm cluster of a spec, with its facts and its workers."""

    spec: ClusterSpec
    settings: SlurmSettings
    facts: ComponentFacts
    found: tuple[Worker, ...]

    @property
    def data(self) -> Any:
        """The component's facts."""
        return self.facts.data

    @property
    def part(self) -> ComponentSpec:
        """The component as the spec has it."""
        return self.spec.components[self.facts.name]

    @property
    def namespace(self) -> str:
        """Slurm's own namespace."""
        return self.part.namespace

    @property
    def release(self) -> Any:
        """The facts of the chosen version."""
        return self.data["versions"][self.part.version]

    @property
    def series(self) -> str:
        """Slurm's series: what the spec says, else the chart's."""
        return self.settings.images.series or str(self.release["slurm"]["series"])

    @property
    def self_run(self) -> bool:
        """Whether this tree installs the operator and its CRDs."""
        return self.settings.operator.managed_by == "self"

    @property
    def autoscaled(self) -> tuple[Worker, ...]:
        """The node sets that KEDA scales."""
        return tuple(worker for worker in self.found if worker.scaled is not None)

    @property
    def metrics(self) -> Metrics | None:
        """What slurmctld's metrics are asked to be; automatic scaling switches them on."""
        asked = self.settings.controller.metrics
        if isinstance(asked, Metrics):
            return asked if asked.enabled or self.autoscaled else None
        return Metrics() if asked or self.autoscaled else None

    def supports(self, word: str) -> bool:
        """Whether the chosen version can do what `supports` of the facts calls so."""
        return word in self.release["supports"]

    def fact(self, what: str, source: str | None = None) -> Origin:
        """Return the origin of a value that follows from the facts of the chosen version."""
        return from_fact(f"slurm/component.yaml: {what} ({source or self.release['source']})")


def context_of(spec: ClusterSpec, facts: ComponentFacts) -> Context:
    """Return the context of the Slurm cluster that the spec has."""
    settings = cast(SlurmSettings, spec.components[facts.name].settings)
    return Context(spec=spec, settings=settings, facts=facts, found=workers(spec, settings, facts.catalog))


def own(*path: str | int) -> Origin:
    """The value follows from a place below `spec.components.slurm`."""
    return from_spec("components", "slurm", *path)
