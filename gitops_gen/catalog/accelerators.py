"""The compiled accelerator rows in, typed accelerators by id out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitops_gen.model import Accelerator, MigProfile


def accelerators_from(data: Mapping[str, Any]) -> Mapping[str, Accelerator]:
    """Return the accelerators of `catalog/data/accelerators.yaml`, in its order."""
    return {name: _accelerator(name, row) for name, row in data.items()}


def _accelerator(name: str, row: Mapping[str, Any]) -> Accelerator:
    mig = row.get("mig", {})
    return Accelerator(
        id=name,
        vendor=row["vendor"],
        resource=row["resource"],
        name=row["name"],
        memory=row.get("memory"),
        architecture=row.get("architecture"),
        machine=row.get("machine", "amd64"),
        mig_profiles=_profiles(mig.get("profiles", {})),
        mig_compute=mig.get("compute", 0),
        mig_memory=mig.get("memory", 0),
        fabric_manager=row.get("fabricManager", "none"),
        kernel_modules=row.get("kernelModules", "either"),
        driver_min=row.get("driverMin"),
        driver_max=row.get("driverMax"),
        mps_replicas_max=row.get("mpsReplicasMax", 48),
        product=row.get("product"),
        product_seen=row.get("productSeen", False),
        pci_ids=tuple(row.get("pciIds", ())),
        slurm_type=row.get("slurmType"),
        slurm_type_long=row.get("slurmTypeLong"),
    )


def _profiles(rows: Mapping[str, Mapping[str, int]]) -> tuple[MigProfile, ...]:
    return tuple(
        MigProfile(name=name, count=row["count"], compute=row["compute"], memory=row["memory"])
        for name, row in rows.items()
    )
