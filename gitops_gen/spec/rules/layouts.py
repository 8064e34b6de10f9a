"""MIG choices of the pools in, findings on profiles, slices and devices out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.catalog.mig import layout_faults, profile, unknown_profile
from gitops_gen.diagnostics import Diagnostic, Path
from gitops_gen.model import Accelerator, Catalog, ClusterSpec, MigLayout
from gitops_gen.pools import devices
from gitops_gen.spec.rules.place import gpu_pools, pool_path

_RESERVED = "all-"


def capable_models(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse MIG on a model that does not have it."""
    for index, _, gpu, known in gpu_pools(spec, catalog):
        if gpu.mig is not None and not known.mig_profiles:
            yield Diagnostic(
                code="mig-not-capable",
                message=f"{known.name} cannot be cut into MIG instances",
                path=pool_path(index, "gpu", "mig"),
                hint="remove mig; to let several pods use one GPU, use sharing"
                if known.vendor == "nvidia"
                else "remove mig",
            )


def known_profiles(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a profile that the model does not have."""
    for index, _, gpu, known in gpu_pools(spec, catalog):
        if gpu.mig is None or not known.mig_profiles:
            continue
        if gpu.mig.profile is not None:
            yield from _unknown(known, gpu.mig.profile, pool_path(index, "gpu", "mig", "profile"))
        for path, part in _parts(index, gpu.mig.layout):
            for name in part.profiles:
                yield from _unknown(known, name, (*path, "profiles", name))


def fitting_layouts(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a layout that one GPU cannot hold."""
    for index, _, gpu, known in gpu_pools(spec, catalog):
        for path, part in _parts(index, gpu.mig.layout if gpu.mig else ()):
            if all(profile(known, name) for name in part.profiles):
                for fault in layout_faults(known, part.profiles):
                    yield Diagnostic(
                        code="mig-layout-too-large",
                        message=fault,
                        path=(*path, "profiles"),
                        hint=f"the counts are of one GPU; {known.name} has {known.mig_compute} compute "
                        f"and {known.mig_memory} memory slices",
                    )


def existing_devices(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a GPU index that the node does not have."""
    for index, _, gpu, _ in gpu_pools(spec, catalog):
        for path, part in _parts(index, gpu.mig.layout if gpu.mig else ()):
            for place, device in enumerate(() if part.devices == "all" else part.devices):
                if int(device) >= gpu.count:
                    yield Diagnostic(
                        code="mig-device-unknown",
                        message=f"there is no GPU {device}: a node has {gpu.count}, 0 to {gpu.count - 1}",
                        path=(*path, "devices", place),
                        hint="correct the index, or gpu.count",
                    )


def devices_once(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a GPU that two parts of a layout are for."""
    for index, _, gpu, _ in gpu_pools(spec, catalog):
        seen: dict[int, int] = {}
        for number, (path, part) in enumerate(_parts(index, gpu.mig.layout if gpu.mig else ())):
            twice = [device for device in devices(part, gpu) if device in seen]
            for device in devices(part, gpu):
                seen.setdefault(device, number)
            if twice:
                yield Diagnostic(
                    code="mig-device-twice",
                    message=f"{_listed(twice)} in part {seen[twice[0]] + 1} of the layout already",
                    path=(*path, "devices"),
                    hint="a GPU belongs to one part; list its profiles together there",
                )


def layout_names(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a pool with its own layout that is called as one of the stock layouts may be."""
    for index, pool, gpu, _ in gpu_pools(spec, catalog):
        if gpu.mig is not None and gpu.mig.layout and pool.name.startswith(_RESERVED):
            yield Diagnostic(
                code="pool-name-reserved",
                message=f'the MIG layout of pool "{pool.name}" would be named as the pool, '
                f'and names that begin with "{_RESERVED}" are those of the stock layouts',
                path=pool_path(index, "name"),
                hint="rename the pool",
            )


def _parts(index: int, layout: tuple[MigLayout, ...]) -> Iterator[tuple[Path, MigLayout]]:
    for place, part in enumerate(layout):
        yield pool_path(index, "gpu", "mig", "layout", place), part


def _unknown(known: Accelerator, name: str, path: Path) -> Iterator[Diagnostic]:
    if profile(known, name) is None:
        yield Diagnostic(
            code="mig-profile-unknown",
            message=unknown_profile(known, name),
            path=path,
            hint=_meant(known, name),
            on_key=path[-2] == "profiles",
        )


def _meant(known: Accelerator, name: str) -> str:
    """Say what was meant by a layout's or a resource's name, or by a profile of another model."""
    bare = name.lower().removeprefix("nvidia.com/").removeprefix("mig-").removeprefix("all-")
    if bare == "balanced":
        return "all-balanced is a layout of several profiles: write it as `layout`"
    if bare in ("disabled", "enabled"):
        return "leave `mig` out for whole GPUs"
    if profile(known, bare.replace(".me", "+me")) is not None:
        return f'did you mean "{bare.replace(".me", "+me")}"?'
    return "the memory in a profile's name is that of the model; take the size from its own list"


def _listed(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"GPU {numbers[0]} is"
    return f"GPUs {', '.join(map(str, numbers[:-1]))} and {numbers[-1]} are"


RULES = (
    capable_models,
    known_profiles,
    fitting_layouts,
    existing_devices,
    devices_once,
    layout_names,
)
