"""Accelerators of the pools in, findings on models, counts, sharing and architecture out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.model import Accelerator, Catalog, ClusterSpec
from gitops_gen.spec.rules.place import gpu_pools, pool_path, warning

_MOST_GPUS = 16
_ALIKE = 0.6


def unknown_gpu_models(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a GPU model that the catalogue does not have."""
    known = {item.id: item for item in catalog.accelerators.values() if item.vendor != "google"}
    for index, pool in enumerate(spec.node_pools):
        if pool.gpu is not None and pool.gpu.model not in known:
            yield _unknown("gpu", index, pool.gpu.model, known, catalog)


def unknown_tpu_models(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a TPU model that the catalogue does not have."""
    known = {item.id: item for item in catalog.accelerators.values() if item.vendor == "google"}
    for index, pool in enumerate(spec.node_pools):
        if pool.tpu is not None and pool.tpu.model not in known:
            yield _unknown("tpu", index, pool.tpu.model, known, catalog)


def too_many_gpus(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse more GPUs than any machine has: `count` is of one node, not of the pool."""
    for index, pool in enumerate(spec.node_pools):
        if pool.gpu is not None and pool.gpu.count > _MOST_GPUS:
            yield Diagnostic(
                code="too-many-gpus",
                message=f"no machine has {pool.gpu.count} GPUs; the largest have {_MOST_GPUS}",
                path=pool_path(index, "gpu", "count"),
                hint=f'count is of one node; pool "{pool.name}" has {pool.nodes} nodes',
            )


def architectures(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse an accelerator that is one part with an arm64 processor in an amd64 pool."""
    for index, pool, _, known in gpu_pools(spec, catalog):
        if known.machine == "arm64" and pool.architecture == "amd64":
            yield Diagnostic(
                code="architecture-mismatch",
                message=f"{known.name} stands on machines with arm64 processors, the pool says amd64",
                path=pool_path(index, "architecture"),
                hint="remove architecture (it follows from the model), or write arm64",
            )


def unsupported_sharing(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse sharing of what NVIDIA's device plugin does not serve."""
    for index, _, gpu, known in gpu_pools(spec, catalog):
        if gpu.sharing is not None and known.vendor != "nvidia":
            yield Diagnostic(
                code="sharing-unsupported",
                message=f"{known.name} cannot be shared: only NVIDIA's device plugin does that",
                path=pool_path(index, "gpu", "sharing"),
                hint="remove sharing",
            )


def mps_replicas(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse more MPS clients than the model takes."""
    for index, _, gpu, known in gpu_pools(spec, catalog):
        mps = gpu.sharing.mps if gpu.sharing else None
        if mps is not None and mps.replicas > known.mps_replicas_max:
            yield Diagnostic(
                code="mps-replicas",
                message=f"MPS divides one {known.name} into at most {known.mps_replicas_max} parts, "
                f"not {mps.replicas}",
                path=pool_path(index, "gpu", "sharing", "mps", "replicas"),
                hint="lower replicas, or use timeSlicing, which has no such limit",
            )


def mps_with_mig(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse MPS on MIG instances."""
    for index, _, gpu, _ in gpu_pools(spec, catalog):
        if gpu.mig is not None and gpu.sharing is not None and gpu.sharing.mps is not None:
            yield Diagnostic(
                code="mps-with-mig",
                message="MPS shares whole GPUs only, but the GPUs of this pool are cut into MIG instances",
                path=pool_path(index, "gpu", "sharing", "mps"),
                hint="use timeSlicing to share MIG instances, or remove mig",
            )


def unused_driver(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Warn of a choice of the driver where there is no NVIDIA GPU."""
    for index, pool in enumerate(spec.node_pools):
        known = catalog.accelerators.get(pool.gpu.model) if pool.gpu else None
        if pool.driver is not None and (pool.gpu is None or (known and known.vendor != "nvidia")):
            yield warning(
                "driver-unused",
                f'driver says who brings the NVIDIA driver, but pool "{pool.name}" has no NVIDIA GPU',
                pool_path(index, "driver"),
                "remove driver, or add gpu",
            )


def _unknown(
    kind: str, index: int, written: str, known: Mapping[str, Accelerator], catalog: Catalog
) -> Diagnostic:
    elsewhere = catalog.accelerators.get(written)
    if elsewhere is not None:
        key = "tpu" if elsewhere.vendor == "google" else "gpu"
        message, hint = f'"{written}" is not a {kind.upper()}', f"write it under `{key}`"
    else:
        message = f'"{written}" is not a known accelerator'
        hint = _suggestion(written, known) or "`gitops-gen catalog` lists the accelerators"
    return Diagnostic(
        code="unknown-gpu-model" if kind == "gpu" else "unknown-tpu-model",
        message=message,
        path=pool_path(index, kind, "model"),
        hint=hint,
    )


def _suggestion(written: str, known: Mapping[str, Accelerator]) -> str:
    """Offer the model of that product label, those of that family, else the one most alike."""
    word = written.lower().replace("_", "-").replace(" ", "-")
    family = [
        item.id for item in known.values() if word in (item.id.split("-")[0], (item.product or "").lower())
    ]
    if not family:
        nearest = max(known, key=lambda name: _likeness(word, name))
        family = [nearest] if _likeness(word, nearest) >= _ALIKE else []
    offers = [f'"{name}"' for name in family]
    if len(offers) > 1:
        return f"did you mean {', '.join(offers[:-1])} or {offers[-1]}?"
    return f"did you mean {offers[0]}?" if offers else ""


def _likeness(word: str, name: str) -> float:
    """Compare with the whole id and with its family, of which a typo leaves more."""
    from difflib import SequenceMatcher

    return max(SequenceMatcher(None, word, part).ratio() for part in (name, name.split("-")[0]))


def shares_and_whole_alike(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Say when one resource name stands for a share of a GPU in one pool and a whole one in another."""
    whole = [pool.name for _, pool, gpu, _ in gpu_pools(spec, catalog) if not gpu.sharing and not gpu.mig]
    for index, pool, gpu, known in gpu_pools(spec, catalog):
        sharing = gpu.sharing and (gpu.sharing.time_slicing or gpu.sharing.mps)
        if sharing and not sharing.rename_by_default and not gpu.mig and whole:
            key = "timeSlicing" if gpu.sharing and gpu.sharing.time_slicing else "mps"
            yield Diagnostic(
                code="shares-and-whole-alike",
                severity=Severity.NOTICE,
                message=f'{known.resource} is a share of a GPU in pool "{pool.name}" and a whole GPU in pool '
                f'"{whole[0]}": a pod that asks for one may get either',
                path=pool_path(index, "gpu", "sharing", key),
                hint=f"renameByDefault: true makes it {known.resource}.shared in this pool",
            )


RULES = (
    unknown_gpu_models,
    unknown_tpu_models,
    too_many_gpus,
    architectures,
    unsupported_sharing,
    mps_replicas,
    mps_with_mig,
    unused_driver,
    shares_and_whole_alike,
)
