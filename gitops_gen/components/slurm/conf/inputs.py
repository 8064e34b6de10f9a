"""What the rules look at: settings, workers, the keywords of the series and what Slurm will read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import msgspec

from gitops_gen.components.slurm.conf.table import Table
from gitops_gen.components.slurm.conf.text import text_of
from gitops_gen.components.slurm.settings import SlurmSettings
from gitops_gen.components.slurm.workers import Worker
from gitops_gen.diagnostics import Path


class Inputs(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One cluster; `read` is slurm.conf as slurmctld will read it: the operator's, derived and own keywords.

    `release` is the version of the operator.
    """

    settings: SlurmSettings
    workers: Sequence[Worker]
    table: Table
    read: Mapping[str, str]
    release: str

    @cached_property
    def _folded(self) -> Mapping[str, str]:
        return {name.lower(): text for name, text in self.read.items()}

    def text(self, name: str, default: str = "") -> str:
        """Return what slurm.conf says of a keyword."""
        return self._folded.get(name.lower(), default)

    def words(self, name: str, default: str = "") -> tuple[str, ...]:
        """Return the items of a keyword in lower case."""
        return tuple(item for item in self.text(name, default).lower().split(",") if item)

    def place(self, *names: str) -> Path:
        """Return the path of the first of the keywords that the spec itself writes, else of all of them."""
        for name in names:
            for written in self.settings.controller.config:
                if written.lower() == name.lower():
                    return ("controller", "config", written)
        return ("controller", "config")

    def cgroup(self, name: str, default: str) -> str:
        """Return what cgroup.conf says of a keyword, in lower case."""
        own = {key.lower(): text_of(value) for key, value in self.settings.cgroup.items()}
        return own.get(name.lower(), default).lower()

    def cgroup_place(self, name: str) -> Path:
        """Return the path of a keyword of cgroup.conf, of the whole file where the spec does not write it."""
        written = next((key for key in self.settings.cgroup if key.lower() == name.lower()), None)
        return ("cgroup",) if written is None else ("cgroup", written)

    def confines(self, name: str) -> bool:
        """Return whether cgroup.conf confines jobs to that; without a word of the spec it does."""
        return self.cgroup(name, "yes") in ("yes", "up", "true", "1")
