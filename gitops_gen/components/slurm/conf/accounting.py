"""What is accounted for in, what slurmctld, slurmdbd and sacctmgr would not take out.

Source: src/slurmctld/controller.c and src/common/slurmdb_defs.c of Slurm 26.05.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gitops_gen.components.slurm.conf.check import check_config
from gitops_gen.components.slurm.conf.inputs import Inputs
from gitops_gen.components.slurm.conf.table import Keyword, nearest
from gitops_gen.components.slurm.conf.value import check_value
from gitops_gen.components.slurm.conf.words import below, fault, listed, quoted
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.diagnostics import Path

_ALWAYS = ("cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages")
"""Resources that are accounted for whatever the configuration says."""
_NAMED = re.compile(r"(bb|fs|gres|ic|license)/[A-Za-z0-9_.:@-]+", re.ASCII | re.IGNORECASE)
_FORMS = ("gres/<name>", "license/<name>", "bb/<name>", "fs/<name>", "ic/<name>")
_WALL = Keyword(name="MaxWall", type="time")


def accounting_findings(inputs: Inputs) -> Iterator[Finding]:
    """Yield what is wrong with accounting, beside what sacctmgr is asked to make."""
    accounting = inputs.settings.accounting
    own = check_config(inputs.table, "dbd", accounting.config, release=inputs.release)
    yield from below(own, "accounting", "config")
    for index, name in enumerate(accounting.tres):
        if name.lower() not in _ALWAYS and not _NAMED.fullmatch(name):
            yield fault(
                "slurm-tres",
                f"{quoted(name)} is no resource that Slurm can account for; slurmctld stops",
                f"write {listed((*_ALWAYS, *_FORMS))}",
                "accounting",
                "tres",
                index,
            )
    for index, qos in enumerate(accounting.qos):
        path: Path = ("accounting", "qos", index)
        if qos.max_wall is not None:
            found = check_value(_WALL, str(qos.max_wall), series=inputs.table.series)
            yield from below(found, *path, "maxWall")
        for field, limits in (("maxTresPerUser", qos.max_tres_per_user), ("grpTres", qos.grp_tres)):
            yield from _limits(inputs, limits, (*path, field))


def _limits(inputs: Inputs, limits: Mapping[str, int], path: Path) -> Iterator[Finding]:
    if not inputs.settings.accounting.enabled:
        return
    tracked = (*_ALWAYS, *inputs.words("AccountingStorageTRES"))
    for name in limits:
        if name.lower() not in tracked:
            near = next((item for item in tracked if item.endswith(f"/{name.lower()}")), None)
            near = near or nearest(name, tracked)
            yield fault(
                "slurm-tres",
                f"{quoted(name)} is not accounted for, so that sacctmgr knows no limit of it",
                f'write "{near}"'
                if near
                else f"write one of {listed(tracked)}, or add it to accounting.tres",
                *path,
                name,
                on_key=True,
            )
