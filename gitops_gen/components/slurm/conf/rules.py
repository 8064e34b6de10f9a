"""One Slurm cluster in, everything out that Slurm would refuse, ignore or read otherwise than it is meant.

Node sets, QOS, scripts and volumes have checks of their own beside this package.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gitops_gen.components.slurm.conf.accounting import accounting_findings
from gitops_gen.components.slurm.conf.check import check_config
from gitops_gen.components.slurm.conf.confinement import confinement_findings
from gitops_gen.components.slurm.conf.files import file_findings
from gitops_gen.components.slurm.conf.inputs import Inputs
from gitops_gen.components.slurm.conf.names import name_findings
from gitops_gen.components.slurm.conf.partitions import partition_findings
from gitops_gen.components.slurm.conf.slurmctld import slurmctld_findings
from gitops_gen.components.slurm.conf.table import Table
from gitops_gen.components.slurm.conf.words import below
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.settings import SlurmSettings
from gitops_gen.components.slurm.workers import Worker


def findings(
    settings: SlurmSettings,
    workers: Sequence[Worker],
    table: Table,
    *,
    read: Mapping[str, str],
    release: str,
) -> Iterator[Finding]:
    """Yield the faults of one cluster, paths below spec.components.slurm.

    `read` holds the keywords of slurm.conf as slurmctld will read them: those of the operator, those that
    are derived and the user's own. `release` is the version of the operator.
    """
    inputs = Inputs(settings=settings, workers=workers, table=table, read=read, release=release)
    yield from name_findings(inputs)
    yield from partition_findings(inputs)
    yield from slurmctld_findings(inputs)
    yield from confinement_findings(inputs)
    yield from accounting_findings(inputs)
    yield from file_findings(inputs)
    for index, node_set in enumerate(settings.node_sets):
        own = check_config(table, "node", node_set.config, release=release)
        yield from below(own, "nodeSets", index, "config")
